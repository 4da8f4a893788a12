"""Axes that create and draw their ticks only when needed, for figures drawn frame after frame.

Half of matplotlib's time for a frame goes into ticks: each is five artists, created, laid out and
drawn, and most of them are the same in every frame.  Two changes save that time and leave the
picture the same to the last letter:

- an axis creates its ticks when they are asked for, not as soon as its limits are set
  (:class:`LazyXAxis`, :class:`LazyYAxis`);
- the drawing of an axis depends on a few numbers and texts (:meth:`_LazyTicks.appearance`), which
  serve as a key: a renderer with a ``memo`` reuses what it has drawn under the same key.

This is the only module that touches private attributes of matplotlib (a frame takes a third of the
time).  Where one of them is missing or different, axes are drawn as matplotlib draws them.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

#: Private members that lazy axes replace; without them, axes are matplotlib's own.
REPLACED = (
    *((Axes, name) for name in ("_init_axis", "_update_title_position")),
    *((Axis, name) for name in ("_get_tick", "majorTicks", "minorTicks")),
)

#: Types of attributes that can be part of a key as they are.
_KEY_TYPES = (str, float, int, bool, type(None))

#: Attributes of a text or an axis that enter the key in another way, or do not show.
_NOT_IN_KEY = {
    *("_axes", "_parent_figure", "_callbacks", "callbacks", "_remove_method", "stale_callback"),
    *("_stale", "_sticky_edges", "clipbox", "_clippath", "_transform", "_transformSet", "axes"),
    *("major", "minor", "label", "offsetText", "_scale", "_major_tick_kw", "_minor_tick_kw"),
    *("_tick_clip", "_fontproperties", "_zorder", "zorder"),
}


class NoKeyError(Exception):
    """The appearance depends on something that a key cannot hold."""


#: Why there may be no key; the last three where matplotlib's private attributes have changed.
_NO_KEY = (NoKeyError, AttributeError, TypeError, LookupError)


class LazyFigure(Figure):
    """A figure whose subplots have lazy ticks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._initial_style = dict.copy(mpl.rcParams)

    def add_subplot(self, *args: Any, **kwargs: Any) -> Any:
        """Add axes, lazy unless another kind is asked for or the style is no longer the figure's."""
        special = {"projection", "polar", "axes_class"} & set(kwargs)
        supported = all(hasattr(owner, name) for owner, name in REPLACED)
        if supported and not special and dict.__eq__(mpl.rcParams, self._initial_style):
            kwargs["axes_class"] = LazyAxes
        return super().add_subplot(*args, **kwargs)


class _LazySequence(Sequence[Any]):
    """The result of a call that is made on access."""

    def __init__(self, call: Callable[[], Sequence[Any]]) -> None:
        self._call = call

    def __len__(self) -> int:
        return len(self._call())

    def __getitem__(self, index: Any) -> Any:
        return self._call()[index]


class _LazyTicks(Axis):
    """An axis that has no ticks until they are asked for."""

    _tick_clip: tuple[Any, Any] | None = None  # the arguments of set_clip_path
    _suppressed = False  # whether requests for ticks get an empty list

    @property
    def _has_ticks(self) -> bool:
        return not self._suppressed and bool({"majorTicks", "minorTicks"} & set(vars(self)))

    @contextmanager
    def _without_ticks(self) -> Iterator[None]:
        """Create no ticks if there are none yet: those created later take over all settings."""
        if self._has_ticks or self._suppressed:
            yield
            return
        self._suppressed, self.majorTicks, self.minorTicks = True, [], []
        try:
            yield
        finally:
            self._suppressed = False
            for name in ("majorTicks", "minorTicks"):
                vars(self).pop(name, None)

    def set_clip_path(self, path: Any, transform: Any = None) -> None:
        """Clip the axis, and its ticks if there are any."""
        self._tick_clip = path, transform
        with self._without_ticks():
            super().set_clip_path(path, transform)

    def set_tick_params(self, which: Any = "major", reset: bool = False, **kwargs: Any) -> None:
        """Set the appearance of ticks."""
        with self._without_ticks():
            super().set_tick_params(which, reset, **kwargs)

    def set_ticks(
        self, ticks: Any, labels: Any = None, *, minor: bool = False, **kwargs: Any
    ) -> Any:
        """Set the positions of ticks; keyword arguments apply to labels, which must then exist."""
        if kwargs:
            return super().set_ticks(ticks, labels, minor=minor, **kwargs)
        with self._without_ticks():
            super().set_ticks(ticks, labels, minor=minor)
        return _LazySequence(self.get_minor_ticks if minor else self.get_major_ticks)

    def set_ticklabels(
        self, labels: Any, *, minor: bool = False, fontdict: Any = None, **kwargs: Any
    ) -> Any:
        """Set the labels of ticks."""
        if fontdict or kwargs:
            return super().set_ticklabels(labels, minor=minor, fontdict=fontdict, **kwargs)
        with self._without_ticks():
            super().set_ticklabels(labels, minor=minor)
        return _LazySequence(lambda: self.get_ticklabels(minor=minor))

    def get_major_ticks(self, numticks: int | None = None) -> list[Any]:
        """Create the major ticks now."""
        return [] if self._suppressed else super().get_major_ticks(numticks)

    def get_minor_ticks(self, numticks: int | None = None) -> list[Any]:
        """Create the minor ticks now."""
        return [] if self._suppressed else super().get_minor_ticks(numticks)

    def _get_tick(self, major: bool) -> Any:
        tick = super()._get_tick(major)  # type: ignore[misc]
        if self._tick_clip is not None:
            tick.set_clip_path(*self._tick_clip)
        return tick

    @allow_rasterization
    def draw(self, renderer: Any) -> None:
        """Draw, unless the renderer has drawn an axis of the same appearance before."""

        def plain() -> None:
            super(_LazyTicks, self).draw(renderer)

        try:
            key = self.appearance() if hasattr(renderer, "memo") else None
        except _NO_KEY:
            key = None
        if key is None:
            plain()
        else:
            draw_once(renderer, key, plain)
        self.stale = False

    def appearance(self) -> Hashable:
        """All that the drawing depends on: two axes with the same key give the same drawing."""
        axis: Any = self  # matplotlib's type stubs lack some of these attributes
        aligned = axis.get_figure(root=False)._align_label_groups[axis.axis_name]
        if self._has_ticks or not axis._autolabelpos or len(aligned.get_siblings(axis.axes)) > 1:
            raise NoKeyError
        return (
            type(self),
            axis.axes.bbox.bounds,
            axis.get_figure(root=True).dpi,
            self._on_canvas([*self.get_view_interval()]),
            self._ticks(self.major, axis._major_tick_kw),
            self._ticks(self.minor, axis._minor_tick_kw),
            tuple(
                (spine.get_position(), spine.get_bounds()) for spine in axis.axes.spines.values()
            ),
            *(_state(artist) for artist in (axis, axis.label, axis.offsetText)),
        )

    def _ticks(self, ticker: Any, style: dict[str, Any]) -> Hashable:
        """Positions, labels and style of the major or the minor ticks."""
        if isinstance(ticker.locator, NullLocator):
            return None
        minor = ticker is self.minor
        positions = self.get_minorticklocs() if minor else self.get_majorticklocs()
        labels = tuple(ticker.formatter.format_ticks(positions))
        if not all(type(value) in _KEY_TYPES for value in style.values()):
            raise NoKeyError
        offset = ticker.formatter.get_offset()
        return self._on_canvas(positions), labels, offset, tuple(style.items())

    def _on_canvas(self, values: Any) -> Hashable:
        return tuple(self.get_transform().transform(values))


def _state(artist: Artist) -> Hashable:
    """The attributes of an artist that show."""
    shown: list[Any] = []
    for name, value in vars(artist).items():
        if name in _NOT_IN_KEY:
            continue
        if type(value) in _KEY_TYPES:
            shown.append((name, value))
        elif name != "_path_effects" or value:
            raise NoKeyError
    font = vars(artist).get("_fontproperties")
    return tuple(shown), font and hash(font)


class LazyXAxis(_LazyTicks, XAxis):
    """A horizontal axis with lazy ticks."""


class LazyYAxis(_LazyTicks, YAxis):
    """A vertical axis with lazy ticks."""


class LazyAxes(Axes):
    """Axes with lazy ticks."""

    xaxis: LazyXAxis
    yaxis: LazyYAxis

    def _init_axis(self) -> None:
        try:
            self.xaxis, self.yaxis = LazyXAxis(self, clear=False), LazyYAxis(self, clear=False)
        except TypeError:
            super()._init_axis()  # type: ignore[misc]
            return
        for axis, sides in ((self.xaxis, ("bottom", "top")), (self.yaxis, ("left", "right"))):
            for side in sides:
                self.spines[side].register_axis(axis)

    def _update_title_position(self, renderer: Any) -> None:
        """Move titles above what is there; the same axes need this computation once."""
        update = super()._update_title_position  # type: ignore[misc]
        try:
            titles = [self.title, *(getattr(self, f"_{side}_title") for side in ("left", "right"))]
            figure: Any = self.get_figure(root=False)
            groups = (self._twinned_axes, figure._align_label_groups["title"])  # type: ignore[attr-defined]
            alone = not self.child_axes and all(len(g.get_siblings(self)) == 1 for g in groups)
            if not alone or not any(title.get_text() for title in titles):
                raise NoKeyError
            memo = renderer.memo
            key = (
                self.xaxis.appearance(),
                self.yaxis.appearance(),
                *(_state(title) for title in titles),
            )
        except _NO_KEY:
            update(renderer)
            return
        if key not in memo:
            update(renderer)
            memo[key] = [title.get_position() for title in titles]
        for title, position in zip(titles, memo[key], strict=True):
            title.set_position(position)

    def clear(self) -> None:
        """Clear; spines get their position now, which they would get from the first ticks."""
        super().clear()
        for spine in self.spines.values():
            spine.get_position()


@dataclass(frozen=True)
class DrawnPart:
    """A part of a picture that other pictures may have too."""

    elements: list[Any]
    defined: list[list[tuple[Any, Any]]]  # markers, clips and ids that it was the first to have
    ids: dict[str, str | None]  # the ids in it, and what they were before it
    count: int  # of ids before it

    def fits(self, names: dict[str, str]) -> bool:
        """Whether its ids would be the same after those given already."""
        same = all(names.get(old) == new for old, new in self.ids.items())
        return same and (len(names) == self.count or None not in self.ids.values())


def draw_once(renderer: Any, key: Hashable, draw: Callable[[], None]) -> None:
    """Draw, or insert what was drawn under this key if its ids would be the same again."""
    writer = renderer.writer
    try:
        tables = (renderer._markers, renderer._clipd, writer.names)
    except AttributeError:
        draw()
        return
    parts = renderer.memo.setdefault(key, [])
    for part in parts:
        if part.fits(writer.names):
            writer.parent.extend(part.elements)
            for table, items in zip(tables, part.defined, strict=True):
                table.update(items)
            return
    before = [len(writer.parent), *(len(table) for table in tables)]
    writer.asked = {}
    draw()
    after = [writer.parent, *(table.items() for table in tables)]
    elements, *defined = (list(new)[k:] for new, k in zip(after, before, strict=True))
    parts.append(DrawnPart(elements, defined, writer.asked, before[-1]))
