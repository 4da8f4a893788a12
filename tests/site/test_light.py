"""Pages light enough for a phone: what they carry, what they ask for, and what they are elsewhere."""

import gzip
import html
import io
import json
import re
import time
import zipfile
from pathlib import Path

import downloads
import exercise_boxes
import notation
import pytest
import styles
from PIL import Image
from site_visits import JS, LAPTOP, SITE, Quiet, moves, serving, visit

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]

LARGEST_PAGE = 600_000  # bytes on their way, all that a first visit asks for, compressed
LARGEST_FIGURE = 150_000  # bytes of a figure's data, compressed
PHONE = {"viewport": {"width": 320, "height": 844}, "has_touch": True}
META = re.compile(r'<meta (?:name|property)="([^"]+)" content="([^"]*)"')
FORMULA = re.compile(r'(?s)<math\b.*?<annotation encoding="application/x-tex">(.*?)</annotation>')


def compressed(path: Path) -> int:
    data = path.read_bytes()
    packed = path.suffix in (".woff2", ".png", ".jpg")
    return len(data) if packed else len(gzip.compress(data, 6))


def test_every_formula_of_the_sources_is_on_its_page_with_its_tex(pages):
    """Compared without spaces; formulas of figures' captions stand in the metadata of cells."""
    count = 0
    for path in pages:
        source = next((p for p in notation.reading_order() if p.stem == path.stem), None)
        if source is None:
            continue
        there = {squeezed(html.unescape(tex)) for tex in FORMULA.findall(path.read_text("utf-8"))}
        for tex in formulas_in(source):
            assert squeezed(tex) in there, f"{path.stem}: {tex}"
            count += 1
    assert count > 1500


def squeezed(tex: str) -> str:
    return re.sub(r"\s+", "", tex)


def formulas_in(source: Path) -> list[str]:
    texts = exercise_boxes.raw_markdown(source)
    if source.suffix == ".ipynb":
        cells = json.loads(source.read_text("utf-8"))["cells"]
        figures = (cell["metadata"].get("mystnb", {}).get("figure", {}) for cell in cells)
        texts += [figure.get("caption", "") for figure in figures]
    found = []
    for text in texts:
        plain = re.sub(r"(?s)```python.*?```|(?<!`)`[^`\n]+`(?!`)|<!--.*?-->", "", text)
        found += [tex.strip("$") for tex in notation.MATH.findall(plain)]
    return found


def test_pages_name_no_mathjax_no_icon_font_and_no_style_sheet(pages):
    for path in pages:
        text = path.read_text("utf-8")
        head = text.partition("<article")[0]
        assert not re.search(r"mathjax|fontawesome\.js|fa-solid-900|Font Awesome\\", head, re.I), (
            path
        )
        assert not re.search(r'<link[^>]*rel="stylesheet"', text), path
        for script in re.findall(r"<script\b[^>]*\bsrc=[^>]*>", text):
            assert " defer" in script, f"{path.name}: {script} would stop the page"


def test_descriptions_differ_and_cards_are_pictures(pages):
    seen: dict[str, str] = {}
    for path in pages:
        metas = dict(META.findall(path.read_text("utf-8")))
        about = html.unescape(metas["description"])
        assert 20 <= len(about) <= 200, f"{path.name}: {about}"
        assert about not in seen, f"{path.name} and {seen.get(about)} say the same"
        seen[about] = path.name
        assert metas["og:description"] == metas["description"]
        assert metas["og:title"] and metas["twitter:card"] == "summary_large_image"
        page = path.relative_to(SITE).as_posix()
        assert metas["og:url"].endswith(page) and metas["og:url"].startswith("https://")
        card = SITE / "_static" / metas["og:image"].partition("/_static/")[2]
        with Image.open(card) as picture:
            assert picture.size == (1200, 630)
            assert len(picture.convert("L").resize((60, 32)).getcolors() or range(999)) > 8, card
    assert 'name="description"' in (SITE / "index.html").read_text("utf-8")


def test_no_figure_is_heavy(pages):
    data = r'(?s)<script type="application/json"[^>]*>(.*?)</script>'
    sizes = {
        f"{path.stem} {k}": len(gzip.compress(found.encode(), 6))
        for path in pages
        for k, found in enumerate(re.findall(data, path.read_text("utf-8")))
    }
    assert sizes and max(sizes.values()) <= LARGEST_FIGURE, max(sizes, key=sizes.get)


def test_the_zip_is_the_site_and_no_link_in_it_is_dead(pages, tmp_path):
    packed = zipfile.ZipFile(io.BytesIO((SITE / downloads.ZIP).read_bytes()))
    names = {name.removeprefix("limetutor/") for name in packed.namelist()}
    files = {p.relative_to(SITE).as_posix() for p in SITE.rglob("*") if p.is_file()}
    assert names == files - {downloads.ZIP, *downloads.LEFT_OUT}
    assert {entry.date_time for entry in packed.infolist()} == {downloads.DAY}
    for path in pages:
        name = path.relative_to(SITE).as_posix()
        assert downloads.ZIP not in packed.read(f"limetutor/{name}").decode("utf-8"), name
        text = path.read_text("utf-8")
        assert f'href="../{downloads.ZIP}"' in text
        assert (downloads.PDF in text) == (SITE / downloads.PDF).exists()


def test_what_can_be_taken_away_is_named_only_if_it_is_there(tmp_path):
    page = '<html><link rel="x"><p class="lt-downloads"></p></html>'
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.html").write_text(page)
    (tmp_path / "index.html").write_text(page)
    downloads.offer(tmp_path)
    first = (tmp_path / downloads.ZIP).read_bytes()
    assert downloads.PDF not in (tmp_path / "book" / "a.html").read_text()
    (tmp_path / downloads.PDF).write_bytes(b"%PDF")
    downloads.offer(tmp_path)
    assert f'href="../{downloads.PDF}"' in (tmp_path / "book" / "a.html").read_text()
    (tmp_path / downloads.PDF).unlink()
    downloads.offer(tmp_path)
    assert (tmp_path / downloads.ZIP).read_bytes() == first  # the same site, the same zip


def test_styles_keep_what_a_page_can_match_and_icons_become_masks(tmp_path):
    sheet = tmp_path / "theme.css"
    sheet.write_text(
        "@font-face{font-family:'Font Awesome 6 Free';src:url(fa.woff2)}"
        "html{--pst-icon-tip:'\\f0eb';--used:red;--idle:blue}"
        ".a,.gone{color:var(--used)} .gone{color:blue} .a:is(.gone,.b){top:0} p#one>a.b{left:0}"
        "table.a{top:1px} @media print{.gone{top:0}} @media print{.a{background:url(x.png)}}"
        '.a:before{content:"\\f0c9"}'
    )
    page = tmp_path / "deep" / "page.html"
    text = '<html><p id="one" class="a"><a class="b c">x</a></p></html>'
    css = styles.for_page(text, [sheet], page, frozenset({"scripted"}))
    assert ".a{color:var(--used)}" in css and "--used:red" in css and "--idle" not in css
    assert ".a:is(.gone,.b){top:0}" in css and "p#one>a.b{left:0}" in css
    assert "table" not in css and ".gone{" not in css and "Font Awesome" not in css
    assert 'url("../x.png")' in css
    assert '.a:before{;content:"";' in css and "mask:url(" in css and "forced-colors" in css


@pytest.mark.verify
def test_what_a_page_asks_for_and_how_it_looks_on_the_smallest_phone(
    pages, browser, served, verifying
):
    """One load of a page, of every second in ``make test``: bytes, icons, fonts, formulas on the screen."""
    with visit(browser, served, **PHONE) as visitor:
        asked: list[str] = []
        visitor.tab.on("request", lambda request: asked.append(request.url))
        for path in pages[:: 1 if verifying else 2]:
            asked.clear()
            tab = visitor.open(path, served)
            tab.evaluate("document.fonts.ready.then(() => null)")
            files = {SITE / url.removeprefix(served).partition("?")[0] for url in asked}
            size = sum(map(compressed, files))
            if size > LARGEST_PAGE:
                visitor.note(f"{size} bytes")
            for file in files:
                needless = ("fontawesome.js", "tex-chtml.js", "searchindex.js", "math.woff2")
                if file.suffix == ".css" or file.name in needless:
                    visitor.note(f"asks for {file.name}")  # the font of its formulas is in the page
            icons = tab.evaluate(JS.ICONS)
            if len(icons) < 3:
                visitor.note("hardly an icon")
            for name, drawn in icons:
                if not drawn and name.split()[-1] != "fa-lg":
                    visitor.note(f"no picture for {name}")
            for tex in tab.evaluate(JS.TOO_WIDE):
                visitor.note(f"beyond the screen: {tex}")
            tab.evaluate("for (const f of document.querySelectorAll('details')) f.open = true")
            for tex in tab.evaluate(JS.CUT):
                visitor.note(f"cut, and cannot be scrolled: {tex}")
            for tex in tab.evaluate(JS.NO_SIGN):
                visitor.note(f"goes on with no sign of it: {tex}")
            for tex in tab.evaluate(JS.PARTED):
                visitor.note(f"parted from its comma: {tex}")


class Late(Quiet):
    """All but the page itself comes late, as over a slow line."""

    def do_GET(self) -> None:
        if not self.path.endswith(".html"):
            time.sleep(0.15)
        super().do_GET()


@pytest.mark.verify
def test_a_page_keeps_still_when_all_that_it_asks_for_is_late(pages, browser, verifying):
    """A first visit to some pages; that no page moves when nothing is late, test_site.py asks."""
    with serving(Late) as served:
        for path in pages if verifying else pages[1::9]:
            for size in (LAPTOP, {"viewport": {"width": 412, "height": 823}}):
                with visit(browser, served, **size) as visitor:  # with nothing in its cache
                    visitor.note_all(moves(visitor.open(path, served)))


@pytest.mark.parametrize("origin", ["server", "disk"])
def test_a_copy_has_the_tex_and_the_theme_can_be_changed(pages, browser, served, origin):
    base = served if origin == "server" else SITE.as_uri() + "/"
    path = next(p for p in pages if p.stem == "theorem")
    with visit(browser, base) as visitor:
        tab = visitor.open(path, base)
        paragraph = tab.locator("article p:has(math)").first
        tex = paragraph.locator("annotation").first.text_content()
        text, markup = paragraph.evaluate(JS.COPIED)
        assert f"${tex}$" in text and "<math" in markup
        formula = tab.locator("article div.math math").first
        own = formula.locator("annotation").text_content()
        assert formula.evaluate(JS.COPIED)[0] == f"$$\n{own}\n$$"
        heading = tab.locator("article h1").first
        assert heading.evaluate(JS.COPIED) == ["", ""]  # without a formula the browser does it
        button = tab.get_by_role("button", name="Color mode")
        seen = {tab.locator("html").get_attribute("data-theme")}
        for _ in range(3):
            button.click()
            seen.add(tab.locator("html").get_attribute("data-theme"))
        assert seen == {"light", "dark"}
        assert tab.get_by_role("button", name="Search").first.is_visible()


def test_in_forced_colours_icons_and_formulas_are_seen(pages, browser, served):
    path = next(p for p in pages if p.stem == "theorem")
    with visit(browser, served, forced_colors="active") as visitor:
        tab = visitor.open(path, served)
        ground = "getComputedStyle(document.body).backgroundColor"
        icon = 'getComputedStyle(document.querySelector(".fa-bars"), "::before").backgroundColor'
        ink = 'getComputedStyle(document.querySelector("article math")).color'
        paper, *marks = (tab.evaluate(colour) for colour in (ground, icon, ink))
        assert paper not in marks
