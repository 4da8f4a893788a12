"""Exercises of the chapter *LIME for images*."""

from typing import Any

import numpy as np

from ..judging.kinds import Given, Paragraph, Value, between, one_of, some_of, with_hints

_WEIGHTS = (-0.3, -0.2, 0.1, 0.3, 0.5)  # those of a variant are four of them


def _sum(weights: Any, tones: Any) -> float:
    return float(np.dot(weights, tones))


def _kept(alpha: float, factor: float = 2.0) -> float:
    """The bandwidth at which a superpixel is kept with probability alpha."""
    return 1 / np.sqrt(factor * np.log(alpha / (1 - alpha)))


EXERCISES = (
    Value(
        given={
            "tones": Given([0, 8, 16, 4], "the tones", some_of(4, 0, 2, 8, 12, 16)),
            "weights": Given([0.1, -0.2, 0.3, 0.5], "the weights", some_of(4, *_WEIGHTS)),
            "hidden": Given(4, "the tone of hidden pixels", one_of(3, 5, 6, 7)),
        },
        asks="the coefficient",
        right=lambda tones, weights, hidden: _sum(weights, np.subtract(tones, hidden)),
        mistakes=with_hints(
            lambda tones, weights, hidden: _sum(weights, tones),
            "That is the superpixel's part of the score when it is kept. What is it when hidden?",
            lambda tones, weights, hidden: _sum(weights, np.subtract(tones, np.mean(tones))),
            "You hid the pixels behind the superpixel's own mean, which is not the tone here.",
            lambda tones, weights, hidden: _sum(np.abs(weights), np.subtract(tones, hidden)),
            "One of the weights is negative.",
        ),
        nudge="For a linear score, the coefficient is the score with the superpixel minus the score without it.",
        formula="It is a sum over pixels: weight times (tone minus the tone of hidden pixels).",
        step="Multiply each weight by its own difference of tones: the tones {tones}, minus {hidden} "
        "each. Then add the four products.",
    ),
    Value(
        given={"alpha": Given(0.9, "the probability", between(75, 99, per=100))},
        asks="a bandwidth",
        right=_kept,
        mistakes=with_hints(
            lambda alpha: _kept(alpha, 1.0),
            "A factor of 2 is missing from the exponent.",
            lambda alpha: 1 / np.sqrt(-2 * np.log(1 - alpha)),
            "You set the weight of a hidden superpixel to the probability of hiding it. How are "
            "the two related?",
            lambda alpha: np.sqrt(2 * np.log(alpha / (1 - alpha))),
            "That is one over the bandwidth.",
        ),
        nudge="Before weighting, a superpixel is kept with probability ½. How do the weights change this?",
        formula="Solve α = 1 / (1 + exp(−1/(2ν²))) for ν.",
        step="exp(−1/(2ν²)) = (1 − α)/α, so 1/(2ν²) = ln(α/(1 − α)) with α = {alpha}. Solve for ν.",
    ),
    Value(
        asks="two coefficients",
        right=lambda: [0.5, 1.0],
        mistakes=with_hints(
            lambda: [0.25, 1.0],
            "A quarter is how often both are visible. How often is the second, given the first?",
            lambda: [0.25, 0.25],
            "A quarter is how often both are visible; the coefficient is a difference of means.",
            lambda: [0.5, 0.5],
            "The bandwidth matters here, as the model is not linear in the switches.",
            lambda: [0.5, 0.0],
            "At a very small bandwidth, only images with nearly everything visible count.",
        ),
        nudge="Suppose superpixel 1 is visible. What does the model's answer depend on then?",
        formula="The coefficient is the mean of f given z₁ = 1 minus its mean given z₁ = 0; the second is 0.",
        step="Given z₁ = 1, the mean of f is α. Which α corresponds to a very large bandwidth, "
        "and which to a very small one?",
    ),
    Paragraph(
        rubric=[
            "Zero means: hiding this part in this way makes no difference to the score on average. It "
            "does not mean that the model ignores the place.",
            "The reference is named, with an example: empty skin hidden behind the same tone shows "
            "nothing.",
            "A way to find out more: another reference, or other superpixels.",
            "What was explained is said (a score or a probability, of which class), without formulas.",
        ],
    ),
)
