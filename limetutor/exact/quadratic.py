"""Quadratic models: the smallest step beyond linear. Chapter: beyond linear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.models import Expectation, Form
from ..core.tilted_law import ConditionalLaws
from ..inputs import arguments as arg
from ..inputs.coefficients import MAX_COEFFICIENT, constant, finite, rows_of_numbers, slopes


@dataclass(frozen=True, eq=False)
class Quadratic(Form):
    """The quadratic model f(x) = x.Qx + a.x + b.

    Parameters
    ----------
    Q
        A (d, d) matrix, which is made symmetric.
    a, b
        Slopes, zeros if left out, and intercept.

    Examples
    --------
    >>> f = Quadratic([[1, 0], [0, 0]], a=[0, 2])
    >>> f([[3.0, 1.0]])
    array([11.])
    """

    Q: Any
    a: Any = None
    b: float = 0.0

    is_pickled = True
    degree = 2

    def __post_init__(self) -> None:
        Q = arg.numbers("Q", self.Q)
        if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or Q.size == 0:
            raise ValueError(f"Q must be a square matrix, got shape {Q.shape}.")
        a = np.zeros(len(Q)) if self.a is None else self.a
        Q = arg.within("Q", Q, MAX_COEFFICIENT / arg.LARGEST)
        object.__setattr__(self, "Q", (Q + Q.T) / 2)
        object.__setattr__(self, "a", slopes(a, len(Q), because=", one per row of Q"))
        object.__setattr__(self, "b", constant(self.b))

    @property
    def d(self) -> int:
        """Number of rows of Q."""
        return self.a.size

    def __call__(self, x: Any) -> np.ndarray:
        """The value of f at each row of x."""
        x = rows_of_numbers(x, self.a.size)
        with np.errstate(over="ignore", invalid="ignore"):
            return finite(np.sum((x @ self.Q) * x, axis=-1) + x @ self.a + self.b)

    def expectation(self, views: ConditionalLaws) -> Expectation:
        """E~[f | z_j] = f(mu~) + sum_i Q_ii s_i + g_j E~[u_j | z_j] + Q_jj (E~[u_j^2 | z_j] - s_j).

        u = x - mu~ is centred, so that the mixed terms Q_ij u_i u_j vanish; s_j = E~[u_j^2] and
        g = a + 2 Q mu~ is the gradient at mu~.
        """
        mean, moves = self._moves(views)
        return Expectation(float(mean), *(mean + moves))

    def contrasts(self, views: ConditionalLaws) -> tuple[np.ndarray, np.ndarray]:
        """The same for many rows: g_j and E~[u_j^2] belong to each row."""
        mean, (inside, outside) = self._moves(views)
        return mean, inside - outside

    def _moves(self, views: ConditionalLaws) -> tuple[np.ndarray, np.ndarray]:
        """E~[f] and by how much E~[f | z_j = 1] and E~[f | z_j = 0] differ from it, (2, ..., d)."""
        means, weights = views.law.box_means(), views.weights
        centre = np.sum(weights[0] * means, axis=-1)
        step = means - centre[..., None]
        square = step**2 + views.law.box_variances()
        first, second = (np.sum(weights * v, axis=-1) for v in (step, square))
        curve, gradient = np.diag(self.Q), self.a + 2 * centre @ self.Q
        moves = gradient * first[1:] + curve * (second[1:] - second[0])
        return self(centre) + second[0] @ curve, moves

    def __repr__(self) -> str:
        Q, a = (
            " ".join(np.array2string(v, precision=4, threshold=6, separator=", ").split())
            for v in (self.Q, self.a)
        )
        return f"Quadratic(Q={Q}, a={a}, b={self.b:g})"
