"""Exercises of the chapter *Can it be shown?*."""

from itertools import combinations

import numpy as np
import scipy

from ..judging.kinds import Function, Given, Value, between, with_hints


def _shared(a: float, b: float) -> float:
    return float((2 + a**2 + b**2 + (1 - a - b) ** 2) / 3)


def _factor(csi: float) -> float:
    return float(scipy.special.ndtri((1 + csi / 100) / 2) / (1.96 * np.sqrt(2)))


def _pairs(kept: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(combinations(np.asarray(kept, float), 2))


def _vsi(kept: np.ndarray) -> float:
    return float(np.mean([a @ b / a.sum() for a, b in _pairs(kept)]))


def _some_runs(rng: np.random.Generator) -> tuple[np.ndarray]:
    """What some runs kept, each as many of seven features as the others."""
    kept, runs = int(rng.integers(2, 5)), int(rng.integers(3, 9))
    return (np.stack([rng.permutation(7) < kept for _ in range(runs)]).astype(float),)


EXERCISES = (
    Value(
        given={
            "a": Given(0.5, "the first probability", between(40, 60, per=100)),
            "b": Given(0.3, "the second probability", between(22, 34, per=100)),
        },
        asks="the share of features in common",
        right=_shared,
        mistakes=with_hints(
            lambda a, b: 3 * _shared(a, b),
            "That is how many features two runs have in common; a share is asked for.",
            lambda a, b: 2 / 3,
            "Two runs can agree on the third place by chance. How likely is that?",
            lambda a, b: (2 + a) / 3,
            "That compares a run with the likeliest list, not two runs with each other.",
        ),
        nudge="When is a feature on both of two lists?",
        formula="Both runs keep feature j with its probability squared; the VSI adds these up.",
        step="(1 + 1 + {a}² + {b}² + …) / 3, with the third probability for the dots.",
    ),
    Value(
        given={"csi": Given(84, "the CSI in per cent", between(70, 95))},
        asks="the factor ρ",
        right=_factor,
        mistakes=with_hints(
            lambda csi: np.sqrt(2) * _factor(csi),
            "Two runs differ by more than the error of one run.",
            lambda csi: scipy.special.ndtri(csi / 100) / (1.96 * np.sqrt(2)),
            "The intervals can miss each other on either side: two tails are left.",
            lambda csi: csi / 99.4,
            "The CSI is not proportional to the width of the intervals.",
        ),
        nudge="Which part of the proposition ties the CSI to ρ, and what is unknown in it?",
        formula="Set 2Φ(1.96 √2 ρ) − 1 equal to the CSI as a share, and solve for ρ by the inverse of Φ.",
        step="Φ(1.96 √2 ρ) = (1 + {csi}/100) / 2; look up the quantile and divide it by 1.96 √2.",
    ),
    Function(
        reference=_vsi,
        inputs=_some_runs,
        mistakes=with_hints(
            lambda kept: np.mean(kept @ kept.T) / kept[0].sum(),
            "A run agrees with itself, of course: compare different runs only.",
            lambda kept: np.mean([a @ b / np.maximum(a, b).sum() for a, b in _pairs(kept)]),
            "Divide by how many features a run keeps, not by how many both have together.",
            lambda kept: np.mean([np.array_equal(a, b) for a, b in _pairs(kept)]),
            "Runs that differ in one feature still share the others.",
            lambda kept: np.mean([np.mean(a == b) for a, b in _pairs(kept)]),
            "Features that neither run kept do not count as shared.",
            lambda kept: 100 * _vsi(kept),
            "Give a share between 0 and 1, not per cent.",
        ),
        nudge="Which pairs of runs are there, and what do the two of a pair have in common?",
        formula="The VSI is a mean over all pairs of different runs, each pair once.",
        step="itertools.combinations(kept, 2) gives the pairs of rows; of each take the product a @ b, "
        "divide it by a.sum(), and take the mean.",
    ),
)
