"""The classifier of colours: what it sees, that it learned, and that its score is a sum over pixels."""

import numpy as np
import pytest

from limetutor.course import colours


def test_shares_of_tones_are_counted():
    image = np.zeros((1, 4, 4, 3))
    image[..., 0] = 1.0  # red, all of it
    image[..., 2] = 0.125  # between the first two tones of blue
    red, green, blue = colours.colours(image).reshape(3, 5)
    np.testing.assert_allclose(red, [0, 0, 0, 0, 1])
    np.testing.assert_allclose(green, [1, 0, 0, 0, 0])
    np.testing.assert_allclose(blue, [0.5, 0.5, 0, 0, 0])


def test_it_tells_its_photographs_apart():
    model = colours.colour_classifier()
    for name, photo in colours.photographs().items():
        assert model.names[np.argmax(model.predict_proba(photo[None])[0])] == name


def test_the_score_is_a_sum_over_pixels():
    model, rng = colours.colour_classifier(), np.random.default_rng(0)
    image = rng.random((10, 12, 3))
    for label in range(5):
        total = model.by_pixel(image, label).sum() + model.regression.intercept_[label]
        assert total == pytest.approx(model.score(image[None])[0, label], abs=1e-9)


def test_a_photograph_is_shrunk_to_means_of_blocks():
    photo = np.arange(4 * 6 * 3).reshape(4, 6, 3)
    found = colours.shrunk(photo, 2)
    assert found.shape == (2, 3, 3)
    np.testing.assert_allclose(found[0, 0] * 255, photo[:2, :2].mean(axis=(0, 1)))


def test_superpixels_are_numbered_from_zero_without_gaps():
    for method in ("quickshift", "slic"):
        labels = colours.superpixels_of(method)
        assert labels.shape == colours.astronaut().shape[:2]
        np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))
