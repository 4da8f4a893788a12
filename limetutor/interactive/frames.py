"""Many frames of one figure, stored as one SVG and what differs.

Matplotlib writes the same elements in the same order for every frame as long as the number of
artists and ticks stays the same, so a slider's forty pictures differ in a handful of attributes.
:func:`encode` stores what a layer of a picture is at every combination of stops of its controls;
:func:`decode` is the reference for what ``player/frames.js`` does in the browser.

The format, as JSON-able data.  Frames of a layer with the same tree of elements form a *group*::

    {"groups": [{"base": inner markup or None for the group of the frame that is on the page,
                 "columns": [column, …]}, …],
     "controls": [number of a control, …],
     "which": [group of each combination of their stops, …], empty if there is one group only}

The first control varies fastest, here and in a column.  A *column* is one attribute (or text) that
varies, ``[element, attribute, controls, scale, parts, data]``, ``attribute`` empty for text.  It runs
over the stops of those ``controls`` alone on which it depends.  With ``scale`` 0, ``parts`` lists the
different values and ``data`` says which one each takes.  Otherwise the value is ``parts`` with numbers
in between, and ``data`` has those numbers times ``scale`` one stop after the other, each as its change
from the one before: mostly zeros and small integers, which compress well.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise, product
from typing import Any

from ..plotting.svg import NUMBER, markup

#: How many stops each control has, by its number.
Sizes = Mapping[int, int]

_PIECES = re.compile(f"({NUMBER.pattern})")  # what is around numbers, and they, by turns


def inner(root: ET.Element) -> str:
    """What is in an element, as text."""
    return (root.text or "") + "".join(markup(child) for child in root)


def encode(frames: Sequence[ET.Element], sizes: Sizes, default: int) -> dict[str, Any]:
    """Store ``frames``; the one numbered ``default`` is on the page and costs nothing.

    ``sizes`` has the number of stops of each control on which they depend; the first varies fastest.
    """
    groups: dict[Any, list[int]] = {}
    for number, frame in enumerate(frames):
        elements = [(e.tag, len(e), *e.attrib, e.text is None, e.tail) for e in frame.iter()]
        groups.setdefault(tuple(elements), []).append(number)
    which = [0] * len(frames)
    stored = []
    for index, members in enumerate(groups.values()):
        for number in members:
            which[number] = index
        base = None if default in members else inner(frames[members[0]])
        columns = _columns({number: frames[number] for number in members}, sizes)
        stored.append({"base": base, "columns": columns})
    return {"groups": stored, "controls": list(sizes), "which": which if len(stored) > 1 else []}


def decode(
    page: ET.Element, layer: dict[str, Any], at: Mapping[int, int], sizes: Sizes
) -> ET.Element:
    """The frame with the controls ``at`` these stops, from the one on the page and what is stored."""
    index = layer["which"][_place(layer["controls"], at, sizes)] if layer["which"] else 0
    group = layer["groups"][index]
    frame = ET.fromstring(markup(page))
    if group["base"] is not None:
        for child in list(frame):
            frame.remove(child)
        frame.extend(ET.fromstring(f"<svg>{group['base']}</svg>"))
    elements = list(frame.iter())
    for element, attribute, controls, scale, parts, numbers, *_ in group["columns"]:
        value = _value(scale, parts, numbers, _place(controls, at, sizes))
        if attribute:
            elements[element].set(attribute, value)
        else:
            elements[element].text = value
    return frame


def _place(controls: Sequence[int], at: Mapping[int, int], sizes: Sizes) -> int:
    """The number of a combination of stops, the first control varying fastest."""
    number = 0
    for control in reversed(controls):
        number = number * sizes[control] + at[control]
    return number


def _stops(number: int, sizes: Sizes) -> tuple[int, ...]:
    """The stops of a combination, the inverse of :func:`_place`."""
    stops = []
    for size in sizes.values():
        number, stop = divmod(number, size)
        stops.append(stop)
    return tuple(stops)


def _columns(frames: Mapping[int, ET.Element], sizes: Sizes) -> list[list[Any]]:
    """What varies among frames of one shape, given by the number of their combination."""
    at = [_stops(number, sizes) for number in frames]
    columns = []
    for index, same in enumerate(zip(*(frame.iter() for frame in frames.values()), strict=True)):
        if all(el is same[0] for el in same):
            continue
        for attribute in (*same[0].attrib, ""):
            values = [el.get(attribute, "") if attribute else el.text or "" for el in same]
            if len(set(values)) > 1:
                controls, kept = _along(values, at, sizes)
                columns.append([index, attribute, controls, *_column(kept)])
    return columns


def _along(
    values: list[str], at: list[tuple[int, ...]], sizes: Sizes
) -> tuple[list[int], list[str]]:
    """The fewest controls on which values depend, and a value for each of their stops.

    A combination of stops without a frame (it is in another group) has the value before it.
    """
    numbers = range(len(sizes))
    for subset in (c for k in numbers for c in combinations(numbers, k + 1)):
        table: dict[tuple[int, ...], str] = {}
        keys = (tuple(stops[k] for k in subset) for stops in at)
        if all(table.setdefault(key, v) == v for key, v in zip(keys, values, strict=True)):
            break
    controls = [list(sizes)[k] for k in subset]
    kept, last = [], values[0]
    for stops in product(*(range(sizes[c]) for c in reversed(controls))):
        last = table.get(stops[::-1], last)
        kept.append(last)
    return controls, kept


def _column(values: list[str]) -> tuple[int, list[str], list[int]]:
    """The values as numbers between fixed texts, or the different ones and the index of each."""
    pieces = [_PIECES.split(value) for value in values]
    if len({tuple(piece[::2]) for piece in pieces}) == 1:
        numbers = list(zip(*(piece[1::2] for piece in pieces), strict=True))
        for scale in (1, 10, 100):
            column = _as_numbers(pieces[0][::2], numbers, scale)
            if column:
                return column
    different = list(dict.fromkeys(values))
    return 0, different, [different.index(value) for value in values]


def _as_numbers(
    between: list[str], table: list[tuple[str, ...]], scale: int
) -> tuple[int, list[str], list[int]] | None:
    """Whole numbers, ``scale`` times what is written, or None if that would not give it back."""
    parts, vary = [between[0]], []
    for k, numbers in enumerate(table):
        if len(set(numbers)) == 1:
            parts[-1] += numbers[0] + between[k + 1]
            continue
        whole = [round(float(number) * scale) for number in numbers]
        if any(_written(w, scale) != number for w, number in zip(whole, numbers, strict=True)):
            return None
        vary.append(whole)
        parts.append(between[k + 1])
    steps = ([row[0], *(b - a for a, b in pairwise(row))] for row in vary)
    return scale, parts, [step for frame in zip(*steps, strict=True) for step in frame]


def _value(scale: int, parts: list[str], data: list[int], position: int) -> str:
    if scale == 0:
        return parts[data[position]]
    width = len(parts) - 1
    text = parts[0]
    for k in range(width):
        text += _written(sum(data[k : (position + 1) * width : width]), scale) + parts[k + 1]
    return text


def _written(whole: int, scale: int) -> str:
    """``whole / scale`` as JavaScript writes it."""
    return str(whole // scale) if whole % scale == 0 else repr(whole / scale)
