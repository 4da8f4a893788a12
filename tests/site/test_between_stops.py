"""Between two stops the built page shows what matplotlib draws there, but for jumps, whose causes are known."""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from browser import ROOT
from executed_chapters import execute
from site_visits import visit

from limetutor.interactive import explorer, motion
from limetutor.interactive.frame_table import FrameTable

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]

MOVES, NEAR = 2, 1  # pixels: what counts as moving, and how near it has to be in the middle
TRUE = 0.98  # the share of what moves that is near
JUMPS = 0.1  # ... and at most of the intervals at which anything jumps

EDGE, STEEP = "what is dragged crosses the edge of a box", "a curve rises too fast for its stops"
#: Figures and controls with jumps, and why.
CAUSES = {
    ("fig-contrast", "xi"): EDGE,
    ("fig-landing", "xi"): EDGE,
    ("fig-across-boxes", "xi"): EDGE,
    ("fig-sign-map", "xi"): EDGE,
    ("fig-body-mass", "patient"): EDGE,
    ("fig-same-box", "bmi"): EDGE,
    ("fig-same-box", "bp"): EDGE,
    ("fig-crossing", "xi"): EDGE,
    ("fig-general-setting", "xi"): EDGE,
    ("fig-machine-weigh", "xi"): EDGE,
    ("fig-machine-weigh", "nu"): STEEP,
    ("fig-tilt-over-boxes", "xi"): EDGE,
    ("fig-other-width", "width"): "a reason takes the place of another, or turns its sign",
    ("fig-machine-fit", "nu"): STEEP,
    ("fig-which-bandwidth", "nu"): STEEP,
    ("fig-width-path", "width"): STEEP,
    ("fig-everything-off", "nu"): "a piece of a curve appears",
    ("fig-fewer-calls", "eps"): "a dot turns where sizes were measured, or goes",
}

# What a figure shows half way from some stops to the next one of the k-th slider: of each layer, the
# attributes of all elements that say where they are; and how many pixels a unit of the picture has.
SHOWN = """(figure, [stops, k]) => {
    const controls = figure.querySelectorAll("input, select"), svg = figure.querySelector("svg");
    controls.forEach((control, i) => {
        control.step = "any";
        if (control.tagName === "SELECT") control.selectedIndex = stops[i];
        else control.value = stops[i] + (i === k) / 2;
    });
    controls[0].dispatchEvent(new Event("input", {bubbles: true}));
    const layers = [...svg.querySelectorAll(":scope > g:not(.lt-marks)")].map((layer) =>
        [layer, ...layer.querySelectorAll("*")].map((e) => Object.fromEntries(
            [...e.attributes].map((attribute) => [attribute.name, attribute.value]))));
    return {layers, pixels: svg.getBoundingClientRect().width / svg.viewBox.baseVal.width};
}"""


def compared(table: FrameTable, figure: Any, name: str) -> Iterator[tuple[str, int]]:
    """Of one control, in the middle of each interval: what moves, and what the page makes of it."""
    names = list(table.moving)
    at = {n: control.values.index(control.default) for n, control in table.moving.items()}
    layers = sorted(table.layers, key=lambda layer: layer.handles)
    for stop in range(len(table.moving[name].values) - 1):
        before = at | {name: stop}
        page = figure.evaluate(SHOWN, [list(before.values()), names.index(name)])
        jumped = 0
        for layer, shown in zip(layers, page["layers"], strict=True):
            if name not in layer.controls:
                continue
            here = {names.index(n): before[n] for n in layer.controls}
            middle = list(table.middle(layer, here, names.index(name)).iter())
            first, second = (drawn(table, layer, before | {name: k}) for k in (stop, stop + 1))
            if len(first) != len(second):
                jumped += 1
                continue
            for k, (a, b, now) in enumerate(zip(first, second, shown, strict=True)):
                for key in motion.PLACES & set(a.attrib):
                    texts = a.get(key, ""), b.get(key, ""), now.get(key, "")
                    if distance(texts[0], texts[1]) * page["pixels"] <= MOVES:
                        continue
                    drawn_there = middle[k].get(key, "") if len(middle) == len(first) else ""
                    near = distance(texts[2], drawn_there) * page["pixels"] <= NEAR
                    jump = texts[2] == texts[1]  # the middle belongs to the stop above it
                    yield "jumps" if jump else "near" if near else "off", stop
                    jumped += jump
        if jumped:
            yield "interval", stop


def drawn(table: FrameTable, layer: Any, stops: Mapping[str, int]) -> list[ET.Element]:
    values = {name: table.moving[name].values[stop] for name, stop in stops.items()}
    return list(table.frame(layer, values).iter())


def distance(one: str, other: str) -> float:
    """How far the numbers of two attributes are apart, infinitely if they have not as many."""
    (shape, a), (form, b) = motion.numbers(one), motion.numbers(other)
    return float(np.abs(a - b).max(initial=0)) if shape == form else np.inf


@pytest.mark.verify
def test_the_middle_between_two_stops_is_what_is_drawn_there(
    pages, browser, served, verifying, verified, monkeypatch
):
    tables: list[FrameTable] = []
    static = lambda draw, alt, size, controls: tables.append(FrameTable(draw, size, controls, "p"))  # noqa: E731
    monkeypatch.setattr(explorer, "_static", static)
    found, wrong = Counter[str](), []
    with visit(browser, served, reduced_motion="reduce") as visitor:
        for path in sorted((ROOT / "book").glob("*.ipynb")):
            if not verifying and path.stem != "ten_minutes":
                continue
            tables.clear()
            execute(path, monkeypatch)
            tab = visitor.open(next(p for p in pages if p.stem == path.stem), served)
            figures = tab.query_selector_all(".lt-explore")
            for table, figure in zip(tables, figures, strict=True):
                name = figure.evaluate("f => f.closest('figure').id")
                for control in (list(table.moving)[k] for k in table.gliding):
                    seen = Counter(what for what, _ in compared(table, figure, control))
                    found += seen
                    share = seen["interval"] / (len(table.moving[control].values) - 1)
                    if share > JUMPS or bool(share) != ((name, control) in CAUSES):
                        wrong.append(f"{name} {control}: {dict(seen)}, jumps at {share:.0%}")
    moving = found["near"] + found["off"]
    assert not wrong, "\n".join(wrong)
    assert found["near"] >= TRUE * moving > 30
    verified(
        "share of what moves more than a pixel off between stops", found["off"] / moving, 1 - TRUE
    )
