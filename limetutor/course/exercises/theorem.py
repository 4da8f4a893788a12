"""Exercises of the chapter *The theorem*."""

from typing import Any

import numpy as np

from ...core.boxes import Gaussian
from ...core.kernels import tilt
from ..judging.givens import Given, between, in_words, one_of, pair
from ..judging.kinds import Paragraph, Value, with_hints


def _factors(xi: Any, nu: float) -> np.ndarray:
    """The factor between slope and coefficient of each feature, standard normal data, four boxes."""
    return tilt(Gaussian(p=4), np.asarray(xi, float), nu).gap


EXERCISES = (
    Value(
        given={
            "p": Given(4, "the number of boxes", lambda rng: 2 * int(rng.integers(3, 9)), in_words)
        },
        asks="a coefficient",
        right=lambda p: 1 - (p / 2 - 1) / (p - 1),
        mistakes=with_hints(
            lambda p: 0.5,
            "That compares the box with all of the data. A contrast compares it with what is "
            "outside.",
            lambda p: 1 - (p / 2 - 1) / p,
            "Of the data outside the box, not of all data: which share of them lies above zero?",
            lambda p: 1.0,
            "That is the mean of f in the box. What is its mean outside?",
            lambda p: (p / 2 - 1) / (p - 1),
            "That is the mean of f outside the box.",
        ),
        nudge="A coefficient is a difference of two means. At a very wide bandwidth, means under which "
        "law?",
        formula="With equal weights the tilted law is the law of the data. Take the share of values above "
        "zero among those in the box, and among those outside.",
        step="Among those in the box the share is 1. Outside are all boxes but one, each with the same "
        "mass: in how many of these is f equal to 1?",
    ),
    Value(
        given={
            "coef": Given(
                5.7, "the coefficient", lambda rng: float(rng.integers(21, 90)) / 10 + 0.05
            ),
            "xi": Given([0.961, 0.432], "the instance", None, pair),
            "nu": Given(1.0, "the bandwidth"),
        },
        asks="two slopes",
        right=lambda coef, xi, nu: coef / _factors(xi, nu),
        mistakes=with_hints(
            lambda coef, xi, nu: coef * _factors(xi, nu),
            "You multiplied by the factors. A coefficient is slope times factor.",
            lambda coef, xi, nu: [coef, coef],
            "Those are the coefficients. Each of them has a factor of its own in it.",
            lambda coef, xi, nu: [coef / _factors(xi, nu)[0], coef / 0.18],
            "The sentence below the figure rounds the second factor too far for this. Take it from "
            "a coefficient of the running example.",
            lambda coef, xi, nu: [coef / 11.4, coef / 1.76],
            "You divided by the coefficients of the running example; its slopes are not 1.",
        ),
        nudge="The running example has the same instance and bandwidth. What does it tell about the "
        "factors?",
        formula="A coefficient is the slope times a factor that does not depend on the model. The running "
        "example has the slopes 10 and −10 and the coefficients 11.40 and −1.76.",
        step="The factors are 11.40/10 and 1.76/10. Divide {coef} by each.",
    ),
    Value(
        given={
            "mu": Given(1, "the mean of the second feature", between(1, 4), "(0, {})".format),
            "nu": Given(0.5, "the bandwidth", one_of(0.4, 0.6, 0.7, 0.8)),
        },
        asks="the position of ξ",
        right=lambda mu, nu: -(nu**2) * mu,
        mistakes=with_hints(
            lambda mu, nu: 0,
            "There the slope of f in its first feature is zero. The tilted mean of the second "
            "feature is not, since its data have another mean.",
            lambda mu, nu: -mu / nu**2,
            "The bandwidth and the standard deviation have changed places in the tilted mean.",
            lambda mu, nu: -nu * mu,
            "The bandwidth enters the tilted mean squared.",
        ),
        nudge="Through which number of the second feature does the first one show?",
        formula="The coefficient of the first feature is a factor times μ̃₂. Write μ̃₂ down and set it to "
        "zero.",
        step="μ̃₂ = (ν²μ₂ + σ²ξ₂)/(ν² + σ²) with σ = 1, μ₂ = {mu} and ν = {nu}. When is the bracket zero?",
    ),
    Paragraph(
        rubric=[
            "What it says: among patients made up to be like this one, those in this age group get "
            "predictions that are lower by 3 on average than those in other age groups.",
            "What it does not say: that the prediction falls as a patient gets older. Two of the three "
            "other age groups are older, so that a prediction that rises with age gives a negative "
            "number here.",
            "It is about the model and its predictions, not about what age does to a person.",
            "How to find out about the slope: ask the model about the same patient a little older, or "
            "divide by the factor.",
        ],
        fewest=40,
    ),
)
