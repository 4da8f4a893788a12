"""Exercises of the chapter *Switch-off*."""

from __future__ import annotations

import numpy as np

from ...theory import critical_bandwidths
from ...worlds import Gaussian, standard_quantiles
from ..judging.kinds import Function, Given, Ladder, Mistake, Paragraph, Value

_FOUR = Gaussian(p=4)
_EDGE = float(standard_quantiles(4)[3])  # the third quartile, 0.6745


def _turned(x: np.ndarray, nu: float) -> np.ndarray:
    return critical_bandwidths(_FOUR, x[:, None])[:, 0] > nu


def _place(nu: float) -> float:
    """The position that ``nu`` switches off, from the formula for V solved for it."""
    return _EDGE * (1 + nu**2) / 2


EXERCISES = (
    Value(
        name="switch-off/1",
        given={
            "xi": Given(-0.6, "the position of ξ", lambda rng: -float(rng.integers(36, 66)) / 100),
        },
        asks="a bandwidth",
        right=lambda xi: critical_bandwidths(_FOUR, [[xi]])[0, 0],
        mistakes=[
            Mistake(
                lambda xi: np.sqrt(2 * abs(xi) / _EDGE),
                "Something is missing above the fraction bar: both edges of the box belong there.",
            ),
            Mistake(
                lambda xi: abs(xi) - _EDGE / 2,
                "That is how far ξ lies from the middle of its box; at which bandwidth does the mean "
                "of the tilted law come to lie there?",
            ),
            Mistake(
                lambda xi: np.sqrt((abs(xi) - _EDGE / 2) / _EDGE),
                "A factor of 2 is lost: ξ stands twice above the fraction bar, the edges once each.",
            ),
        ],
        ladder=Ladder(
            "Which of the four boxes holds ξ, and where are its two edges?",
            "Put the two edges of its box, −0.674 and 0, into the formula for V of the theorem.",
            "V = (2ξ + 0.674) / (−0.674), with ξ = {xi}. The bandwidth is the root of V.",
        ),
    ),
    Value(
        name="switch-off/2",
        given={
            "nu": Given(0.8, "the bandwidth", lambda rng: float(rng.integers(60, 96)) / 100),
        },
        asks="the position of ξ",
        right=_place,
        mistakes=[
            Mistake(
                lambda nu: _EDGE * (1 + nu) / 2,
                "V is the square of the bandwidth, and you used the bandwidth.",
            ),
            Mistake(
                lambda nu: _EDGE * (1 - nu**2) / 2,
                "One sign went astray: the position lies in the outer half of its box.",
            ),
            Mistake(
                lambda nu: _EDGE / 2,
                "That is the middle of the box. There the mean of the tilted law has to be, not ξ.",
            ),
            Mistake(
                lambda nu: 0.53,
                "0.53 is the famous bandwidth of the running example; a position is asked here.",
            ),
        ],
        ladder=Ladder(
            "Here the bandwidth is known and the position is not: read the theorem backwards.",
            "Take the box from 0 to 0.674, set V to the square of the bandwidth and solve for ξ.",
            "{nu}² = (2ξ − 0.674) / 0.674. Multiply by 0.674, then bring it to the other side.",
        ),
    ),
    Paragraph(
        name="switch-off/3",
        rubric=[
            "An outer box is never switched off, so that two boxes of the four remain, and by "
            "symmetry one: from 0 to the third quartile q.",
            "There V = σ²(2ξ − q)/q (for μ = 0 and ξ, q in units of σ), which grows with ξ.",
            "ξ lies below q, so that V stays below σ²: no ν above σ can be its root.",
            "The edge itself: on the negative side the lower edge belongs to the box, and there V "
            "reaches σ² but does not exceed it.",
        ],
    ),
    Function(
        name="switch-off/4",
        reference=_turned,
        inputs=lambda rng: (rng.normal(size=rng.integers(5, 40)), float(rng.uniform(0.1, 1.1))),
        mistakes=[
            (
                lambda x, nu: (x < _EDGE) & (2 * x - _EDGE > nu**2 * _EDGE),
                "Below the mean of the data nothing turns in your version: is that so?",
            ),
            (
                lambda x, nu: 2 * np.abs(x) - _EDGE > nu**2 * _EDGE,
                "What about the two outer boxes? The theorem treats them apart.",
            ),
            (
                lambda x, nu: (np.abs(x) < _EDGE) & (2 * np.abs(x) - _EDGE > nu * _EDGE),
                "The theorem has the square of the bandwidth.",
            ),
            (
                lambda x, nu: (np.abs(x) < _EDGE) & (2 * np.abs(x) - _EDGE < nu**2 * _EDGE),
                "The other way round: coming from wide bandwidths, when has the sign turned already?",
            ),
            (
                lambda x, nu: (np.abs(x) < _EDGE) & (np.abs(x) > _EDGE / 2),
                "Those are all positions whose sign some bandwidth turns. Has this one, yet?",
            ),
        ],
        ladder=Ladder(
            "Which boxes have a critical bandwidth at all? There, what does it have to be compared "
            "with?",
            "A sign has turned where V is above ν², and V exists in the two inner boxes only.",
            "By symmetry take the absolute value of x. It has to lie below q = 0.6745, and "
            "(2|x| − q)/q above ν².",
        ),
    ),
)
