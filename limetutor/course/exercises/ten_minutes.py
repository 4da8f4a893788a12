"""Exercises of the chapter *LIME in ten minutes*."""

from math import sqrt

from ..judging.kinds import Given, Paragraph, Value, between, in_words, with_hints

EXERCISES = (
    Value(
        given={
            "lime": Given(-2.1, "the coefficient that lime gives", between(12, 50, per=-10)),
            "ours": Given(0.8, "the coefficient that limetutor gives"),
            "error": Given(1.25, "the standard error", between(90, 160, per=100)),
        },
        asks="a distance in standard errors of the difference",
        right=lambda lime, ours, error: (ours - lime) / (sqrt(2) * error),
        mistakes=with_hints(
            lambda lime, ours, error: (ours - lime) / error,
            "That would be right if one of the two numbers had no error. Both do.",
            lambda lime, ours, error: (ours - lime) / (2 * error),
            "Errors of independent numbers do not add; their squares do.",
            lambda lime, ours, error: ours - lime,
            "That is the difference itself. How large is it beside its standard error?",
            lambda lime, ours, error: (ours - lime) / (2 * error**2),
            "You divided by the variance of the difference: take its root.",
            lambda lime, ours, error: (-ours - lime) / (sqrt(2) * error),
            "One coefficient lies below zero and the other above: how far is it from one to the other?",
        ),
        nudge="Both numbers are random. How large is the standard error of their difference?",
        formula="The variance of a difference of two independent numbers is the sum of their variances.",
        step="The standard error of the difference is √2 · {error}. Divide the distance from {lime} to {ours} by it.",
    ),
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
            "That many samples shrink the noise by the root of {factor} only.",
            lambda n, factor: n * sqrt(factor),
            "The root is on the wrong side: the noise goes like one over the root of n.",
            lambda n, factor: n * factor**2 - n,
            "That is how many you have to add; how many are it in all?",
            lambda n, factor: n / factor**2,
            "With fewer samples there is more noise.",
        ),
        nudge="In the second control ten times the samples made the lines about three times shorter.",
        formula="The standard error falls like one over the root of n.",
        step="To make the noise {factor} times less, the root of n must be {factor} times larger. What does that make n?",
    ),
    Paragraph(
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
