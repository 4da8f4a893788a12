"""The whole book to take away: a zip of the site, made with it, and a PDF and an EPUB, made from it by ``make pdf epub``.

Every page has a line in its footer with the version that names what there is, and only that: without the PDF no link
leads to it, and the copy of the site in the zip has no link to the zip.
"""

from __future__ import annotations

import re
import zipfile
from os.path import relpath
from pathlib import Path

from sphinx.application import Sphinx

import pages
from limetutor import __version__

ZIP, PDF, EPUB = "limetutor.zip", "limetutor.pdf", "limetutor.epub"
LINE = re.compile(r'(?s)<p class="lt-downloads"[^>]*>.*?</p>')
WORDS = {
    PDF: "the book as a PDF",
    EPUB: "as an EPUB",
    ZIP: "the whole site as a zip, to read without a network",
}
DAY = (2026, 1, 1, 0, 0, 0)  # the same site gives the same zip
LEFT_OUT = (".buildinfo", ".built")


def put_together(app: Sphinx, exception: Exception | None) -> None:
    """After a build: what was made of an older one goes, and the zip is made anew."""
    if exception is None and app.builder.name == "html":
        site = Path(app.outdir)
        for name in (PDF, EPUB):
            (site / name).unlink(missing_ok=True)
        write_index(site, app)
        offer(site)


def offer(site: Path) -> None:
    """Make the zip, and name what can be taken away on every page."""
    there = [name for name in (PDF, EPUB) if (site / name).exists()]
    for page in pages.of(site):
        write_line(page, site, [*there, ZIP])
    pack(site, there)


def write_line(page: Path, site: Path, names: list[str]) -> None:
    """Rewrite the line of a page."""
    text = page.read_text("utf-8")
    new = LINE.sub(lambda found: line(names, relpath(site, page.parent)), text)
    if new != text:
        page.write_text(new, "utf-8")


def line(names: list[str], up: str) -> str:
    """Links to files that are there."""
    links = ", ".join(f'<a href="{Path(up, name).as_posix()}">{WORDS[name]}</a>' for name in names)
    away = f" To take away: {links}." if links else ""
    return f'<p class="lt-downloads">Version {__version__}.{away}</p>'


def pack(site: Path, there: list[str]) -> None:
    """All files of the site but the zip itself, in one folder, in a fixed order, with a fixed date."""
    with zipfile.ZipFile(site / ZIP, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            if path.name in LEFT_OUT or path == site / ZIP:
                continue
            data = path.read_bytes()
            if path.suffix == ".html":
                links = line(there, relpath(site, path.parent))
                data = LINE.sub(lambda found, links=links: links, data.decode("utf-8")).encode(
                    "utf-8"
                )
            entry = zipfile.ZipInfo(f"limetutor/{path.relative_to(site).as_posix()}", DAY)
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, data, zipfile.ZIP_DEFLATED)


def write_index(site: Path, app: Sphinx) -> None:
    """The address of the site itself leads to the first page, and shows its card where it is shared."""
    first = f"{app.config.root_doc}.html"
    head = (site / first).read_text("utf-8")
    metas = "\n".join(
        re.findall(r'<meta (?:name="(?:description|twitter)|property="og:)[^>]*>', head)
    )
    title = app.config.html_title
    (site / "index.html").write_text(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8" />\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1" />\n{metas}\n'
        f'<meta http-equiv="refresh" content="0; url={first}" />\n</head>\n'
        f'<body><p><a href="{first}">{title}</a></p></body>\n</html>\n',
        encoding="utf-8",
    )
