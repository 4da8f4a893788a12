"""Many frames of one figure, stored as one SVG and what differs.

Matplotlib writes the same elements in the same order for every frame as long as the number of
artists and ticks stays the same, so a slider's forty pictures differ in a handful of attributes.
:func:`~limetutor.interactive.renderer.picture` makes one frame; :func:`encode` stores a list of
them; :func:`decode` is the reference for what ``player.js`` does in the browser.

The format, as JSON-able data.  Frames with the same tree of elements form a *group*::

    {"groups": [{"base": inner markup or None for the group whose first frame is on the page,
                 "columns": [column, …]}, …],
     "frames": [[group, position in it], …]}

A *column* is one attribute (or text) that varies, ``[element, attribute, scale, parts, data]``,
``attribute`` empty for text.  With ``scale`` 0, ``parts`` lists the different values and ``data``
says which one each frame takes.  Otherwise the value is ``parts`` with numbers in between, and
``data`` has those numbers times ``scale`` frame after frame, each as its change from the frame
before: mostly zeros and small integers, which compress well.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

from .renderer import NUMBER


def markup(root: ET.Element) -> str:
    """An element and all in it, as text to put on a page."""
    return ET.tostring(root, encoding="unicode")


def inner(root: ET.Element) -> str:
    """What is in an element, as text."""
    return (root.text or "") + "".join(markup(child) for child in root)


def encode(frames: Sequence[ET.Element], default: int) -> dict[str, Any]:
    """Store ``frames``; the one numbered ``default`` is on the page and costs nothing."""
    groups: dict[Any, list[int]] = {}
    for number, frame in enumerate(frames):
        groups.setdefault(_shape(frame), []).append(number)
    places: list[list[int]] = [[0, 0]] * len(frames)
    stored = []
    for index, members in enumerate(groups.values()):
        for position, number in enumerate(members):
            places[number] = [index, position]
        base = None if default in members else inner(frames[members[0]])
        stored.append({"base": base, "columns": _columns([frames[m] for m in members])})
    return {"groups": stored, "frames": places}


def decode(page: ET.Element, data: dict[str, Any], number: int) -> ET.Element:
    """The frame with this number, from the picture on the page and the stored differences."""
    index, position = data["frames"][number]
    group = data["groups"][index]
    frame = ET.fromstring(markup(page))
    if group["base"] is not None:
        for child in list(frame):
            frame.remove(child)
        frame.extend(ET.fromstring(f"<svg>{group['base']}</svg>"))
    elements = list(frame.iter())
    for element, attribute, scale, parts, numbers in group["columns"]:
        value = _value(scale, parts, numbers, position)
        if attribute:
            elements[element].set(attribute, value)
        else:
            elements[element].text = value
    return frame


def _shape(root: ET.Element) -> tuple[Any, ...]:
    return tuple(
        (el.tag, len(el), tuple(el.attrib), el.text is None, el.tail) for el in root.iter()
    )


def _columns(frames: Sequence[ET.Element]) -> list[list[Any]]:
    """What varies among frames of one shape."""
    columns = []
    for index, same in enumerate(zip(*(frame.iter() for frame in frames), strict=True)):
        for attribute in (*same[0].attrib, ""):
            values = [el.get(attribute, "") if attribute else el.text or "" for el in same]
            if len(set(values)) > 1:
                columns.append([index, attribute, *_column(values)])
    return columns


def _column(values: list[str]) -> tuple[int, list[str], list[int]]:
    for scale in (1, 10, 100):
        column = _as_numbers(values, scale)
        if column:
            return column
    different = list(dict.fromkeys(values))
    return 0, different, [different.index(value) for value in values]


def _as_numbers(values: list[str], scale: int) -> tuple[int, list[str], list[int]] | None:
    """The values as numbers in fixed surroundings, or None if that would not give them back."""
    if len({tuple(NUMBER.split(value)) for value in values}) > 1:
        return None
    between = NUMBER.split(values[0])
    table = [NUMBER.findall(value) for value in values]
    parts, vary = [between[0]], []
    for k, numbers in enumerate(zip(*table, strict=True)):
        if len(set(numbers)) == 1:
            parts[-1] += numbers[0] + between[k + 1]
            continue
        whole = [round(float(number) * scale) for number in numbers]
        if any(_written(w, scale) != number for w, number in zip(whole, numbers, strict=True)):
            return None
        vary.append(whole)
        parts.append(between[k + 1])
    data = [row[f] - (row[f - 1] if f else 0) for f in range(len(values)) for row in vary]
    return scale, parts, data


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
