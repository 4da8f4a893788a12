"""Which bandwidth to use, and why: :meth:`limetutor.Path.recommend`. Chapter: trust."""

from itertools import product
from typing import NamedTuple

import numpy as np

from ..core.problem import Problem
from ..cubes.extension import Masses
from ..cubes.widths import are_equal, widths_of
from ..precision.diagnostics import MIN_OTHER_WEIGHT
from .path_events import OUTSIDE, TOP, Section

MIN_DISTANCE = 0.06  # of a recommended bandwidth from a critical one (5% is promised)
MARGINS = (0.5, 0.25, 0.1)  # from the ends of the range in which signs and order stay, best first
MIN_RANGE = 1.2  # ratio of the ends of a range
MIN_SAMPLES = 30  # effective ones, per coefficient
MIN_KEPT = 0.9  # of the strongest coefficients, that a penalty should leave
MAX_WORSE = 0.1  # of the largest coefficient: how much further off than at the explainer's own
ABOUT_ONE_MASS = 1.1  # ratio of the largest mass of a box of xi to the smallest
MIN_WEIGHT = 10 * MIN_OTHER_WEIGHT  # of all other rows together, for xi's own row not to decide


class Recommendation(NamedTuple):
    """A bandwidth (and a number of boxes, of a path over those), or None; and why, in words."""

    nu: float | None
    reason: str
    boxes: int | None = None


def recommended_bandwidth(section: Section) -> Recommendation:
    """The smallest bandwidth that nothing rules out, in the widest range that has one.

    Zeros and changes of order just outside the section count as well.
    """
    grid, points, leaders = section.grid, section.points, section.leaders
    d, n = section.curve.problem.d, section.curve.sample_size
    span = f"between {grid[0]:.3g} and {grid[-1]:.3g}"
    if not np.any(leaders):
        return Recommendation(None, f"No effect is to be seen at any bandwidth {span}.")
    need = MIN_SAMPLES * (d + 1)
    enough = n * points.share >= need
    if not np.any(enough):
        most = f"of {n:,} samples at most {n * float(points.share.max()):,.0f} count {span}"
        wanted = f"{d + 1} coefficients want {need:,}; draw more samples."
        return Recommendation(None, f"None is good: {most}, and {wanted}")
    strongest = np.argsort(-np.abs(points.coef), axis=1)[:, :TOP]
    kept = np.min(np.take_along_axis(points.kept, strongest, axis=1), axis=1)
    usable = enough & (points.weight >= MIN_WEIGHT) & (kept >= MIN_KEPT)
    no_worse = _no_worse(section)
    critical, ends = section.extended()
    every = np.concatenate(critical)
    leading = np.unique(np.abs(leaders[leaders != 0]).astype(int)) - 1
    of_leading = np.concatenate([critical[j] for j in leading])
    ratio = np.array([hi / lo for lo, hi in section.ranges])
    order = np.argsort(-np.log(ratio), kind="stable")
    wide = [(section.ranges[k], ends[k]) for k in order if ratio[k] >= MIN_RANGE]
    for margin, zeros, (inner, (lo, hi)) in product(MARGINS, (every, of_leading), wide):
        first = _inwards(lo, grid[0] / OUTSIDE, 1 + margin)
        last = _inwards(hi, grid[-1] * OUTSIDE, 1 / (1 + margin))
        inside = (grid >= max(first, inner[0])) & (grid <= min(last, inner[1]))
        good = np.flatnonzero(inside & usable & no_worse & _apart_from(zeros, grid))
        if len(good):
            return _in_words(section, int(good[0]), inner, margin)
    where = f", wherever {need:,} of {n:,} samples count,"
    if not wide:
        why = (
            f" there is no stretch of {MIN_RANGE - 1:.0%} over which the strongest effects keep their "
            "signs and their order"
        )
    elif not np.any(usable):
        why = f"{where} the row's own weight or the penalty decides; draw more samples"
    elif not np.any(usable & no_worse):
        why = f"{where} the explanation is further off the prediction than at the explainer's own bandwidth"
    elif not np.any(usable & no_worse & _apart_from(of_leading, grid)):
        why = f"{where} a leading effect is zero within 5% of the bandwidth"
    else:
        why = f"{where} the order or the signs of the strongest effects change within 10% of the bandwidth"
    return Recommendation(None, f"None is good: {span}{why}.")


def _no_worse(section: Section) -> np.ndarray:
    """Where the surrogate is about as near to the prediction as at the explainer's own bandwidth, (m,)."""
    own, error = section.curve.problem.world.nu, np.abs(section.points.error)
    if own is None or not section.grid[0] <= own <= section.grid[-1]:
        return np.ones(len(error), bool)
    at = int(np.argmin(np.abs(np.log(section.grid / own))))
    return error <= error[at] + MAX_WORSE * np.max(np.abs(section.points.coef[at]))


def _inwards(end: float, outermost: float, factor: float) -> float:
    """The end of a range, moved inwards unless it is only where the search ended."""
    return end if np.isclose(end, outermost, rtol=1e-9, atol=0) else end * factor


def _apart_from(zeros: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Which bandwidths are not near any of the zeros, (m,) of bool."""
    distance = np.abs(np.log(grid[:, None] / zeros))
    return np.all(distance > np.log1p(MIN_DISTANCE), axis=1)


def _in_words(section: Section, i: int, ends: tuple[float, float], margin: float) -> Recommendation:
    """Recommend the i-th bandwidth of the grid."""
    points, nu = section.points, float(f"{section.grid[i]:.3g}")
    problem, n = section.curve.problem, section.curve.sample_size
    words = "the strongest effect keeps its sign"
    if problem.d > 1:
        count = "two" if problem.d == 2 else "three"
        words = f"the {count} strongest effects keep their signs and their order"
    lime_nu, beside = problem.world.nu, ""
    if lime_nu is not None:
        verb = "is" if ends[0] <= lime_nu <= ends[1] else "is not"
        beside = f" The explainer's own {lime_nu:.3g} {verb} in that range."
    return Recommendation(
        nu,
        f"Bandwidth {nu:g}: from {ends[0]:.3g} to {ends[1]:.3g} {words}, no leading effect is zero "
        f"within 5% of it, and {n * points.share[i]:,.0f} of {n:,} samples count. It is the narrowest "
        f"that is {margin:.0%} away from any change of these; there the explanation is off by "
        f"{abs(points.error[i]):.2g} from the prediction {problem.prediction:.4g}.{beside}",
    )


def with_shapley(advice: Recommendation, problem: Problem) -> Recommendation:
    """The same and, where all boxes of xi have about one mass, the bandwidth of Shapley values."""
    if problem.kernel.name != "mismatch" or problem.world.regression is not None:
        return advice
    masses = Masses.of(problem)
    p = masses.p[~masses.constant]
    if not len(p) or p.max() > ABOUT_ONE_MASS * p.min():
        return advice
    nearly = "" if are_equal(masses) else "nearly "
    words = (
        f" At {widths_of(masses, 1).nu[0]:.3g} the coefficients times 1 - p, p the mass of a box, become, "
        f"as n grows, {nearly}the Shapley values on boxes where no more than two features act together (lt.cube)."
    )
    return advice._replace(reason=advice.reason + words)


def recommended_boxes(
    counts: np.ndarray, error: np.ndarray, first: int, last: int, nu: float
) -> Recommendation:
    """Of the numbers of boxes from ``first`` to ``last``, with one order, the least off at xi."""
    if first == last:
        words = (
            f"None is good: from {counts[0]} to {counts[-1]} boxes the order or the signs of the "
            "strongest effects change with every number that was looked at."
        )
        return Recommendation(None, words)
    best = first + int(np.argmin(np.abs(error[first : last + 1])))
    words = (
        f"{counts[best]} boxes: from {counts[first]} to {counts[last]} boxes the strongest effects keep "
        f"their signs and their order, and of these {counts[best]} boxes are least off at the "
        f"prediction, by {abs(error[best]):.2g}."
    )
    return Recommendation(nu, words, int(counts[best]))
