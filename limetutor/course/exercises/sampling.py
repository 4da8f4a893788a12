"""Exercises of the chapter *Sampling*."""

from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from ...core.boxes import standard_quantiles
from ...core.truncated import normal_box
from ...precision.edge_errors import edge_stderr, misplaced_share
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
            "That is the distance above the mean, not the position.",
            lambda mean, sd: mean + _top_mean(5),
            "That is the position for a standard deviation of 1.",
            lambda mean, sd: mean + sd * _top_mean(5) / 5,
            "Divide the density at the edge by the probability of the box.",
            lambda mean, sd: mean + sd * _top_mean(4),
            "That is the mean of the last of four boxes; here there are five.",
            lambda mean, sd: mean + sd * standard_quantiles(5)[-2],
            "That is the edge at which the box begins. The mean of the box lies farther out.",
            lambda mean, sd: mean + sd**2 * _top_mean(5),
            "You used the variance where the standard deviation belongs.",
        ),
        nudge="The last box has no upper end. Which quantities do you know at its lower edge?",
        formula="Use the lemma on the mean of a truncated normal, with v = ∞: ϕ(v) is 0, and the box has "
        "probability 1/5.",
        step="In standard units, the mean is 0.2800 / (1/5). Multiply by {sd} and add {mean}.",
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
            "Equal probabilities are right for quantile boxes. Are these boxes equally full?",
            lambda low, high: np.array([ndtr(low), ndtr(high), 1.0]),
            "Those are the shares below the cuts. Three probabilities must add up to 1.",
            lambda low, high: np.array([ndtr(low), 1 - ndtr(high), ndtr(high) - ndtr(low)]),
            "The numbers are right. Write them in the order of the boxes, from left to right.",
        ),
        nudge="Which share of standard normal values falls into each of the three boxes?",
        formula="The share of a box is Φ at its upper edge minus Φ at its lower edge; above the last cut it is 1 minus Φ.",
        step="The first is Φ({low}) and the second Φ({high}) − Φ({low}). What is left for the third?",
    ),
    Value(
        given={
            "d": Given(10, "the number of features", between(5, 13), in_words),
            "n": Given(5000, "the number of samples"),
        },
        asks="an expected number of samples",
        right=lambda d, n: n * 0.25**d,
        count=True,
        mistakes=with_hints(
            lambda d, n: 100 * n * 0.25**d,
            "The question asks for a number of samples, not for a percentage.",
            lambda d, n: 0.25**d,
            "That is the probability for one sample. How many are drawn?",
            lambda d, n: n * 0.25,
            "That many agree in the first feature. They must agree in all features.",
            lambda d, n: n * 0.25 / d,
            "Probabilities of independent events multiply.",
            lambda d, n: n * 0.75**d,
            "That many agree in none of the features.",
        ),
        nudge="What is the probability that one sample agrees with ξ in one feature?",
        formula="The features are drawn independently, so the probability for all of them is a power of 1/4.",
        step="Multiply {n} by 1/4 to the power {d}.",
    ),
    Function(
        reference=lambda u, k, p: ndtri((k - 1 + u) / p),  # values in the boxes k of p
        inputs=_uniforms,
        mistakes=with_hints(
            lambda u, k, p: ndtri((k + u) / (p + 1)),
            "Boxes are counted from 1 here, and there are p of them.",
            lambda u, k, p: ndtri(u),
            "That draws from the whole normal distribution. Each value must lie in its box.",
            lambda u, k, p: ndtri((k - 1 + (1 - u)) / p),
            "The values run backwards in their box. A larger u must give a larger value.",
        ),
        nudge="The share u of the box lies below the value. Which share of the whole distribution is that?",
        formula="Box k holds the shares from (k − 1)/p to k/p. Go the fraction u of the way from the first "
        "to the second, then apply Φ⁻¹.",
        step="norm.ppf of scipy.stats is Φ⁻¹. Its argument is (k − 1 + u)/p, and it accepts arrays.",
    ),
    Value(
        given={"error": Given(0.01, "the standard error you want", between(8, 31, per=1000))},
        asks="a number of training values",
        right=lambda error: (edge_stderr(4, 1)[2] / error) ** 2,
        mistakes=with_hints(
            lambda error: (edge_stderr(4, 1)[1] / error) ** 2,
            "That is right for the median. The third quartile has another order and another density.",
            lambda error: edge_stderr(4, 1)[2] / error,
            "That is the square root of n.",
            lambda error: 0.25 * 0.75 / error**2,
            "That gives the share below the edge a standard error of this size. How does an error in the "
            "share become an error in the position?",
            lambda error: (sqrt(0.75) / 0.3178 / error) ** 2,
            "Under the square root are two factors: the order, and one minus the order.",
            lambda error: 0.25 * 0.75 / 0.3178 / error**2,
            "The density is outside the square root, so it must be squared too.",
        ),
        nudge="The standard error of an edge falls with the square root of n. Here you know the standard error and want n.",
        formula="Set √(τ(1−τ)/n) / ϕ to the standard error you want, with τ = 3/4 and the density at that edge.",
        step="Squaring gives τ(1−τ) / (n · 0.3178²) = {error}². Solve for n.",
    ),
    Value(
        given={
            "d": Given(10, "the number of features", between(6, 25), in_words),
            "n": Given(500, "the number of training values"),
        },
        asks="a probability",
        right=lambda d, n: 1 - (1 - misplaced_share(4, n)) ** d,
        mistakes=with_hints(
            lambda d, n: misplaced_share(4, n),
            "That is the probability for a single feature.",
            lambda d, n: d * misplaced_share(4, n),
            "Adding counts an instance twice when two of its features change their box.",
            lambda d, n: (1 - misplaced_share(4, n)) ** d,
            "That is the probability that all features stay in their boxes.",
        ),
        nudge="The chapter gives the probability for one feature. What is the complement of “at least one”?",
        formula="If s is the probability for one feature, a feature stays in its box with probability 1 − s, independently of the others.",
        step="All {d} features stay with probability (1 − s) to the power {d}, with the s that was simulated above. "
        "You want the complement.",
    ),
)
