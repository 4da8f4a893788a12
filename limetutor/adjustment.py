"""Less noise from the same samples: columns that carry what f does inside the boxes.

The surrogate sees only whether a value lies in xi's box; what f does within a box and between the
other boxes is noise to it. Given z_j, both have a mean that is known under the tilted law, so columns
can be made of them that have mean 0 given z_j. Such a column is uncorrelated with every indicator
(coordinates are independent), so adding it to the least squares changes no limit, and it takes with
it the part of f that it explains. Chapter: how many samples.
"""

from __future__ import annotations

import numpy as np

from .sampling import Sampler
from .setting import Setting

FARTHEST = 1e100  # tilted deviations, where weights are 0 and squares still numbers
ENOUGH = 10  # draws that a box must expect to get a column of its own


class Adjustment:
    """The columns of a setting, for n samples.

    For each feature: x_j less the tilted mean of the box it lies in, in units of its tilted
    deviation; and for each box k beside xi's own, ``1{x_j in k} - s_k (1 - z_j)`` with s_k the tilted
    share of k among the others. These sum to 0, so the largest box goes without, and so do boxes
    that hardly occur.
    """

    def __init__(self, setting: Setting, n: int) -> None:
        self.setting = setting
        tilt, boxes, own = setting.tilt, setting.boxes, setting.own
        law, weights = tilt.views.law, tilt.views.weights
        side = np.where(law.within(own), weights[1], weights[2])
        self.means, share = _by_box(law.boxes, side, law.box_means(), int(boxes.count.max()))
        self.scale = np.where(tilt.sigma_tilde > 0, tilt.sigma_tilde, 1.0)
        self.inside = np.flatnonzero(np.any((law.sd > 0) & (side > 0), axis=1))
        share[np.arange(setting.d), own] = 0.0
        wanted = n * tilt.rest[:, None] * share >= ENOUGH
        wanted[np.arange(setting.d), np.argmax(share, axis=1)] = False
        self.feature, self.box = np.nonzero(wanted)
        self.share = share[self.feature, self.box]

    @property
    def size(self) -> int:
        """How many columns there are."""
        return len(self.inside) + len(self.box)

    def columns(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The indicators z (n, d) of samples x (n, d), and the columns behind them."""
        drawn = self.setting.boxes.discretize(x)
        result = np.empty((len(x), z.shape[1] + self.size))
        result[:, : z.shape[1]] = z
        middle = z.shape[1] + len(self.inside)
        for column, j in enumerate(self.inside, z.shape[1]):
            within = (x[:, j] - self.means[j].take(drawn[:, j])) / self.scale[j]
            result[:, column] = np.clip(within, -FARTHEST, FARTHEST)
        for column, (j, k, s) in enumerate(
            zip(self.feature, self.box, self.share, strict=True), middle
        ):
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


def check(setting: Setting, draws: Sampler, lasso: float) -> None:
    """Refuse what has no columns of mean 0, and a penalty that would choose among them."""
    if setting.product is None:
        raise ValueError(
            "adjust must be False for a kernel that does not factor over the coordinates, "
            f"got {setting.kernel.name!r}: its tilted means are not known."
        )
    if not draws.follows(setting.boxes):
        raise ValueError(
            f"adjust must be False with sampler={draws.name!r} in this world: its draws follow "
            "another law, whose means are not known."
        )
    if lasso:
        raise ValueError("adjust must be False with lasso, which would choose among its columns.")
