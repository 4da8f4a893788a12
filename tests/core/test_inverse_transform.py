"""Values from uniform numbers: the tables give what the law says, draw for draw."""

import numpy as np
import pytest
from scipy import stats

import limetutor as lt
from limetutor.core.inverse_transform import NUMBERS_PER_CHUNK, InverseTransform, truncated_quantile
from limetutor.core.kernels import tilt
from limetutor.core.truncated import BoxLaw
from limetutor.exact.integrals import box_cdf
from limetutor.precision.sobol_sampler import ascending

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(400, 6))
TIED = RNG.integers(0, 4, size=(400, 6)).astype(float)
XI = np.linspace(-2, 2, 6)
LAWS = {
    "normal": lt.Gaussian().boxes(6).law,
    "many boxes": lt.Gaussian(p=40).boxes(6).law,
    "training set": lt.Empirical(TABLE).boxes().law,
    "points and labels": lt.Empirical(TIED, categorical=[1, 2]).boxes().law,
    "tilted": tilt(lt.Gaussian(), XI, 0.3).views.law,
    "tilted, laplace": tilt(lt.Gaussian(), XI, 0.3, "laplace").views.law,
    "beyond the reach of Phi": tilt(lt.Gaussian(), 30 * XI, 0.01).views.law,
    "narrow": lt.Empirical(1e6 + 1e-3 * TABLE).boxes().law,
}


def by_hand(law, u, v):
    """Which part by bisection, then the quantile of its truncated normal, number by number."""
    edges = np.cumsum(np.exp(law.log_prob), axis=1)
    edges /= edges[:, -1:]
    part = np.stack(
        [np.searchsorted(edges[j, :-1], u[:, j], "right") for j in range(len(edges))], 1
    )
    rows = np.arange(len(edges))
    mean, sd, lo, hi = (a[rows, part] for a in (law.mean, law.sd, law.lo, law.hi))
    scale = np.where(sd == 0, 1.0, sd)
    a, b = (np.where(sd == 0, side, (end - mean) / scale) for side, end in ((-1, lo), (1, hi)))
    x = mean + scale * truncated_quantile(v, a, b)
    return np.where(sd == 0, mean, np.clip(x, lo, hi)), part


@pytest.mark.parametrize("name", LAWS)
def test_draws_are_those_of_the_formula_number_by_number(name):
    law, n = LAWS[name], NUMBERS_PER_CHUNK // 6 + 900  # two chunks, the second of an odd size
    numbers = np.random.default_rng(3)
    u, v = numbers.random((n, 6)), numbers.random((n, 6))
    expected, part = by_hand(law, u, v)
    rng = np.random.default_rng(3)
    x, boxes = law.sample(rng, n)
    # the same but for a clip that is left out where it does nothing
    np.testing.assert_allclose(x, expected, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(
        boxes, np.broadcast_to(law.boxes, law.mean.shape)[np.arange(6), part]
    )
    assert rng.random() == numbers.random()  # and the generator stands where it should


def test_a_generator_that_cannot_jump_ahead_gives_the_same_law():
    law = LAWS["training set"]
    first, second = (np.random.Generator(np.random.MT19937(3)) for _ in range(2))
    u, v = second.random((5000, 6)), second.random((5000, 6))
    np.testing.assert_allclose(
        law.sample(first, 5000)[0], by_hand(law, u, v)[0], rtol=1e-14, atol=1e-14
    )
    assert first.random() == second.random()


def test_a_generator_with_half_a_number_left_over():
    rng = np.random.default_rng(0)
    rng.integers(0, 9, dtype=np.int32)  # half of 64 bits stay behind
    assert rng.bit_generator.state["has_uint32"]
    x, _ = LAWS["normal"].sample(rng, 20_000)
    assert stats.kstest(x[:, 0], "norm").pvalue > 1e-3


@pytest.mark.parametrize("name", ["normal", "training set", "tilted", "tilted, laplace"])
def test_one_number_says_part_and_place(name):
    """P(x <= x(u)) = u, with the distribution function of the mixture."""
    law = ascending(LAWS[name])
    u = np.repeat((np.arange(400) + 0.5)[:, None] / 400, 6, axis=1)
    x, boxes = InverseTransform(law).at(u, law.box)
    for j in range(6):
        prob = np.exp(law.log_prob[j])
        below = (prob / prob.sum()) @ box_cdf(law, j, x[:, j])
        # parts of 1e-6 and less have their place from few digits of u
        np.testing.assert_allclose(below, u[:, j], rtol=0, atol=1e-9)
        assert np.all(np.diff(x[:, j]) > 0)  # monotone
        assert np.all(np.diff(boxes[:, j]) >= 0)


def test_parts_in_order_are_the_same_law():
    law = LAWS["tilted, laplace"]
    sorted_law = ascending(law)
    there = np.exp(sorted_law.log_prob) > 0
    for j in range(6):
        assert np.all(np.diff(sorted_law.lo[j, there[j]]) >= 0)
    for one, two in zip(law.mean_and_deviation(), sorted_law.mean_and_deviation(), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    own = np.array([0, 1, 1, 2, 2, 3])
    np.testing.assert_allclose(
        (np.exp(law.log_prob) * law.within(own)).sum(1),
        (np.exp(sorted_law.log_prob) * sorted_law.within(own)).sum(1),
        rtol=1e-12,
    )


def test_values_never_leave_a_narrow_box():
    mean = np.array([[1.0 + 2.0**-45, 3.0]])
    lo, hi = np.array([[1.0, 2.0]]), np.array([[1.0 + 2.0**-44, 4.0]])
    law = BoxLaw(np.log([[0.5, 0.5]]), mean, np.array([[2.0**-45, 1.0]]), lo, hi)
    x, boxes = law.sample(np.random.default_rng(0), 20_000)
    assert np.all((x >= lo[0, boxes]) & (x <= hi[0, boxes]))
