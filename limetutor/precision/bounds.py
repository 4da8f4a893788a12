"""Bounds on the distance of an explanation from its limit, for every n.

Those of the paper have ``corrected``: False gives the form printed in the paper, True one that
holds. :func:`finite_sample_size` has a shorter proof and needs far fewer samples.
Chapters: how many samples, covariance; appendix: reading the paper. Numbers of lemmas are those
that the paper's source gives them: its appendix counts on from Section 7.
"""

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike

from ..core.kernels import GaussianKernel
from ..core.models import Linear
from ..core.problem import Problem
from ..inputs import arguments as arg
from ..inputs.warning_classes import PrecisionWarning
from ..results.limit import Limit
from .arrowhead import alpha_constant, largest_eigenvalue
from .effective_samples import squared_kernel_tilt


def covariance_tail(t: float, n: int, d: int, *, corrected: bool = True) -> float:
    """Bound on P(||Sigma^ - Sigma|| >= t) (paper, Lemma 8.4, by Theorem 11.1).

    Printed: 4 d^2 exp(-2 n t^2). Entries within t of their means do not keep the norm within t,
    and (d+1)^2 <= 2 d^2 fails for d = 1, 2. Corrected: 2 (d+1)^2 exp(-2 n t^2 / (d+1)^2).
    """
    t, n, d = arg.positive("t", t), arg.whole("n", n, 1), arg.whole("d", d, 1)
    if corrected:
        return float(2 * (d + 1) ** 2 * np.exp(-2 * n * t**2 / (d + 1) ** 2))
    return float(4 * d**2 * np.exp(-2 * n * t**2))


def inverse_tail(t: float, n: int, d: int, C: float, A: float, *, corrected: bool = True) -> float:
    """Bound on P(||Sigma^^-1 - Sigma^-1|| >= t) for t <= 3 d A / C (paper, Proposition 8.1).

    Printed: 8 d^2 exp(-C^4 n t^2 / (162 d^4 A^4)). Corrected: with t' = C^2 t / (18 d^2 A^2) both
    events of the proof are ||Sigma^ - Sigma|| <= t', so :func:`covariance_tail` at t' is enough.
    """
    t = arg.positive("t", t)
    if t > 3 * d * A / C:
        raise ValueError(f"t must be at most 3 d A / C = {3 * d * A / C:g}, got {t:g}.")
    inner = C**2 * t / (18 * d**2 * A**2)
    return covariance_tail(inner, n, d, corrected=corrected) * (1 if corrected else 2)


def response_bound(f: Linear, xi: np.ndarray, nu: float) -> float:
    """``B = |f(xi)| + nu ||a|| / sqrt(e)``, which pi f(x) never exceeds in size (Gaussian kernel).

    f(x) = f(xi) + a.(x - xi), pi <= 1, and r exp(-r^2/2nu^2) is at most nu / sqrt(e).
    """
    nu = arg.positive("nu", nu)
    xi = arg.vector("xi", xi, f.a.size)
    return float(abs(f(xi[None])[0]) + nu * np.linalg.norm(f.a) / np.sqrt(math.e))


def response_tail(
    t: float, n: int, f: Linear, xi: np.ndarray, nu: float, sigma: float, *, corrected: bool = True
) -> float:
    """Bound on P(||Gamma^ - Gamma|| > t) (paper, Lemma 9.3, by Theorem 11.2).

    Printed: 4 d exp(-n t^2 / (2 ||a||^2 sigma^2)), which is 0 when a = 0 although b pi still
    fluctuates. Corrected: 2 (d+1) exp(-n t^2 / (2 B^2 (d+1))) with B from :func:`response_bound`,
    since every entry lies in [-B, B].
    """
    t, n, d = arg.positive("t", t), arg.whole("n", n, 1), f.a.size
    if corrected:
        B = response_bound(f, xi, nu)
        return float(2 * (d + 1) * np.exp(-n * t**2 / (2 * B**2 * (d + 1)))) if B > 0 else 0.0
    spread = np.sum((f.a * sigma) ** 2)
    return float(4 * d * np.exp(-n * t**2 / (2 * spread))) if spread > 0 else 0.0


def empirical_inverse_bound(d: int, C: float, A: float) -> tuple[float, float]:
    """The t and the bound of the paper's Lemma 8.5: ``t = C / (6 d A)``, ``6 d A / C``.

    Where ||Sigma^ - Sigma|| <= t, Weyl's inequality keeps every eigenvalue of Sigma^ within t of
    one of Sigma, which are C / (3 d A) or more, so that ||Sigma^^-1|| <= 6 d A / C. Chapter:
    covariance.
    """
    d, C, A = arg.whole("d", d, 1), arg.positive("C", C), arg.positive("A", A)
    return C / (6 * d * A), 6 * d * A / C


def response_norm_bound(limit: Limit) -> float:
    """``C sqrt(3 d f(mu~)^2 + d sum (a_j sigma~_j)^2)``, a bound on ||Gamma|| (paper, Lemma 9.2).

    For linear f, the Gaussian kernel and normal features. Appendix: reading the paper.
    """
    if not theorem_applies(limit.setting):
        raise ValueError(f"limit must be of the paper's setting, got {arg.shorten(limit.f)}.")
    centre = float(limit.f(limit.mu_tilde[None])[0])
    spread = float(np.sum((limit.f.a * limit.sigma_tilde) ** 2))
    return float(limit.C * np.sqrt(limit.f.a.size * (3 * centre**2 + spread)))


def hoeffding_tail(t: float, n: int, width: float = 1.0) -> float:
    """``exp(-2 n t^2 / width^2)``, a bound on P(mean - expectation >= t) (paper, Theorem 11.1).

    For n independent variables, each in an interval of that width. Twice this bounds both sides.
    Appendix: reading the paper.
    """
    t, n, width = arg.positive("t", t), arg.whole("n", n, 1), arg.positive("width", width)
    return float(np.exp(-2 * n * (t / width) ** 2))


def subgaussian_tail(t: float, n: int, s: float = 1.0) -> float:
    """``exp(-n t^2 / (2 s^2))``, a bound on P(mean - expectation > t) (paper, Theorem 11.2).

    For n independent variables that are sub-Gaussian with parameter s^2, as N(0, s^2) is.
    Appendix: reading the paper.
    """
    t, n, s = arg.positive("t", t), arg.whole("n", n, 1), arg.positive("s", s)
    return float(np.exp(-n * (t / s) ** 2 / 2))


def bounded_residual(problem: Problem) -> bool:
    """Whether :func:`residual_bound` applies: linear f, numeric features, Gaussian kernel."""
    gaussian = isinstance(problem.kernel, GaussianKernel)
    return bool(np.all(problem.boxes.ordered)) and gaussian and isinstance(problem.form, Linear)


def theorem_applies(problem: Problem) -> bool:
    """Whether the paper's theorem applies: linear f, normal features, Gaussian kernel."""
    return problem.boxes.standard is not None and bounded_residual(problem)


def theorem_sample_size(
    limit: Limit, sigma: float | np.ndarray, eps: float, eta: float, *, corrected: bool = True
) -> float:
    """Samples that make ||beta^ - beta|| <= eps with probability 1 - eta (paper, Theorem 10.1).

    Printed: the largest of ::

        288 S^2 d^2 A^2 / (eps C)^2 log(12 d / eta),    18 d^2 A^2 / C^2 log(24 d^2 / eta),
        648 d^5 A^4 (3 f(mu~)^2 + sigma~^2 ||a||^2) / (eps C)^2 log(24 d^2 / eta)

    with S = sigma ||a||. Corrected: the same proof with the corrected lemmas above and the exact
    norm of Gamma. Both are for the Gaussian kernel on numeric features, where pi f(x) is bounded.
    """
    n = quiet_sample_size(limit, sigma, eps, eta, corrected=corrected)
    if np.isinf(n):
        warnings.warn(infinite_size_message(limit.nu), PrecisionWarning, stacklevel=2)
    return n


def infinite_size_message(nu: float) -> str:
    """The warning about a number of samples that no double can hold."""
    return f"The number of samples at nu={nu:g} is beyond 1e308, given as infinite."


def quiet_sample_size(
    limit: Limit, sigma: float | np.ndarray, eps: float, eta: float, *, corrected: bool = True
) -> float:
    """:func:`theorem_sample_size` without the warning where it is infinite."""
    eps, eta = arg.positive("eps", eps), arg.probability("eta", eta)
    if not theorem_applies(limit.setting):
        raise ValueError(
            f"limit must be of the gaussian kernel, got {limit.kernel!r}, for a linear f in a "
            f"Gaussian world, got {arg.shorten(limit.f)}."
        )
    f, d = limit.f, limit.f.a.size
    C, A = np.exp(limit.log_C), np.float64(alpha_constant(limit.alpha, limit.tilt.rest))
    centre = float(f(limit.mu_tilde[None])[0])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if corrected:  # each of the proof's three events fails with probability eta / 3 at most
            for_matrix = np.log(6 * (d + 1) ** 2 / eta) * (d + 1) ** 2 / 2
            B = response_bound(f, limit.xi, limit.nu)
            norm = C * np.hypot(centre, np.linalg.norm(limit.alpha * centre - f.a * limit.theta))
            t1, t2 = C / (6 * d * A), eps * C / (12 * d * A)
            t3 = min(eps / (2 * norm) if norm > 0 else np.inf, 3 * d * A / C)
            sizes = [
                for_matrix / t1**2,
                2 * np.square(B) * (d + 1) / t2**2 * np.log(6 * (d + 1) / eta),
                for_matrix / (C**2 * t3 / (18 * d**2 * A**2)) ** 2,
            ]
        else:
            spread = np.sum((f.a * sigma) ** 2)
            norm = 3 * centre**2 + float(np.sum((f.a * limit.sigma_tilde) ** 2))
            sizes = [
                288 * spread * d**2 * A**2 / (eps * C) ** 2 * np.log(12 * d / eta),
                18 * d**2 * A**2 / C**2 * np.log(24 * d**2 / eta),
                648 * d**5 * A**4 * norm / (eps * C) ** 2 * np.log(24 * d**2 / eta),
            ]
        n = np.max(sizes)
    return float(n) if np.isfinite(n) else float("inf")


def residual_bound(limit: Limit) -> float:
    """``B = nu ||a|| / sqrt(e) + sum_j |a_j| max_v |E~[x_j | z_j = v] - xi_j|``, a bound on ``pi |r|``.

    r = f - beta.z = sum_j a_j (x_j - E~[x_j | z_j]) is a.(x - xi) plus the second sum at most, and
    r exp(-r^2/2nu^2) <= nu / sqrt(e). Chapter: how many samples.
    """
    if not bounded_residual(limit.setting):
        raise ValueError(
            "limit must be of a linear f and the gaussian kernel on numbers, "
            f"got {limit.kernel!r} and {arg.shorten(limit.f)}."
        )
    a, inside, outside = limit.f.a, limit.tilt.inside, limit.tilt.inside - limit.tilt.gap
    shift = np.sum(np.abs(a) * np.maximum(np.abs(inside), np.abs(outside)))
    return float(limit.nu * np.linalg.norm(a) / np.sqrt(math.e) + shift)


def moment_constant(limit: Limit, spread: float) -> float:
    """R with ``E|X|^m <= m!/2 v R^(m-2)`` for m > 2, X = Sigma^-1/2 pi r z and ``v = E|X|^2 = spread``.

    With B of :func:`residual_bound` and L of :func:`leverage_bound` that is so for B sqrt(L / C) / 3, and for
    normal features also for C' (L / C)^(3/2) S^3 / v, which stays bounded as nu grows; the smaller of them. ::

        S = |(a_j s_j)| + sum_j |a_j| max_u |E~[x_j | z_j = u] - m_j|

    with means m and deviations s of the tilted law of pi^2, and C' = E[pi^2]. Chapter: how many samples.
    """
    tilt = limit.tilt
    root = np.sqrt(leverage_bound(tilt.alpha, tilt.rest) / np.exp(limit.log_C))
    R = residual_bound(limit) * root / 3
    if not theorem_applies(limit.setting) or spread == 0:
        return float(R)
    narrow, a = squared_kernel_tilt(limit.setting), np.abs(limit.f.a)
    sides = limit.xi + np.array([tilt.inside, tilt.inside - tilt.gap])
    S = np.linalg.norm(a * narrow.sigma_tilde) + a @ np.max(np.abs(sides - narrow.mu_tilde), axis=0)
    return float(np.fmin(R, np.exp(narrow.log_C) * (S * root) ** 2 / spread * S * root))


def leverage_bound(alpha: ArrayLike, rest: ArrayLike | None = None) -> float:
    """``L = 1 + sum_j max(alpha_j / (1 - alpha_j), (1 - alpha_j) / alpha_j)``.

    The largest value of z' (C Sigma^-1) z = 1 + sum_j (z_j - alpha_j)^2 / (alpha_j (1 - alpha_j))
    over all z. ``rest`` is 1 - alpha where it is known to more digits. Chapter: how many samples.
    """
    alpha = arg.vector("alpha", alpha)
    rest = 1 - alpha if rest is None else np.asarray(rest, float)
    with np.errstate(divide="ignore", over="ignore"):
        return float(1 + np.sum(np.maximum(alpha / rest, rest / alpha)))


def chernoff_exponent(delta: float) -> float:
    """``h(delta) = delta + (1 - delta) log(1 - delta)``, of the matrix Chernoff inequality."""
    if delta < 1e-4:  # the two terms cancel
        return delta**2 / 2 + delta**3 / 6
    return float(delta + (1 - delta) * np.log1p(-delta))


def finite_sample_size(limit: Limit, spread: float, eps: float, eta: float) -> float:
    """Samples that make ||beta^ - beta|| <= eps with probability 1 - eta, for every such n.

    The least over 0 < delta < 1 of the larger of ::

        n1 = L / (C h(delta)) log(2 (d + 1) / eta),    h(delta) = delta + (1 - delta) log(1 - delta)
        n2 = 2 (v / tau^2 + R / tau) log(4 / eta),    tau = (1 - delta) eps / kappa

    with kappa^2 = ||Sigma^-1||, L from :func:`leverage_bound` and R from :func:`moment_constant`;
    ``spread`` is v = E[pi^2 r^2 z' Sigma^-1 z], from
    :func:`limetutor.precision.normal_limit.whitened_variance`. Not in the paper. For normal features
    it stays bounded as nu grows. Chapter: how many samples.
    """
    from scipy import optimize

    eps, eta = arg.positive("eps", eps), arg.probability("eta", eta)
    alpha, rest = limit.alpha, limit.tilt.rest
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        C, L = np.exp(limit.log_C), leverage_bound(alpha, rest)
        kappa, R = np.sqrt(largest_eigenvalue(alpha, rest) / C), moment_constant(limit, spread)
        if not np.isfinite(kappa + spread):
            return float("inf")

    def sizes(delta: float) -> tuple[float, float]:
        tau = (1 - delta) * eps / kappa
        first = L / (C * chernoff_exponent(delta)) * np.log(2 * (limit.f.a.size + 1) / eta)
        return first, 2 * (spread / tau**2 + R / tau) * np.log(4 / eta)

    def excess(delta: float) -> float:
        first, second = sizes(delta)
        return float(np.log(first) - np.log(second))

    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        delta, most = 1e-6, 1 - 1e-6
        if excess(delta) > 0:  # otherwise the second, which rises, is the larger one throughout
            meets = excess(most) < 0
            delta = float(optimize.brentq(excess, delta, most, xtol=1e-9)) if meets else most
        n = max(sizes(delta))
    return float(n) if np.isfinite(n) else float("inf")
