"""What the figure of the appendix on Gaussian integrals claims."""

import numpy as np
import pytest
from drawing import drawn
from scipy import integrate, stats

from limetutor.course.figures import gaussian_integrals


@pytest.mark.parametrize("sigma", [1.0, 0.5, 2.0])
@pytest.mark.parametrize(("nu", "lo"), [(0.2, 0.5), (1.0, -1.0), (3.0, 2.0)])
def test_the_shaded_area_is_the_integral_of_the_product(monkeypatch, sigma, nu, lo):
    monkeypatch.setattr(gaussian_integrals, "SIGMA", sigma)
    text, fig = drawn(gaussian_integrals.product, nu, lo)

    def product(x):
        return stats.norm(0, sigma).pdf(x) * np.exp(-((x - 1.2) ** 2) / (2 * nu**2))

    area = integrate.quad(product, lo, lo + 1)[0]
    assert f"from {lo:.1f} to {lo + 1:.1f} is {area:.3f}" in text
    _, _, curve = fig.axes[0].lines[:3]
    np.testing.assert_allclose(curve.get_ydata(), product(curve.get_xdata()), atol=1e-12)
    outline = fig.axes[0].collections[0].get_paths()[0].vertices
    upper = outline[outline[:, 1] > 0]
    np.testing.assert_allclose(upper[:, 1], product(upper[:, 0]), atol=1e-12)
    mean = 1.2 * sigma**2 / (nu**2 + sigma**2)
    assert f"a bell around {mean:.2f}" in text


@pytest.mark.parametrize(("xi", "nu"), [(0.4, 0.8), (-2.0, 0.4), (1.0, 3.0)])
def test_prescribed_boxes_agree_with_samples(xi, nu):
    closed, sampled, error = gaussian_integrals.uneven_boxes(xi, nu, 100_000)
    assert abs(closed - sampled) < 4 * error
    assert error < 0.02
