"""The spectrum and norms of C Sigma^-1, an arrowhead matrix, and what lasso makes of a limit.

Chapter: covariance; appendix: reading the paper.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..core.covariance import invertible, probabilities
from ..inputs import arguments as arg


def secular(lam: ArrayLike, alpha: ArrayLike, sign: float = -1.0) -> np.ndarray:
    """The secular function of the arrowhead C Sigma^-1; its zeros are the eigenvalues.

    1 + sum a/(1-a) - lam + sign * sum a / ((1-a)(1 - lam a (1-a))) with a = alpha_j. The paper
    (its Remark 8.1) prints sign = +1; it is -1.
    """
    alpha = invertible(alpha)
    lam = np.asarray(lam, float)[..., None]
    odds = alpha / (1 - alpha)
    poles = np.sum(odds / (1 - lam * alpha * (1 - alpha)), axis=-1)
    return 1 + odds.sum() - lam[..., 0] + sign * poles


def arrowhead_eigenvalues(alpha: ArrayLike) -> np.ndarray:
    """Eigenvalues of C Sigma^-1, ascending, from the secular equation.

    The diagonal entries 1/(alpha_j(1-alpha_j)) are poles; one eigenvalue lies between each pair
    of neighbours and one outside on either side. A diagonal entry that occurs m times is itself
    an eigenvalue m - 1 times.
    """
    alpha = invertible(alpha)
    order = np.argsort(1 / (alpha * (1 - alpha)))
    alpha = alpha[order]
    poles, odds = 1 / (alpha * (1 - alpha)), alpha / (1 - alpha)
    highest = 2 * (1 + odds.sum() + poles.sum())  # the trace would do, but for its rounding
    new = np.concatenate([[True], np.diff(poles) > 1e-13 * poles[1:]])
    repeated = poles[~new]
    poles, odds = poles[new], np.add.reduceat(odds, np.flatnonzero(new))
    ends = zip([0.0, *poles], [*poles, highest], strict=True)
    return np.sort(np.concatenate([[_root_between(a, b, poles, odds) for a, b in ends], repeated]))


def largest_eigenvalue(alpha: ArrayLike, rest: ArrayLike | None = None) -> float:
    """That of C Sigma^-1, in O(d); infinite where an entry is. ``rest`` is 1 - alpha if known better."""
    alpha = probabilities(alpha)
    rest = 1 - alpha if rest is None else np.asarray(rest, float)
    with np.errstate(divide="ignore", over="ignore"):
        poles, odds = 1 / alpha / rest, alpha / rest
        highest = 2 * float(1 + odds.sum() + poles.sum())
    return _root_between(float(poles.max()), highest, poles, odds) if highest < np.inf else np.inf


def _root_between(a: float, b: float, poles: np.ndarray, odds: np.ndarray) -> float:
    """The only zero of 1 - lam - lam sum odds/(poles - lam) in (a, b), where it decreases.

    That is the secular function with its large terms cancelled by hand. Solved as a step from the
    nearer end, so that a root close to a pole keeps its digits.
    """
    from scipy import optimize  # half the import time of the package, for this one function

    def step_from(origin: float, lo: float, hi: float) -> float:
        gaps = poles - origin

        def value(step: float) -> float:
            lam = origin + step
            return 1 - lam - lam * np.sum(odds / (gaps - step))

        tiny = 1e-18 * origin  # off the pole, where the function is infinite
        lo, hi = (lo + tiny if lo == 0 else lo), (hi - tiny if hi == 0 else hi)
        if value(lo) <= 0:  # closer to this end than can be told apart
            return lo
        if value(hi) >= 0:
            return hi
        return optimize.brentq(value, lo, hi, xtol=1e-300, rtol=8.9e-16, maxiter=500)

    half = (b - a) / 2
    middle = a + half
    if 1 - middle - middle * np.sum(odds / (poles - middle)) > 0:
        return b + step_from(b, -half, 0.0)
    return a + step_from(a, 0.0, half)


def inverse_frobenius_norm(alpha: ArrayLike, C: float = 1.0, *, printed: bool = False) -> float:
    """||Sigma^-1||_F, in closed form.

    C^-2 [(1 + sum a/(1-a))^2 + 2 sum 1/(1-a)^2 + sum 1/(a(1-a))^2] under the root. The paper
    (proof of its Lemma 8.3) prints the middle sum once and the last one
    without its square: ``printed=True``.
    """
    alpha = invertible(alpha)
    corner = (1 + np.sum(alpha / (1 - alpha))) ** 2
    beside, diagonal = np.sum(1 / (1 - alpha) ** 2), 1 / (alpha * (1 - alpha))
    if printed:
        return float(np.sqrt(corner + beside + diagonal.sum()) / C)
    return float(np.sqrt(corner + 2 * beside + np.sum(diagonal**2)) / C)


def inverse_norm_bound(alpha: ArrayLike, C: float = 1.0) -> float:
    """3 d A / C with A = max 1/(alpha_j(1-alpha_j)), a bound on ||Sigma^-1||.

    Paper: Lemma 8.3. It holds in spite of the slips in its proof.
    """
    alpha = invertible(alpha)
    return float(3 * alpha.size * alpha_constant(alpha) / C)


def lasso_limit(
    beta: ArrayLike, alpha: ArrayLike, lasso: float, rest: ArrayLike | None = None
) -> np.ndarray:
    """``sign(beta_j) max(|beta_j| - lasso / s_j, 0)``, ``s_j = alpha_j (1 - alpha_j)``: beta under lasso.

    The minimum of ``sum_j s_j (b_j - beta_j)^2 / 2 + lasso |b_j|``, which is what the sampled problem
    (``lt.explain(..., lasso=...)``) becomes: indicators are independent under the tilted law. For a
    linear f, s_j beta_j = -a_j theta_j, so feature j is left out where ``|a_j theta_j| <= lasso``. The
    paper (Section 2.2) guesses that penalties favour switch-off. Appendix: reading the paper.
    """
    beta, alpha = arg.vector("beta", beta), probabilities(alpha)
    rest = 1 - alpha if rest is None else np.asarray(rest, float)
    lasso = arg.not_negative("lasso", lasso)
    with np.errstate(divide="ignore", over="ignore"):
        threshold = np.divide(lasso, alpha * rest) if lasso else np.zeros_like(alpha)
    return np.sign(beta) * np.maximum(np.abs(beta) - threshold, 0.0)


def alpha_constant(alpha: ArrayLike, rest: ArrayLike | None = None) -> float:
    """A_d = max_j 1/(alpha_j (1 - alpha_j)), the constant of the paper's bounds (Lemma 8.3).

    ``rest`` is 1 - alpha if known better; A is infinite where it is 0.
    """
    alpha = invertible(alpha) if rest is None else probabilities(alpha)
    rest = 1 - alpha if rest is None else np.asarray(rest, float)
    with np.errstate(divide="ignore", over="ignore"):
        return float(np.max(1 / alpha / rest))
