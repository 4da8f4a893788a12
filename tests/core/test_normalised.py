"""Normalised word vectors: the two factors against integrals, the coefficients against all masks."""

import numpy as np
import pytest
from scipy.integrate import quad

from limetutor import masks


def ratio(top, bottom, nu):
    """Two integrals over the share v of words that stay, with the weight of lime."""

    def weighed(g):
        return quad(lambda v: np.exp(-((1 - np.sqrt(v)) ** 2) / (2 * nu**2)) * g(v), 0, 1)[0]

    return weighed(top) / weighed(bottom)


@pytest.mark.parametrize("nu", [0.05, 0.25, 100])
def test_the_factors_of_a_long_text_are_integrals(nu):
    found = masks.norm_factors(masks.text_switches(2000, nu))
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


@pytest.mark.parametrize("world", [masks.text_switches, masks.image_switches])
@pytest.mark.parametrize("nu", [0.1, 0.25, 3.0])
def test_equal_words_are_exact(world, nu):
    d, a = 9, np.random.default_rng(0).normal(size=9)
    h = np.full(d, 1 / 3)
    found = masks.switch_limit(normalised(a, h), world(d, nu)).coef
    np.testing.assert_allclose(masks.long_text(a, h, world(d, nu)), found, atol=1e-13)


def test_unequal_words_are_close_and_a_sign_is_foreseen():
    h = np.sqrt([0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    a = np.array([0.1, 1, 1, 1, 1, 1, 1, 1])  # the first speaks for the class, if only just
    found = masks.switch_limit(normalised(a, h), masks.text_switches(8)).coef
    rough = masks.long_text(a, h, masks.text_switches(8))
    assert found[0] < 0 and rough[0] < 0
    assert np.abs(found - rough).max() < 0.15 * np.abs(found).max()


def test_a_vector_of_another_length_is_refused():
    with pytest.raises(ValueError, match="h must have length 1, got one of length 2"):
        masks.long_text([1.0, 1.0], [2.0, 0.0], masks.text_switches(2))
    with pytest.raises(ValueError, match="a must have"):
        masks.long_text([1.0], [0.6, 0.8], masks.text_switches(2))
