"""F of f and F of the class of xi, each computed once, in the best way there is."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..core.models import SlowSeriesError
from ..core.problem import Problem
from .classes import Answers, table_of
from .draws import Draws, Pool
from .extension import Extension, FormExtension, Masses, TableExtension
from .rules import ExactPrecisions, SampledPrecisions


@dataclass(frozen=True, eq=False)
class TwoFunctions:
    """By a form, by a table of all values, or by draws, which both share."""

    problem: Problem
    masses: Masses
    answers: Answers
    n: int  # draws
    root: int  # of the seeds

    @cached_property
    def value(self) -> Extension:
        """F of f."""
        if self.problem.form is not None:
            extension = FormExtension.of(self.problem.form, self.problem, self.masses)
            with suppress(SlowSeriesError):
                extension.at(self.masses.p[None])
                return extension
        return Draws.of(self.pool, 0) if self._tables is None else self._tables[0]

    @cached_property
    def label(self) -> Extension:
        """F of the class indicator."""
        if not self.answers.has_class:
            raise ValueError(
                "tolerance must be given for rules about an f of one output: the same as at xi is then "
                "what lies within it of f(xi); or f must be a classifier, got neither."
            )
        if self._tables is not None:
            return self._tables[1]
        form = self.answers.form_of_class()
        if form is not None:
            return FormExtension.of(form, self.problem, self.masses)
        return Draws.of(self.pool, 1)

    @cached_property
    def pool(self) -> Pool:
        """The draws of what has to be sampled."""
        return Pool.of(self.problem, self.answers, self.masses, self.n, self.root)

    @cached_property
    def _tables(self) -> tuple[TableExtension, ...] | None:
        return table_of(self.answers, self.masses, self.n)

    def precisions(self) -> Any:
        """Precisions of rules, exact or sampled."""
        if not self.label.n:
            return ExactPrecisions(self.label)
        return SampledPrecisions(self.pool, self.problem, self.answers, self.root)
