"""Print the built site as one book: python tools/pdf.py _build/html writes limetutor.pdf there and links it.

The pages are joined in the order of the table of contents in a browser and printed by it: figures at their defaults,
folds open, answer boxes left out, and the solutions at the end, each with a link to its exercise and back.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pikepdf
from playwright.sync_api import Page, sync_playwright
from serve import Quiet

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import downloads  # noqa: E402

# What a book that does not move has no use for.
UNWANTED = """script, .lt-answer, .lt-own, .lt-progress, .lt-controls, .lt-python, .lt-note, .headerlink, .copybtn,
    p.symbols"""

# Chapters as sections of the first page; ids get the page's name, so that all are different, and links follow.
JOIN = """async ([names, unwanted]) => {
    const parse = (text) => new DOMParser().parseFromString(text, "text/html");
    const texts = await Promise.all(names.map((name) => fetch(name).then((r) => r.text())));
    const book = document.createElement("article");
    book.className = "bd-article lt-book";
    const solutions = document.createElement("section");
    solutions.innerHTML = '<h1 id="solutions">Solutions</h1>';
    texts.forEach((text, k) => {
        const chapter = parse(text).querySelector("article.bd-article");
        chapter.querySelectorAll(unwanted).forEach((e) => e.remove());
        const own = (id) => `${names[k].replace(".html", "")}--${id}`;
        chapter.querySelectorAll("[id]").forEach((e) => e.closest("svg") || (e.id = own(e.id)));
        for (const link of chapter.querySelectorAll("a[href]")) {
            const [page, state] = link.getAttribute("href").split("#");
            const id = state?.split("&")[0]; // on paper a figure stands at its default
            const at = page === "" ? k : names.indexOf(page);
            if (/^[a-z]+:/.test(page)) continue;
            if (at < 0) link.removeAttribute("href");
            else link.href = "#" + (id ? `${names[at].replace(".html", "")}--${id}` : names[at]);
        }
        chapter.querySelectorAll("details").forEach((e) => { e.open = true; });
        const here = [...chapter.querySelectorAll(".solution")];
        if (here.length) {
            const title = document.createElement("h2");
            title.textContent = chapter.querySelector("h1").textContent;
            solutions.append(title, ...here);
        }
        const section = document.createElement("section");
        section.id = names[k];
        section.append(...chapter.childNodes);
        book.append(section);
    });
    book.append(solutions);
    document.body.replaceChildren(book);
    document.documentElement.dataset.theme = "light";
    document.querySelectorAll("details").forEach((e) => { e.open = true; });
    const print = document.createElement("style");
    print.textContent = `
        .lt-book > section { break-before: page; }
        .lt-book > section:first-child { break-before: auto; }
        .lt-figure, .cell_output figure, pre, .quiz details { break-inside: avoid; }
        h1, h2, h3, h4 { break-after: avoid; }
        .toggle-hidden { display: revert !important; height: auto !important; opacity: 1 !important; }
        .toggle-button, details.hide > summary { display: none !important; }
        body { font-size: 10.5pt; background: #fff; }
        .lt-figure { max-width: 30rem; }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; }`;
    document.head.append(print);
    await document.fonts.ready;
    return [...document.querySelectorAll('a[href^="#"]')]
        .filter((a) => !document.getElementById(decodeURIComponent(a.getAttribute("href").slice(1))))
        .map((a) => a.getAttribute("href"));
}"""

# What ends beyond its box or the paper, where no reader can scroll.
CUT_OFF = """() => [...document.querySelectorAll(".lt-book *")].filter((e) => {
    if (e.closest("svg, math") && !e.matches("svg, math")) return false;
    const style = getComputedStyle(e), hides = style.overflowX !== "visible" && e.clientWidth;
    const {left, width} = e.getBoundingClientRect();
    return e.checkVisibility() && (hides && e.scrollWidth > e.clientWidth + 2
        || e.matches("pre, td, p, li, svg, math, img") && left + Math.max(width, e.scrollWidth) > innerWidth + 1);
}).map((e) => `${e.closest("section").id}: ${e.textContent.trim().slice(0, 60)}`)"""
SCALE = 0.85
WIDTH = (210 - 2 * 16) * 96 / 25.4  # of A4 between its margins, in pixels


def reading_order(site: Path) -> list[str]:
    """The pages in the order of the table of contents, by their names beside the first one."""
    text = (ROOT / "_toc.yml").read_text("utf-8")
    names = re.findall(r"(?m)^\s*(?:root|- file):\s*(\S+)", text)
    return [f"{Path(name).name}.html" for name in names if (site / f"{name}.html").exists()]


@contextmanager
def opened(site: Path, browser: str) -> Iterator[Page]:
    """A tab at the first page of the site."""
    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = chromium.new_page(color_scheme="light")
        tab.goto(f"http://127.0.0.1:{server.server_port}/book/{reading_order(site)[0]}")
        yield tab
        chromium.close()
        server.shutdown()


def printed(site: Path, browser: str) -> list[str]:
    """Write the PDF; return the links in it that lead nowhere, and what would be cut off at the edge."""
    with opened(site, browser) as tab:
        problems = tab.evaluate(JOIN, [reading_order(site), UNWANTED])
        tab.emulate_media(media="print")
        tab.set_viewport_size({"width": int(WIDTH / SCALE), "height": 1000})
        problems += tab.evaluate(CUT_OFF)
        margins = {"top": "18mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}
        footer = '<div style="font-size:8px;width:100%;text-align:center"><span class="pageNumber"></span></div>'
        tab.pdf(
            path=site / downloads.PDF,
            format="A4",
            margin=margins,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=footer,
            print_background=True,
            scale=SCALE,
            outline=True,
            tagged=True,
        )
    with pikepdf.open(site / downloads.PDF, allow_overwriting_input=True) as pdf:  # half the size
        pdf.save(object_stream_mode=pikepdf.ObjectStreamMode.generate, compress_streams=True)
    return problems


def main(folder: str, browser: str) -> int:
    site = Path(folder)
    if not (site / "index.html").is_file():
        print(f"{folder} holds no index.html: build the book first (make html).", file=sys.stderr)
        return 1
    if problems := printed(site, browser):
        print(
            f"Links that lead nowhere, or text cut off, in the PDF: {problems[:10]}.",
            file=sys.stderr,
        )
        return 1
    downloads.offer(site)
    print(f"{site / downloads.PDF}: {(site / downloads.PDF).stat().st_size / 1e6:.1f} MB.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
