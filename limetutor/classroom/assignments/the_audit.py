"""Assignment 3: audit what LIME says of a model trained on real data, and say so in plain words."""

from functools import cache, lru_cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from ...course.datasets import diabetes
from ...course.judging.kinds import Function, Given, Paragraph, Value, with_hints
from ..questions import Formula, assignment


@cache
def _model() -> Any:
    """The forest of the notebook; ``test_assignments`` compares the two."""
    from sklearn.ensemble import RandomForestRegressor

    table = diabetes()
    forest = RandomForestRegressor(n_estimators=50, min_samples_leaf=5, random_state=0)
    return forest.fit(table.X.to_numpy(), table.y)


def _fidelity(y: np.ndarray, fitted: np.ndarray, w: np.ndarray) -> float:
    mean = np.average(y, weights=w)
    return float(1 - np.sum(w * (y - fitted) ** 2) / np.sum(w * (y - mean) ** 2))


def _agreement(coefs: np.ndarray, k: int, itself: bool = False, union: bool = False) -> float:
    top = [set(np.argsort(-np.abs(run))[:k].tolist()) for run in coefs]
    pairs = product(top, repeat=2) if itself else combinations(top, 2)
    return float(np.mean([len(a & b) / (len(a | b) if union else k) for a, b in pairs]))


def _flips(coefs: np.ndarray) -> np.ndarray:
    up = (coefs > 0).mean(axis=0)
    return np.minimum(up, 1 - up)


def _strangeness(
    X: np.ndarray, x: np.ndarray, scaled: bool = True, root: bool = True, ddof: int = 0
) -> np.ndarray:
    scale = X.std(axis=0, ddof=ddof) if scaled else 1.0
    squares = (((x[:, None] - X[None]) / scale) ** 2).sum(axis=2).min(axis=1)
    return np.sqrt(squares) if root else squares


def _what_if(f: Any, xi: np.ndarray, X: np.ndarray, typical: Any = np.median) -> np.ndarray:
    changed = np.repeat(xi[None], len(xi), axis=0)
    np.fill_diagonal(changed, typical(X, axis=0))
    return f(xi[None])[0] - f(changed)


def _my_what_if(row: int, typical: Any = np.median) -> np.ndarray:
    X = diabetes().X.to_numpy()
    return _what_if(_model().predict, X[row], X, typical)


class _Run(NamedTuple):
    """One run of `lime`: its samples' mismatches, the model's answers, those of the surrogate, its R²."""

    mismatches: np.ndarray
    y: np.ndarray
    fitted: np.ndarray
    score: float

    def weights(self, factor: float = 2.0, power: float = 1.0) -> np.ndarray:
        """exp(−m/(2ν²)) of a sample with m mismatches, at `lime`'s default width."""
        return np.exp(-(self.mismatches**power) / (factor * 0.75**2 * diabetes().X.shape[1]))


@lru_cache(8)
def _run(row: int) -> _Run:
    """The run of the notebook with seed 0."""
    from lime.lime_tabular import LimeTabularExplainer

    X = diabetes().X.to_numpy()
    told: list[np.ndarray] = []

    def remembered(samples: np.ndarray) -> np.ndarray:
        told.append(samples)
        return _model().predict(samples)

    lime = LimeTabularExplainer(X, mode="regression", random_state=0)
    explained = lime.explain_instance(X[row], remembered, num_features=X.shape[1], num_samples=5000)
    coef = np.array([value for _, value in sorted(explained.local_exp[1])])
    z = lime.discretizer.discretize(told[0]) == lime.discretizer.discretize(X[row])
    fitted = explained.intercept[1] + z @ coef
    return _Run((~z).sum(axis=1), _model().predict(told[0]), fitted, explained.score)


def _size(w: np.ndarray) -> float:
    return float(w.sum() ** 2 / (w**2).sum())


# --- hidden inputs -----------------------------------------------------------------------------


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

EXERCISES = (
    Function(
        name="effective_size",
        reference=_size,
        inputs=lambda rng: (rng.uniform(0.001, 1, int(rng.integers(5, 90))),),
        mistakes=with_hints(
            lambda w: float(w.sum()),
            "That is the total weight.",
            lambda w: float(len(w)),
            "That counts all samples alike.",
            lambda w: float(w.sum() / (w**2).sum()),
            "Multiply all weights by 10: the effective number must not change.",
        ),
        nudge="How many samples are there in effect if all but one have the weight 0?",
        formula="The square of the sum over the sum of the squares.",
    ),
    Function(
        name="fidelity",
        reference=_fidelity,
        inputs=_fitted,
        mistakes=with_hints(
            lambda y, fitted, w: _fidelity(y, fitted, np.ones(len(y))),
            "The weights are missing: near samples count more.",
            lambda y, fitted, w: 1 - _fidelity(y, fitted, w),
            "That is the share that the surrogate misses.",
            lambda y, fitted, w: float(np.corrcoef(y, fitted)[0, 1] ** 2),
            "A squared correlation forgives a surrogate that is off by a constant.",
        ),
        nudge="What would you say of y without the surrogate, and how far off would you be?",
        formula="1 minus the weighted sum of squared residuals over the weighted sum of squares about the "
        "weighted mean.",
    ),
    Function(
        name="agreement",
        reference=_agreement,
        inputs=lambda rng: (_runs(rng), int(rng.integers(1, 4))),
        mistakes=with_hints(
            lambda coefs, k: _agreement(coefs, k, itself=True),
            "A run agrees with itself, of course: compare different runs only.",
            lambda coefs, k: _agreement(coefs, k, union=True),
            "Divide by k, not by how many features the two runs have together.",
            lambda coefs, k: _agreement(np.maximum(coefs, 0), k),
            "A large negative coefficient is important too.",
            lambda coefs, k: 100 * _agreement(coefs, k),
            "Give a share between 0 and 1.",
        ),
        nudge="Which k features does a run show first, and how many of them does another run show?",
        formula="The mean, over all pairs of different runs, of the number of shared features over k.",
    ),
    Function(
        name="flips",
        reference=_flips,
        inputs=lambda rng: (_runs(rng),),
        mistakes=with_hints(
            lambda coefs: (coefs > 0).mean(axis=0),
            "A feature that is always positive never flips.",
            lambda coefs: 1 - _flips(coefs),
            "That is the share of the majority.",
            lambda coefs: np.minimum((coefs > 0).sum(axis=0), (coefs < 0).sum(axis=0)),
            "That is a count. Give a share of the runs.",
        ),
        nudge="In which runs does a feature have another sign than in most runs?",
        formula="For each feature the smaller of two shares: positive runs and negative runs.",
    ),
    Function(
        name="strangeness",
        reference=_strangeness,
        also=(lambda X, x: _strangeness(X, x, ddof=1),),
        inputs=_two_tables,
        mistakes=with_hints(
            lambda X, x: _strangeness(X, x, scaled=False),
            "A unit of one column is not a unit of another: divide by standard deviations.",
            lambda X, x: _strangeness(X, x, root=False),
            "Those are squared distances.",
        ),
        nudge="How far is a sample from the patient who is most like it?",
        formula="The smallest Euclidean distance to a row of X, after each column is divided by its standard "
        "deviation in X.",
    ),
    Function(
        name="what_if",
        reference=_what_if,
        inputs=_asked,
        mistakes=with_hints(
            lambda f, xi, X: -_what_if(f, xi, X),
            "The sign is the other way round: the prediction minus the one with the change.",
            lambda f, xi, X: _what_if(f, xi, X, np.mean),
            "Use the median: a few extreme patients move the mean.",
        ),
        nudge="Which question to the model has an answer that no surrogate can get wrong?",
        formula="For each feature j: f(ξ) − f(ξ with its entry j replaced by the median of column j).",
    ),
    Value(
        name="my_what_if",
        given=_ROW,
        asks="ten changes of the prediction",
        right=_my_what_if,
        mistakes=with_hints(
            lambda row: _my_what_if(row, np.mean), "Those are changes to means; take medians."
        ),
        nudge="Your own function answers this: which f, which ξ and which table does it need?",
        formula="f is the forest's predict, ξ is the row of X that your id gives, and the table is X.",
    ),
    Value(
        name="my_size",
        given=_ROW,
        asks="an effective number of samples",
        right=lambda row: _size(_run(row).weights()),
        mistakes=with_hints(
            lambda row: _size(_run(row).weights(power=2.0)),
            "The distance of the boxes is the root of the number of mismatches, so its square is that number.",
            lambda row: _size(_run(row).weights(factor=1.0)),
            "A factor of 2 is missing from the exponent of the weights.",
            lambda row: float(len(_run(row).y)),
            "That counts all samples alike.",
        ),
        nudge="In how many boxes does each sample differ from your patient?",
        formula="The weights are exp(−m/(2ν²)) with ν = 0.75 √10, where m counts the entries of a row of same "
        "that are False.",
    ),
    Value(
        name="my_fidelity",
        given=_ROW,
        asks="a weighted R²",
        right=lambda row: _run(row).score,
        mistakes=with_hints(
            lambda row: _fidelity(_run(row).y, _run(row).fitted, np.ones(len(_run(row).y))),
            "The weights are missing.",
            lambda row: 1 - _run(row).score,
            "That is the share that the surrogate misses.",
        ),
        nudge="What does the surrogate say of a sample whose boxes are known?",
        formula="It says the intercept plus the coefficients of the features whose boxes are those of your patient.",
    ),
    Paragraph(
        name="verdict",
        fewest=80,
        rubric=[
            "Opens with the verdict, in one sentence for a doctor, and uses no symbol and no technical word "
            "without its meaning (1 point).",
            "Names what can be shown, with its direction: features that keep their sign in all runs, with "
            "four boxes and with ten, and that the what-if questions do not contradict (2 points).",
            "Names what cannot: features whose sign or place changes from run to run or with the number of "
            "boxes, with the numbers of the audit in plain words (2 points).",
            "Says what the numbers rest on: patients who were made up, groups instead of values, nearly all "
            "of them counting, and a fit that misses much of what the forest says of them (1 point).",
            "Notices what the notebook did not do, such as declaring sex as a column with two values or "
            "drawing more samples for the lines near zero, and says what it would change (1 point).",
            "Says what to do next: ask the model directly, show less, or not show it (1 point).",
        ],
    ),
)

POINTS = {
    "effective_size": 1, "fidelity": 2, "agreement": 3, "flips": 2, "strangeness": 3,
    "what_if": 3, "my_what_if": 3, "my_size": 1, "my_fidelity": 1, "verdict": 8,
}  # fmt: skip

LIKE = {"my_size": "my_what_if", "my_fidelity": "my_what_if"}
ASSIGNMENT = assignment(3, "the_audit", "The audit", EXERCISES, POINTS, LIKE)
