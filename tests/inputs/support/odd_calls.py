"""Odd calls of everything public, drawn by chance and written as Python.

``odd_calls(seed, count)`` gives calls that start from arguments that work and put odd ones in the
place of some: nan, text, dates, ragged lists, masked, sparse and nullable tables, frames in another
order, functions that return nonsense, estimators that were never fitted. Which arguments a function
takes is read off its signature; odd_values.txt has what may stand in the place of each. A call is its source,
so that whoever wants to see one again pastes it behind ``from odd_calls import *``.
"""

# ruff: noqa: F401 - calls are source, and find these names here
import datetime
import inspect
import random
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from lime.lime_image import LimeImageExplainer
from lime.lime_tabular import LimeTabularExplainer
from lime.lime_text import LimeTextExplainer
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt
from limetutor import switches as masks
from limetutor.course.exercises import exercises
from limetutor.inputs.columns import Category, Number

nan, inf = float("nan"), float("inf")

RNG = np.random.default_rng(12)
X = RNG.normal(size=(60, 3)) * [1.0, 2.0, 0.5] + [0.0, 1.0, -3.0]
Y = X @ [1.0, -0.5, 2.0] + X[:, 0] ** 2
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
MIXED = pd.DataFrame(
    {
        "size": X[:, 0],
        "town": pd.Series(["Rome", "Oslo", "Paris"] * 20, dtype=object),
        "rooms": [1, 2, 3, 5] * 15,
    }
)
CONSTANT = np.column_stack([X[:, 0], np.full(60, 7.0), X[:, 2]])
ALL_CONSTANT = np.full((60, 3), 2.5)
TIED = np.column_stack([RNG.integers(0, 3, 60), RNG.integers(0, 2, 60), X[:, 2]]).astype(float)
NULLABLE = pd.DataFrame(
    {
        "a": pd.array(RNG.integers(0, 9, 60), dtype="Int64"),
        "b": pd.array(RNG.random(60), dtype="Float64"),
        "c": pd.array(RNG.integers(0, 2, 60) == 1, dtype="boolean"),
    }
)
CATEGORIES = FRAME.assign(b=pd.Categorical(["u", "v", "w"] * 20), c=pd.Categorical([1, 2] * 30))
GAPS = NULLABLE.assign(a=NULLABLE["a"].where(np.arange(60) != 7))
NAMELESS = pd.DataFrame(X)
TWICE = pd.DataFrame(X, columns=["a", "b", "a"])
DATES = FRAME.assign(b=pd.date_range("2020-01-01", periods=60))
INDEXED = FRAME.set_index("a")
MULTI = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that matrices are of yesterday
    MATRIX, ROW_MATRIX = np.matrix(X), np.matrix([[0.1, 0.9, -3.0]])
BYTES = np.array([[b"1", 2.0, 3.0]] * 60, dtype=object)


class OwnError(Exception):
    """What a caller's own function raises: it has to arrive as it is."""


def raises(*args: Any, **options: Any) -> Any:
    raise OwnError("the caller's own")


def changes(x: Any) -> Any:
    y = f_first(x)
    x[:] = 0.0
    return y


def f_first(x: Any) -> Any:
    return np.asarray(x)[:, 0].astype(float)


ROWS: dict[str, Callable[..., Any]] = {
    "sum": lambda x: np.asarray(x, float).sum(axis=1),
    "frame": lambda x: x["size"].to_numpy() + 2.0 * (x["town"] == "Rome").to_numpy() + x["rooms"].to_numpy(),
    "two": lambda x: np.stack([f_first(x), -f_first(x)], axis=1),
    "column": lambda x: f_first(x)[:, None],
    "series": lambda x: pd.Series(f_first(x), index=range(5, 5 + len(x))),
    "list": lambda x: list(f_first(x)),
    "constant": lambda x: np.full(len(x), 3.0),
    "bool": lambda x: f_first(x) > 0,
    "nan": lambda x: np.full(len(x), nan),
    "nan_for_some": lambda x: np.where(f_first(x) > 0.5, nan, 1.0),
    "inf": lambda x: np.full(len(x), -inf),
    "large": lambda x: np.where(f_first(x) > 0.5, 1e300, -1e300),
    "steps": lambda x: np.where(f_first(x) > 2, 1e18, f_first(x)),
    "tiny": lambda x: 1e-300 * f_first(x),
    "scalar": lambda x: 1.0,
    "none": lambda x: None,
    "short": lambda x: f_first(x)[:-1],
    "long": lambda x: np.zeros(len(x) + 1),
    "turned": lambda x: np.stack([f_first(x)] * 2),
    "deep": lambda x: np.zeros((len(x), 1, 1)),
    "text": lambda x: ["yes"] * len(x),
    "complex": lambda x: f_first(x) * 1j,
    "dates": lambda x: np.full(len(x), np.datetime64("2020-01-01")),
    "masked": lambda x: np.ma.masked_array(f_first(x), f_first(x) > 0),
    "sparse": lambda x: sparse.csr_matrix(f_first(x)[:, None]),
    "objects": lambda x: np.array([object()] * len(x), dtype=object),
    "ragged": lambda x: [[1.0], *([[1.0, 2.0]] * (len(x) - 1))],
    "huge_integers": lambda x: [10**400] * len(x),
    "changes": changes,
    "raises": raises,
    "raises_late": lambda x: raises() if len(x) > 1 else f_first(x),
    "no_argument": lambda: 0.0,
}  # fmt: skip
globals().update({f"f_{name}": f for name, f in ROWS.items()})


class Callable3:
    """An object that is called."""

    def __call__(self, x: Any) -> Any:
        return ROWS["sum"](x)

    method = __call__


class OddModel:
    """An estimator by its looks alone."""

    classes_ = None
    n_features_in_ = "three"
    feature_names_in_ = ("a", "b", "c")

    def predict(self, x: Any) -> Any:
        return ROWS["sum"](x)


class ProbabilityOnly:
    """Has predict_proba, but no classes."""

    def predict_proba(self, x: Any) -> Any:
        return ROWS["two"](x)


class Broken:
    """Nothing about it works."""

    __repr__ = __array__ = __float__ = __eq__ = raises  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Lengthy:
    """A repr of many lines."""

    def __repr__(self) -> str:
        return "line\n" * 500


def gaussian(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.exp(-np.sum((x - xi) ** 2, axis=1) / (2 * nu**2))


def k_changes(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    x[:], z[:], xi[:] = 0.0, True, 9.0
    return np.ones(len(x))


WEIGHTS: dict[str, Callable[..., Any]] = {
    "flat": lambda x, z, xi, nu: np.ones(len(x)),
    "tiny": lambda x, z, xi, nu: np.full(len(x), 5e-324),
    "large": lambda x, z, xi, nu: np.where(z[:, 0], 1.7e308, 1.0),
    "bool": lambda x, z, xi, nu: z[:, 0],
    "zero": lambda x, z, xi, nu: np.zeros(len(x)),
    "one_row": lambda x, z, xi, nu: np.arange(len(x)) == 0,
    "negative": lambda x, z, xi, nu: -np.ones(len(x)),
    "nan": lambda x, z, xi, nu: np.full(len(x), nan),
    "short": lambda x, z, xi, nu: np.ones(3),
    "text": lambda x, z, xi, nu: ["a"] * len(x),
    "raises": raises,
    "two_arguments": lambda x, nu: np.ones(len(x)),
    "none": lambda x, z, xi, nu: None,
}
globals().update({f"k_{name}": kernel for name, kernel in WEIGHTS.items()})

SPARSE, LABELS = sparse.csr_matrix(X), np.array(["no", "yes"])[(Y > 0).astype(int)]
TOWNS = ColumnTransformer([("town", OneHotEncoder(), ["town"])], remainder="passthrough")
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "linear": lambda: LinearRegression().fit(X, Y),
    "linear on a frame": lambda: LinearRegression().fit(FRAME, Y),
    "linear in another order": lambda: LinearRegression().fit(FRAME[["c", "a", "b"]], Y),
    "linear on other columns": lambda: LinearRegression().fit(FRAME[["a", "b"]], Y),
    "linear of two outputs": lambda: LinearRegression().fit(X, np.stack([Y, -Y], axis=1)),
    "ridge on one column": lambda: Ridge().fit(X[:, :1], Y),
    "tree": lambda: DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, Y),
    "forest of classes": lambda: RandomForestClassifier(5, random_state=0).fit(X, LABELS),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=8, random_state=0).fit(X, Y),
    "logistic": lambda: LogisticRegression().fit(X, LABELS),
    "logistic of numbers": lambda: LogisticRegression().fit(X, (Y > 0).astype(int)),
    "kernel ridge": lambda: KernelRidge(kernel="rbf", gamma=0.2).fit(X, Y),
    "kernel ridge of a polynomial": lambda: KernelRidge(kernel="poly").fit(X, Y),
    "kernel ridge on a sparse table": lambda: KernelRidge(kernel="rbf").fit(SPARSE, Y),
    "svr": lambda: SVR().fit(X, Y),
    "svr on a sparse table": lambda: SVR().fit(SPARSE, Y),
    "svc": lambda: SVC().fit(X, LABELS),
    "net": lambda: MLPRegressor(hidden_layer_sizes=(4,), max_iter=20, random_state=0).fit(X, Y),
    "pipeline": lambda: make_pipeline(StandardScaler(), Ridge()).fit(X, Y),
    "pipeline with passthrough": lambda: make_pipeline("passthrough", Ridge()).fit(X, Y),
    "pipeline to passthrough": lambda: make_pipeline(StandardScaler(), "passthrough").fit(X, Y),
    "text pipeline": lambda: make_pipeline(TOWNS, LinearRegression()).fit(MIXED, Y),
    "unfitted": LinearRegression,
    "unfitted tree": DecisionTreeRegressor,
    "unfitted pipeline": lambda: make_pipeline(StandardScaler(), Ridge()),
    "base": BaseEstimator,
}  # fmt: skip
CODES = MIXED.assign(town=MIXED["town"].map({"Rome": 0, "Oslo": 1, "Paris": 2}))
PLAIN = partial(LimeTabularExplainer, X, mode="regression", random_state=0)
EXPLAINERS: dict[str, Callable[[], Any]] = {
    "plain": PLAIN,
    "deciles": partial(PLAIN, discretizer="decile"),
    "entropy": partial(PLAIN, discretizer="entropy", training_labels=Y > 0),
    "named": partial(PLAIN, feature_names=["a", "b", "c"]),
    "classes": lambda: LimeTabularExplainer(X, mode="classification", random_state=0),
    "mixed": lambda: LimeTabularExplainer(
        CODES.to_numpy(float), feature_names=list(CODES), categorical_features=[1, 2],
        mode="regression",
    ),
    "constant": lambda: LimeTabularExplainer(CONSTANT, mode="regression"),
    "tied": lambda: LimeTabularExplainer(TIED, mode="regression"),
    "narrow": partial(PLAIN, kernel_width=1e-3),
    "wide": partial(PLAIN, kernel_width=1e80),
    "negative": partial(PLAIN, kernel_width=-1.0),
    "infinite": partial(PLAIN, kernel_width=inf),
    "no width": partial(PLAIN, kernel_width=0.0),
    "own kernel": partial(PLAIN, kernel=lambda d, kernel_width: 1 / (1 + d)),
    "around": partial(PLAIN, sample_around_instance=True),
    "continuous": partial(PLAIN, discretize_continuous=False),
    "too many names": partial(PLAIN, feature_names=["a", "b", "c", "d"]),
    "nan": lambda: LimeTabularExplainer(np.where(X > 1, nan, X), mode="regression"),
    "empty": lambda: SimpleNamespace(
        discretizer=None, feature_values=None, feature_frequencies=None, feature_names=None,
        base=None, mode=None, sample_around_instance=False,
    ),
    "hollow": lambda: SimpleNamespace(
        discretizer=SimpleNamespace(), feature_values={}, feature_frequencies={},
        feature_names=[], base=SimpleNamespace(), mode="regression",
        sample_around_instance=False,
    ),
}  # fmt: skip
TEXTS, SENTIMENTS = ["a good film", "good music", "bad plot", "a bad end"], [1, 1, 0, 0]
SWITCHED: dict[str, Callable[[], Any]] = {
    "texts": partial(LimeTextExplainer, random_state=0),
    "images": partial(LimeImageExplainer, random_state=0),
    "images without a width": partial(LimeImageExplainer, kernel_width=0, random_state=0),
    "counts": lambda: make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, SENTIMENTS),
    "shares": lambda: make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, SENTIMENTS),
}


def made(recipes: dict[str, Callable[[], Any]]) -> Callable[[str], Any]:
    @cache
    def once(name: str) -> Any:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return recipes[name]()

    return once


model, lime, switched = made(ESTIMATORS), made(EXPLAINERS), made(SWITCHED)

IMAGE = RNG.random((9, 9, 3))
SEGMENTS = np.add.outer(np.arange(9) // 3 * 3, np.arange(9) // 3)


def g_sum(z: Any) -> Any:
    return np.asarray(z, float).sum(axis=1)


def g_changes(z: Any) -> Any:
    y = g_sum(z)
    z[:] = True
    return y


def t_two(texts: Any) -> Any:
    return np.array([[0.5 - 0.1 * ("good" in t), 0.5 + 0.1 * ("good" in t)] for t in texts])


def t_length(texts: Any) -> Any:
    return np.array([float(len(t)) for t in texts])


def i_mean(images: Any) -> Any:
    grey = np.asarray(images).mean(axis=(1, 2, 3))
    return np.stack([grey, 1 - grey], axis=1)


def draw(fig: Any, nu: Any) -> str:
    fig.subplots().plot([0.0, 1.0], [0.0, float(nu)])
    return f"The line ends at {nu}."


def read_pools(text: str) -> dict[str, tuple[list[str], list[str]]]:
    """Usual and odd values of odd_values.txt, by argument."""
    pools: dict[str, tuple[list[str], list[str]]] = {}
    for section in re.split(r"(?m)^== ", text)[1:]:
        names, _, values = section.partition("\n")
        usual, _, odd = values.partition("\nodd")
        like = re.match(r" like (.*)", odd)
        both = [[v for v in re.split(r" \| |\n", part) if v] for part in (usual, odd)]
        pools |= dict.fromkeys(names.split(", "), (both[0], pools[like[1]][1] if like else both[1]))
    return pools


def read_calls(text: str) -> Iterator[tuple[int, str, dict[str, str], str]]:
    """How often, a function, the pools of arguments that it always gets, and which others it may."""
    for weight, function, always, options in re.findall(
        r"(?m)^(\d+) ([\w.]+) \((.*)\) ?(.*)$", text
    ):
        yield int(weight), function, dict(re.findall(r"(\w+)=([^,]+)", always)), options


FILES = [Path(__file__).with_name(name) for name in ("odd_values.txt", "odd_calls.txt")]
VALUES, CALLED = (path.read_text(encoding="utf-8") for path in FILES)
POOLS, CALLS = read_pools(VALUES), tuple(read_calls(CALLED))

# so that a call takes a moment, and says the same every time
CHEAP = {
    "explain": {"seed": "0"},
    "limit": {"samples": "2000"},
    "samples_needed": {"pilot": "2000"},
    "repeat": {"n": "500", "runs": "3"},
    "limits": {"samples": "500"},
    "explain_many": {"n": "200"},
    "path": {"samples": "1000"},
    "predict_lime": {"calls": "1000", "runs": "10"},
}


@dataclass(frozen=True)
class OddCall:
    """One call: what it is drawn from, and its source."""

    seed: int
    index: int
    source: str

    def __call__(self) -> Any:
        return eval(self.source, globals())


def odd_call(seed: int, index: int) -> OddCall:
    """The call number ``index`` of a seed, whatever the others are."""
    chance = random.Random(f"{seed}/{index}")
    (call,) = chance.choices(CALLS, [weight for weight, *_ in CALLS])
    return OddCall(
        seed, index, _source(chance, call, chance.choice((0, 0, 0, 0, 0, 1, 1, 1, 2, 3)))
    )


def odd_calls(seed: int, count: int) -> Iterator[OddCall]:
    """The first calls of a seed."""
    return (odd_call(seed, index) for index in range(count))


def _source(chance: random.Random, call: Any, odd: int, *, bare: bool = False) -> str:
    """The source of a call with that many odd arguments, and at times a look at what it returns."""
    _, function, always, options = call
    parameters = inspect.signature(eval(f"lt.{function}")).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    needed = [p.name for p in named if p.default is p.empty]
    places = [p.name for p in named if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]
    others = [p.name for p in named] if options == "all" else options.split()
    given = list(dict.fromkeys([*needed, *always]))
    pools = {name: f"{function} {name}" for name in (*given, *others)}
    pools = {name: pool if pool in POOLS else name for name, pool in pools.items()} | always
    free = [name for name in others if name not in given and pools[name] in POOLS]
    given += [name for name in free if chance.random() < 0.3]
    strange = set(chance.sample(given, min(odd, len(given))))
    arguments = {name: _value(chance, pools[name], name in strange) for name in given}
    arguments = CHEAP.get(function, {}) | arguments
    if "segmentation_fn" in options:
        arguments.setdefault("segmentation_fn", "SEGMENTS")
    texts = [arguments.pop(name) for name in places]
    texts += [f"{name}={text}" for name, text in arguments.items()]
    source = f"lt.{function}({', '.join(texts)})"
    after = f"after {function.split('.')[-1]}"
    if after in POOLS and not bare and chance.random() < 0.4:
        then = chance.choice(POOLS[after][0])
        for pool in re.findall(r"{(\w+)}", then):
            then = then.replace(f"{{{pool}}}", _value(chance, pool, chance.random() < 0.4))
        source += then
    return source


def _value(chance: random.Random, pool: str, strange: bool) -> str:
    usual, odd = POOLS[pool]
    anything = POOLS["anything"][0]
    value = chance.choice(usual if not strange else odd if chance.random() < 0.7 else anything)
    if value == "{exercises}":
        return repr(chance.choice(sorted(exercises())))
    if value in ("{explain}", "{limit}"):
        call = chance.choice([call for call in CALLS if call[1] == value.strip("{}")])
        return _source(chance, call, chance.choice((0, 0, 1)), bare=True)
    return value.replace("{{", "{").replace("}}", "}")
