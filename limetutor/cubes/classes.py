"""What f answers at a row: its value, and whether that is the class it predicts at xi.

The class is the largest of several outputs, or, with a tolerance, every value that near f(xi). Its
indicator has a form where f is a single tree, and is a table, like f itself, where features take few
values (:func:`table_of`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ..core.models import Form
from ..core.problem import Problem
from ..exact.moved import Moved
from ..exact.readers import form_in_world
from ..exact.trees import Trees
from ..exact.verification import DRAWS, draws
from ..inputs import arguments as arg
from ..inputs.predictors import caller, one_output
from .extension import Masses, TableExtension

MAX_AXES = 32  # of a table
ROUNDED = 0.005  # what an output may miss of its probability


@dataclass(frozen=True, eq=False)
class Answers:
    """f(x) and, where f has classes or there is a tolerance, 1 where it predicts as at xi, else 0."""

    problem: Problem
    tolerance: float | None

    @cached_property
    def _call(self) -> tuple[Any, list[Any]]:
        return caller(self.problem.f, self.problem.boxes)

    @cached_property
    def _at_xi(self) -> np.ndarray:
        return arg.floats(self._call[0](self.problem.xi[None]))

    @property
    def classifies(self) -> bool:
        """Whether f has classes: an estimator's, or several outputs that are probabilities at xi.

        These are what a model with ``predict_proba`` or ``classes_`` returns; of other functions, k
        outputs between 0 and 1 that add up to 1 up to 0.005 k, as they do when they are rounded.
        """
        y = self._at_xi
        if y.ndim != 2 or y.shape[1] < 2:
            return False
        if self._call[1] or hasattr(self.problem.f, "predict_proba"):
            return True
        slack = ROUNDED * y.shape[1]
        return bool(np.all((y >= 0) & (y <= 1 + slack)) and abs(np.sum(y) - 1) <= slack)

    @property
    def has_class(self) -> bool:
        """Whether there is something that a rule could be about."""
        return self.tolerance is not None or self.classifies

    @cached_property
    def label(self) -> int:
        """The column of the class that f predicts at xi."""
        return int(np.argmax(self._at_xi[0]))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Value and indicator of each row, (n, 2); the indicator is 0 where there is no class."""
        call, classes = self._call
        raw = call(x)
        value = one_output(raw, len(x), self.problem.output, classes)
        same = np.zeros(len(x), bool)
        if self.tolerance is not None:
            same = self.is_near(value)
        elif self.classifies:
            same = np.argmax(arg.floats(raw), axis=1) == self.label
        return np.column_stack([value, same])

    def is_near(self, value: np.ndarray) -> np.ndarray:
        """Which values are within the tolerance of f(xi)."""
        assert self.tolerance is not None
        return np.abs(value - self.problem.prediction) <= self.tolerance

    def form_of_class(self) -> Form | None:
        """The indicator as a form, where f is a single tree and predicts what that says."""
        problem = self.problem
        if not _is_tree(problem.form):
            return None
        if self.tolerance is not None:
            form = _leaves([problem.form], lambda values: self.is_near(values[:, 0]))
        else:
            outputs = self._call[1] or list(range(self._at_xi.shape[1]))
            forms = [form_in_world(problem.boxes, problem.f, output) for output in outputs]
            form = _leaves(forms, lambda values: np.argmax(values, axis=1) == self.label)
        x = np.vstack([problem.xi, draws(problem, DRAWS)])
        return form if np.array_equal(form(x), self(x)[:, 1]) else None


def _is_tree(form: Any) -> bool:
    tree = form.form if isinstance(form, Moved) else form
    return isinstance(tree, Trees) and len(tree.roots) == 1


def _leaves(forms: list[Any], chosen: Callable[[np.ndarray], np.ndarray]) -> Form:
    """A tree that is 1 in the leaves whose values (leaves, forms) are chosen, and else 0."""
    first = forms[0]
    if isinstance(first, Moved):
        return replace(first, form=_leaves([form.form for form in forms], chosen))
    values = np.column_stack([form.b + form.value for form in forms])
    return replace(first, value=np.where(first.left < 0, chosen(values), 0.0), b=0.0)


def table_of(answers: Answers, masses: Masses, most: int) -> tuple[TableExtension, ...] | None:
    """F of value and indicator where features take at most ``most`` combinations of values."""
    views = answers.problem.tilt.views
    occurs = views.weights[0] > 0
    few = len(occurs) <= MAX_AXES and prod(map(int, occurs.sum(axis=1))) <= most
    if not few or np.any(views.law.sd[occurs] > 0):
        return None
    values = [row[some] for row, some in zip(views.law.mean, occurs, strict=True)]
    grid = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1)
    cells = answers(grid.reshape(-1, len(values)))
    tables = []
    for column in cells.T:
        means = column.reshape(grid.shape[:-1])
        for j, some in enumerate(occurs):
            out, in_ = views.weights[2][j, some], views.weights[1][j, some]
            sides = in_[None] if masses.constant[j] else np.stack([out, in_])
            means = np.moveaxis(np.tensordot(sides, means, axes=(1, j)), 0, j)
        tables.append(
            TableExtension(np.squeeze(means, tuple(np.flatnonzero(masses.constant))), masses)
        )
    return tuple(tables)
