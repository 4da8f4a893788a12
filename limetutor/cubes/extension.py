"""F, the mean of f as a function of how often each feature lies in xi's box, and its derivatives.

Let each feature j lie in xi's box with probability t_j, independently of the others, its value drawn
from the world given that. F(t) = E_t[f] is linear in each t_j: the multilinear extension (Owen 1972) of the game
E[f | z]. Its derivatives are differences,

    d_j F(t) = F(t, t_j = 1) - F(t, t_j = 0),

which :meth:`limetutor.core.models.Form.contrasts` computes for many t at once, without 2^d. With
p_j = P(z_j = 1), LIME with the mismatch kernel is the gradient at alpha(nu); on the diagonal
p + q (1 - p) feature j is held in its box with probability q and drawn anew otherwise.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..core.models import Form, Linear
from ..core.problem import Problem
from ..core.tilted_law import ConditionalLaws
from ..core.truncated import BoxLaw

NUMBERS_PER_BLOCK = 2**20  # of the laws at many t


class Estimate(NamedTuple):
    """Numbers and their standard errors, 0 where nothing was sampled."""

    value: Any
    stderr: Any


@dataclass(frozen=True, eq=False)
class Masses:
    """How often each feature lies in xi's box before weighting, p (d,), and 1 - p with all its digits."""

    log_inside: np.ndarray
    log_outside: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> Masses:
        """Those of xi: the tilted law without weights."""
        assert problem.product is not None
        law = problem.product.tilt(problem.boxes, problem.xi, np.inf)
        return cls(law.log_alpha, law.log_rest)

    @property
    def p(self) -> np.ndarray:
        """P(z_j = 1), (d,)."""
        return np.exp(self.log_inside)

    @property
    def rest(self) -> np.ndarray:
        """P(z_j = 0), (d,): 0 for a feature that never leaves xi's box."""
        return np.exp(self.log_outside)

    @property
    def constant(self) -> np.ndarray:
        """Features that never leave xi's box, (d,) of bool."""
        return np.isneginf(self.log_outside)

    def alpha(self, nu: np.ndarray) -> np.ndarray:
        """p / (p + (1 - p) exp(-1/2nu^2)) at the widths nu (k,), as an array (k, d)."""
        with np.errstate(over="ignore", divide="ignore"):
            odds = self.log_inside - self.log_outside + 0.5 / nu[:, None] ** 2
        return scipy.special.expit(odds)

    def along(self, q: np.ndarray) -> np.ndarray:
        """p + q (1 - p) for numbers q (k,), as an array (k, d): the diagonal from p to 1."""
        return self.p + q[:, None] * self.rest


class Extension:
    """F of one function: exactly, or estimated from draws (:mod:`limetutor.cubes.draws`).

    ``degree`` is the largest number of features that act together, if known less than all.
    """

    masses: Masses
    method = "exact"
    degree: int
    n = 0  # draws

    def at(self, t: np.ndarray) -> tuple[Estimate, Estimate]:
        """F(t) (m,) and its gradient (m, d) at the rows of t (m, d)."""
        raise NotImplementedError

    def means(self, t: np.ndarray) -> tuple[Estimate, int]:
        """F(t) (m,) alone, and the draws at each t, 0 where it is exact."""
        return self.at(t)[0], 0

    def weighted_slopes(self, t: np.ndarray, weights: np.ndarray) -> Estimate:
        """sum_k weights_kj d_j F(t_k), (d,), for t and weights (m, d)."""
        return Estimate(np.sum(weights * self.at(t)[1].value, axis=0), np.zeros(t.shape[1]))

    def weighted_interactions(self, t: np.ndarray, weights: np.ndarray) -> Estimate:
        """sum_k weights_k d_i d_j F(t_k), (d, d), zeros on the diagonal; weights (m,)."""
        m, d = t.shape
        result = np.zeros((d, d))
        for i in np.flatnonzero(~self.masses.constant):
            held = np.concatenate([t, t])
            held[:m, i], held[m:, i] = 1.0, 0.0
            slopes = self.at(held)[1].value
            result[i] = weights @ (slopes[:m] - slopes[m:])
        np.fill_diagonal(result, 0.0)
        return Estimate((result + result.T) / 2, np.zeros((d, d)))


@dataclass(frozen=True, eq=False)
class FormExtension(Extension):
    """F of a form, from its expectations under laws that mix the inside and the outside of a box."""

    form: Form
    law: BoxLaw
    inside: np.ndarray  # the shares of the parts of the law given z_j = 1, (d, K)
    outside: np.ndarray  # ... and given z_j = 0
    masses: Masses

    @classmethod
    def of(cls, form: Form, problem: Problem, masses: Masses) -> FormExtension:
        """F of a form at xi."""
        views = problem.tilt.views
        return cls(form, views.law, views.weights[1], views.weights[2], masses)

    @property
    def method(self) -> str:  # type: ignore[override]
        """Closed forms are exact; a series is good to about 1e-10."""
        return "exact" if self.form.closed else "quadrature"

    @property
    def degree(self) -> int:  # type: ignore[override]
        """At most that of the form, and the number of features that ever leave their box."""
        return max(min(degree_of(self.form, self.inside), int(np.sum(~self.masses.constant))), 1)

    def at(self, t: np.ndarray) -> tuple[Estimate, Estimate]:
        """Block by block; a feature that never leaves its box has slope 0."""
        step = max(NUMBERS_PER_BLOCK // self.inside.size, 1)
        blocks = (self._block(t[start : start + step]) for start in range(0, len(t), step))
        means, slopes = zip(*blocks, strict=True)
        mean, slope = np.concatenate(means), np.concatenate(slopes)
        return Estimate(mean, np.zeros_like(mean)), Estimate(slope, np.zeros_like(slope))

    def _block(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside, outside = (
            np.broadcast_to(s, (len(t), *s.shape)) for s in (self.inside, self.outside)
        )
        whole = t[..., None] * inside + (1 - t[..., None]) * outside
        views = ConditionalLaws(self.law, np.stack([whole, inside, outside]))
        return means_and_slopes(self.form, views)


def degree_of(form: Form, features: Sized) -> int:
    """How many features act together in a form at most."""
    return 1 if isinstance(form, Linear) else form.degree or len(features)


def means_and_slopes(form: Form, views: ConditionalLaws) -> tuple[np.ndarray, np.ndarray]:
    """E[f] (m,) and E[f | z_j = 1] - E[f | z_j = 0] (m, d) under m laws."""
    if isinstance(form, Linear):
        whole, inside, outside = np.sum(views.weights * views.law.box_means(), axis=-1)
        return form(whole), form.a * (inside - outside)
    together = form.contrasts(views)
    if together is not None:
        return together
    laws = (ConditionalLaws(views.law, views.weights[:, k]) for k in range(views.weights.shape[1]))
    means, slopes = zip(*map(form.contrast, laws), strict=True)
    return np.array(means), np.array(slopes)


@dataclass(frozen=True, eq=False)
class TableExtension(Extension):
    """F from the 2^d means E[f | z]: ``values`` has an axis of two for each of the ``free`` features.

    Where d is small, or a function is known only by its values.
    """

    values: np.ndarray
    masses: Masses

    @property
    def degree(self) -> int:  # type: ignore[override]
        """The number of features that leave their box."""
        return max(self.values.ndim, 1)

    def at(self, t: np.ndarray) -> tuple[Estimate, Estimate]:
        """Mix the two halves of one axis after the other; for the slope of an axis, subtract them."""
        free = np.flatnonzero(~self.masses.constant)
        mean, slopes = self._mixed(t[:, free], None), np.zeros(t.shape)
        for axis, j in enumerate(free):
            slopes[:, j] = self._mixed(t[:, free], axis)
        return Estimate(mean, np.zeros(len(t))), Estimate(slopes, np.zeros(t.shape))

    def _mixed(self, t: np.ndarray, differed: int | None) -> np.ndarray:
        mixed = np.broadcast_to(self.values, (len(t), *self.values.shape))
        for axis in reversed(range(t.shape[1])):
            out, in_ = mixed[..., 0], mixed[..., 1]
            share = t[:, axis].reshape(-1, *[1] * (out.ndim - 1))
            mixed = in_ - out if axis == differed else (1 - share) * out + share * in_
        return mixed


def gauss_legendre(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [0, 1]: exact for polynomials of degree 2 points - 1."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2


def shapley_of(extension: Extension) -> Estimate:
    """The Shapley values of v(S) = F(1 on S, p elsewhere), (d,).

    phi_j = (1 - p_j) integral over q in [0, 1] of d_j F(p + q (1 - p)) (Owen 1972), for any p. The
    slope is a polynomial in q of degree below that of F, so half as many nodes are exact.
    """
    q, weights = gauss_legendre((extension.degree + 1) // 2)
    masses = extension.masses
    return extension.weighted_slopes(masses.along(q), weights[:, None] * masses.rest)


def banzhaf_of(extension: Extension) -> Estimate:
    """The Banzhaf values of the same game, (1 - p_j) d_j F halfway (Owen 1975)."""
    masses = extension.masses
    return extension.weighted_slopes(masses.along(np.array([0.5])), masses.rest[None])


def interactions_of(extension: Extension, index: str) -> Estimate:
    """Interaction values of two features, (d, d), and on the diagonal the values of one.

    (1 - p_i) (1 - p_j) times the mean over q of d_i d_j F(p + q (1 - p)) (Shapley; Grabisch &
    Roubens 1999), or that at q = 1/2 (Banzhaf).
    """
    masses, single = extension.masses, shapley_of if index == "shapley" else banzhaf_of
    nodes = gauss_legendre(max(extension.degree // 2, 1))
    q, weights = nodes if index == "shapley" else (np.array([0.5]), np.ones(1))
    factor = np.outer(masses.rest, masses.rest)
    pairs, values = extension.weighted_interactions(masses.along(q), weights), single(extension)
    both = zip(pairs, values, strict=True)
    return Estimate(*(factor * pair + np.diag(value) for pair, value in both))
