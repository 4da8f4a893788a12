"""Odd calls of everything public, drawn by chance and written as Python.

``odd_calls(seed, count)`` gives calls that start from arguments that work and put odd ones in the
place of some: nan, text, dates, ragged lists, masked, sparse and nullable tables, frames in another
order, functions that return nonsense, estimators that were never fitted. A call is its source, so
that whoever wants to see one again pastes it behind ``from odd_calls import *``.
"""

# ruff: noqa: F401 - calls are source, and find these names here
from __future__ import annotations

import datetime
import random
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt
from limetutor import masks
from limetutor.columns import Category, Number

try:
    import polars as pl
except ImportError:  # pragma: no cover
    pl = None

nan, inf = float("nan"), float("inf")

# --- tables ---------------------------------------------------------------------------------------

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

# --- functions as f -------------------------------------------------------------------------------


class OwnError(Exception):
    """What a caller's own function raises: it has to arrive as it is."""


def f_sum(x: Any) -> Any:
    return np.asarray(x, float).sum(axis=1)


def f_first(x: Any) -> Any:
    return np.asarray(x)[:, 0].astype(float)


def f_frame(x: Any) -> Any:
    return x["size"].to_numpy() + 2.0 * (x["town"] == "Rome").to_numpy() + x["rooms"].to_numpy()


def f_two(x: Any) -> Any:
    return np.stack([f_first(x), -f_first(x)], axis=1)


def f_column(x: Any) -> Any:
    return f_first(x)[:, None]


def f_series(x: Any) -> Any:
    return pd.Series(f_first(x), index=range(5, 5 + len(x)))


def f_list(x: Any) -> Any:
    return list(f_first(x))


def f_constant(x: Any) -> Any:
    return np.full(len(x), 3.0)


def f_bool(x: Any) -> Any:
    return f_first(x) > 0


def f_nan(x: Any) -> Any:
    return np.full(len(x), nan)


def f_nan_for_some(x: Any) -> Any:
    return np.where(f_first(x) > 0.5, nan, 1.0)


def f_inf(x: Any) -> Any:
    return np.full(len(x), -inf)


def f_large(x: Any) -> Any:
    return np.where(f_first(x) > 0.5, 1e300, -1e300)


def f_steps(x: Any) -> Any:
    return np.where(f_first(x) > 2, 1e18, f_first(x))


def f_tiny(x: Any) -> Any:
    return 1e-300 * f_first(x)


def f_scalar(x: Any) -> Any:
    return 1.0


def f_none(x: Any) -> Any:
    return None


def f_short(x: Any) -> Any:
    return f_first(x)[:-1]


def f_long(x: Any) -> Any:
    return np.zeros(len(x) + 1)


def f_turned(x: Any) -> Any:
    return np.stack([f_first(x)] * 2)


def f_deep(x: Any) -> Any:
    return np.zeros((len(x), 1, 1))


def f_text(x: Any) -> Any:
    return ["yes"] * len(x)


def f_complex(x: Any) -> Any:
    return f_first(x) * 1j


def f_dates(x: Any) -> Any:
    return np.full(len(x), np.datetime64("2020-01-01"))


def f_masked(x: Any) -> Any:
    return np.ma.masked_array(f_first(x), f_first(x) > 0)


def f_sparse(x: Any) -> Any:
    return sparse.csr_matrix(f_first(x)[:, None])


def f_objects(x: Any) -> Any:
    return np.array([object()] * len(x), dtype=object)


def f_ragged(x: Any) -> Any:
    return [[1.0], *([[1.0, 2.0]] * (len(x) - 1))]


def f_huge_integers(x: Any) -> Any:
    return [10**400] * len(x)


def f_changes(x: Any) -> Any:
    y = f_first(x)
    x[:] = 0.0
    return y


def f_raises(x: Any) -> Any:
    raise OwnError("the caller's own")


def f_raises_late(x: Any) -> Any:
    if len(x) > 1:
        raise OwnError("the caller's own, in the middle")
    return f_first(x)


def f_no_argument() -> Any:
    return 0.0


class Callable3:
    """An object that is called."""

    def __call__(self, x: Any) -> Any:
        return f_sum(x)

    def method(self, x: Any) -> Any:
        return f_sum(x)


class OddModel:
    """An estimator by its looks alone."""

    classes_ = None
    n_features_in_ = "three"
    feature_names_in_ = ("a", "b", "c")

    def predict(self, x: Any) -> Any:
        return f_sum(x)


class ProbabilityOnly:
    """Has predict_proba, but no classes."""

    def predict_proba(self, x: Any) -> Any:
        return f_two(x)


class Broken:
    """Nothing about it works."""

    def __repr__(self) -> str:
        raise OwnError("no repr")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise OwnError("no array")

    def __float__(self) -> float:
        raise OwnError("no float")

    def __eq__(self, other: object) -> bool:
        raise OwnError("no equality")

    __hash__ = None  # type: ignore[assignment]


class Lengthy:
    """A repr of many lines."""

    def __repr__(self) -> str:
        return "line\n" * 500


# --- kernels --------------------------------------------------------------------------------------


def k_flat(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.ones(len(x))


def gaussian(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.exp(-np.sum((x - xi) ** 2, axis=1) / (2 * nu**2))


def k_tiny(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.full(len(x), 5e-324)


def k_large(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.where(z[:, 0], 1.7e308, 1.0)


def k_bool(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return z[:, 0]


def k_zero(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.zeros(len(x))


def k_one_row(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.arange(len(x)) == 0


def k_negative(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return -np.ones(len(x))


def k_nan(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.full(len(x), nan)


def k_short(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.ones(3)


def k_text(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return ["a"] * len(x)


def k_changes(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    x[:], z[:], xi[:] = 0.0, True, 9.0
    return np.ones(len(x))


def k_raises(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    raise OwnError("the caller's own kernel")


def k_two_arguments(x: Any, nu: Any) -> Any:
    return np.ones(len(x))


def k_none(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return None


# --- estimators -----------------------------------------------------------------------------------


@cache
def model(name: str) -> Any:
    """An estimator by name, made once."""
    labels = np.array(["no", "yes"])[(Y > 0).astype(int)]
    text = make_pipeline(
        ColumnTransformer([("town", OneHotEncoder(), ["town"])], remainder="passthrough"),
        LinearRegression(),
    )
    made: dict[str, Callable[[], Any]] = {
        "linear": lambda: LinearRegression().fit(X, Y),
        "linear on a frame": lambda: LinearRegression().fit(FRAME, Y),
        "linear in another order": lambda: LinearRegression().fit(FRAME[["c", "a", "b"]], Y),
        "linear on other columns": lambda: LinearRegression().fit(FRAME[["a", "b"]], Y),
        "linear of two outputs": lambda: LinearRegression().fit(X, np.stack([Y, -Y], axis=1)),
        "ridge on one column": lambda: Ridge().fit(X[:, :1], Y),
        "tree": lambda: DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, Y),
        "forest of classes": lambda: RandomForestClassifier(5, random_state=0).fit(X, labels),
        "boosting": lambda: GradientBoostingRegressor(n_estimators=8, random_state=0).fit(X, Y),
        "logistic": lambda: LogisticRegression().fit(X, labels),
        "logistic of numbers": lambda: LogisticRegression().fit(X, (Y > 0).astype(int)),
        "kernel ridge": lambda: KernelRidge(kernel="rbf", gamma=0.2).fit(X, Y),
        "kernel ridge of a polynomial": lambda: KernelRidge(kernel="poly").fit(X, Y),
        "kernel ridge on a sparse table": lambda: KernelRidge(kernel="rbf").fit(
            sparse.csr_matrix(X), Y
        ),
        "svr": lambda: SVR().fit(X, Y),
        "svr on a sparse table": lambda: SVR().fit(sparse.csr_matrix(X), Y),
        "svc": lambda: SVC().fit(X, labels),
        "net": lambda: MLPRegressor(hidden_layer_sizes=(4,), max_iter=20, random_state=0).fit(X, Y),
        "pipeline": lambda: make_pipeline(StandardScaler(), Ridge()).fit(X, Y),
        "pipeline with passthrough": lambda: make_pipeline("passthrough", Ridge()).fit(X, Y),
        "pipeline to passthrough": lambda: make_pipeline(StandardScaler(), "passthrough").fit(X, Y),
        "text pipeline": lambda: text.fit(MIXED, Y),
        "unfitted": LinearRegression,
        "unfitted tree": DecisionTreeRegressor,
        "unfitted pipeline": lambda: make_pipeline(StandardScaler(), Ridge()),
        "base": BaseEstimator,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made[name]()


ANY_MODEL = (
    "linear",
    "linear on a frame",
    "linear in another order",
    "linear on other columns",
    "linear of two outputs",
    "ridge on one column",
    "tree",
    "forest of classes",
    "boosting",
    "logistic",
    "logistic of numbers",
    "kernel ridge",
    "kernel ridge of a polynomial",
    "kernel ridge on a sparse table",
    "svr",
    "svr on a sparse table",
    "svc",
    "net",
    "pipeline",
    "pipeline with passthrough",
    "pipeline to passthrough",
    "text pipeline",
    "unfitted",
    "unfitted tree",
    "unfitted pipeline",
    "base",
)

# --- explainers of lime ---------------------------------------------------------------------------


@cache
def lime(name: str) -> Any:
    """A `lime` explainer by name, made once."""
    from lime.lime_tabular import LimeTabularExplainer

    codes = MIXED.assign(town=MIXED["town"].map({"Rome": 0, "Oslo": 1, "Paris": 2}))
    wide = {"feature_names": ["a", "b", "c", "d"]}
    plain = partial(LimeTabularExplainer, X, mode="regression", random_state=0)
    made: dict[str, Callable[[], Any]] = {
        "plain": plain,
        "deciles": partial(plain, discretizer="decile"),
        "entropy": partial(plain, discretizer="entropy", training_labels=Y > 0),
        "named": partial(plain, feature_names=["a", "b", "c"]),
        "classes": lambda: LimeTabularExplainer(X, mode="classification", random_state=0),
        "mixed": lambda: LimeTabularExplainer(
            codes.to_numpy(float), feature_names=list(codes), categorical_features=[1, 2],
            mode="regression",
        ),
        "constant": lambda: LimeTabularExplainer(CONSTANT, mode="regression"),
        "tied": lambda: LimeTabularExplainer(TIED, mode="regression"),
        "narrow": partial(plain, kernel_width=1e-3),
        "wide": partial(plain, kernel_width=1e80),
        "negative": partial(plain, kernel_width=-1.0),
        "infinite": partial(plain, kernel_width=inf),
        "no width": partial(plain, kernel_width=0.0),
        "own kernel": partial(plain, kernel=lambda d, kernel_width: 1 / (1 + d)),
        "around": partial(plain, sample_around_instance=True),
        "continuous": partial(plain, discretize_continuous=False),
        "too many names": partial(plain, **wide),
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            return made[name]()


ANY_LIME = (
    "plain,deciles,entropy,named,classes,mixed,constant,tied,narrow,wide,negative,infinite,around,"
    "continuous,nan,empty,hollow,no width,own kernel,too many names"
).split(",")


# --- switches: functions of masks, texts, images -----------------------------------------------------


def g_sum(z: Any) -> Any:
    return np.asarray(z, float).sum(axis=1)


def g_rule(z: Any) -> Any:
    return z[:, 0] & z[:, -1]


def g_large(z: Any) -> Any:
    return 1e300 * z[:, 0]


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


TEXTS = ["a good film", "good music", "bad plot", "a bad end"]
IMAGE = RNG.random((9, 9, 3))
SEGMENTS = np.add.outer(np.arange(9) // 3 * 3, np.arange(9) // 3)


@cache
def switched(name: str) -> Any:
    """An explainer of `lime` for texts or images, or a model of texts, by name."""
    from lime.lime_image import LimeImageExplainer
    from lime.lime_text import LimeTextExplainer
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    def pipeline(reader: Any) -> Any:
        return make_pipeline(reader, LogisticRegression()).fit(TEXTS, [1, 1, 0, 0])

    made: dict[str, Callable[[], Any]] = {
        "texts": partial(LimeTextExplainer, random_state=0),
        "images": partial(LimeImageExplainer, random_state=0),
        "images without a width": partial(LimeImageExplainer, kernel_width=0, random_state=0),
        "counts": lambda: pipeline(CountVectorizer()),
        "shares": lambda: pipeline(TfidfVectorizer()),
    }
    return made[name]()


# --- figures --------------------------------------------------------------------------------------


def draw(fig: Any, nu: Any) -> str:
    fig.subplots().plot([0.0, 1.0], [0.0, float(nu)])
    return f"The line ends at {nu}."


def draw_nothing(fig: Any, nu: Any) -> Any:
    return None


def draw_raises(fig: Any, nu: Any) -> Any:
    raise OwnError("the caller's own picture")


def draw_other(fig: Any, width: Any) -> str:
    return "Another argument."


# --- values, as source ----------------------------------------------------------------------------

ODD = """
None | nan | inf | -inf | -0.0 | 0 | 1 | -1 | 0.5 | 1e-300 | 5e-324 | 1e300 | 1.7e308 | 10**400
-10**400 | 2**63 | 2**64 | 10**30 | True | False | 'abc' | '1' | '' | b'1' | 1j | 1 + 0j | ...
np.float64(nan) | np.bool_(True) | np.float32(0.5) | np.float16(0.5) | np.int8(3) | np.longdouble(1)
np.array(1.0) | np.array([1.0]) | np.array([]) | np.array('1') | np.str_('1') | [] | [[]] | {} | ()
set() | {1.0} | range(3) | [1, [2, 3]] | [None] | ['a'] | [nan] | [1j] | [True, False] | [[1.0]]
pd.NA | pd.NaT | pd.Timestamp('2020-01-01') | datetime.date(2020, 1, 1) | np.datetime64('2020-01-01')
datetime.timedelta(1) | np.timedelta64(1, 'D') | np.timedelta64('NaT') | Decimal('0.5')
Decimal('NaN') | Decimal('sNaN') | Fraction(1, 3) | object() | len | float | lt | lambda x: x
np.ma.masked | np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]) | np.ma.masked_array(1.0, True)
np.ma.masked_array([1.0, 2.0, 3.0]) | sparse.csr_matrix([[1.0, 2.0, 3.0]]) | sparse.coo_array([1.0])
pd.Series([1.0]) | pd.Series([], dtype=float) | pd.DataFrame() | pd.DataFrame({'a': [1.0]})
pd.array([1, None], dtype='Int64') | pd.Series(['x', 'y']) | pd.Categorical(['u', 'v', 'w'])
pd.interval_range(0, 3) | (v for v in [1.0, 2.0]) | iter([1.0]) | slice(1) | Exception | Lengthy()
Broken() | [Broken()] | 'x' * 10_000 | [0.0] * 1000 | np.zeros((1, 1, 1)) | np.zeros((2, 0)) | np.zeros((0, 3))
np.array([(1, 2.0)], dtype=[('u', int), ('v', float)]) | np.array([object()]) | memoryview(b'abc')
bytearray(b'abc') | FRAME | X | Y | lt.Gaussian() | lt.Linear([1.0]) | model('linear')
np.random.default_rng(0) | np.array(['2020-01-01'], dtype='M8[D]') | np.array([1, 'a'], dtype=object)
pl.DataFrame({'a': [1.0]}) | pl.Series([1.0, 2.0]) | pl.Series('a', [None]) | pl.col('a')
"""

XI = """
[0.1, 0.9, -3.0] | (0.1, 0.9, -3.0) | np.array([0.1, 0.9, -3.0]) | X[0] | X[:1] | X[0].tolist()
FRAME.iloc[0] | FRAME.iloc[[0]] | FRAME.iloc[0].to_dict() | FRAME[['c', 'a', 'b']].iloc[[3]]
FRAME[['c', 'a', 'b']].iloc[3] | {'b': 0.9, 'c': -3.0, 'a': 0.1} | np.array([0.1, 0.9, -3.0], object)
np.float32([0.1, 0.9, -3.0]) | [1, 0, -3] | [True, False, True] | [-0.0, 0.0, -0.0]
[Decimal('0.1'), Fraction(9, 10), -3] | pd.Series([0.1, 0.9, -3.0]) | NULLABLE.iloc[0]
NULLABLE.iloc[[0]] | pl.DataFrame({'a': [0.1], 'b': [0.9], 'c': [-3.0]}) | pl.from_pandas(FRAME)[0]
pl.DataFrame({'c': [-3.0], 'b': [0.9], 'a': [0.1]}).row(0) | ROW_MATRIX
pl.Series([0.1, 0.9, -3.0]) | FRAME.head(1).values.ravel() | {'a': [0.1], 'b': [0.9], 'c': [-3.0]}
"""

ODD_XI = """
[0.1, nan, 1.0] | [inf, 0, 0] | [1e300, 0.0, 0.0] | [-1e300, 1e300, 0] | [1e-300] * 3 | [10**400, 0, 0]
['a', 'b', 'c'] | ['0.1', '0.2', '0.3'] | [b'1', 2, 3] | [1j, 0, 0] | [None, 1, 2] | [0.1, [0.2, 0.3], 1]
[0.1] | [0.1, 0.2] | [0.1] * 4 | X[:2] | X[0][:, None] | FRAME.head(2) | FRAME.iloc[[0]].rename(columns={'a': 'q'})
FRAME.iloc[0].rename({'a': 'q'}) | {'a': 0.1, 'b': 0.9} | {'a': 0.1, 'b': 0.9, 'c': 1, 'd': 2} | TWICE.iloc[[0]]
FRAME.iloc[[0]].assign(d=1.0) | GAPS.iloc[7] | GAPS.iloc[[7]] | DATES.iloc[0] | DATES.iloc[[0]] | MULTI.iloc[0]
MULTI.iloc[[0]] | INDEXED.iloc[0] | CATEGORIES.iloc[0] | CATEGORIES.iloc[[0]] | sparse.csr_matrix(X[:1])
sparse.csr_matrix(X[:2]) | np.ma.masked_array(X[0], [0, 1, 0]) | np.ma.masked_array(X[0]) | [pd.NA, 1, 2]
[pd.NaT, 1, 2] | [datetime.date(2020, 1, 1), 1, 2] | [object(), 1, 2] | [Broken(), 1, 2] | [{}, 1, 2]
{'a': None, 'b': 1, 'c': 2} | {'a': [0.1, 0.2], 'b': [1, 2], 'c': [1, 2]} | {1: 0.1, 2: 0.9, 3: 1}
pl.DataFrame({'a': ['x'], 'b': [0.9], 'c': [-3.0]}) | pl.DataFrame({'a': [None], 'b': [0.9], 'c': [-3.0]})
pl.from_pandas(FRAME) | pl.from_pandas(FRAME).lazy() | [np.array([0.1]), 1.0, 2.0] | [[[0.1, 0.9, -3.0]]] | 'abc'
[0.1, 'Rome', 1] | MIXED.iloc[0] | [9.9, 0, 0] | [0.1, np.ma.masked, 2] | [np.float64(nan), 1, 2] | np.zeros(3, 'M8[D]')
"""

MIXED_XI = """
MIXED.iloc[0] | MIXED.iloc[[0]] | MIXED.iloc[0].to_dict() | [0.1, 'Rome', 1] | np.array([0.1, 'Oslo', 5], object)
MIXED[['rooms', 'town', 'size']].iloc[[1]] | {'town': 'Paris', 'rooms': 3, 'size': 0.0} | pl.from_pandas(MIXED)[0]
MIXED.astype({'town': 'category'}).iloc[[0]] | MIXED.convert_dtypes().iloc[[0]] | [0.1, np.str_('Rome'), 1.0]
"""

ODD_MIXED_XI = """
[0.1, 'Berlin', 1] | [0.1, 1, 1] | [0.1, None, 1] | [0.1, 'Rome', 4] | ['0.1', 'Rome', 1] | [0.1, b'Rome', 1]
[0.1, ['Rome'], 1] | [0.1, {'Rome'}, 1] | [0.1, pd.NA, 1] | [0.1, nan, 1] | [0.1, 'Rome', nan] | [0.1, 'Rome', '1']
[0.1, 'Rome', pd.NaT] | MIXED.iloc[:2] | [0.1, 'Rome'] | [nan, 'Rome', 1] | [0.1, Broken(), 1] | [0.1, 'Rome', Broken()]
MIXED.iloc[[0]].assign(town=None) | [0.1, 'Rome', 10**400] | [0.1, 'Rome', True] | [0.1, 'Rome', 1 + 0j] | [0.1, object(), 1]
"""

WORLDS = """
lt.Gaussian() | lt.Gaussian(0.5, 2.0, 3) | lt.Gaussian([0, 1, -3], [1, 2, 0.5], [4, 3, 5])
lt.Gaussian([0, 1, -3], [1, 2, 0.5], names=['a', 'b', 'c']) | lt.Gaussian.from_data(FRAME) | lt.Gaussian.from_data(X)
lt.Empirical(X) | lt.Empirical(FRAME) | lt.Empirical(FRAME, p=[2, 3, 7]) | lt.Empirical(NAMELESS) | lt.Empirical(TIED)
lt.Empirical(CONSTANT) | lt.Empirical(ALL_CONSTANT) | lt.Empirical(NULLABLE) | lt.Empirical(pl.from_pandas(FRAME))
lt.Empirical(X, edges={0: [0.0, 1.0], 'x3': [-3.0]}) | lt.Empirical(X, edges={0: [50.0]}) | lt.from_lime(lime('plain'))
lt.Empirical(TIED, categorical=[0, 1]) | lt.from_lime(lime('constant')) | lt.from_lime(lime('tied')) | lt.Empirical(X.tolist())
lt.Gaussian(1e6, 1e-3) | lt.Gaussian(0, 1e100) | lt.Gaussian(0, 1e-100) | lt.Gaussian(p=500) | lt.Gaussian(p=[2, 50, 2])
lt.Empirical(X * 1e90) | lt.Empirical(X * 1e-90) | lt.Empirical(X + 1e15) | lt.Empirical(X, p=60)
"""

ODD_WORLDS = """
lt.Gaussian | lt.Empirical | X | FRAME | lime('plain') | lt.Gaussian([0, 0]) | lt.Empirical(X[:, :2]) | lt.Empirical(FRAME.rename(columns={'a': 'q'}))
lt.Gaussian(0, 1e308) | lt.Gaussian(1e308, 1.0) | lt.Gaussian(1e300, 1e299) | lt.Gaussian(0, 5e-324) | lt.Empirical(X * 1e300)
lt.Empirical(np.vstack([X, [[1e308] * 3], [[-1e308] * 3]])) | lt.Gaussian(0, [1e-200, 1.0, 1e200]) | lt.Empirical(X * 5e-320)
"""

MIXED_WORLDS = """
lt.Empirical(MIXED, categorical=['town', 'rooms']) | lt.Empirical(MIXED, categorical='town') | lt.Empirical(MIXED, categorical=[1])
lt.Empirical(MIXED.astype({'town': 'category'}), categorical=['town']) | lt.Empirical(MIXED.astype({'town': 'string'}), categorical=[1, 2])
lt.Empirical(pl.from_pandas(MIXED), categorical=['town']) | lt.Empirical(MIXED.to_numpy(), categorical=[1])
"""

TABLES = """
X | FRAME | NAMELESS | X.tolist() | NULLABLE | CONSTANT | ALL_CONSTANT | TIED | FRAME[['c', 'a', 'b']] | pl.from_pandas(FRAME) | X.astype('f4')
X.astype(object) | np.asfortranarray(X) | X[::-1] | MATRIX | X > 0 | FRAME.astype('float32') | FRAME.to_numpy()[:, ::-1] | FRAME.iloc[::2]
"""

ODD_TABLES = """
MIXED | CATEGORIES | GAPS | TWICE | DATES | INDEXED | MULTI | BYTES | X[0] | X[:1] | X[:2] | X[:, :0] | X[:0] | X[None] | FRAME.iloc[:0] | FRAME.iloc[:, :0]
np.where(X > 1, nan, X) | np.where(X > 1, inf, X) | X * 1j | X.astype(str) | [[1, 2], [3]] | [[1, 2, 3], [4, 5, 'a']] | sparse.csr_matrix(X)
np.ma.masked_array(X, X > 1) | np.ma.masked_array(X) | X * 1e300 | X * 1e-320 | {'a': [1.0, 2.0], 'b': [3.0, 4.0]} | FRAME['a'] | [FRAME] | [[10**400] * 3] * 9
pl.from_pandas(FRAME).lazy() | pl.DataFrame({'a': ['x', 'y'] * 9}) | pl.DataFrame({'a': [1.0, None] * 9}) | pl.DataFrame() | FRAME.T | 'table.csv'
FRAME.rename(columns={'a': 'q'}) | FRAME.assign(d=1.0) | FRAME[['a', 'b']] | FRAME.assign(a='x') | FRAME.assign(a=None) | FRAME.assign(a=object())
X.astype('m8[s]') | [Broken()] * 5 | [[Broken(), 1.0]] * 5 | FRAME.assign(a=pd.interval_range(0, 60)) | FRAME.assign(a=[[1]] * 60) | np.array([[b'1'] * 3] * 9)
FRAME.astype({'a': 'Sparse[float]'}) | X.view([('u', float)]) | FRAME.assign(a=pd.period_range('2020', periods=60, freq='D')) | np.zeros((5, 3), 'M8[D]')
FRAME.assign(a=1j) | [pd.NA] * 3 | [[pd.NA, 1, 2]] * 6 | [list('abc')] * 6 | np.full((9, 3), pd.NaT, object) | FRAME.assign(a=pd.Timedelta(1, 's'))
"""

MODELS = """
lt.Linear([1.0, -2.0, 0.5], 0.3) | lt.Linear([0, 0, 0]) | lt.Linear([1e-300, 1.0, 1e10]) | lt.Quadratic(np.eye(3), [1, 0, 2], 1.0) | f_sum | f_first
lt.Linear([10.0, -10.0, 0.0]) | f_column | f_series | f_list | f_constant | f_bool | f_changes | Callable3() | Callable3().method | f_tiny | f_steps
model('linear') | model('tree') | model('kernel ridge') | model('boosting') | model('pipeline') | model('net') | model('svr') | model('linear').predict
"""

ODD_MODELS = """
f_nan | f_nan_for_some | f_inf | f_large | f_scalar | f_none | f_short | f_long | f_turned | f_deep | f_text | f_complex | f_dates | f_masked | f_sparse
f_objects | f_ragged | f_huge_integers | f_raises | f_raises_late | f_no_argument | f_two | OddModel() | ProbabilityOnly() | lt.Linear([1.0, 2.0])
lt.Linear([1e300] * 3) | lt.Linear([1e308] * 3) | lt.Quadratic(np.eye(2)) | lt.Quadratic(np.full((3, 3), 1e200)) | LinearRegression | np.linalg.norm | 3
partial(f_sum) | lambda x: x[:, 5] | lambda x: x.missing | lambda x: np.exp(3 * x[:, 0]) | lambda x: x | lambda x: {'y': 1} | lt.Linear | Broken()
""" + " | ".join(f"model({name!r})" for name in ANY_MODEL)

MIXED_MODELS = "f_frame | model('text pipeline') | lambda x: x['size'].to_numpy() | f_constant"

KERNELS = "'gaussian' | 'gaussian' | 'laplace' | 'mismatch' | 'mismatch' | 'cosine' | k_flat | gaussian | k_bool | k_tiny | k_large | k_changes"
ODD_KERNELS = "'rbf' | k_zero | k_negative | k_nan | k_short | k_text | k_raises | k_none | k_two_arguments | k_one_row | 'Gaussian' | ['gaussian'] | {'gaussian'}"
SAMPLERS = "'bins' | 'gaussian' | 'tilted' | 'sobol' | 'sobol'"
NUS = "1.0 | 0.53 | 2 | 0.3 | 10.0 | np.float64(0.9) | 1e3"
ODD_NUS = "0.02 | 0.1 | 50 | 0.01 | 1e-5 | 1e-100 | 1e-99 | 1e100 | 1e-101 | 1e101 | 1e50 | 1e-50 | [1.0] | [1.0, 2.0, 3.0] | '1' | 0.05 | 1e-8 | 1e20"
SIZES = "300 | 700 | 1000.0 | np.int64(500) | 2000"
ODD_SIZES = "5 | 6 | 4 | 2.5 | 0 | -7 | 10**13 | 1e13 | 1e300 | '500' | np.float64(50) | Fraction(100) | Decimal(100) | 17"
SEEDS = "0 | 1 | np.int64(7) | 2**70 | np.random.default_rng(3)"
ODD_SEEDS = "-1 | 1.0 | '0' | [1, 2] | np.random.RandomState(0) | np.random.SeedSequence(1) | 10**400 | True"
PENALTIES = "0.0 | 0 | 1.0 | 0.1 | -0.0"
ODD_PENALTIES = "1e-9 | 1e9 | 1e-300 | 1e300 | 1e12 | -1 | 5e-324 | 1.7e308 | [1.0]"
OUTPUTS = "None"
ODD_OUTPUTS = "0 | 1 | 2 | -1 | 'yes' | 'no' | 1.0 | True | [0] | nan | np.int64(1) | 10**400 | 'abc' | FRAME | slice(1)"
FEATURES = "None | 1 | 2 | 3 | 2.0"
ODD_FEATURES = "0 | 10 | 10**12 | -1 | 1.5 | 'a'"

# what may stand in the place of each argument: usually, and at times
POOLS = {
    "xi": (XI, ODD_XI),
    "mixed xi": (MIXED_XI, ODD_MIXED_XI),
    "world": (WORLDS, ODD_WORLDS),
    "mixed world": (MIXED_WORLDS, ODD_WORLDS),
    "X": (TABLES, ODD_TABLES),
    "f": (MODELS, ODD_MODELS),
    "mixed f": (MIXED_MODELS, ODD_MODELS),
    "kernel": (KERNELS, ODD_KERNELS),
    "sampler": (SAMPLERS, "'Bins' | 'random' | len"),
    "nu": (NUS, ODD_NUS),
    "nus": ("[0.3, 1.0] | [1.0] | np.geomspace(0.1, 5, 4) | 0.7 | (1, 2)", ODD_NUS),
    "n": (SIZES, ODD_SIZES),
    "runs": ("2 | 3 | 4.0", "1 | 0 | -1 | 2.5 | 10**13 | '3'"),
    "seed": (SEEDS, ODD_SEEDS),
    "ridge": (PENALTIES, ODD_PENALTIES),
    "lasso": ("0.0 | 0.1 | 0", ODD_PENALTIES),
    "output": (OUTPUTS, ODD_OUTPUTS),
    "features": (FEATURES, ODD_FEATURES),
    "select": ("'auto' | 'highest' | 'forward'", "'lars' | 'AUTO' | ['auto']"),
    "keep": ("True | False | np.bool_(True)", "1 | 'yes' | None"),
    "scrambles": ("None | 1 | 2 | 4", "0 | -1 | 2.5 | 65 | 10**9 | '2' | True | [2] | nan"),
    "adjust": ("True | False | np.bool_(True)", "1 | 'yes' | None | [True]"),
    "tol": ("None | 0.1 | 5", "0 | -1 | nan | '0.1' | [0.1] | 1e-300 | 1e300 | inf"),
    "rtol": ("None | None | 0.2", "0 | -0.1 | nan | 'a' | [0.1] | 1e-300 | 1e300"),
    "eps": ("1.0 | 0.1 | 3", "1e-200 | 1e-300 | 1e300 | 0 | -1 | [1.0]"),
    "eta": ("0.05 | 0.5", "0 | 1 | 1e-10 | 1e-11 | 0.9999999999 | 1 - 1e-16 | 2"),
    "level": ("0.9 | 0.95", "0 | 1 | 1e-300 | 1 - 1e-16 | 95 | -1"),
    "tolerance": ("0.05 | 0.1 | 1", "1e300 | 1e-300 | 1e-16 | 0 | -1 | 1e80"),
    "mu": ("0 | 0.5 | [0, 1, -3] | np.zeros(3)", "[0, nan] | X | [] | 1e300 | [0, '1'] | FRAME['a'] | [[0, 1]] | 1e308"),
    "sigma": ("1 | 2.5 | [1, 2, 3.0]", "0 | -1 | 1e-300 | 1e300 | [1, 0, 1] | [] | [1, 2] | 1e308 | 5e-324"),
    "p": ("4 | 2 | [2, 3, 4] | 4.0 | 100", "1 | 2.5 | 10**4 | 10**4 + 1 | 10**9 | [4, 1] | [] | [[4]] | [4, [5]] | '4' | [4, 4]"),
    "names": ("None | ['a', 'b', 'c'] | ('u', 'v', 'w')", "'abc' | ['a', 'a', 'b'] | ['a'] | [1, 2, 3] | [None] * 3 | 3 | {'a': 1, 'b': 2, 'c': 3} | ['', ' ', '$'] | iter('abc')"),
    "categorical": ("() | [0] | [1, 2] | 0 | None | np.array([1]) | range(2)", "'a' | ['q'] | [3] | -1 | [0.0] | True | [True] | [None] | {'a': 1} | [[0]] | [0, 0] | 2.5 | {0} | [Broken()]"),
    "edges": ("None | {} | {0: [0.0, 1.0]} | {'a': [0.0]} | {2: [-3.0, -2.9]}", "[0, 1] | {0: []} | {0: [1, 0]} | {0: [nan]} | {9: [0]} | {0: 'a'} | {0: None} | {'q': [0]} | {0: [1e300]} | {0: 5.0} | {(0,): [1]} | {0: [0, 0]} | {0: [[0, 1]]} | {0: [1e-320, 2e-320]} | {0: [-1.7e308, 1.7e308]}"),
    "kinds": ("None | {} | {0: Category()} | {1: Number()}", "{0: Category} | {9: Category()} | {0: 'category'} | [Category()] | {0: None} | {'q': Number()} | Category()"),
    "a": ("[1.0, -2.0, 0.5] | np.ones(3) | 2.0 | [0]", "[] | X | [nan] | [1e308, 1e308] | 'abc' | [1, '2'] | [[1.0]] | FRAME['a'] | {'a': 1.0}"),
    "b": ("0.0 | 1 | -2.5", "[1.0] | [1, 2] | '0' | nan"),
    "Q": ("np.eye(3) | [[1.0]] | [[1, 2, 0], [0, 1, 0], [3, 0, 0]]", "[] | [1, 2] | np.ones((2, 3)) | np.full((3, 3), nan) | np.full((3, 3), 1.7e308) | sparse.eye(3) | [[1, 2], [3]] | FRAME.head(3) | 3.0"),
    "x": ("X | X[:1] | X[0] | X.tolist() | np.zeros((0, 3)) | np.zeros((2, 2, 3))", ODD_TABLES),
    "subject": ("{explain} | {limit} | {explain}", "3 | None | 'explainer' | lt.Gaussian() | f_sum | lt.explain"),
    "explainer": (" | ".join(f"lime({n!r})" for n in ANY_LIME[:8]), " | ".join(f"lime({n!r})" for n in ANY_LIME[8:]) + " | lt.Gaussian() | X"),
    "exercise": ("'switch-off/1' | 'theorem/1' | 'weights/2' | {exercises}", "'nothing/1' | '' | 'SWITCH-OFF/1'"),
    "start": ("0 | 0.1 | -1.0", "1e-300 | -1e308 | 5 | [0]"),
    "stop": ("2 | 3.0 | 2", "1e308 | 1e-300 | 0 | 1e300"),
    "value": ("1 | 0.53 | 1.5 | 2", "-7 | 1e300 | 5 | [1]"),
    "stops": ("3 | 11 | 41 | 5.0", "1 | 0 | 10**7 | 10**4 | 2.5 | '3'"),
    "label": ("'' | 'nu' | 'ν <b>'", "3 | None | b'x'"),
    "log": ("False | False | True", "1 | 'yes' | None"),
    "fmt": ("'{:.2f}' | '{:.4g}' | '{:.6f}' | 'ν = {:.3f}'", "'{}' | '{:d}' | '{:s}' | 'x' | '{' | '{0.real}' | '{1}' | '{:.0f}' | '{!r}' | '{:%}' | '{a}' | '{0[0]}' | '{:5000}'"),
    "live": ("False | False | True", "1 | 'yes'"),
    "options": ("['u', 'v'] | [1, 2, 3] | {'one': 1, 'two': 2} | ('a', 'b')", "[] | ['u'] | ['u', 'u'] | 'uv' | [X, X] | [[1], [2]] | {'a': 1} | [nan, nan] | [1, 1.0] | [None, 1] | 3 | [Broken(), Broken()] | {1, 2} | range(3) | [FRAME, 1]"),
    "option": ("None | 'u' | 1 | 'a'", "'q' | X | nan | [1] | Broken()"),
    "draw": ("draw | draw | lambda fig, **k: f'It is {{k}}.'", "draw_nothing | draw_raises | draw_other | len | 'draw' | lambda fig: 'No control.' | lt.Linear"),
    "alt": ("'A line.'", "'' | ' ' | 3"),
    "size": ("(2, 1) | [3.0, 2.0]", "(0, 1) | (1, 2, 3) | 5 | (1e9, 1) | (nan, 1) | 'ab' | ('1', '2') | (-1, 1) | (51, 1)"),
    "control": ("lt.Choice([1, 2]) | lt.Slider(0, 1, 1, stops=2) | lt.Choice({'few': 1, 'many': 3})", "lt.Slider | 1 | [1, 2] | lt.Choice([1, 2], live=True) | lt.Slider(0, 1, 0.5, stops=1000) | lt.Choice([0, '0.0'])"),
    "fig": ("Figure((1, 1)) | Figure((2, 1))", "Figure | 3 | Figure().subplots() | X"),
    "attempt": ("1 | 2 | 3 | 9", "0 | -1 | 1.5"),
    "answer": ("0.53 | 1 | [1.0, 2.0] | 'a' | ... | np.eye(2) | lambda x: x | {explain} | {limit} | (1, 2)", "X | FRAME | Broken() | f_nan | f_raises"),
}  # fmt: skip

LIME_MODELS = """
model('linear') | model('linear').predict | f_sum | f_first | model('tree') | model('logistic') | f_two
model('logistic').predict_proba | model('forest of classes').predict_proba
"""
ODD_TEXT_MODELS = "f_sum | f_none | lambda t: t | lambda t: np.full((len(t), 2), nan) | None | lambda t: [[1.0]] | f_raises | lambda t: 1e300 * t_length(t)"

POOLS |= {
    "lime's f": (LIME_MODELS, ODD_MODELS),
    "path's nu": ("None | [0.5, 1.0, 2.0] | np.geomspace(0.1, 5, 7) | [2.0, 1.0]", "1.0 | [] | [0, 1] | [nan, 1] | [1e-90, 1e90] | 'a' | [[1.0, 2.0]]"),
    "boxes": ("None | None | [2, 3, 4]", "4 | [] | [1, 2] | [2.5] | [10**5] | 'a' | [60, 61]"),
    "data": ("None | X | FRAME | FRAME[['c', 'a', 'b']]", ODD_TABLES),
    "rows": ("X[:3] | FRAME.head(3) | FRAME[['c', 'a', 'b']].head(3) | X[:3].tolist() | pl.from_pandas(FRAME)[:2]", ODD_TABLES),
    "n_jobs": ("None | 1", "0 | 2.5 | 'a' | True | np.zeros(3)"),
    "num_features": ("None | 2 | 10", "0 | -1 | 2.5 | 'a'"),
    "lime's label": ("None | 0 | 1", "2 | -1 | 'no' | 1.5 | True | [1]"),
    "calls": ("1000 | 2048", "0 | 1 | 10 | -1 | 'a' | 1e13"),
    "lime's runs": ("10 | 20", "0 | 1 | -1 | 'a' | 1e13"),
    "model_regressor": ("None | Ridge(alpha=2.0)", "LinearRegression() | Ridge | 3 | Ridge(alpha=-1) | sparse.eye(3) | model('tree')"),
    "symbols": ("True | False", "1 | None | 'yes' | NotImplemented"),
    "top": ("1 | 2 | 100", "0 | -1 | 'a' | 2.5 | True"),
    "title": ("None | 'A title' | '<b>$x'", "3 | b'x' | Broken()"),
    "i": ("0 | -1", "'a' | 1.5 | slice(2)"),
    "d": ("1 | 2 | 4 | 12 | 30", "0 | -1 | 2.5 | 'a' | 10**9 | True | 3000"),
    "width": ("0.25 | 1 | 0.1", "1e-3 | 1e-9 | 1e9 | 0 | -1 | nan | 'a'"),
    "shares": ("[0.25, 0.5, 0.25] | [0, 0.5, 0.5]", "[] | [1] | [0, 1] | [nan, 1] | [-1, 2] | 'a' | [1e300, 1e300] | [[1, 1]] | [1, 0, 1]"),
    "log_weight": ("None | [0, 0, 0]", "[0, -inf, 0] | [nan] * 3 | [0, 0] | 'a' | [1e300, 0, 0]"),
    "f of masks": ("g_sum | g_rule | g_changes | masks.rule(12, on=[0, 1]) | masks.additive(np.ones(30))", "g_large | f_none | f_raises | 3 | len | f_complex | lambda: 0 | lambda z: z | lambda z: ['a'] * len(z) | lambda z: nan * z[:, 0] | lambda z: z[:, 50]"),
    "switches": ("lt.text_switches(12) | lt.image_switches(4) | lt.text_switches(30) | lt.counted_switches([0.25, 0.5, 0.25])", "lt.Gaussian() | 3 | lt.counted_switches([0, 1, 0]) | lt.text_switches(4, 1e-3) | lt.image_switches(12, 1e-2)"),
    "own_row": ("True | False", "1 | None"),
    "classifier": ("model('logistic') | model('forest of classes') | model('boosting') | model('svc')", ODD_MODELS),
    "class": ("None | 'yes' | 'no'", ODD_OUTPUTS),
    "texts": ("switched('texts')", "switched('images') | lime('plain')"),
    "f of texts": ("switched('counts') | switched('counts').predict_proba | switched('shares').predict_proba | t_two | t_length", ODD_TEXT_MODELS),
    "text": ("'good film, bad end' | 'good good' | 'a b c d e f g h'", "'' | ' ' | 'x' | b'good film' | None | 3 | ['good', 'film'] | '.' * 50"),
    "images": ("switched('images')", "switched('texts') | switched('images without a width')"),
    "f of images": ("i_mean | lambda im: i_mean(im)[:, 0]", ODD_TEXT_MODELS),
    "image": ("IMAGE | IMAGE.astype('f4') | (IMAGE * 255).astype('u1')", "IMAGE[0] | IMAGE[:, :, 0] | IMAGE[None] | None | 'a' | IMAGE * nan | IMAGE[:0] | IMAGE * 1j | IMAGE.tolist() | np.ma.masked"),
    "segmentation_fn": ("SEGMENTS | lambda im: SEGMENTS", "'a' | lambda im: None | SEGMENTS * nan | SEGMENTS[0] | SEGMENTS * 0 | -SEGMENTS"),
    "hide_color": ("None | 0 | 1.0", "'a' | nan | [0, 0, 0] | (1, 2) | inf"),
}  # fmt: skip

POOLS |= {f"{other} of lime": POOLS[other] for other in ("f", "xi")}


@cache
def _options(text: str) -> tuple[str, ...]:
    parts = (part.strip() for part in text.replace("\n", " | ").split(" | "))
    found = tuple(part for part in parts if part)
    return tuple(part for part in found if pl is not None or "pl." not in part)


# --- calls ----------------------------------------------------------------------------------------

# a function as source, the pools of what it must be given, and of what it may be given
TEMPLATES: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {
    "lt.explain": (
        14,
        ("f", "xi", "world", "nu"),
        (
            "n",
            "kernel",
            "sampler",
            "ridge",
            "lasso",
            "features",
            "select",
            "output",
            "keep",
            "scrambles",
            "adjust",
            "tol",
            "rtol",
        ),
    ),
    "mixed lt.explain": (
        5,
        ("mixed f", "mixed xi", "mixed world", "nu"),
        (
            "n",
            "kernel",
            "sampler",
            "ridge",
            "lasso",
            "features",
            "select",
            "output",
            "keep",
            "scrambles",
            "adjust",
            "tol",
            "rtol",
        ),
    ),
    "lt.limit": (12, ("f", "xi", "world", "nu"), ("kernel", "ridge", "n", "output", "seed")),
    "mixed lt.limit": (
        3,
        ("mixed f", "mixed xi", "mixed world", "nu"),
        ("kernel", "ridge", "n", "output", "seed"),
    ),
    "lt.samples_needed": (
        7,
        ("f", "xi", "world", "nu", "eps"),
        ("eta", "kernel", "output", "seed"),
    ),
    "lt.risk": (6, ("X", "world", "nus"), ("kernel", "tolerance")),
    "lt.repeat": (3, ("f", "xi", "world", "nu"), ("runs", "seed", "kernel", "sampler", "output")),
    "lt.audit": (6, ("subject",), ()),
    "lime lt.audit": (4, ("explainer", "f of lime", "xi of lime"), ("n", "output", "seed")),
    "lt.from_lime": (3, ("explainer",), ()),
    "lt.Gaussian": (4, (), ("mu", "sigma", "p", "names")),
    "lt.Gaussian.from_data": (4, ("X",), ("p",)),
    "lt.Empirical": (8, ("X",), ("p", "edges", "categorical", "kinds")),
    "lt.Linear": (2, ("a",), ("b",)),
    "lt.Quadratic": (2, ("Q",), ("a", "b")),
    "lt.Slider": (3, ("start", "stop", "value"), ("stops", "label", "log", "fmt", "live")),
    "lt.Choice": (2, ("options",), ("option", "label", "live")),
    "lt.explore": (2, ("draw",), ("alt", "size", "control")),
    "lt.show": (2, ("fig", "alt"), ()),
    "lt.check": (2, ("exercise", "answer"), ()),
    "lt.judge": (3, ("exercise", "answer"), ("attempt",)),
    "lt.limits": (5, ("f", "rows", "world", "nu"), ("kernel", "ridge", "n", "output", "seed")),
    "lt.explain_many": (
        4,
        ("f", "rows", "world", "nu"),
        ("kernel", "sampler", "ridge", "features", "output", "adjust", "tol", "n_jobs"),
    ),
    "lt.path": (
        5,
        ("f", "xi", "world"),
        ("kernel", "path's nu", "ridge", "n", "output", "boxes", "seed"),
    ),
    "mixed lt.path": (2, ("mixed f", "mixed xi", "mixed world"), ("kernel", "ridge", "n")),
    "world lt.audit": (
        4,
        ("world", "f", "xi"),
        ("output", "data", "n", "num_features", "nu", "kernel", "ridge", "seed", "symbols"),
    ),
    "rows lt.audit": (2, ("world", "f", "rows"), ("data", "n", "nu", "kernel", "ridge", "n_jobs")),
    "lt.predict_lime": (
        5,
        ("explainer", "lime's f", "xi"),
        ("lime's label", "num_features", "calls", "lime's runs", "seed", "model_regressor"),
    ),
    "texts lt.predict_lime": (3, ("texts", "f of texts", "text"), ("num_features", "lime's runs")),
    "texts lt.audit": (2, ("texts", "f of texts", "text"), ("num_features", "seed")),
    "images lt.predict_lime": (
        3,
        ("images", "f of images", "image"),
        ("segmentation_fn", "hide_color", "num_features", "lime's runs"),
    ),
    "images lt.audit": (1, ("images", "f of images", "image"), ("segmentation_fn", "hide_color")),
    "lt.text_switches": (1, ("d",), ("width",)),
    "lt.image_switches": (1, ("d",), ("width",)),
    "lt.counted_switches": (1, ("shares",), ("width", "log_weight")),
    "lt.switch_limit": (5, ("f of masks", "switches"), ("n", "ridge", "own_row", "seed")),
    "lt.margin": (2, ("classifier",), ("class",)),
}

# arguments whose name is not that of their pool
NAMES = {
    "option": "value",
    "control": "nu",
    "path's nu": "nu",
    "lime's label": "label",
    "lime's runs": "runs",
    "class": "label",
    "width": "nu",
}

# what is asked of a result, behind the call that made it
AFTER = {
    "explain": (
        ".interval({level})", ".as_list()", ".as_map()", ".order()", ".plot()", ".box_names",
        "._repr_html_()", ".weights", ".x", ".local_stderr", ".setting", ".to_dict()", ".stability()",
        ".to_html(top={top}, title={title}, symbols={symbols})", ".to_frame()",
    ),
    "limit": (
        ".as_list()", ".plot()", "._repr_html_()", ".Sigma", ".Sigma_inv", ".Gamma", ".C",
        ".order()", ".stderr", ".local_stderr", ".box_names", ".to_dict()", ".to_html()",
    ),
    "limits": ("[{i}]", ".to_frame()", ".__repr__()"),
    "explain_many": ("[{i}]", ".to_frame()", ".__repr__()"),
    "path": (".to_html(top={top}, title={title}, symbols={symbols})", ".to_dict()", ".plot()", ".recommend()"),
    "predict_lime": (".as_list()", ".as_map()", "._repr_html_()"),
    "switch_limit": (".local_error", ".__repr__()"),
    "text_switches": (".covariance()", ".inverse_covariance()"),
    "counted_switches": (".covariance()", ".inverse_covariance()"),
    "margin": ("(X)", ".__repr__()"),
    "samples_needed": ("._repr_html_()", ".rows()", ".__str__()"),
    "risk": (".to_dict()", ".plot()", ".__str__()"),
    "repeat": (".mean", ".stderr"),
    "audit": (".to_dict()", ".plot()", "._repr_html_()", ".__str__()", ".codes", ".headline()"),
    "from_lime": (".boxes()", ".boxes(3)", ".nu", ".__repr__()"),
    "Gaussian": (".boxes(3)", ".boxes()", ".boxes(2)", ".__repr__()", ".d"),
    "from_data": (".boxes()", ".__repr__()", ".boxes().describe(0, 0)"),
    "Empirical": (
        ".boxes()", ".__repr__()", ".boxes().edges", ".boxes().describe(0, 0)", ".boxes(2)",
    ),
    "Linear": ("({x})", "({x})", ".__repr__()"),
    "Quadratic": ("({x})", "({x})", ".__repr__()"),
    "Slider": (".values", ".live_values", ".default", ".text(1)"),
    "Choice": (".values", ".default", ".text(1)"),
}  # fmt: skip


@dataclass(frozen=True)
class OddCall:
    """One call: what it is drawn from, and its source."""

    seed: int
    index: int
    source: str

    @property
    def function(self) -> str:
        """The public function that is called first."""
        return self.source.partition("(")[0].split(".")[-1]

    def __call__(self) -> Any:
        return eval(self.source, globals())


def odd_call(seed: int, index: int) -> OddCall:
    """The call number ``index`` of a seed, whatever the others are."""
    return OddCall(seed, index, _source(random.Random(f"{seed}/{index}")))


def odd_calls(seed: int, count: int) -> Iterator[OddCall]:
    """The first calls of a seed."""
    return (odd_call(seed, index) for index in range(count))


def _source(chance: random.Random) -> str:
    names, parts = zip(*TEMPLATES.items(), strict=True)
    name = chance.choices(names, [weight for weight, *_ in parts])[0]
    return _call(chance, name, odd=chance.choice((0, 0, 0, 0, 0, 1, 1, 1, 2, 3)))


def _call(chance: random.Random, name: str, odd: int, *, bare: bool = False) -> str:
    """The source of a call with that many odd arguments, and at times a look at what it returns."""
    _, needed, optional = TEMPLATES[name]
    function = name.split()[-1]
    given = [argument for argument in optional if chance.random() < 0.3]
    if function == "lt.explore":
        given = ["alt", *(argument for argument in optional[1:] if chance.random() < 0.8)]
    elif function == "lt.explain" and "n" not in given:
        given.append("n")
    strange = set(chance.sample((*needed, *given), min(odd, len(needed) + len(given))))
    positional = [_value(chance, argument, argument in strange) for argument in needed]
    keywords = {
        NAMES.get(argument, argument): _value(chance, argument, argument in strange)
        for argument in given
    }
    for argument, cheap in (_CHEAP.get(name, {}) | _CHEAP.get(function, {})).items():
        keywords.setdefault(argument, cheap)
    source = ", ".join([*positional, *(f"{key}={value}" for key, value in keywords.items())])
    source = f"{function}({source})"
    after = AFTER.get(function.split(".")[-1])
    if after and not bare and chance.random() < 0.4:
        then = chance.choice(after)
        for argument in re.findall(r"{(\w+)}", then):
            value = _value(chance, argument, chance.random() < 0.4)
            then = then.replace("{" + argument + "}", value)
        source += then
    return source


# so that a call takes a moment, and says the same every time
_CHEAP = {
    "lt.explain": {"seed": "0"},
    "lt.limit": {"samples": "2000"},
    "lt.samples_needed": {"pilot": "2000"},
    "lt.repeat": {"n": "500", "runs": "3"},
    "lt.limits": {"samples": "500"},
    "lt.explain_many": {"n": "200"},
    "lt.path": {"samples": "1000"},
    "lt.predict_lime": {"calls": "1000", "runs": "10"},
    "images lt.predict_lime": {"segmentation_fn": "SEGMENTS"},
    "images lt.audit": {"segmentation_fn": "SEGMENTS"},
}


def _value(chance: random.Random, argument: str, strange: bool) -> str:
    usual, odd = POOLS[argument]
    if not strange:
        pool = usual
    else:
        pool = odd if chance.random() < 0.7 else ODD
    value = chance.choice(_options(pool))
    if value == "{exercises}":
        value = repr(chance.choice(_exercises()))
    for inner in ("explain", "limit"):
        if value == "{" + inner + "}":
            kind = chance.choice((f"lt.{inner}", f"lt.{inner}", f"mixed lt.{inner}"))
            return _call(chance, kind, odd=chance.choice((0, 0, 1)), bare=True)
    return value.replace("{{", "{").replace("}}", "}")


def _exercises() -> list[str]:
    from limetutor.course.exercises import exercises

    return sorted(exercises())
