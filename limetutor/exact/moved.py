"""Models of scaled or reordered features: what a scaler in a pipeline makes of a form."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.models import Expectation, Form, Linear
from ..core.tilted_law import ConditionalLaws


def moved(form: Form, columns: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> Form:
    """The form of x -> f(scale * x[columns] + shift); a linear form stays linear."""
    if not isinstance(form, Linear):
        return Moved(form, columns, scale, shift)
    a = np.empty_like(form.a)
    a[columns] = form.a * scale
    return Linear(a, form.b + form.a @ shift)


def moved_laws(
    views: ConditionalLaws, columns: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> ConditionalLaws:
    """The laws of scale * x[columns] + shift, of one instance or of many."""
    law, scale, shift = views.law.taken(columns), scale[:, None], shift[:, None]
    mean, lo, hi = (scale * values + shift for values in (law.mean, law.lo, law.hi))
    law = replace(law, mean=mean, sd=scale * law.sd, lo=lo, hi=hi)
    return ConditionalLaws(law, np.take(views.weights, columns, axis=-2))


@dataclass(frozen=True, eq=False)
class Moved(Form):
    """form(scale * x[columns] + shift): a scaler, or columns in another order, before a model."""

    form: Form
    columns: np.ndarray
    scale: np.ndarray
    shift: np.ndarray

    @property
    def closed(self) -> bool:  # type: ignore[override]
        """As its form."""
        return self.form.closed

    @property
    def degree(self) -> int | None:  # type: ignore[override]
        """As its form."""
        return self.form.degree

    @property
    def d(self) -> int:
        """As many as there are columns."""
        return len(self.columns)

    def __call__(self, x: Any) -> np.ndarray:
        """The value at each row of x."""
        return self.form(self.scale * x[:, self.columns] + self.shift)

    def rounding(self, x: np.ndarray) -> Any:
        """As its form."""
        return self.form.rounding(self.scale * x[:, self.columns] + self.shift)

    def expectation(self, views: ConditionalLaws) -> Expectation:
        """The law moves with the coordinates; the answers go back to where they came from."""
        moved = self.form.expectation(moved_laws(views, self.columns, self.scale, self.shift))
        back = np.argsort(self.columns)
        return Expectation(moved.mean, moved.inside[back], moved.outside[back])

    def contrasts(self, views: ConditionalLaws) -> tuple[np.ndarray, np.ndarray] | None:
        """The same for many rows."""
        moved = self.form.contrasts(moved_laws(views, self.columns, self.scale, self.shift))
        return None if moved is None else (moved[0], moved[1][:, np.argsort(self.columns)])
