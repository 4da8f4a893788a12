"""Fits of functions of switches: closed forms against exact sums over all masks, sampling against both."""

from math import comb

import mpmath
import numpy as np
import pytest
from switch_forms import ROWS, WORLDS, forms_of, logistic, measure

from limetutor.switches.fits import SwitchRows, fit_form, fit_sampled
from limetutor.switches.forms import Enumerated, additive, rule
from limetutor.switches.switches import all_masks, text_switches


def solved(kind, d, nu, f, rows):
    """Intercept and coefficients from the normal equations, summed over all masks."""
    mp = mpmath.MPContext()
    mp.dps = 60 if nu >= 0.1 else 5000  # at small nu most levels weigh next to nothing
    z = all_masks(d)
    y, kept = f(z), z.sum(axis=1)
    design = np.column_stack([np.ones(len(z), int), z.astype(int)])
    others = 1 if rows.n is None else rows.n - rows.own_row
    gram, response = mp.zeros(d + 1), mp.zeros(d + 1, 1)
    for k, mass in enumerate(measure(kind, d, nu, mp)):
        part, values = design[kept == k], y[kept == k]
        products, each = part.T @ part, mass * others / comb(d, k)
        for i in range(d + 1):
            response[i] += each * mp.fsum(map(float, values[part[:, i] == 1]))
            for j in range(d + 1):
                gram[i, j] += each * int(products[i, j])
    if rows.n is not None:
        at_xi = float(f(np.ones((1, d), bool))[0])
        for i in range(d + 1):
            response[i] += at_xi * rows.own_row
            gram[i, i] += rows.ridge * (i > 0)
            for j in range(d + 1):
                gram[i, j] += int(rows.own_row)
    return np.array([float(v) for v in mp.lu_solve(gram, response)])


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize(
    ("d", "nu"), [(2, 0.01), (2, 0.25), (5, 0.1), (5, 0.25), (7, 0.25), (7, 3)]
)
def test_a_fit_is_that_of_all_masks(kind, d, nu):
    world = WORLDS[kind](d, nu)
    for form in forms_of(d):
        for rows in ROWS.values():
            found = fit_form(form, world, rows)
            expected = solved(kind, d, nu, form, rows)
            # worst seen: 3e-15 of the largest
            off = np.append(found.intercept, found.coef) - expected
            assert np.abs(off).max() <= 1e-12 * max(1, np.abs(expected).max())


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("nu", [0.01, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("d", [2, 30, 2000])
def test_a_sum_comes_out_as_it_is_at_every_width(kind, nu, d):
    a = np.random.default_rng(0).normal(size=d)
    found = fit_form(additive(a, 4.0), WORLDS[kind](d, nu))
    assert np.allclose(found.coef, a, rtol=0, atol=1e-11)  # of sums with up to 2000 terms
    assert found.intercept == pytest.approx(4.0, abs=1e-9)
    assert found.local_prediction == pytest.approx(4.0 + a.sum(), abs=1e-9)


def in_digits(kind, d, nu, p, rows):
    """Intercept, coefficients in and out of a rule on p of d switches, at 60 digits and more.

    By symmetry three unknowns are left; their equations are those of all d + 1.
    """
    mp = mpmath.MPContext()
    mp.dps = 60 if nu > 0.1 else 2500
    mass = list(measure(kind, d, nu, mp))

    def alpha(on):
        ratio = lambda k: mp.fprod(mp.mpf(max(k - i, 0)) / (d - i) for i in range(on))  # noqa: E731
        return mp.fsum(m * ratio(k) for k, m in enumerate(mass))

    others = 1 if rows.n is None else rows.n - rows.own_row
    own, ridge = (int(rows.own_row), rows.ridge) if rows.n else (0, 0)
    a0, a1, a2 = (others * alpha(on) + own for on in range(3))
    within, beyond = others * alpha(p) + own, others * alpha(p + 1) + own
    gram = mp.matrix(
        [
            [a0, p * a1, (d - p) * a1],
            [a1, a1 + (p - 1) * a2 + ridge, (d - p) * a2],
            [a1, p * a2, a1 + (d - p - 1) * a2 + ridge],
        ]
    )
    return np.array([float(v) for v in mp.lu_solve(gram, mp.matrix([within, within, beyond]))])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize(
    ("d", "p", "nu"),
    [(3, 2, 0.01), (3, 2, 100.0), (40, 3, 0.01), (40, 3, 0.25), (2000, 2, 0.25), (2000, 2, 100.0)],
)
@pytest.mark.parametrize("rows", [ROWS["limit"], ROWS["lime"]], ids=["limit", "lime"])
def test_rules_keep_their_digits(kind, d, p, nu, rows):
    found = fit_form(rule(d, range(p)), WORLDS[kind](d, nu), rows)
    expected = in_digits(kind, d, nu, p, rows)
    shown = np.array([found.intercept, found.coef[0], found.coef[-1]])
    # seen: 2e-11 for 2000 switches, whose coefficients are sums of as many shares
    assert np.allclose(shown, expected, rtol=1e-9, atol=1e-10)


def test_one_word_is_explained_with_its_own_row():
    """lime removes the only word in every sample; the text itself is its one other row."""
    found = fit_form(additive([2.0], 1.0), text_switches(1), SwitchRows(5000, 1e-9, True))
    assert found.coef[0] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("rows", [ROWS["limit"], ROWS["lime"]], ids=["limit", "lime"])
@pytest.mark.parametrize("shape", ["probability", "number"])
def test_sampled_fits_are_right_within_their_errors(kind, rows, shape):
    d = 10
    f = logistic(d) if shape == "probability" else lambda z: np.exp(z @ np.linspace(-1, 1, d))
    world = WORLDS[kind](d)
    exact = fit_form(Enumerated(f, d), world, rows)
    found = [fit_sampled(f, world, 400, seed, rows) for seed in range(12)]
    off = np.array([np.append(r.coef - exact.coef, r.intercept - exact.intercept) for r in found])
    z = off / [np.append(r.stderr, r.intercept_stderr) for r in found]
    assert 0.75 < np.sqrt(np.mean(z**2)) < 1.3  # 12 runs of 11 dependent numbers
    assert np.max(np.abs(z)) < 5
    assert found[0].calls == 401 and found[0].method == "monte carlo"


def test_a_seed_gives_the_same_numbers():
    world, f = text_switches(6), logistic(6)
    one, other = (fit_sampled(f, world, 300, 7) for _ in range(2))
    assert np.array_equal(one.coef, other.coef) and np.array_equal(one.stderr, other.stderr)


@pytest.mark.parametrize("answers", [np.zeros(200), np.full(200, 1e90), np.arange(200) * 1e97])
def test_answers_of_any_size_are_fitted(answers):
    world = text_switches(12)
    f = lambda z: answers[: len(z)] if len(z) == 200 else answers[:1]  # noqa: E731
    found = fit_sampled(f, world, 200, 0)
    assert np.all(np.isfinite(found.coef)) and np.all(np.isfinite(found.stderr))
    if np.ptp(answers) == 0:
        assert np.all(found.coef == 0) and found.intercept == answers[0]
