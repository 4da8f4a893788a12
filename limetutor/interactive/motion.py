"""Between the stops: what a page may interpolate, and where a picture jumps.

While something is dragged a page shows, for each attribute that varies, the mean of its numbers at the
neighbouring stops, weighted by distance.  That is right where a picture changes smoothly.  Where ξ
crosses the edge of a box it is not: there an attribute has to stay what it is until the middle between
the two stops, and then change at once.  :func:`mark_jumps` finds these intervals.  It looks at the
numbers at the stops first, and draws the middle only where their second differences leave room for
an error; of two controls, at the stop of the other one where they are largest.
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from ..plotting.svg import NUMBER

#: Attributes that say where something is.  A page interpolates these and no others.
PLACES = frozenset(("d", "x", "y", "cx", "cy", "width", "height", "transform"))

#: How far an interpolated element may be from the drawn one: a pixel on a laptop, in the picture's units.
TOLERANCE = 0.7

#: Second differences below this leave no room for such an error, were it a step in the middle.
SMOOTH = 1.2

Stops = dict[int, int]  # of each control of a layer, by its number
Draw = Callable[[Stops, int], ET.Element]  # between these stops and the next one of a control


def mark_jumps(
    layer: dict[str, Any], roots: Sequence[ET.Element], sizes: Mapping[int, int],
    gliding: Sequence[int], draw: Draw,
) -> None:  # fmt: skip
    """Add to the columns of a layer (:mod:`.frames`) where they jump, if they do.

    It is a seventh entry, ``[[control, place, …], …]``: between these places (:mod:`.frames`) and the
    next stops of that control.
    """
    controls = layer["controls"]
    shape = [sizes[control] for control in controls]
    which = np.reshape(layer["which"] or np.zeros(len(roots), int), shape, order="F")
    place = np.arange(len(roots)).reshape(shape, order="F")
    for (number, group), control in product(enumerate(layer["groups"]), gliding):
        if control not in controls:
            continue
        axis = controls.index(control)
        inside = np.delete(which == number, -1, axis) & np.delete(which == number, 0, axis)
        drawn: dict[tuple[int, ...], list[ET.Element]] = {}
        for column in group["columns"]:
            element, attribute, along, scale = column[:4]
            if attribute not in PLACES or not scale or control not in along:
                continue
            jumps: list[int] = []
            bent = _bent(column, along.index(control), sizes)
            axes = [controls.index(c) for c in along]
            for stops, alike in _doubtful(bent, axes, axis, inside, drawn):
                if stops not in drawn:
                    drawn[stops] = list(
                        draw(dict(zip(controls, stops, strict=True)), control).iter()
                    )
                following = (*stops[:axis], stops[axis] + 1, *stops[axis + 1 :])
                first, second = (list(roots[place[s]].iter()) for s in (stops, following))
                error = off(first, second, drawn[stops], element, attribute)
                if error > TOLERANCE:
                    jumps += np.flatnonzero((alike * error > TOLERANCE).ravel(order="F")).tolist()
            if jumps:
                column[6:] = [[*(column[6] if len(column) > 6 else []), [control, *sorted(jumps)]]]


def off(
    first: Sequence[ET.Element], second: Sequence[ET.Element], between: Sequence[ET.Element],
    element: int, attribute: str,
) -> float:  # fmt: skip
    """How far the mean of an attribute's numbers is from those drawn between, infinite if it has others."""
    if len(between) != len(first):
        return np.inf
    texts = (frame[element].get(attribute, "") for frame in (first, second, between))
    (shape, a), (other, b), (third, c) = map(numbers, texts)
    if not shape == other == third:
        return np.inf
    return float(np.abs((a + b) / 2 - c).max(initial=0))


@lru_cache(maxsize=20_000)
def numbers(text: str) -> tuple[str, np.ndarray]:
    """What is around the numbers of an attribute, and they."""
    return NUMBER.sub("·", text), np.array(NUMBER.findall(text), float)


def _doubtful(
    bent: np.ndarray, along: Sequence[int], axis: int, inside: np.ndarray, drawn: Collection[Any]
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """For each interval whose middle has to be drawn, the stops before it where that matters most.

    Those already ``drawn`` are taken if it matters half as much there.  With them comes how much the
    column bends at all its places within that interval, in units of how much it does there.
    """
    # the axes of the layer, of length one where the column does not depend on a control
    full = [bent.shape[along.index(k)] if k in along else 1 for k in range(inside.ndim)]
    there = np.where(inside, bent.transpose(np.argsort(along)).reshape(full), 0)
    for stop, rest in enumerate(np.moveaxis(there, axis, 0)):
        if rest.max() >= SMOOTH:
            others = np.unravel_index(rest.argmax(), rest.shape)
            most = (*map(int, others[:axis]), stop, *map(int, others[axis:]))
            known = (
                s for s in drawn if s[axis] == stop and there[s] >= max(SMOOTH, rest.max() / 2)
            )
            stops, own = next(known, most), along.index(axis)
            alike = np.zeros([size + (k == own) for k, size in enumerate(bent.shape)])
            np.moveaxis(alike, own, 0)[stop] = np.moveaxis(bent, own, 0)[stop] / there[stops]
            yield stops, alike


def _bent(column: Sequence[Any], axis: int, sizes: Mapping[int, int]) -> np.ndarray:
    """How much a column bends between neighbouring stops, by second differences."""
    _, _, along, scale, parts, data = column[:6]
    width = len(parts) - 1
    sums = np.array(data).reshape(-1, width).cumsum(axis=0) / scale
    table = sums.T.reshape(width, *reversed([sizes[control] for control in along])).T
    if table.shape[axis] == 2:
        return np.abs(np.diff(table, axis=axis)).max(axis=-1)
    second = np.abs(np.diff(table, 2, axis=axis)).max(axis=-1)
    ends = [(0, 0)] * second.ndim
    before, after = ([*ends[:axis], side, *ends[axis + 1 :]] for side in ((1, 0), (0, 1)))
    return np.maximum(np.pad(second, before), np.pad(second, after))
