"""Step 1 of Algorithm 1, cut: worlds, and the quantile boxes that cut each feature.

A world says, feature by feature, which boxes there are, how often each is drawn and which normal
is truncated to it. :class:`Gaussian` is the paper's; :mod:`limetutor.lime.empirical` reads the boxes
off a training set, as `lime` does. All resolve to :class:`Boxes`. Chapter: discretization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..inputs import arguments as arg
from ..inputs import worlds
from ..inputs.columns import BoxInWords, ColumnKind, without_rounding
from ..inputs.encoding import Encoding
from ..inputs.tables import default_names, read_table
from .truncated import BoxLaw


@dataclass(frozen=True, eq=False)
class Boxes(Encoding):
    """The boxes of d features, ready to use.

    ``inner`` (d, K - 1) are the inner edges of each feature, infinite where it has fewer.
    ``left_closed`` says which box a value on an edge belongs to: the upper one in the paper, the
    lower one in `lime`. ``kinds`` holds the kind of every feature that is not a plain number.
    ``standard`` (d, K + 1) are all edges in units of a whole normal law N(mu, sigma^2), where the
    features have one, and None elsewhere. ``unit`` is what a bandwidth of 1 means for each feature.
    """

    law: BoxLaw
    inner: np.ndarray
    left_closed: bool
    names: tuple[str, ...]
    mu: np.ndarray
    sigma: np.ndarray
    kinds: Mapping[int, ColumnKind] = field(default_factory=dict)
    standard: np.ndarray | None = None
    unit: np.ndarray | float = 1.0

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.mu)

    def codes(self, j: int) -> np.ndarray:
        """The values that stand for the boxes of feature j."""
        return self.law.mean[j, : self.count[j]]

    @cached_property
    def edges(self) -> tuple[np.ndarray, ...]:
        """The inner edges of each feature."""
        return tuple(row[row < np.inf] for row in self.inner)

    @cached_property
    def count(self) -> np.ndarray:
        """How many boxes each feature has, (d,)."""
        return 1 + np.sum(self.inner < np.inf, axis=1)

    def discretize(self, x: np.ndarray) -> np.ndarray:
        """Index (from 0) of the box of each entry of x, (d,) or (n, d): the one rule for ties."""
        x = np.asarray(x, dtype=float)
        if self.inner.shape[1] > 32:  # from about here on bisection is faster
            side = "right" if self.left_closed else "left"
            columns = [
                np.searchsorted(edges, x[..., j], side=side)  # type: ignore[call-overload]
                for j, edges in enumerate(self.edges)
            ]
            return np.stack(columns, axis=-1)
        beyond = np.greater_equal if self.left_closed else np.greater
        result = np.zeros(x.shape, dtype=np.intp)
        for edge in self.inner.T:
            result += beyond(x, edge)
        return result

    def inside(self, x: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """Whether each entry of x (n, d) lies between two edges (d,): the same rule for ties."""
        if self.left_closed:
            return (x >= lo) & (x < hi)
        return (x > lo) & (x <= hi)

    def ends_of(self, box: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The edges around the boxes (d,), infinite for the outer ones."""
        outer = np.full((self.d, 1), np.inf)
        edges = np.concatenate([-outer, self.inner, outer], axis=1)
        rows = np.arange(self.d)
        return edges[rows, box], edges[rows, box + 1]

    def standard_ends(self, box: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The edges around the boxes (d,) or (rows, d), in units of the normal law."""
        assert self.standard is not None
        rows = np.arange(self.d)
        return self.standard[rows, box], self.standard[rows, box + 1]

    def ends(self, j: int, box: int) -> tuple[float, float]:
        """The two edges of a box of feature j; the outer boxes reach to infinity."""
        padded = [-np.inf, *self.edges[j], np.inf]
        return float(padded[box]), float(padded[box + 1])

    def describe(self, j: int, box: int) -> str:
        """A box in words, for explanations: ``bmi <= 0.03``."""
        edges = without_rounding(self.edges[j], self.law.sd[j, [0, self.count[j] - 1]])
        words = BoxInWords(box, edges, float(self.law.mean[j, box]), self.left_closed)
        return self.kind(j).describe(self.names[j], words)


def standard_quantiles(p: int) -> np.ndarray:
    """The p + 1 edges that cut N(0, 1) into p boxes of equal mass; exactly symmetric about 0."""
    upper = -scipy.special.ndtri(np.arange(p // 2 + 1) / p)  # from +inf down to the middle
    edges = np.empty(p + 1)
    edges[: p // 2 + 1] = -upper
    edges[p - p // 2 :] = upper[::-1]
    return edges + 0.0  # no minus zero


class World:
    """Where samples come from. Worlds that are no plain boxes override what differs."""

    own_row = False  # whether xi itself is one of the n rows of a fit
    moves = False  # whether the law of the samples moves with xi
    regression: Any = None  # what the surrogate is fitted on, where not on indicators of boxes
    # the weighting, the penalty and the rows of explanations in it, unless told otherwise
    nu: float | None = None
    n: int | None = None
    kernel, ridge = "gaussian", 0.0

    @property
    def d(self) -> int | None:
        """Number of features, or None while it is left to the instance."""
        raise NotImplementedError

    def boxes(self, d: int | None = None) -> Boxes:
        """The boxes of d features."""
        raise NotImplementedError

    def boxes_at(self, xi: np.ndarray) -> Boxes:
        """The boxes for one instance, where its position moves the law."""
        return self.boxes(len(xi))

    def weighted_by(self, kernel: Any) -> Any:
        """The kernel that samples of this world are weighed by, where another was asked for."""
        return kernel

    def without_table(self, boxes: Boxes) -> World:
        """The same world for pickles, which leave a training table out."""
        return self

    def output(self, f: Any, output: Any) -> Any:
        """The output of f that was asked for, where the world has names of its own for it."""
        return output


@dataclass(frozen=True, eq=False)
class Gaussian(World):
    """The paper's world (H2, with a sigma each): x_j ~ N(mu_j, sigma_j^2), cut at its p_j-quantiles.

    Parameters
    ----------
    mu, sigma, p
        Means, standard deviations and numbers of boxes: one number for all features or one per
        feature; scalars stretch to the length of the instance being explained.
    names
        Names of the features; x1, x2, ... if left out.

    Examples
    --------
    >>> world = Gaussian(mu=0, sigma=1, p=4)
    >>> world.boxes(2).describe(0, 2)
    '0 <= x1 < 0.674'
    """

    mu: Any = 0.0
    sigma: Any = 1.0
    p: Any = 4
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        checked = worlds.gaussian_parameters(self.mu, self.sigma, self.p, self.names)
        for name, value in {**checked, "_cut": {}}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_data(cls, X: Any, p: Any = 4) -> Gaussian:
        """Means and standard deviations estimated from a table, one per column."""
        table = read_table(X)
        mu, sigma = worlds.mean_and_deviation(table.values)
        if np.any(sigma == 0):
            constant = table.names[int(np.flatnonzero(sigma == 0)[0])]
            raise ValueError(
                f"X must vary in every column for a Gaussian world, but {constant!r} is constant; "
                "lt.Empirical takes constant columns."
            )
        return cls(mu=mu, sigma=sigma, p=p, names=table.names)

    @property
    def d(self) -> int | None:
        """Number of features, or None while it is left to the instance."""
        return self._d  # type: ignore[attr-defined]

    def boxes(self, d: int | None = None) -> Boxes:
        """The boxes of d features."""
        cut: dict[int | None, Boxes] = self._cut  # type: ignore[attr-defined]
        d = self.d if d is None else d
        if not isinstance(d, int) or d not in cut:
            d = worlds.agreed_dimension(d, self.d)
            cut.clear()
            cut[d] = self._boxes(d)
        return cut[d]

    def _boxes(self, d: int) -> Boxes:
        alike = self.mu.ndim == self.sigma.ndim == self.p.ndim == 0  # then one row stands for all
        shape = (1 if alike else d,)
        mu, sigma, p = (np.broadcast_to(v, shape) for v in (self.mu, self.sigma, self.p))
        standard = np.full((len(p), int(p.max()) + 1), np.inf)
        for count in np.unique(p):
            standard[p == count, : count + 1] = standard_quantiles(int(count))
        edges = mu[:, None] + sigma[:, None] * standard
        exists = np.arange(standard.shape[1] - 1) < p[:, None]
        inner = np.where(np.arange(1, standard.shape[1] - 1) < p[:, None], edges[:, 1:-1], np.inf)
        worlds.refuse_merged(mu, sigma, inner)
        lo = np.where(exists, edges[:, :-1], -1.0)
        hi = np.where(exists, edges[:, 1:], 1.0)
        log_prob = np.where(exists, -np.log(p)[:, None], -np.inf)
        parts = (log_prob, mu[:, None], sigma[:, None], lo, hi)
        law = BoxLaw(*(np.broadcast_to(part, (d, lo.shape[1])) for part in parts))
        inner, standard = (np.broadcast_to(v, (d, v.shape[1])) for v in (inner, standard))
        mu, sigma = (np.broadcast_to(v, (d,)) for v in (mu, sigma))
        return Boxes(law, inner, True, self.names or default_names(d), mu, sigma, standard=standard)

    def __repr__(self) -> str:
        parts = (f"{name}={worlds.short(getattr(self, name))}" for name in ("mu", "sigma", "p"))
        return f"Gaussian({', '.join(parts)})"


@dataclass(frozen=True, eq=False)
class BoxWorld(World):
    """A world given by its boxes, whoever made them; see :func:`limetutor.from_lime`."""

    _boxes: Boxes = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self._boxes.names

    @property
    def d(self) -> int:
        """Number of features."""
        return self._boxes.d

    def boxes(self, d: int | None = None) -> Boxes:
        """The boxes it was given."""
        worlds.agreed_dimension(d, self.d)
        return self._boxes


def check_world(world: Any, boxes: bool = True) -> None:
    """Refuse what is not a world and, with ``boxes``, a world whose surrogate sees numbers."""
    if not isinstance(world, World):
        raise TypeError(
            "world must be an lt.Gaussian(...), an lt.Empirical(...) or an lt.from_lime(explainer), "
            f"got {arg.shorten(world)}."
        )
    if boxes and world.regression is not None:
        raise ValueError(
            "world must have boxes here, got one read from a lime explainer with "
            "discretize_continuous=False; lt.limit and lt.predict_lime say what that explainer returns, "
            "lt.audit whether to trust it."
        )
