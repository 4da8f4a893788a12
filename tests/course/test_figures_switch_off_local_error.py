"""What the figures of switch-off and local error show, recomputed another way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import limetutor as lt
from limetutor.course.figures import local_error, switch_off
from limetutor.plotting.style import new_figure

Q = stats.norm.ppf(0.75)


def landed(xi: float, nu: float, lo: float, hi: float) -> float:
    """Mean of the tilted law within a box, by scipy's truncated normal."""
    mean, sd = xi / (1 + nu**2), nu / np.hypot(1, nu)
    return stats.truncnorm((lo - mean) / sd, (hi - mean) / sd, mean, sd).mean()


def test_the_risk_curve_counts_signs_that_differ_from_those_at_a_wide_bandwidth():
    X = np.random.default_rng(0).normal(size=(40, 3))
    world, f = lt.Gaussian(), lt.Linear(np.ones(3))
    line = switch_off.risk_curve(X, world).axes[0].lines[0]
    for k in (0, 30, 50, 70):
        nu = switch_off.NU[k]
        flipped = [
            np.sign(lt.limit(f, x, world, nu).coef) != np.sign(lt.limit(f, x, world, 1e3).coef)
            for x in X
        ]
        assert line.get_ydata()[k] == pytest.approx(np.mean(flipped), abs=1e-12)
    assert line.get_ydata()[0] > 0.1 > line.get_ydata()[-1] == 0


def test_the_tug_of_war_ends_even_at_the_critical_bandwidth():
    assert "pulls neither way" in switch_off.tug_of_war(new_figure(), 0.53, 0.432)
    fig = new_figure()
    assert "is -0.17" in switch_off.tug_of_war(fig, 0.1, 0.6)
    curve = fig.axes[1].lines[1]
    crossing = curve.get_xdata()[np.argmax(curve.get_ydata() > 0)]
    assert crossing == pytest.approx(np.sqrt((2 * 0.6 - Q) / Q), rel=0.05)  # the grid's step


@pytest.mark.parametrize(("p", "boxes"), [(2, 0), (4, 2), (5, 2), (10, 8)])
def test_the_map_counts_the_boxes_with_a_critical_bandwidth(p, boxes):
    said = switch_off.sign_map(new_figure(), p)
    assert f"{boxes} of the {p} boxes" in said
    assert ("middle box" in said) == (p % 2 == 1)


@pytest.mark.parametrize(("xi", "lo", "hi"), [(0.961, Q, np.inf), (0.6, 0, Q), (-1.5, -np.inf, -Q)])
def test_the_surrogate_lands_on_the_mean_of_its_box(xi, lo, hi):
    said = local_error.landing(new_figure(), 1.0, xi)
    assert f"were at {landed(xi, 1.0, lo, hi):.2f} instead of {xi:.2f}" in said


def test_the_saw_tooth_jumps_where_the_box_changes():
    jump = landed(Q, 1.0, Q, np.inf) - landed(Q, 1.0, 0, Q)
    assert f"jumps by {jump:.2f}" in local_error.across_the_boxes(new_figure(), 1.0)
