"""What the figures of the chapter on the switch-off show, recomputed another way."""

import numpy as np
import pytest
from drawing import drawn, in_colour, said, xy
from matplotlib.path import Path
from scipy import optimize, stats

import limetutor as lt
from limetutor.course.figures import parts, switch_off
from limetutor.plotting.style import color

Q = stats.norm.ppf(0.75)


def coefficient(xi: float, nu: float, p: int) -> float:
    """Of f(x) = x with p boxes."""
    return lt.limit(lt.Linear([1]), [xi], lt.Gaussian(p=p), nu).coef[0]


def test_the_risk_curve_tells_turning_from_opposing():
    X = np.random.default_rng(0).normal(size=(40, 3))
    world, f = lt.Gaussian(), lt.Linear(np.ones(3))
    fig = switch_off.risk_curve(lt.risk(X, world, parts.NU[::10]))
    hues = (color.negative, color.ink, color.positive)
    ((opposed,), (turned,), (back,)) = (in_colour(fig.axes[0], hue) for hue in hues)
    for k in (0, 3, 5, 7):
        nu = parts.NU[10 * k]
        here, far = (np.array([lt.limit(f, x, world, at).coef for x in X]) for at in (nu, 1e3))
        assert opposed.get_ydata()[k] == pytest.approx(np.mean(here < 0))
        assert turned.get_ydata()[k] == pytest.approx(np.mean(here * far < 0))
        assert back.get_ydata()[k] == pytest.approx(np.mean((here * far < 0) & (here > 0)))


def test_the_tug_of_war_ends_even_at_the_critical_bandwidth():
    assert "pulls neither way" in said(switch_off.tug_of_war, 0.53, 0.432)
    text, fig = drawn(switch_off.tug_of_war, 0.1, 0.6)
    assert "is -0.17" in text
    curve = fig.axes[1].lines[1]
    crossing = curve.get_xdata()[np.argmax(curve.get_ydata() > 0)]
    assert crossing == pytest.approx(np.sqrt((2 * 0.6 - Q) / Q), rel=0.05)  # the grid's step
    # only a box with two ends has a middle
    assert f"the middle of the box is {Q / 2:.2f}" in said(switch_off.tug_of_war, 1.0, 0.2)
    assert "the box has no middle" in said(switch_off.tug_of_war, 1.0, 0.961)


@pytest.mark.parametrize(("p", "boxes"), [(2, 0), (3, 0), (4, 2), (5, 2), (10, 8)])
def test_the_map_counts_the_boxes_in_which_a_sign_turns(p, boxes):
    text = said(switch_off.sign_map, p)
    assert (f"in {boxes} of the {p} boxes" in text) == (boxes > 0)
    assert ("turns nowhere" in text) == (boxes == 0)


@pytest.mark.parametrize("p", range(2, 13))
def test_the_map_says_what_the_limits_do(p):
    """The highest bandwidth and the signs at a wide one, from limits just beside every edge."""
    text, edges = said(switch_off.sign_map, p), parts.inner_edges(p)
    places = np.concatenate([edges - 1e-9, edges + 1e-9])
    limits = [lt.limit(lt.Linear([1]), [xi], lt.Gaussian(p=p), 50.0) for xi in places]
    agrees_above = np.array([li.coef[0] > 0 for li in limits]) == (places > 0)
    assert agrees_above.all() == ("other way round" not in text)
    highest = np.nanmax([0, *(li.critical_nu[0] for li in limits)])
    printed = float(text.split("up to ")[1][:4]) if "up to" in text else 0.0
    assert highest == pytest.approx(printed, abs=0.0051)  # printed with two digits


@pytest.mark.parametrize("p", [2, 4, 5, 9, 10])
def test_the_colours_of_the_map_are_the_signs(p):
    """Every point of a grid lies in the area of its sign and not in the other."""
    agrees, opposes, _ = switch_off.regions(parts.inner_edges(p))
    rng = np.random.default_rng(p)
    places = np.column_stack([rng.uniform(-1.99, 1.99, 300), rng.uniform(0.1, 1.59, 300)])
    inside = [
        np.any([Path(area).contains_points(places) for area in areas], axis=0)
        for areas in (agrees, opposes)
    ]
    sign = np.array([coefficient(xi, nu, p) > 0 for xi, nu in places])
    # the curve is drawn by 20 points a box: places within its chords may fall on the other side
    assert np.mean(inside[0] != sign) < 0.01 and np.mean(inside[1] == sign) < 0.01


@pytest.mark.parametrize("p", [4, 10])
def test_the_curve_of_the_map_is_where_the_coefficient_vanishes(p):
    _, fig = drawn(switch_off.sign_map, p)
    (curve,) = in_colour(fig.axes[0], color.ink)
    inner = [(xi, nu) for xi, nu in xy(curve) if nu > 0.2 and xi not in parts.inner_edges(p)]
    assert len(inner) > 5 * (p - 2)  # a curve in every box with two ends
    for xi, nu in inner[::4]:
        zero = optimize.brentq(lambda at, xi=xi: coefficient(xi, at, p), nu / 1.05, nu * 1.05)
        assert nu == pytest.approx(zero, rel=1e-6)


@pytest.mark.parametrize("p", [2, 3, 4, 8, 32])
@pytest.mark.parametrize(("xi", "nu"), [(0.432, 0.53), (-1.5, 1.6), (0.6, 0.1), (-0.3, 0.9)])
def test_the_point_of_the_map_tells_the_limit_there(p, xi, nu):
    """The sentence has the coefficient, and the law below is the one behind it."""
    text, fig = drawn(switch_off.touched_map, xi, nu, p)
    coef = coefficient(xi, nu, p)
    printed = float(text.split("β = ")[1].split(",")[0].replace("−", "-"))
    assert printed == pytest.approx(coef, abs=0.0051)
    said_sign = "agrees" if coef >= 0.005 else "opposes" if coef <= -0.005 else "as good as zero"
    assert said_sign in text.split(". The sign")[0]
    assert said(switch_off.sign_map, p).split("the sign ")[1].split(".")[0] in text
    top, bottom = fig.axes
    (place,) = in_colour(top, color.xi)
    assert xy(place).tolist() == [[xi, nu]]
    law, mean = in_colour(bottom, color.sample)
    heaviest = xy(law)[np.argmax(xy(law)[:, 1]), 0]
    weights = stats.norm.pdf(xy(law)[:, 0]) * stats.norm.pdf(xy(law)[:, 0], xi, nu)
    heights = xy(law)[:, 1] / xy(law)[:, 1].max()
    np.testing.assert_allclose(heights, weights / weights.max(), atol=0.03)
    assert abs(heaviest - xy(mean)[0, 0]) < 0.08  # the grid's step


def test_on_a_curve_of_the_map_the_mean_stands_on_the_middle_of_the_box():
    _, fig = drawn(switch_off.touched_map, 0.432, 0.53, 4)
    ((mean, _),) = xy(in_colour(fig.axes[1], color.sample)[1])
    ((middle, _), _) = xy(in_colour(fig.axes[1], color.box)[0])
    assert mean == pytest.approx(middle, abs=0.002) and middle == pytest.approx(Q / 2)
    # and the point is a handle of both controls
    gids = [artist.get_gid() for ax in fig.axes for artist in ax.lines if artist.get_gid()]
    assert sorted(gids) == ["handle:xi", "handle:xi nu"]


def test_before_and_after_have_a_panel_and_a_cross_for_every_feature_each():
    f, xi, world = lt.Linear([1.0, 2.0]), [0.3, 0.9], lt.Gaussian()
    runs = lt.repeat(f, xi, world, 1.0, n=200, runs=3)
    fig = switch_off.before_and_after(runs, runs, (runs.mean, -runs.mean))
    for ax, beta in zip(fig.axes, (runs.mean, -runs.mean), strict=True):
        (crosses,) = in_colour(ax, color.truth, "x")
        np.testing.assert_array_equal(xy(crosses), np.column_stack([[1, 2], beta]))
