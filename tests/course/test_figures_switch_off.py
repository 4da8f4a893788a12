"""What the figures of the chapter on the switch-off show, recomputed another way."""

import numpy as np
import pytest
from drawing import drawn, in_colour, xy
from matplotlib.path import Path
from scipy import optimize, stats

import limetutor as lt
from limetutor.course.figures import parts, switch_off
from limetutor.plotting.style import color

Q = stats.norm.ppf(0.75)


def coefficient(xi: float, nu: float) -> float:
    """Of f(x) = x with four boxes."""
    return lt.limit(lt.Linear([1]), [xi], lt.Gaussian(), nu).coef[0]


def test_the_colours_of_the_map_are_the_signs():
    """Every point of a grid lies in the area of its sign and not in the other."""
    agrees, opposes, _ = switch_off.regions()
    rng = np.random.default_rng(4)
    places = np.column_stack([rng.uniform(-1.99, 1.99, 600), rng.uniform(0.1, 1.59, 600)])
    inside = [
        np.any([Path(area).contains_points(places) for area in areas], axis=0)
        for areas in (agrees, opposes)
    ]
    sign = np.array([coefficient(xi, nu) > 0 for xi, nu in places])
    # the curve is drawn by 20 points a box: places within its chords may fall on the other side
    assert np.mean(inside[0] != sign) < 0.01 and np.mean(inside[1] == sign) < 0.01


def test_the_curve_of_the_map_is_where_the_coefficient_vanishes():
    _, fig = drawn(switch_off.touched_map, 0.432, 0.53, "gaussian")
    (curve,) = in_colour(fig.axes[0], color.ink)
    inner = [(xi, nu) for xi, nu in xy(curve) if nu > 0.2 and xi not in parts.inner_edges()]
    assert len(inner) > 10  # a curve in each of two boxes
    for xi, nu in inner[::4]:
        zero = optimize.brentq(lambda at, xi=xi: coefficient(xi, at), nu / 1.05, nu * 1.05)
        assert nu == pytest.approx(zero, rel=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
@pytest.mark.parametrize(("xi", "nu"), [(0.432, 0.53), (-1.5, 1.6), (0.6, 0.1), (-0.3, 0.9)])
def test_the_point_of_the_map_tells_the_limit_there(kernel, xi, nu):
    """The sentence has the coefficient, and the law below is the one behind it."""
    text, fig = drawn(switch_off.touched_map, xi, nu, kernel)
    coef = lt.limit(lt.Linear([1]), [xi], lt.Gaussian(), nu, kernel).coef[0]
    printed = float(text.split("β = ")[1].split(",")[0].replace("−", "-"))
    assert printed == pytest.approx(coef, abs=0.0051)
    said_sign = "agrees" if coef >= 0.005 else "opposes" if coef <= -0.005 else "practically zero"
    assert said_sign in text and f"With {'the paper' if kernel == 'gaussian' else 'lime'}'s" in text
    top, bottom = fig.axes
    (place,) = in_colour(top, color.xi)
    assert xy(place).tolist() == [[xi, nu]]
    law, mean = in_colour(bottom, color.sample)
    lo, hi = parts.box_of(xi)

    def weighed(x):
        mismatch = np.where((x > lo) & (x < hi), 1, np.exp(-1 / (2 * nu**2)))
        return stats.norm.pdf(x) * (stats.norm.pdf(x, xi, nu) if kernel == "gaussian" else mismatch)

    x, heights = xy(law).T
    seen = (np.abs(x) <= 2) & (np.abs(x - lo) > 1e-9) & (np.abs(x - hi) > 1e-9)  # lime's law jumps
    ratio = heights[seen] / weighed(x[seen])
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)  # the same curve up to scale
    grid = np.linspace(-8, 8, 160_001)
    assert xy(mean)[0, 0] == pytest.approx(np.average(grid, weights=weighed(grid)), abs=1e-3)


def test_on_a_curve_of_the_map_the_mean_stands_on_the_middle_of_the_box():
    _, fig = drawn(switch_off.touched_map, 0.432, 0.53, "gaussian")
    ((mean, _),) = xy(in_colour(fig.axes[1], color.sample)[1])
    ((middle, _), _) = xy(in_colour(fig.axes[1], color.box)[0])
    assert mean == pytest.approx(middle, abs=0.002) and middle == pytest.approx(Q / 2)
    # and the point is a handle of both controls
    gids = [artist.get_gid() for ax in fig.axes for artist in ax.lines if artist.get_gid()]
    assert sorted(gids) == ["handle:xi", "handle:xi nu"]


def test_with_the_weights_of_lime_the_map_has_no_curve_and_its_colours_are_the_signs():
    _, fig = drawn(switch_off.touched_map, 0.432, 0.53, "mismatch")
    (curve,) = in_colour(fig.axes[0], color.ink)
    assert len(xy(curve)) == 0
    agrees, opposes, _ = switch_off.lime_regions()
    for xi in (-1.9, -0.68, -0.6, -0.05, 0.05, 0.3, 0.6, 0.7, 1.5):
        for nu in (0.15, 1.55):
            coef = lt.limit(lt.Linear([1]), [xi], lt.Gaussian(), nu, "mismatch").coef[0]
            for areas, here in ((agrees, coef > 0), (opposes, coef < 0)):
                assert any(Path(area).contains_point((xi, nu)) for area in areas) == here
