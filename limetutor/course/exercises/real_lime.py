"""Exercises of the chapter *The real lime*."""

from typing import Any

import numpy as np

from ...core.boxes import standard_quantiles
from ..judging.givens import Given, one_of, some_of
from ..judging.kinds import Members, Paragraph, Value, with_hints

_OWN = 2  # index of the patient's box
_MAX_BOXES = 12
_SHARES = [0.4, 0.3, 0.2, 0.1]  # how often the boxes of four occur


def _contrast(slope: float, means: Any, frequency: Any) -> float:
    """Own box against the mean of the others, by their frequencies."""
    others, frequencies = np.delete(means, _OWN), np.delete(frequency, _OWN)
    return slope * float(means[_OWN] - np.average(others, weights=frequencies))


def _four_means(rng: np.random.Generator) -> list[int]:
    return sorted((20 + rng.permutation(15)[:4]).tolist())


def _hiding(xi: float) -> list[int]:
    """The numbers of boxes whose middle box holds ξ."""
    return [p for p in range(3, _MAX_BOXES + 1, 2) if standard_quantiles(p)[p // 2 + 1] > xi]


EXERCISES = (
    Value(
        given={
            "slope": Given(3.0, "the slope", one_of(2.0, 4.0, 5.0)),
            "means": Given([20, 24, 28, 36], "the means", _four_means),
            "frequency": Given(_SHARES, "the frequencies", some_of(4, *reversed(_SHARES))),
        },
        asks="a coefficient",
        right=_contrast,
        mistakes=with_hints(
            lambda slope, means, frequency: _contrast(1.0, means, frequency),
            "That is the difference between the boxes. The model has a slope.",
            lambda slope, means, frequency: _contrast(slope, means, np.ones(4)),
            "The other boxes are not equally frequent.",
            lambda slope, means, frequency: (
                slope * (means[_OWN] - np.dot(means, frequency) / np.sum(frequency))
            ),
            "The patient's own box is not one of those it is compared with.",
            lambda slope, means, frequency: (
                slope * (means[_OWN] - np.dot(means, frequency) + means[_OWN] * frequency[_OWN])
            ),
            "The frequencies of the other boxes do not add up to 1, so that sum is not yet a mean.",
        ),
        nudge="Which boxes are compared, and does the width matter?",
        formula="The limit is the slope times a difference: the mean of the patient's box minus that of "
        "the others, weighted by their frequencies.",
        step="Leave out the third of the means {means}. Multiply each of the others by its frequency, add "
        "them up and divide by the sum of these frequencies. Compare the third mean with the result.",
    ),
    Members(
        given={"xi": Given(0.2, "ξ", one_of(0.1, 0.15, 0.22))},
        right=_hiding,
        mistakes=with_hints(
            lambda xi: range(2, _MAX_BOXES + 1, 2),
            "An even number of boxes has an edge in the middle of the data.",
            lambda xi: [p for p in range(3, _MAX_BOXES + 1, 2) if p not in _hiding(xi)],
            "An odd number is right. But the more boxes there are, the narrower the middle one: "
            "does it still hold {xi}?",
        ),
        nudge="In which box does ξ have to lie, and which numbers of boxes have such a box?",
        formula="The middle box of an odd p ends at Φ⁻¹(½ + 1/(2p)). Compare that with ξ.",
        step="Φ⁻¹ of 2/3, 3/5, 4/7, 5/9, 6/11 is 0.43, 0.25, 0.18, 0.14, 0.11, for 3, 5, 7, 9, 11 "
        "boxes. Which of these reach beyond {xi}?",
    ),
    Paragraph(
        rubric=[
            "Fix first: account has two values and belongs in categorical_features; as it is, the "
            "model may be asked about customers who do not exist, and the −70 means little.",
            "Income: +25 says that this customer's box scores higher than the other boxes; from a low box "
            "the slope could still be negative. For the slopes of this model, explain without boxes.",
            "Age: 2 ± 9 is noise, and a coefficient near 0 may also come from a box in the middle of the "
            "data. Neither says that the model hardly uses age.",
            "The width: a smaller one does not make it more local. With ten features at 0.5 the 5000 "
            "samples have less weight than the customer's own row, so ridge and that row would decide.",
            "What to do next: declare the column, then repeat the run or take more samples.",
        ],
        fewest=40,
    ),
)
