"""What the pictures of the chapter on weights claim."""

import numpy as np
import pytest
from drawing import drawn, in_colour, said, xy
from scipy import stats

import limetutor as lt
from limetutor.course.experiments import patient_13
from limetutor.course.figures import weights
from limetutor.plotting.style import color
from limetutor.precision.effective_samples import effective_sample_size

DEFAULT = 0.75 * np.sqrt(10)
BOTH = pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])


def lime_kernel(d):
    """The weight by Euclidean distance of indicators, of the package itself."""
    from lime.lime_tabular import LimeTabularExplainer

    X = np.random.default_rng(0).standard_normal((200, d))
    return LimeTabularExplainer(X, mode="regression").base.kernel_fn


def test_a_sample_weighs_what_lime_says_and_two_fifths_if_it_shares_no_box() -> None:
    ex = weights.patient_samples()
    top, below = weights.shared_boxes(ex).axes
    shared, weight = xy(in_colour(top, color.lime)[0]).T
    assert weight == pytest.approx(lime_kernel(10)(np.sqrt(10 - shared)))
    assert weight[0] == pytest.approx(np.exp(-1 / (2 * 0.75**2)))
    counts = [bar.get_height() for bar in below.patches]
    shares = np.array([(ex.z.sum(axis=1) == k).sum() for k in range(11)])
    np.testing.assert_array_equal(counts, shares)
    assert [text.get_text() for text in below.texts] == [str(count) for count in shares]
    assert ex.weights == pytest.approx(weight[ex.z.sum(axis=1)])


@BOTH
@pytest.mark.parametrize("nu", [0.5, 1.0, DEFAULT])
def test_the_rectangle_has_the_area_of_all_weights_and_its_width_is_their_worth(nu, kernel) -> None:
    ex, (_, xi, X) = weights.patient_samples(), patient_13()
    square = (((ex.x - xi) / X.std().to_numpy()) ** 2).sum(axis=1)
    distance = square if kernel == "gaussian" else (~ex.z).sum(axis=1)
    w = np.sort(np.exp(-distance / (2 * nu**2)))[::-1]
    np.testing.assert_allclose(weights.sorted_weights(nu, kernel), w / w[0], rtol=1e-9)
    size = w.sum() ** 2 / (w**2).sum()
    text, fig = drawn(weights.worth, nu, kernel)
    (end,) = in_colour(fig.axes[0], color.truth)
    (width, _), (_, height) = xy(end)
    assert width == pytest.approx(size) and width * height == pytest.approx(w.sum() / w[0])
    assert f"are worth {size:.0f} of equal weight" in text
    assert f"carry {w[:50].sum() / w.sum():.0%} of" in text
    (curve,) = in_colour(fig.axes[0], color.sample)
    points = xy(curve)
    np.testing.assert_allclose(points[:, 1], (w / w[0])[points[:, 0].astype(int) - 1], rtol=1e-9)


def test_what_the_samples_of_patient_13_are_worth_is_near_the_formula() -> None:
    _, xi, X = patient_13()
    size = weights.effective(weights.sorted_weights(DEFAULT, "mismatch"))
    formula = effective_sample_size(xi, lt.Empirical(X), DEFAULT, 5000, "mismatch")
    assert size == pytest.approx(formula, rel=0.002)
    standard = (X - X.mean()) / X.std()
    size = weights.effective(weights.sorted_weights(1.0, "gaussian"))
    formula = effective_sample_size(standard.iloc[13], lt.Empirical(standard), 1.0, 5000)
    assert size == pytest.approx(formula, rel=0.1)


@BOTH
@pytest.mark.parametrize("xi", [-1.5, 0.432, 0.961])
@pytest.mark.parametrize("nu", [0.2, 1.0, 5.0])
def test_weighted_draws_follow_the_tilted_law(nu, xi, kernel) -> None:
    """Mass by mass: each bin is within four standard errors of the integral of the density over it."""
    bars = weights.weighted_histogram(nu, xi, kernel) * weights.BIN
    x, line = weights.LAWS, weights.tilted_density(nu, xi, kernel)
    if kernel == "gaussian":
        law = stats.norm((xi) / (1 + nu**2), nu / np.sqrt(1 + nu**2))
        assert line == pytest.approx(law.pdf(x), rel=1e-9)
    assert np.trapezoid(line, x) == pytest.approx(1, abs=0.01)
    fine = np.linspace(-3, 3, 60_001)
    whole = np.interp(fine, x, line)
    masses, _ = np.histogram(fine, bins=weights.ENDS, weights=whole * 1e-4)
    size = effective_sample_size([xi], lt.Gaussian(), nu, 20_000, kernel)
    assert np.all(np.abs(bars - masses) < 4.5 * np.sqrt(masses / size) + 0.003)


@pytest.mark.parametrize("nu", [0.3, 1.0])
def test_the_weights_of_lime_change_no_law_inside_a_box(nu) -> None:
    before = stats.norm.pdf(weights.LAWS)
    ratio = weights.tilted_density(nu, 0.432, "mismatch") / before
    x, top = weights.LAWS, stats.norm.ppf(0.75)
    own = (x >= 0) & (x < top)
    assert np.ptp(ratio[own]) < 1e-12 and np.ptp(ratio[~own]) < 1e-12
    assert ratio[~own][0] / ratio[own][0] == pytest.approx(np.exp(-1 / (2 * nu**2)))


def test_the_sentence_below_the_tilted_law() -> None:
    text = said(weights.tilt_over_boxes, 1.0, 0.961)
    assert text.startswith("With the paper's weights and ν = 1.00, the tilted law has mean 0.48")
    law = stats.norm(0.961 / 2, np.sqrt(0.5))
    assert f"deviation 0.71; the box of ξ has mass {law.sf(stats.norm.ppf(0.75)):.2f}" in text
    w = np.exp(-0.5)
    text, fig = drawn(weights.tilt_over_boxes, 1.0, 0.961, "mismatch")
    assert f"mass {1 / (1 + 3 * w):.2f}, and the mean weight is {0.25 + 0.75 * w:.2f}." in text
    masses = [bar.get_paths()[0].vertices[:, 1].max() for bar in fig.axes[1].collections]
    assert masses == pytest.approx([w / (1 + 3 * w)] * 3 + [1 / (1 + 3 * w)])
    density = weights.tilted_density(1.0, 0.961, "mismatch")
    (curve,) = in_colour(fig.axes[0], color.sample)
    np.testing.assert_allclose(xy(curve)[:, 1], density / density.max(), rtol=1e-12)
