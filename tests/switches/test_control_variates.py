"""Control variates: what is fitted to f, and what LIME makes of that."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from switch_forms import WORLDS, logistic

from limetutor.switches.control_variates import KernelRidge, fit_logistic, independent_mixture
from limetutor.switches.fits import fit_form, fit_sampled
from limetutor.switches.forms import Enumerated, Group, Rule, Switched, polynomial
from limetutor.switches.sampler import draw
from limetutor.switches.switches import all_masks, counted_switches, image_switches, text_switches


def test_the_logistic_fit_to_a_logistic_function_is_the_function():
    z, f = draw(text_switches(10), 600, np.random.default_rng(2)), logistic(10)
    assert np.max(np.abs(fit_logistic(z, f(z))(z) - f(z))) < 1e-3
    some = np.random.default_rng(0).random((200, 6)) < 0.5
    steep = expit(6 * some @ [1, 0.6, 0.2, 0.2, 0.6, 1] - 7)  # where a whole step goes too far
    assert np.max(np.abs(fit_logistic(some, steep)(some) - steep)) < 1e-3


@pytest.mark.parametrize("world", [text_switches(9), image_switches(9, 0.1), text_switches(2, 3)])
def test_the_limit_of_a_kernel_ridge_regression_is_that_of_all_masks(world):
    rng, d = np.random.default_rng(3), world.d
    regression = KernelRidge(rng.random((20, d)) < 0.6, rng.normal(size=20), rng.uniform(0, 2, d))
    z = all_masks(d)
    away = [(mask != regression.centres) @ regression.reach for mask in z]
    expected = np.exp(-np.array(away)) @ regression.heights
    assert np.allclose(regression(z), expected, rtol=0, atol=1e-12)
    exact = fit_form(Enumerated(regression, d), world)
    found = regression.limit(world, independent_mixture(world))
    assert np.allclose(found, np.append(exact.intercept, exact.coef), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("nu", [0.05, 0.25, 10.0])
@pytest.mark.parametrize("d", [5, 100, 600])
def test_laws_are_mixtures_of_independent_switches(kind, nu, d):
    world = WORLDS[kind](d, nu)
    mixture = independent_mixture(world)
    if mixture is None:  # few of the switches are ever off, or only one
        assert nu == 0.05
        return
    law = np.exp(world.log_measure - world.log_C)
    found = stats.binom(d, mixture.probability).pmf(np.arange(d + 1)[:, None]) @ mixture.share
    assert np.abs(found - law).sum() < 1e-6


def test_a_law_that_is_no_mixture_is_sampled_without_kernel_ridge():
    d, n = 40, 400
    shares = np.zeros(d + 1)
    shares[[10, 11, 30]] = 0.3, 0.3, 0.4
    world = counted_switches(shares, 10.0)
    assert independent_mixture(world) is None
    f = polynomial(d, {(0, 1): 1.0, (2,): -0.5})
    exact = fit_form(f, world)
    z = [
        (found.coef - exact.coef) / found.stderr
        for found in (fit_sampled(f, world, n, seed) for seed in range(8))
    ]
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.2 and np.max(np.abs(z)) < 5


def test_kernel_ridge_learns_rules_from_some_values():
    rng, d = np.random.default_rng(4), 30
    f = Switched(0.0, np.zeros(d), (Rule(1.0, (Group.on(0), Group.on(1), Group.off(2))),))
    world = image_switches(d)
    z, new = draw(world, 400, rng), draw(world, 2000, rng)
    line = np.linalg.lstsq(np.column_stack([np.ones(2000), new]), f(new), rcond=None)
    missed = f(new) - f(z).mean() - KernelRidge.fitted(z, f(z))(new)
    assert np.mean(missed**2) < 0.2 * line[1][0] / 2000  # of what a line leaves
