"""One problem for every row of a table: :class:`limetutor.core.problem.Problem` for many instances.

:class:`SurrogateBlock` holds the exact surrogates of a block of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.boxes import Boxes, World
from ..core.kernels import Kernel, ProductKernel
from ..core.models import Form, Linear, features_of, form_in
from ..core.problem import Problem, checked_weighting, knowing, named_world
from ..core.tilted_law import Tilt
from ..inputs.predictors import predictor
from ..inputs.tables import rows_of
from ..precision.finite_n import (
    CorrectedFit,
    FiniteSampleCorrection,
    Regressors,
    finite_sample_correction,
)

NUMBERS_PER_BLOCK = 2**23  # about 64 MB: memory does not grow with the table
MAX_ROWS_PER_BLOCK = 512
NODES_PER_BOX = 96  # of the quadrature that finds variances within boxes


@dataclass(frozen=True, eq=False)
class Problems:
    """f at every row of a table, in a world, seen through a kernel of bandwidth nu."""

    f: Any
    table: np.ndarray  # (rows, d)
    world: World
    boxes: Boxes
    nu: float
    kernel: Kernel
    output: Any
    index: Any  # that of X where it has one

    @classmethod
    def of(
        cls, f: Any, X: Any, world: World, nu: Any, kernel: Any, output: Any, purpose: str | None
    ) -> Problems:
        """Check the arguments of a call; with a ``purpose`` the kernel must have a tilt for it."""
        nu, weight = checked_weighting(world, nu, kernel, purpose, boxes_needed=purpose is None)
        world = named_world(world, "X", X, f)
        boxes = boxes_for_table(world, X, None if purpose is None else f)
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        table = boxes.encode_rows(X)
        return cls(f, table, world, boxes, nu, weight, world.output(f, output), index)

    @cached_property
    def predictions(self) -> np.ndarray:
        """f at every row, by one call."""
        return predictor(self.f, self.boxes, self.output)(self.table)

    @cached_property
    def form(self) -> Form | None:
        """The form of f, compared with f itself at every row, or None."""
        return form_in(self)

    def problem(self, i: int, **known: Any) -> Problem:
        """The problem of row i; ``known`` are cached properties of it that need no computing."""
        xi = self.table[i]
        boxes = self.world.boxes_at(xi)
        problem = Problem(self.f, xi, self.world, boxes, self.nu, self.kernel, self.output)
        return knowing(problem, self, "form_notes", **known)

    def at(self, nu: float | None = None, world: World | None = None) -> Problems:
        """The same problems at another bandwidth, or in another world with the same features."""
        changes: dict[str, Any] = {} if nu is None else {"nu": nu}
        if world is not None:
            changes |= {"world": world, "boxes": world.boxes(self.boxes.d)}
        return knowing(replace(self, **changes), self, "predictions", "form", "form_notes")

    def rows(self, some: slice) -> Problems:
        """The same problems about some of the rows."""
        index = None if self.index is None else self.index[some]
        part = replace(self, table=self.table[some], index=index)
        known = {"predictions": self.predictions[some]} if "predictions" in self.__dict__ else {}
        return knowing(part, self, "form", "form_notes", **known)


def boxes_for_table(world: World, X: Any, f: Any = None) -> Boxes:
    """The boxes of a world; one that fits any dimension takes the model's, else the table's."""
    if world.d is not None:
        return world.boxes()
    features = features_of(f)
    return world.boxes(rows_of("X", X, (), one=False).shape[1] if features is None else features)


class SurrogateBlock(NamedTuple):
    """Exact surrogates of many rows (or bandwidths) at once, before ridge and xi's own row."""

    law: Tilt
    prediction: np.ndarray  # f(xi), (rows,)
    centre: np.ndarray  # E~[f], (rows,)
    beta: np.ndarray  # (rows, d)
    error: np.ndarray  # f^(xi) - f(xi), (rows,)

    @classmethod
    def of(cls, form: Form, law: Tilt, prediction: Any) -> SurrogateBlock | None:
        """The surrogates of a form under the laws of many rows; None where they share no work."""
        if isinstance(form, Linear):
            centre, beta = form(law.mu_tilde), form.a * law.gap
            error = law.inside @ form.a  # keeps its digits where the sum below would cancel
        elif form.closed and (contrasts := form.contrasts(law.views)) is not None:
            centre, beta = contrasts
            error = centre + np.sum(law.rest * beta, axis=-1) - prediction
        else:
            return None
        return cls(law, prediction, centre, beta, error)

    def fitted(
        self, ridge: float, n: int | None, own_row: bool
    ) -> tuple[CorrectedFit, FiniteSampleCorrection]:
        """The fits to n rows with a penalty and xi's own row, and how they depart from the limit."""
        regressors = Regressors.indicators(self.law)
        log_C = self.law.log_mass.sum(axis=-1)
        correction = finite_sample_correction(regressors, log_C, ridge, n, own_row)
        return correction.applied(regressors, self.centre, self.beta, self.error), correction


def surrogate_blocks(question: Problems) -> Iterator[SurrogateBlock | None]:
    """The rows in blocks that fit into memory; None where f has no form whose rows share work."""
    form, kernel, boxes = question.form, question.kernel, question.boxes
    if form is None or question.world.regression is not None:
        yield None
        return
    assert isinstance(kernel, ProductKernel)
    numbers_per_row = boxes.law.mean.size * NODES_PER_BOX
    step = min(max(NUMBERS_PER_BLOCK // numbers_per_row, 1), MAX_ROWS_PER_BLOCK)
    for start in range(0, len(question.table), step):
        part = slice(start, start + step)
        law = kernel.tilt(boxes, question.table[part], question.nu * boxes.unit)
        block = SurrogateBlock.of(form, law, question.predictions[part])
        yield block
        if block is None:
            return
