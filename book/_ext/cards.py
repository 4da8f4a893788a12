"""What a page looks like elsewhere: a sentence about it for search engines, and a picture for those who share it.

The sentence is the first of the page's own text. The picture is its first figure, at its default, under its title;
a page without a figure has that of the first page.
"""

from __future__ import annotations

import re
import textwrap
from html import escape, unescape
from pathlib import Path
from typing import Any

import resvg_py
from docutils import nodes
from sphinx.application import Sphinx

import fonts
import formulas
import pages

FIGURE = re.compile(r'(?s)<svg class="lt-svg" viewBox="0 0 ([\d.]+) ([\d.]+)".*?</svg>')
TITLE = re.compile(r'<meta property="og:title" content="([^"]*)"')
PICTURE = re.compile(r'<meta property="og:image" content="[^"]*/_static/([^"]*)"')
WIDTH, HEIGHT, TOP = 1200, 630, 150  # pixels, as the places that show cards want them
UNSAID = "\0"
LONGEST = 200  # letters of a description; longer ones are cut where they are shown


# --- the words ------------------------------------------------------------------------------------


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Put description and card into the head of a page."""
    book = app.config.html_title or app.config.project
    # a formula in a title is there twice, as letters and as TeX
    context["title"] = re.sub(r"(?s)<annotation.*?</annotation>", "", context.get("title", ""))
    title = unescape(re.sub("<[^>]+>", "", context["title"])) or book
    about = description(doctree, app) if doctree is not None else ""
    about = about or f"{title}: a page of the book “{book}”."
    base = app.config.html_baseurl.rstrip("/")
    card = f"{base}/_static/cards/{page.replace('/', '-')}.png"
    tags = {
        'name="description"': about,
        'property="og:type"': "article" if doctree is not None else "website",
        'property="og:site_name"': book,
        'property="og:title"': title,
        'property="og:description"': about,
        'property="og:url"': f"{base}/{page}.html",
        'property="og:image"': card,
        'property="og:image:width"': str(WIDTH),
        'property="og:image:height"': str(HEIGHT),
        'property="og:image:alt"': f"The first figure of {title}",
        'name="twitter:card"': "summary_large_image",
    }
    lines = (f'<meta {name} content="{escape(text)}" />' for name, text in tags.items())
    context["metatags"] = context.get("metatags", "") + "\n" + "\n".join(lines)


def description(doctree: nodes.document, app: Sphinx) -> str:
    """The first sentences of the page's own text."""
    paragraphs = (
        paragraph
        for paragraph in doctree.findall(nodes.paragraph)
        if isinstance(paragraph.parent, nodes.section) and "symbols" not in paragraph["classes"]
    )
    texts = (shortened(" ".join(plain(paragraph, app).split())) for paragraph in paragraphs)
    return next(filter(None, texts), "")


def plain(node: nodes.Node, app: Sphinx) -> str:
    """A text with simple formulas as letters and a mark for others, and without what a page hides."""
    if isinstance(node, nodes.math):
        drawn = formulas.render(node.astext(), False, formulas.macros_of(app.config))
        flat = not re.search(r"<m(?:sub|sup|over|under|frac|sqrt|root|table)", drawn)
        return formulas.characters(drawn).replace(formulas.APPLIED, " ") if flat else UNSAID
    if isinstance(node, nodes.raw):
        return unescape(re.sub(r"<span class=\"lt-note\".*?</span>|<[^>]+>", "", node.astext()))
    if isinstance(node, nodes.Text):
        return node.astext()
    return "".join(plain(child, app) for child in node.children)


def shortened(text: str) -> str:
    """As many whole sentences as fit, or the beginning of the first; none that cannot be said without a formula."""
    sentences = [s for s in re.split(r"(?<=[.?!:]) (?=[A-Z“*])", text) if UNSAID not in s]
    kept = sentences[0] if sentences else ""
    for sentence in sentences[1:]:
        if len(kept) + 1 + len(sentence) > LONGEST:
            break
        kept += " " + sentence
    return textwrap.shorten(kept, LONGEST, placeholder=" …")


# --- the picture -----------------------------------------------------------------------------------


def draw(app: Sphinx, exception: Exception | None) -> None:
    """Make the card of every page that has changed."""
    if exception is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    default = FIGURE.search((site / f"{app.config.root_doc}.html").read_text("utf-8"))
    for page in pages.of(site):
        text = page.read_text("utf-8")
        title, picture = TITLE.search(text), PICTURE.search(text)
        if title and picture:
            target = site / "_static" / picture[1]
            svg = card(unescape(title[1]), FIGURE.search(text) or default, app.config.html_title)
            write_if_new(target, svg, site.parent / ".limetutor_cards" / f"{target.stem}.svg")


def write_if_new(target: Path, svg: str, source: Path) -> None:
    """Draw a card unless this very one is there, by what it was drawn from."""
    if target.exists() and source.exists() and source.read_text("utf-8") == svg:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    files = [str(path) for path in fonts.of_figures()]
    drawn = resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=files)
    target.write_bytes(bytes(drawn))
    source.parent.mkdir(exist_ok=True)
    source.write_text(svg, "utf-8")


def card(title: str, figure: re.Match[str] | None, book: str) -> str:
    """A picture with the title, the name of the book and a figure."""
    size = 56 if len(title) < 30 else 40
    picture = ""
    if figure:
        width, height = float(figure[1]), float(figure[2])
        scale = min((WIDTH - 120) / width, (HEIGHT - TOP - 30) / height)
        place = f"translate({(WIDTH - scale * width) / 2:.1f} {TOP}) scale({scale:.3f})"
        inner = figure[0].partition(">")[2].rpartition("</svg>")[0]
        inner = re.sub(r"var\(--[\w-]+,\s*([^)]+)\)", r"\1", inner)
        picture = f'<g transform="{place}">{inner}</g>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="Lime Sans, Lime Greek, DejaVu Sans"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f'<rect width="{WIDTH}" height="12" fill="#3f9142"/>'
        f'<text x="60" y="78" font-size="{size}" font-weight="bold" fill="#20262e">{escape(title)}</text>'
        f'<text x="60" y="120" font-size="26" fill="#3f9142">{escape(book)}</text>{picture}</svg>'
    )
