"""Exercises of the chapter *The theorem*."""

from typing import Any

import numpy as np

from ...core.boxes import Gaussian
from ...core.kernels import tilt
from ..judging.givens import Given, in_words, pair
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
            "That compares the box with all of the data. A contrast compares it with the data "
            "outside it.",
            lambda p: 1 - (p / 2 - 1) / p,
            "Take the data outside the box, not all data: what share of it lies above zero?",
            lambda p: 1.0,
            "That is the mean of f in the box. What is its mean outside?",
            lambda p: (p / 2 - 1) / (p - 1),
            "That is the mean of f outside the box.",
        ),
        nudge="A coefficient is a difference between two means. With equal weights, means under which distribution?",
        formula="With equal weights, the tilted law is the distribution of the data. Take the share of values above "
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
            "Those are the coefficients. Each is a slope times a factor of its own.",
            lambda coef, xi, nu: [coef / _factors(xi, nu)[0], coef / 0.18],
            "The second factor is rounded too far for this: take it with three digits.",
            lambda coef, xi, nu: [coef / 11.4, coef / 1.76],
            "You divided by the coefficients of the running example; its slopes are not 1.",
        ),
        nudge="The running example has the same two values and the same bandwidth. What are its factors?",
        formula="A coefficient is the slope times a factor that does not depend on the model. The running "
        "example has slopes 10 and −10 and coefficients 11.40 and −1.76.",
        step="The factors are 11.40/10 and 1.76/10. Divide {coef} by each.",
    ),
    Paragraph(
        rubric=[
            "What it says: among the patients that LIME made up, those in this age group get "
            "predictions that are lower by 3 on average than those of other ages.",
            "What it does not say: that the prediction falls as a patient gets older. The others are "
            "older on average, by five years, so this linear model predicts more for older patients.",
            "It is about the model and its predictions, not about what age does to a person.",
            "How to find out about the slope: ask the model about the same patient a little older, or "
            "divide the 3 by the difference between the two mean ages.",
        ],
        fewest=40,
    ),
)
