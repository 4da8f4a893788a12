"""Exercises of the chapter *Can it be shown?*."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import scipy

from ..judging.kinds import Function, Given, Ladder, Mistake, Value


def _shared(a: float, b: float) -> float:
    return float((2 + a**2 + b**2 + (1 - a - b) ** 2) / 3)


def _factor(csi: float) -> float:
    return float(scipy.special.ndtri((1 + csi / 100) / 2) / (1.96 * np.sqrt(2)))


def _vsi(lists: Any) -> float:
    sets = [set(names) for names in lists]
    return float(np.mean([len(s & t) / len(s) for s, t in combinations(sets, 2)]))


def _every_pair(lists: Any) -> float:
    return float(np.mean([len({*s} & {*t}) / len(s) for s in lists for t in lists]))


def _jaccard(lists: Any) -> float:
    pairs = combinations([set(names) for names in lists], 2)
    return float(np.mean([len(s & t) / len(s | t) for s, t in pairs]))


def _same_lists(lists: Any) -> float:
    return float(np.mean([{*s} == {*t} for s, t in combinations(lists, 2)]))


def _some_lists(rng: np.random.Generator) -> tuple[list[list[str]]]:
    """The lists of some runs, each of the same number of features, in any order."""
    kept, runs = int(rng.integers(2, 5)), int(rng.integers(3, 9))
    names = [f"x{j}" for j in range(1, 8)]
    return ([list(rng.permutation(names)[:kept]) for _ in range(runs)],)


EXERCISES = (
    Value(
        name="trust/1",
        given={
            "a": Given(0.5, "the first probability", lambda rng: float(rng.integers(40, 60)) / 100),
            "b": Given(
                0.3, "the second probability", lambda rng: float(rng.integers(22, 34)) / 100
            ),
        },
        asks="the share of features in common",
        right=_shared,
        mistakes=[
            Mistake(
                lambda a, b: 3 * _shared(a, b),
                "That is how many features two runs have in common; a share is asked for.",
            ),
            Mistake(
                lambda a, b: 2 / 3,
                "Two runs can agree on the third place by chance. How likely is that?",
            ),
            Mistake(
                lambda a, b: (2 + a) / 3,
                "That compares a run with the likeliest list, not two runs with each other.",
            ),
        ],
        ladder=Ladder(
            "When is a feature on both of two lists?",
            "Both runs keep feature j with its probability squared; the VSI adds these up.",
            "(1 + 1 + {a}² + {b}² + …) / 3, with the third probability for the dots.",
        ),
    ),
    Value(
        name="trust/2",
        given={"csi": Given(84, "the CSI in per cent", lambda rng: int(rng.integers(70, 95)))},
        asks="the factor ρ",
        right=_factor,
        mistakes=[
            Mistake(
                lambda csi: np.sqrt(2) * _factor(csi),
                "Two runs differ by more than the error of one run.",
            ),
            Mistake(
                lambda csi: scipy.special.ndtri(csi / 100) / (1.96 * np.sqrt(2)),
                "The intervals can miss each other on either side: two tails are left.",
            ),
            Mistake(
                lambda csi: csi / 99.4,
                "The CSI is not proportional to the width of the intervals.",
            ),
        ],
        ladder=Ladder(
            "Which part of the proposition ties the CSI to ρ, and what is unknown in it?",
            "Set 2Φ(1.96 √2 ρ) − 1 equal to the CSI as a share, and solve for ρ by the inverse of Φ.",
            "Φ(1.96 √2 ρ) = (1 + {csi}/100) / 2; look up the quantile and divide it by 1.96 √2.",
        ),
    ),
    Function(
        name="trust/3",
        reference=_vsi,
        inputs=_some_lists,
        mistakes=[
            (_every_pair, "A run always agrees with itself: compare different runs only."),
            (
                _jaccard,
                "Divide by how many features a run keeps, not by how many both have together.",
            ),
            (_same_lists, "Lists that differ in one name still share the others."),
            (lambda lists: 100 * _vsi(lists), "Give a share between 0 and 1, not per cent."),
        ],
        ladder=Ladder(
            "Which pairs of runs are there, and what do the two of a pair have in common?",
            "The VSI is a mean over all pairs of different runs, each pair once.",
            "itertools.combinations(lists, 2) gives the pairs; of each take the size of the "
            "intersection over the length of a list, then the mean.",
        ),
    ),
)
