"""Exercises of the chapter *Interactions and dependence*."""

import numpy as np

from ...core.boxes import Gaussian, standard_quantiles
from ...core.kernels import tilt
from ...core.truncated import normal_box
from ..judging.kinds import Function, Given, Value, one_of, with_hints
from ..research.dependence import correlated_coefficients
from ..research.multilinear import BoxGame

_LOW, _HIGH = (float(q) for q in standard_quantiles(6)[4:6])  # the second box above the mean
_TOP = normal_box(standard_quantiles(4)[3], np.inf)  # the top quarter of N(0, 1)
_ABOVE = (0.0, np.inf)


def _widest(sigma: float, power: float = 2.0) -> float:
    """The bandwidth at which the instance that hides the box reaches its upper edge."""
    return float(np.sqrt(sigma**power * (_HIGH - _LOW) / (_HIGH + _LOW)))


def _between(alpha: float) -> float:
    return -float(alpha * _TOP.mean_inside + (1 - alpha) * _TOP.mean_outside)


def _weighed(factor: float) -> float:
    """How often the box of a quarter occurs if what is outside counts ``factor``."""
    return 0.25 / (0.25 + 0.75 * factor)


def _no_credit(rho: float) -> float:
    """The c for which x₂ gets nothing in x₁ + c x₂, the samples having the correlation rho."""
    used, ignored = correlated_coefficients(rho, _ABOVE, _ABOVE)
    return -ignored / used


def _path(means: np.ndarray, p: np.ndarray, nu: float) -> np.ndarray:
    return BoxGame(means, p).path(nu)[0]


def _game(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    d = int(rng.integers(2, 5))
    means = rng.normal(size=(2,) * d).round(2)
    return means, rng.uniform(0.1, 0.6, d).round(2), round(float(rng.uniform(0.5, 2)), 2)


EXERCISES = (
    Value(
        given={"sigma": Given(2.0, "σ", one_of(1.5, 3.0, 4.0, 5.0))},
        asks="a bandwidth",
        right=_widest,
        mistakes=with_hints(
            lambda sigma: _widest(sigma, 1.0),
            "In the condition, both the bandwidth and the standard deviation are squared.",
            lambda sigma: np.sqrt(2) * _widest(sigma),
            "You lost a factor of 2: ξ may be half a box away from the midpoint.",
            lambda sigma: sigma * np.sqrt((_HIGH - _LOW) / (2 * _HIGH)),
            "How far is the midpoint of the box from the mean? You took its upper edge.",
        ),
        nudge="Where is the midpoint of this box, and how wide is it?",
        formula="In units of σ, ν² times the distance from the mean to the midpoint of the box has to be less than "
        "half the width of the box.",
        step="In units of σ, the midpoint is (0.4307 + 0.9674)/2 and the half-width (0.9674 − 0.4307)/2. "
        "ν²/σ² is the second divided by the first, and σ is {sigma}.",
    ),
    Value(
        given={"nu": Given(0.8, "the width", one_of(0.6, 0.7, 0.9, 1.1))},
        asks="the mean of x₂",
        # the mean of x₂ that the weights of the real lime bring to 0, for ξ₂ in the top quarter
        right=lambda nu: -float(tilt(Gaussian(), [1.2], nu, "mismatch").mu_tilde[0]),
        mistakes=with_hints(
            lambda nu: _between(1.0),
            "That is for a very small width, where x₂ stays in the box of ξ₂.",
            lambda nu: _between(_weighed(np.exp(-1 / nu**2))),
            "You lost a factor of 2 in the exponent of the weight.",
            lambda nu: _between(_weighed(np.exp(-1 / (2 * nu)))),
            "The width in the exponent is squared.",
            lambda nu: _between(1 / (1 + 3 * np.exp(1 / (2 * nu**2)))),
            "The weight of a value outside the box is below 1.",
        ),
        nudge="Which mean has to be 0 for the coefficient of x₁ to vanish, and what does the width do to it?",
        formula="The mean of x₂ under the weights is m + α · 1.271 − (1 − α) · 0.4237, and α is ¼ divided by "
        "¼ + ¾ exp(−1/(2ν²)).",
        step="exp(−1/(2 · {nu}²)) is the weight of a mismatch. Put it into α, and α into the mean of x₂; "
        "then solve for m.",
    ),
    Value(
        given={"rho": Given(0.5, "ρ", one_of(0.3, 0.4, 0.6, 0.7))},
        asks="the number c",
        right=_no_credit,
        mistakes=with_hints(
            lambda rho: -rho,
            "Then f has no correlation with x₂, and the difference of means is 0. But least squares "
            "knows z₁ as well.",
            lambda rho: -2 / np.pi * np.arcsin(rho),
            "That is the correlation of the indicators. The features have one too.",
            lambda rho: 2 / np.pi * np.arcsin(rho) - rho,
            "You forgot that x₂ is correlated with z₁ as well.",
        ),
        nudge="What are the covariances of f with z₁ and with z₂? They are the right-hand sides of two "
        "equations.",
        formula="With φ(0) left out, Cov(f, z₁) is 1 + cρ and Cov(f, z₂) is ρ + c. β₂ is 0 if β₁ alone solves "
        "both equations.",
        step="The variance of z₁ is ¼ and its covariance with z₂ is arcsin(ρ)/(2π). So (ρ + c)/(1 + cρ) must "
        "be the ratio of the two, at ρ = {rho}.",
    ),
    Function(
        reference=_path,
        inputs=_game,
        mistakes=with_hints(
            lambda means, p, nu: BoxGame(means, p).gradient(p),
            "The width is missing: weights make a box more frequent.",
            lambda means, p, nu: _path(means, p, nu * np.sqrt(0.5)),
            "You lost a factor of 2 in the exponent of the weight.",
            lambda means, p, nu: _path(means, p, np.sqrt(nu)),
            "The width in the exponent is squared.",
            lambda means, p, nu: _path(np.flip(means), p, nu),
            "Index 1 stands for inside the box of ξ.",
            lambda means, p, nu: -_path(means, p, nu),
            "Inside minus outside.",
        ),
        nudge="The coefficient is a difference along one axis, averaged over the others. How often is each "
        "of the others in its box?",
        formula="α is p/(p + (1 − p) exp(−1/(2ν²))). For feature j, take the difference along axis j; then "
        "average the two entries of every other axis, with weights 1 − α and α.",
        step="np.diff(np.moveaxis(means, j, 0), axis=0)[0] is the difference; with the α of the next axis "
        "g = (1 - a) * g[0] + a * g[1] removes one axis, and np.delete(alpha, j) lists them in "
        "order.",
    ),
)
