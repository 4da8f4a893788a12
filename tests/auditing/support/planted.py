"""Tables with something wrong in them, and the same tables without it.

Each kind draws a table, a model and how strongly something is wrong from a generator, and gives two
audits of the same rows: one that should find it and one, its clean counterpart, that should not be alarmed.
The range of the strengths stands with each kind.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from audited_rows import explainer
from scipy import stats
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import limetutor as lt

ROWS = 4  # of each table


class PlantedPair(NamedTuple):
    """What should be found, and how to audit the table with it and the one without."""

    code: str
    planted: Callable[[], Any]
    clean: Callable[[], Any]


def audit(*arguments: Any, **options: Any) -> Callable[[], Any]:
    """An audit, to be made later."""
    return partial(lt.audit, *arguments, **options)


Kind = Callable[[np.random.Generator], PlantedPair]
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    """Register a kind, under what its docstring says."""
    KINDS[(function.__doc__ or "").strip().rstrip(".")] = function
    return function


def numbers(rng: np.random.Generator, d: int, n: int = 600) -> np.ndarray:
    return rng.standard_normal((n, d))


def slopes(rng: np.random.Generator, d: int) -> np.ndarray:
    """Of either sign, from 0.5 to 2."""
    return rng.choice([-1.0, 1.0], d) * rng.uniform(0.5, 2.0, d)


def outer(rng: np.random.Generator, X: np.ndarray, rows: int = ROWS) -> np.ndarray:
    """Rows of a table, any."""
    return X[rng.choice(len(X), rows, replace=False)]


@kind
def unlike_the_data(rng: np.random.Generator) -> PlantedPair:
    """samples off the data: |x0 - x1| is below 0.1 to 0.3 in the data, and the model knows."""
    near, d = rng.uniform(0.1, 0.3), int(rng.integers(4, 8))
    X = numbers(rng, d, 1000)
    X[:, 1] = X[:, 0] + rng.uniform(-near, near, len(X))
    size = rng.uniform(0.5, 2.0)

    def bad(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x[:, 0] - x[:, 1]) < near, x[:, 3], size * (x[:, 2] > 0))

    def good(x: np.ndarray) -> np.ndarray:
        return x[:, 3] + size * (x[:, 2] > 0)

    rows, ex = outer(rng, X), explainer(X)
    return PlantedPair("off-data", audit(ex, bad, rows, data=X), audit(ex, good, rows, data=X))


@kind
def impossible_groups(rng: np.random.Generator) -> PlantedPair:
    """one-hot groups of 3 to 6 columns, sampled one by one."""
    k = int(rng.integers(3, 7))
    codes, more = rng.integers(0, k, 600), numbers(rng, 3)
    effect, a = rng.uniform(1, 3, k) * rng.choice([-1, 1], k), slopes(rng, 3)
    hot = np.column_stack([np.eye(k)[codes], more])
    whole = np.column_stack([codes.astype(float), more])
    pick = rng.choice(600, ROWS, replace=False)
    f_hot = lt.Linear(np.concatenate([effect, a]))
    planted = audit(lt.Empirical(hot), f_hot, hot[pick], nu=2.0, kernel="mismatch")
    return PlantedPair("impossible-samples", planted, by_codes(whole, effect, a, pick))


def by_codes(
    X: np.ndarray, effect: np.ndarray, a: np.ndarray, pick: np.ndarray
) -> Callable[[], Any]:
    """The clean counterpart of dummies: their code in one declared column."""

    def f(x: np.ndarray) -> np.ndarray:
        return effect[np.rint(x[:, 0]).astype(int)] + x[:, 1:] @ a

    return audit(explainer(X, categorical_features=[0]), f, X[pick], data=X)


@kind
def scattered_groups(rng: np.random.Generator) -> PlantedPair:
    """dummies of 4 to 6 categories anywhere in the table, all or all but one, declared or not."""
    k = int(rng.integers(4, 7))
    codes, more = rng.integers(0, k, 600), numbers(rng, 3)
    hot = np.eye(k)[codes][:, int(rng.integers(0, 2)) :]
    effect, a = rng.uniform(1, 3, k) * rng.choice([-1, 1], k), slopes(rng, 3)
    order, pick = rng.permutation(hot.shape[1] + 3), rng.choice(600, ROWS, replace=False)
    table = np.column_stack([hot, more])[:, order]
    slope = np.concatenate([effect[-hot.shape[1] :], a])[order]
    declared = np.flatnonzero(order < hot.shape[1]).tolist() if rng.random() < 0.5 else None
    whole = np.column_stack([codes.astype(float), more])
    ex = explainer(table, categorical_features=declared)
    planted = audit(ex, lt.Linear(slope), table[pick], data=table)
    return PlantedPair("impossible-samples", planted, by_codes(whole, effect, a, pick))


@kind
def beyond_the_data(rng: np.random.Generator) -> PlantedPair:
    """a value outside the range of the data, by 0.15 to 3 times that range."""
    d = int(rng.integers(3, 8))
    X, f = numbers(rng, d), lt.Linear(slopes(rng, d))
    rows, j, beyond = outer(rng, X), int(rng.integers(d)), rng.uniform(0.15, 3)
    far = rows.copy()
    lo, hi = X[:, j].min(), X[:, j].max()
    far[:, j] = hi + beyond * (hi - lo) if rng.random() < 0.5 else lo - beyond * (hi - lo)
    ex = explainer(X)
    return PlantedPair("outside-range", audit(ex, f, far), audit(ex, f, rows))


@kind
def labels_as_numbers(rng: np.random.Generator) -> PlantedPair:
    """an undeclared category of 3 to 8 codes before OneHotEncoder(handle_unknown="ignore")."""
    return _undeclared(rng, int(rng.integers(3, 9)))


@kind
def many_labels_as_numbers(rng: np.random.Generator) -> PlantedPair:
    """an undeclared category of 11 to 25 codes, from 1 on, before the same encoder."""
    return _undeclared(rng, int(rng.integers(11, 26)), 1)


def _undeclared(rng: np.random.Generator, k: int, first: int = 0) -> PlantedPair:
    X = np.column_stack([rng.integers(0, k, 800), numbers(rng, 3, 800)]).astype(float)
    effect = rng.uniform(4, 6, k) * rng.choice([-1, 1], k)
    y = effect[X[:, 0].astype(int)] + X[:, 1:] @ slopes(rng, 3)
    X[:, 0] += first
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [0]), remainder="passthrough"
    )
    odd = first + int(np.argmax(np.abs(effect - effect.mean())))  # a category that shows
    model, rows = make_pipeline(encode, LinearRegression()).fit(X, y), outer(rng, X[X[:, 0] == odd])
    return PlantedPair(
        "undeclared-category",
        audit(explainer(X), model.predict, rows, data=X),
        audit(explainer(X, categorical_features=[0]), model.predict, rows, data=X),
    )


@kind
def many_columns(rng: np.random.Generator) -> PlantedPair:
    """many features, 40 to 120, of which two matter."""
    d, few = int(rng.integers(40, 121)), int(rng.integers(3, 9))

    def case(d: int) -> Any:
        X, a = numbers(rng, d), np.zeros(d)
        a[:2] = slopes(rng, 2)
        rows = outer(rng, X)
        return audit(explainer(X), lt.Linear(a), rows)

    return PlantedPair("many-features", case(d), case(few))


@kind
def equals(rng: np.random.Generator) -> PlantedPair:
    """an unstable set: 4 to 8 of 12 to 20 features, whose effects differ by at most 2%."""
    d, k = int(rng.integers(12, 21)), int(rng.integers(4, 9))
    X = numbers(rng, d)
    alike = rng.choice([-1.0, 1.0], d) * rng.uniform(0.98, 1.02, d)
    apart = rng.choice([-1.0, 1.0], d) * 0.6 ** np.arange(d)
    rows = np.tile(rng.choice([-1.0, 1.0], (ROWS, d)) * 1.2, 1)  # outer boxes: no feature is small
    ex = explainer(X)
    return PlantedPair(
        "unstable-set",
        audit(ex, lt.Linear(alike), rows, num_features=k),
        audit(ex, lt.Linear(apart), rows, num_features=3),
    )


@kind
def exclusive_or(rng: np.random.Generator) -> PlantedPair:
    """no fit: the product of two signs, beside additive effects of up to a tenth of it."""
    d, size = int(rng.integers(3, 8)), rng.uniform(0.5, 5)
    X, rest = numbers(rng, d), np.zeros(d)
    rest[2:] = rng.uniform(0, 0.1, d - 2) * size / np.sqrt(d)

    def bad(x: np.ndarray) -> np.ndarray:
        return size * np.sign(x[:, 0] * x[:, 1]) + x @ rest

    def good(x: np.ndarray) -> np.ndarray:
        return size * (np.sign(x[:, 0]) + np.sign(x[:, 1])) + x @ rest

    rows, ex = outer(rng, X), explainer(X)
    return PlantedPair("no-fit", audit(ex, bad, rows), audit(ex, good, rows))


def _read(rng: np.random.Generator) -> tuple[Any, Any, np.ndarray]:
    d = int(rng.integers(3, 8))
    X = numbers(rng, d)
    return lt.from_lime(explainer(X)), lt.Linear(slopes(rng, d)), outer(rng, X)


@kind
def another_kernel(rng: np.random.Generator) -> PlantedPair:
    """the wrong kernel: a world read from lime, seen through "gaussian" or "laplace"."""
    world, f, rows = _read(rng)
    name = str(rng.choice(["gaussian", "laplace"]))
    return PlantedPair(
        "wrong-kernel", audit(world, f, rows, nu=world.nu, kernel=name), audit(world, f, rows)
    )


@kind
def another_width(rng: np.random.Generator) -> PlantedPair:
    """the wrong width: 0.5 to 0.9 or 1.1 to 2 times lime's own."""
    world, f, rows = _read(rng)
    by = rng.uniform(0.5, 0.9) if rng.random() < 0.5 else rng.uniform(1.1, 2.0)
    return PlantedPair(
        "wrong-kernel",
        audit(world, f, rows, nu=by * world.nu, kernel="mismatch"),
        audit(world, f, rows, nu=world.nu, kernel="mismatch"),
    )


@kind
def short_runs(rng: np.random.Generator) -> PlantedPair:
    """noise: 40 to 150 samples of 5000."""
    d = int(rng.integers(4, 8))
    X, f = numbers(rng, d), lt.Linear(rng.choice([-2.0, 2.0], d) * 0.5 ** np.arange(d))
    rows, ex, n = np.sign(outer(rng, X)) * 1.2, explainer(X), int(rng.integers(40, 151))
    return PlantedPair("noise", audit(ex, f, rows, n=n), audit(ex, f, rows))


@kind
def starved(rng: np.random.Generator) -> PlantedPair:
    """few effective samples: a Gaussian kernel of width 0.1 to 0.3 in 4 to 6 features."""
    d, nu = int(rng.integers(4, 7)), rng.uniform(0.1, 0.3)
    X, f = numbers(rng, d), lt.Linear(slopes(rng, d))
    rows, world = outer(rng, X), lt.Empirical(X)
    return PlantedPair("few-samples", audit(world, f, rows, nu=nu), audit(world, f, rows, nu=2.0))


@kind
def switched_off(rng: np.random.Generator) -> PlantedPair:
    """a critical bandwidth within 4% of the one in use; the counterpart has 2 to 3 times as much."""
    q, world = stats.norm.ppf(0.75), lt.Gaussian()
    rows = rng.choice([-1.0, 1.0], (ROWS, 3)) * rng.uniform(0.9, 1.5, (ROWS, 3))
    rows[:, 0] = rng.uniform(0.45, 0.6)
    critical = np.sqrt((2 * rows[0, 0] - q) / q)  # of the box from 0 to q, by the paper's formula
    nu, a = critical * rng.uniform(0.96, 1.04), slopes(rng, 3)
    a[0] = 2.0
    f, wide = lt.Linear(a), rng.uniform(2, 3) * critical
    return PlantedPair(
        "critical-bandwidth", audit(world, f, rows, nu=nu), audit(world, f, rows, nu=wide)
    )


@kind
def in_the_middle(rng: np.random.Generator) -> PlantedPair:
    """a hidden feature: in the middle of 3 or 5 boxes, within 0.1 of the mean."""
    p, d = int(rng.choice([3, 5])), 4
    rows = rng.choice([-1.0, 1.0], (ROWS, d)) * rng.uniform(0.9, 1.5, (ROWS, d))
    there = rows.copy()
    there[:, 0] = rng.uniform(-0.1, 0.1, ROWS)
    a = slopes(rng, d)
    a[0] = 2.0
    world, f = lt.Gaussian(p=[p, 4, 4, 4]), lt.Linear(a)
    return PlantedPair(
        "hidden",
        audit(world, f, there, nu=2.0, kernel="mismatch"),
        audit(world, f, rows, nu=2.0, kernel="mismatch"),
    )


@kind
def collapsed(rng: np.random.Generator) -> PlantedPair:
    """a collapsed bin: a column of two values, 1 and 2 or 3, of which the lower has 30 to 70%."""
    X = numbers(rng, 4, 800)
    X[:, 0] = np.where(rng.random(800) < rng.uniform(0.3, 0.7), 1.0, rng.integers(2, 4))
    a = slopes(rng, 4)
    a[0] = 2.0
    f, rows = lt.Linear(a), outer(rng, X)
    return PlantedPair(
        "collapsed-bin",
        audit(explainer(X), f, rows),
        audit(explainer(X, categorical_features=[0]), f, rows),
    )


@kind
def penalised(rng: np.random.Generator) -> PlantedPair:
    """ridge that takes more than a tenth: a penalty of 0.15 to 3 times the total weight's share."""
    d = int(rng.integers(3, 7))
    X, f = numbers(rng, d), lt.Linear(slopes(rng, d))
    rows, world, nu = outer(rng, X), lt.Empirical(X), 1.5
    weight = 5000 * np.exp(lt.limit(f, rows[0], world, nu, "mismatch").log_C) * 0.2
    ridge = rng.uniform(0.15, 3) * weight
    return PlantedPair(
        "ridge",
        audit(world, f, rows, nu=nu, kernel="mismatch", ridge=ridge),
        audit(world, f, rows, nu=nu, kernel="mismatch", ridge=1.0),
    )


@kind
def own_rows(rng: np.random.Generator) -> PlantedPair:
    """the row's own copy decides: a kernel width of 0.15 to 0.35 in 6 to 9 features."""
    d, width = int(rng.integers(6, 10)), rng.uniform(0.15, 0.35)
    X, f = numbers(rng, d), lt.Linear(slopes(rng, d))
    rows = outer(rng, X)
    return PlantedPair(
        "own-row", audit(explainer(X, kernel_width=width), f, rows), audit(explainer(X), f, rows)
    )


@kind
def bumps(rng: np.random.Generator) -> PlantedPair:
    """a surrogate that is off: a bump at the row, 2 to 10 times as high as the rest varies."""
    d = int(rng.integers(3, 7))
    X, a = numbers(rng, d), slopes(rng, d)
    rows, height = outer(rng, X), rng.uniform(2, 10) * np.linalg.norm(a)

    def bad(x: np.ndarray) -> np.ndarray:
        near = np.min([np.sum((x - row) ** 2, axis=1) for row in rows], axis=0)
        return x @ a + height * np.exp(-near / 0.02)

    ex = explainer(X)
    return PlantedPair("local-error", audit(ex, bad, rows), audit(ex, lt.Linear(a), rows))
