"""Make the font of the book's formulas, ``book/_assets/formulas/math.woff2``, from TeX Gyre Pagella Math.

    sh tools/apt.sh fonts-texgyre-math
    python tools/math_font.py /usr/share/texmf/fonts/opentype/public/tex-gyre-math/texgyrepagella-math.otf

It has thousands of glyphs; a page of this book needs a few hundred. Its letters are those of the text (text_fonts.py). A formula with a character that is
not among ``CHARACTERS`` makes the build complain: add it here and run this again (it needs fonttools and brotli).
The font is changed in four places, so by its licence it has a name of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.misc.transform import Scale
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

TARGET = Path(__file__).resolve().parents[1] / "book" / "_assets" / "formulas" / "math.woff2"
NAME = "Lime Math"

ITALIC = [
    *range(0x1D434, 0x1D468),
    0x210E,
    *range(0x1D6FC, 0x1D71C),
]  # a browser takes these for x, α
BOLD = [*range(0x1D7CE, 0x1D7D8)]
DOUBLE = [*map(ord, "ℂℕℙℚℝℤ"), ord("𝔼"), ord("𝟙")]
SCRIPT = [*map(ord, "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵")]
GREEK = "ΓΔΘΛΞΠΣΦΨΩαβγδεζηθικλμνξοπρςστυφχψωϵϕ"
SIGNS = "√∂∅∇∈∉∋∌∏∑−∓±×÷∗∘∙∞∝∩∪∧∨∫≈∼≃≅≡≠≤≥≪≫≲≳⊂⊆⊤⊥⋅⋮⋯⋱…‖∣∥→←↔↦⇒⇔⟨⟩⌈⌉⌊⌋ℓ′″′⏞⏟¬∀∃"
ACCENTS = "ˆ˜¯‾˙¨ˇ\u0302\u0303\u0304\u0307\u0338_^~"
CHARACTERS = {
    *range(0x20, 0x7F),
    0xA0,
    *ITALIC,
    *BOLD,
    *DOUBLE,
    *SCRIPT,
    *map(ord, GREEK + SIGNS + ACCENTS),
}

# TeX drops an index below a tall base by .05 em and lets a power stand .386 em below its top, and does neither
# for a single letter. The font says .12 and .23, and browsers do it for letters too, so that the index of a β
# hangs low; with TeX's own numbers it does not.
CONSTANTS = {"SubscriptBaselineDropMin": 50, "SuperscriptBaselineDropMax": 386}

# A browser leaves as much room beside a bracket or a root of any height as beside the highest there is. So the high
# ones are made about as narrow as that of \bigl, in thousandths of an em.
WIDEST = {"(": 491, ")": 491, "[": 443, "]": 443, "{": 465, "}": 465, "√": 717}


def small(font: TTFont) -> TTFont:
    """The font with the characters of the book, and what these grow into."""
    options = subset.Options(
        layout_features=["dtls"], hinting=False, desubroutinize=True, drop_tables=["FFTM"]
    )
    options.name_IDs = [0, 1, 2, 4, 6, 13, 14]
    part = subset.Subsetter(options)
    part.populate(unicodes=CHARACTERS)
    part.subset(font)
    return font


def changed(font: TTFont) -> TTFont:
    """The prime of superscripts in place of the one of the line, TeX's distances, and the new name."""
    for sign, width in WIDEST.items():
        for glyph in grown(font, sign):
            narrow(font, glyph, width)
    prime = font["cmap"].getBestCmap()[0x2032]
    script = script_forms(font)[prime]
    for table in font["cmap"].tables:
        if 0x2032 in table.cmap:
            table.cmap[0x2032] = script
    for name, value in CONSTANTS.items():
        getattr(font["MATH"].table.MathConstants, name).Value = value
    for record in font["name"].names:
        if record.nameID in (1, 4, 6):
            record.string = NAME.replace(" ", "") if record.nameID == 6 else NAME
    return font


def grown(font: TTFont, sign: str) -> set[str]:
    """The high forms of a sign, and the parts of the highest."""
    variants = font["MATH"].table.MathVariants
    glyph = font.getBestCmap()[ord(sign)]
    forms = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(glyph)]
    parts = {part.glyph for part in forms.GlyphAssembly.PartRecords}
    return parts | {record.VariantGlyph for record in forms.MathGlyphVariantRecord}


def narrow(font: TTFont, glyph: str, widest: int) -> None:
    """Squeeze a glyph that is wider than this."""
    width, bearing = font["hmtx"][glyph]
    if width <= widest:
        return
    glyphs, top = font.getGlyphSet(), font["CFF "].cff.topDictIndex[0]
    squeezed = T2CharStringPen(widest, glyphs)
    glyphs[glyph].draw(TransformPen(squeezed, Scale(widest / width, 1)))
    old = top.CharStrings[glyph]
    top.CharStrings[glyph] = squeezed.getCharString(
        private=old.private, globalSubrs=old.globalSubrs
    )
    font["hmtx"][glyph] = widest, round(bearing * widest / width)


def script_forms(font: TTFont) -> dict[str, str]:
    """What the feature ssty has for each glyph in an index."""
    table = font["GSUB"].table
    lookups = [
        i
        for f in table.FeatureList.FeatureRecord
        if f.FeatureTag == "ssty"
        for i in f.Feature.LookupListIndex
    ]
    return {
        glyph: forms[0]
        for i in lookups
        for part in table.LookupList.Lookup[i].SubTable
        for glyph, forms in getattr(part, "alternates", {}).items()
    }


def main(source: str) -> None:
    font = small(changed(TTFont(source, recalcTimestamp=False)))
    font.flavor = "woff2"
    font.save(TARGET)
    print(
        f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB, {len(font.getGlyphOrder())} glyphs"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
