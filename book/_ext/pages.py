"""Finished pages made light: what a page needs to be seen is in it, and all scripts wait until it is there.

Works on the pages as the theme has written them, once all are there, and may do so again: a later build finds the
pages that did not change as this one left them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sphinx.application import Sphinx

import fonts
import formulas
import styles

SHEET = re.compile(r'[ \t]*<link\b[^>]*\brel="stylesheet"[^>]*>\n?')
STYLE = re.compile(r'(?s)<style data-sheets="([^"]*)">.*?</style>\n?')
SCRIPT = re.compile(r"[ \t]*<script\b([^>]*)\bsrc=\"([^\"]+)\"([^>]*)></script>\n?")
PICTURE = re.compile(r'<img [^>]*\bsrc="([^"]*_images/[^"]+\.svg)"[^>]*>')
PRELOAD = re.compile(r'[ \t]*<link rel="preload" as="script"[^>]*>\n?')
# Icons are in the styles; tabs there are none; the words of the search are for its own page.
IDLE = ("fontawesome.js", "design-tabs.js")
SEARCH = ("searchtools.js", "language_data.js", "searchindex.js")
OPTIONS = "documentation_options.js"  # 300 bytes that a script within the page adds to
# Lines of Sphinx's scripts, and what they become. The first takes the words of a search out of the
# address, and with them what an entry of the history knows: where the figures stood before the page was
# loaded again. The second marks as many words as an address names, which may take minutes. The others
# find "constructor" among the words of any site.
MENDED = {
    'history.replaceState({}, "", url)': 'history.replaceState(history.state, "", url)',
    r"highlight.toLowerCase().split(/\s+/).filter(x => x);": (
        r"highlight.slice(0, 200).toLowerCase().split(/\s+/).filter(x => x).slice(0, 10);"
    ),
    "files: terms[word],": "files: Object.hasOwn(terms, word) ? terms[word] : undefined,",
    "files: titleTerms[word],": "files: Object.hasOwn(titleTerms, word) ? titleTerms[word] : undefined,",
}
# The theme decides between light and dark at the end, when the page has been seen in neither.
UNDECIDED = 'document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";'
DECIDED = """{
      const mode = document.documentElement.dataset.mode;
      const dark = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      document.documentElement.dataset.theme = ["light", "dark"].includes(mode) ? mode : dark;
    }"""


# Opens and folds all code of a page (book.js); put in here, or what stands beside it would move when it comes.
BAR = '<div class="article-header-buttons">'
SWITCH = (
    '<button class="btn btn-sm lt-code-switch" type="button" aria-pressed="false" '
    'aria-label="Show all code" title="Show all code"><span>&lt;/&gt;</span></button>'
)


def lighten(app: Sphinx, exception: Exception | None) -> None:
    """Rewrite every page of the site."""
    if exception is None and app.builder.name == "html":
        site = Path(app.outdir)
        scripted = words_of_scripts(site)
        for page in of(site):
            text = page.read_text("utf-8")
            light = lightened(text, page, scripted)
            if light != text:
                page.write_text(light, "utf-8")
        sweep(site / "_static")


def sweep(static: Path) -> None:
    """Remove what the theme brings and no page asks for, 5 MB of it, and the mention of what is gone."""
    shutil.rmtree(static / "vendor", ignore_errors=True)
    shutil.rmtree(static / "locales", ignore_errors=True)
    for path in static.rglob("*"):
        if path.name in IDLE or path.suffix == ".map":
            path.unlink()
        elif path.suffix == ".js":
            text = path.read_text("utf-8")
            for line, mended in MENDED.items():
                text = text.replace(line, mended)
            path.write_text(re.sub(r"\n//# sourceMappingURL=\S+\s*$", "\n", text), "utf-8")


def of(site: Path) -> Iterator[Path]:
    """The pages of a site."""
    return (
        path for path in sorted(site.rglob("*.html")) if not {"_static", "slides"} & set(path.parts)
    )


def words_of_scripts(site: Path) -> frozenset[str]:
    """What the site's scripts might put on a page: any word in them."""
    scripts = (p for p in (site / "_static").rglob("*.js") if p.name not in (*IDLE, *SEARCH[1:]))
    return frozenset(w for path in scripts for w in re.findall(r"[\w-]+", path.read_text("utf-8")))


def lightened(text: str, page: Path, scripted: frozenset[str]) -> str:
    """A page with its styles and the font of its formulas in it, and its scripts put off."""
    text = PRELOAD.sub("", text)
    text = SCRIPT.sub(partial(deferred, page=page), text).replace(UNDECIDED, DECIDED)
    text = PICTURE.sub(partial(inlined, page=page), text)
    if SWITCH not in text and re.search(r'<details class="(?:admonition hide|lt-python)', text):
        text = text.replace(BAR, BAR + SWITCH, 1)
    return formulas.with_font(fonts.put(with_styles(text, page, scripted), page))


def inlined(picture: re.Match[str], page: Path) -> str:
    """A picture of the package's own as part of the page, whose fonts and colours it takes."""
    said = re.search(r'\balt="([^"]*)"', picture[0])
    drawn = (page.parent / picture[1]).read_text("utf-8")
    drawn = drawn.replace('aria-label=""', f'aria-label="{said[1] if said else ""}"', 1)
    return (
        f'<div class="lt-figure lt-still">{drawn}</div>'
        if 'class="lt-svg"' in drawn
        else picture[0]
    )


def deferred(script: re.Match[str], page: Path) -> str:
    """A script that runs when the page is there, if the page needs it."""
    attributes, source = f"{script[1]} {script[3]}", script[2]
    name = Path(source.partition("?")[0]).name
    if name in IDLE or (name in SEARCH and page.name != "search.html"):
        return ""
    if name == OPTIONS:
        return f"<script>{(page.parent / source.partition('?')[0]).read_text('utf-8')}</script>\n"
    rest = re.sub(r'\b(?:async|defer)(?:="\w+")?', "", attributes).strip()
    return f'<script defer src="{source}"{" " + rest if rest else ""}></script>\n'


def with_styles(text: str, page: Path, scripted: frozenset[str]) -> str:
    """The sheets that the page links, or has been given before, as one element in it."""
    given = STYLE.search(text)
    links = SHEET.findall(text)
    if given:
        sheets = given[1].split()
        text = STYLE.sub("\0", text, count=1)
    elif links:
        sheets = [re.findall(r'href="([^"?]*)', link)[0] for link in links]
        text = SHEET.sub("", SHEET.sub("\0", text, count=1))
    else:
        return text
    paths = [(page.parent / sheet).resolve() for sheet in sheets]
    css = styles.for_page(text, paths, page.resolve(), scripted)
    return text.replace("\0", f'<style data-sheets="{" ".join(sheets)}">\n{css}\n</style>\n')
