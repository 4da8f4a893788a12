"""Every formula of the built site beside MathJax's: python tools/formulas.py _build/html OUT CHROMIUM.

Writes contact sheets to look at (left as built, right as MathJax 3 draws the same TeX) and prints the formulas whose
widths differ most. MathJax comes from the package sphinx-mathjax-offline, which only this needs.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import statistics
import sys
from html import escape, unescape
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
FORMULA = re.compile(r"(?s)<math\b([^>]*)>.*?</math>")
TEX = re.compile(r'(?s)<annotation encoding="application/x-tex">(.*?)</annotation>')
STYLE = """body { font: 16px/1.65 "DejaVu Sans", sans-serif; margin: 4px; width: 1500px; }
main { display: grid; gap: 0 8px; grid-template-columns: 1fr 1fr; }
.row { border-bottom: 1px solid #ccc; display: grid; grid-template-columns: 1fr 1fr; }
.row.wide { grid-column: 1 / 3; }
.row > div { overflow: hidden; padding: 1px 4px; }
.row > div + div { background: #f4f4ff; }"""
WIDTHS = """() => [...document.querySelectorAll(".row")].map((row) => [
    row.querySelector("semantics > *").getBoundingClientRect().width
        / row.querySelector("mjx-math").getBoundingClientRect().width,
    row.querySelector("annotation").textContent])"""
TALL = 1400  # pixels of a sheet


def formulas_of(site: Path) -> list[tuple[str, str, bool]]:
    """MathML, TeX and whether it has lines of its own, of each formula once."""
    found = {}
    for page in sorted(site.rglob("*.html")):
        for math in FORMULA.finditer(page.read_text("utf-8")):
            tex, display = unescape(TEX.search(math[0])[1]), 'display="block"' in math[1]
            found[tex, display] = math[0], tex, display
    return sorted(found.values(), key=lambda formula: (formula[2], len(formula[1])))


def sheet(formulas: list[tuple[str, str, bool]], macros: dict[str, str]) -> str:
    """The page that shows them all."""
    rows = []
    for mathml, tex, display in formulas:
        mathjax = escape(rf"\[{tex}\]" if display else rf"\({tex}\)")
        around = "" if display else "x "
        wide = " wide" if display else ""
        built = (
            f'<div class="math">{mathml}</div>'
            if display
            else f'x <span class="math">{mathml}</span>'
        )
        rows.append(f'<div class="row{wide}"><div>{built}</div><div>{around}{mathjax}</div></div>')
    config = json.dumps({"tex": {"macros": macros}, "options": {"enableMenu": False}})
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Formulas</title><style>{STYLE}</style>'
        f'<link rel="stylesheet" href="formulas.css"><script>MathJax = {config}</script>'
        f'<script defer src="mathjax/tex-chtml.js"></script><main>{"".join(rows)}</main></html>'
    )


def prepare(site: Path, out: Path) -> None:
    """Put page, font and MathJax into a folder."""
    assets = ROOT / "book" / "_assets" / "formulas"
    config = (ROOT / "_config.yml").read_text("utf-8").partition("macros:")[2]
    macros = {k: json.loads(v) for k, v in re.findall(r'\n\s+(\w+): ("(?:[^"\\]|\\.)*")', config)}
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    shutil.copytree(package / "static" / "mathjax", out / "mathjax")
    for name in ("formulas.css", "math.woff2"):
        shutil.copyfile(assets / name, out / name)
    (out / "index.html").write_text(sheet(formulas_of(site), macros), "utf-8")


def main(folder: str, target: str, browser: str) -> None:
    out = Path(target).resolve()
    prepare(Path(folder), out)
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--allow-file-access-from-files"]
        chromium = playwright.chromium.launch(executable_path=browser, args=flags)
        tab = chromium.new_page(viewport={"width": 1510, "height": 1000})
        tab.goto((out / "index.html").as_uri())
        tab.evaluate("MathJax.startup.promise.then(() => document.fonts.ready).then(() => null)")
        ratios = sorted(tab.evaluate(WIDTHS))
        height = tab.evaluate("document.documentElement.scrollHeight")
        for number, top in enumerate(range(0, height, TALL)):
            clip = {"x": 0, "y": top, "width": 1510, "height": min(TALL, height - top)}
            tab.screenshot(path=out / f"sheet-{number:02}.png", clip=clip, full_page=True)
        chromium.close()
    middle = statistics.median(ratio for ratio, _ in ratios)
    print(
        f"{len(ratios)} formulas; widths are {middle:.2f} of MathJax's in the middle; furthest from it:"
    )
    for ratio, tex in ratios[:6] + ratios[-6:]:
        print(f"  {ratio:.2f}  {' '.join(tex.split())[:80]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
