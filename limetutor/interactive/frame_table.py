"""All frames of a figure with controls, for a page without a kernel.

A :class:`FrameTable` draws a figure at every combination of stops, layer by layer where the drawing
has layers (:mod:`.layers`), and gives the picture of the default and the differences of all others
(:mod:`.frames`).  Handles become layers of their own, on top: circles large enough for a finger, at
the place of the artist at every stop.
"""

import gc
import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..plotting import svg
from ..plotting.style import styled
from . import frames
from .controls import Control, Slider
from .layers import Layered, add, needs
from .lazy_ticks import LazyFigure
from .motion import Stops, mark_jumps

Draw = Callable[..., str]
Values = Mapping[str, Any]

#: Bounds for a light page and a quick build. A layer is a small part of a picture, most of it
#: stored along one control; each combination of stops has its own sentence.
MAX_FRAMES = 400
MAX_FRAMES_OF_LAYER = 2600
MAX_SENTENCES = 4000

#: Radius of a handle in the picture's own units: 44 px across on a phone. The page scales it.
HANDLE_RADIUS = 29


@styled
def draw_frame(
    draw: Draw, size: Sequence[float], values: Mapping[str, Any], memo: svg.Memo, prefix: str
) -> tuple[LazyFigure, svg.Drawing, str]:
    """Draw once: the figure, what is on it and the sentence. Parts shared by frames are in the memo."""
    fig = LazyFigure(figsize=(size[0], size[1]))
    sentence = clean_sentence(draw(fig, **values))
    return fig, svg.drawing(fig, prefix, memo), sentence


def clean_sentence(sentence: Any) -> str:
    """The sentence of a drawing on one line, with a minus sign before each negative number."""
    if not isinstance(sentence, str) or not sentence.strip():
        raise ValueError(
            f"draw must return one sentence that reads the picture back in words, not {sentence!r}."
        )
    return re.sub(r"(?<![\w)])-(?=[.\d])", "\N{MINUS SIGN}", " ".join(sentence.split()))


@dataclass(frozen=True)
class LayerFrames:
    """A layer at every combination of stops of its controls, the first of which varies fastest."""

    controls: tuple[str, ...]
    roots: list[ET.Element]
    draw: Callable[[Values], ET.Element]  # anywhere, between the stops too
    handles: bool = False


class FrameTable:
    """A figure at every combination of stops of the controls that move on a page."""

    def __init__(
        self, draw: Draw, size: Sequence[float], controls: Mapping[str, Control], prefix: str
    ) -> None:
        self.draw, self.size, self.prefix = draw, size, prefix
        self.moving = {name: c for name, c in controls.items() if not c.live}
        self.defaults = {name: control.default for name, control in controls.items()}
        self.gliding = [k for k, control in enumerate(self.moving.values()) if control.glides]
        if not self.moving:
            raise ValueError("At least one control must work without a kernel: drop live=True.")
        names = tuple(self.moving)
        if isinstance(draw, Layered):
            self._check_count(names, MAX_SENTENCES)
            for layer in draw.layers:
                self._check_count(self._moving_among(needs(layer)), MAX_FRAMES_OF_LAYER)
            with infrequent_collections():
                self.layers, self.sentences = self._draw_in_layers(draw)
            self.check_layers(draw)
        else:
            self._check_count(names, MAX_FRAMES)
            with infrequent_collections():
                self.layers, self.sentences = self._draw_whole()
        self.sentence = self.sentences[self.index(names, self.defaults)]
        for name, control in controls.items():
            self._check_control(name, control)

    def _draw_whole(self) -> tuple[list[LayerFrames], list[str]]:
        """Every combination drawn as one picture."""
        memo: svg.Memo = {}
        names = tuple(self.moving)

        def draw(values: Values) -> tuple[svg.Drawing, str]:
            values = {**self.defaults, **values}
            return draw_frame(self.draw, self.size, values, memo, self.prefix)[1:]

        drawings, sentences = zip(*map(draw, self.combinations(names)), strict=True)
        return with_handles(self.moving, names, drawings, lambda values: draw(values)[0]), [
            *sentences
        ]

    @styled
    def _draw_in_layers(self, draw: Layered) -> tuple[list[LayerFrames], list[str]]:
        """Every layer at the combinations of its own controls, on one figure."""
        fig = LazyFigure(figsize=(self.size[0], self.size[1]))
        axes = draw.axes(fig)

        def drawn(number: int, run: Sequence[Callable[..., None]], values: Values) -> svg.Drawing:
            with svg.for_page(fig):
                added = add(fig, axes, run, {**self.defaults, **values})
                drawing = svg.part(fig, added, f"{self.prefix}-{number}")
                for artist in added:
                    artist.remove()
                return drawing

        with svg.for_page(fig):
            still = svg.part(fig, [fig], self.prefix)
            layers = with_handles(self.moving, (), [still], lambda _: still)
            for number, run in enumerate(draw.runs, 1):
                names = self._moving_among(needs(run[0]))
                draw_run = partial(drawn, number, run)
                drawings = [*map(draw_run, self.combinations(names))]
                layers += with_handles(self.moving, names, drawings, draw_run)
        sentences = [
            clean_sentence(draw.sentence(**self.defaults | values))
            for values in self.combinations(tuple(self.moving))
        ]
        return layers, sentences

    def _moving_among(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those controls that move, in the order of the page."""
        return tuple(name for name in self.moving if name in names)

    def combinations(self, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """The values of some controls, the first, usually the main slider, varying fastest."""
        stops = (self.moving[name].values for name in reversed(names))
        for values in itertools.product(*stops):
            yield dict(zip(names, reversed(values), strict=True))

    def index(self, names: tuple[str, ...], values: Values) -> int:
        """The position of a combination among them."""
        return place_of(self.moving, names, values)

    def frame(self, layer: LayerFrames, values: Mapping[str, Any]) -> ET.Element:
        """A layer with the controls at these values."""
        return layer.roots[self.index(layer.controls, values)]

    def _check_count(self, names: tuple[str, ...], most: int) -> None:
        count = math.prod(len(self.moving[name].values) for name in names)
        if count > most:
            raise ValueError(
                f"{count} combinations of stops are too many for a page "
                f"(at most {most}): take fewer stops, or mark a control live=True."
            )

    @styled
    def check_layers(self, draw: Layered) -> None:
        """Draw some combinations with all layers at once: each must be what it was when alone."""
        stops = [c.values for c in self.moving.values()]
        second = [values[1] for values in stops]  # before a cycle of colours can start again
        middle = [values[len(values) // (k + 2)] for k, values in enumerate(stops)]
        layers = [layer for layer in self.layers if not layer.handles]
        for combination in (second, middle, [values[-1] for values in stops]):
            values = self.defaults | dict(zip(self.moving, combination, strict=True))
            drawn_together = self._draw_together(draw, values)
            for number, (layer, root) in enumerate(zip(layers, drawn_together, strict=True)):
                if svg.markup(root) != svg.markup(self.frame(layer, values)):
                    run = draw.runs[number - 1] if number else [draw.axes]
                    what = " or ".join(getattr(f, "__name__", "the first") for f in run)
                    raise ValueError(
                        f"{what} looks otherwise when all layers are drawn: a layer may only add "
                        f"artists, and must take each control that it depends on."
                    )

    def _draw_together(self, draw: Layered, values: Mapping[str, Any]) -> list[ET.Element]:
        """What is in each layer of a figure on which all layers have been drawn."""
        fig = LazyFigure(figsize=(self.size[0], self.size[1]))
        runs = draw.draw(fig, values)
        with svg.for_page(fig):
            roots = [
                svg.part(fig, added, f"{self.prefix}-{number}").root
                for number, added in enumerate(runs, 1)
            ]
            for artist in itertools.chain(*runs):
                artist.set_visible(False)
            return [svg.part(fig, [fig], self.prefix).root, *roots]

    def _check_control(self, name: str, control: Control) -> None:
        """Refuse a control whose two ends have the same picture or the same sentence."""
        ends = []
        for stop in (control.values[0], control.values[-1]):
            values = self.defaults | {name: stop}
            if name in self.moving:
                sentence = self.sentences[self.index(tuple(self.moving), values)]
                roots = [self.frame(layer, values) for layer in self.layers]
            else:
                _, drawing, sentence = draw_frame(self.draw, self.size, values, {}, self.prefix)
                roots = [drawing.root]
            ends.append(([svg.markup(root) for root in roots], sentence))
        for what, first, last in zip(("picture", "sentence"), *ends, strict=True):
            if first == last:
                raise ValueError(
                    f"dead control: {name!r} does not change the {what} between "
                    f"{control.text(control.values[0])} and {control.text(control.values[-1])}."
                )

    def _handles_last(self) -> list[LayerFrames]:
        return sorted(self.layers, key=lambda layer: layer.handles)

    def page(self, alt: str) -> ET.Element:
        """The default picture, with handles above everything else.

        A picture is a single object to a screen reader, which does not look for sliders in it.  One
        with handles is therefore a group: its drawing is hidden, its handles are announced.
        """
        root = svg.canvas(LazyFigure(figsize=(self.size[0], self.size[1])), alt)
        layers = self._handles_last()
        if layers[-1].handles:
            root.set("role", "group")
        for layer in layers:
            group = ET.SubElement(root, "g", layer.roots[0].attrib)
            if not layer.handles and root.get("role") == "group":
                group.set("aria-hidden", "true")
            group.extend(self.frame(layer, self.defaults))
        return root

    @styled
    def data(self) -> dict[str, Any]:
        """What the player needs for all other combinations, JSON-able."""
        controls = self.moving.values()
        with infrequent_collections():
            layers = [self._encoded(layer) for layer in self._handles_last()]
        return {
            "layers": layers,
            "names": list(self.moving),
            "glides": [control.glides for control in controls],
            "stops": [
                [_as_in_javascript(v) if isinstance(c, Slider) else c.text(v) for v in c.values]
                for c in controls
            ],
            "texts": [[c.text(v) for v in c.values] for c in controls],
            "sentences": self.sentences,
        }

    def _encoded(self, layer: LayerFrames) -> dict[str, Any]:
        """A layer as it is stored, with the intervals at which something in it jumps."""
        numbered = [(k, name) for k, name in enumerate(self.moving) if name in layer.controls]
        sizes = {k: len(self.moving[name].values) for k, name in numbered}
        encoded = frames.encode(layer.roots, sizes, self.index(layer.controls, self.defaults))
        mark_jumps(encoded, layer.roots, sizes, self.gliding, partial(self.middle, layer))
        return encoded

    @styled
    def middle(self, layer: LayerFrames, stops: Stops, moved: int) -> ET.Element:
        """A layer in the middle between these stops and the next one of the control ``moved``."""
        controls = list(self.moving.items())
        values = {controls[k][0]: controls[k][1].values[stop] for k, stop in stops.items()}
        name, control = controls[moved]
        assert isinstance(control, Slider)  # nothing else glides
        return layer.draw(values | {name: control.between(stops[moved])})


def place_of(controls: Mapping[str, Control], names: Sequence[str], values: Values) -> int:
    """The number of a combination of stops, the first control varying fastest."""
    number = 0
    for name in reversed(names):
        stops = controls[name].values
        number = number * len(stops) + stops.index(values[name])
    return number


def with_handles(
    controls: Mapping[str, Control],
    names: tuple[str, ...],
    drawings: Sequence[svg.Drawing],
    draw: Callable[[Values], svg.Drawing],
) -> list[LayerFrames]:
    """A layer, and another one of its handles if it has any."""
    roots = [drawing.root for drawing in drawings]
    layer = [LayerFrames(names, roots, lambda values: draw(values).root)]
    kinds = {tuple(own for own, *_ in drawing.handles) for drawing in drawings}
    if len(kinds) > 1:
        raise ValueError("A handle must be there in every frame, or in none.")
    if kinds == {()}:
        return layer
    for own in itertools.chain(*kinds):
        if not all(isinstance(controls.get(name), Slider) for name in own):
            raise ValueError(f"A handle must move sliders of the figure, not {' and '.join(own)}.")

    def circles(drawing: svg.Drawing) -> ET.Element:
        group = ET.Element("g", {"class": "lt-handles"})
        group.extend(_handle_circle(controls, *handle) for handle in drawing.handles)
        return group

    roots = [circles(drawing) for drawing in drawings]
    for same in zip(*roots, strict=True):
        way = _way(controls, names, same)
        for circle in same:
            circle.set("data-way", way)
    return [*layer, LayerFrames(names, roots, lambda values: circles(draw(values)), handles=True)]


def _way(
    controls: Mapping[str, Control], names: tuple[str, ...], circles: Sequence[ET.Element]
) -> str:
    """The axes of the picture along which a handle moves: of one control, that of the longer way."""
    own, *other = circles[0].get("data-handle", "").split()
    if other:
        return "xy"
    at = {name: controls[name].default for name in names}
    here = [circles[place_of(controls, names, at | {own: v})] for v in controls[own].values]
    x, y = ([float(circle.get(name, 0)) for circle in here] for name in ("cx", "cy"))
    return "x" if max(x) - min(x) >= max(y) - min(y) else "y"


def _handle_circle(
    controls: Mapping[str, Control], names: tuple[str, ...], x: float, y: float
) -> ET.Element:
    """A handle: a slider in the picture, for screen readers too."""
    moved = [controls[name] for name in names]
    labels = [control.label or name for name, control in zip(names, moved, strict=True)]
    texts = [control.text(control.default) for control in moved]
    if len(names) > 1:
        texts = [f"{label} {text}" for label, text in zip(labels, texts, strict=True)]
    attributes = {
        "cx": x,
        "cy": y,
        "r": HANDLE_RADIUS,
        "class": "lt-handle",
        "data-handle": " ".join(names),
        "tabindex": 0,
        "role": "slider",
        "aria-label": " and ".join(labels),
        "aria-valuemin": moved[0].values[0],
        "aria-valuemax": moved[0].values[-1],
        "aria-valuenow": moved[0].default,
        "aria-valuetext": ", ".join(texts),
    }
    return ET.Element("circle", {key: _as_in_javascript(v) for key, v in attributes.items()})


def _as_in_javascript(value: Any) -> str:
    """A number as JavaScript writes it, anything else as it is."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value)


@contextmanager
def infrequent_collections() -> Iterator[None]:
    """Collect garbage less often, and only what is new: figures are full of reference cycles.

    A tenth of the time would go into traversing what the libraries hold in memory.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(200_000, *usual[1:])  # about ten figures
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
