"""What is read off F: numbers with their standard errors, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class Diagonal(NamedTuple):
    """Places q, what each feature adds there (places, d); and LIME's places, values and widths."""

    q: np.ndarray
    steps: np.ndarray
    lime_q: np.ndarray
    lime_steps: np.ndarray
    nu: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """Numbers read off F: ``coef``, their standard errors ``stderr``, and where they come from.

    ``of`` is the function, "value" (f) or "class" (the indicator of the class of xi); ``method`` is
    "exact", "quadrature" or "sampled", from ``n`` draws. LIME's ``intercept`` is its own, that of
    Shapley and Banzhaf values is F(p). ``np.asarray`` of a reading is ``coef``.
    """

    what: str
    coef: Any
    stderr: Any
    intercept: Any
    names: tuple[str, ...]
    of: str
    method: str
    n: int = 0

    @property
    def how(self) -> str:
        """Where the numbers come from, in words."""
        if not self.n:
            return self.method
        return f"sampled, n = {self.n:,}, ± {np.max(self.stderr, initial=0.0):.2g}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.coef, dtype=dtype, copy=copy)

    def to_frame(self) -> Any:
        """A DataFrame with a row for each feature (of interactions a square one, of widths a row each)."""
        import pandas as pd

        if np.shape(self.coef) == (len(self.names),) and self.what != "F":
            index = pd.Index(self.names, name="feature")
            return pd.DataFrame({"coef": self.coef, "stderr": self.stderr}, index=index)
        square = np.shape(self.coef) == (len(self.names),) * 2 and "interaction" in self.what
        columns = list(self.names) if np.ndim(self.coef) == 2 else ["value"]
        values = self.coef if np.ndim(self.coef) == 2 else np.reshape(self.coef, (-1, 1))
        return pd.DataFrame(values, index=columns if square else None, columns=columns)

    def __repr__(self) -> str:
        about = "f" if self.of == "value" else "the class of xi"
        return f"{self.what} of {about} ({self.how})\n{np.array_repr(np.asarray(self.coef))}"
