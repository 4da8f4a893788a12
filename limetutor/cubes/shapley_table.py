"""Shapley values on boxes beside the coefficients of an explanation, for its report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core.kernels import MismatchKernel
from ..core.models import SlowSeriesError
from ..core.problem import KEPT, Problem, knowing
from ..plotting import page as report
from .extension import FormExtension, Masses, shapley_of


def shapley_table(problem: Any, coef: np.ndarray, features: Any) -> list[report.Markup]:
    """A table of both for some features, where the model has a form and there are boxes; else nothing.

    No model is called for it.
    """
    if not isinstance(problem, Problem) or problem.world.regression is not None or not problem.form:
        return []
    counted = knowing(replace(problem, kernel=MismatchKernel()), problem, *KEPT)
    F = FormExtension.of(problem.form, counted, Masses.of(counted))
    try:
        values, start = shapley_of(F).value, float(F.at(F.masses.p[None])[0].value[0])
    except SlowSeriesError:
        return []
    words = (
        "An effect compares a feature's box with the values outside it; a Shapley value compares it with all "
        "values, and averages over the orders in which features are put into their boxes. Those of all "
        f"features lead from {report.number(start)}, the mean prediction, to "
        f"{report.number(start + values.sum())}, the mean where all features are in their boxes."
    )
    rows = [(problem.box_names[j], float(coef[j]), float(values[j])) for j in features]
    columns = ["feature", "effect here", "Shapley value"]
    return [report.paragraph(words), report.table("Beside Shapley values", columns, rows)]
