"""Assignment 3: audit what LIME says of a model trained on real data, and say so in plain words."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from ...course.datasets import diabetes
from ...course.judging.kinds import Function, Given, Ladder, Mistake, Paragraph, Value
from ..formulas import Formula
from ..questions import Assignment, Question, named


@cache
def _model() -> Any:
    """The forest of the notebook; ``test_assignments`` holds the two to each other."""
    from sklearn.ensemble import RandomForestRegressor

    table = diabetes()
    forest = RandomForestRegressor(n_estimators=50, min_samples_leaf=5, random_state=0)
    return forest.fit(table.X.to_numpy(), table.y)


def _patient(row: int) -> np.ndarray:
    return diabetes().X.to_numpy()[row]


def _effective(w: np.ndarray) -> float:
    return float(w.sum() ** 2 / (w**2).sum())


def _fidelity(y: np.ndarray, fitted: np.ndarray, w: np.ndarray) -> float:
    middle = np.average(y, weights=w)
    return float(1 - np.sum(w * (y - fitted) ** 2) / np.sum(w * (y - middle) ** 2))


def _plain_fidelity(y: np.ndarray, fitted: np.ndarray, w: np.ndarray) -> float:
    return _fidelity(y, fitted, np.ones(len(y)))


def _top(coefs: np.ndarray, k: int) -> list[set[int]]:
    return [set(np.argsort(-np.abs(run))[:k].tolist()) for run in coefs]


def _agreement(coefs: np.ndarray, k: int) -> float:
    return float(np.mean([len(a & b) / k for a, b in combinations(_top(coefs, k), 2)]))


def _with_itself(coefs: np.ndarray, k: int) -> float:
    tops = _top(coefs, k)
    return float(np.mean([len(a & b) / k for a in tops for b in tops]))


def _union(coefs: np.ndarray, k: int) -> float:
    return float(np.mean([len(a & b) / len(a | b) for a, b in combinations(_top(coefs, k), 2)]))


def _flips(coefs: np.ndarray) -> np.ndarray:
    up = (coefs > 0).mean(axis=0)
    return np.minimum(up, 1 - up)


def _strangeness(
    X: np.ndarray, x: np.ndarray, scaled: bool = True, root: bool = True
) -> np.ndarray:
    scale = X.std(axis=0) if scaled else 1.0
    squares = (((x[:, None] - X[None]) / scale) ** 2).sum(axis=2).min(axis=1)
    return np.sqrt(squares) if root else squares


def _what_if(f: Any, xi: np.ndarray, X: np.ndarray, typical: Any = np.median) -> np.ndarray:
    changed = np.repeat(xi[None], len(xi), axis=0)
    np.fill_diagonal(changed, typical(X, axis=0))
    return f(xi[None])[0] - f(changed)


def _my_what_if(row: int, typical: Any = np.median) -> np.ndarray:
    return _what_if(_model().predict, _patient(row), diabetes().X.to_numpy(), typical)


# --- inputs that no notebook has ---------------------------------------------------------------


def _runs(rng: np.random.Generator) -> np.ndarray:
    """Coefficients of some runs: a few features stand out, most are noise."""
    d, runs = int(rng.integers(4, 9)), int(rng.integers(3, 10))
    return rng.normal(size=d) * rng.choice([0.2, 2], d) + 0.5 * rng.normal(size=(runs, d))


def _fitted(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    y = rng.normal(150, 40, int(rng.integers(20, 80)))
    return y, y + rng.normal(3, 25, len(y)), rng.uniform(0.01, 1, len(y))


def _two_tables(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    d = int(rng.integers(1, 5))
    scale = 10 ** rng.uniform(-1, 2, d)
    rows = rng.normal(size=(int(rng.integers(10, 40)), d))
    return rows * scale, 1.5 * rng.normal(size=(int(rng.integers(5, 20)), d)) * scale


def _asked(rng: np.random.Generator) -> tuple[Formula, np.ndarray, np.ndarray]:
    X, x = _two_tables(rng)
    c = (rng.normal(size=X.shape[1]) / X.std(axis=0)).round(4)
    text = ("x @ c", "np.tanh(x @ c)", "np.where(x @ c > 0, x @ c, 0)", "(x @ c)**2")
    return Formula(text[int(rng.integers(4))], c=c), x[0], X


_ROW = {"row": Given(7, "your row", lambda rng: int(rng.integers(442)))}

QUESTIONS = (
    Question(
        Function(
            name="effective_size",
            reference=_effective,
            inputs=lambda rng: (rng.uniform(0.001, 1, int(rng.integers(5, 90))),),
            mistakes=[
                (lambda w: float(w.sum()), "That is the total weight."),
                (lambda w: float(len(w)), "That counts all samples alike."),
                (
                    lambda w: float(w.sum() / (w**2).sum()),
                    "Multiply all weights by 10: the effective number must not change.",
                ),
            ],
            ladder=Ladder(
                "How many samples are there in effect if all but one have the weight 0?",
                "The square of the sum over the sum of the squares.",
                "w.sum() ** 2, divided by (w ** 2).sum().",
            ),
        ),
        "effective_size",
        1,
    ),
    Question(
        Function(
            name="fidelity",
            reference=_fidelity,
            inputs=_fitted,
            mistakes=[
                (_plain_fidelity, "The weights are missing: near samples count more."),
                (
                    lambda y, fitted, w: 1 - _fidelity(y, fitted, w),
                    "That is the share that the surrogate misses.",
                ),
                (
                    lambda y, fitted, w: float(np.corrcoef(y, fitted)[0, 1] ** 2),
                    "A squared correlation forgives a surrogate that is off by a constant.",
                ),
            ],
            ladder=Ladder(
                "What would you say of y without the surrogate, and how far off would you be?",
                "1 minus the weighted sum of squared residuals over the weighted sum of squares about the "
                "weighted mean.",
                "np.average(y, weights=w) is the mean; both sums carry the weights.",
            ),
        ),
        "fidelity",
        2,
    ),
    Question(
        Function(
            name="agreement",
            reference=_agreement,
            inputs=lambda rng: (_runs(rng), int(rng.integers(1, 4))),
            mistakes=[
                (_with_itself, "A run agrees with itself, of course: compare different runs only."),
                (_union, "Divide by k, not by how many features the two runs have together."),
                (
                    lambda coefs, k: _agreement(np.maximum(coefs, 0), k),
                    "A large negative coefficient is important too.",
                ),
                (lambda coefs, k: 100 * _agreement(coefs, k), "Give a share between 0 and 1."),
            ],
            ladder=Ladder(
                "Which k features does a run show first, and how many of them does another run show?",
                "The mean, over all pairs of different runs, of the number of shared features over k.",
                "set(np.argsort(-np.abs(run))[:k]) are the features of a run; "
                "itertools.combinations gives the pairs.",
            ),
        ),
        "agreement",
        3,
    ),
    Question(
        Function(
            name="flips",
            reference=_flips,
            inputs=lambda rng: (_runs(rng),),
            mistakes=[
                (
                    lambda coefs: (coefs > 0).mean(axis=0),
                    "A feature that is always positive never flips.",
                ),
                (lambda coefs: 1 - _flips(coefs), "That is the share of the majority."),
                (
                    lambda coefs: np.minimum((coefs > 0).sum(axis=0), (coefs < 0).sum(axis=0)),
                    "That is a count; a share of the runs is asked for.",
                ),
            ],
            ladder=Ladder(
                "In which runs does a feature speak against the majority of runs?",
                "For each feature the smaller of two shares: positive runs and negative runs.",
                "(coefs > 0).mean(axis=0) is one share, 1 minus it the other; np.minimum takes the smaller.",
            ),
        ),
        "flips",
        2,
    ),
    Question(
        Function(
            name="strangeness",
            reference=_strangeness,
            inputs=_two_tables,
            mistakes=[
                (
                    lambda X, x: _strangeness(X, x, scaled=False),
                    "A unit of one column is not a unit of another: divide by standard deviations.",
                ),
                (
                    lambda X, x: _strangeness(X, x, root=False),
                    "Those are squared distances.",
                ),
            ],
            ladder=Ladder(
                "How far is a new example from the patient who is most like it?",
                "The smallest Euclidean distance to a row of X, after each column is divided by its standard "
                "deviation in X.",
                "x[:, None] - X[None] holds all differences, (m, n, d); divide, square, sum over the last "
                "axis, take the minimum over the patients, then the root.",
            ),
        ),
        "strangeness",
        3,
    ),
    Question(
        Function(
            name="what_if",
            reference=_what_if,
            inputs=_asked,
            mistakes=[
                (
                    lambda f, xi, X: -_what_if(f, xi, X),
                    "The sign is the other way round: the prediction minus the one with the change.",
                ),
                (
                    lambda f, xi, X: _what_if(f, xi, X, np.mean),
                    "Use the median: a few extreme patients move the mean.",
                ),
            ],
            ladder=Ladder(
                "Which question to the model has an answer that no surrogate can get wrong?",
                "For each feature j: f(ξ) − f(ξ with its entry j replaced by the median of column j).",
                "Repeat ξ once for each feature, write the medians on the diagonal, and ask f about all rows "
                "at once.",
            ),
        ),
        "what_if",
        3,
    ),
    Question(
        Value(
            name="my_what_if",
            given=_ROW,
            asks="ten changes of the prediction",
            right=_my_what_if,
            mistakes=[
                Mistake(
                    lambda row: _my_what_if(row, np.mean),
                    "Those are changes to means; take medians.",
                ),
            ],
            ladder=Ladder(
                "Your own function answers this: which f, which ξ and which table does it need?",
                "what_if(forest.predict, X[row], X).",
                "Call it with your row, and give all ten numbers.",
            ),
        ),
        "my_what_if",
        3,
    ),
    Question(
        Paragraph(
            name="verdict",
            fewest=80,
            rubric=[
                "Opens with the verdict in one sentence that a patient or a doctor understands "
                "(1 point).",
                "Names what can be said: features that lead in all runs and that what-if questions "
                "confirm, with their direction (2 points).",
                "Names what cannot: features whose sign flips or that change places, with the numbers "
                "of the audit in plain words (2 points).",
                "Says where the explanation comes from: patients that do not exist, boxes instead of "
                "values (1 point).",
                "No symbol, no word such as surrogate, kernel or coefficient without its meaning "
                "(1 point).",
                "Says what to do next: ask the model directly, show less, or not show it (1 point).",
            ],
        ),
        "verdict",
        8,
    ),
)

ASSIGNMENT = Assignment(3, "the_audit", "The audit", named("the_audit", QUESTIONS))
