"""Frames that a browser drops while a reader drags: each handle of the built book (``make html``)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright
from settings import Row

SITE = Path(__file__).resolve().parents[1] / "_build" / "html"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

# Drags a handle that is held to and fro over 200 px, a move in each frame; the share of frames dropped.
DRAG = """([handle, x, y, frames]) => new Promise((done) => {
    const times = [];
    const frame = (now) => {
        times.push(now);
        if (times.length > frames) {
            const late = times.slice(1).map((t, k) => Math.max(0, Math.round((t - times[k]) / (1000 / 60)) - 1));
            const lost = late.reduce((a, b) => a + b, 0);
            return done(lost / (lost + frames));
        }
        const to = x + 100 * Math.sin((2 * Math.PI * times.length) / frames);
        handle.dispatchEvent(new PointerEvent("pointermove",
            {clientX: to, clientY: y, bubbles: true, isPrimary: true, pointerId: 1}));
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
})"""


def rows(small: bool) -> Iterator[Row]:
    pages = [p for p in sorted(SITE.glob("book/*.html")) if "data-handle=" in p.read_text("utf-8")]
    if not pages:
        return
    with sync_playwright() as playwright:
        path = os.environ.get("CHROME") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for slower, most in ((1, 0.05), (4, 0.30)):
            found = {}
            for path in pages[:1] if small else pages:
                tab = browser.new_page(viewport={"width": 1280, "height": 800})
                tab.goto(path.as_uri())
                devtools = tab.context.new_cdp_session(tab)
                devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
                devtools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
                dragged = _dragged(tab, devtools, 20 if small else 120)
                found |= {(path.stem, *key): value for key, value in dragged}
                tab.close()
            worst = max(found, key=lambda key: found[key][0])
            share, work = found[worst]
            what = f"frames dropped in a drag, the worst of {len(found)} handles, processor slowed {slower} times"
            words = f"{share:.0%} ({work:.1f} ms of the main thread a frame; {worst[1]})"
            yield Row(what, words, f"at most {most:.0%}", share <= most)
        browser.close()


def _dragged(
    tab: Page, devtools: CDPSession, frames: int
) -> Iterator[tuple[tuple[str, int], tuple[float, float]]]:
    def busy() -> float:
        found = devtools.send("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in found if m["name"] == "TaskDuration")

    for number, handle in enumerate(tab.query_selector_all("[data-handle]")):
        handle.evaluate("h => h.scrollIntoView({block: 'center', behavior: 'instant'})")
        box = handle.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        tab.mouse.move(x, y)
        tab.mouse.down()
        tab.wait_for_timeout(100)
        before = busy()
        share = tab.evaluate(DRAG, [handle, x, y, frames])
        work = 1e3 * (busy() - before) / frames
        tab.mouse.up()
        tab.wait_for_timeout(200)
        name = handle.evaluate("h => h.closest('figure').id")
        yield (name, number), (share, work)
