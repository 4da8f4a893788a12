"""The reasons that an explanation gives: its largest coefficients, and how surely other runs give them.

Readers remember the first three with their signs. The definition of harm (``benchmarks/harm.py``) is about
these, and so are the checks that decide whether an explanation can be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..precision.sparse import largest
from ..precision.stability import repeats

DUST = 1e-9  # of the largest: what is smaller is rounding, and no reason
REASONS = 3  # that readers remember
RUNS = 1000  # drawn from the normal law of the coefficients, as other runs would give them
HARMED = 0.9  # harm: the reasons are others, or have other signs, in more than a tenth of the runs
MIN_SAME = 0.96  # with this share three of 20 runs differ at most once in 20 times
TRIED = 0.99  # what a trial must give: the covariance it rests on is an estimate


class SameReasons(NamedTuple):
    """The reasons that most runs give, and the share of runs that give them all, and each."""

    features: np.ndarray  # the largest first
    together: float
    each: np.ndarray
    seen: np.ndarray  # of every feature, the share of runs that give it as a reason, (d,)


def same_reasons(coef: np.ndarray, covariance: np.ndarray, k: int) -> SameReasons:
    """The k largest of normal coefficients, with their signs, over runs."""
    runs = repeats(coef, covariance, RUNS)
    seen = largest(np.abs(runs), k) & (np.abs(runs) > DUST * np.max(np.abs(runs), initial=0.0))
    signs = np.where(seen, np.sign(runs), 0).astype(int)
    kinds, inverse = np.unique(signs, axis=0, return_inverse=True)
    counts = np.bincount(inverse.ravel())
    most = kinds[int(np.argmax(counts))]
    features = np.flatnonzero(most)
    features = features[np.argsort(-np.abs(coef[features]), kind="stable")]
    each = np.mean(signs[:, features] == most[features], axis=0)
    return SameReasons(features, float(counts.max() / RUNS), each, seen.mean(axis=0))


def severity_for(reasons: np.ndarray, harmed: np.ndarray) -> str:
    """Of reasons that do not hold, (k,) of bool: serious if the first does not, or most do not."""
    if not np.any(harmed):
        return "note"
    most = 2 * harmed.sum() > min(len(reasons), REASONS)
    return "serious" if harmed[0] or most else "warning"


def listed(names: Sequence[Any]) -> str:
    """All of a few names."""
    names = [str(name) for name in names]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
