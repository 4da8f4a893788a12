"""LIME for images: superpixels, samples against limits, and limits against least squares."""

import numpy as np
import pytest

import limetutor as lt
from limetutor.switches import images

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
    options = {"kernel": kernel, "reference": reference}
    beta = images.image_limit(SCORE, IMAGE, BLOCKS, 1.0, **options)
    ex = images.explain_image(SCORE, IMAGE, BLOCKS, 1.0, n=2000, seed=0, **options)
    assert np.abs(beta.coef).max() > 1
    np.testing.assert_allclose(ex.coef, beta.coef, atol=1e-9)
    assert ex.local_prediction == pytest.approx(float(SCORE(IMAGE.ravel())))
    listed = images.image_limit(lambda rows: SCORE(rows), IMAGE, BLOCKS, 1.0, **options)
    np.testing.assert_allclose(listed.coef, beta.coef, atol=1e-9)
    assert listed.intercept == pytest.approx(beta.intercept)


@pytest.mark.parametrize(("kernel", "nu"), [("mismatch", 0.8), ("cosine", 0.25)])
def test_samples_of_a_curved_model_lie_around_the_limit(kernel, nu):
    beta = images.image_limit(curved, IMAGE, BLOCKS, nu, kernel, reference=0.0)
    ex = images.explain_image(curved, IMAGE, BLOCKS, nu, 20_000, 1, kernel, reference=0.0)
    assert np.abs(beta.coef).max() > 0.1
    assert np.abs((ex.coef - beta.coef) / ex.stderr).max() < 4
    assert abs(ex.local_prediction - beta.coef.sum() - beta.intercept) < 4 * ex.local_stderr


def test_the_mismatch_kernel_ends_in_occlusion():
    limit = images.image_limit(curved, IMAGE, BLOCKS, 0.05, "mismatch", reference=0.0)
    without = curved(images.compose(IMAGE, BLOCKS, ~np.eye(9, dtype=bool), 0.0))
    score = float(curved(IMAGE.ravel()))
    np.testing.assert_allclose(limit.coef, score - without)
    assert limit.local_prediction == pytest.approx(score)


def test_too_many_superpixels_are_refused():
    labels = images.superpixels(np.zeros((8, 8)), side=8)
    with pytest.raises(ValueError, match="at most 16 superpixels"):
        images.image_limit(curved, np.zeros((8, 8)), labels)
