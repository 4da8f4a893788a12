"""Make the fonts of text, labels, code and Greek letters from their sources.

    sh tools/apt.sh fonts-texgyre fonts-texgyre-math
    npm pack source-sans@3.52.0 source-code-pro@2.42.0   # and unpack both into one folder
    python tools/text_fonts.py /usr/share/texmf/fonts/opentype/public FOLDER

TeX Gyre Pagella is the text: the math font (tools/math_font.py) is of the same family. Source Sans is for labels,
controls and figures, and matplotlib measures with the very file that pages show; Source Code is for code. Greek
letters are those of the math font, so that ξ is one letter in text, formula and figure. Only what a book in English
needs is kept, so by their licences the fonts have names of their own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "book" / "_assets" / "fonts"
FIGURES = ROOT / "limetutor" / "plotting" / "fonts"

LATIN = [*range(0x20, 0x7F), *range(0xA0, 0x100)]
SIGNS = "–—‘’“”†…‹›€−≤≥≠≈±×·→←↑↓⇒√∞∑∂ıˆ˜\u0302\u0303\u200b\u2009\u202f"
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉₊₋ⁿ"
GREEK = {
    chr(plain): math  # small letters lean, capitals stand, as TeX has them
    for plain, math in zip(
        [*range(0x3B1, 0x3CA), 0x3F5, 0x3D1, 0x3D5],
        [*range(0x1D6FC, 0x1D715), 0x1D716, 0x1D717, 0x1D719],
        strict=True,
    )
} | {letter: ord(letter) for letter in "ΓΔΘΛΞΠΣΦΨΩ"}


def part_of(source: Path, features: tuple[str, ...], more: str = "") -> TTFont:
    """A font with the characters of the book."""
    font = TTFont(source, recalcTimestamp=False)
    options = subset.Options(
        layout_features=["kern", "mark", *features], hinting=False, desubroutinize=True
    )
    options.name_IDs = [0, 1, 2, 4, 6, 13, 14]
    part = subset.Subsetter(options)
    part.populate(unicodes=[*LATIN, *map(ord, SIGNS + RAISED + more)])
    part.subset(font)
    return font


def named(font: TTFont, family: str, style: str = "Regular") -> TTFont:
    """The font under a name of ours."""
    names = {1: family, 2: style, 4: f"{family} {style}", 6: f"{family.replace(' ', '')}-{style}"}
    for record in font["name"].names:
        record.string = names.get(record.nameID, record.toUnicode())
    return font


def greek(source: Path) -> TTFont:
    """The Greek letters of the math font, in quadratic curves, which matplotlib wants."""
    font = TTFont(source, recalcTimestamp=False)
    glyphs, cmap = font.getGlyphSet(), font.getBestCmap()
    names = {letter: cmap[code] for letter, code in GREEK.items()}
    drawn, widths = {".notdef": TTGlyphPen(None).glyph()}, {".notdef": (500, 0)}
    for name in names.values():
        pen = TTGlyphPen(None)
        glyphs[name].draw(Cu2QuPen(pen, 0.5, reverse_direction=True))
        drawn[name], widths[name] = pen.glyph(), (font["hmtx"][name][0], font["hmtx"][name][1])
    built = FontBuilder(font["head"].unitsPerEm, isTTF=True)
    built.setupGlyphOrder(list(drawn))
    built.setupCharacterMap({ord(letter): name for letter, name in names.items()})
    built.setupGlyf(drawn)
    built.setupHorizontalMetrics(widths)
    built.setupHorizontalHeader(ascent=font["hhea"].ascent, descent=font["hhea"].descent)
    built.setupNameTable({"familyName": "Lime Greek", "styleName": "Regular"})
    built.setupOS2(sxHeight=469, sCapHeight=700, usWinAscent=726, usWinDescent=274)
    built.setupPost()
    built.font["head"].created = built.font["head"].modified = font["head"].created
    built.font.recalcTimestamp = False
    return built.font


def main(pagella: str, source: str) -> None:
    tex, adobe = Path(pagella), Path(source)
    for kind in ("regular", "italic", "bold"):
        font = part_of(tex / f"tex-gyre/texgyrepagella-{kind}.otf", ("liga",))
        font.flavor = "woff2"
        named(font, "Lime Text", kind.title()).save(PAGES / f"text-{kind}.woff2")
    code = next(adobe.rglob("TTF/SourceCodePro-Regular.ttf"))
    font = part_of(code, (), "".join(GREEK) + "✓│─└├‖")
    font.flavor = "woff2"
    named(font, "Lime Code").save(PAGES / "code.woff2")
    for kind, style in (("Regular", "Regular"), ("Semibold", "Bold")):
        font = part_of(next(adobe.rglob(f"TTF/SourceSans3-{kind}.ttf")), ())
        font["OS/2"].usWeightClass = {"Regular": 400, "Bold": 700}[style]
        # Its lines are half as high again as its letters; labels stand closer than that.
        font["hhea"].ascent = font["OS/2"].sTypoAscender = font["OS/2"].usWinAscent = 900
        font["hhea"].descent = font["OS/2"].sTypoDescender = -250
        font["OS/2"].usWinDescent = 250
        named(font, "Lime Sans", style).save(FIGURES / f"sans-{style.lower()}.ttf")
    greek(tex / "tex-gyre-math/texgyrepagella-math.otf").save(FIGURES / "greek.ttf")
    for path in (*PAGES.glob("*.woff2"), *FIGURES.glob("*.ttf")):
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
