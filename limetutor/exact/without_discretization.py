"""Without boxes: a surrogate fitted on scaled numbers is a smoothed gradient.

`lime` with ``discretize_continuous=False`` draws x_j ~ N(mean_j, scale_j^2) (or around xi), weighs by
the distance in units of the scale, and regresses f on u_j = (x_j - mean_j) / scale_j. Under the
tilted law the u_j are independent normals, so least squares separates as it does with boxes, and
by Stein's identity

    beta_j = Cov~(u_j, f) / Var~(u_j) = scale_j E~[d_j f] = scale_j d/dm_j E~[f],

with m_j the mean of the tilted law of x_j: the derivative needs no smooth f. Categories keep their
indicators. Chapter: the real lime, "Without boxes". (That LIME on numbers and SmoothGrad agree in
expectation was shown by Agarwal et al., 2021.)
"""

from typing import Any

import numpy as np

from ..core.models import Form, Linear
from ..core.problem import Problem
from ..core.surrogate import Fit
from ..core.tilted_law import ConditionalLaws
from ..core.truncated import BoxLaw
from ..precision.finite_n import Regressors

# d/dm of a mean over N(m, s^2) by central differences, in steps of a quarter of s. The mean is a
# convolution with a normal, whose spectrum falls like exp(-k^2/2): with eight pairs the error of
# the stencil is below 1e-9 of the range of f wherever that spectrum is not negligible.
STEP, PAIRS = 0.25, 8


def stencil(pairs: int = PAIRS) -> np.ndarray:
    """Weights c_k of f'(0) = sum_k c_k (f(kh) - f(-kh)) / h, exact for polynomials to degree 2 pairs.

    c_k = (-1)^(k+1) (p!)^2 / (k (p-k)! (p+k)!) with p pairs (Fornberg 1988).
    """
    k = np.arange(1, pairs + 1)
    ratio = np.cumprod((pairs - k + 1) / (pairs + k))  # (p!)^2 / ((p-k)! (p+k)!)
    return (-1.0) ** (k + 1) * ratio / k


class ScaledNumbers:
    """A surrogate on numbers in units of their scale, less ``centre``, instead of indicators."""

    how_to_read = (
        "An effect is by how much the prediction rises, on average near this row, when the "
        "feature rises by one standard deviation."
    )

    def __init__(self, centre: np.ndarray) -> None:
        self.centre = centre

    def seen(self, problem: Problem, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Rows x (n, d) as the surrogate has them: scaled numbers, and indicators of categories."""
        boxes = problem.boxes
        return np.where(boxes.ordered, (x - self.centre) / boxes.unit, z)

    def value_at_xi(self, problem: Problem) -> np.ndarray:
        """The same of xi, (d,)."""
        return self.seen(problem, problem.xi[None], np.ones((1, problem.d), bool))[0].astype(float)

    def columns(self, problem: Problem, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """What is fitted on: the same less its value at xi plus 1, so that it is 1 at xi."""
        return self.seen(problem, x, z) - (problem.value_at_xi - 1)

    def from_zero(self, problem: Problem, fit: Fit) -> Fit:
        """The fit with the intercept where all regressors are 0."""
        back = np.eye(len(fit.beta))
        back[0, 1:] = 1 - problem.value_at_xi
        return fit._replace(beta=back @ fit.beta, covariance=back @ fit.covariance @ back.T)

    def regressors(self, problem: Problem) -> Regressors:
        """Scaled numbers u_j and the indicators of categories, under the tilted law."""
        law, boxes = problem.tilt, problem.boxes
        indicators, numbers = Regressors.indicators(law), boxes.ordered
        with np.errstate(divide="ignore"):
            log_variance = 2 * np.log(law.sigma_tilde / boxes.unit)
        return Regressors(
            self.seen(problem, law.mu_tilde[None], indicators.mean[None])[0],
            np.where(numbers, log_variance, indicators.log_variance),
            np.where(numbers, (problem.xi - law.mu_tilde) / boxes.unit, indicators.offset_at_xi),
        )

    def coefficients(self, form: Form, problem: Problem) -> tuple[float, np.ndarray]:
        """E~[f] and beta of a form: the slopes scale_j d/dm_j E~[f], contrasts for categories."""
        law, numbers, scale = problem.tilt, problem.boxes.ordered, problem.boxes.unit
        if isinstance(form, Linear):
            centre = float(form(law.mu_tilde[None])[0])
            return centre, form.a * np.where(numbers, scale, law.gap)
        shifts = STEP * np.arange(1, PAIRS + 1)
        shifted = [form.expectation(_shifted(law.views, numbers, float(by))) for by in shifts]
        contrasts = [at.inside - at.outside for at in shifted]
        step = STEP * law.sigma_tilde / scale
        slopes = sum(c * contrast for c, contrast in zip(stencil(), contrasts, strict=True))
        with np.errstate(divide="ignore", invalid="ignore"):
            beta = np.where(numbers, slopes / step, contrasts[0])
        return float(shifted[0].mean), beta

    def sampled(
        self, problem: Problem, samples: int, seed: Any
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """E~[f], beta and the covariance of intercept and beta, from samples of the tilted law.

        The regressors are independent with known means and variances, so that each coefficient is a
        mean: beta_j = mean of (f - E~f) (r_j - E~r_j) / Var~ r_j, less what the others explain.
        """
        r = self.regressors(problem)
        x, drawn = problem.tilt.views.law.sample(np.random.default_rng(seed), samples)
        y = problem.predict(x)
        values = self.seen(problem, x, drawn == problem.box_of_xi)
        design = np.hstack([np.ones((samples, 1)), values - r.mean])
        bread = np.linalg.pinv(design.T @ design)
        fitted = bread @ (design.T @ y)
        scores = design * (y - design @ fitted)[:, None]
        V = bread @ (scores.T @ scores) @ bread
        back = np.eye(len(fitted))  # from the centred intercept to the intercept
        back[0, 1:] = -r.mean
        return float(fitted[0]), fitted[1:], back @ V @ back.T


def _shifted(views: ConditionalLaws, numbers: np.ndarray, by: float) -> ConditionalLaws:
    """The tilted law moved up and down by so many deviations, for numbers, in place of its two sides."""
    law, base = views.law, views.weights[0]
    parts: dict[str, Any] = {
        name: np.concatenate([getattr(law, name)] * 3, axis=-1)
        for name in ("log_prob", "sd", "lo", "hi")
    }
    move = np.where(numbers, by * law.sd[:, 0], 0.0)[:, None]
    parts["mean"] = np.concatenate([law.mean, law.mean + move, law.mean - move], axis=-1)
    empty = np.zeros_like(base)
    one_side = np.where(numbers[:, None], base, views.weights[1])
    other = np.where(numbers[:, None], base, views.weights[2])
    weights = np.stack(
        [
            np.concatenate([base, empty, empty], axis=-1),
            np.concatenate([empty, one_side, empty], axis=-1),
            np.concatenate([empty, empty, other], axis=-1),
        ]
    )
    with np.errstate(divide="ignore"):
        parts["log_prob"] = np.log(weights[0])
    return ConditionalLaws(BoxLaw(**parts), weights)
