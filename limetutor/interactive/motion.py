"""Between the stops: what a page may interpolate, and where a picture jumps.

While something is dragged a page shows, for each attribute that varies, the mean of its numbers at the
neighbouring stops, weighted by distance.  That is right where a picture changes smoothly.  Where ξ
crosses the edge of a box it is not: there an attribute has to stay what it is until the middle between
the two stops, and then change at once.  :func:`mark_jumps` finds these intervals.  It looks at the
numbers at the stops first, and draws the middle only where their second differences leave room for an
error; of two controls, at so many stops of the other one as it takes to find where the jump ends.
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from ..plotting.svg import NUMBER

#: Attributes that say where something is.  A page interpolates these and no others.
PLACES = frozenset(("d", "x", "y", "cx", "cy", "width", "height", "transform"))

#: How far an interpolated element may be from the drawn one: a pixel on a laptop, in the picture's units.
TOLERANCE = 0.73

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
            jumps: set[int] = set()
            axes = [controls.index(c) for c in along]
            for doubtful in _doubtful(
                _bent(column, along.index(control), sizes), axes, axis, inside
            ):
                # the first of them jump, the others do not: where is the border?
                low, high = 0, len(doubtful)
                while low < high:
                    middle = 0 if low == 0 and high == len(doubtful) else (low + high) // 2
                    known = (k for k in range(low, high) if doubtful[k] in drawn)
                    at = min(known, key=lambda k: abs(k - middle), default=middle)
                    stops = doubtful[at]
                    if stops not in drawn:
                        by_control = dict(zip(controls, stops, strict=True))
                        drawn[stops] = list(draw(by_control, control).iter())
                    following = (*stops[:axis], stops[axis] + 1, *stops[axis + 1 :])
                    first, second = (list(roots[place[s]].iter()) for s in (stops, following))
                    if off(first, second, drawn[stops], element, attribute) > TOLERANCE:
                        low = at + 1
                    else:
                        high = at
                shape_along = [sizes[c] for c in along]
                for stops in doubtful[:low]:
                    own = [stops[k] for k in axes]
                    jumps.add(int(np.ravel_multi_index(own, shape_along, order="F")))
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
    bent: np.ndarray, along: Sequence[int], axis: int, inside: np.ndarray
) -> Iterator[list[tuple[int, ...]]]:
    """For each interval the stops before it at which its middle may be off, the worst first.

    Of a control on which the column does not depend, one stop will do.
    """
    # the axes of the layer, of length one where the column does not depend on a control
    full = [bent.shape[along.index(k)] if k in along else 1 for k in range(inside.ndim)]
    there = np.where(inside, bent.transpose(np.argsort(along)).reshape(full), 0)
    free = tuple(k for k in range(inside.ndim) if k not in along)
    for k in free:  # the first stop that is in the group
        there = np.where(np.cumsum(there > 0, axis=k) == 1, there, 0)
    for stop in range(there.shape[axis]):
        rest = np.take(there, [stop], axis)
        found = np.argwhere(rest >= SMOOTH)
        found = found[np.argsort(-rest[tuple(found.T)], kind="stable")]
        found[:, axis] = stop
        yield [*map(tuple, found.tolist())]


def _bent(column: Sequence[Any], axis: int, sizes: Mapping[int, int]) -> np.ndarray:
    """How much a column bends between neighbouring stops: the mean of the second differences at both."""
    _, _, along, scale, parts, data = column[:6]
    width = len(parts) - 1
    sums = np.array(data).reshape(-1, width).cumsum(axis=0) / scale
    table = sums.T.reshape(width, *reversed([sizes[control] for control in along])).T
    if table.shape[axis] == 2:
        return np.abs(np.diff(table, axis=axis)).max(axis=-1)
    second = np.abs(np.diff(table, 2, axis=axis)).max(axis=-1)
    ends = [(0, 0)] * second.ndim
    before, after = ([*ends[:axis], side, *ends[axis + 1 :]] for side in ((1, 0), (0, 1)))
    return (np.pad(second, before, mode="edge") + np.pad(second, after, mode="edge")) / 2
