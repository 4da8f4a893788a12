"""What the figures of the chapter on the number of samples claim."""

import numpy as np
import pytest
from browser import ROOT
from drawing import said

import limetutor as lt
from limetutor.course.experiments import repeat_fits, running_example
from limetutor.course.figures import samples
from limetutor.precision.normal_limit import asymptotic_covariance


def test_fits_in_a_stack_are_the_fits_one_by_one() -> None:
    f, xi, world = running_example(4)
    stack = repeat_fits(f, xi, world, 1.0, n=400, runs=60)
    one_by_one = lt.repeat(f, xi, world, 1.0, n=400, runs=60)
    error = np.hypot(stack.std(0, ddof=1), one_by_one.coef.std(0, ddof=1)) / np.sqrt(60)
    assert np.all(np.abs(stack.mean(0) - one_by_one.mean) < 4 * error)
    exact = lt.explain(f, xi, world, 1.0, n=400, seed=0, sampler="gaussian").coef
    assert repeat_fits(f, xi, world, 1.0, n=400, runs=1)[0] == pytest.approx(exact, abs=1e-9)
    tilted = lt.explain(f, xi, world, 1.0, n=400, seed=0, sampler="tilted").coef
    alone = repeat_fits(f, xi, world, 1.0, n=400, runs=1, sampler="tilted")
    assert alone[0] == pytest.approx(tilted, abs=1e-9)


@pytest.mark.parametrize("nu", [1.0, 0.53])
def test_large_runs_spread_as_the_normal_limit_says(nu: float) -> None:
    beta, deviation, values = samples.one_coefficient(1500, nu)
    assert abs(values.mean() - beta) < 4 * deviation / np.sqrt(len(values)) + 0.05 * deviation
    # the deviation of 300 runs is itself uncertain by 4%
    assert values.std(ddof=1) == pytest.approx(deviation, rel=0.16)
    # small runs are biased, and wider
    beta, deviation, values = samples.one_coefficient(30, 0.53)
    assert values.mean() > beta + 1
    assert values.std() > 1.2 * deviation


@pytest.mark.parametrize(("n", "nu"), [(30, 0.53), (2000, 1.0)])
def test_the_picture_of_the_normal_limit_says_what_it_shows(n: int, nu: float) -> None:
    text = said(samples.normal_limit, n=n, nu=nu)
    assert f"n = {n} at ν = {nu:g}" in text


def test_each_run_reports_its_standard_errors_and_most_intervals_hold_the_limit() -> None:
    f, xi, world = running_example()
    beta = lt.limit(f, xi, world, 1.0).coef
    runs = lt.repeat(f, xi, world, 1.0, n=4000, runs=40)
    V = asymptotic_covariance(f, xi, world, 1.0)
    predicted = np.sqrt(np.diag(V)[1:] / 4000)
    assert np.median(runs.coef_stderr, axis=0) == pytest.approx(predicted, rel=0.1)
    assert 0.9 < samples.covered(runs, beta).mean() < 0.99
    held, missed = samples.intervals(runs, beta, 1, shown=40).axes[0].collections
    ends = np.array([segment[:, 1] for segment in missed.get_segments()])
    assert len(held.get_segments()) + len(ends) == 40 > len(held.get_segments())
    assert np.all((ends[:, 0] > beta[1]) | (ends[:, 1] < beta[1]))


def test_the_theorem_asks_for_ten_orders_of_magnitude_more() -> None:
    for nu in samples.BANDWIDTHS[::6].tolist():
        need = samples.sizes(nu, 1.0)
        assert need.printed > 1e10 * need.weighted
        assert need.corrected > 1e9 * need.weighted
        assert 5 * need.weighted < need.finite < 1e-8 * need.printed
        assert samples.sizes(nu, 0.1).weighted == pytest.approx(100 * need.weighted, rel=1e-3)


def test_tilted_samples_get_better_as_the_bandwidth_shrinks_and_weighted_ones_worse() -> None:
    tilted = [samples.sizes(nu, 1.0).tilted for nu in (0.3, 0.53, 1.0, 5.0)]
    assert tilted == sorted(tilted)
    weighted = [samples.sizes(nu, 1.0).weighted for nu in (0.3, 0.53, 1.0, 2.2)]
    assert weighted == sorted(weighted, reverse=True)
    assert "orders of magnitude" in said(samples.four_answers, nu=1.0, eps=1.0)


def test_large_counts_are_powers_of_ten() -> None:
    counts = [samples._count(n) for n in (25_846, 8.41e16, 2.0e6)]
    assert counts == ["25,846", "8.4·10¹⁶", "2.0·10⁶"]


def test_the_gain_of_tilted_samples_is_the_predicted_one() -> None:
    measured = samples.measured_ratio(4, 0.53, n=3000, runs=80)
    assert measured == pytest.approx(samples.noise_ratio(4, 0.53), rel=0.35)
    fig = samples.remedy({(4, 0.53): measured})
    assert len(fig.axes[0].lines) == 5  # one, three curves, one dot


def test_dots_are_measured_with_as_many_runs_and_samples_as_the_caption_says(monkeypatch) -> None:
    asked = []

    def runs_of(*_, n, runs, **others):
        asked.append(f"{runs} runs of {n} samples")
        return np.full((runs, 4), 1.0)

    monkeypatch.setattr(samples, "repeat_fits", runs_of)
    assert samples.measured_ratio(4, 0.53) == 1
    assert f"measured with {asked[0]} (dots)" in (ROOT / "book" / "samples.ipynb").read_text(
        "utf-8"
    )


def test_a_sobol_point_lies_in_every_cell_and_random_ones_leave_a_third_empty() -> None:
    points = samples.pairs_of_points(64)
    assert samples.empty_cells(points["scrambled Sobol"]) == 0
    # (1 - 1/64)^64 = 36% of 64 are expected, with a deviation of about 2.6 (Rao-Blackwell bound
    # of the occupancy problem); seeds are not chosen
    assert abs(samples.empty_cells(points["chance"]) - 23.4) < 4 * 2.6
    assert len(samples.even_points().axes) == 2


def test_even_points_and_adjustment_need_fewer_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "CALLS", 2 ** np.arange(8, 11))
    samples.distances.cache_clear()
    text = said(samples.fewer_calls, eps=1.0, width="the paper's, ν = 1")
    by_way = [samples.distances("the paper's, ν = 1", way) for way in samples.WAYS]
    weighted, tilted, adjusted, sobol, both = by_way
    assert np.all(weighted > tilted) and np.all(tilted > np.maximum(adjusted, sobol))
    assert np.all(both < sobol)
    # random draws halve their distance with four times the calls, even points do better
    assert weighted[0] / weighted[2] == pytest.approx(2, rel=0.3)
    assert sobol[0] / sobol[2] > 2.2
    calls, distance = samples.crossing("the paper's, ν = 1", "tilted", 1.0)
    assert 256 < calls < 1024 and distance == 1.0 and f"tilted {calls:,.0f}" in text
    assert samples.crossing("the paper's, ν = 1", "Sobol", 1.0) == (256, sobol[0])
    assert np.isnan(samples.crossing("the paper's, ν = 1", "weighted", 0.01)[0])
    assert "weighted more than 1,024" in text
    samples.distances.cache_clear()
