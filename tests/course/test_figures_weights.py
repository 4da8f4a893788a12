"""What the pictures of the chapter on weights claim."""

import numpy as np
import pytest

import limetutor as lt
from limetutor.core.kernels import KERNELS
from limetutor.core.truncated import tilted_normal
from limetutor.course.experiments import running_example
from limetutor.course.figures import weights
from limetutor.precision.effective_samples import effective_sample_size


def test_a_small_bandwidth_is_a_constant_fit_and_a_large_one_is_global() -> None:
    narrow, wide, wider = (weights.line_fit(nu) for nu in (0.05, 5.0, 50.0))
    assert narrow.weights[~narrow.z[:, 0]].sum() < 1e-3 * narrow.weights.sum()
    at_xi = weights.wave(np.array([weights.XI]))[0]
    assert narrow.local_prediction == pytest.approx(at_xi, abs=0.05)
    assert wide.ess > 0.99 * wide.n
    assert wide.coef == pytest.approx(wider.coef, abs=0.02)
    inside = wider.z[:, 0]
    contrast = wider.y[inside].mean() - wider.y[~inside].mean()
    assert wider.coef[0] == pytest.approx(contrast, abs=1e-2)


@pytest.mark.parametrize(("d", "nu"), [(1, 0.7), (5, 1.0), (10, 2.0), (30, 5.0)])
def test_the_cloud_is_worth_what_the_formula_says(d: int, nu: float) -> None:
    w = weights.cloud_weights(d, nu)
    worth = w.sum() ** 2 / (w**2).sum()
    assert np.all(np.diff(w) <= 0)
    expected = effective_sample_size(np.full(d, 0.5), lt.Gaussian(), nu, len(w))
    assert worth == pytest.approx(expected, rel=0.15)


def test_a_bandwidth_that_grows_like_the_fourth_root_keeps_the_share() -> None:
    points = (np.full(d, 0.5) for d in (10, 100, 1000, 10_000))
    share = [effective_sample_size(x, lt.Gaussian(), 2 * len(x) ** 0.25, 1000) for x in points]
    assert share == pytest.approx([share[0]] * 4, rel=0.01)


@pytest.mark.parametrize("xi", [-1.5, 0.432, 0.961])
@pytest.mark.parametrize("nu", [0.2, 1.0, 5.0])
def test_weighted_draws_follow_the_tilted_law(nu: float, xi: float) -> None:
    density, edges = weights.weighted_histogram(nu, xi)
    centre, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    mean = np.sum(density * width * centre)
    sd = np.sqrt(np.sum(density * width * (centre - mean) ** 2))
    expected_mean, expected_sd, _ = tilted_normal(np.float64(xi), np.float64(0), nu, np.float64(1))
    worth = effective_sample_size([xi], lt.Gaussian(), nu, 20_000)
    assert abs(mean - expected_mean) < 4 * expected_sd / np.sqrt(worth) + 0.01
    assert sd == pytest.approx(expected_sd, rel=0.06)


def test_both_samplers_have_the_limit_and_the_tilted_one_less_noise() -> None:
    f, xi, world = running_example()
    beta = lt.limit(f, xi, world, nu=0.53).coef
    weighted, tilted = (
        lt.repeat(f, xi, world, 0.53, n=2000, runs=40, sampler=s) for s in ("bins", "tilted")
    )
    assert np.all(np.abs(tilted.mean - beta) < 4 * tilted.stderr)
    error = [np.mean((r.coef - beta) ** 2) for r in (weighted, tilted)]
    assert error[1] < error[0] / 50
    assert weights.two_samplers(weighted, tilted, beta).axes[1].get_title() == "tilted law"


def test_lime_weighs_an_example_that_shares_no_box_by_two_fifths() -> None:
    from lime.lime_tabular import LimeTabularExplainer

    for d in (3, 10):
        X = np.random.default_rng(0).standard_normal((200, d))
        kernel = LimeTabularExplainer(X, mode="regression").base.kernel_fn
        theirs = kernel(np.sqrt(np.arange(d + 1)))
        z = np.arange(d) >= np.arange(d + 1)[:, None]
        boxes = lt.Gaussian().boxes(d)
        ours = KERNELS["mismatch"].log_weights(z * 1.0, z, np.zeros(d), 0.75 * np.sqrt(d), boxes)
        assert np.exp(ours) == pytest.approx(theirs)
        assert theirs[-1] == pytest.approx(np.exp(-1 / (2 * 0.75**2)))
    assert len(weights.distances().axes[0].lines) == 4
