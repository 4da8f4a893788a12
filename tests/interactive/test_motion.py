"""Between the stops: what may be interpolated, and where a picture jumps."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from pads import CONTROLS, panels

from limetutor.interactive import frames, motion
from limetutor.interactive.controls import Choice, Slider
from limetutor.interactive.frame_table import FrameTable
from limetutor.interactive.layers import in_layers

XI = Slider(0, 10, 5, stops=11, fmt="{:.3g}")


def circle(cx, cy=0.0):
    frame = ET.Element("g")
    ET.SubElement(frame, "circle", {"cx": f"{cx:g}", "cy": f"{round(float(cy), 1):g}"})
    return frame


@pytest.mark.parametrize(
    ("height", "jumps"),
    [
        (lambda x: 7 * x, []),
        (lambda x: 0.5 * x**2, []),  # bent by 0.125 in the middle
        (lambda x: 4 * x**2, [*range(10)]),  # by one
        (lambda x: 3 * x + 8 * (x > 6.2), [6]),  # a step
        (lambda x: 3 * x + 1.3 * (x > 6.2), []),  # of less than a pixel on either side
        (lambda x: 20 * abs(x - 3.5), [3]),  # a bend between two stops, not seen at them
        (lambda x: 20 * abs(x - 3), []),  # a bend at a stop
    ],
)  # fmt: skip
def test_a_jump_is_where_the_middle_is_not_the_mean(height, jumps):
    drawn = []

    def middle(stops, control):
        drawn.append(stops[control])
        return circle(30 * (stops[control] + 0.5), height(stops[control] + 0.5))

    roots = [circle(30 * x, height(x)) for x in range(11)]
    layer = frames.encode(roots, {4: 11}, 0)
    motion.mark_jumps(layer, roots, {4: 11}, [4], middle)
    marked = {column[1]: column[6] for column in layer["groups"][0]["columns"] if len(column) > 6}
    assert marked == ({"cy": [[4, *jumps]]} if jumps else {})
    assert len(drawn) < 5 or len(jumps) > 5, "a smooth picture costs no drawings"
    still = frames.encode(roots, {4: 11}, 0)
    motion.mark_jumps(
        still, roots, {4: 11}, [], middle
    )  # nothing is between the stops of this control
    assert not any(len(column) > 6 for column in still["groups"][0]["columns"])


def test_of_two_controls_each_has_its_jumps():
    """Only where it jumps: the step at a = 4.4 is there if b is above 2."""
    sizes = {0: 9, 2: 6}

    def places(a, b):
        return circle(10 * a + (20 if a > 4.4 and b > 2 else 0), 12 * b + 9 * (b > 3.1))

    roots = [places(a, b) for b in range(6) for a in range(9)]
    layer = frames.encode(roots, sizes, 0)

    def middle(at, moved):
        return places(*(at[k] + 0.5 * (k == moved) for k in sizes))

    motion.mark_jumps(layer, roots, sizes, [0, 2], middle)
    marked = {column[1]: (column[2], column[6]) for column in layer["groups"][0]["columns"]}
    across = [4 + 9 * b for b in (3, 4, 5)]
    up = [a + 9 * 2 for a in range(5, 9)]
    assert marked == {"cx": ([0, 2], [[0, *across], [2, *up]]), "cy": ([2], [[2, 3]])}


def test_a_table_draws_the_middle_of_a_slider():
    """Half way on its own scale; whole numbers and options have none."""
    drawn = []

    def step(axes, nu, n):
        drawn.append((nu, n))
        axes[1].plot([0.1, 10], [8 * np.sign(nu - 1.2), n], "k")

    @in_layers(panels, step)
    def figure(nu, n):
        return f"ν = {nu}, n = {n}."

    nu = CONTROLS["nu"]
    table = FrameTable(figure, (6.4, 3.6), {"nu": nu, "n": Slider(1, 3, 1, 3, fmt="{:d}")}, "p")
    before = len(drawn)
    data = table.data()
    assert data["glides"] == [True, False] and not Choice(["a", "b"]).glides
    assert {value for value, _ in drawn[before:]} <= {nu.between(k) for k in range(6)}
    ((_, *places),) = data["layers"][1]["groups"][0]["columns"][0][6]
    assert [nu.values[place % nu.stops] for place in places] == 3 * [
        1.0
    ]  # the next one is above 1.2
    assert nu.between(2) == pytest.approx(np.sqrt(nu.values[2] * nu.values[3]))
    assert Slider(0, 3, 1, stops=4).between(1) == 1.5
