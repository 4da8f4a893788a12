"""Exercises of the chapter *Local error*."""

from typing import Any

import numpy as np

from ...core.boxes import Gaussian
from ...core.kernels import tilt
from ..judging.kinds import Given, Paragraph, Value, between, pair, with_hints

_HALF = np.sqrt(2 / np.pi)  # the mean of the upper half of N(0, 1)


def _distances(xi: Any, nu: float) -> np.ndarray:
    """From each ξⱼ to where the surrogate takes it to be, standard normal data, four boxes."""
    return tilt(Gaussian(p=4), np.asarray(xi, float), nu).inside


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
            "An integral over half of the law is not yet a mean: it has to be divided by a mass.",
            lambda mu, sigma: mu + sigma * 0.6744897501960817,
            "That is the median of the box. Its mean lies farther out, since the box has a long tail.",
            lambda mu, sigma: sigma * _HALF,
            "That is how far it is from the mean of the data.",
            lambda mu, sigma: mu + _HALF,
            "The standard deviation is missing.",
        ),
        nudge="With equal weights, which value does the surrogate give for all ξ in the upper box?",
        formula="It answers with the mean of the data in the box: the mean of the upper half of a normal "
        "law, an integral of the density divided by a mass.",
        step="For N(0, 1) the mean of the upper half is ϕ(0) = 0.3989 divided by the mass ½. Then scale "
        "by {sigma} and shift by {mu}.",
    ),
    Value(
        given={
            "slope": Given(3, "the slope of the first feature", between(3, 9)),
            "xi": Given([0.961, 0.432], "the instance", None, pair),
            "nu": Given(1.0, "the bandwidth"),
        },
        asks="a slope",
        right=lambda slope, xi, nu: -slope * _distances(xi, nu)[0] / _distances(xi, nu)[1],
        mistakes=with_hints(
            lambda slope, xi, nu: -slope * xi[0] / xi[1],
            "Those are positions. The error needs the distance from each to the place where the "
            "surrogate takes it to be.",
            lambda slope, xi, nu: -slope,
            "Opposite slopes would cancel if both features were taken to be equally far off.",
            lambda slope, xi, nu: -_distances(xi, nu)[0] / _distances(xi, nu)[1],
            "That would be right for a first slope of 1.",
        ),
        nudge="The running example has the same instance and bandwidth, and its two contributions are "
        "on the page. Which slopes are in them?",
        formula="A contribution is slope times distance. The running example has contributions 2.127 and "
        "1.037 with slopes 10 and −10.",
        step="The distances are 2.127/10 and −1.037/10. Solve {slope} distance₁ + a₂ distance₂ = 0.",
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
