"""The fonts of text, labels and code: files of the site, the first of them within each page.

Those of labels are the package's own, since matplotlib measures with them while it draws (tools/text_fonts.py).
"""

from __future__ import annotations

import base64
import io
import json
import re
from functools import cache
from os.path import relpath
from pathlib import Path

import matplotlib
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[2]
OF_PAGES = ROOT / "book" / "_assets" / "fonts"
OF_FIGURES = ROOT / "limetutor" / "plotting" / "fonts"
# What nearly all words, labels and figures are set in is within each page, or its first visitors would see another
# face: a font that comes late moves the text or is not shown. Without scripts, fonts.css names the files.
WITHIN = {"Lime Text": "text-regular", "Lime Sans": "sans-regular", "Lime Greek": "greek"}
EARLY = ("text-italic", "text-bold", "sans-bold", "code")
GIVEN = re.compile(r"(?s)<script data-faces>.*?</script>\n")
# A browser must not ask for a file of the disk before it knows that a style sheet wants it.
ADD = """<script data-faces>
for (const [family, data] of Object.entries(%s)) {
  const file = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const only = family === "Lime Greek" ? {unicodeRange: "U+370-3FF", weight: "400 700"} : {};
  document.fonts.add(new FontFace(family, file, only));
  if (only.weight) document.fonts.add(new FontFace(family, file, {...only, style: "italic"}));
}
if (location.protocol !== "file:") for (const name of %s) {
  const early = {rel: "preload", as: "font", type: "font/woff2", crossOrigin: "", href: name};
  document.head.append(Object.assign(document.createElement("link"), early));
}
</script>
"""


def of_figures() -> list[Path]:
    """What a picture outside a browser is drawn with; the last has the signs that ours lack."""
    spare = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    return [*sorted(OF_FIGURES.glob("*.ttf")), spare]


def write(static: Path) -> None:
    """Put the fonts where Sphinx picks up static files."""
    for path in files().values():
        (static / f"{path.stem}.woff2").write_bytes(compressed(path))


def files() -> dict[str, Path]:
    """All fonts by name."""
    return {path.stem: path for path in (*OF_PAGES.glob("*.woff2"), *OF_FIGURES.glob("*.ttf"))}


@cache
def compressed(path: Path) -> bytes:
    """A font as browsers want it."""
    if path.suffix == ".woff2":
        return path.read_bytes()
    font = TTFont(path, recalcTimestamp=False)
    font.flavor = "woff2"
    font.save(packed := io.BytesIO())
    return packed.getvalue()


@cache
def script(static: str) -> str:
    """Hands the browser the fonts that every page needs, and asks for the others in the folder of static files."""
    data = {
        family: base64.b64encode(compressed(files()[name])).decode()
        for family, name in WITHIN.items()
    }
    return ADD % (json.dumps(data), json.dumps([f"{static}/{name}.woff2" for name in EARLY]))


def put(text: str, page: Path) -> str:
    """A page with its first fonts in it."""
    site = next((folder for folder in page.parents if (folder / "_static").is_dir()), page.parent)
    static = Path(relpath(site / "_static", page.parent)).as_posix()
    return GIVEN.sub("", text).replace(
        "<style data-sheets", f"{script(static)}<style data-sheets", 1
    )
