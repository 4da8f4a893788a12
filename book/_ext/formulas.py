"""Formulas become MathML while the book is built, so that a page needs no script to show them.

Temml (book/_assets/formulas) turns TeX into MathML in a JavaScript engine that comes as a Python package; ``tidy``
mends what browsers and Temml do otherwise than TeX. The TeX stays inside, as the annotation of each formula: that is
what a copy gives (book.js). The macros are those of ``mathjax3_config`` in _config.yml, where JupyterLab's readers
look for them too. The font is book/_assets/formulas/math.woff2, made by tools/math_font.py; a page carries the part of
it that its formulas need.
"""

from __future__ import annotations

import base64
import html
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.util import logging

ASSETS = Path(__file__).resolve().parents[1] / "_assets" / "formulas"
FONT = ASSETS / "math.woff2"
NAME = "limetutor"  # of the renderer, as Sphinx knows it
LONG = 20  # letters and signs that fit into a line of the narrowest phone
logger = logging.getLogger(__name__)

RENDER = """(macros) => {
    globalThis.render = (tex, displayMode, wrap) => temml.renderToString(
        tex, {displayMode, wrap, macros: {...macros}, throwOnError: true, strict: false});
}"""


def setup(app: Sphinx) -> None:
    """Register the renderer and choose it."""
    app.add_html_math_renderer(NAME, (inline, None), (block, None))
    app.config.html_math_renderer = NAME
    app.connect("doctree-resolved", keep_together, priority=900)


# --- in the pages --------------------------------------------------------------------------------


def inline(translator: Any, node: nodes.math) -> None:
    """A formula in a line."""
    start = translator.starttag(node, "span", "", CLASS="math notranslate nohighlight")
    translator.body.append(start + from_node(translator, node, False) + "</span>")
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own, with its number if it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({translator.get_equation_number(node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(from_node(translator, node, True) + "</div>\n")
    raise nodes.SkipNode


def from_node(translator: Any, node: nodes.Element, display: bool) -> str:
    """The MathML of a node; what cannot be read is a warning at its place in the source."""
    tex = node.astext().strip()
    try:
        mathml = render(tex, display, macros_of(translator.config))
    except JSEvalException as error:
        logger.warning(
            "This formula cannot be read: %s (%s)",
            tex,
            str(error).partition("\n")[0],
            location=node,
        )
        return f"<code>{translator.encode(tex)}</code>"
    if missing := set(characters(mathml)) - in_font():
        logger.warning(
            "No character of the font of formulas: %s in %s", " ".join(missing), tex, location=node
        )
    return mathml


BEFORE, BEHIND = re.compile(r"[(\[“‘]+$"), re.compile(r"[,.;:!?)\]”’…–-]+(?:s\b)?")


def keep_together(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put a formula and the comma behind it into one box: browsers end a line between them."""
    for math in list(doctree.findall(nodes.math)):
        kept = math
        while isinstance(kept.parent, nodes.reference) and len(kept.parent) == 1:
            kept = kept.parent  # a link is all formula
        row, at = kept.parent, kept.parent.index(kept)
        before = row[at - 1] if at and isinstance(row[at - 1], nodes.Text) else nodes.Text("")
        after = row[at + 1 : at + 2]
        behind = after[0] if after and isinstance(after[0], nodes.Text) else nodes.Text("")
        opened, closed = BEFORE.search(before), BEHIND.match(behind)
        if not opened and not closed:
            continue
        box = nodes.inline("", "", classes=["lt-kept"])
        row[at] = box
        box += [
            nodes.Text(opened[0] if opened else ""),
            kept,
            nodes.Text(closed[0] if closed else ""),
        ]
        if closed:
            row[at + 1] = nodes.Text(behind[closed.end() :])
        if opened:
            row[at - 1] = nodes.Text(before[: opened.start()])


def macros_of(config: Any) -> str:
    """The macros of _config.yml as Temml takes them."""
    macros = (config.mathjax3_config or {}).get("tex", {}).get("macros", {})
    return json.dumps({f"\\{name}": text for name, text in macros.items()})


@cache
def in_font() -> set[str]:
    """The characters of the font, and those that are seen by no one."""
    return {*map(chr, TTFont(FONT).getBestCmap()), "\u2061", "\u2062", "\u2063"}


def characters(mathml: str) -> str:
    """The letters and signs that a formula shows."""
    return "".join(ET.fromstring(mathml).find("semantics")[0].itertext())


# --- the font within a page ------------------------------------------------------------------------

MATH = re.compile(r"(?s)<math\b.*?</math>")
UNSEEN = re.compile(r"(?s)<annotation\b.*?</annotation>|<[^>]*>")
GIVEN = re.compile(r"<script data-font>[^<]*</script>\n?")
ADD = (
    'document.fonts.add(new FontFace("Lime Math Here", '
    'Uint8Array.from(atob("%s"), (letter) => letter.charCodeAt(0))));'
)
DRAWN = " \xa0√"  # by browsers themselves: room between letters, and the sign of a root


def with_font(page: str) -> str:
    """A page that holds the font of its formulas: when its first line is laid out, the font is there.

    One that comes later makes formulas wider or higher, and all that stands below them moves. That would be so with
    the font in the styles as well, which browsers read beside the page; a script's they take at once. It is a third of
    the whole font, which the styles name for readers without scripts.
    """
    page = GIVEN.sub("", page)
    if not (found := MATH.findall(page)):
        return page
    shown = html.unescape("".join(UNSEEN.sub("", formula) for formula in found))
    data = base64.b64encode(part_of_font(frozenset(shown + DRAWN))).decode()
    return page.replace("</head>", f"<script data-font>{ADD % data}</script>\n</head>", 1)


@cache
def part_of_font(shown: frozenset[str]) -> bytes:
    """The font with these characters, their other shapes (a browser takes 𝑥 for an x) and what they grow into."""
    font = TTFont(FONT, recalcTimestamp=False)
    subset.log.setLevel("WARNING")  # it would tell of every table of every page's font
    part = subset.Subsetter(
        subset.Options(layout_features=["*"], name_IDs=["*"], desubroutinize=True)
    )
    letters = plain("".join(shown))  # of both, since even ϕ and ϵ are shapes: of φ and ε
    part.populate(unicodes=[c for c in font.getBestCmap() if set(plain(chr(c))) & set(letters)])
    part.subset(font)
    font.flavor = "woff2"
    font.save(packed := io.BytesIO())
    return packed.getvalue()


def plain(letters: str) -> str:
    """Letters without the shape that makes one italic, bold or of a script."""
    return unicodedata.normalize("NFKC", letters)


# --- TeX to MathML ---------------------------------------------------------------------------------


@cache
def engine(macros: str) -> MiniRacer:
    """Temml, knowing the macros."""
    started = MiniRacer()
    started.eval((ASSETS / "temml.min.js").read_text("utf-8"))
    started.eval(f"({RENDER})({macros})")
    return started


@cache
def render(tex: str, display: bool, macros: str = "{}") -> str:
    """A formula as an element ``math``, its TeX inside."""
    drawn = drawn_by_temml(tex, display, macros, "none")
    if not display and len("".join(drawn.itertext())) > LONG:
        drawn = drawn_by_temml(tex, display, macros, "tex")
        drawn[:] = pieces(drawn)
    tidy(drawn, 0 if display else 1)
    shown = drawn[0]
    parts = [part for piece in drawn for part in broken(piece)] if not display else [shown]
    if len(parts) > 1:
        shown = ET.Element("mrow", {"class": "lt-pieces"})
        shown.extend(parts)
    drawn[:] = [ET.Element("semantics")]
    drawn[0].append(shown)
    ET.SubElement(drawn[0], "annotation", encoding="application/x-tex").text = tex
    drawn.attrib.pop("style", None)
    return ET.tostring(drawn, encoding="unicode", short_empty_elements=False)


def pieces(parts: Iterable[ET.Element]) -> list[ET.Element]:
    """What Temml cuts at every sign, joined so that a line ends behind a sign and nowhere else.

    It leaves some signs alone, and a sign alone has no spaces beside it; and it cuts behind a bracket, where
    the sign of (-x) begins.
    """
    found: list[ET.Element] = []
    for part in parts:
        inside = list(part) if part.tag == "mrow" else [part]
        if not inside:
            continue
        alone = len(inside) == 1 and inside[0].tag == "mo"
        if not found or (breaks(*([None, None, *found[-1]][-2:])) and not alone):
            found.append(ET.Element("mrow"))
        found[-1].extend(inside)
    return found


def breaks(before: ET.Element | None, sign: ET.Element) -> bool:
    """Whether a line may end behind a sign: one that joins, no bracket and no name of a function."""
    joins = sign.tag == "mo" and sign.get("form") not in ("prefix", "postfix")
    joins = joins and sign.get("fence") != "true" and sign.text not in (None, "", APPLIED)
    return joins and (sign.text not in BINARY or ends(before))


def broken(piece: ET.Element) -> list[ET.Element]:
    """A piece of a long formula, in two behind its first stroke of division if it is long itself."""
    strokes = [k for k, part in enumerate(piece, 1) if part.text == "/" and k < len(piece)]
    if piece.tag != "mrow" or not strokes or len("".join(piece.itertext())) <= LONG:
        return [piece]
    parts = ET.Element("mrow"), ET.Element("mrow")
    parts[0].extend(piece[: strokes[0]])
    parts[1].extend(piece[strokes[0] :])
    return list(parts)


def drawn_by_temml(tex: str, display: bool, macros: str, wrap: str) -> ET.Element:
    """What Temml makes of a formula; with wrap "tex" in pieces, between which a line may end."""
    return ET.fromstring(engine(macros).call("render", as_temml_reads(tex, display), display, wrap))


def as_temml_reads(tex: str, display: bool) -> str:
    """The same formula without what Temml takes for something else.

    0,1 are two numbers, not one with a comma. Lines outside of any environment are set below each other, as
    Sphinx does it for MathJax; environments of AMS have no numbers but those that Sphinx gives.
    """
    tex = re.sub(r"(?<=\d),(?=\d)", ", ", tex)
    tex = re.sub(r"\\(begin|end)\{(equation|align|gather|multline|alignat)\}", r"\\\1{\2*}", tex)
    outside = re.sub(r"(?s)\\begin\{.*\\end\{\w+\*?\}", "", tex)
    return f"\\begin{{split}}{tex}\\end{{split}}" if display and r"\\" in outside else tex


# --- what TeX does and browsers do not --------------------------------------------------------------

SCRIPTS = {"msub", "msup", "msubsup", "munder", "mover", "munderover"}
OPEN, CLOSE = set("([{⟨⌈⌊"), set(")]}⟩⌉⌋")
BINARY = set("+−±∓×⋅∗∪∩")
DOTS = set("…⋯")
THIN = ".1667em"
TALL = ".7em"  # as high as a capital
SEEN = 0.05  # em
APPLIED = "\u2061"  # nothing to be seen: what stands before it is a function
ACCENTS = {"~": "˜", "‾": "¯"}  # signs of a line, and the accents that are meant


def tidy(element: ET.Element, style: int) -> None:
    """Mend a formula from the outside in; style is 0 for a formula on its own lines, 1 in a line, 2 in an index."""
    if element.tag == "mstyle":
        style = (
            int(element.get("scriptlevel", 0)) + 1 if element.get("displaystyle") != "true" else 0
        )
    elif element.tag == "mtable":
        style = style if style > 1 else int(element.get("displaystyle") != "true")
    for k, child in reversed(list(enumerate(element))):
        if (
            child.tag == "mrow"
            and len(child) < 5
            and element.tag == "mrow"
            and any(part.text == APPLIED for part in child)
        ):
            element[k : k + 1] = list(
                child
            )  # the name of a function belongs to what it is applied to
    if (
        element.tag == "mover" and len(element) > 2
    ):  # an operator's name under an accent comes in pieces
        base = ET.Element("mrow")
        base.extend(element[:-1])
        element[:-1] = [base]
    for k, child in enumerate(element):
        in_index = element.tag in SCRIPTS and k > 0
        tidy(child, 2 if in_index else min(style + 1, 2) if element.tag == "mfrac" else style)
    space_names(element, style)
    space_operators(element, style)
    if style < 2:
        space_high_brackets(element)
    space_leaning_letters(element)
    if element.tag in ("msup", "msubsup") and element[0].tag == "mover":
        low = ET.Element("mpadded", height=TALL)  # a power stands beside the letter, not its accent
        low.append(element[0])
        element[0] = low
    if (
        element.tag == "msqrt"
    ):  # all roots of letters as high as that of d, with air below the stroke
        element.insert(0, ET.Element("mspace", height=TALL, width="0"))
    if element.tag == "mover" and element[1].get("stretchy") == "false":
        element[1].text = ACCENTS.get(element[1].text, element[1].text)
        if style > 1:  # as small as what is under it; Temml has it as large as the line
            element.set("accent", "true")
            element[1].attrib.pop("style", None)


def space_names(row: ET.Element, style: int) -> None:
    """Thin spaces beside the name of a function, log or gap: before it and behind it, but not at a sign or an end."""
    for applied in [child for child in row if child.text == APPLIED]:
        k = list(row).index(applied)
        after = row[k + 1 :]
        if after and after[0].tag == "mspace" and (len(after) == 1 or after[1].tag == "mo"):
            row.remove(after[0])
        if style < 2 and k > 1 and row[k - 2].tag != "mspace" and ends(row[k - 2]):
            row.insert(k - 1, ET.Element("mspace", width=THIN))


def space_operators(row: ET.Element, style: int) -> None:
    """Spaces beside the operators of a row: none in an index, none at brackets, none where nothing is joined."""
    seen = [child for child in row if child.tag != "mspace"]
    for before, child, after in zip([None, *seen], seen, [*seen[1:], None], strict=False):
        if child.tag != "mo":
            continue
        around: tuple[str, str] | None = None
        if (
            style > 1
            or child.get("fence") == "true"
            or (child.text in BINARY and joins_nothing(before, after))
        ):
            around = "0", "0"
        elif child.text in DOTS:
            around = "0", THIN if after is not None and after.get("separator") == "true" else "0"
        if (
            around
            and not {"lspace", "rspace"} & set(child.attrib)
            and child.text not in {"∑", "∏", "∫"}
        ):
            child.set("lspace", around[0])
            child.set("rspace", around[1])


def space_high_brackets(row: ET.Element) -> None:
    """A thin space before what stands in brackets that grow with it, and one behind it before a letter."""
    if (
        row.tag in SCRIPTS
    ):  # its parts are a base and what stands at it: a third would take the power's place
        return
    high = [child for child in row if child.tag == "mrow" and len(child) and grows(child[0])]
    for child in high:
        k = list(row).index(child)
        after = row[k + 1] if k + 1 < len(row) else None
        joined = after is not None and after.tag in ("mi", "mn", "msub", "mfrac")
        if joined and after.text not in (".", ",") and grows(child[-1]):
            row.insert(k + 1, ET.Element("mspace", width=THIN))
        before = row[k - 1] if k else None
        named = before is not None and before.text == APPLIED
        if named or (ends(before) and before.tag != "mspace"):
            row.insert(k, ET.Element("mspace", width=THIN))


def grows(sign: ET.Element) -> bool:
    """Whether it is a bracket of \\left and \\right, or of a matrix."""
    return sign.tag == "mo" and sign.get("fence") == "true" and sign.get("stretchy") == "true"


def space_leaning_letters(row: ET.Element) -> None:
    """Behind a letter that leans out of its box, T or V, the room that the font says, or P( would touch."""
    if row.tag not in ("mrow", "mtd", "math", "msqrt"):
        return
    for k, child in reversed(list(enumerate(row))):
        last = k + 1 == len(row) and row.tag != "mtd"
        if child.tag == "mi" and not child.get("mathvariant") and not last:
            lean = leaning().get(child.text or "", 0)
            if lean and (k + 1 == len(row) or row[k + 1].tag != "mspace"):
                row.insert(k + 1, ET.Element("mspace", width=f"{lean:g}em"))


@cache
def leaning() -> dict[str, float]:
    """How far the italic forms of letters lean, in em, as the font has it; what is hardly seen left out."""
    font = TTFont(FONT)
    glyphs, table = font.getBestCmap(), font["MATH"].table.MathGlyphInfo.MathItalicsCorrectionInfo
    values = (value.Value / font["head"].unitsPerEm for value in table.ItalicsCorrection)
    lean = dict(zip(table.Coverage.glyphs, values, strict=True))
    capitals = {chr(ord("A") + k): chr(0x1D434 + k) for k in range(26)}
    small = {chr(ord("a") + k): chr(0x1D44E + k) for k in range(26)}
    found = {a: lean.get(glyphs.get(ord(b), ""), 0) for a, b in (capitals | small).items()}
    return {letter: value for letter, value in found.items() if value >= SEEN}


def ends(before: ET.Element | None) -> bool:
    """Whether something ends here that a sign could join to what follows."""
    return before is not None and (before.tag != "mo" or before.text in CLOSE)


def joins_nothing(before: ET.Element | None, after: ET.Element | None) -> bool:
    """Whether a sign between these two joins nothing: the - of (-x), the · of [·]."""
    opened = before is not None and before.tag == "mo" and before.text in OPEN
    closed = after is None or (after.tag == "mo" and after.text in CLOSE)
    return opened or (before is None and closed)
