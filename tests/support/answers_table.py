"""Answers to the exercises, chapter by chapter: the right ones, and mistakes with their hints.

What is right is written out here, or taken from the package in another way than the judge does. A
chapter is a function, so that its numbers have short names and stay its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, stats
from scipy.stats import norm

import limetutor as lt
from limetutor.course.experiments import running_example
from limetutor.normal_limit import asymptotic_covariance

EDGE = norm.ppf(0.75)  # the third edge of four boxes
WORLD = lt.Gaussian()


class Rows(NamedTuple):
    """The answers of a chapter."""

    right: list[tuple[str, Any]]  # exercise, answer
    wrong: list[tuple[str, Any, str]]  # exercise, answer, a part of its hint


def welcome() -> Rows:
    off = np.sqrt((2 * 0.432 - EDGE) / EDGE)  # the critical bandwidth by hand
    wide = lt.limit(lt.Linear([10]), [0.961], WORLD, nu=5).coef[0]
    right = [("welcome/1", off), ("welcome/2", wide / 10)]
    wrong = [
        ("welcome/1", 0.9, "Move the slider"),
        ("welcome/2", wide, "divide it"),
        ("welcome/2", 3.0, "nu=5"),
    ]
    return Rows(right, wrong)


def ten_minutes() -> Rows:
    right = [("ten-minutes/1", 10.8), ("ten-minutes/2", 20_000)]
    wrong = [
        ("ten-minutes/1", 1 / 10.8, "not the other way round"),
        ("ten-minutes/1", [10.8, 2.0], "one number"),
        ("ten-minutes/1", 1000.0, "standard error of bmi"),
        ("ten-minutes/2", 10_000, "factor of 1.4"),
        ("ten-minutes/2", 7, "square root"),
    ]
    return Rows(right, wrong)


def discretization() -> Rows:
    fifths = norm.ppf(np.arange(1, 5) / 5)
    share = np.sqrt(2 / (500 * np.pi)) * (0.5 + 2 * np.sqrt(0.1875))
    right = [
        ("discretization/1", 94.6 + 13.8 * fifths),
        ("discretization/2", 0.1875 / norm.pdf(EDGE) ** 2 / 0.01**2),
        ("discretization/3", 1 - (1 - share) ** 10),
    ]
    wrong = [
        ("discretization/1", 94.6 + 13.8 * np.array([-np.inf, *fifths, np.inf]), "infinity"),
        ("discretization/1", fifths, "units of the deviation"),
        ("discretization/1", 94.6 + fifths, "deviation is missing"),
        ("discretization/1", 94.6 + 13.8 * norm.ppf([0.25, 0.5, 0.75]), "four boxes"),
        ("discretization/1", 80, "Φ⁻¹"),
        ("discretization/2", 0.25 / norm.pdf(0) ** 2 / 0.01**2, "median"),
        ("discretization/2", np.sqrt(0.1875) / norm.pdf(EDGE) / 0.01, "root of n"),
        ("discretization/2", 1875, "density is missing"),
        ("discretization/2", "many", "solve for n"),
        ("discretization/3", share, "single feature"),
        ("discretization/3", 10 * share, "Adding"),
        ("discretization/3", (1 - share) ** 10, "all ten features stay"),
        ("discretization/3", 0.5, "stay put"),
    ]
    return Rows(right, wrong)


def sampling() -> Rows:
    mean = 4 * (norm.pdf(0) - norm.pdf(EDGE))
    masses = np.diff([0, norm.cdf(-1), norm.cdf(2), 1])
    right = [
        ("sampling/1", mean),
        ("sampling/2", list(masses)),
        ("sampling/3", 5000 / 4**10),
    ]
    wrong = [
        ("sampling/1", EDGE / 2, "middle"),
        ("sampling/1", mean / 4, "1/4"),
        ("sampling/1", -mean, "sign"),
        ("sampling/1", 1.0, "two edges"),
        ("sampling/2", [1 / 3] * 3, "quantile boxes only"),
        ("sampling/2", norm.cdf([-1, 2]), "differences"),
        ("sampling/2", [0.2, 0.7, 0.1], "three numbers"),
        ("sampling/3", 4.0**-10, "5000"),
        ("sampling/3", 1250, "at once"),
        ("sampling/3", 1, "1/4"),
    ]
    return Rows(right, wrong)


def weights() -> Rows:
    nu = 0.75 * np.sqrt(10)
    right = [
        ("weights/1", 0.5),
        ("weights/2", 100 / (np.sqrt(3) / 2) ** 20),
        ("weights/3", 1 / (1 + 3 * np.exp(-1 / (2 * nu**2)))),
    ]
    wrong = [
        ("weights/1", 0.25, "take the root"),
        ("weights/1", 2.0, "towards ξ"),
        ("weights/1", 1.0, "Solve"),
        ("weights/2", 100 * 2.0**10, "mean weight"),
        ("weights/2", 100 / (np.sqrt(3) / 2), "one feature"),
        ("weights/2", 2000, "Divide"),
        ("weights/3", 0.25, "before weighting"),
        ("weights/3", 1 / (1 + 3 * np.exp(-1 / nu**2)), "square root"),
        ("weights/3", 1 / (1 + 3 * np.exp(-1 / (2 * 7.5**2))), "0.75 √d"),
        ("weights/3", 0.9, "four boxes"),
    ]
    return Rows(right, wrong)


def surrogate() -> Rows:
    at = lt.limit(*running_example(), nu=1.0)
    s = at.alpha[0] * (1 - at.alpha[0])
    right = [
        ("surrogate/1", [1.5, 0.5]),
        ("surrogate/2", [0.3, -0.05, 0.06]),
        ("surrogate/3", 10_000 * at.C * s),
    ]
    wrong = [
        ("surrogate/1", [0.5, 1.5], "comes first"),
        ("surrogate/1", [1.5, 0.0], "weights out"),
        ("surrogate/1", [1.5, 2.0], "difference"),
        ("surrogate/1", 0.5, "weighted mean"),
        ("surrogate/2", [-0.7, -0.05, 0.06], "add up to 1"),
        ("surrogate/2", [0.7, 0.05, -0.06], "missing"),
        ("surrogate/2", "C", "three probabilities"),
        ("surrogate/3", 10_000 * s, "n C together"),
        ("surrogate/3", 10_000 * at.C, "total weight"),
        ("surrogate/3", at.C * s, "multiply by n"),
        ("surrogate/3", 1, "solve for λ"),
    ]
    return Rows(right, wrong)


def covariance() -> Rows:
    alpha = lt.limit(*running_example(), nu=1.0).alpha
    v = alpha * (1 - alpha)
    corner = 1 + np.sum(alpha / (1 - alpha))

    def share_outside(nu: float) -> float:
        """Written out: the mass of the tilted law outside the box, seen from its middle."""
        law = stats.norm(EDGE / 2 / (1 + nu**2), nu / np.sqrt(1 + nu**2))
        return law.cdf(0) + law.sf(EDGE)

    trouble = optimize.brentq(lambda nu: share_outside(nu) - 0.01, 0.05, 0.5)
    right = [
        ("covariance/1", [[0.30, 0.06, 0.15], [0.06, 0.06, 0.03], [0.15, 0.03, 0.15]]),
        ("covariance/2", trouble),
        ("covariance/2", 1.01 * trouble),  # it may be off by a hundredth
        ("covariance/2", trouble / 1.01),
        ("covariance/3", corner + 1 / v.min()),
    ]
    unweighted = [[1, 0.2, 0.5], [0.2, 0.2, 0.1], [0.5, 0.1, 0.5]]
    squared = [[0.3, 0.06, 0.15], [0.06, 0.012, 0.03], [0.15, 0.03, 0.075]]
    wrong = [
        ("covariance/1", unweighted, "mean weight is missing"),
        ("covariance/1", squared, "z² = z"),
        ("covariance/1", [0.3, 0.06, 0.15], "Three rows"),
        ("covariance/2", trouble * 1.05, "go down"),
        ("covariance/2", trouble / 1.05, "go up"),
        ("covariance/2", 0.0, "fraction of it"),
        ("covariance/2", "narrow", "one number"),
        ("covariance/3", corner + np.sum(1 / v), "trace"),
        ("covariance/3", 30 / v.min(), "paper's bound"),
        ("covariance/3", 10.488, "eigenvalue itself"),
        ("covariance/3", 2.0, "Corner"),
    ]
    return Rows(right, wrong)


def theorem() -> Rows:
    factors = lt.limit(lt.Linear([1, 1]), [0.961, 0.432], WORLD, nu=1.0).coef
    right = [("theorem/1", 2 / 3), ("theorem/2", 5.7 / factors), ("theorem/3", -0.25)]
    wrong = [
        ("theorem/1", 0.5, "all of the data"),
        ("theorem/1", 0.75, "three quarters"),
        ("theorem/1", 1.0, "quarters"),
        ("theorem/2", 5.7 * factors, "divide"),
        ("theorem/2", [5.7, 5.7], "own factor"),
        ("theorem/2", (5.7 / factors)[::-1], "wrong order"),
        ("theorem/2", 5.0, "two slopes"),
        ("theorem/3", 0.0, "slope"),
        ("theorem/3", 0.25, "sign"),
        ("theorem/3", -4.0, "wrong way round"),
        ("theorem/3", -0.5, "squared"),
        ("theorem/3", 7.0, "μ̃₂"),
    ]
    return Rows(right, wrong)


def switch_off() -> Rows:
    right = [
        ("switch-off/1", np.sqrt((2 * 0.6 - EDGE) / EDGE)),
        ("switch-off/2", optimize.brentq(lambda xi: contrast(xi, 0.8), 0.4, 0.6)),
    ]
    return Rows(right, [])


def contrast(xi: float, nu: float) -> float:
    """Of f(x) = x at xi, by quadrature: its mean in the box from 0 to the third quartile, less the rest."""
    law = stats.norm(xi / (1 + nu**2), nu / np.sqrt(1 + nu**2))
    inside, mass = law.expect(lb=0, ub=EDGE), law.cdf(EDGE) - law.cdf(0)
    return float(inside / mass - (law.mean() - inside) / (1 - mass))


def local_error() -> Rows:
    inside = lt.limit(lt.Linear([1, 1]), [0.961, 0.432], WORLD, nu=1).tilt.inside
    right = [
        ("local-error/1", stats.truncnorm(0, EDGE).mean()),
        ("local-error/2", -inside[0] / inside[1]),
    ]
    wrong = [
        ("local-error/1", EDGE / 2, "middle of the box"),
        ("local-error/1", 0.6, "mean of N(0, 1)"),
        ("local-error/2", inside[0] / inside[1], "opposite signs"),
        ("local-error/2", -inside[1] / inside[0], "wrong way round"),
        ("local-error/2", 9.0, "inside₁"),
    ]
    return Rows(right, wrong)


def samples() -> Rows:
    f, xi, world = running_example()
    beta = lt.limit(f, xi, world, 1.0).coef[1]
    V = asymptotic_covariance(f, xi, world, 1.0)
    wide, narrow = (lt.samples_needed(f, xi, world, nu, 1.0) for nu in (1.0, 0.53))

    def above(variance: float) -> float:
        return float(norm.sf(0, loc=beta, scale=np.sqrt(variance)))

    right = [
        ("samples/1", 61_466),
        ("samples/2", above(V[2, 2] / 500)),
        ("samples/3", narrow.weighted / wide.weighted),
    ]
    wrong = [
        ("samples/1", 16_000, "1.96 times"),
        ("samples/1", 7840, "squared"),
        ("samples/1", 61.47, "multiply it by the 1000"),
        ("samples/1", 5, "goes like"),
        ("samples/2", 1 - above(V[2, 2] / 500), "sign of its limit"),
        ("samples/2", above(V[1, 1] / 500), "index 2"),
        ("samples/2", above(V[2, 2]), "divide it by n"),
        ("samples/2", above((V[2, 2] / 500) ** 2), "the root"),
        ("samples/2", 0.5, "how much is above 0"),
        ("samples/3", wide.weighted / narrow.weighted, "other way round"),
        ("samples/3", narrow.weighted / narrow.tilted, "two bandwidths"),
        ("samples/3", wide.share / narrow.share, "effective sample sizes"),
        ("samples/3", 2, "Divide"),
    ]
    return Rows(right, wrong)


def beyond_linear() -> Rows:
    square = 1 - 4 * EDGE * norm.pdf(EDGE)  # mean of x² in the box of 0
    right = [
        ("beyond-linear/1", 4 / 3 * (square - 1)),
        ("beyond-linear/2", 0.5**3 - EDGE**3),
        ("beyond-linear/3", [1, 1]),
    ]
    wrong = [
        ("beyond-linear/1", 0, "the gradient"),
        ("beyond-linear/1", square - 1, "all of the data"),
        ("beyond-linear/1", 4 / 3 * (1 - square), "sign"),
        ("beyond-linear/1", "x", "the mean outside"),
        ("beyond-linear/2", 0.125, "nearer"),
        ("beyond-linear/2", 0.75 * (0.5 - EDGE), "tangent"),
        ("beyond-linear/2", EDGE**3 - 0.125, "sign"),
        ("beyond-linear/2", 7, "Which edge"),
        ("beyond-linear/3", [2, 2], "input × gradient"),
        ("beyond-linear/3", [2, 1], "the gradient at ξ"),
        ("beyond-linear/3", 1, "four coalitions"),
    ]
    return Rows(right, wrong)


def real_lime() -> Rows:
    at = lt.limit(lt.Linear(np.ones(10)), np.zeros(10), WORLD, 0.75, "mismatch")
    s = at.alpha[0] * (1 - at.alpha[0])
    right = [("real-lime/1", 4.0), ("real-lime/2", 99 / (s * at.C)), ("real-lime/3", [3, 5])]
    wrong = [
        ("real-lime/1", 4 / 3, "multiply it by the slope"),
        ("real-lime/1", 3.0, "*other* boxes"),
        ("real-lime/1", -4.0, "Own box"),
        ("real-lime/1", 28, "Three times"),
        ("real-lime/2", 99 / s, "n C together"),
        ("real-lime/2", 99 / at.C, "variance of the indicator"),
        ("real-lime/2", 1 / (s * at.C), "one half"),
        ("real-lime/2", 5000, "solve for n"),
        ("real-lime/3", [3, 4], "even number"),
        ("real-lime/3", [3, 5, 7], "too narrow"),
        ("real-lime/3", [3], "one more"),
        ("real-lime/3", 3, "a list"),
    ]
    return Rows(right, wrong)


def trust() -> Rows:
    third = [0.5, 0.3, 0.2]
    lists = [{"a", "b", name} for name in "xyz"]
    common = sum(
        p * q * len(one & other) / 3
        for p, one in zip(third, lists, strict=True)
        for q, other in zip(third, lists, strict=True)
    )
    narrow = optimize.brentq(lambda rho: norm.cdf(1.96 * 2**0.5 * rho) - 0.92, 0.1, 2)
    return Rows([("trust/1", common), ("trust/2", narrow)], [])


def interactions() -> Rows:
    out = -0.5 - norm.pdf(EDGE) / 0.75  # means of x2 outside and inside its top quarter
    inside = -0.5 + norm.pdf(EDGE) / 0.25
    width = 1 / np.sqrt(2 * np.log(3 * -out / inside))
    right = [
        ("interactions/1", 5 + EDGE * 1.25),
        ("interactions/2", width),
        ("interactions/3", 0.75 * norm.pdf(0)),
    ]
    wrong = [
        ("interactions/1", EDGE * 1.25, "add μ"),
        ("interactions/1", 5 + EDGE, "middle of the box"),
        ("interactions/1", 5 + 2 * EDGE, "edge of the box"),
        ("interactions/1", 5, "with m its middle"),
        ("interactions/2", width**2, "take the root"),
        ("interactions/2", width * np.sqrt(2), "factor of 2"),
        ("interactions/2", -out / (inside - out), "now find the width"),
        ("interactions/2", 3, "mean 0"),
        ("interactions/3", 0, "draws the features apart"),
        ("interactions/3", 3.75 * norm.pdf(0), "coefficient of x₁"),
        ("interactions/3", 2 * norm.pdf(0), "difference of means"),
        ("interactions/3", 7, "Solve"),
    ]
    return Rows(right, wrong)


def images() -> Rows:
    right = [("images/1", 2.4), ("images/2", 1 / np.sqrt(2 * np.log(9))), ("images/3", [0.5, 1.0])]
    return Rows(right, [])


def integrals() -> Rows:
    quarter = stats.truncnorm(EDGE, np.inf).mean()
    right = [("integrals/1", quarter), ("integrals/2", 1 / 32)]
    wrong = [
        ("integrals/1", quarter / 4, "mass of the quarter"),
        ("integrals/1", 0.2, "order 1"),
        ("integrals/2", 2**-0.5, "there are ten"),
        ("integrals/2", 2.0**-10, "root of one half"),
        ("integrals/2", "a lot", "what is left"),
    ]
    return Rows(right, wrong)


TABLE = [
    chapter()
    for chapter in (
        welcome,
        ten_minutes,
        discretization,
        sampling,
        weights,
        surrogate,
        covariance,
        theorem,
        switch_off,
        local_error,
        samples,
        beyond_linear,
        real_lime,
        trust,
        interactions,
        images,
        integrals,
    )
]
RIGHT = [row for rows in TABLE for row in rows.right]
WRONG = [row for rows in TABLE for row in rows.wrong]
