"""Many samples in batches: the same fit, in bounded memory."""

import time
import tracemalloc

import numpy as np
import pytest
from fits_by_hand import design, kept, sandwich_by_hand
from paper_example import PAPER, PAPER_XI, SETTINGS, WORLD, paper

import limetutor as lt


def in_batches_of(rows, d, monkeypatch):
    for module in ("core.explainer", "precision.batches"):
        monkeypatch.setattr(f"limetutor.{module}.NUMBERS_PER_BATCH", rows * (d + 1))


@pytest.mark.parametrize("sampler", ["bins", "tilted"])
def test_batches_add_up_to_the_fit_of_all_their_samples(monkeypatch, sampler):
    """The samples depend on how they are batched, so the fit is redone from those kept."""
    in_batches_of(1000, 4, monkeypatch)
    e = kept(n=5_500, sampler=sampler)  # five batches and a half
    root = np.sqrt(e.weights)
    beta = np.linalg.lstsq(design(e) * root[:, None], e.y * root)[0]
    np.testing.assert_allclose([e.intercept, *e.coef], beta, rtol=0, atol=1e-12)
    assert e.ess == pytest.approx(e.weights.sum() ** 2 / (e.weights**2).sum(), rel=1e-12)
    # early residuals are those of fits to fewer samples: off by the variance of a fit to 1000
    # relative to that of a residual, (d + 1) / ess of the first batch, which is about 1%
    expected = sandwich_by_hand(e)
    np.testing.assert_allclose(e.stderr, np.sqrt(np.diag(expected))[1:], rtol=0.01)
    assert not np.array_equal(e.covariance, expected)  # there was more than one batch


@pytest.mark.parametrize("setting", SETTINGS)
def test_keeping_the_samples_changes_no_number(setting, monkeypatch):
    in_batches_of(1500, 10, monkeypatch)
    kept, dropped = (paper(keep=keep, **SETTINGS[setting]) for keep in (True, False))
    np.testing.assert_array_equal(kept.coef, dropped.coef)
    np.testing.assert_array_equal(kept.covariance, dropped.covariance)
    assert kept.ess == dropped.ess and len(kept.y) == 5000
    assert dropped.samples is None


def test_a_batch_is_as_large_as_said_and_all_samples_are_asked_for(monkeypatch):
    in_batches_of(1500, 10, monkeypatch)
    rows = []

    def f(x):
        rows.append(len(x))
        return PAPER(x)

    lt.explain(f, PAPER_XI, WORLD, 1.0, n=5000, seed=0)
    assert rows == [1, 1500, 1500, 1500, 500]  # f(xi) first


def peak(n, monkeypatch):
    """Largest memory in use while explaining with n samples, in bytes, batches of 20 000 rows."""
    in_batches_of(20_000, 10, monkeypatch)
    tracemalloc.start()
    try:
        paper(n=n, sampler="gaussian")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_n(monkeypatch):
    paper()  # imports and caches
    small, large = peak(40_000, monkeypatch), peak(400_000, monkeypatch)
    assert large < 1.1 * small  # ten times the samples; 32 MB would be added by x alone


def test_a_million_samples_take_seconds():
    start = time.perf_counter()
    e = paper(n=1_000_000)
    # 2.7 s on one free core of the machine this was written on
    assert time.perf_counter() - start < 30
    assert e.n == 1_000_000
    assert np.all(np.abs(e.coef - lt.limit(PAPER, PAPER_XI, WORLD, 1.0).coef) < 4 * e.stderr)
