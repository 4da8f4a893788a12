"""A figure as a picture for a page: matplotlib's own, tidied."""

import re

import numpy as np
import pytest
from plain_svg import normal, plain_picture

from limetutor.plotting import svg
from limetutor.plotting.style import color, new_figure, styled


def test_a_marker_keeps_a_digit_more_than_a_curve():
    """A marker is small and drawn many times over: a tenth of a point would change its shape."""
    fig = new_figure()
    fig.subplots().plot([0.123, 0.456], [0.2, 0.7], "x-", ms=3.37, alpha=0.5)
    root = svg.picture(fig, "A line.", "p")
    in_defs = {id(e) for defs in root.iter("defs") for e in defs.iter("path")}
    digits = {True: set(), False: set()}
    for path in root.iter("path"):
        for number in path.get("d", "").replace("L", " ").replace("M", " ").split():
            if "." in number:
                digits[id(path) in in_defs].add(len(number.partition(".")[2]))
    assert max(digits[True]) == 2 and max(digits[False]) == 1


@styled
def test_all_that_a_figure_may_hold_is_matplotlibs_own():
    """Texts and formulas, shapes, clouds, pictures, clips: as matplotlib writes them, if longer."""
    fig = new_figure()
    (left, right) = fig.subplots(1, 2)
    left.set_title('<b> & "c" $\\alpha^2$')
    left.text(0.5, 0.5, "two\nlines", rotation=30, clip_on=True, bbox={"fc": color.box})
    left.scatter([0.1, 0.5, 0.9] * 4, [0.2, 0.4] * 6, c=color.xi, alpha=0.3)
    left.annotate("here", (0.2, 0.2), (0.7, 0.7), arrowprops={"arrowstyle": "->"})
    left.fill_between([0, 1], [0, 1], hatch="/")
    right.imshow([[0, 1], [2, 3]])
    right.plot([0, 1], [0, 1], "o--", rasterized=True)
    fig.legend(["a"], loc="upper right")
    ours = normal(svg.picture(fig, "All.", "p"))
    assert ours == normal(plain_picture(fig, "All."))


def test_a_hatch_is_found_under_its_name():
    """It is the one thing that a style refers to."""
    fig = new_figure()
    fig.subplots().bar([1], [1], hatch="//")
    root = svg.picture(fig, "A bar.", "p")
    (pattern,) = root.iter("pattern")
    assert f"url(#{pattern.get('id')})" in svg.markup(root)


def test_ids_start_with_the_prefix_and_are_in_order_of_appearance():
    fig = new_figure()
    fig.subplots().plot([1, 2], [1, 2], "h", [1, 2], [2, 1], "8", alpha=0.5)
    root = svg.picture(fig, "Points.", "mine")
    ids = [el.get("id") for el in root.iter() if el.get("id")]
    assert sorted(ids) == sorted(f"mine-{k}" for k in range(len(ids))) and len(ids) >= 3


@pytest.mark.parametrize(("shape", "elements"), [("o", 2), (".", 1), ("X", 1), ("|", 1)])
def test_markers_are_where_matplotlib_has_them_and_as_large(shape, elements):
    """In one element, or two with a rim, instead of one for each; see-through ones stay, but for discs."""
    fig = new_figure()
    (ax := fig.subplots()).set_axis_off()
    look = {"mfc": color.sample, "mec": color.ink, "mew": 0 if shape == "." else 1.5, "ms": 8}
    (line,) = ax.plot([1, 2, np.nan, 4], [1, 5, 3, 2], shape, **look)
    _, *found = [path.get("d") for path in svg.picture(fig, "Marks.", "p").iter("path")]
    assert len(found) == elements
    xy = np.array(re.findall(r"-?[\d.]+", found[0]), float).reshape(3, -1, 2)
    x, y = (line.get_transform().transform(line.get_xydata()[[0, 1, 3]]) * 72 / fig.dpi).T
    middle = (xy.max(axis=1) + xy.min(axis=1)) / 2
    np.testing.assert_allclose(middle, np.column_stack([x, 3.6 * 72 - y]), atol=0.11)
    np.testing.assert_allclose(np.ptp(xy[..., 0], axis=1), 8 * (shape == "X"), atol=0.11)
    line.set_alpha(0.5)
    assert len([*svg.picture(fig, "Marks.", "p").iter("use")]) == (0 if shape == "." else 3)


def test_an_image_that_is_drawn_twice_is_kept_once():
    fig = new_figure()
    noise = np.random.default_rng(0).random((9, 9, 3))
    for ax in fig.subplots(1, 2):
        ax.imshow(noise, interpolation="none")
    root = svg.picture(fig, "Twice the same.", "p")
    (image,) = root.iter("image")
    uses = list(root.iter("use"))
    places = {use.get("transform") for use in uses if use.get("href") == "#" + image.get("id")}
    assert len(places) == 2 and image.get("transform") is None
    assert image.get("id").startswith("p")
