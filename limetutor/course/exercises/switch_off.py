"""Exercises of the chapter *Switch-off*."""

import numpy as np

from ...bandwidth.risk import critical_bandwidths
from ...core.boxes import Gaussian, standard_quantiles
from ..judging.kinds import Function, Given, Paragraph, Value, between, with_hints

_FOUR = Gaussian(p=4)
_EDGE = float(standard_quantiles(4)[3])  # the third quartile, 0.6745


EXERCISES = (
    Value(
        given={"xi": Given(-0.6, "the position of ξ", between(36, 66, per=-100))},
        asks="a bandwidth",
        right=lambda xi: critical_bandwidths(_FOUR, [[xi]])[0, 0],
        mistakes=with_hints(
            lambda xi: np.sqrt(2 * abs(xi) / _EDGE),
            "Something is missing above the fraction bar: both edges of the box belong there.",
            lambda xi: abs(xi) - _EDGE / 2,
            "That is how far ξ lies from the middle of its box; at which bandwidth does the mean "
            "of the tilted law come to lie there?",
            lambda xi: np.sqrt((abs(xi) - _EDGE / 2) / _EDGE),
            "A factor of 2 is lost: ξ stands twice above the fraction bar, the edges once each.",
        ),
        nudge="Which of the four boxes holds ξ, and where are its two edges?",
        formula="Put the two edges of its box, −0.674 and 0, into the formula for V of the theorem.",
        step="V = (2ξ + 0.674) / (−0.674), with ξ = {xi}. The bandwidth is the root of V.",
    ),
    Value(
        given={"nu": Given(0.8, "the bandwidth", between(60, 96, per=100))},
        asks="the position of ξ",
        right=lambda nu: _EDGE * (1 + nu**2) / 2,  # the formula for V solved for the position
        mistakes=with_hints(
            lambda nu: _EDGE * (1 + nu) / 2,
            "V is the square of the bandwidth, and you used the bandwidth.",
            lambda nu: _EDGE * (1 - nu**2) / 2,
            "One sign went astray: the position lies in the outer half of its box.",
            lambda nu: _EDGE / 2,
            "That is the middle of the box. There the mean of the tilted law has to be, not ξ.",
            lambda nu: 0.53,
            "0.53 is the famous bandwidth of the running example; a position is asked here.",
        ),
        nudge="Here the bandwidth is known and the position is not: read the theorem backwards.",
        formula="Take the box from 0 to 0.674, set V to the square of the bandwidth and solve for ξ.",
        step="{nu}² = (2ξ − 0.674) / 0.674. Multiply by 0.674, then bring it to the other side.",
    ),
    Paragraph(
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
        reference=lambda x, nu: critical_bandwidths(_FOUR, x[:, None])[:, 0] > nu,
        inputs=lambda rng: (rng.normal(size=rng.integers(5, 40)), float(rng.uniform(0.1, 1.1))),
        mistakes=with_hints(
            lambda x, nu: (x < _EDGE) & (2 * x - _EDGE > nu**2 * _EDGE),
            "Below the mean of the data nothing turns in your version: is that so?",
            lambda x, nu: 2 * np.abs(x) - _EDGE > nu**2 * _EDGE,
            "What about the two outer boxes? The theorem treats them apart.",
            lambda x, nu: (np.abs(x) < _EDGE) & (2 * np.abs(x) - _EDGE > nu * _EDGE),
            "The theorem has the square of the bandwidth.",
            lambda x, nu: (np.abs(x) < _EDGE) & (2 * np.abs(x) - _EDGE < nu**2 * _EDGE),
            "The other way round: coming from wide bandwidths, when has the sign turned already?",
            lambda x, nu: (np.abs(x) < _EDGE) & (np.abs(x) > _EDGE / 2),
            "Those are all positions whose sign some bandwidth turns. Has this one, yet?",
        ),
        nudge="Which boxes have a critical bandwidth at all? There, what does it have to be compared "
        "with?",
        formula="A sign has turned where V is above ν², and V exists in the two inner boxes only.",
        step="By symmetry take the absolute value of x. It has to lie below q = 0.6745, and "
        "(2|x| − q)/q above ν².",
    ),
)
