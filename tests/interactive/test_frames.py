"""Many frames of one figure, stored as one picture and what differs."""

from __future__ import annotations

import json

from waves import ALT, all_frames

from limetutor.interactive import frames
from limetutor.plotting.style import new_figure


def test_differences_give_every_frame_back_exactly():
    pictures, start = all_frames()
    data = json.loads(json.dumps(frames.encode(pictures, start)))
    assert len(data["groups"]) == 2  # with and without the second curve
    for number, picture in enumerate(pictures):
        found = frames.decode(pictures[start], data, number)
        assert frames.markup(found) == frames.markup(picture)
    numbers = [column for group in data["groups"] for column in group["columns"] if column[2]]
    assert numbers, "no column is stored as numbers"


def test_the_default_outside_the_first_place_of_its_group():
    pictures, _ = all_frames()
    for start in range(len(pictures)):
        data = frames.encode(pictures, start)
        on_page = [group for group in data["groups"] if group["base"] is None]
        assert len(on_page) == 1
        for number in (0, start, len(pictures) - 1):
            found = frames.decode(pictures[start], data, number)
            assert frames.markup(found) == frames.markup(pictures[number])


def test_a_marker_keeps_a_digit_more_than_a_curve():
    """A marker is small and drawn many times over: a tenth of a point would change its shape."""
    fig = new_figure()
    fig.subplots().plot([0.123, 0.456], [0.2, 0.7], "x-", ms=3.37)
    root = frames.clean(frames.svg(fig), "p", ALT)
    in_defs = {id(e) for defs in root.iter("defs") for e in defs.iter("path")}
    digits = {True: set(), False: set()}
    for path in root.iter("path"):
        for number in path.get("d", "").replace("L", " ").replace("M", " ").split():
            if "." in number:
                digits[id(path) in in_defs].add(len(number.partition(".")[2]))
    assert max(digits[True]) == 2 and max(digits[False]) == 1
