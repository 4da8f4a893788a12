"""Exercises of the chapter *Weights*."""

from math import sqrt

from ..judging.kinds import Given, Paragraph, Value, between, with_hints

EXERCISES = (
    Value(
        given={
            "xi": Given(1, "the position of ξ"),
            "place": Given(0.7, "the mean of the tilted law", between(55, 95, per=100)),
        },
        asks="a bandwidth",
        right=lambda xi, place: sqrt(xi / place - 1),
        mistakes=with_hints(
            lambda xi, place: sqrt(place / (xi - place)),
            "With so large a bandwidth the mean stays near that of the data. Which term of the formula multiplies ξ?",
            lambda xi, place: 1 / place - 1,
            "That is ν².",
            lambda xi, place: xi - place,
            "That is the distance from the mean to ξ. Which bandwidth gives it?",
        ),
        nudge="The mean of the tilted law lies between that of the data and ξ. Which bandwidth puts it there?",
        formula="With μ = 0 and σ = 1 the mean is ξ / (1 + ν²).",
        step="{place} = {xi} / (1 + ν²). Solve for ν², then take the square root.",
    ),
    Paragraph(
        rubric=[
            "The exponent is four times as large at half the width: a sample that shares no box has "
            "weight 0.03 instead of 0.41.",
            "Samples that share many boxes with the patient count more, relative to the others, than before.",
            "Within a box, and beyond its edges, the distance does not matter: lime's weights depend only "
            "on the box.",
        ],
        fewest=25,
    ),
)
