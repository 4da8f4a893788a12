"""Models that can be sent into a sandbox: a formula in x and some numbers, as text."""

from __future__ import annotations

from typing import Any

import numpy as np


class Formula:
    """A function of an (n, d) array x, written as an expression of numpy with the given numbers.

    >>> Formula("x @ c + 1", c=np.array([2.0, -1.0]))(np.eye(2))
    array([3., 0.])
    """

    def __init__(self, text: str, **given: Any) -> None:
        self.text, self.given = text, given

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values at the rows of x."""
        return eval(self.text, {"np": np, "x": x, **self.given})

    def __repr__(self) -> str:
        given = "".join(f", {name} = {np.round(value, 3)}" for name, value in self.given.items())
        return f"x ↦ {self.text}{given}"
