"""The paper's bounds on how far an explanation is from its limit, as printed and as they hold.

Every bound has ``corrected``: False gives the form printed in the paper, True one that holds.
Chapter: how many samples; appendix: reading the paper.
"""

from __future__ import annotations

import warnings

import numpy as np

from . import arguments as arg
from .closed_forms import Limit
from .covariance import alpha_constant
from .kernels import GaussianKernel
from .models import Linear
from .setting import Setting


def covariance_tail(t: float, n: int, d: int, *, corrected: bool = True) -> float:
    """Bound on P(||Sigma^ - Sigma|| >= t) (paper, Lemma "Concentration
    of the empirical covariance matrix").

    Printed: 4 d^2 exp(-2 n t^2). Entries within t of their means do not keep the norm within t,
    and (d+1)^2 <= 2 d^2 fails for d = 1, 2. Corrected: 2 (d+1)^2 exp(-2 n t^2 / (d+1)^2).
    """
    t, n, d = arg.positive("t", t), arg.whole("n", n, 1), arg.whole("d", d, 1)
    if corrected:
        return float(2 * (d + 1) ** 2 * np.exp(-2 * n * t**2 / (d + 1) ** 2))
    return float(4 * d**2 * np.exp(-2 * n * t**2))


def inverse_tail(t: float, n: int, d: int, C: float, A: float, *, corrected: bool = True) -> float:
    """Bound on P(||Sigma^^-1 - Sigma^-1|| >= t) for t <= 3 d A / C (paper,
    Proposition "Control of ||Sigma^^-1 - Sigma^-1||").

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
    return float(abs(f(xi[None])[0]) + nu * np.linalg.norm(f.a) / np.sqrt(np.e))


def response_tail(
    t: float, n: int, f: Linear, xi: np.ndarray, nu: float, sigma: float, *, corrected: bool = True
) -> float:
    """Bound on P(||Gamma^ - Gamma|| > t) (paper, Lemma "Concentration of ||Gamma^||").

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


def theorem_applies(setting: Setting) -> bool:
    """Whether the paper's theorem speaks of it: linear f, normal features, Gaussian kernel."""
    normal = setting.boxes.standard is not None
    return (
        normal and isinstance(setting.kernel, GaussianKernel) and isinstance(setting.form, Linear)
    )


def theorem_sample_size(
    limit: Limit, sigma: float | np.ndarray, eps: float, eta: float, *, corrected: bool = True
) -> float:
    """Samples that make ||beta^ - beta|| <= eps with probability 1 - eta (paper,
    Theorem "Concentration of beta^").

    Printed: the largest of ::

        288 S^2 d^2 A^2 / (eps C)^2 log(12 d / eta),    18 d^2 A^2 / C^2 log(24 d^2 / eta),
        648 d^5 A^4 (3 f(mu~)^2 + sigma~^2 ||a||^2) / (eps C)^2 log(24 d^2 / eta)

    with S = sigma ||a||. Corrected: the same proof with the corrected lemmas above and the exact
    norm of Gamma. Both are for the Gaussian kernel on numeric features, where pi f(x) is bounded.
    """
    n = quiet_sample_size(limit, sigma, eps, eta, corrected=corrected)
    if np.isinf(n):
        warnings.warn(beyond(limit.nu), arg.PrecisionWarning, stacklevel=2)
    return n


def beyond(nu: float) -> str:
    """What is said of a number of samples that no double can hold."""
    return f"The number of samples at nu={nu:g} is beyond 1e308, given as infinite."


def quiet_sample_size(
    limit: Limit, sigma: float | np.ndarray, eps: float, eta: float, *, corrected: bool = True
) -> float:
    """:func:`theorem_sample_size` without a word where it is infinite."""
    eps, eta = arg.positive("eps", eps), arg.probability("eta", eta)
    if not theorem_applies(limit.setting):
        raise ValueError(
            f"limit must be of the gaussian kernel, got {limit.kernel!r}, for a linear f in a "
            f"Gaussian world, got {arg.shorten(limit.f)}."
        )
    C, A = np.exp(limit.log_C), np.float64(alpha_constant(limit.alpha, limit.tilt.rest))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        size = _corrected_sample_size if corrected else _printed_sample_size
        n = size(limit, sigma, eps, eta, limit.f.a.size, C, A)
    return float(n) if np.isfinite(n) else float("inf")


def _printed_sample_size(
    limit: Limit, sigma: float | np.ndarray, eps: float, eta: float, d: int, C: float, A: float
) -> float:
    f = limit.f
    spread = np.sum((f.a * sigma) ** 2)
    centre = float(f(limit.mu_tilde[None])[0]) ** 2
    tilted = float(np.sum((f.a * limit.sigma_tilde) ** 2))
    return np.max(
        [
            288 * spread * d**2 * A**2 / (eps * C) ** 2 * np.log(12 * d / eta),
            18 * d**2 * A**2 / C**2 * np.log(24 * d**2 / eta),
            648 * d**5 * A**4 * (3 * centre + tilted) / (eps * C) ** 2 * np.log(24 * d**2 / eta),
        ]
    )


def _corrected_sample_size(
    limit: Limit, sigma: float | np.ndarray, eps: float, eta: float, d: int, C: float, A: float
) -> float:
    """N at which each of the three events of the proof fails with probability eta / 3 at most."""
    for_matrix = np.log(6 * (d + 1) ** 2 / eta) * (d + 1) ** 2 / 2
    B = response_bound(limit.f, limit.xi, limit.nu)
    centre = float(limit.f(limit.mu_tilde[None])[0])
    norm = C * np.hypot(centre, np.linalg.norm(limit.alpha * centre - limit.f.a * limit.theta))
    t1, t2 = C / (6 * d * A), eps * C / (12 * d * A)
    t3 = min(eps / (2 * norm) if norm > 0 else np.inf, 3 * d * A / C)
    return np.max(
        [
            for_matrix / t1**2,
            2 * B**2 * (d + 1) / t2**2 * np.log(6 * (d + 1) / eta),
            for_matrix / (C**2 * t3 / (18 * d**2 * A**2)) ** 2,
        ]
    )
