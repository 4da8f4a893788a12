"""All frames of a figure with controls, for a page without a kernel.

A :class:`Film` draws a figure at every combination of stops, layer by layer where the drawing has
layers (:mod:`.layers`), and gives the picture of the default and the differences of all others
(:mod:`.frames`).  Handles become layers of their own, on top: circles that a finger can hit, in the
place of the artist at every stop.
"""

from __future__ import annotations

import gc
import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..plotting.style import styled
from . import frames, renderer
from .controls import Control, Slider
from .late import LateFigure
from .layers import Layered, add, needs

Draw = Callable[..., str]

#: More frames than this would make a heavy page and a slow build.
MAX_FRAMES = 400

#: A layer is a small part of a picture, and most of it is stored along one control.
MAX_OF_A_LAYER = 1700

#: Each combination has a sentence of its own.
MAX_SENTENCES = 4000

#: Radius of a handle in the picture's own units: 44 px across on a phone. The page makes it fit.
RADIUS = 29


@styled
def drawn(
    draw: Draw, size: Sequence[float], values: Mapping[str, Any], memo: renderer.Memo, prefix: str
) -> tuple[LateFigure, renderer.Drawing, str]:
    """Draw once: the figure, what is on it and the sentence. What frames share is in the memo."""
    fig = LateFigure(figsize=(size[0], size[1]))
    sentence = in_words(draw(fig, **values))
    return fig, renderer.drawing(fig, prefix, memo), sentence


def in_words(sentence: Any) -> str:
    """The sentence of a drawing, in one line, with a true minus before each negative number."""
    if not isinstance(sentence, str) or not sentence.strip():
        raise ValueError(
            f"draw must return one sentence that reads the picture back in words, not {sentence!r}."
        )
    return re.sub(r"(?<![\w)])-(?=[.\d])", "\N{MINUS SIGN}", " ".join(sentence.split()))


@dataclass(frozen=True)
class Strip:
    """A layer at every combination of stops of its controls, the first of which varies fastest."""

    controls: tuple[str, ...]
    roots: list[ET.Element]
    handles: bool = False


class Film:
    """A figure at every combination of stops of the controls that move on a page."""

    def __init__(
        self, draw: Draw, size: Sequence[float], controls: Mapping[str, Control], prefix: str
    ) -> None:
        self.draw, self.size, self.prefix = draw, size, prefix
        self.moving = {name: c for name, c in controls.items() if not c.live}
        self.fixed = {name: control.default for name, control in controls.items()}
        if not self.moving:
            raise ValueError("At least one control must work without a kernel: drop live=True.")
        if isinstance(draw, Layered):
            self._refuse_many(tuple(self.moving), MAX_SENTENCES)
            for layer in draw.layers:
                self._refuse_many(self._own(needs(layer)), MAX_OF_A_LAYER)
            with few_collections():
                self.strips, self.sentences = self._in_layers(draw)
            self._compare_with_the_whole(draw)
        else:
            self._refuse_many(tuple(self.moving), MAX_FRAMES)
            with few_collections():
                self.strips, self.sentences = self._whole()
        for name, control in controls.items():
            self._refuse_dead(name, control)

    # --- drawing -------------------------------------------------------------------------------

    def _whole(self) -> tuple[list[Strip], list[str]]:
        """Every combination drawn as one picture."""
        memo: renderer.Memo = {}
        names = tuple(self.moving)
        found = [
            drawn(self.draw, self.size, self.fixed | values, memo, self.prefix)[1:]
            for values in self._combinations(names)
        ]
        drawings, sentences = zip(*found, strict=True)
        return self._strips(names, list(drawings)), list(sentences)

    @styled
    def _in_layers(self, draw: Layered) -> tuple[list[Strip], list[str]]:
        """Every layer at the combinations of its own controls, on one figure."""
        fig = LateFigure(figsize=(self.size[0], self.size[1]))
        axes = draw.axes(fig)
        with renderer.for_page(fig):
            strips = self._strips((), [renderer.part(fig, [fig], self.prefix)])
            for number, run in enumerate(draw.runs, 1):
                names = self._own(needs(run[0]))
                drawings = []
                for values in self._combinations(names):
                    added = add(fig, axes, run, self.fixed | values)
                    drawings.append(renderer.part(fig, added, f"{self.prefix}-{number}"))
                    for artist in added:
                        artist.remove()
                strips += self._strips(names, drawings)
        everywhere = self._combinations(tuple(self.moving))
        return strips, [in_words(draw.sentence(**self.fixed | values)) for values in everywhere]

    def _strips(self, names: tuple[str, ...], drawings: list[renderer.Drawing]) -> list[Strip]:
        """A layer, and one of its handles if it has some."""
        layer = [Strip(names, [drawing.root for drawing in drawings])]
        kinds = {tuple(controls for controls, *_ in drawing.handles) for drawing in drawings}
        if len(kinds) > 1:
            raise ValueError("A handle must be there in every frame, or in none.")
        if kinds == {()}:
            return layer
        for controls in itertools.chain(*kinds):
            if not set(controls) <= set(self.moving) or not all(
                isinstance(self.moving[name], Slider) for name in controls
            ):
                raise ValueError(
                    f"A handle must move sliders of the figure, not {' and '.join(controls)}."
                )
        circles = []
        for drawing in drawings:
            circles.append(ET.Element("g", {"class": "lt-handles"}))
            circles[-1].extend(self._circle(*found) for found in drawing.handles)
        return [*layer, Strip(names, circles, handles=True)]

    def _circle(self, names: tuple[str, ...], x: float, y: float) -> ET.Element:
        """A handle: a slider in the picture, to whoever cannot see it too."""
        first = self.moving[names[0]]
        shown = {
            "cx": x,
            "cy": y,
            "r": RADIUS,
            "class": "lt-handle",
            "data-handle": " ".join(names),
        }
        told = {
            "tabindex": 0,
            "role": "slider",
            "aria-label": " and ".join(self.moving[name].label or name for name in names),
            "aria-valuemin": first.values[0],
            "aria-valuemax": first.values[-1],
            "aria-valuenow": first.default,
            "aria-valuetext": self._said(names),
        }
        return ET.Element("circle", {key: _written(v) for key, v in {**shown, **told}.items()})

    def _said(self, names: tuple[str, ...]) -> str:
        """The default of a handle's controls in words."""
        texts = [self.moving[name].text(self.moving[name].default) for name in names]
        if len(names) == 1:
            return texts[0]
        labels = [self.moving[name].label or name for name in names]
        return ", ".join(f"{label} {text}" for label, text in zip(labels, texts, strict=True))

    # --- places --------------------------------------------------------------------------------

    def _own(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those controls that move, in the order of the page."""
        return tuple(name for name in self.moving if name in names)

    def _combinations(self, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """The values of some controls, the first, usually the main slider, varying fastest."""
        stops = (self.moving[name].values for name in reversed(names))
        for values in itertools.product(*stops):
            yield dict(zip(names, reversed(values), strict=True))

    def _place(self, names: tuple[str, ...], values: Mapping[str, Any]) -> int:
        """Where a combination stands among them."""
        number = 0
        for name in reversed(names):
            stops = self.moving[name].values
            number = number * len(stops) + stops.index(values[name])
        return number

    def _at(self, values: Mapping[str, Any]) -> list[ET.Element]:
        """All layers with the controls at these values."""
        return [strip.roots[self._place(strip.controls, values)] for strip in self.strips]

    # --- what must hold ------------------------------------------------------------------------

    def _refuse_many(self, names: tuple[str, ...], most: int) -> None:
        count = math.prod(len(self.moving[name].values) for name in names)
        if count > most:
            raise ValueError(
                f"{count} combinations of stops are too many for a page "
                f"(at most {most}): take fewer stops, or mark a control live=True."
            )

    @styled
    def _compare_with_the_whole(self, draw: Layered) -> None:
        """Draw some combinations with all layers at once: each must be what it was when alone."""
        stops = [c.values for c in self.moving.values()]
        middle = [values[len(values) // (k + 2)] for k, values in enumerate(stops)]
        second = [values[1] for values in stops]  # before a cycle of colours can come round again
        for some in (second, middle, [values[-1] for values in stops]):
            values = self.fixed | dict(zip(self.moving, some, strict=True))
            fig = LateFigure(figsize=(self.size[0], self.size[1]))
            runs = draw.draw(fig, values)
            with renderer.for_page(fig):
                found = [
                    renderer.part(fig, added, f"{self.prefix}-{number}").root
                    for number, added in enumerate(runs, 1)
                ]
                for artist in itertools.chain(*runs):
                    artist.set_visible(False)
                found.insert(0, renderer.part(fig, [fig], self.prefix).root)
            stored = (
                s.roots[self._place(s.controls, values)] for s in self.strips if not s.handles
            )
            for number, (one, other) in enumerate(zip(found, stored, strict=True)):
                if frames.markup(one) != frames.markup(other):
                    run = draw.runs[number - 1] if number else [draw.axes]
                    what = " or ".join(getattr(f, "__name__", "the first") for f in run)
                    raise ValueError(
                        f"{what} looks otherwise when all layers are drawn: a layer may only add "
                        f"artists, and must take each control that it depends on."
                    )

    def _refuse_dead(self, name: str, control: Control) -> None:
        """Refuse a control whose two ends look the same or are read back in the same words."""
        shown = []
        for stop in (control.values[0], control.values[-1]):
            values = self.fixed | {name: stop}
            if name in self.moving:
                sentence = self.sentences[self._place(tuple(self.moving), values)]
                roots = self._at(values)
            else:
                _, drawing, sentence = drawn(self.draw, self.size, values, {}, self.prefix)
                roots = [drawing.root]
            shown.append(([frames.markup(root) for root in roots], sentence))
        for what, one, other in zip(("picture", "sentence"), *shown, strict=True):
            if one == other:
                raise ValueError(
                    f"dead control: {name!r} does not change the {what} between "
                    f"{control.text(control.values[0])} and {control.text(control.values[-1])}."
                )

    # --- for the page --------------------------------------------------------------------------

    @cached_property
    def sentence(self) -> str:
        """That of the default."""
        return self.sentences[self._place(tuple(self.moving), self.fixed)]

    def page(self, alt: str) -> ET.Element:
        """The default picture, with handles above all else.

        A picture is one thing to a screen reader, which does not look for sliders in it.  So one that
        has handles is a group, of which the drawing says nothing and the handles what they are.
        """
        root = renderer.canvas(LateFigure(figsize=(self.size[0], self.size[1])), alt)
        ordered = self._ordered()
        if any(strip.handles for strip in ordered):
            root.set("role", "group")
        for strip in ordered:
            layer = ET.SubElement(root, "g", strip.roots[0].attrib)
            if not strip.handles and root.get("role") == "group":
                layer.set("aria-hidden", "true")
            layer.extend(strip.roots[self._place(strip.controls, self.fixed)])
        return root

    def data(self) -> dict[str, Any]:
        """What the player needs for all other combinations, JSON-able."""
        sizes = {k: len(control.values) for k, control in enumerate(self.moving.values())}
        layers = []
        for strip in self._ordered():
            own = {k: sizes[k] for k, name in enumerate(self.moving) if name in strip.controls}
            default = self._place(strip.controls, self.fixed)
            layers.append(frames.encode(strip.roots, own, default))
        return {
            "layers": layers,
            "names": list(self.moving),
            "stops": [_address(control) for control in self.moving.values()],
            "texts": [[c.text(v) for v in c.values] for c in self.moving.values()],
            "sentences": self.sentences,
        }

    def _ordered(self) -> list[Strip]:
        return sorted(self.strips, key=lambda strip: strip.handles)


def _address(control: Control) -> list[str]:
    """How the stops of a control are written in an address."""
    if isinstance(control, Slider):
        return [_written(value) for value in control.values]
    return [control.text(value) for value in control.values]


def _written(value: Any) -> str:
    """A number as JavaScript writes it, anything else as it is."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value)


@contextmanager
def few_collections() -> Iterator[None]:
    """Clear up after figures, which are full of cycles, less often, and look at nothing older.

    A tenth of the time would go into looking through what the libraries have in memory.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(200_000, *usual[1:])  # about ten figures
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
