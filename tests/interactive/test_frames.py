"""Many frames of one figure, stored as one picture and what differs."""

import json
import math
import xml.etree.ElementTree as ET

import pytest
from waves import KIND, NU, all_frames

from limetutor.interactive import frames
from limetutor.plotting import svg

SIZES = {0: len(NU.values), 1: len(KIND.values)}


def stops(number, sizes=SIZES):
    """The stop of each control, the first varying fastest."""
    found = {}
    for control, size in sizes.items():
        number, found[control] = divmod(number, size)
    return found


def check(pictures, data, start, sizes):
    """Every frame comes back from the default and what is stored."""
    for number, picture in enumerate(pictures):
        found = frames.decode(pictures[start], data, stops(number, sizes), sizes)
        assert svg.markup(found) == svg.markup(picture)


def test_differences_give_every_frame_back_exactly():
    """Whichever frame of its group is the default."""
    pictures, _, _ = all_frames()
    for start in range(len(pictures)):
        data = json.loads(json.dumps(frames.encode(pictures, SIZES, start)))
        assert len(data["groups"]) == 2  # with and without the second curve
        assert len([group for group in data["groups"] if group["base"] is None]) == 1
        check(pictures, data, start, SIZES)
    numbers = [column for group in data["groups"] for column in group["columns"] if column[3]]
    assert numbers, "no column is stored as numbers"


def dots(sizes, places):
    """Frames with one circle, at the place that each combination of stops gives it."""
    found = []
    for number in range(math.prod(sizes.values())):
        frame = ET.Element("g")
        cx, cy, text = places(*stops(number, sizes).values())
        ET.SubElement(frame, "circle", {"cx": str(cx), "cy": str(cy)}).text = str(text)
        found.append(frame)
    return found


@pytest.mark.parametrize("start", [0, 7, 59])
def test_what_depends_on_one_control_is_stored_along_that_control(start):
    """Forty places for a coordinate that one slider moves, however many the other has."""
    sizes = {3: 3, 1: 4, 4: 5}  # the numbers of controls are names: no order is needed
    pictures = dots(sizes, lambda a, b, c: (10 * a, 7 * b + c, f"{c}"))
    data = json.loads(json.dumps(frames.encode(pictures, sizes, start)))
    ((group,), columns) = data["groups"], data["groups"][0]["columns"]
    along = {
        attribute or "text": (controls, len(kept)) for _, attribute, controls, _, _, kept in columns
    }
    assert group["base"] is None and data["which"] == []
    assert along == {"cx": ([3], 3), "cy": ([1, 4], 20), "text": ([4], 5)}
    check(pictures, data, start, sizes)


def test_a_group_that_has_not_all_combinations_keeps_to_one_control_too():
    """Combinations that are in another group cost nothing."""
    sizes = {0: 6, 1: 3}
    pictures = dots(sizes, lambda a, b: (a, b, ""))
    for number in (1, 4, 5, 16):
        ET.SubElement(pictures[number], "path")
    data = frames.encode(pictures, sizes, 0)
    assert len(data["groups"]) == 2 and data["which"].count(1) == 4
    assert [column[2] for column in data["groups"][0]["columns"]] == [[0], [1]]
    check(pictures, data, 0, sizes)
