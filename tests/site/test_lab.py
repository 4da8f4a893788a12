"""A real JupyterLab: a slider moved by hand changes the picture and what is said about it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import ROOT, running_browser

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.lab]

TOKEN = "limetutor-test"


def a_chapter() -> Path:
    """The first notebook with a control, the welcome page if it has one."""
    notebooks = [p for p in sorted(ROOT.glob("book/*.ipynb")) if "explore(" in p.read_text("utf-8")]
    return min(notebooks, key=lambda path: path.stem != "welcome")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab of our own, with one notebook in it."""
    home = tmp_path_factory.mktemp("lab")
    (home / "work").mkdir()
    shutil.copy(a_chapter(), home / "work" / "chapter.ipynb")
    # Lab draws only the cells in sight unless told otherwise, and the control may be further down.
    settings = home / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "LIMETUTOR_MODE": "live",
        "PYTHONPATH": str(ROOT),
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *(f"--port={port}", f"--IdentityProvider.token={TOKEN}"),
        f"--ServerApp.root_dir={home / 'work'}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/api", server, home / "log")
        yield address
    finally:
        server.terminate()
        server.wait(20)


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 300  # beside all other tests it has to wait for its turn
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


def test_a_slider_moves_the_picture(lab: str) -> None:
    with running_browser() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.set_default_timeout(90_000)
        page.goto(f"{lab}/lab/tree/chapter.ipynb?token={TOKEN}")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        page.get_by_text("| Idle").wait_for()  # before that, Lab asks which kernel to start
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        figure = page.locator(".jp-OutputArea-output:has(.noUi-handle)").first
        picture, words = figure.locator("svg.lt-svg"), figure.locator(".lt-sentence")
        picture.wait_for()
        assert picture.get_attribute("aria-label")
        before, said = picture.inner_html(), words.inner_text()
        handle = figure.locator(".noUi-handle").first
        handle.focus()
        for _ in range(8):
            handle.press("ArrowRight")

        wait_until(lambda: picture.inner_html() != before, "the picture changes")
        wait_until(lambda: words.inner_text() != said, "the sentence changes")
        assert "⚠" not in words.inner_text()
        assert page.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0
        page.wait_for_timeout(1500)  # let the last key press arrive
        figure.get_by_role("button", name="Reset").click()
        wait_until(lambda: words.inner_text() == said, "Reset brings the sentence back")
        wait_until(lambda: picture.inner_html() == before, "Reset brings the picture back")


def wait_until(condition, what: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain until {what}"
        time.sleep(0.1)
