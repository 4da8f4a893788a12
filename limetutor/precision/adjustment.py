"""Control variates: columns that explain what f does inside the boxes, for less noise.

The surrogate depends only on whether a value lies in xi's box; what f does within a box and between
the other boxes is noise to it. Given z_j, both have a mean that is known under the tilted law, so
columns can be made of them that have mean 0 given z_j. Such a column is uncorrelated with every
indicator (coordinates are independent), so adding it to the least squares changes no limit, and
removes the part of f that it explains from the residuals. Chapter: how many samples.
"""

import numpy as np

from ..core.explainer import EXTENSIONS
from ..core.problem import Problem
from ..core.sampler import Sampler

MAX_DEVIATIONS = 1e100  # from the mean of a box: weights are 0 there, and squares still finite
MIN_EXPECTED_DRAWS = 10  # of a box that gets a column of its own


class Adjustment:
    """The control variates of a problem, for n samples.

    For each feature: x_j less the tilted mean of the box it lies in, in units of its tilted
    deviation; and for each box k other than xi's, ``1{x_j in k} - s_k (1 - z_j)`` with s_k the tilted
    share of k among the others. These sum to 0, so the largest box has none, nor have boxes that
    hardly occur.
    """

    def __init__(self, problem: Problem, n: int) -> None:
        self.boxes = problem.boxes
        tilt, boxes, xi_box = problem.tilt, problem.boxes, problem.box_of_xi
        law, weights = tilt.views.law, tilt.views.weights
        side = np.where(law.within(xi_box), weights[1], weights[2])
        self.means, share = _by_box(law.boxes, side, law.box_means(), int(boxes.count.max()))
        self.scale = np.where(tilt.sigma_tilde > 0, tilt.sigma_tilde, 1.0)
        self.inside = np.flatnonzero(np.any((law.sd > 0) & (side > 0), axis=1))
        share[np.arange(problem.d), xi_box] = 0.0
        frequent = n * tilt.rest[:, None] * share >= MIN_EXPECTED_DRAWS
        frequent[np.arange(problem.d), np.argmax(share, axis=1)] = False
        self.feature, self.box = np.nonzero(frequent)
        self.share = share[self.feature, self.box]
        self.size = len(self.inside) + len(self.box)  # number of control variates

    def columns(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The indicators z (n, d) of samples x (n, d), followed by the control variates."""
        drawn = self.boxes.discretize(x)
        result = np.empty((len(x), z.shape[1] + self.size))
        result[:, : z.shape[1]] = z
        for column, j in enumerate(self.inside, z.shape[1]):
            within = (x[:, j] - self.means[j].take(drawn[:, j])) / self.scale[j]
            result[:, column] = np.clip(within, -MAX_DEVIATIONS, MAX_DEVIATIONS)
        between = zip(self.feature, self.box, self.share, strict=True)
        for column, (j, k, s) in enumerate(between, z.shape[1] + len(self.inside)):
            result[:, column] = (drawn[:, j] == k) - s * ~z[:, j]
        return result


def _by_box(
    box: np.ndarray, weights: np.ndarray, means: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and weight of each box (d, count), from those of its parts."""
    box = np.broadcast_to(box, weights.shape)
    total, weight = np.zeros((len(weights), count)), np.zeros((len(weights), count))
    for part in range(weights.shape[1]):
        rows = np.flatnonzero(weights[:, part] > 0)
        weight[rows, box[rows, part]] += weights[rows, part]
        total[rows, box[rows, part]] += weights[rows, part] * means[rows, part]
    return total / np.where(weight > 0, weight, 1.0), weight


def adjustment(problem: Problem, draws: Sampler, n: int, lasso: float) -> Adjustment:
    """The control variates for n samples; refused without known tilted means, and with lasso."""
    if problem.product is None:
        raise ValueError(
            "adjust must be False for a kernel that does not factor over the coordinates, "
            f"got {problem.kernel.name!r}: its tilted means are not known."
        )
    if not draws.follows(problem.boxes):
        raise ValueError(
            f"adjust must be False with sampler={draws.name!r} in this world: its draws follow "
            "another law, whose means are not known."
        )
    if lasso:
        raise ValueError("adjust must be False with lasso, which would choose among its columns.")
    variates = Adjustment(problem, n)
    columns = problem.d + 1 + variates.size
    if n < 2 * columns:
        raise ValueError(
            f"n must be {2 * columns} or more with adjust=True, twice the {columns} columns of "
            f"this world, got {n}."
        )
    return variates


EXTENSIONS["adjust"] = adjustment
