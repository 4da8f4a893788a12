"""What the tests in a browser share: a Chromium, and small helpers."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]  # fmt: skip


def chromium() -> str:
    """Where Chromium is; without one the tests fail, since ``make test`` installs it."""
    for name in (os.environ.get("CHROME"), "chromium", "chromium-browser", "google-chrome"):
        if name and (found := shutil.which(name)):
            return found
    return pytest.fail("no Chromium on this machine; make test installs one")


@contextmanager
def running_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


def axe_violations(page: Page) -> list[str]:
    """What axe-core finds on a whole page, by all of its rules: rule and place."""
    page.evaluate(AXE)
    how = "{preload: false, resultTypes: ['violations']}"
    found = page.evaluate(f"axe.run(document, {how}).then(r => r.violations)")
    return [f"{v['id']}: {node['target']}" for v in found for node in v["nodes"]]
