"""Drawings in layers, each of which depends on some of the controls only.

Two sliders of forty stops have 1600 combinations, but a curve that only one of them moves has forty
forms.  :func:`in_layers` makes a drawing of functions whose arguments are what they depend on::

    def panels(fig): ...  # makes the axes and everything that does not move
    def law(axes, nu, xi): ...  # adds what both controls move
    def point(axes, xi): ...  # adds what ξ alone moves


    @in_layers(panels, law, point)
    def landing(nu, xi):  # one sentence about all of it
        return f"At ν = {nu:.2f} …"

A layer adds artists to the axes and changes nothing else: limits and ticks belong to the first
function.  Layers are painted in their order, and a layer may depend on nothing.  With a kernel such a
drawing is called like any other, ``landing(fig, nu=0.5, xi=0.4)``, and draws all layers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, update_wrapper
from itertools import groupby
from typing import Any

from matplotlib.artist import Artist
from matplotlib.figure import Figure

Values = Mapping[str, Any]


def in_layers(
    axes: Callable[[Figure], Any], *layers: Callable[..., None]
) -> Callable[[Callable[..., str]], Layered]:
    """Make a drawing of layers; the decorated function returns one sentence about them."""
    return lambda sentence: Layered(axes, layers, sentence)


@dataclass(eq=False)
class Layered:
    """A drawing in layers."""

    axes: Callable[[Figure], Any]
    layers: tuple[Callable[..., None], ...]
    sentence: Callable[..., str]

    def __post_init__(self) -> None:
        update_wrapper(self, self.sentence)
        signature = inspect.signature(self.sentence)
        figure = inspect.Parameter("fig", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = [figure, *signature.parameters.values()]
        self.__signature__ = signature.replace(parameters=parameters)
        needed = {name for layer in self.layers for name in needs(layer)}
        unknown = needed - set(signature.parameters)
        if unknown:
            raise TypeError(
                f"{self.sentence.__name__} must take all that its layers take: {sorted(unknown)} too."
            )

    def __call__(self, *args: Any, **named: Any) -> str:
        """Draw all layers on a figure, and return the sentence."""
        bound = self.__signature__.bind(*args, **named)
        bound.apply_defaults()
        values = dict(bound.arguments)
        self.draw(values.pop("fig"), values)
        return self.sentence(**values)

    def draw(self, fig: Figure, values: Values) -> list[list[Artist]]:
        """Draw all layers; the artists that each run of them added."""
        axes = self.axes(fig)
        return [add(fig, axes, run, values) for run in self.runs]

    @property
    def runs(self) -> list[list[Callable[..., None]]]:
        """Consecutive layers that depend on the same controls, which are drawn together."""
        runs = groupby(self.layers, key=lambda layer: frozenset(needs(layer)))
        return [list(run) for _, run in runs]


@cache
def needs(layer: Callable[..., None]) -> tuple[str, ...]:
    """The controls that a layer depends on: its arguments after the first."""
    return tuple(inspect.signature(layer).parameters)[1:]


def add(fig: Figure, axes: Any, run: Sequence[Callable[..., None]], values: Values) -> list[Artist]:
    """Draw layers; the artists that they added, in the order in which they are painted."""
    seen = {id(artist) for artist in _artists(fig)}
    added = []
    for layer in run:
        layer(axes, **{name: values[name] for name in needs(layer)})
        new = [artist for artist in _artists(fig) if id(artist) not in seen]
        seen.update(map(id, new))
        added += sorted(new, key=lambda artist: artist.get_zorder())
    return added


def _artists(fig: Figure) -> Sequence[Artist]:
    return [*fig.get_children(), *(artist for ax in fig.axes for artist in ax.get_children())]
