"""Forms: their means against enumeration and against hypergeometric probabilities."""

import numpy as np
import pytest
from scipy import stats
from switch_forms import WORLDS

from limetutor.switches.fits import fit_form
from limetutor.switches.forms import Group, Rule, Switched, polynomial
from limetutor.switches.switches import all_masks


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize(("d", "m"), [(90, 70), (1200, 1100)])  # more settings than a double holds
def test_conditions_on_many_switches_keep_their_digits(kind, d, m):
    """ "About half of these are on", against hypergeometric chances and three equations."""
    c, world = np.arange(m // 2 - 8, m // 2 + 8), WORLDS[kind](d)
    group = Group(tuple(range(m)), (1,) * m, frozenset(c.tolist()))
    form = Switched(0.0, np.zeros(d), (Rule(2.0, (group,)),))
    k = np.arange(d + 1)[:, None]
    chance = 2.0 * stats.hypergeom(d, m, k).pmf(c)
    assert np.allclose(form.by_level(), chance.sum(axis=1), rtol=0, atol=1e-10)
    mass = np.exp(world.log_measure)
    rhs = [mass @ (chance * part).sum(axis=1) for part in (1, c / m, (k - c) / (d - m))]
    a0, a1, a2 = (world.alpha(p) for p in range(3))
    gram = [
        [a0, m * a1, (d - m) * a1],
        [a1, a1 + (m - 1) * a2, (d - m) * a2],
        [a1, m * a2, a1 + (d - m - 1) * a2],
    ]
    found = fit_form(form, world)
    expected = np.linalg.solve(gram, rhs)
    shown = [found.intercept, found.coef[0], found.coef[-1]]
    assert np.allclose(shown, expected, rtol=1e-6, atol=1e-9)  # scipy's chances have ten digits
    assert np.ptp(found.coef[:m]) < 1e-14 and np.ptp(found.coef[m:]) < 1e-14


def test_a_polynomial_is_a_sum_of_rules():
    form = polynomial(3, {(): 1.0, (0,): 2.0, (0, 2, 2): -3.0})
    z = all_masks(3)
    assert np.array_equal(form(z), 1 + 2 * z[:, 0] - 3.0 * (z[:, 0] & z[:, 2]))
