"""Exercises of the chapter *Sampling*."""

import numpy as np
from scipy.special import ndtr, ndtri

from ...core.boxes import standard_quantiles
from ...core.truncated import normal_box
from ..judging.kinds import Function, Given, Value, between, in_words, with_hints


def _top_mean(p: int) -> float:
    """The mean of N(0, 1) in the outermost of p quantile boxes."""
    return float(normal_box(standard_quantiles(p)[-2], np.inf).mean_inside)


def _uniforms(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    p, n = int(rng.integers(2, 9)), int(rng.integers(3, 9))
    return rng.uniform(0.02, 0.98, n).round(3), rng.integers(1, p + 1, n), p


EXERCISES = (
    Value(
        given={
            "mean": Given(100, "the mean", between(90, 111)),
            "sd": Given(15, "the standard deviation", between(10, 20)),
        },
        asks="the mean of a box",
        right=lambda mean, sd: mean + sd * _top_mean(5),
        mistakes=with_hints(
            lambda mean, sd: sd * _top_mean(5),
            "That is how far it lies above the mean.",
            lambda mean, sd: mean + _top_mean(5),
            "That is right for a standard deviation of 1.",
            lambda mean, sd: mean + sd * _top_mean(5) / 5,
            "The density at the edge has to be divided by the probability of the box.",
            lambda mean, sd: mean + sd * _top_mean(4),
            "That is the last of four boxes; here there are five.",
            lambda mean, sd: mean + sd * standard_quantiles(5)[-2],
            "That is the edge at which the box begins; its mean lies farther out.",
            lambda mean, sd: mean + sd**2 * _top_mean(5),
            "You used the variance where the standard deviation belongs.",
        ),
        nudge="The last box begins at an edge that is given, and it has no end. What is the density there?",
        formula="Use the lemma on the mean of a truncated normal, with v = ∞: ϕ(v) is 0, and the box has "
        "probability 1/5.",
        step="In standard units the mean is 0.2800 / (1/5). Multiply by {sd} and add {mean}.",
    ),
    Value(
        given={
            "low": Given(-1, "the lower cut", between(5, 16, per=-10)),
            "high": Given(2, "the upper cut", between(5, 21, per=10)),
        },
        asks="a list of three probabilities",
        right=lambda low, high: np.diff([0, ndtr(low), ndtr(high), 1]),
        mistakes=with_hints(
            lambda low, high: np.full(3, 1 / 3),
            "Equal chances are right for quantile boxes, which hold equally much. Do these?",
            lambda low, high: np.array([ndtr(low), ndtr(high), 1.0]),
            "Those are the shares below the cuts. They do not add up to 1.",
            lambda low, high: np.array([ndtr(low), 1 - ndtr(high), ndtr(high) - ndtr(low)]),
            "Right numbers: write them in the order of the boxes, from left to right.",
        ),
        nudge="Which share of standard normal values falls into each of the three boxes?",
        formula="The share of a box is Φ at its upper edge minus Φ at its lower edge; beyond the last cut it goes up to 1.",
        step="The first is Φ({low}) and the second Φ({high}) − Φ({low}). What is left for the third?",
    ),
    Value(
        given={
            "d": Given(10, "the number of features", between(5, 13), in_words),
            "n": Given(5000, "the number of examples"),
        },
        asks="an expected number of examples",
        right=lambda d, n: n * 0.25**d,
        count=True,
        mistakes=with_hints(
            lambda d, n: 100 * n * 0.25**d,
            "A number of examples is asked, and that is not given in per cent.",
            lambda d, n: 0.25**d,
            "That is the chance for one example; how many are drawn?",
            lambda d, n: n * 0.25,
            "So many agree in the first feature. They have to agree in all of them.",
            lambda d, n: n * 0.25 / d,
            "Chances of independent events multiply.",
            lambda d, n: n * 0.75**d,
            "So many agree in no feature at all.",
        ),
        nudge="How likely is it that one example agrees with ξ in one feature?",
        formula="The features are drawn independently, so the chance for all of them is a power of 1/4.",
        step="Multiply {n} by 1/4 to the power {d}.",
    ),
    Function(
        reference=lambda u, k, p: ndtri((k - 1 + u) / p),  # new values in the boxes k of p
        inputs=_uniforms,
        mistakes=with_hints(
            lambda u, k, p: ndtri((k + u) / (p + 1)),
            "Boxes are counted from 1 here, and there are p of them.",
            lambda u, k, p: ndtri(u),
            "That draws from the whole normal law; each value has to lie in its box.",
            lambda u, k, p: ndtri((k - 1 + (1 - u)) / p),
            "The values run backwards in their box: a larger u belongs to a larger value.",
        ),
        nudge="Within its box a value must have the share u of its box below it. Which share of all values "
        "is that?",
        formula="Box k holds the shares from (k − 1)/p to k/p. Go the part u of the way from the first to the "
        "second, then use Φ⁻¹.",
        step="norm.ppf of scipy.stats is Φ⁻¹. Its argument is (k − 1 + u)/p, and arrays will do.",
    ),
)
