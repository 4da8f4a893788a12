"""Shapley values on boxes of all rows of a table, the work that rows share done once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.boxes import World, check_world
from ..core.kernels import MismatchKernel
from ..core.tilted_law import ConditionalLaws
from ..inputs import arguments as arg
from ..inputs.predictors import model_behind
from ..many.problems import Problems
from .extension import degree_of, gauss_legendre, means_and_slopes

ROWS_PER_BLOCK = 512


def shapley_values(f: Any, X: Any, world: World, output: Any = None) -> np.ndarray:
    """``lt.cube(f, x, world, output=output).coef`` for every row x of X, (rows, d), of a closed form.

    phi_j = (1 - p_j) times the mean over q of d_j F(p + q (1 - p)), by Gauss-Legendre nodes for which
    it is exact; each node is one pass over the model for all rows together.
    """
    check_world(world)
    question = Problems.of(model_behind(f), X, world, 1.0, "mismatch", output, "its Shapley values")
    form, table = question.form, question.table
    if form is None or not form.closed:
        raise ValueError(
            "f must have a closed form for the Shapley values of many rows, got "
            f"{arg.shorten(f)}; lt.cube samples it, row by row."
        )
    q, weights = gauss_legendre((degree_of(form, table.T) + 1) // 2)
    values = np.empty(table.shape)
    for start in range(0, len(table), ROWS_PER_BLOCK):
        part = slice(start, start + ROWS_PER_BLOCK)
        law = MismatchKernel().tilt(question.boxes, table[part], np.inf)
        (_, inside, outside), rest = law.views.weights, law.rest
        total = np.zeros(rest.shape)
        for place, weight in zip(q, weights, strict=True):
            t = (law.alpha + place * rest)[..., None]
            whole = t * inside + (1 - t) * outside
            views = ConditionalLaws(law.views.law, np.stack([whole, inside, outside]))
            total += weight * means_and_slopes(form, views)[1]
        values[part] = rest * total
    return values
