"""The built site as the tests in a browser see it: where it is, and a tab with the network cut."""

import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

from browser import ROOT
from playwright.sync_api import Browser, Page, Request

LAPTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
SITE = ROOT / "_build" / "html"
# what pages are asked, by name
QUESTIONS = Path(__file__).with_name("page_questions.js").read_text(encoding="utf-8")
JS = SimpleNamespace(**dict(re.findall(r"(?ms)^const (\w+) = (.*?);\n(?=\n|\Z)", QUESTIONS)))


def sources() -> Iterator[Path]:
    """What the site is built from."""
    yield from (ROOT / "_config.yml", ROOT / "_toc.yml")
    for folder in ("book", "limetutor"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts):
                yield path


def up_to_date() -> bool:
    stamp = SITE / ".built"
    return stamp.exists() and stamp.stat().st_mtime >= max(p.stat().st_mtime for p in sources())


def is_page(path: Path) -> bool:
    made_by_sphinx = path.stem in ("genindex", "search", "prf-prf", "py-modindex")
    inside = path.relative_to(SITE).parts[0] in ("_static", "_sources", "_modules", "slides")
    redirect = 'http-equiv="refresh"' in path.read_text(encoding="utf-8")[:2000].lower()
    return not (made_by_sphinx or inside or redirect)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing: the tests look at the answers themselves."""


@contextmanager
def serving(handler: type[Quiet] = Quiet) -> Iterator[str]:
    """The address of a static server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Visit:
    """One tab with the network cut, and a list of what a reader would trip over."""

    def __init__(self, browser: Browser, origin: str, **options: object) -> None:
        self.problems: list[str] = []
        self.where = ""
        self.context = browser.new_context(**options)
        self.context.on("request", partial(self._asked, origin))
        if options.get("java_script_enabled", True):
            self.context.add_init_script(SHIFTS + DRAGGED)
        self.tab = self.context.new_page()
        self.tab.on("console", lambda m: m.type == "error" and self.note(f"console: {m.text}"))
        self.tab.on("pageerror", lambda error: self.note(f"error: {error}"))
        if options.get("java_script_enabled", True):  # without it, preloaded scripts are dropped
            self.tab.on("requestfailed", self._failed)
        self.tab.on("response", lambda r: r.status >= 400 and self.note(f"{r.status}: {r.url}"))

    def _failed(self, request: Request) -> None:
        """Chromium drops what is still under way (an icon, a font) when the tab moves on."""
        if request.failure != "net::ERR_ABORTED":
            self.note(f"failed: {request.url} {request.failure}")

    def _asked(self, origin: str, request: Request) -> None:
        """The browser finds no other host (see FLAGS); a route would switch its cache off too."""
        if not request.url.startswith((origin, "data:", "blob:")):
            self.note(f"asks {request.url}")

    def note(self, problem: str) -> None:
        self.problems.append(f"{self.where}: {problem}")

    def note_all(self, problems: Iterable[str]) -> None:
        for problem in problems:
            self.note(problem)

    def open(self, path: Path, base: str) -> Page:
        self.where = path.relative_to(SITE).as_posix()
        self.tab.goto(base + self.where, wait_until="load")
        return self.tab


@contextmanager
def visit(browser: Browser, origin: str, **options: object) -> Iterator[Visit]:
    """Visit pages; afterwards there must be nothing to complain about."""
    visitor = Visit(browser, origin, **options)
    yield visitor
    visitor.context.close()
    assert not visitor.problems, "\n".join(dict.fromkeys(visitor.problems))


# A reader who knows handles: nothing moves by itself.
DRAGGED = "try { localStorage.setItem('limetutor.dragged', 'yes'); } catch {}"
# How far what is on the screen moves by itself while a page loads, as browsers count it.
SHIFTS = """window.shifted = 0;
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({type: "layout-shift", buffered: true});"""
SETTLED = """document.fonts.ready.then(() => new Promise((go) =>
    requestAnimationFrame(() => requestAnimationFrame(() => go(shifted)))))"""
LARGEST_SHIFT = 0.05  # half of what Web Vitals call good


def moves(tab: Page) -> Iterator[str]:
    """Whether a page that has just been opened has moved under its reader."""
    if (shifted := tab.evaluate(SETTLED)) > LARGEST_SHIFT:
        yield f"moves by {shifted:.3f} while it loads"
