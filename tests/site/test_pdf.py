"""The book on paper, made of some of its pages."""

import re
import shutil

import pdf
import pikepdf
import pytest
from browser import chromium
from site_visits import SITE

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]


def test_pages_become_a_book_whose_links_lead_somewhere(pages, tmp_path):
    """Pages whose text has links to states of figures, here and on the other page."""
    (tmp_path / "book").mkdir()
    shutil.copytree(SITE / "_static", tmp_path / "_static")
    shutil.copyfile(SITE / "index.html", tmp_path / "index.html")
    for name in ("welcome.html", "local_error.html"):
        text = (SITE / "book" / name).read_text("utf-8")
        assert re.search(r'href="[^"]*#fig-[\w-]+&amp;', text), f"{name} has no link to a state"
        shutil.copyfile(SITE / "book" / name, tmp_path / "book" / name)
    assert pdf.main(str(tmp_path), chromium()) == 0
    with pikepdf.open(tmp_path / pdf.downloads.PDF) as book:
        assert 10 < len(book.pages) < 60
        links = [
            annotation
            for page in book.pages
            for annotation in page.get("/Annots", [])
            if annotation.get("/Subtype") == "/Link"
        ]
        inside = [link for link in links if "/Dest" in link or "/D" in link.get("/A", {})]
        assert len(inside) > 10
    assert pdf.downloads.PDF in (tmp_path / "book" / "welcome.html").read_text("utf-8")
