"""What lime's kernel width does: the gradient of a multilinear function along a curve.

With the mismatch kernel the width decides how often each feature lies in xi's box, and nothing
else. So everything it can show is in the 2^d numbers ``v(S) = E[f | z_S = 1, z_-S = 0]``, the mean of f
with the features of S in xi's boxes and the others outside theirs, and in the multilinear extension
(Owen 1972) of that game,

    F(t) = sum_S v(S) prod_{j in S} t_j prod_{j not in S} (1 - t_j),    beta_j = d_j F(alpha(nu)).

Without ridge and without the row of xi itself. Chapter: interactions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...bandwidth.roots import find_roots
from ...core.boxes import World
from ...core.problem import Problem
from ...core.tilted_law import ConditionalLaws
from ...cubes.extension import Masses, TableExtension
from ...inputs import arguments as arg
from .shapley import no_form

MAX_FEATURES = 14  # 2^14 means of f


@dataclass(frozen=True, eq=False)
class BoxGame:
    """The game of xi's boxes: ``values`` (2, ..., 2) holds v(S), indexed by the z_j.

    ``frequency`` (d,) is how often each feature lies in xi's box before weighting.
    """

    values: Any = field(repr=False)
    frequency: Any

    def __post_init__(self) -> None:
        p = arg.vector("frequency", self.frequency)
        if np.any((p <= 0) | (p >= 1)):
            raise ValueError(f"frequency must lie between 0 and 1, got {arg.shorten(p)}.")
        values = arg.numbers("values", self.values)
        if values.shape != (2,) * len(p):
            raise ValueError(
                f"values must have shape {(2,) * len(p)}, one axis of two per feature, "
                f"got {values.shape}."
            )
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "frequency", p)

    @classmethod
    def of(cls, f: Any, xi: Any, world: World, output: Any = None) -> BoxGame:
        """The game of a model that has a form, at xi, by 2^d exact means."""
        problem = Problem.of(f, xi, world, 1.0, "mismatch", output, purpose="its box game")
        d, form, views = problem.d, problem.form, problem.tilt.views
        if d > MAX_FEATURES:
            raise ValueError(f"xi must have at most {MAX_FEATURES} entries, got {d}.")
        if np.any(problem.tilt.constant):
            name = problem.boxes.names[int(np.argmax(problem.tilt.constant))]
            raise ValueError(
                f"world must have values outside xi's box in every feature, got none of {name!r}."
            )
        if form is None:
            raise no_form(f, "its box game")
        values = np.empty((2,) * d)
        _, inside, outside = views.weights
        for z in product((0, 1), repeat=d):
            sides = np.where(np.array(z)[:, None] == 1, inside, outside)
            values[z] = form.expectation(ConditionalLaws(views.law, np.stack([sides] * 3))).mean
        in_box = problem.boxes.law.within(problem.box_of_xi)
        return cls(values, np.sum(problem.boxes.law.prob * in_box, axis=-1))

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.frequency)

    @cached_property
    def F(self) -> TableExtension:
        """The multilinear extension."""
        p = self.frequency
        return TableExtension(self.values, Masses(np.log(p), np.log1p(-p)))

    def alpha(self, nu: ArrayLike) -> np.ndarray:
        """alpha_j = p_j / (p_j + (1 - p_j) exp(-1/2nu^2)), (..., d)."""
        nu = arg.numbers("nu", nu)
        if np.any(nu <= 0):
            raise ValueError(f"nu must be above 0, got {float(nu.min()):g}.")
        return self.F.masses.alpha(nu.ravel()).reshape(*nu.shape, self.d)

    def extension(self, t: ArrayLike) -> float:
        """F(t): the mean of f when feature j lies in xi's box with probability t_j."""
        return float(self.F.at(arg.vector("t", t, self.d)[None])[0].value[0])

    def gradient(self, t: ArrayLike) -> np.ndarray:
        """d_j F(t) = F with t_j = 1 minus F with t_j = 0, (d,)."""
        return np.asarray(self.F.at(arg.vector("t", t, self.d)[None])[1].value[0])

    def path(self, nu: ArrayLike) -> np.ndarray:
        """LIME's coefficients d_j F(alpha(nu)) at every width, (len(nu), d)."""
        return np.asarray(self.F.at(self.alpha(np.atleast_1d(nu)))[1].value)

    def width_polynomial(self, j: int) -> np.ndarray:
        """The coefficients a_0, ..., a_{d-1} of a polynomial in u with the sign of beta_j.

        With the odds o_i = p_i / (1 - p_i) and u = exp(1/2nu^2) above 1,

            beta_j prod_{i != j} (1 + u o_i) = sum_k a_k u^k,
            a_k = sum over S without j, of size k, of (v(S + j) - v(S)) prod_{i in S} o_i.
        """
        j = arg.whole("j", j, 0, most=self.d - 1)
        return self._by_size(np.diff(self.values, axis=j).squeeze(axis=j), j)

    def _by_size(self, change: np.ndarray, j: int) -> np.ndarray:
        """Sums of change(S) prod_{i in S} o_i over the sets S of each size, without feature j."""
        sums = change[..., None]
        for odds in np.delete(self.frequency / (1 - self.frequency), j):
            without, with_ = sums
            longer = [(0, 0)] * (without.ndim - 1)
            sums = np.pad(without, [*longer, (0, 1)]) + np.pad(odds * with_, [*longer, (1, 0)])
        return sums

    def critical_widths(self, j: int) -> np.ndarray:
        """The widths at which the coefficient of feature j changes its sign, narrow ones first.

        They are the roots u > 1 of :meth:`width_polynomial`, nu = 1 / sqrt(2 log u); a root at
        which the sign stays is not listed. By Descartes' rule there are no more of them than
        changes of sign among a_0, ..., a_{d-1}.
        """
        a = self.width_polynomial(j)
        rounding = 1e-13 * np.abs(self.values).max() * np.ones((2,) * (self.d - 1))
        a = np.where(np.abs(a) < self._by_size(rounding, j), 0.0, a)
        beta = np.polynomial.Polynomial(a)
        near = np.abs(beta.roots()) if np.any(a[1:]) else np.empty(0)
        near = np.unique(near[near > 1 + 1e-12])  # closer to 1 it is rounding of a zero at infinity
        stops = np.concatenate([[1.0], np.sqrt(near[1:] * near[:-1]), near[-1:] * 2])
        values = beta(stops)
        turns = np.flatnonzero(values[1:] * values[:-1] < 0)
        u = find_roots(lambda at, _: beta(at), stops[turns], stops[turns + 1])
        return np.sort(1 / np.sqrt(2 * np.log(u)))


def turning_model(widths: ArrayLike, frequency: ArrayLike) -> np.ndarray:
    """c for which z_0 (1 + sum_i c_i z_i) has its critical widths where they are asked for, (k,).

    It solves 1 + sum_i c_i alpha_i(nu) = 0 at k different widths, for k features whose boxes have
    k different frequencies: k zeros from interactions of order two. The matrix is, up to the factors
    u, a Cauchy matrix 1 / (u + 1/o_i), u = exp(1/2nu^2), so that it can be inverted.
    Chapter: interactions.
    """
    widths, frequency = arg.vector("widths", widths), arg.vector("frequency", frequency)
    for name, values in (("widths", widths), ("frequency", frequency)):
        if len(values) != len(widths) or len(np.unique(values)) < len(values):
            raise ValueError(
                f"{name} must be as many different numbers as there are widths, "
                f"got {arg.shorten(values)}."
            )
        if np.any(values <= 0):
            raise ValueError(f"{name} must be above 0, got {float(values.min()):g}.")
    alpha = BoxGame(np.zeros((2,) * len(frequency)), frequency).alpha(widths)
    return np.linalg.solve(alpha, -np.ones(len(widths)))
