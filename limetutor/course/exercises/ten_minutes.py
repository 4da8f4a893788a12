"""Exercises of the chapter *LIME in ten minutes*."""

from math import sqrt

from ..judging.kinds import Given, Paragraph, Value, between, in_words, with_hints

EXERCISES = (
    Value(
        given={
            "n": Given(
                5000, "the number of samples you have", lambda rng: 1000 * int(rng.integers(2, 9))
            ),
            "factor": Given(3, "the factor", between(3, 7), in_words),
        },
        asks="a number of samples",
        right=lambda n, factor: n * factor**2,
        mistakes=with_hints(
            lambda n, factor: n * factor,
            "That many samples divide the noise only by the square root of {factor}.",
            lambda n, factor: n * sqrt(factor),
            "The root is on the wrong side: the noise falls like one over the square root of n.",
            lambda n, factor: n * factor**2 - n,
            "That is how many you have to add. How many is that in total?",
            lambda n, factor: n / factor**2,
            "With fewer samples there is more noise.",
        ),
        nudge="Ten times as many samples cut the scatter by a factor of about three. How many cut it by a factor of {factor}?",
        formula="The scatter of the runs falls like one over the square root of n.",
        step="To cut the noise by a factor of {factor}, the square root of n must be {factor} times as large. What does that make n?",
    ),
    Paragraph(
        rubric=[
            "LIME draws random samples and asks the model about them; it does not look inside.",
            "Each feature is cut into boxes, and a sample is described by the boxes it shares with the instance.",
            "Samples that differ more from the instance count less; the bandwidth says how much less.",
            "The coefficients come from a weighted linear regression of the predictions on those zeros and ones.",
            "A coefficient compares the mean prediction in the instance's box with the mean elsewhere. It is not a "
            "slope, and its sign can be opposite to that of the slope.",
            "The samples are random, so the coefficients differ from run to run.",
        ],
        fewest=40,
    ),
)
