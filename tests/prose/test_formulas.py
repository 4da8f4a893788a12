"""TeX to MathML: what the book's formulas need, and what browsers and Temml would do otherwise."""

import base64
import io
import json
import re
import xml.etree.ElementTree as ET

import formulas
import pytest
from browser import ROOT

# Half of the brace is missing; as much room beside the stroke as beside the highest there is.
UNSUITED = r"\\(under|over)brace|\\[bB]igg?[lrm]?/"
MACROS = json.dumps({r"\E": r"\mathbb{E}", r"\R": r"\mathbb{R}"})


def drawn(tex: str, display: bool = False) -> ET.Element:
    return ET.fromstring(formulas.render(tex, display, MACROS))


def shown(tex: str, display: bool = False) -> str:
    return formulas.characters(formulas.render(tex, display, MACROS)).replace(formulas.APPLIED, "")


@pytest.mark.parametrize("tex", [r"\nu < 1 & 2", r"\E[x_j \mid z_j = 1]", "a\n+ b"])
def test_a_formula_keeps_its_tex(tex):
    tex = tex.replace("& 2", "")
    assert drawn(tex).find("semantics/annotation").text == tex


def test_macros_letters_and_numbers():
    assert shown(r"\E[f] \in \R") == "𝔼[f]∈ℝ"
    numbers = [e.text for e in drawn("[0,1] + 0.5").iter("mn")]
    assert numbers == ["0", "1", "0.5"]  # a comma parts numbers


def test_no_space_in_an_index_and_some_in_the_line():
    row = drawn(r"a_{i+1} + b", display=True)
    inner, outer = [e for e in row.iter("mo") if e.text == "+"]
    assert (inner.get("lspace"), inner.get("rspace")) == ("0", "0")
    assert outer.get("lspace") is None
    in_line = drawn(r"\frac{a+1}{2}")  # numerators in a line are as small as an index
    assert in_line.find(".//mo").get("lspace") == "0"
    assert drawn(r"\frac{a+1}{2}", display=True).find(".//mo").get("lspace") is None


def test_brackets_of_any_size_have_no_space_beside_them():
    for bracket in drawn(r"g\bigl(x\bigr) + \binom ab").iter("mo"):
        if bracket.text in "()":
            assert (bracket.get("lspace"), bracket.get("rspace")) == ("0", "0")


def test_a_sign_that_joins_nothing_has_no_spaces():
    for tex in (r"\exp\bigl(-x\bigr)", r"[\,\cdot\,]"):
        sign = next(e for e in drawn(tex).iter("mo") if e.text in formulas.BINARY)
        assert sign.get("lspace") == "0" or sign.get("form") == "prefix"
    joined = next(e for e in drawn(r"\bigl[(f(x) - \beta)^2\bigr]").iter("mo") if e.text == "−")
    assert joined.get("form") != "prefix" and joined.get("lspace") is None


def test_names_of_functions_have_thin_spaces_where_tex_has():
    def spaces(tex: str) -> list[str]:
        return [e.get("width") for e in drawn(tex).iter("mspace") if e.get("width")]

    assert len(spaces(r"c\sin x")) == 2
    assert not spaces(r"\operatorname{gap}_j")
    assert not spaces(r"\operatorname{gap}_j = 1")


def test_accents_are_accents_and_an_accent_over_a_name_has_one_base():
    assert shown(r"\tilde\mu") == "μ˜"
    for over in drawn(r"\widetilde{\operatorname{Cov}}(x)").iter("mover"):
        assert len(over) == 2


def test_a_long_formula_in_a_line_has_pieces_and_a_short_one_has_none():
    long = drawn(r"\E[f] = \alpha\,\E[f \mid z = 1] + (1 - \alpha)\,\E[f \mid z = 0]")
    assert long.find("semantics/mrow").get("class") == "lt-pieces"
    divided = drawn(r"A^{-1}v\,(f(\xi) - \hat f(\xi))/(1 + v^\top A^{-1}v)").find("semantics/mrow")
    assert divided.get("class") == "lt-pieces" and len(divided) == 2
    assert drawn("a = b").find("semantics/mrow").get("class") is None
    assert drawn(r"a = b", display=True).find("semantics/mrow").get("class") is None


def test_a_line_ends_behind_a_sign_and_no_sign_is_alone():
    """A sign that is a piece of its own would have no spaces beside it."""
    tex = r"P(\lVert S\rVert \ge n\tau) \le 2\exp\bigl(-\tfrac{n\tau^2}{2(v+R\tau/3)}\bigr)"
    pieces = drawn(tex).find("semantics/mrow")
    assert ["".join(p.itertext()).replace(formulas.APPLIED, "") for p in pieces] == [
        "P(‖S‖≥",
        "nτ)≤",
        "2exp(−nτ22(v+Rτ/3))",
    ]


def test_a_power_stands_beside_the_letter_and_not_above_its_accent():
    for tex in (r"\hat\Sigma^{-1}", r"\tilde\sigma_j^2"):
        (base,) = (e[0] for e in drawn(tex).iter() if e.tag in ("msup", "msubsup"))
        assert base.tag == "mpadded" and base.get("height") and base[0].tag == "mover"
    assert not list(drawn(r"\hat\beta_j").iter("mpadded"))


def test_roots_of_low_letters_are_as_high_as_those_of_capitals():
    assert drawn(r"\sqrt v").find(".//msqrt")[0].get("height") == formulas.TALL


def test_room_behind_letters_that_lean_and_beside_high_brackets():
    def after(tex: str, letter: str) -> str | None:
        row = next(e for e in drawn(tex, display=True).iter() if letter in [c.text for c in e])
        k = [c.text for c in row].index(letter)
        return row[k + 1].get("width") if k + 1 < len(row) else None

    assert after("V(x)", "V") == "0.06em" and after("T = 1", "T") == "0.052em"
    assert after("x(V)", "x") is None
    assert after(r"T &= 1 \\ x &= 2", "T") == "0.052em"  # the sign is in the next cell
    for tex in (r"\exp\left(-\frac12\right)", r"C_d\begin{pmatrix}1\end{pmatrix}"):
        rows = [(row, k) for row in drawn(tex, display=True).iter() for k in range(len(row))]
        high = lambda c: c.tag == "mrow" and formulas.grows(c[0])  # noqa: E731
        row, k = next((row, k) for row, k in rows if high(row[k]))
        assert row[k - 1].tag == "mspace" and row[k - 1].get("width") == formulas.THIN
    spaced = [e.tag for e in drawn(r"\Bigl(v\Bigr)\log 4", display=True).find("semantics/mrow")]
    assert spaced[3] == "mspace"  # between bracket and name


def test_what_stands_beside_a_formula_stays_with_it():
    from docutils import nodes
    from docutils.utils import new_document

    document = new_document("page")
    text = nodes.paragraph("", "", nodes.Text("in (a, "))
    text += [nodes.math("", "x"), nodes.Text("), that is ("), nodes.math("", "y")]
    text += [nodes.Text(" + 1 and ")]
    text += [nodes.reference("", "", nodes.math("", "z")), nodes.Text(", or")]
    document += text
    formulas.keep_together(None, document, "page")
    assert document.astext() == "in (a, x), that is (y + 1 and z, or"
    kept = [box.astext() for box in document.findall(nodes.inline) if "lt-kept" in box["classes"]]
    assert kept == ["x),", "(y", "z,"]


def test_lines_below_each_other():
    two = r"a &= b \\ c &= d"
    for tex, lines in ((two, 2), (rf"\begin{{align}} {two} \end{{align}}", 2), (r"\frac12", 0)):
        assert len(list(drawn(tex, display=True).iter("mtr"))) == lines


def test_the_power_of_a_high_bracket_is_its_power():
    for tex in (r"\left(\frac{a}{b}\right)^2 c", r"x \left(\frac{a}{b}\right)_j^2"):
        for part in drawn(tex, display=True).iter():
            if part.tag in formulas.SCRIPTS:
                assert len(part) == (3 if part.tag == "msubsup" else 2), tex


def test_what_cannot_be_read_is_refused():
    with pytest.raises(formulas.JSEvalException):
        formulas.render(r"\frac{1", False, MACROS)


def test_the_font_is_small_and_has_what_formulas_are_made_of():
    assert formulas.FONT.stat().st_size < 60_000
    assert set("xα𝑥𝛼√∑∫()[]{}|‖−=≤ˆ˜¯′𝔼ℝ𝒩") <= formulas.in_font()
    assert "MATH" in formulas.TTFont(formulas.FONT)


def test_a_page_carries_the_part_of_the_font_that_its_formulas_need():
    """Letters as wide, brackets that grow as high and the same distances as with the whole font."""
    drawn = [
        formulas.render(tex, True, MACROS) for tex in (r"\left(\E\sqrt{x_1}\right)", r"\phi < b")
    ]
    page = f"<head></head><p>Zürich</p>{''.join(drawn)}"
    given = formulas.with_font(page)
    assert formulas.with_font(given) == given
    assert page in given.replace(formulas.GIVEN.search(given)[0], "")
    found = re.search(r'<script data-font>.*atob\("([^"]+)"', given)
    part = formulas.TTFont(io.BytesIO(base64.b64decode(found[1])))
    whole = formulas.TTFont(formulas.FONT)
    assert len(found[1]) < formulas.FONT.stat().st_size / 2
    there, all_there = part.getBestCmap(), whole.getBestCmap()
    assert set("()𝔼√x𝑥1<ϕ𝜙𝑏 ") <= set(map(chr, there)) and not set("Z𝑍−∑") & set(map(chr, there))
    for code, glyph in there.items():
        assert part["hmtx"][glyph][0] == whole["hmtx"][all_there[code]][0]
    kept = {"hhea": ("ascent", "descent"), "OS/2": ("sxHeight", "sTypoAscender")}
    for table, name in [(table, name) for table, names in kept.items() for name in names]:
        assert getattr(part[table], name) == getattr(whole[table], name)
    sizes = [heights(font, sign) for font in (part, whole) for sign in "(√"]
    assert sizes[:2] == sizes[2:] and min(map(len, sizes)) > 3
    constants = [font["MATH"].table.MathConstants.__dict__ for font in (part, whole)]
    plain = [{k: v for k, v in c.items() if isinstance(v, int)} for c in constants]
    assert plain[0] == plain[1]
    bare = "<head></head><p>no formula</p>"
    assert formulas.with_font(bare) == bare


def heights(font: formulas.TTFont, sign: str) -> list[int]:
    """Of the forms into which a sign grows."""
    variants = font["MATH"].table.MathVariants
    at = variants.VertGlyphCoverage.glyphs.index(font.getBestCmap()[ord(sign)])
    forms = variants.VertGlyphConstruction[at].MathGlyphVariantRecord
    return [form.AdvanceMeasurement for form in forms]


def test_every_formula_of_the_sources_can_be_read():
    """Without building the book: each formula between dollars, in chapters and pages."""
    import exercise_boxes
    import notation

    count = 0
    for path in notation.reading_order():
        for cell in exercise_boxes.raw_markdown(path):
            text = re.sub(r"(?s)```python.*?```|`[^`\n]+`|<!--.*?-->", "", cell)
            for found in notation.MATH.findall(text):
                tex = found.strip("$").replace("\n> ", "\n").strip()
                mathml = formulas.render(tex, found.startswith("$$"), json.dumps(config_macros()))
                assert set(formulas.characters(mathml)) <= formulas.in_font(), tex
                assert not re.search(UNSUITED, tex), f"{tex}: Chromium draws it wrongly"
                for row in ET.fromstring(mathml).iter("mrow"):
                    if row.get("class") == "lt-pieces":
                        alone = [
                            p for p in row if p.tag == "mo" or (len(p) == 1 and p[0].tag == "mo")
                        ]
                        assert not alone, f"{tex}: a sign alone"
                count += 1
    assert count > 1500


def config_macros() -> dict[str, str]:
    text = (ROOT / "_config.yml").read_text("utf-8").partition("macros:")[2]
    pairs = re.findall(r'\n\s+(\w+): ("(?:[^"\\]|\\.)*")', text)
    return {f"\\{name}": json.loads(value) for name, value in pairs}


def test_a_title_with_a_formula_is_said_once():
    import cards

    class App:
        class config:
            html_title, project, html_baseurl = "Book", "Book", "https://example.org/"

    context = {"title": f"The law of {formulas.render(chr(92) + 'nu', False)}"}
    cards.describe(App, "book/page", "page.html", context, None)
    assert 'og:title" content="The law of ν"' in context["metatags"]
    assert re.sub("<[^>]+>", "", context["title"]) == "The law of ν"
    assert 'og:url" content="https://example.org/book/page.html"' in context["metatags"]


def test_a_description_is_made_of_sentences_without_hard_formulas():
    import cards

    text = f"It begins. This has {cards.UNSAID} in it. Then more. " + "And a long one " * 20 + "."
    assert cards.shortened(text) == "It begins. Then more."
    assert len(cards.shortened("word " * 100)) <= cards.LONGEST
