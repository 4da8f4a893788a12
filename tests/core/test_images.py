"""LIME for images: superpixels, samples against limits, and the limit's three faces."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import limetutor as lt
from limetutor import images

RNG = np.random.default_rng(4)
IMAGE = RNG.integers(0, 17, size=(6, 6)).astype(float)
BLOCKS = images.superpixels(IMAGE, side=3)
SCORE = lt.Linear(RNG.normal(size=36), 0.5)


def curved(rows: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-0.1 * SCORE(rows)))


def test_without_tone_superpixels_are_squares():
    np.testing.assert_array_equal(BLOCKS, np.kron(np.arange(9).reshape(3, 3), np.ones((2, 2))))


def test_with_tone_superpixels_follow_the_image():
    half = np.zeros((8, 8))
    half[:, 3:] = 16.0  # an edge that squares of 4 pixels would cross
    labels = images.superpixels(half, side=2, tone=1.0)
    assert set(np.unique(labels)) == {0, 1, 2, 3}
    assert not set(labels[:, :3].ravel()) & set(labels[:, 3:].ravel())


def test_hidden_superpixels_show_the_reference():
    z = np.ones((2, 9), bool)
    z[1, 4] = False
    kept, hidden = images.compose(IMAGE, BLOCKS, z, 5.0).reshape(2, 6, 6)
    np.testing.assert_array_equal(kept, IMAGE)
    np.testing.assert_array_equal(hidden[2:4, 2:4], 5.0)
    np.testing.assert_array_equal(hidden[BLOCKS != 4], IMAGE[BLOCKS != 4])
    own = images.compose(IMAGE, BLOCKS, z)[1].reshape(6, 6)
    assert own[2, 2] == pytest.approx(IMAGE[2:4, 2:4].mean())
    with pytest.raises(ValueError, match="reference must be"):
        images.reference_image(IMAGE, BLOCKS, "median")


@pytest.mark.parametrize("kernel", ["mismatch", "cosine"])
@pytest.mark.parametrize("reference", ["mean", 0.0, 5.0])
def test_a_linear_score_is_explained_without_any_error(kernel, reference):
    how = {"kernel": kernel, "reference": reference}
    beta = images.image_limit(SCORE, IMAGE, BLOCKS, 1.0, **how)
    ex = images.explain_image(SCORE, IMAGE, BLOCKS, 1.0, n=2000, seed=0, **how)
    assert np.abs(beta.coef).max() > 1
    np.testing.assert_allclose(ex.coef, beta.coef, atol=1e-9)
    assert ex.local_prediction == pytest.approx(float(SCORE(IMAGE.ravel())))
    asked = images.image_limit(lambda rows: SCORE(rows), IMAGE, BLOCKS, 1.0, **how)
    np.testing.assert_allclose(asked.coef, beta.coef, atol=1e-9)
    assert asked.intercept == pytest.approx(beta.intercept)


@pytest.mark.parametrize(("kernel", "nu"), [("mismatch", 0.8), ("cosine", 0.25)])
def test_samples_of_a_curved_model_lie_around_the_limit(kernel, nu):
    beta = images.image_limit(curved, IMAGE, BLOCKS, nu, kernel, reference=0.0)
    ex = images.explain_image(curved, IMAGE, BLOCKS, nu, 20_000, 1, kernel, reference=0.0)
    assert np.abs(beta.coef).max() > 0.1
    assert np.abs((ex.coef - beta.coef) / ex.stderr).max() < 4
    assert abs(ex.local_prediction - beta.coef.sum() - beta.intercept) < 4 * ex.local_stderr


def everything(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, images.Tally]:
    z = images.all_switches(labels.max() + 1)
    values = curved(images.compose(IMAGE, labels, z, 0.0))
    return z, values, images.tally(z, values)


@pytest.mark.parametrize(("kernel", "nu"), [("mismatch", 0.8), ("cosine", 0.25)])
def test_the_limit_is_least_squares_over_all_images(kernel, nu):
    z, values, sums = everything(BLOCKS)
    off, share = (~z).sum(axis=1), z.mean(axis=1)
    w = {"mismatch": -off, "cosine": -((1 - np.sqrt(share)) ** 2)}[kernel] / (2 * nu**2)
    design, root = np.column_stack([np.ones(len(z)), z]), np.exp(w / 2)
    expected = np.linalg.lstsq(design * root[:, None], values * root, rcond=None)[0]
    np.testing.assert_allclose(images.weighted_fit(sums, nu, kernel), expected, atol=1e-10)


def test_the_mismatch_kernel_ends_in_occlusion():
    sums = everything(BLOCKS)[2]
    found = images.weighted_fit(sums, 0.05, "mismatch")
    np.testing.assert_allclose(found[1:], images.difference_of_means(sums, 1.0))
    assert found.sum() == pytest.approx(float(curved(IMAGE.ravel())))


def test_shapley_values_of_superpixels_are_the_mean_over_orders():
    z, values, sums = everything(images.superpixels(IMAGE, side=2))
    worth = dict(zip(map(tuple, z.tolist()), values, strict=True))
    gains = np.zeros(4)
    orders = list(permutations(range(4)))
    for order in orders:
        shown = [False] * 4
        for j in order:
            before = worth[tuple(shown)]
            shown[j] = True
            gains[j] += worth[tuple(shown)] - before
    np.testing.assert_allclose(images.shapley_of(sums), gains / len(orders), atol=1e-12)


def test_at_one_the_difference_is_occlusion():
    values, sums = everything(BLOCKS)[1:]
    without = curved(images.compose(IMAGE, BLOCKS, ~np.eye(9, dtype=bool), 0.0))
    np.testing.assert_allclose(images.difference_of_means(sums, 1.0), values[-1] - without)


def test_too_many_superpixels_are_refused():
    labels = images.superpixels(np.zeros((8, 8)), side=8)
    with pytest.raises(ValueError, match="at most 16 superpixels"):
        images.image_limit(curved, np.zeros((8, 8)), labels)
