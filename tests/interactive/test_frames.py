"""Many frames of one figure, stored as one picture and what differs."""

from __future__ import annotations

import json

from waves import all_frames

from limetutor.interactive import frames


def test_differences_give_every_frame_back_exactly():
    pictures, _, start = all_frames()
    data = json.loads(json.dumps(frames.encode(pictures, start)))
    assert len(data["groups"]) == 2  # with and without the second curve
    for number, picture in enumerate(pictures):
        found = frames.decode(pictures[start], data, number)
        assert frames.markup(found) == frames.markup(picture)
    numbers = [column for group in data["groups"] for column in group["columns"] if column[2]]
    assert numbers, "no column is stored as numbers"


def test_the_default_outside_the_first_place_of_its_group():
    pictures, _, _ = all_frames()
    for start in range(len(pictures)):
        data = frames.encode(pictures, start)
        on_page = [group for group in data["groups"] if group["base"] is None]
        assert len(on_page) == 1
        for number in (0, start, len(pictures) - 1):
            found = frames.decode(pictures[start], data, number)
            assert frames.markup(found) == frames.markup(pictures[number])
