"""Exercises of the chapter *Weights*."""

from math import exp, sqrt

import numpy as np

from ...core.truncated import tilted_normal
from ..judging.kinds import Function, Given, Value, between, with_hints


def _mean_weight(xi: np.ndarray, nu: float) -> float:
    """C_d for standard normal features."""
    *_, log_mass = tilted_normal(xi, np.zeros(len(xi)), nu, np.ones(len(xi)))
    return float(np.exp(log_mass.sum()))


def _worth(xi: np.ndarray, nu: float, n: int) -> float:
    return n * _mean_weight(xi, nu) ** 2 / _mean_weight(xi, nu / sqrt(2))


def _box_mass(other: float) -> float:
    """The tilted mass of one box of four, the three others with the weight ``other``."""
    return 0.25 / (0.25 + 0.75 * other)


EXERCISES = (
    Value(
        given={
            "xi": Given(1, "the position of ξ"),
            "place": Given(0.7, "where the mean shall be", between(55, 95, per=100)),
        },
        asks="a bandwidth",
        right=lambda xi, place: sqrt(xi / place - 1),
        mistakes=with_hints(
            lambda xi, place: sqrt(place / (xi - place)),
            "With so wide a bandwidth the mean stays near the data. Which of the two pulls is which?",
            lambda xi, place: 1 / place - 1,
            "That is ν².",
            lambda xi, place: xi - place,
            "That is the distance from the mean to ξ; at which bandwidth does it come about?",
        ),
        nudge="The proposition says where the mean of the tilted law lies for a bandwidth. Read it backwards.",
        formula="With μ = 0 and σ = 1 the mean is ξ / (1 + ν²).",
        step="{place} = {xi} / (1 + ν²). Solve for ν², then take the root.",
    ),
    Value(
        given={
            "d": Given(20, "the number of features", between(10, 31)),
            "wanted": Given(100, "the effective sample size you want"),
        },
        asks="a number of samples",
        right=lambda d, wanted: wanted / (sqrt(3) / 2) ** d,
        mistakes=with_hints(
            lambda d, wanted: wanted * sqrt(2) ** d,
            "You divided by the mean weight. What samples are worth has two mean weights in it.",
            lambda d, wanted: wanted * 2 / sqrt(3),
            "That is right for one feature.",
            lambda d, wanted: wanted * 2.0**d,
            "You divided by the mean weight squared. What stands below it in the proposition?",
            lambda d, wanted: wanted * (sqrt(3) / 2) ** d,
            "That is what {wanted} samples are worth; here the worth is given.",
        ),
        nudge="At the mean of the data all features are alike. What share of the samples does one of them leave?",
        formula="One factor of the mean weight is ν/√(ν² + 1) here. The share is the one at ν, squared, divided by "
        "the one at ν/√2.",
        step="At ν = 1: (1/√2)² / (1/√3) = √3/2 for each feature. Now {d} of them, and the worth is {wanted}.",
    ),
    Value(
        given={"d": Given(10, "the number of features", between(4, 21))},
        asks="a probability",
        right=lambda d: _box_mass(exp(-1 / (2 * 0.75**2 * d))),
        mistakes=with_hints(
            lambda d: 0.25,
            "That is the probability of the box before weighting.",
            lambda d: _box_mass(exp(-1 / (0.75**2 * d))),
            "The weight of one mismatch is the root of exp(−1/ν²).",
            lambda d: _box_mass(exp(-1 / (2 * 0.75**2 * d**2))),
            "You took 0.75 d, which the paper prints; the package takes another bandwidth.",
            lambda d: 1 - _box_mass(exp(-1 / (2 * 0.75**2 * d))),
            "That is the mass of the other three boxes.",
        ),
        nudge="Weighting gives the box of ξ the weight 1. What do the other three boxes get, in this feature?",
        formula="Mass times weight: 1/4 for the own box, 3/4 times the weight of one mismatch for the others. Then "
        "divide, so that both add up to 1.",
        step="ν² = 0.75² · {d}, and one mismatch weighs exp(−1/(2ν²)). Put it into (1/4) / (1/4 + 3/4 · weight).",
    ),
    Function(
        reference=_worth,
        inputs=lambda rng: (
            rng.normal(size=int(rng.integers(1, 12))),
            float(rng.uniform(0.4, 3)),
            int(rng.integers(100, 10_000)),
        ),
        mistakes=with_hints(
            lambda xi, nu, n: n * _mean_weight(xi, nu),
            "That is the total weight. What are the samples worth?",
            lambda xi, nu, n: n * _mean_weight(xi, nu) ** 2 / _mean_weight(xi, nu / 2),
            "The second bandwidth is ν/√2: the exponent is doubled, not the bandwidth halved.",
            lambda xi, nu, n: n * _mean_weight(xi, nu) / _mean_weight(xi, nu / sqrt(2)),
            "The first mean weight is squared.",
            lambda xi, nu, n: (
                n * _mean_weight(0 * xi, nu) ** 2 / _mean_weight(0 * xi, nu / sqrt(2))
            ),
            "Your answer does not depend on where ξ lies; the mean weight does.",
            lambda xi, nu, n: _worth(xi, nu, 1),
            "That is the share; the question asks how many of the n samples it makes.",
        ),
        nudge="Write the mean weight as a function of its own first: a product over the features.",
        formula="What n samples are worth is n times the mean weight at ν, squared, divided by the mean weight at ν/√2.",
        step="For standard normal features the mean weight is np.prod(nu / np.sqrt(nu**2 + 1) * np.exp(-xi**2 / "
        "(2 * (nu**2 + 1)))).",
    ),
)
