"""A figure as inline SVG for a page: matplotlib's own, written as elements, in the page's colours.

:func:`picture` draws a figure, :func:`part` some of its artists.  The result is matplotlib's SVG
without namespaces, with few digits, and with ids that start with a prefix.  A ``memo`` is for whoever
draws many frames of one figure (:mod:`limetutor.interactive.lazy_ticks`).  Where an artist is a handle
(:func:`limetutor.plotting.handles.handle`), the drawing has its position.
"""

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.transforms import IdentityTransform

from .handles import controls_of
from .style import as_css_variable, styled

#: Of rasterized artists only: an SVG always counts in points.
DPI = 160

#: For the marks of a search on a page: elements put into a picture would move those that the player counts.
UNMARKED = "nohighlight"

NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}\b")
_MOVES = re.compile(r"(?:translate|rotate)\([^)]*\)")
_FAMILY = re.compile(r"font-family: [^;]*(?:; |$)")  # the page knows better
_REFERENCE = re.compile(r"(url\(#|^#)([^)]+)")
_SPACES = re.compile(r"\s+")

Memo = dict[Hashable, Any]


@dataclass(frozen=True)
class Drawing:
    """Elements in a group, and the handles among them: the controls of each, and its place."""

    root: ET.Element
    handles: list[tuple[tuple[str, ...], float, float]] = field(default_factory=list)


def markup(root: ET.Element) -> str:
    """An element and its content as text for a page."""
    return ET.tostring(root, encoding="unicode")


def picture(fig: Figure, alt: str, prefix: str, memo: Memo | None = None) -> ET.Element:
    """The figure as an element ``svg``; its ids start with ``prefix``."""
    root = canvas(fig, alt)
    root.extend(drawing(fig, prefix, memo).root)
    _share_images(root, prefix)
    return root


def _share_images(root: ET.Element, prefix: str) -> None:
    """Keep an image that is drawn several times once: compression does not look back that far."""
    drawn: dict[str, list[ET.Element]] = {}
    for image in root.iter("image"):
        drawn.setdefault(image.get("href", ""), []).append(image)
    repeated = [images for images in drawn.values() if len(images) > 1]
    if not repeated:
        return
    kept = ET.Element("defs")
    root.insert(0, kept)
    for number, images in enumerate(repeated):
        name = f"{prefix}-image{number}"
        shared = {key: value for key, value in images[0].items() if key != "transform"}
        ET.SubElement(kept, "image", shared | {"id": name})
        for image in images:
            place = {"href": f"#{name}", "transform": image.get("transform", "")}
            image.tag = "use"
            image.attrib.clear()
            image.attrib.update(place)


def canvas(fig: Figure, alt: str) -> ET.Element:
    """An element ``svg`` of the figure's size with nothing in it."""
    view = " ".join(_short(str(side * 72), 6) for side in (0, 0, *fig.get_size_inches()))
    attributes = {"class": "lt-svg", "viewBox": view, "role": "img", "aria-label": alt}
    return ET.Element("svg", attributes)


@styled
def drawing(fig: Figure, prefix: str, memo: Memo | None = None) -> Drawing:
    """The figure as a group; its ids start with ``prefix``."""
    with for_page(fig):
        return part(fig, [fig], prefix, memo)


@contextmanager
def for_page(fig: Figure) -> Iterator[None]:
    """Count in points, as an SVG does."""
    dpi, before = fig.dpi, fig.canvas
    try:
        FigureCanvasSVG(fig)
        fig.dpi = 72
        yield
    finally:  # the figure is the caller's, and a window may hang on its canvas
        fig.dpi = dpi
        fig.set_canvas(before)


def part(fig: Figure, artists: Sequence[Artist], prefix: str, memo: Memo | None = None) -> Drawing:
    """Some artists of a figure that is :func:`for_page`, alone; to be called in the book's style."""
    width, height = fig.get_size_inches()
    page = PageRenderer(width * 72, height * 72, prefix, {} if memo is None else memo)
    mixed: Any = MixedModeRenderer(fig, width, height, DPI, page)
    for artist in artists:
        artist.draw(mixed)
    page.finalize()
    return Drawing(page.writer.root, page.handles)


class FewElements(RendererSVG):
    """Matplotlib's SVG renderer, without an element for each marker: to a browser that is a whole curve."""

    def draw_markers(
        self, gc: Any, marker_path: Any, marker_trans: Any, path: Any, trans: Any,
        rgbFace: Any = None,
    ) -> None:  # fmt: skip
        """Draw markers as one path, a disc as a line of no length with round ends, on another as its rim.

        Those that would look otherwise where they overlap stay as matplotlib draws them.
        """
        disc = marker_path is Path.unit_circle() and rgbFace is not None
        curved = not disc and marker_path.codes is not None and np.any(marker_path.codes % 79 > 2)
        rim, edge = gc.get_linewidth(), gc.get_rgb()[:3]
        opaque = gc.get_alpha() == 1 and (rgbFace is None or rgbFace[3:] in ((), (1,)))
        rimmed = rim > 0 and disc and (opaque or edge != rgbFace[:3])
        if curved or not (opaque or (disc and not rimmed)):
            super().draw_markers(gc, marker_path, marker_trans, path, trans, rgbFace)
            return
        at = trans.transform(path.vertices)
        at = at[np.isfinite(at).all(axis=1)]
        if not disc:
            one = marker_path.transformed(marker_trans)
            marks = [Path(one.vertices + place, one.codes) for place in at]
            super().draw_path(gc, Path.make_compound_path(*marks), IdentityTransform(), rgbFace)
            return
        discs = Path(np.repeat(at, 2, axis=0), [Path.MOVETO, Path.LINETO] * len(at))
        size = 2 * marker_trans.get_matrix()[0, 0]
        both = [(edge, size + rim), (rgbFace, size - rim)]
        for hue, width in both if rimmed else [(rgbFace, size + rim)]:
            line = self.new_gc()
            line.copy_properties(gc)
            line.set_foreground(hue)
            line.set_linewidth(width)
            line.set_capstyle("round")
            super().draw_path(line, discs, IdentityTransform())


class PageRenderer(FewElements):
    """The same, writing elements; ``memo`` holds what it may insert again."""

    def __init__(self, width: float, height: float, prefix: str, memo: Memo) -> None:
        super().__init__(width, height, io.StringIO(), image_dpi=DPI, metadata={"Date": None})
        self.writer: Any = Tree(prefix)
        self.handles: list[tuple[tuple[str, ...], float, float]] = []
        self._held: tuple[str, ...] = ()  # the controls of the handle that is being drawn
        self.memo = memo

    def open_group(self, s: str, gid: str | None = None) -> None:
        """Open a group; nothing on a page refers to its name, unless it is that of a handle."""
        self._held = controls_of(gid)
        self.writer.start("g")

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:
        """Draw a path, which may be a handle."""
        self._note(path, transform)
        super().draw_path(gc, path, transform, rgbFace)

    def draw_markers(
        self, gc: Any, marker_path: Any, marker_trans: Any, path: Any, trans: Any,
        rgbFace: Any = None,
    ) -> None:  # fmt: skip
        """Draw markers, which may be a handle."""
        self._note(path, trans)
        super().draw_markers(gc, marker_path, marker_trans, path, trans, rgbFace)

    def _note(self, path: Any, transform: Any) -> None:
        """Where a handle stands: in the middle of what is drawn."""
        if self._held:
            at = path.get_extents(transform)
            x, y = (at.x0 + at.x1) / 2, self.height - (at.y0 + at.y1) / 2
            self.handles.append((self._held, round(x, 1), round(y, 1)))
            self._held = ()


class Tree:
    """What matplotlib's SVG renderer takes for a writer of XML: it builds tidy elements."""

    def __init__(self, prefix: str) -> None:
        self.root = ET.Element("g")
        self.names: dict[str, str] = {}  # ids numbered by first appearance: frames agree on them
        self.asked: dict[str, str | None] = {}  # ids met of late, as they were before
        self._prefix = prefix
        self._open = [self.root]
        self._defs = 0

    @property
    def parent(self) -> ET.Element:
        """The element that is open."""
        return self._open[-1]

    def start(self, tag: str, attrib: dict[str, str] | None = None, **extra: str) -> int:
        """Open an element."""
        self._defs += tag == "defs"
        attributes = {"class": UNMARKED} if tag in ("text", "tspan") else {}
        for key, value in {**(attrib or {}), **extra}.items():
            if value and not (key == "id" and tag == "image"):
                key = key.rpartition(":")[2]
                if key == "transform" and value.startswith("rotate(-0 "):
                    continue
                value = _tidy(key, value.replace("\n", " "), self._defs > 0)
                if key == "id":
                    value = self._name(value)
                elif "url(#" in value or value[0] == "#":
                    value = _REFERENCE.sub(lambda m: m[1] + self._name(m[2]), value)
                attributes[key] = value
        self._open.append(ET.SubElement(self.parent, tag, attributes))
        return len(self._open) - 1

    def _name(self, old: str) -> str:
        self.asked.setdefault(old, self.names.get(old))
        return self.names.setdefault(old, f"{self._prefix}-{len(self.names)}")

    def data(self, text: str) -> None:
        """Put text into the element that is open."""
        if text.strip():
            self.parent.text = text

    def end(self, tag: str | None = None, indent: bool = True) -> None:
        """Close an element."""
        self._defs -= self._open.pop().tag == "defs"

    def element(
        self, tag: str, text: str | None = None, attrib: dict[str, str] | None = None, **extra: str
    ) -> None:
        """Put in an element at once."""
        self.start(tag, attrib, **extra)
        if text:
            self.data(text)
        self.end()

    def close(self, number: int) -> None:
        """Close an element and all that are open in it."""
        while len(self._open) > number:
            self.end()

    def comment(self, comment: str) -> None:
        """Leave out what nobody sees."""

    def flush(self) -> None:
        """Nothing is kept back."""


@lru_cache(maxsize=50_000)  # most values are the same in every frame
def _tidy(key: str, value: str, in_defs: bool) -> str:
    # A marker is small and drawn many times over: it needs a digit more than a curve.
    digits = 2 if in_defs and len(value) < 300 else 1
    if key in ("d", "x", "y", "points", "width", "height"):
        return _SPACES.sub(" ", _rounded(value, digits)).strip()
    if key == "transform":
        return _MOVES.sub(lambda move: _rounded(move.group(), 1), value)
    if key == "style":
        return _COLOR.sub(lambda m: as_css_variable(m.group()), _FAMILY.sub("", value))
    return value


def _rounded(text: str, digits: int) -> str:
    return NUMBER.sub(lambda m: _short(m.group(), digits), text)


def _short(number: str, digits: int) -> str:
    """Round, and write as JavaScript would: 12.30 → 12.3, -0.0 → 0."""
    text = f"{float(number):.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
