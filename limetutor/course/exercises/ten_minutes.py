"""Exercises of the chapter *LIME in ten minutes*."""

from __future__ import annotations

from math import sqrt

from ..judging.kinds import Given, Ladder, Mistake, Paragraph, Value, in_words

EXERCISES = (
    Value(
        name="ten-minutes/1",
        given={
            "lime": Given(
                -2.1,
                "the coefficient that lime gives",
                lambda rng: -float(rng.integers(12, 50)) / 10,
            ),
            "ours": Given(0.8, "the coefficient that limetutor gives"),
            "error": Given(
                1.25, "the standard error", lambda rng: float(rng.integers(90, 160)) / 100
            ),
        },
        asks="a distance in standard errors of the difference",
        right=lambda lime, ours, error: (ours - lime) / (sqrt(2) * error),
        mistakes=[
            Mistake(
                lambda lime, ours, error: (ours - lime) / error,
                "That would be right if one of the two numbers had no error. Both do.",
            ),
            Mistake(
                lambda lime, ours, error: (ours - lime) / (2 * error),
                "Errors of independent numbers do not add; their squares do.",
            ),
            Mistake(
                lambda lime, ours, error: ours - lime,
                "That is the difference itself. How large is it beside its standard error?",
            ),
            Mistake(
                lambda lime, ours, error: (ours - lime) / (2 * error**2),
                "You divided by the variance of the difference: take its root.",
            ),
            Mistake(
                lambda lime, ours, error: (-ours - lime) / (sqrt(2) * error),
                "One coefficient lies below zero and the other above: how far is it from one to the other?",
            ),
        ],
        ladder=Ladder(
            "Both numbers are random. How large is the standard error of their difference?",
            "The variance of a difference of two independent numbers is the sum of their variances.",
            "The standard error of the difference is √2 · {error}. Divide the distance from {lime} to {ours} by it.",
        ),
    ),
    Value(
        name="ten-minutes/2",
        given={
            "n": Given(
                5000,
                "the number of samples you have",
                lambda rng: 1000 * int(rng.integers(2, 9)),
            ),
            "factor": Given(3, "the factor", lambda rng: int(rng.integers(3, 7)), in_words),
        },
        asks="a number of samples",
        right=lambda n, factor: n * factor**2,
        mistakes=[
            Mistake(
                lambda n, factor: n * factor,
                "That many samples shrink the noise by the root of {factor} only.",
            ),
            Mistake(
                lambda n, factor: n * sqrt(factor),
                "The root is on the wrong side: the noise goes like one over the root of n.",
            ),
            Mistake(
                lambda n, factor: n * factor**2 - n,
                "That is how many you have to add; how many are it in all?",
            ),
            Mistake(
                lambda n, factor: n / factor**2,
                "With fewer samples there is more noise.",
            ),
        ],
        ladder=Ladder(
            "In the second control ten times the samples made the lines about three times shorter.",
            "The standard error falls like one over the root of n.",
            "To make the noise {factor} times less, the root of n must be {factor} times larger. What does that make n?",
        ),
    ),
    Paragraph(
        name="ten-minutes/3",
        rubric=[
            "LIME draws random samples and asks the model about them; it does not look inside.",
            "Each feature is cut into boxes, and a sample is described by the boxes it shares with the instance.",
            "Samples near the instance count more; the bandwidth says how much more.",
            "The coefficients come from a weighted least squares fit of the predictions on those indicators.",
            "A coefficient is a contrast, the mean prediction in the instance's box minus the mean elsewhere. It is "
            "not a slope, and its sign may oppose the slope's.",
            "The numbers are random and come with a standard error.",
        ],
        fewest=40,
    ),
)
