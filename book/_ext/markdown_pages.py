"""Every page as Markdown beside it (``weights.md``), and ``llms.txt`` with a list of them, for programs that read.

Made from the finished page: numbers and references are resolved, formulas are TeX between dollars, figures their
descriptions. What only a browser can use is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup, NavigableString, Tag  # of the theme
from sphinx.application import Sphinx

LEFT_OUT = (
    "script, button, form, output, .lt-answer, .lt-own, .lt-progress, .lt-controls, .lt-python, .lt-note, .headerlink,"
    " details.symbols, summary .expanded"
)
ABOUT = re.compile(r'<meta name="description" content="([^"]*)"')
LANGUAGES = {
    "ipython3": "python",
    "python": "python",
    "sh": "sh",
    "default": "python",
    "json": "json",
}
BLOCKS = frozenset(
    "p div section figure figcaption pre ul ol dl table blockquote details h1 h2 h3 h4 h5 h6".split()
)


def link_to_it(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """A page names its Markdown."""
    if doctree is not None:
        name = f"{Path(page).name}.md"
        tag = f'\n<link rel="alternate" type="text/markdown" href="{name}" />'
        context["metatags"] = context.get("metatags", "") + tag


def write(app: Sphinx, exception: Exception | None) -> None:
    """The files of all pages, and the list of them in the order of the table of contents."""
    if exception is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    toc = yaml.safe_load((Path(app.srcdir) / "_toc.yml").read_text("utf-8"))
    parts = [("", [{"file": toc["root"]}]), *((p["caption"], p["chapters"]) for p in toc["parts"])]
    book, base = app.config.html_title, app.config.html_baseurl.rstrip("/")
    lines = [f"# {book}"]
    for caption, chapters in parts:
        lines += ["", f"## {caption}", ""] if caption else []
        for name in in_order(chapters):
            if name not in app.env.found_docs:
                continue
            page, target = (site / f"{name}.html"), (site / f"{name}.md")
            text = page.read_text("utf-8")
            if not target.exists() or target.stat().st_mtime < page.stat().st_mtime:
                target.write_text(of_page(BeautifulSoup(text, "html.parser")), "utf-8")
            about = unescape(ABOUT.search(text)[1])
            if not caption:
                lines += ["", f"> {about}", ""]
            lines.append(f"- [{app.env.titles[name].astext()}]({base}/{name}.md): {about}")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")


def in_order(entries: list[dict[str, Any]]) -> Iterator[str]:
    """The files of a part of _toc.yml."""
    for entry in entries:
        yield entry["file"]
        yield from in_order(entry.get("sections", []))


def of_page(soup: BeautifulSoup) -> str:
    """The article of a page."""
    article = soup.select_one("article.bd-article")
    for element in article.select(LEFT_OUT):
        element.decompose()
    return "\n\n".join(blocks(article)) + "\n"


def blocks(element: Tag) -> Iterator[str]:
    """What stands in an element, paragraph by paragraph."""
    loose = ""  # text that is in no paragraph
    for child in element.children:
        if isinstance(child, Tag) and (child.name in BLOCKS or child.find(BLOCKS)):
            if loose.strip():
                yield loose.strip()
            loose = ""
            yield from filter(None, block(child))
        else:
            loose += inline(child)
    if loose.strip():
        yield loose.strip()


def block(tag: Tag) -> Iterator[str]:
    """One element that is not in a line."""
    classes = tag.get("class", [])
    if re.fullmatch("h[1-6]", tag.name):
        yield f"{'#' * int(tag.name[1])} {words(tag)}"
    elif tag.name in ("p", "figcaption") and not tag.find(BLOCKS):
        text = words(tag)
        yield f"**{text}**" if "admonition-title" in classes and text else text
    elif tag.name == "pre":
        around = tag.find_parent(class_=re.compile("^highlight-"))
        kind = re.search(r"highlight-([\w-]+)", " ".join(around["class"]))[1] if around else ""
        yield f"```{LANGUAGES.get(kind, '')}\n{tag.get_text().rstrip()}\n```"
    elif "math" in classes:
        number = tag.select_one(".eqno")
        yield f"$$\n{tag.find('annotation').get_text()}\n$$" + (
            f" {words(number)}" if number else ""
        )
    elif tag.name in ("ul", "ol"):
        for k, item in enumerate(tag.find_all("li", recursive=False), 1):
            mark = f"{k}. " if tag.name == "ol" else "- "
            yield mark + indented("\n\n".join(blocks(item)), " " * len(mark))
    elif tag.name == "dl":
        for item in tag.find_all(["dt", "dd"], recursive=False):
            said = "\n\n".join(blocks(item))
            if item.name == "dd":
                yield f":   {indented(said, '    ')}"
            else:
                yield f"`{item.get_text().strip()}`" if "sig" in item.get("class", []) else said
    elif tag.name == "table":
        rows = [[words(cell) for cell in row.find_all(["th", "td"])] for row in tag.find_all("tr")]
        lines = [
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows
        ]
        yield "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
    elif "admonition" in classes or tag.name in ("blockquote", "details"):
        yield "> " + indented("\n\n".join(blocks(tag)), "> ")
    else:
        yield from blocks(tag)


def inline(node: Any) -> str:
    """A piece of a line."""
    if isinstance(node, NavigableString):
        return "" if type(node) is not NavigableString else re.sub(r"\s+", " ", node)
    classes = node.get("class", [])
    if node.name == "math":
        return f"${node.find('annotation').get_text().strip()}$"
    if node.name == "svg":
        return f"[Figure: {node.get('aria-label', '')}]"
    if node.name == "img":
        return f"![{node.get('alt', '')}]({node['src']})"
    if node.name == "summary":
        return f"**{node.get_text().strip()}**\n\n"
    if node.name in ("code", "kbd"):
        return f"`{node.get_text()}`"
    said = "".join(map(inline, node.children))
    if node.name == "a" and "href" in node.attrs and said.strip():
        target = re.sub(r"^([\w-]+)\.html", r"\1.md", node["href"])
        return f"[{said}]({target})"
    if node.name in ("em", "strong") and said.strip() and "sig-param" not in classes:
        mark = "*" if node.name == "em" else "**"
        return f"{mark}{said}{mark}"
    return "\n" if node.name == "br" else said


def words(tag: Tag) -> str:
    """The text of an element in one line."""
    return "".join(map(inline, tag.children)).strip()


def indented(text: str, by: str) -> str:
    """A text whose lines but the first begin with `by`."""
    return (
        re.sub(r"\n(?=[^\n])", "\n" + by, text) if by.isspace() else text.replace("\n", "\n" + by)
    )
