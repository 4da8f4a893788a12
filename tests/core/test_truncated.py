"""The normal on an interval, Gaussian integrals, and mixtures over boxes, against other sources."""

import numpy as np
import pytest
import reference as ref
from reference import mp
from scipy import stats

from limetutor.core.boxes import Gaussian, standard_quantiles
from limetutor.core.inverse_transform import truncated_quantile
from limetutor.core.truncated import BoxLaw, normal_box, tilted_normal, truncated_variance

INF = np.inf

# Ends chosen for where formulas break: narrow, far out, around 0, one-sided, wide, mirrored pairs.
INTERVALS = [
    (-1.0, 1.0), (-1.0, 2.0), (0.0, 0.3), (0.0, INF), (-INF, 0.0), (-INF, 37.0), (-37.0, INF),
    (5.0, INF), (-INF, -5.0), (38.0, 39.0), (1000.0, INF), (1000.0, 1000.0 + 2**-20),
    (-8000.0, -7999.0), (-1e-9, 2e-9), (-0.1, 0.1 + 2**-30), (-0.15, 0.15), (0.299, 0.6),
    (6.0, 6.3), (6.0, 6.0 + 1e-7), (-60.0, 25.0), (-3.0, 3000.0),
]  # fmt: skip


def random_intervals(seed, count):
    rng = np.random.default_rng(seed)
    lo = rng.choice([-1.0, 1.0], count) * 10 ** rng.uniform(-3, 3.9, count)
    hi = lo + 10 ** rng.uniform(-7, 2, count)
    one_sided = rng.random(count) < 0.1
    return list(zip(lo.tolist(), np.where(one_sided, INF, hi).tolist(), strict=True))


def test_masses_and_means_of_an_interval_match_50_digits():
    for lo, hi in INTERVALS + random_intervals(1, 400):
        box, exact = normal_box(lo, hi), ref.normal_box(lo, hi)
        for log_mass, mass in zip(box[:2], exact[:2], strict=True):
            # An error in the logarithm is a relative error of the mass; a logarithm of size L
            # cannot be held better than L * 1e-16.
            log_exact = mp.log(mass)
            assert abs(float(log_mass - log_exact)) < 1e-14 * max(1, abs(float(log_exact)))
        near = min(abs(lo), abs(hi)) if lo * hi > 0 else lo if abs(lo) < abs(hi) else hi
        log_ratio = mp.log(exact[0]) - mp.log(ref.density(mp.mpf(near)))
        assert abs(float(box.log_ratio - log_ratio)) < 1e-13 * max(1, abs(float(log_ratio)))
        for mean, true in zip(box[2:4], exact[2:4], strict=True):
            if abs(true) > ref.TINY:
                # a mean that is exp(-u^2/2) small inherits u^2 rounding errors: 1e-16 * 1400
                assert ref.relative_error(mean, true) < 3e-13, (lo, hi)


def test_an_interval_and_its_mirror_image_are_mirror_images():
    for lo, hi in INTERVALS:
        box, image = normal_box(lo, hi), normal_box(-hi, -lo)
        assert box.log_inside == image.log_inside  # exactly: the same operations
        assert box.log_outside == image.log_outside
        assert box.mean_inside == -image.mean_inside
        assert box.mean_outside == -image.mean_outside


def test_the_whole_line_has_mass_one_and_mean_zero():
    box = normal_box([-INF, -1.0], [INF, 1.0])
    assert box.log_inside[0] == 0.0
    assert box.mean_inside[0] == 0.0
    assert box.log_outside[0] == -INF


def test_a_known_sum_of_the_ends_overrides_their_rounded_sum():
    # total decides the sign and size of the mean of a nearly symmetric interval:
    # mean ~ total * phi(1) / mass, here with the ends themselves exactly symmetric.
    box = normal_box(-1.0, 1.0, total=1e-20)
    slope = 1e-20 * stats.norm.pdf(1) / (stats.norm.cdf(1) - stats.norm.cdf(-1))
    assert box.mean_inside == pytest.approx(slope, rel=1e-14, abs=0)  # a few roundings


def exact_variance(lo, hi):
    """The textbook form at 150 digits: its cancellation costs fewer than 60."""
    with mp.workdps(150):
        inside, _, mean, _ = ref.normal_box(lo, hi)
        ends = [mp.mpf(0) if mp.isinf(mp.mpf(u)) else u * ref.density(mp.mpf(u)) for u in (lo, hi)]
        return 1 + (ends[0] - ends[1]) / inside - mean**2


def test_the_variance_of_a_truncated_normal_matches_150_digits():
    for lo, hi in INTERVALS + random_intervals(2, 100):
        # the tail beyond exp(-42) is left out, and it weighs 42^2 exp(-42) = 1e-15
        assert ref.relative_error(truncated_variance(lo, hi), exact_variance(lo, hi)) < 1e-13


def test_the_variance_of_the_whole_line_is_one():
    assert truncated_variance(-INF, INF) == pytest.approx(1.0, rel=1e-14, abs=0)


def test_a_normal_under_a_gaussian_weight_is_the_normal_the_paper_says():
    rng = np.random.default_rng(5)
    for _ in range(200):
        xi, mu = rng.normal(0, 5, 2)
        nu, sigma = 10 ** rng.uniform(-3, 3, 2)
        mean, sd, log_mass = tilted_normal(xi, mu, nu, sigma)
        exact = ref.coordinate(xi, mu, sigma, nu, 2)
        # mu~ may be anything around 0, so it is held to the size of what it averages
        assert abs(float(mean - exact.mu_tilde)) < 1e-15 * (2 * abs(xi) + 2 * abs(mu))
        assert ref.relative_error(sd, exact.sigma_tilde) < 1e-15
        log_exact = mp.log(exact.mass)
        assert abs(float(log_mass - log_exact)) < 1e-15 * max(1, abs(float(log_exact))) * 2


def test_gaussian_edges_are_the_quantiles_of_the_normal():
    for p in range(2, 11):
        edges = standard_quantiles(p)
        assert edges[0] == -INF
        assert edges[-1] == INF
        for k in range(1, p):
            exact = ref.quantile(k, p)
            # ndtri is right to a few ulps; the middle is exactly 0
            assert ref.relative_error(edges[k], exact if 2 * k != p else mp.mpf(0)) < 1e-15
        assert np.array_equal(edges, -edges[::-1])  # exactly: switch-off rests on it
    boxes = Gaussian(mu=[1.0, -2.0], sigma=[0.5, 3.0], p=[4, 10]).boxes()
    np.testing.assert_allclose(boxes.edges[0], stats.norm.ppf([0.25, 0.5, 0.75], 1.0, 0.5))
    np.testing.assert_allclose(boxes.edges[1], stats.norm.ppf(np.arange(1, 10) / 10, -2.0, 3.0))


def test_a_gaussian_world_cut_into_boxes_is_still_that_gaussian():
    law = Gaussian(mu=[1.0, -2.0, 0.0], sigma=[0.5, 3.0, 1e-3], p=[2, 7, 10]).boxes().law
    np.testing.assert_allclose(np.sum(law.prob, axis=1), 1.0, rtol=1e-14)
    mean, deviation = law.mean_and_deviation()
    # sums over at most ten boxes of numbers of the size of sigma
    np.testing.assert_allclose(mean, [1.0, -2.0, 0.0], rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(deviation, [0.5, 3.0, 1e-3], rtol=1e-13)


def mixture():
    """Three coordinates with boxes of every kind: inner, outer, deep in a tail, a point, none."""
    with np.errstate(divide="ignore"):
        return BoxLaw(
            log_prob=np.log([[0.2, 0.5, 0.3], [0.6, 0.4, 0.0], [0.1, 0.0, 0.9]]),
            mean=np.array([[0.0, 0.0, 0.0], [2.0, 5.0, 0.0], [1.0, 0.0, 3.0]]),
            sd=np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 1.0], [0.1, 1.0, 0.5]]),
            lo=np.array([[-INF, -1.0, 0.5], [2.0, 3.0, -1.0], [5.0, -1.0, -INF]]),
            hi=np.array([[-1.0, 0.5, INF], [2.0, 4.0, 1.0], [9.0, 1.0, 3.5]]),
        )


def scipy_box(law, j, k):
    mean, sd = law.mean[j, k], law.sd[j, k]
    return stats.truncnorm((law.lo[j, k] - mean) / sd, (law.hi[j, k] - mean) / sd, mean, sd)


def test_moments_of_a_mixture_match_scipy():
    law = mixture()
    means, variances = law.box_means(), law.box_variances()
    for j in range(3):
        expected_mean = expected_square = 0.0
        for k in range(3):
            if law.prob[j, k] == 0:
                continue
            if law.sd[j, k] == 0:
                box_mean, box_variance = law.mean[j, k], 0.0
            else:
                box = scipy_box(law, j, k)
                box_mean = box.mean()
                # scipy's variance cancels in the tail, quadrature of its density does not
                box_variance = box.expect(lambda x, m=box_mean: (x - m) ** 2)
            assert means[j, k] == pytest.approx(box_mean, rel=1e-10, abs=0)
            assert variances[j, k] == pytest.approx(box_variance, rel=1e-7, abs=0)  # quad's own
            expected_mean += law.prob[j, k] * box_mean
            expected_square += law.prob[j, k] * (box_mean**2 + box_variance)
        mean, deviation = law.mean_and_deviation()
        assert mean[j] == pytest.approx(expected_mean, rel=1e-10, abs=0)
        variance = expected_square - expected_mean**2
        assert deviation[j] == pytest.approx(np.sqrt(variance), rel=1e-7, abs=0)


def test_truncated_quantiles_invert_the_distribution_function():
    v = np.array([0.01, 0.3, 0.5, 0.9, 0.99])
    ends = [(-1.0, 2.0), (0.5, INF), (-INF, -6.0), (20.0, 21.0), (38.5, 60.0), (50.0, INF)]
    for lo, hi in [*ends, (-9.0, -8.0), (-40.0, -39.9), (200.0, 200.01), (37.0, INF)]:
        x = truncated_quantile(v, np.full(5, lo), np.full(5, hi))
        for value, probability in zip(x, v, strict=True):
            below = ref.normal_box(lo, float(value))[0] / ref.normal_box(lo, hi)[0]
            # x has 53 bits; far out the distribution function is lo times as sensitive to them
            digits = 1e-10 if lo < 100 else 1e-6
            assert lo <= value <= hi and float(below) == pytest.approx(
                probability, rel=digits, abs=0
            )
