"""Exercises of the chapter *Local error*."""

import numpy as np

from ..judging.kinds import Given, Paragraph, Value, between, with_hints

_HALF = np.sqrt(2 / np.pi)  # the mean of the upper half of N(0, 1)


EXERCISES = (
    Value(
        given={
            "mu": Given(10, "the mean", between(5, 15)),
            "sigma": Given(3, "the standard deviation", between(2, 6)),
        },
        asks="the position of ξ",
        right=lambda mu, sigma: mu + sigma * _HALF,
        mistakes=with_hints(
            lambda mu, sigma: mu + sigma * _HALF / 2,
            "Half of that: the mean of the upper half of N(0, 1) is 0.798.",
            lambda mu, sigma: mu + sigma * 0.6744897501960817,
            "That is the median of the box. Its mean lies farther out, since the box has a long tail.",
            lambda mu, sigma: sigma * _HALF,
            "That is how far it is from the mean of the data.",
            lambda mu, sigma: mu + _HALF,
            "The standard deviation is missing.",
        ),
        nudge="With equal weights, which value does the surrogate give for all ξ in the upper box?",
        formula="It answers with the mean of the data in the box, the upper half of a normal distribution.",
        step="For N(0, 1) the mean of the upper half is 0.798. Scale it by {sigma} and shift it by {mu}.",
    ),
    Paragraph(
        rubric=[
            "The surrogate answers for the patient's boxes, not for the patient: within a box it is constant.",
            "It adds up one contrast for each feature, which a forest does not.",
            "These are limits: more samples do not close the gap.",
            "What to do: print both predictions beside the list, and say how far they are apart.",
        ],
    ),
)
