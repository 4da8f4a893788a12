"""The book in other forms, made of some of its pages: an EPUB, Markdown, and a PDF that may lose no line."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zipfile

import epub
import pdf
import pytest
from browser import chromium
from site_visits import SITE

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]
NAMES = ("welcome.html", "theorem.html", "how_fast.html")
XHTML, SVG, MATH = (
    f"{{http://www.w3.org/{name}}}" for name in ("1999/xhtml", "2000/svg", "1998/Math/MathML")
)


@pytest.fixture
def few(pages, tmp_path):
    """A site of three pages."""
    (tmp_path / "book").mkdir()
    for folder in ("_static", "_images"):
        shutil.copytree(SITE / folder, tmp_path / folder)
    shutil.copyfile(SITE / "index.html", tmp_path / "index.html")
    for name in NAMES:
        shutil.copyfile(SITE / "book" / name, tmp_path / "book" / name)
    return tmp_path


def test_the_e_book_has_formulas_described_figures_and_asks_nobody(few):
    assert epub.main(str(few), chromium()) == 0
    made = few / epub.downloads.EPUB
    first = made.read_bytes()
    with zipfile.ZipFile(made) as book:
        assert book.namelist()[0] == "mimetype"
        files = {name: book.read(name) for name in book.namelist()}
    for name in NAMES:
        root = ET.fromstring(files[f"book/pages/{name.replace('.html', '.xhtml')}"])
        article = re.search(
            r"(?s)<article.*?</article>", (SITE / "book" / name).read_text("utf-8")
        )[0]
        hidden = re.search(r'(?s)<details class="symbols">.*?</details>', article)
        expected = article.count("<math") - (hidden[0].count("<math") if hidden else 0)
        assert len([*root.iter(f"{MATH}math")]) == expected
        for svg in root.iter(f"{SVG}svg"):
            assert len(svg.find(f"{SVG}title").text) > 20
        assert not [*root.iter(f"{XHTML}script"), *root.iter(f"{XHTML}input")]
        for element in root.iter():
            source = element.get("src") or ""
            assert not source or f"book/{source.removeprefix('../')}" in files
    text = b"".join(
        data for name, data in files.items() if name.endswith((".xhtml", ".css", ".opf"))
    )
    assert not re.search(rb'(?:src|url)[=(]"?https?:', text)
    assert f'href="../{epub.downloads.EPUB}"' in (few / "book" / NAMES[0]).read_text("utf-8")
    assert epub.main(str(few), chromium()) == 0 and made.read_bytes() == first
    if check := shutil.which("epubcheck"):
        done = subprocess.run(
            ["java", "-jar", check, made], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]


def test_a_line_that_the_paper_would_cut_off_is_reported(few, capsys):
    page = few / "book" / "welcome.html"
    long = f'<p style="white-space: nowrap">{"a line that goes on " * 12}</p></article>'
    page.write_text(page.read_text("utf-8").replace("</article>", long, 1), "utf-8")
    assert pdf.main(str(few), chromium()) == 1
    assert "a line that goes on" in capsys.readouterr().err
    assert epub.main(str(few / "book"), chromium()) == pdf.main(str(few / "book"), chromium()) == 1


def test_each_page_has_its_markdown_and_the_list_names_all(pages):
    listed = (SITE / "llms.txt").read_text("utf-8")
    for page in (path for path in pages if path.parent.name == "book"):
        text, markdown = page.read_text("utf-8"), page.with_suffix(".md").read_text("utf-8")
        assert f'type="text/markdown" href="{page.stem}.md"' in text
        assert f"/book/{page.stem}.md)" in listed
        article = re.search(r"(?s)<article.*?</article>", text)[0]
        article = re.sub(
            r'(?s)<details class="symbols">.*?</details>|<span[^>]* class="lt-note".*?</span>',
            "",
            article,
        )
        displayed = len(re.findall(r'<math [^>]*display="block"', article))
        assert len(re.findall(r"(?m)^[> ]*\$\$$", markdown)) == 2 * displayed, page.name
        for figure in re.findall(r'<svg class="lt-svg"[^>]*aria-label="([^"]+)"', article)[:3]:
            assert "[Figure: " in markdown, (page.name, figure)
        assert "<span" not in re.sub(r"(?s)```.*?```|`[^`]*`", "", markdown)
