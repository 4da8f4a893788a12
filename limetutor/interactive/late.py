"""Axes that cost little when a figure is drawn many times over, one frame after the other.

Half of what a frame costs matplotlib is ticks: each is five artists, made, laid out and drawn, and
from frame to frame they stay where they are.  Two things change that here, and the picture stays
the same to the last letter:

- an axis makes its ticks when somebody asks for one, not as soon as its limits are set
  (:class:`LateX`, :class:`LateY`);
- what an axis draws depends on a few numbers and texts (:meth:`_Late.looks`).  A renderer that
  offers ``once`` gets them as a key, and need not ask for a drawing that it has already.

Where an axis cannot say what its drawing depends on, it is drawn as matplotlib draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

#: What an attribute must be to stand in a key as it is.
_PLAIN = (str, float, int, bool, type(None))

#: Attributes of a text or an axis that are told otherwise, or do not show.
_APART = {
    *("_axes", "_parent_figure", "_callbacks", "callbacks", "_remove_method", "stale_callback"),
    *("_stale", "_sticky_edges", "clipbox", "_clippath", "_transform", "_transformSet", "axes"),
    *("major", "minor", "label", "offsetText", "_scale", "_major_tick_kw", "_minor_tick_kw"),
    *("_clip", "_fontproperties", "_zorder", "zorder"),
}


class UnknownError(Exception):
    """There is something that a key cannot hold."""


class LateFigure(Figure):
    """A figure whose subplots have late ticks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._style = dict.copy(mpl.rcParams)

    def add_subplot(self, *args: Any, **kwargs: Any) -> Any:
        """As in matplotlib. Late ticks know only the style of the figure, not one set in between."""
        ordinary = {"projection", "polar", "axes_class"} & set(kwargs)
        if not ordinary and dict.__eq__(mpl.rcParams, self._style):
            kwargs["axes_class"] = LateAxes
        return super().add_subplot(*args, **kwargs)


class _Later(Sequence[Any]):
    """What a call would have returned, once somebody looks at it."""

    def __init__(self, call: Callable[[], Sequence[Any]]) -> None:
        self._call = call

    def __len__(self) -> int:
        return len(self._call())

    def __getitem__(self, index: Any) -> Any:
        return self._call()[index]


class _Late(Axis):
    """An axis without ticks until somebody asks for one."""

    _clip: tuple[Any, Any] | None = None  # that of the ticks, as it was set
    _mute = False  # whether calls for ticks go unanswered

    @property
    def _has_ticks(self) -> bool:
        return not self._mute and ("majorTicks" in vars(self) or "minorTicks" in vars(self))

    @contextmanager
    def _without_ticks(self) -> Iterator[None]:
        """As long as there are no ticks make none: those made later find all that was set."""
        if self._has_ticks or self._mute:
            yield
            return
        self._mute, self.majorTicks, self.minorTicks = True, [], []
        try:
            yield
        finally:
            self._mute = False
            for name in ("majorTicks", "minorTicks"):
                vars(self).pop(name, None)

    def set_clip_path(self, path: Any, transform: Any = None) -> None:
        """Clip the axis, and its ticks when there are some."""
        self._clip = path, transform
        with self._without_ticks():
            super().set_clip_path(path, transform)

    def set_tick_params(self, which: Any = "major", reset: bool = False, **kwargs: Any) -> None:
        """Set how ticks look, when there are some."""
        with self._without_ticks():
            super().set_tick_params(which, reset, **kwargs)

    def set_ticks(
        self, ticks: Any, labels: Any = None, *, minor: bool = False, **kwargs: Any
    ) -> Any:
        """Set where ticks stand."""
        if kwargs:  # they are for the very labels, which must be there
            return super().set_ticks(ticks, labels, minor=minor, **kwargs)
        with self._without_ticks():
            super().set_ticks(ticks, labels, minor=minor)
        return _Later(lambda: (self.get_minor_ticks if minor else self.get_major_ticks)())

    def set_ticklabels(
        self, labels: Any, *, minor: bool = False, fontdict: Any = None, **kwargs: Any
    ) -> Any:
        """Set what stands at the ticks."""
        if fontdict or kwargs:
            return super().set_ticklabels(labels, minor=minor, fontdict=fontdict, **kwargs)
        with self._without_ticks():
            super().set_ticklabels(labels, minor=minor)
        return _Later(lambda: self.get_ticklabels(minor=minor))

    def get_major_ticks(self, numticks: int | None = None) -> list[Any]:
        """Make ticks, now."""
        return [] if self._mute else super().get_major_ticks(numticks)

    def get_minor_ticks(self, numticks: int | None = None) -> list[Any]:
        """Make small ticks, now."""
        return [] if self._mute else super().get_minor_ticks(numticks)

    def _get_tick(self, major: bool) -> Any:
        tick = super()._get_tick(major)  # type: ignore[misc]
        if self._clip is not None:
            tick.set_clip_path(*self._clip)
        return tick

    # --- drawn once --------------------------------------------------------------------------

    @allow_rasterization
    def draw(self, renderer: Any) -> None:
        """Draw, unless the renderer remembers an axis that looks the same."""
        try:
            key = self.looks() if hasattr(renderer, "once") else None
        except UnknownError:
            key = None
        if key is None:
            super().draw(renderer)
        else:
            renderer.once(key, lambda: super(_Late, self).draw(renderer))
        self.stale = False

    def looks(self) -> Hashable:
        """All that the drawing depends on: two axes with the same key give the same drawing."""
        axis: Any = self  # matplotlib's stubs are silent about some of this
        aligned = axis.get_figure(root=False)._align_label_groups[axis.axis_name]
        if self._has_ticks or not axis._autolabelpos or len(aligned.get_siblings(axis.axes)) > 1:
            raise UnknownError
        return (
            type(self),
            axis.axes.bbox.bounds,
            axis.get_figure(root=True).dpi,
            self._places([*self.get_view_interval()]),
            self._row(self.major, axis._major_tick_kw),
            self._row(self.minor, axis._minor_tick_kw),
            tuple(
                (spine.get_position(), spine.get_bounds()) for spine in axis.axes.spines.values()
            ),
            *(_state(artist) for artist in (axis, axis.label, axis.offsetText)),
        )

    def _row(self, ticker: Any, looks: dict[str, Any]) -> Hashable:
        """Where the ticks of one kind stand, what they say and how they look."""
        if isinstance(ticker.locator, NullLocator):
            return None
        minor = ticker is self.minor
        at = self.get_minorticklocs() if minor else self.get_majorticklocs()
        said = tuple(ticker.formatter.format_ticks(at))
        if not all(type(value) in _PLAIN for value in looks.values()):
            raise UnknownError
        return self._places(at), said, ticker.formatter.get_offset(), tuple(looks.items())

    def _places(self, values: Any) -> Hashable:
        return tuple(self.get_transform().transform(values))


def _state(artist: Artist) -> Hashable:
    """The attributes of an artist that show."""
    found: list[Any] = []
    for name, value in vars(artist).items():
        if name in _APART:
            continue
        if type(value) in _PLAIN:
            found.append((name, value))
        elif name != "_path_effects" or value:
            raise UnknownError
    font = vars(artist).get("_fontproperties")
    return tuple(found), font and hash(font)


class LateX(_Late, XAxis):
    """A horizontal axis with late ticks."""


class LateY(_Late, YAxis):
    """A vertical axis with late ticks."""


class LateAxes(Axes):
    """Axes with late ticks."""

    xaxis: LateX
    yaxis: LateY

    def _init_axis(self) -> None:
        self.xaxis, self.yaxis = LateX(self, clear=False), LateY(self, clear=False)
        for axis, sides in ((self.xaxis, ("bottom", "top")), (self.yaxis, ("left", "right"))):
            for side in sides:
                self.spines[side].register_axis(axis)

    def _update_title_position(self, renderer: Any) -> None:
        """Move titles above all that stands there, which the ticks must be made for only once."""
        stock = super()._update_title_position  # type: ignore[misc]
        titles = [self.title, *(getattr(self, f"_{side}_title") for side in ("left", "right"))]
        groups = (self._twinned_axes, self.get_figure(root=False)._align_label_groups["title"])  # type: ignore
        alone = not self.child_axes and all(len(g.get_siblings(self)) == 1 for g in groups)
        said = any(title.get_text() for title in titles)
        try:
            if not (alone and said and hasattr(renderer, "kept")):
                raise UnknownError
            key = (self.xaxis.looks(), self.yaxis.looks(), *(_state(title) for title in titles))
        except UnknownError:
            stock(renderer)
            return

        def places() -> list[tuple[float, float]]:
            stock(renderer)
            return [title.get_position() for title in titles]

        for title, place in zip(titles, renderer.kept(key, places), strict=True):
            title.set_position(place)

    def clear(self) -> None:
        """Clear; spines get their place now, as the first ticks would have given it to them."""
        super().clear()
        for spine in self.spines.values():
            spine.get_position()
