"""The two controls of an interactive figure: a slider with round values, and a choice."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs.arguments import scalar, shorten, vector, whole

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")

_LIVE_DENSITY = 5  # stops of a live slider for each stop that is drawn in advance
MAX_STOPS = 10_000  # each of them is a word to a screen reader


@dataclass(frozen=True)
class Slider:
    """A number between ``start`` and ``stop``, at one of ``stops`` round values.

    Each stop is exactly the number that ``fmt`` shows, so label and value agree.  The default
    ``value``, and each of the values in ``also``, replaces the stop nearest to it.
    With ``log`` the stops are evenly spaced on a logarithmic scale.  A ``live`` slider needs a
    kernel; on the static page it stays at its default.

    Examples
    --------
    >>> Slider(0.5, 2, 1, stops=4).values
    (0.5, 1.0, 1.5, 2.0)
    """

    start: float
    stop: float
    value: float
    stops: int = 41
    label: str = ""
    log: bool = False
    fmt: str = "{:.2f}"
    live: bool = False
    also: Sequence[float] = ()

    def __post_init__(self) -> None:
        also = vector("also", self.also) if np.size(self.also) else ()
        object.__setattr__(self, "also", tuple(map(float, also)))
        for name in ("start", "stop", "value"):
            number = scalar(name, getattr(self, name))
            if not isinstance(getattr(self, name), int) or abs(number) > 2**53:
                object.__setattr__(self, name, number)
        object.__setattr__(self, "stops", whole("stops", self.stops, 2))
        if self.stops > MAX_STOPS:
            raise ValueError(f"stops must be {MAX_STOPS} or fewer, got {self.stops}.")
        _of_type(str, "a text", label=self.label, fmt=self.fmt)
        if re.search(r"\d{3}", self.fmt):
            raise ValueError(
                f"fmt must be a format of less than 100 digits, got {shorten(self.fmt)}."
            )
        _of_type(bool | np.bool_, "True or False", log=self.log, live=self.live)
        if not self.start < self.stop:
            raise ValueError(
                f"A slider must run upwards, but start={self.start} and stop={self.stop}."
            )
        if not math.isfinite(float(self.stop) - float(self.start)):
            raise ValueError(f"start={self.start} and stop={self.stop} are too far apart.")
        if not self.start <= self.value <= self.stop:
            raise ValueError(
                f"value must be in reach: the default {self.value} lies outside the slider's range "
                f"[{self.start}, {self.stop}]."
            )
        if not all(self.start <= other <= self.stop for other in self.also):
            raise ValueError(
                f"also must lie in the slider's range [{self.start}, {self.stop}], got {self.also}."
            )
        if self.log and self.start <= 0:
            raise ValueError(f"A logarithmic slider needs start > 0, not {self.start}.")
        if len(set(self.values)) < self.stops:
            raise ValueError(
                f"fmt={self.fmt!r} cannot tell {self.stops} stops between "
                f"{self.start} and {self.stop} apart: show more digits or take "
                f"fewer stops."
            )

    @property
    def values(self) -> tuple[float, ...]:
        """The stops, in increasing order."""
        return self._grid(self.stops)

    @property
    def live_values(self) -> tuple[float, ...]:
        """Finer stops for a running kernel, which need not be drawn in advance."""
        finer = min(_LIVE_DENSITY * (self.stops - 1) + 1, MAX_STOPS)
        return tuple(sorted(set(self._grid(max(finer, self.stops)))))

    @property
    def default(self) -> float:
        """The default value as ``fmt`` shows it."""
        return self._clean(self.value)

    @property
    def glides(self) -> bool:
        """Whether there is anything between two stops; there is not between whole numbers."""
        return not self._whole

    def between(self, stop: int) -> float:
        """The value in the middle between a stop and the next one."""
        low, high = self.values[stop : stop + 2]
        return math.sqrt(low * high) if self.log else (low + high) / 2

    def text(self, value: float) -> str:
        """A value as the reader sees it: with a true minus sign, and up to a million in digits."""
        text = self.fmt.format(value)
        if re.fullmatch(r"[-\d.]+e\+0[0-5]", text):
            text = f"{float(text):.0f}"
        return re.sub(r"(?<![\w.])-(?=[\d.])", "\N{MINUS SIGN}", text)

    def _grid(self, count: int) -> tuple[float, ...]:
        space = np.geomspace if self.log else np.linspace
        grid = space(self.start, self.stop, count)
        scale = np.log if self.log else np.asarray
        nearest = int(np.argmin(np.abs(scale(grid) - scale(self.value))))
        # The ends are kept, so that the whole range can be reached.
        free = [k for k in range(1, count - 1) if k != nearest]
        if 0 < nearest < count - 1:
            grid[nearest] = self.value
        for other in self.also:
            distance = np.abs(scale(grid) - scale(other))
            if free and distance.min() > 0:
                grid[free.pop(int(np.argmin(distance[free])))] = other
        grid.sort()
        values = tuple(self._clean(v) for v in grid)
        # A default very near to an end would be lost: it replaces that end.
        if self.default not in values:
            values = tuple(self.default if i == nearest else v for i, v in enumerate(values))
        return values

    @property
    def _whole(self) -> bool:
        return re.search(r"\{:[^}]*d\}", self.fmt) is not None

    def _clean(self, value: float) -> float:
        integer = self._whole
        try:
            text = self.fmt.format(round(value) if integer else float(value))
        except (ValueError, TypeError, LookupError, AttributeError):
            raise ValueError(
                f"fmt must say how to show one number, as '{{:.2f}}' does, got {shorten(self.fmt)}."
            ) from None
        match = _NUMBER.search(text.replace(",", "").replace("\N{MINUS SIGN}", "-"))
        shown = float(match.group()) if match else float("nan")
        if not abs(shown - value) <= 0.5 * max(abs(value), self.stop - self.start):
            raise ValueError(
                f"fmt={self.fmt!r} shows {value:g} as {text!r}; it must show the number itself."
            )
        return int(shown) if integer else shown


@dataclass(frozen=True)
class Choice:
    """One of a few ``options``: a list, or a mapping from what is shown to what ``draw`` gets.

    Examples
    --------
    >>> Choice({"ten": 10, "hundred": 100}).values
    (10, 100)
    """

    options: Sequence[Hashable] | Mapping[str, Any]
    value: Any = None
    label: str = ""
    live: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.options, str) or not isinstance(self.options, Sequence | Mapping):
            raise TypeError(
                f"options must be a list, or a mapping from what is shown to what draw gets, "
                f"got {shorten(self.options)}."
            )
        _of_type(str, "a text", label=self.label)
        _of_type(bool | np.bool_, "True or False", live=self.live)
        if len(self.options) < 2:
            raise ValueError(f"A choice needs at least two options, got {shorten(self.options)}.")
        shown = [str(option) for option in self.options]
        try:
            distinct = all(a != b for k, a in enumerate(self.values) for b in self.values[:k])
            listed = self.value is None or self.value in self.values
        except (ValueError, TypeError):  # comparing arrays or tables gives no single truth value
            raise ValueError(
                f"options must be values that == can tell apart, got {shorten(self.options)}."
            ) from None
        if not distinct or len(set(shown)) < len(shown):
            raise ValueError(
                f"options must differ from one another, got {shorten(list(self.options))}."
            )
        if not listed:
            raise ValueError(
                f"value must be an option: the default {shorten(self.value)} is not among the options "
                f"{shorten(list(self.values))}."
            )

    @property
    def values(self) -> tuple[Any, ...]:
        """What ``draw`` may receive."""
        if isinstance(self.options, Mapping):
            return tuple(self.options.values())
        return tuple(self.options)

    @property
    def glides(self) -> bool:
        """There is nothing between two options."""
        return False

    @property
    def live_values(self) -> tuple[Any, ...]:
        """With a kernel the options are the same."""
        return self.values

    @property
    def default(self) -> Any:
        """The default, the first option if none was named."""
        return self.values[0] if self.value is None else self.value

    def text(self, value: Any) -> str:
        """A value as the reader sees it."""
        if isinstance(self.options, Mapping):
            return str(list(self.options)[self.values.index(value)])
        return str(value)


Control = Slider | Choice


def _of_type(kind: Any, what: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be {what}, got {shorten(value)}.")
