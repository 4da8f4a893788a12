"""Checks of the fit: its local error, penalties and xi's own row."""

import warnings

import numpy as np
import pytest
from audited_rows import HEALTHY, WORLD, assert_states, small_width
from scipy import stats

import limetutor as lt
from limetutor.auditing.checks.fit import severity_of_error
from limetutor.core.theory import limit_of
from limetutor.many.explain_many import explain_quietly


def test_the_row_of_xi_is_reported_where_it_decides():
    found = lt.audit(*small_width(0.5))
    assert found["own-row"].severity == "serious" and "decides" in found["own-row"].sentence
    assert_states(found["own-row"], found.case.names, 1, 5000, found.case.limit.correction.weight)
    moved = lt.audit(*small_width(0.65))["own-row"]
    assert moved.severity == "warning" and moved.numbers["weight"] > 1
    # what it says the row moves is what the whole equations say
    case = lt.audit(*small_width(0.65)).case
    at = limit_of(case.problem, case.ridge, case.n)
    row = np.max(np.abs(at.coef - at.surrogate.beta * at.shrinkage))
    assert moved.numbers["pulled"] == pytest.approx(row, rel=1e-9)
    assert "own-row" not in lt.audit(*small_width(None))


@pytest.mark.parametrize("kind", ["limit", "explanation", "ridge"])
def test_a_surrogate_off_by_more_than_the_coefficients(kind):
    f, xi, world, nu = lt.Linear([5.0, -3.0], 1.0), np.array([3.6, -3.4]), WORLD, 3.0
    ridge = 4000.0 if kind == "ridge" else 0.0
    subject = lt.limit(f, xi, world, nu)
    if kind != "limit":
        subject = lt.explain(f, xi, world, nu, n=50_000, seed=0, ridge=ridge)
    finding = lt.audit(subject)["local-error"]
    assert finding.severity == "note"  # the comparisons of boxes stand
    assert finding.features == ("x1", "x2")
    # by hand: outer boxes under the tilted normal, their mean less xi, and what ridge takes off
    mean, sd, q = xi / 10, 3 / np.sqrt(10), stats.norm.ppf(0.75)
    laws = [
        stats.truncnorm((q - mean[0]) / sd, np.inf, mean[0], sd),
        stats.truncnorm(-np.inf, (-q - mean[1]) / sd, mean[1], sd),
    ]
    inside = np.array([law.mean() for law in laws])
    alpha = stats.norm.sf((q - np.abs(mean)) / sd)
    s, C = alpha * (1 - alpha), np.prod(np.sqrt(0.9) * np.exp(-(xi**2) / 20))
    lost = 1 - s / (s + ridge / (50_000 * C))
    parts = f.a * (inside - xi) - f.a * (inside - mean) * lost
    assert finding.numbers["parts"] == pytest.approx(parts, rel=1e-9)
    lasting, top = parts.sum(), np.abs(subject.coef).max()
    assert finding.numbers["lasting_error"] == pytest.approx(lasting, rel=1e-9)
    truth = f(xi[None])[0]
    off = subject.local_prediction - truth
    assert off == pytest.approx(lasting, abs=0.15)
    centre = subject.intercept + alpha @ subject.coef
    accounted = 1 + lasting / (truth - centre)
    assert finding.numbers["accounted"] == pytest.approx(accounted, rel=1e-6)
    assert accounted < 0.5
    values = [off, truth, subject.local_prediction, abs(lasting) / top, lasting, *parts, accounted]
    assert_states(finding, ("x1", "x2"), *values)


def test_noise_is_not_a_local_error():
    """A surrogate that misses f(xi) by chance is a matter of noise."""
    f, xi, world, nu = HEALTHY
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.FitWarning)
        audits = [lt.audit(lt.explain(f, xi, world, nu, n=30, seed=s)) for s in range(20)]
    assert not any("local-error" in found for found in audits)
    assert all("noise" in found or "few-samples" in found for found in audits)


def test_a_penalty_that_shrinks():
    f, xi, world, _ = HEALTHY
    ex = lt.explain(f, xi, world, 0.5, n=300_000, seed=0, kernel="mismatch", ridge=1e4)
    finding = lt.audit(ex)["ridge"]
    w = np.exp(-1 / (2 * 0.5**2))
    C = (0.25 + 0.75 * w) ** 4
    alpha = 0.25 / (0.25 + 0.75 * w)
    lost = 1 - 1 / (1 + 1e4 / (3e5 * C * alpha * (1 - alpha)))
    assert_states(finding, ex.names, 1e4, lost, (3e5 * C, 0.005))
    assert len(finding.features) == 4
    free = lt.explain(f, xi, world, 0.5, n=300_000, seed=0, kernel="mismatch")
    np.testing.assert_allclose(ex.coef / free.coef, 1 - lost, rtol=0.05)


def test_a_surrogate_off_under_a_kernel_without_a_theory():
    f, xi = lt.Linear([5.0, -3.0]), [6.4, -6.2]
    ex = lt.explain(f, xi, WORLD, 1.0, n=20_000, seed=0, kernel="cosine")
    finding = lt.audit(ex)["local-error"]
    assert finding.features == () and "parts" not in finding.numbers
    values = [ex.local_prediction, 50.6, ex.local_prediction - 50.6]
    ratio = abs(values[-1]) / np.abs(ex.coef).max()
    assert_states(finding, ex.names, *values, ratio)


def test_an_error_within_one_and_a_half_intervals_is_noise():
    """For a function nobody has a form of; found and not found, each many times."""
    seen = []
    for seed in range(80):
        ex = explain_quietly(lambda x: np.sin(7 * x[:, 0]), [1.2], lt.Gaussian(), 0.8, 40, seed)
        error = abs(ex.local_prediction - ex.prediction)
        z = error / (stats.t.ppf(0.975, ex.local_freedom) * ex.local_stderr)
        if error > 0.5 * np.max(np.abs(ex.coef)):
            assert ("local-error" in lt.audit(ex)) == (z > 1.5), seed
            seen.append(z)
    # a threshold of 1.3 or 1.7 would be noticed
    assert any(1.3 < z < 1.5 for z in seen) and any(1.5 < z < 1.7 for z in seen)


def test_audits_know_of_selection_and_lasso():
    """The surrogate on one feature has another local error than that on all."""
    f, xi = lt.Linear([3.0, 3.0, 3.0, 3.0]), [1.5, 1.5, 1.5, 1.4]
    for how in ({"features": 1}, {"lasso": 0.6}):
        ex = lt.explain(f, xi, lt.Gaussian(), 1.0, 40_000, seed=0, **how)
        found = lt.audit(ex)["local-error"].numbers
        noise = 4 * ex.local_stderr
        assert abs(found["lasting_error"] - (ex.local_prediction - ex.prediction)) < noise
        assert abs(lt.limit(f, xi, lt.Gaussian(), 1.0).local_error - found["lasting_error"]) > noise
    assert "lasso" in lt.audit(ex)


@pytest.mark.parametrize(
    ("ratio", "accounted", "severity"),
    [
        (0.6, 0.51, None),
        (0.6, 0.49, "note"),  # less than half of what sets the prediction apart
        (1.9, 0.09, "note"),
        (2.1, 0.09, "warning"),  # nothing of it, and far off
        (2.1, 0.11, "note"),
        (2.1, 0.9, "note"),
        (1.9, None, None),
        (2.1, None, "note"),
    ],
)
def test_when_a_surrogate_is_too_far_off(ratio, accounted, severity):
    assert severity_of_error(ratio, accounted) == severity


@pytest.mark.parametrize(("rows", "scarce"), [(19, True), (21, False)])
def test_an_indicator_that_less_than_one_percent_of_the_weight_varies_is_scarce(rows, scarce):
    """The label of 19 or 21 of 2000 rows, seen from afar, where all samples weigh the same."""
    table = np.column_stack([np.arange(2000) < rows, np.arange(2000.0)]).astype(float)
    world = lt.Empirical(table, categorical=[0])
    for xi in (table[0], table[-1]):  # nearly always 0, and nearly always 1
        found = lt.audit(lt.limit(lt.Linear([5.0, 0.001]), xi, world, 1e3, "mismatch"))
        assert ("near-singular" in found) == scarce


@pytest.mark.parametrize(("kept", "severity"), [(0.901, None), (0.899, "warning"), (0.501, "warning"), (0.499, "serious")])  # fmt: skip
def test_a_penalty_is_reported_from_a_tenth_of_a_coefficient_on(kept, severity):
    f, xi, nu, n = lt.Linear([5.0]), [0.3], 1.0, 1000
    plain = lt.limit(f, xi, WORLD, nu)
    weight = n * np.exp(plain.tilt.log_C) * plain.alpha[0] * (1 - plain.alpha[0])
    ridge = weight * (1 / kept - 1)  # which leaves s / (s + ridge / n C)
    found = lt.audit(lt.limit(f, xi, WORLD, nu, ridge=float(ridge), n=n))
    assert (found["ridge"].severity if "ridge" in found else None) == severity
