"""The slides and the handout, from book/slides/*.md and the figures of the chapters.

A deck is Markdown: slides are separated by ``---``, what follows a line ``Note:`` is for the speaker, and a
block ``figure`` is Python that ends in a call of ``explore`` or ``show`` with a figure of the book. Figures
are drawn as on the pages of the book (limetutor/interactive), smaller, so that their letters are large.
reveal.js shows the slides; it comes with the package sphinx-revealjs, so no page asks another host.

``build`` writes everything to a folder. Drawn figures are kept between builds as long as neither the package
nor their code changes. The handout becomes a PDF as well where there is a Chromium.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

import fonts
import formulas

ROOT = Path(__file__).resolve().parents[2]
SOURCES, ASSETS = ROOT / "book" / "slides", ROOT / "book" / "_assets"
HANDOUT = "handout"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REVEAL = ("dist/reveal.js", "dist/reveal.css", "dist/reset.css", "plugin/notes/notes.js", "LICENSE")

_FIGURE = re.compile(r"(?ms)^```figure\n(.*?)^```$")
_NOTE = re.compile(r"(?m)^Note:\s*")
_MINUTES = re.compile(r"^(\d+) min")


class Slide(NamedTuple):
    """One slide: what is shown, what is said, and for how many minutes."""

    markdown: str
    note: str

    @property
    def minutes(self) -> int:
        """The note begins with them: ``5 min.``"""
        found = _MINUTES.match(self.note)
        return int(found[1]) if found else 0


class Deck(NamedTuple):
    """A file of book/slides."""

    name: str
    title: str
    slides: tuple[Slide, ...]


def decks() -> list[Deck]:
    """All decks; the handout is none."""
    return [read(path) for path in sorted(SOURCES.glob("*.md")) if path.stem != HANDOUT]


def read(path: Path) -> Deck:
    """A deck from its file; the first heading is its title."""
    text = path.read_text(encoding="utf-8")
    parts = [_NOTE.split(part, 1) for part in re.split(r"(?m)^---$", text)]
    slides = tuple(Slide(part[0].strip(), "".join(part[1:]).strip()) for part in parts)
    found = re.search(r"(?m)^# (.+)$", text)
    assert found, path
    return Deck(path.stem, found[1], slides)


# --- Markdown and figures ----------------------------------------------------------------------------


def _formula(tex: str, how: dict[str, bool]) -> str:
    return formulas.render(tex.strip(), how["display_mode"])


MARKDOWN = (
    MarkdownIt("commonmark", {"html": True, "typographer": True})
    .enable(["table", "smartquotes", "replacements"])
    .use(dollarmath_plugin, renderer=_formula)
)


def figures() -> list[str]:
    """The code of all figures, each once."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.md"))]
    return list(dict.fromkeys(code for text in texts for code in _FIGURE.findall(text)))


def in_html(markdown: str, drawn: dict[str, str]) -> str:
    """A slide or a page as HTML."""
    pieces: list[str] = []

    def keep(found: re.Match[str]) -> str:
        pieces.append(drawn[found[1]])
        return f"\n<!-- figure {len(pieces) - 1} -->\n"

    html = MARKDOWN.render(_FIGURE.sub(keep, markdown))
    return re.sub(r"<!-- figure (\d+) -->", lambda found: pieces[int(found[1])], html)


def draw(codes: list[str], cache: Path, key: str) -> dict[str, str]:
    """The figures as HTML: from the cache, the missing ones by a process of its own."""
    cache.mkdir(parents=True, exist_ok=True)
    places = {
        code: cache / (hashlib.sha256((key + code).encode()).hexdigest()[:24] + ".html")
        for code in codes
    }
    for old in set(cache.glob("*.html")) - set(places.values()):
        old.unlink()
    todo = {code: str(path) for code, path in places.items() if not path.exists()}
    if todo:
        environment = os.environ | {"LIMETUTOR_MODE": "static", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-W", "error", __file__]
        done = subprocess.run(
            command,
            input=json.dumps(todo),
            text=True,
            env=environment,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"A figure of the slides failed:\n{done.stderr[-3000:]}")
    return {code: path.read_text(encoding="utf-8") for code, path in places.items()}


def _draw_here(todo: dict[str, str]) -> None:
    """In the process of its own: run each code, and keep what it displays."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    InteractiveShell.instance()
    for code, path in todo.items():
        with capture_output() as captured:
            exec(compile(code, "a figure of the slides", "exec"), {"__name__": "slides"})
        (output,) = captured.outputs
        Path(path).write_text(output.data["text/html"], encoding="utf-8")


# --- pages ---------------------------------------------------------------------------------------------

HEAD = """<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
{styles}
<style>{css}</style>
</head>
"""

DECK = """{head}<body>
<div class="reveal"><div class="slides">
{slides}
</div></div>
<script>
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => {{ document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; }};
dark.addEventListener("change", follow);
follow();
</script>
<script src="reveal/dist/reveal.js"></script>
<script src="reveal/plugin/notes/notes.js"></script>
<script>{player}</script>
<script>{script}</script>
</body>
</html>
"""

AS_PDF = '<p class="as-pdf"><a href="handout.pdf">These two pages as a PDF</a></p>\n'

PAGE = """{head}<body class="handout">
{body}
</body>
</html>
"""


def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def head(title: str, css: str, *styles: str) -> str:
    """The head of a page, with what figures and formulas look like."""
    from limetutor.interactive.explorer import page_css

    faces = asset("fonts.css") + asset("formulas/formulas.css")
    css = page_css() + faces.replace('url("', 'url("../_static/') + css
    links = "\n".join(f'<link rel="stylesheet" href="{style}">' for style in styles)
    return HEAD.format(title=escape(title), styles=fonts.script("../_static") + links, css=css)


def deck_page(deck: Deck, drawn: dict[str, str]) -> str:
    """A deck as a page."""
    from limetutor.interactive.explorer import page_js

    def sections() -> Iterator[str]:
        for slide in deck.slides:
            inside = in_html(slide.markdown, drawn)
            note = f'<aside class="notes">{MARKDOWN.render(slide.note)}</aside>'
            kind = "figure" if "lt-figure" in inside else "text"
            yield f'<section class="{kind}">\n{inside}\n{note}\n</section>'

    styles = ("reveal/dist/reset.css", "reveal/dist/reveal.css")
    return DECK.format(
        head=head(deck.title, asset("slides.css"), *styles),
        slides="\n".join(sections()),
        player=page_js(),
        script=asset("slides.js"),
    )


def handout_page(drawn: dict[str, str], link: str = "") -> str:
    """The handout as a page, with a link to the PDF where there is one."""
    text = (SOURCES / f"{HANDOUT}.md").read_text(encoding="utf-8")
    sheets = "\n".join(
        f'<main class="sheet">{in_html(part, drawn)}</main>'
        for part in re.split(r"(?m)^---$", text)
    )
    return PAGE.format(head=head("LIME on two pages", asset("handout.css")), body=link + sheets)


def build(out: Path, cache: Path, key: str) -> None:
    """Write decks, handout and what they load into ``out``."""
    drawn = draw(figures(), cache, key)
    out.mkdir(parents=True, exist_ok=True)
    spec = importlib.util.find_spec("sphinx_revealjs")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("The slides need the package sphinx-revealjs.")
    for name in REVEAL:
        target = out / "reveal" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(spec.origin).parent / "_static" / "revealjs" / name, target)
    for deck in decks():
        (out / f"{deck.name}.html").write_text(deck_page(deck, drawn), encoding="utf-8")
    page = out / f"{HANDOUT}.html"
    page.write_text(handout_page(drawn), encoding="utf-8")
    if printed(page, out / f"{HANDOUT}.pdf"):
        page.write_text(handout_page(drawn, AS_PDF), encoding="utf-8")


def printed(page: Path, target: Path) -> bool:
    """Whether a Chromium is here that prints the page. The book can be built without one."""
    target.unlink(missing_ok=True)
    names = (os.environ.get("CHROME"), *CHROMIUMS)
    chromium = next((found for name in names if name and (found := shutil.which(name))), None)
    if chromium is None:
        return False
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    options += ["--no-pdf-header-footer", "--virtual-time-budget=20000", f"--print-to-pdf={target}"]
    subprocess.run(
        [chromium, *options, page.resolve().as_uri()], capture_output=True, check=False, timeout=120
    )
    return target.exists()


if __name__ == "__main__":
    _draw_here(json.load(sys.stdin))
