"""The built site as the tests in a browser see it: where it is, and a tab with the network cut."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from browser import ROOT
from playwright.sync_api import Browser, Page, Request

LAPTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
SITE = ROOT / "_build" / "html"


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


# For every element with text of its own: what it is, if its colour is too near to the one behind it,
# by the rule of WCAG 2 that axe goes by: 4.5, or 3 where letters are large. On paper all is light.
FAINT = """(paperOnly) => {
    const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
    const rgba = (text) => {
        const [r, g, b, a = 1] = (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
        return [r, g, b, a];
    };
    const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
            const ground = rgba(getComputedStyle(e).backgroundColor);
            if (ground[3] > 0.5) return ground;
        }
        return [255, 255, 255, 1];
    };
    const found = new Set();
    for (const e of document.querySelectorAll("article.bd-article, article.bd-article *")) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        const seen = e.checkVisibility({opacityProperty: true, visibilityProperty: true});
        if (!own || !seen || e.closest("script, style, annotation")) continue;
        const style = getComputedStyle(e);
        const ink = luminance(rgba(e.ownerSVGElement ? style.fill : style.color));
        const paper = luminance(behind(e));
        const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
        const size = parseFloat(style.fontSize), bold = parseInt(style.fontWeight) >= 700;
        const large = size >= 24 || (bold && size >= 18.66) || Boolean(e.ownerSVGElement);
        if (contrast < (paperOnly || large ? 3 : 4.5) || (paperOnly && paper < 0.5)) {
            const text = e.textContent.trim().slice(0, 20);
            found.add(`${e.tagName} ${e.getAttribute("class")} "${text}": ${contrast.toFixed(1)}`);
        }
    }
    return [...found].slice(0, 5);
}"""
