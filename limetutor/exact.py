"""Exact expectations of models under the tilted law: beyond linear.

The theory needs E~[f], E~[f | z_j = 1] and E~[f | z_j = 0] for every j (:mod:`limetutor.theory`).
Under the tilted law the coordinates are independent, so a product over coordinates has for its
expectation the product of d one-dimensional ones, and conditioning on z_j replaces one factor.
Every form in this file is a sum of such products,

    f(x) = sum_t c_t prod_j g_tj(x_j):

a Gaussian bump is one (kernel machines), the indicator of a leaf is one (trees), a wave
exp(i t w.x) is one, and a function of the projection w.x is a sum of waves (logistic regression,
the units of a neural net). :mod:`limetutor.families` says which fitted model is which form.
Chapter: beyond linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy

from . import forests
from .models import Expectation, Form, Linear
from .theory import Views

CHUNK = 2**20  # numbers in one chunk of work: memory does not grow with the model
WORK = 2**26  # most values of characteristic functions for one model, about ten seconds of them


class SlowSeriesError(Exception):
    """A sum of waves that would take too many of them; the caller samples instead."""


def constant(b: float, views: Views) -> Expectation:
    """The expectation of a number."""
    return Expectation(b, np.full(views.d, b), np.full(views.d, b))


def sum_of_products(c: np.ndarray, factors: np.ndarray) -> Expectation:
    """E~ of sum_t c_t prod_j g_tj(x_j), from E~[g_tj] under each of the three views, (3, d, T).

    E~[.. | z_j = 1] = sum_t c_t E~[g_tj | z_j = 1] prod_{i != j} E~[g_ti]. The products without
    one factor come from running products from both sides: a division would fail where a factor
    is 0, and in a forest many are.
    """
    whole, inside, outside = factors
    others = c * _without_each(whole)
    mean = np.sum(others[0] * whole[0])
    return Expectation(mean, np.sum(others * inside, axis=1), np.sum(others * outside, axis=1))


def _without_each(whole: np.ndarray) -> np.ndarray:
    """prod_{i != j} of factors (d, ...), for each j."""
    ones = np.ones_like(whole[:1])
    before = np.cumprod(np.concatenate([ones, whole[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([ones, whole[:0:-1]]), axis=0)[::-1]
    return before * after


@dataclass(frozen=True, eq=False)
class Bumps(Form):
    """b + sum_i c_i exp(-sum_j gamma_ij (x_j - t_ij)^2): kernel machines with an RBF kernel."""

    c: np.ndarray  # (n,)
    t: np.ndarray  # (n, d)
    gamma: np.ndarray  # (n, d)
    b: float = 0.0

    @property
    def d(self) -> int:
        """Number of arguments."""
        return self.t.shape[1]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The value at each row of x."""
        square = np.sum(self.gamma * (x[:, None, :] - self.t) ** 2, axis=2)
        return self.b + np.exp(-square) @ self.c

    def expectation(self, views: Views) -> Expectation:
        """A bump around t_i is a Gaussian weight of bandwidth (2 gamma)^-1/2 seen from t_i.

        Its expectation over a box is the mean weight there, so the tilt of the theory serves twice.
        """
        total = constant(self.b, views)
        nu = 1 / np.sqrt(2 * self.gamma)
        for rows in _chunks(len(self.c), views.law.mean.size * 16):
            log_mean = views.law.weighted_by_gaussian(self.t[rows, :, None], nu[rows, :, None])[2]
            with np.errstate(under="ignore"):
                factors = views.mix(np.exp(np.moveaxis(log_mean, 0, -1)))
                total = total.plus(sum_of_products(self.c[rows], factors))
        return total

    def contrasts(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """The same for many rows; the mean weights of the parts are shared where the parts are."""
        rows, d, K = views.weights.shape[1:]
        mean, beta = np.full(rows, self.b), np.zeros((rows, d))
        nu = 1 / np.sqrt(2 * self.gamma)
        own_parts = views.law.mean.ndim == 3
        for some in _chunks(len(self.c), rows * d * (K * 16 if own_parts else 8)):
            t, width = self.t[some, None, :, None], nu[some, None, :, None]
            log_mean = views.law.weighted_by_gaussian(t, width)[2]  # (n, rows or 1, d, K)
            with np.errstate(under="ignore"):
                factors = np.einsum(
                    "vrdk,nrdk->vdrn", views.weights, np.exp(log_mean + np.zeros((rows, 1, 1)))
                )
                whole, inside, outside = factors
                others = self.c[some] * _without_each(whole)
                mean += np.sum(others[0] * whole[0], axis=-1)
                beta += np.sum(others * (inside - outside), axis=-1).T
        return mean, beta


@dataclass(frozen=True, eq=False)
class Trees(Form):
    """b + the sum over trees of the value of the leaf that x falls into.

    All trees in one table of nodes: an inner node sends x left where x[feature] <= threshold;
    ``left`` is -1 at a leaf.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    roots: np.ndarray
    b: float = 0.0

    @property
    def size(self) -> float:
        """b and the largest leaf of each tree."""
        return float(abs(self.b) + np.maximum.reduceat(np.abs(self.value), self.roots).sum())

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The value at each row of x."""
        node = np.broadcast_to(self.roots, (len(x), len(self.roots)))
        rows = np.arange(len(x))[:, None]
        while np.any(self.left[node] >= 0):
            goes_left = x[rows, np.maximum(self.feature[node], 0)] <= self.threshold[node]
            child = np.where(goes_left, self.left[node], self.right[node])
            node = np.where(self.left[node] >= 0, child, node)
        return self.b + self.value[node].sum(axis=1)

    def cuts(self, d: int) -> tuple[list[np.ndarray], np.ndarray]:
        """The thresholds of each feature in order, and the rank (from 1) of each node's own."""
        rank = np.zeros(len(self.feature), dtype=np.intp)
        inner = self.left >= 0
        cuts = []
        for j in range(d):
            here = inner & (self.feature == j)
            values, ranks = np.unique(self.threshold[here], return_inverse=True)
            rank[here] = ranks + 1
            cuts.append(values)
        return cuts, rank

    def leaf_boxes(
        self, roots: np.ndarray, rank: np.ndarray, tops: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Leaves under some roots, and the box of each as ranks of its two cuts, (leaves, d).

        Level by level, all trees at once. Rank 0 stands for -inf and ``tops`` for +inf.
        """
        node, lo = roots, np.zeros((len(roots), len(tops)), dtype=np.intp)
        hi = np.broadcast_to(tops, lo.shape)
        found: list[tuple[np.ndarray, ...]] = []
        while len(node):
            leaf = self.left[node] < 0
            some = leaf & np.all(lo < hi, axis=1)  # no value is above 5 and at most 3
            found.append((node[some], lo[some], hi[some]))
            node, lo, hi = node[~leaf], lo[~leaf], hi[~leaf]
            here = np.arange(len(node)), self.feature[node]
            lo_right, hi_left = lo.copy(), hi.copy()
            lo_right[here] = np.maximum(lo[here], rank[node])
            hi_left[here] = np.minimum(hi[here], rank[node])
            node = np.concatenate([self.left[node], self.right[node]])
            lo, hi = np.concatenate([lo, lo_right]), np.concatenate([hi_left, hi])
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))

    def expectation(self, views: Views) -> Expectation:
        """A leaf is a box: E~[leaf] = prod_j P~_j(side j), and z_j changes one side's probability."""
        cuts, rank = self.cuts(views.d)
        tops = np.array([len(values) + 1 for values in cuts])
        below = []  # P~(x_j <= cut) under each view, with 0 and 1 at the two ends
        for j, values in enumerate(cuts):
            parts = _chunks(len(values), 64 * views.law.mean.shape[1])
            cdf = [views.weights[:, j] @ views.law.box_cdf(j, values[part]) for part in parts]
            below.append(np.concatenate([np.zeros((3, 1)), *cdf, np.ones((3, 1))], axis=1))
        total = constant(self.b, views)
        nodes_per_tree = len(self.left) // len(self.roots) + 1
        for trees in _chunks(len(self.roots), nodes_per_tree * views.d):
            leaves, lo, hi = self.leaf_boxes(self.roots[trees], rank, tops)
            sides = np.stack([F[:, hi[:, j]] - F[:, lo[:, j]] for j, F in enumerate(below)], axis=1)
            total = total.plus(sum_of_products(self.value[leaves], sides))
        return total

    @cached_property
    def _leaves(self) -> forests.Leaves:
        """The leaves in bundles, for many rows."""
        d = int(self.feature.max(initial=0)) + 1
        cuts, rank = self.cuts(d)
        tops = np.array([len(values) + 1 for values in cuts])
        bundles = []
        nodes_per_tree = len(self.left) // len(self.roots) + 1
        for trees in _chunks(len(self.roots), nodes_per_tree * max(d, 64) * 4):
            leaves, lo, hi = self.leaf_boxes(self.roots[trees], rank, tops)
            bundles.append(forests.bundle(self.value[leaves], lo, hi, tops))
        return forests.Leaves(cuts, bundles)

    def contrasts(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Thresholds and leaves are shared by the rows: :mod:`limetutor.forests`."""
        mean, beta = forests.contrasts(self._leaves, views)
        return self.b + mean, beta


class Activation(NamedTuple):
    """A function of one number as a line plus waves, on [-(A - margin), A - margin]:

    g(s) = height(A) + slope s + Re sum_m coef(t_m, A) exp(i t_m s), t_m = (2m + 1) pi / A.
    ``tail`` bounds the sum of abs(coef) beyond t, whatever A.
    """

    function: Any
    height: Any
    slope: float
    margin: float
    coef: Any
    tail: Any


# Poisson summation of the derivative, a bump 2 pi t / sinh(pi t) in frequency, gives the logistic
# function repeated with alternating sign at distance A; the copies reach exp(-margin) into the
# interval. Tanh is logistic at twice the pace. The triangular wave is |s| itself up to A.
ACTIVATIONS = {
    "logistic": Activation(
        lambda s: scipy.special.expit(s),
        lambda A: 0.5,
        0.0,
        32.0,
        lambda t, A: -2j * np.pi / (A * np.sinh(np.pi * t)),
        lambda t: -np.log(np.tanh(np.pi * t / 2)) / np.pi,
    ),
    "tanh": Activation(
        np.tanh,
        lambda A: 0.0,
        0.0,
        16.0,
        lambda t, A: -2j * np.pi / (A * np.sinh(np.pi * t / 2)),
        lambda t: -2 * np.log(np.tanh(np.pi * t / 4)) / np.pi,
    ),
    "relu": Activation(
        lambda s: np.maximum(s, 0.0),
        lambda A: A / 4,
        0.5,
        0.0,
        lambda t, A: -2 / (A * t**2) + 0j,
        lambda t: 1 / (np.pi * t),
    ),
}


@dataclass(frozen=True, eq=False)
class Units(Form):
    """b + sum_h c_h g(w_h.x + v_h): logistic regression, and nets with one hidden layer."""

    w: np.ndarray  # (H, d)
    v: np.ndarray  # (H,)
    c: np.ndarray  # (H,)
    activation: str
    b: float = 0.0
    closed = False

    @property
    def d(self) -> int:
        """Number of arguments."""
        return self.w.shape[1]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The value at each row of x."""
        return self.b + ACTIVATIONS[self.activation].function(x @ self.w.T + self.v) @ self.c

    def expectation(self, views: Views) -> Expectation:
        """Each unit is a line plus waves, and a wave is a product: exp(itw.x) = prod_j exp(itw_j x_j).

        E~ of a wave is the product of the characteristic functions of the coordinates.
        """
        total = constant(self.b, views)
        budget = WORK // len(self.c)
        centre = views.mix(views.law.box_means())[0]  # far from 0 the phases t w_j x_j lose digits
        views = views.moved(np.arange(views.d), np.ones(views.d), -centre)
        for w, v, c in zip(self.w, self.v + self.w @ centre, self.c, strict=True):
            total = total.plus(_unit(w, v, ACTIVATIONS[self.activation], views, budget), times=c)
        return total


def _unit(w: np.ndarray, v: float, g: Activation, views: Views, budget: int) -> Expectation:
    """The expectation of g(w.x + v)."""
    least, most = _range(w, v, views)
    if g.slope and least * most >= 0:  # the kink of relu is out of reach: it is a line there
        return (Linear(w, v) if least > 0 else Linear(0 * w)).expectation(views)
    A = max(-least, most) + g.margin
    total = Linear(g.slope * w, g.height(A) + g.slope * v).expectation(views)
    for t in _frequencies(w, A, g, views, budget):
        with np.errstate(under="ignore"):
            waves = views.mix(views.law.box_characteristic(w[:, None] * t))
            part = sum_of_products(g.coef(t, A) * np.exp(1j * t * v), waves)
        total = total.plus(Expectation(*(np.real(term) for term in part)))
    return total


def _range(w: np.ndarray, v: float, views: Views) -> tuple[float, float]:
    """Between which values w.x + v lies, tails of normals cut where nothing is left of them."""
    ends = w[:, None] * np.stack(views.law.essential_ends())
    occurs = np.any(views.weights > 0, axis=0)
    least = np.min(np.where(occurs, ends, np.inf), axis=(0, 2)).sum()
    most = np.max(np.where(occurs, ends, -np.inf), axis=(0, 2)).sum()
    return float(v + least), float(v + most)


def _frequencies(
    w: np.ndarray, A: float, g: Activation, views: Views, budget: int
) -> Iterator[np.ndarray]:
    """The frequencies t_m = (2m + 1) pi / A, in chunks, until what is left is below 1e-10."""
    enough = 1e-10 * (A if g.slope else 1.0)
    last, size = 32, views.law.mean.size
    while _left_over(w, 2 * np.pi * last / A, g, views) > enough:
        last = last * 5 // 4
        if last * size > budget:
            raise SlowSeriesError
    for part in _chunks(last, size * 4):
        yield (2 * np.arange(last)[part] + 1) * np.pi / A


def _left_over(w: np.ndarray, t: float, g: Activation, views: Views) -> float:
    """A bound on what the waves beyond frequency t add to any of the expectations."""
    envelope = views.mix(views.law.box_envelope(w * t))[..., None]
    bound = sum_of_products(np.ones(1), envelope)
    return float(g.tail(t) * max(bound.mean, bound.inside.max(), bound.outside.max()))


def _chunks(count: int, size: int) -> Iterator[slice]:
    """Slices of range(count) so that each holds about CHUNK numbers at ``size`` per item."""
    step = max(CHUNK // size, 1)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))
