"""One call for every function of switches, differences of means, and normalised word counts."""

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import switch_forms
from scipy import stats
from scipy.integrate import quad
from sklearn import ensemble, linear_model, naive_bayes
from switch_forms import forms_of

import limetutor as lt
from limetutor.switches import estimators, fits, forms, limits
from limetutor.switches.fits import SwitchRows, fit_form
from limetutor.switches.forms import Enumerated, rule
from limetutor.switches.limits import contrasts, long_text, mean_differences, norm_factors, tilted
from limetutor.switches.switches import (
    all_masks,
    coin_flips,
    counted_switches,
    image_switches,
    text_switches,
)

REFUSED = Path(__file__).parent / "support" / "refused.txt"
NAMES: dict[str, Any] = {}
for module in (ensemble, linear_model, naive_bayes, switch_forms, estimators, fits, forms, limits):
    NAMES |= vars(module)


def test_one_call_for_every_function():
    world = lt.text_switches(6)
    exact = lt.switch_limit(rule(6, [0, 1]), world)
    listed = lt.switch_limit(lambda z: z[:, 0] & z[:, 1], world)
    sampled = lt.switch_limit(lambda z: z[:, 0] & z[:, 1], world, calls=50)
    assert exact.method == listed.method == "exact" and sampled.method == "monte carlo"
    assert exact.calls == 0
    edges = [
        lt.switch_limit(lambda z: z[:, 0], lt.image_switches(d), calls=c).method
        for d, c in ((16, None), (17, None), (5, 32), (5, 31))
    ]
    assert edges == ["exact", "monte carlo"] * 2 and counted_switches([0.5, 0.5]).d == 1
    assert np.allclose(exact.coef, listed.coef, rtol=0, atol=1e-13) and sampled.calls == 51
    assert np.all(np.abs(sampled.coef - exact.coef) <= 5 * sampled.stderr + 0.2)
    many = lt.switch_limit(lambda z: z.mean(axis=1), lt.image_switches(30))
    assert many.method == "monte carlo" and np.allclose(many.coef, 1 / 30, atol=1e-12)
    lime = lt.switch_limit(rule(6, [0, 1]), world, n=5000, ridge=1.0, own_row=True)
    rows = SwitchRows(5000, 1.0, True)
    assert np.allclose(lime.coef, fit_form(rule(6, [0, 1]), world, rows).coef)


@pytest.mark.parametrize("d", [5, 20])
def test_a_function_cannot_change_the_masks_it_gets(d):
    def plain(z):
        return z[:, 0] + 2.0 * z[:, 1]

    def moving(z):
        found = plain(z)
        z[:] = True
        return found

    ours, theirs = (lt.switch_limit(f, text_switches(d)).coef for f in (plain, moving))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("world", [text_switches(7, 0.3), image_switches(7), coin_flips(7, 0.8)])
def test_coefficients_are_differences_of_means_mixed_over_the_number(world):
    for form in forms_of(7):
        found = contrasts(form, world)
        assert np.allclose(found.coef, fit_form(form, world).coef, rtol=0, atol=1e-12)
        assert found.share.sum() == pytest.approx(1.0) and found.share[0] == found.share[-1] == 0
        z, y = all_masks(7), form(all_masks(7))
        for j, k in ((0, 3), (6, 1)):
            on, off = ((z.sum(axis=1) == k) & (z[:, j] == side) for side in (True, False))
            assert found.difference[j, k] == pytest.approx(y[on].mean() - y[off].mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("d", "nu", "ignored"),
    [(3, 0.25, 0.0080), (5, 0.25, 0.0065), (8, 0.25, 0.0022), (5, 0.1, -0.0088)],
)
def test_a_switch_that_the_model_ignores_gets_zero_from_product_weights_and_not_from_lime(
    d, nu, ignored
):
    z = (np.arange(2**d)[:, None] >> np.arange(d)) % 2
    Z, y, v = np.column_stack([np.ones(2**d), z]), z[:, 0] * z[:, 1], z.mean(axis=1)

    def fitted(log_weight):  # least squares over all rows of fair coins
        weight = np.exp(log_weight)
        return np.linalg.solve(Z.T @ (weight[:, None] * Z), Z.T @ (weight * y))[1:]

    cosine, product = fitted(-((1 - np.sqrt(v)) ** 2) / (2 * nu**2)), fitted(1.3 * d * v)
    np.testing.assert_allclose(cosine[2:], ignored, atol=5e-5)
    np.testing.assert_allclose(product[2:], 0, atol=1e-12)
    found = contrasts(rule(d, [0, 1]), image_switches(d, nu))
    np.testing.assert_allclose(found.coef, cosine, atol=1e-12)
    # no contrast of an ignored switch is positive here, and the slope is
    assert found.slope > 0 and np.all(found.difference[2:] <= 0) and found.difference[2:].min() < 0


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.97])
def test_independent_switches_tilt(alpha):
    """One difference of means, which is also the mixture of the exchangeable switches."""
    z = all_masks(7)
    p = np.prod(np.where(z, alpha, 1 - alpha), axis=1)
    for form in forms_of(7):
        means = [
            np.average(form(z)[z[:, j]], weights=p[z[:, j]])
            - np.average(form(z)[~z[:, j]], weights=p[~z[:, j]])
            for j in range(7)
        ]
        assert np.allclose(tilted(form, alpha), means, rtol=0, atol=1e-12)
        mixed = contrasts(form, coin_flips(7, alpha)).coef
        assert np.allclose(mixed, means, rtol=0, atol=1e-12)
    flips = np.exp(coin_flips(9, alpha).log_share)
    assert np.allclose(flips, stats.binom(9, alpha).pmf(np.arange(10)), rtol=1e-13)


def test_equal_shares_are_shapley_values_and_the_last_is_occlusion():
    """Gains over all orders of four switches; f without one switch alone."""
    z = all_masks(4)
    values = np.random.default_rng(4).normal(size=16)
    worth = dict(zip(map(tuple, z.tolist()), values, strict=True))
    gains, orders = np.zeros(4), list(permutations(range(4)))
    for order in orders:
        on = [False] * 4
        for j in order:
            before = worth[tuple(on)]
            on[j] = True
            gains[j] += worth[tuple(on)] - before
    form = Enumerated(lambda _: values, 4)
    shapley = mean_differences(form, np.full(4, 1 / 4))
    np.testing.assert_allclose(shapley, gains / len(orders), atol=1e-12)
    occlusion = mean_differences(form, np.array([0, 0, 0, 1]))
    np.testing.assert_allclose(occlusion, values[-1] - form(~np.eye(4, dtype=bool)), atol=1e-12)


def ratio(top, bottom, nu):
    """Two integrals over the share v of words that stay, with the weight of lime."""

    def weighed(g):
        return quad(lambda v: np.exp(-((1 - np.sqrt(v)) ** 2) / (2 * nu**2)) * g(v), 0, 1)[0]

    return weighed(top) / weighed(bottom)


@pytest.mark.parametrize("nu", [0.05, 0.25, 100])
def test_the_factors_of_a_long_text_are_integrals(nu):
    found = norm_factors(text_switches(2000, nu))
    apart = ratio(lambda v: np.sqrt(v) * (1 - v), lambda v: v * (1 - v), nu)
    mean = ratio(lambda v: v, lambda v: 1.0, nu)
    together = ratio(lambda v: np.sqrt(v) * (v - mean), lambda v: (v - mean) ** 2, nu)
    assert found.apart == pytest.approx(apart, rel=2e-3)
    assert found.together == pytest.approx(together, rel=2e-3)


def normalised(a, h):
    def f(z):
        length = np.sqrt(z @ h**2)
        return 0.3 + np.divide(z @ (a * h), length, out=np.zeros(len(z)), where=length > 0)

    return f


@pytest.mark.parametrize("world", [text_switches, image_switches])
@pytest.mark.parametrize("nu", [0.1, 0.25, 3.0])
def test_equal_words_are_exact(world, nu):
    d, a = 9, np.random.default_rng(0).normal(size=9)
    h = np.full(d, 1 / 3)
    found = lt.switch_limit(normalised(a, h), world(d, nu)).coef
    np.testing.assert_allclose(long_text(a, h, world(d, nu)), found, atol=1e-13)


def test_unequal_words_are_close_and_a_sign_is_foreseen():
    h = np.sqrt([0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    a = np.array([0.1, 1, 1, 1, 1, 1, 1, 1])  # the first speaks for the class, if only just
    found = lt.switch_limit(normalised(a, h), text_switches(8)).coef
    rough = long_text(a, h, text_switches(8))
    assert found[0] < 0 and rough[0] < 0
    assert np.abs(found - rough).max() < 0.15 * np.abs(found).max()


@pytest.mark.parametrize("case", REFUSED.read_text(encoding="utf-8").splitlines()[1:])
def test_what_makes_no_sense_is_refused_in_one_sentence(case):
    source, words = case.split(" | ")
    with pytest.raises((ValueError, TypeError), match=words) as refused:
        eval(source, NAMES | globals())
    assert "\n" not in str(refused.value)
