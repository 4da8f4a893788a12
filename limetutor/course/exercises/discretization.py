"""Exercises of the chapter *Discretization*."""

from math import sqrt
from typing import Literal

import numpy as np

from ...core.boxes import standard_quantiles
from ...precision.edge_errors import edge_stderr, misplaced_share
from ..judging.kinds import Function, Given, Value, between, in_words, with_hints

_FIFTHS = standard_quantiles(5)[1:-1]


def _boxes(x: np.ndarray, edges: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
    columns = zip(edges, x.T, strict=True)
    return np.array([np.searchsorted(q, v, side) for q, v in columns]).T


def _indicators(
    x: np.ndarray, xi: np.ndarray, edges: np.ndarray, side: Literal["left", "right"] = "right"
) -> np.ndarray:
    """1 where x lies in the box of xi; with side="right" a value on an edge is in the box above."""
    same = _boxes(x, edges, side) == _boxes(xi[None], edges, side)
    return same.astype(float)


def _points(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values to one decimal, so that some lie on an edge."""
    d, cuts = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    tenths = [np.sort(rng.choice(np.arange(-15, 16), cuts, replace=False)) for _ in range(d)]
    x = rng.integers(-25, 26, (int(rng.integers(4, 30)), d)) / 10
    return x, rng.integers(-25, 26, d) / 10, np.array(tenths) / 10


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
            "Those are the edges of a standard normal feature; this one has another mean and spread.",
            lambda mean, sd: mean + _FIFTHS,
            "The edges lie within two units of the mean. How far do patients scatter?",
            lambda mean, sd: mean + sd**2 * _FIFTHS,
            "You used the variance; the edges are counted in standard deviations.",
            lambda mean, sd: mean + sd * np.array([-2, -1, 1, 2]) / 2.5,
            "Equally wide boxes hold different numbers of patients. These boxes hold equally many.",
        ),
        nudge="Five boxes with equally many patients: which shares lie below the four edges?",
        formula="The edge of order k/5 is μ + σ Φ⁻¹(k/5), and the normal law is symmetric.",
        step="The first is {mean} − {sd} · 0.8416. Do the same with 0.2533, then both once more with a plus.",
    ),
    Value(
        given={"error": Given(0.01, "the standard error you want", between(8, 31, per=1000))},
        asks="a number of training values",
        right=lambda error: (edge_stderr(4, 1)[2] / error) ** 2,
        mistakes=with_hints(
            lambda error: (edge_stderr(4, 1)[1] / error) ** 2,
            "That is right for the median. The third quartile has another order, and another density.",
            lambda error: edge_stderr(4, 1)[2] / error,
            "That is the root of n.",
            lambda error: 0.25 * 0.75 / error**2,
            "That many values fix the share below the edge. How does an error in the share become an "
            "error in the position?",
            lambda error: (sqrt(0.75) / 0.3178 / error) ** 2,
            "Both factors are needed under the root, the order and one minus the order.",
            lambda error: 0.25 * 0.75 / 0.3178 / error**2,
            "The density stands outside the root, so it is squared with the rest.",
        ),
        nudge="The theorem gives the standard error for n values. Here it is known, and n is not.",
        formula="Set √(τ(1−τ)/n) / ϕ to the standard error you want, with τ = 3/4 and the density at that edge.",
        step="Squared: τ(1−τ) / (n · 0.3178²) = {error}². Solve for n.",
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
            "That is the chance for a single feature.",
            lambda d, n: d * misplaced_share(4, n),
            "Adding counts an instance twice when two of its features change their box.",
            lambda d, n: (1 - misplaced_share(4, n)) ** d,
            "That is the chance that every feature stays where it is.",
        ),
        nudge="The chapter has the chance for one feature. What is the opposite of “at least one”?",
        formula="With s the chance for one feature, a feature stays with probability 1 − s, independently of the others.",
        step="All {d} stay with probability (1 − s) to the power {d}, with the s that was simulated above. You want "
        "the opposite.",
    ),
    Function(
        reference=_indicators,
        inputs=_points,
        mistakes=with_hints(
            lambda x, xi, edges: _indicators(x, xi, edges, "left"),
            "A value on an edge belongs to the box above it, as in the paper; yours is in the box below.",
            lambda x, xi, edges: _boxes(x, edges, "right"),
            "Those are the boxes of x. Compare them with the boxes of ξ.",
        ),
        nudge="First find the box of every value, then compare with the box of ξ, column by column.",
        formula="np.searchsorted(edges[j], x[:, j]) counts the edges of feature j below each value; look up its "
        "argument side for values on an edge.",
        step='With side="right" for x and for ξ, the indicator of feature j is 1 where both counts are equal.',
    ),
)
