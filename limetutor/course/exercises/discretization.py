"""Exercises of the chapter *Discretization*."""

import numpy as np

from ...core.boxes import standard_quantiles
from ..judging.kinds import Given, Paragraph, Value, between, with_hints

_FIFTHS = standard_quantiles(5)[1:-1]


EXERCISES = (
    Value(
        given={
            "mean": Given(94.6, "the mean", between(900, 990, per=10)),
            "sd": Given(13.8, "the standard deviation", between(110, 170, per=10)),
        },
        asks="a list of four edges",
        right=lambda mean, sd: mean + sd * _FIFTHS,
        mistakes=with_hints(
            lambda mean, sd: _FIFTHS,
            "Those are the edges of a standard normal feature. This one has a different mean and standard deviation.",
            lambda mean, sd: mean + _FIFTHS,
            "Those edges lie within two units of the mean. What is the standard deviation of the patients?",
            lambda mean, sd: mean + sd**2 * _FIFTHS,
            "You used the variance. The edges are measured in standard deviations.",
            lambda mean, sd: mean + sd * np.array([-2, -1, 1, 2]) / 2.5,
            "Equally wide boxes hold different numbers of patients. These boxes hold equally many.",
        ),
        nudge="Five boxes hold equally many patients. What share of them lies below each edge?",
        formula="The edge of order k/5 is μ + σ Φ⁻¹(k/5), and the normal distribution is symmetric.",
        step="The first is {mean} − {sd} · 0.8416. Do the same with 0.2533, then add instead of subtracting.",
    ),
    Paragraph(
        rubric=[
            "The first two patients are in different boxes, although they differ by 0.2.",
            "The second and the third are in the same box, although they differ by 12.8.",
            "The samples are drawn in the same way for all three; what changes is which of them share the box.",
            "With other boxes, such as ten, the edges lie elsewhere, and other patients would be alike.",
        ],
    ),
)
