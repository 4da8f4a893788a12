"""Exercises of the chapter *Switch-off*."""

import numpy as np

from ...bandwidth.risk import critical_bandwidths
from ...core.boxes import Gaussian, standard_quantiles
from ..judging.kinds import Given, Paragraph, Value, between, with_hints

_FOUR = Gaussian(p=4)
_EDGE = float(standard_quantiles(4)[3])  # the third quartile, 0.6745
_MIDDLE = _EDGE / 2  # of the box above the mean


EXERCISES = (
    Value(
        given={"xi": Given(-0.6, "the position of ξ", between(36, 66, per=-100))},
        asks="a bandwidth",
        right=lambda xi: critical_bandwidths(_FOUR, [[xi]])[0, 0],
        mistakes=with_hints(
            lambda xi: np.sqrt(abs(xi) / _MIDDLE),
            "The numerator is a distance too: from the midpoint of the box to ξ.",
            lambda xi: abs(xi) - _MIDDLE,
            "That is the distance from the midpoint of the box to ξ. At which bandwidth does the mean "
            "of the tilted law lie at the midpoint?",
            lambda xi: np.sqrt((abs(xi) - _MIDDLE) / _EDGE),
            "A factor of 2 is missing: the denominator is the distance from the mean of the data to the "
            "midpoint of the box, not to its edge.",
        ),
        nudge="Which of the four boxes holds ξ, and where is its midpoint?",
        formula="The squared bandwidth is a fraction: the distance from the midpoint of the box to ξ over that "
        "from the mean of the data to the midpoint. The box goes from −0.674 to 0.",
        step="The midpoint is −0.337. The fraction is (ξ + 0.337) / (−0.337), with ξ = {xi}, and the "
        "bandwidth is its square root.",
    ),
    Value(
        given={"nu": Given(0.8, "the bandwidth", between(60, 96, per=100))},
        asks="the position of ξ",
        right=lambda nu: _MIDDLE * (1 + nu**2),  # the theorem solved for the position
        mistakes=with_hints(
            lambda nu: _MIDDLE * (1 + nu),
            "The fraction is the square of the bandwidth, and you used the bandwidth.",
            lambda nu: _MIDDLE * (1 - nu**2),
            "A sign is wrong: the position lies in the outer half of its box.",
            lambda nu: _MIDDLE,
            "That is the midpoint of the box. The mean of the tilted law has to be there, not ξ.",
            lambda nu: 0.53,
            "0.53 is the bandwidth that hides a feature at 0.432. The question asks for a position.",
        ),
        nudge="Here the bandwidth is known and the position is not. Where does the mean of the tilted law have to be?",
        formula="Take the box from 0 to 0.674, with its midpoint at 0.337. The mean of the tilted law, ξ/(1 + ν²), "
        "has to be at the midpoint.",
        step="ξ = 0.337 · (1 + ν²), with ν = {nu}.",
    ),
    Paragraph(
        rubric=[
            "In an outer box nothing is switched off, so two of the four boxes remain, and by symmetry one: "
            "from 0 to the third quartile q, with its midpoint m at q/2.",
            "There the squared critical bandwidth is σ²(ξ − m)/m (for μ = 0 and ξ, q in units of σ), "
            "which grows with ξ.",
            "ξ lies below q, so the fraction stays below 1: no ν above σ is critical.",
            "The edge itself: on the negative side the lower edge belongs to the box, and there the "
            "critical bandwidth is σ, and no larger.",
        ],
    ),
)
