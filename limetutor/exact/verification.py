"""Is a fitted model what its attributes say? Its form is compared with its own predictions.

At xi and at draws, half of them from the tilted law, whose expectations the form is for, and half from
the world's own, to which the tilted law grows with the bandwidth. Where the two differ the model is
sampled, and the limit says so. Chapter: beyond linear.
"""

from typing import Any

import numpy as np

from ..core.models import Form
from ..core.problem import Problem, knowing
from ..inputs.predictors import predictor

DRAWS = 16  # of each law: what concerns a fifth of one of them is missed once in 35 models
ROWS = 4  # of a table, whose tilted laws share the draws
PRECISION = 1e-6  # of a value, or of the median one


def verified(form: Form, question: Any) -> Form | None:
    """The form of f about one instance (a ``Problem``) or a table, or None where f is not that."""
    if isinstance(question, Problem):
        x = np.vstack([question.xi, draws(question, DRAWS)])
        y = question.predict(x)
        question.__dict__.setdefault("prediction", float(y[0]))
    else:
        some = np.unique(np.linspace(0, len(question.table) - 1, ROWS).round().astype(int))
        drawn = [draws(question.problem(int(i)), DRAWS // ROWS) for i in some]
        x = np.vstack([question.table, *drawn])
        predict = predictor(question.f, question.boxes, question.output)
        y = np.concatenate([question.predictions, predict(x[len(question.table) :])])
    formula = form(x)
    beyond = np.abs(formula - y) - PRECISION * np.maximum(np.abs(y), np.median(np.abs(y)))
    if np.all(beyond <= 0) or np.all(beyond <= form.rounding(x)):
        return form
    i = int(np.argmax(beyond - form.rounding(x)))
    note = (
        f"f was sampled: it is not what its fitted attributes say, which give {formula[i]:g} where it "
        f"predicts {y[i]:g}."
    )
    knowing(question, form_notes=(note,))
    return None


def draws(problem: Problem, n: int) -> np.ndarray:
    """n rows of the tilted law and n of the world's, (2n, d), the same at every call."""
    rng, boxes = np.random.default_rng(0), problem.boxes
    if problem.product is None:
        return boxes.law.sample(rng, 2 * n)[0]
    tilt = problem.tilt
    if tilt.normal:
        normal = rng.standard_normal((2, n, problem.d))
        return np.vstack(
            [tilt.mu_tilde + tilt.sigma_tilde * normal[0], boxes.mu + boxes.sigma * normal[1]]
        )
    return np.vstack([tilt.views.law.sample(rng, n)[0], boxes.law.sample(rng, n)[0]])
