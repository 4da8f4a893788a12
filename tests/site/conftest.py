"""What all tests of the built site start from."""

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import ROOT, running_browser
from playwright.sync_api import Browser
from site_visits import SITE, is_page, serving, up_to_date


@pytest.fixture(scope="module")
def pages() -> list[Path]:
    """The pages to look at; the site is built first if it is missing or out of date."""
    (ROOT / "_build").mkdir(exist_ok=True)
    with (ROOT / "_build" / ".test-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be building
        if not up_to_date():
            command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "-n"]
            done = subprocess.run(
                [*command, "--keep-going"], cwd=ROOT, capture_output=True, text=True, check=False
            )
            if done.returncode:  # as make html does: the next build must not build on this one
                shutil.rmtree(ROOT / "_build" / ".doctrees", ignore_errors=True)
                (SITE / "searchindex.js").unlink(missing_ok=True)
            assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    found = [path for path in sorted(SITE.rglob("*.html")) if is_page(path)]
    assert found
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as started:
        yield started


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address of a plain static server."""
    with serving() as address:
        yield address
