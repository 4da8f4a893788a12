"""As many samples as an error asks for."""

from dataclasses import replace

import numpy as np
import pytest

import limetutor as lt
from limetutor.core.sampler import SAMPLERS
from limetutor.many.explain_many import explain_quietly
from limetutor.precision.stopping import MAX_FORECAST, Precision, Target, forecast_bar

XI = [0.4, -0.3, 1.2, 0.8]


def bent(x):
    return np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + np.exp(0.5 * x[:, 3])


def run(**how):
    return explain_quietly(bent, XI, lt.Gaussian(), 0.9, **{"seed": 0, "n": 10**6} | how)


@pytest.mark.parametrize("sampler", ["bins", "tilted", "sobol"])
@pytest.mark.parametrize("adjust", [False, True])
def test_the_largest_standard_error_is_below_the_tolerance(sampler, adjust):
    e = run(tol=0.02, sampler=sampler, adjust=adjust)
    assert np.max(e.stderr) <= 0.02
    assert e.n < 10**6 and e.precision.reached and not e.warnings
    assert e.precision.error == np.max(e.stderr) and e.precision.goal == 0.02
    again = run(tol=0.02, sampler=sampler, adjust=adjust)
    assert again.n == e.n
    np.testing.assert_array_equal(again.coef, e.coef)


def test_a_share_of_the_largest_coefficient():
    e = run(rtol=0.05)
    assert np.max(e.stderr) <= 0.05 * np.max(np.abs(e.coef))
    assert e.precision.goal == pytest.approx(0.05 * np.max(np.abs(e.coef)))
    assert "rtol = 0.05" in repr(e) and "forecast" in repr(e) and "forecast" in e._repr_html_()


def test_no_more_is_drawn_than_is_needed():
    """The error falls as the root of n, so n is the square of what a known run has."""
    known = run(n=20_000)
    needed = 20_000 * (np.max(known.stderr) / 0.02) ** 2
    # the last stage is a tenth more than a forecast, or a quarter more than the stage before
    assert 0.85 * needed < run(tol=0.02).n < 1.6 * needed


def test_reaching_the_bound_warns_with_a_forecast():
    with pytest.warns(lt.FitWarning, match="tol = 0.02 was not reached with n = 3,000"):
        e = lt.explain(bent, XI, lt.Gaussian(), 0.9, 3000, 0, tol=0.02)
    assert e.n == 3000 and not e.precision.reached
    assert e.precision.forecast == pytest.approx(3000 * (np.max(e.stderr) / 0.02) ** 2, rel=1e-3)
    assert run(n=e.precision.forecast * 2, tol=0.02).precision.reached


def test_a_forecast_does_not_depend_on_the_units():
    """The square of a ratio of 1e160 would overflow."""
    forecasts = []
    for unit in (1e-3, 1.0, 1e9):
        cents = lambda x, unit=unit: unit * bent(x)  # noqa: E731
        e = explain_quietly(cents, XI, lt.Gaussian(), 0.9, 3000, 0, tol=0.02 * unit)
        forecasts.append(e.precision.forecast)
    assert 25_000 < min(forecasts) == max(forecasts)
    assert run(n=3000, tol=1e-160).precision.forecast == MAX_FORECAST


def test_stages_of_sobol_points_are_one_sequence():
    e = run(sampler="sobol", tol=0.005)
    assert e.n & (e.n - 1) == 0
    np.testing.assert_allclose(e.coef, run(sampler="sobol", n=e.n).coef, rtol=1e-9)


def test_a_constant_function_needs_the_first_stage_only():
    e = explain_quietly(lambda x: np.ones(len(x)), XI, lt.Gaussian(), 0.9, 10**6, 0, rtol=0.1)
    assert e.precision.reached and e.n < 1000


@pytest.mark.parametrize(("d", "n"), [(4, 250), (24, 250), (25, 260), (60, 610)])
def test_the_first_stage_has_250_samples_or_ten_a_column(d, n):
    rows = []
    f = lambda x: np.ones(rows.append(len(x)) or len(x))  # noqa: E731
    e = explain_quietly(f, np.zeros(d), lt.Gaussian(), 5.0, 10**6, 0, rtol=0.1)
    assert e.n == n == max(rows)


def test_chosen_features_and_a_small_bound():
    e = run(tol=0.05, features=2)
    assert np.max(e.stderr) <= 0.05 and np.count_nonzero(e.coef) == 2
    assert run(n=100, tol=10.0).n == 100


def test_a_forecast_goes_by_the_rate_that_was_seen():
    target = Target(0.1, None, SAMPLERS["sobol"])
    ones, beta = np.ones(1), np.ones(2)
    assert target.judge(100, beta, ones, 10**6).forecast == 10_000  # nothing seen: as if by chance
    found = target.judge(200, beta, 0.5 * ones, 10**6)  # halved by twice as many
    assert found.forecast == 1000
    assert target.next(200, found) == 400
    by_chance = Target(0.1, None, SAMPLERS["bins"])
    found = by_chance.judge(100, beta, 0.2 * ones, 10**6)
    assert found.forecast == pytest.approx(400, abs=1)
    for forecast, size in ((3630, 400), (300, 330), (101, 125)):  # a tenth more, within limits
        assert by_chance.next(100, replace(found, forecast=forecast)) == size


@pytest.mark.parametrize("value", [0, -1.0, "a", np.nan, [0.1], np.inf])
def test_odd_tolerances_are_refused(value):
    for name in ("tol", "rtol"):
        with pytest.raises(ValueError, match=f"^{name} must"):
            run(**{name: value})
    with pytest.raises(ValueError, match="tol and rtol must not both"):
        run(tol=0.1, rtol=0.1)


def test_a_tolerance_beyond_all_samples_is_not_forecast_by_a_round_number():
    e = run(tol=1e-12, n=2000)
    assert "even n = 1,000,000,000,000 would not do" in e.warnings[-1]
    assert "about n =" in run(tol=1e-3, n=2000).warnings[-1]


def test_the_forecast_is_shown_while_samples_are_drawn(capsys):
    with forecast_bar(delay=0) as shown:
        shown(500, Precision("tol = 0.1", 0.1, 0.37, 6000, 100_000))
        shown(2000, Precision("tol = 0.1", 0.1, 0.19, 7000, 5000))
    said = capsys.readouterr().err
    assert "error 0.37, 0.1 asked for" in said and "500/6.00k" in said
    assert "2.00k/5.00k" in said  # never more than n


def test_a_seed_sequence_is_not_used_up():
    seed = np.random.SeedSequence([3, 1])
    for sampler in ("sobol", "bins"):
        first, again, fresh = (
            run(n=256, sampler=sampler, seed=s)
            for s in (seed, seed, np.random.SeedSequence([3, 1]))
        )
        np.testing.assert_array_equal(first.coef, again.coef)
        np.testing.assert_array_equal(first.coef, fresh.coef)
    assert seed.n_children_spawned == 0
