"""Odd calls of everything public, drawn by chance and written as Python.

Calls start from arguments that work and put odd ones in the place of some: nan, text, dates, ragged lists,
masked, sparse and nullable tables, frames in another order, functions that return nonsense, estimators that
were never fitted. Which arguments a function takes is read off its signature, and what its result may be asked
off the class it returns; odd_values.txt has what may stand in the place of each argument. A call is its source,
so that whoever wants to see one again pastes it behind ``from odd_calls import *``.
"""

# ruff: noqa: F401 - calls are source, and find these names here
import datetime
import inspect
import json
import random
import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from fuzz import Case, OwnError, kind, public, returned
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
from limetutor.bandwidth.risk import Risk
from limetutor.course.exercises import exercises
from limetutor.course.experiments import Runs
from limetutor.inputs.columns import Category, Number
from limetutor.precision.samples_needed import SampleSize

nan, inf = float("nan"), float("inf")


def raises(*args: Any, **options: Any) -> Any:
    raise OwnError("the caller's own")


def changing(function: Any, value: Any) -> Any:
    """A function that changes what it gets, once it has its result."""

    def changes(x: Any, *others: Any) -> Any:
        y = function(x, *others)
        for part in (x, *others[:-1]):
            part[:] = value
        return y

    return changes


class Callable3:
    """An object that is called; an estimator by its looks alone."""

    classes_, n_features_in_, feature_names_in_ = None, "three", ("a", "b", "c")
    __call__ = method = predict = lambda self, x: np.asarray(x, float).sum(axis=1)


class Broken:
    """Nothing about it works."""

    __repr__ = __array__ = __float__ = __eq__ = raises  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def gaussian(x: Any, z: Any, xi: Any, nu: Any) -> Any:
    return np.exp(-np.sum((x - xi) ** 2, axis=1) / (2 * nu**2))


def draw(fig: Any, nu: Any) -> str:
    fig.subplots().plot([0.0, 1.0], [0.0, float(nu)])
    return f"The line ends at {nu}."


@cache
def made(kind: str, name: str) -> Any:
    """A model or an explainer that odd_names.txt names."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return eval(NAMED[kind][name], globals())


model, lime, switched = (partial(made, kind) for kind in ("models", "explainers", "others"))


def read_names(text: str) -> dict[str, dict[str, str]]:
    """What stands under each heading: names and their sources."""
    sections = [part.partition("\n") for part in re.split(r"(?m)^== ", text)[1:]]
    return {
        title: dict(re.findall(r"(?m)(?:^|\| )(\w[\w ]*) = (.*?)(?= \| \w[\w ]* = |$)", values))
        for title, _, values in sections
    }


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


def read_calls(text: str) -> list[tuple[int, str, dict[str, str], str]]:
    """How often, a function, the pools of arguments that it always gets, and which others it may."""
    lines = re.findall(r"(?m)^(\d+) ([\w.]+) \((.*)\) ?(.*)$", text)
    pools = [dict(re.findall(r"(\w+)=([^,]+)", always)) for _, _, always, _ in lines]
    return [(int(w), f, given, o) for (w, f, _, o), given in zip(lines, pools, strict=True)]


NAMED, POOLS, LISTED = (
    read(Path(__file__).with_name(f"odd_{name}.txt").read_text(encoding="utf-8"))
    for name, read in {"names": read_names, "values": read_pools, "calls": read_calls}.items()
)
for _name, _source in NAMED["values"].items():
    globals()[_name] = eval(_source, globals())
CALLED_BY_PYTHON = ("__call__", "__getitem__", "__repr__", "_repr_html_")
# so that a call takes a moment, and says the same every time
CHEAP = {
    "explain": {"seed": "0"}, "limit": {"samples": "2000"}, "samples_needed": {"pilot": "2000"},
    "repeat": {"n": "500", "runs": "3"}, "limits": {"samples": "500"}, "path": {"samples": "1000"},
    "explain_many": {"n": "200"}, "cube": {"n": "500"}, "predict_lime": {"calls": "1000", "runs": "10"},
}  # fmt: skip


# what a result must hold in numbers
FINITE = {
    lt.Explanation: "coef intercept stderr local_prediction local_stderr score ess covariance",
    lt.Limit: "coef intercept stderr local_prediction local_error alpha mu_tilde sigma_tilde log_C",
    SampleSize: "weighted",
    Risk: "near turned opposed at_risk by_feature",
    Runs: "coef coef_stderr intercept local_prediction ess",
    lt.Limits: "coef intercept prediction local_prediction stderr",
    lt.Explanations: "coef intercept prediction local_prediction stderr score ess",
    lt.Path: "nu coef stderr local_error ess",
    lt.Cube: "coef stderr intercept mass local_prediction",
    lt.SwitchFit: "coef intercept stderr intercept_stderr",
    lt.LimePrediction: "coef sd stderr intercept local_pred score",
}


def wrong_with_result(found: Any, notes: list[str]) -> str | None:
    """A number that is not finite without a word, or an audit that speaks of one."""
    words = " ".join([*notes, *getattr(found, "notes", ())])
    for cls, names in FINITE.items():
        for name in names.split() if isinstance(found, cls) else ():
            value = np.asarray(getattr(found, name), dtype=float)
            if not np.all(np.isfinite(value)) and not re.search("infinite|nan", words):
                return f"{name} is {value} without a word"
    if isinstance(found, lt.Audit):
        json.dumps(found.to_dict(), allow_nan=False)
        if odd_word := re.search(r"\b(nan|inf)\b", str(found)):
            return f"an audit says {odd_word[0]}: {found}"
    return None


@kind("arguments", 240, 7000)
def odd_call(chance: random.Random, index: int) -> Case:
    """A call of anything public, listed or not, with some arguments that are odd."""
    calls = LISTED + [
        (3, name, {}, "all") for name in public() if name not in {c[1] for c in LISTED}
    ]
    call = chance.choices(calls, [weight for weight, *_ in calls])[0]
    return evaluated(_source(chance, call, chance.choice((0, 0, 0, 0, 0, 1, 1, 1, 2, 3))))


def evaluated(source: str) -> Case:
    """The call that a source is, whose numbers must be finite."""
    return Case(source, lambda: eval(source, globals()), wrong_with_result)


def _source(chance: random.Random, call: Any, odd: int, *, bare: bool = False) -> str:
    """The source of a call with that many odd arguments, and at times a look at what it returns."""
    _, function, always, options = call
    parameters = inspect.signature(eval(f"lt.{function}")).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    needed = [p.name for p in named if p.default is p.empty]
    places = [p.name for p in named if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]
    others = [p.name for p in named] if options == "all" else options.split()
    given = list(dict.fromkeys([*needed, *always]))
    pools = {
        name: next(p for p in (f"{function} {name}", name, "anything") if p in POOLS)
        for name in (*given, *others)
    } | always
    free = [name for name in others if name not in given and pools[name] != "anything"]
    given += [name for name in free if chance.random() < 0.3]
    strange = set(chance.sample(given, min(odd, len(given))))
    arguments = {name: _value(chance, pools[name], name in strange) for name in given}
    arguments = CHEAP.get(function, {}) | arguments
    if "segmentation_fn" in options:
        arguments.setdefault("segmentation_fn", "SEGMENTS")
    texts = [arguments.pop(name) for name in places]
    texts += [f"{name}={text}" for name, text in arguments.items()]
    source = f"lt.{function}({', '.join(texts)})"
    looked_at = looks(eval(f"lt.{function}"))
    return source if bare or chance.random() > 0.4 else source + chance.choice(looked_at)(chance)


@cache
def looks(function: Any) -> list[Callable[[random.Random], str]]:
    """What may be asked of a result: properties, and methods with arguments that have a pool."""
    found: list[Callable[[random.Random], str]] = [lambda _: ""]
    for name in dir(returned(function)[0]) if returned(function) else ():
        members = [inspect.getattr_static(cls, name, None) for cls in returned(function)]
        shapes = {str(inspect.signature(m)) if inspect.isfunction(m) else type(m) for m in members}
        if len(shapes) > 1 or name == "blocks" or name[-1] == "_" != name[0]:
            continue  # not of all classes that may come; to_html checks it; for hasattr
        if isinstance(members[0], property | cached_property) and name[0] != "_":
            found.append(lambda _, name=name: f".{name}")
        elif inspect.isfunction(members[0]) and (name[0] != "_" or name in CALLED_BY_PYTHON):
            parameters = list(inspect.signature(members[0]).parameters.values())[1:]
            if name[0] == "_" or all(p.default is not p.empty for p in parameters):
                found.append(partial(_asked, name, parameters))
    return found


def _asked(name: str, parameters: list[inspect.Parameter], chance: random.Random) -> str:
    texts = {
        p.name: _value(chance, p.name, chance.random() < 0.4)
        for p in parameters
        if p.name in POOLS and (p.default is p.empty or chance.random() < 0.5)
    }
    return f".{name}({', '.join(f'{key}={text}' for key, text in texts.items())})"


def _value(chance: random.Random, pool: str, strange: bool) -> str:
    usual, odd = POOLS[pool]
    anything = POOLS["anything"][0]
    value = chance.choice(usual if not strange else odd if chance.random() < 0.7 else anything)
    if value == "{exercises}":
        return repr(chance.choice(sorted(exercises())))
    if value in ("{explain}", "{limit}"):
        call = chance.choice([call for call in LISTED if call[1] == value.strip("{}")])
        return _source(chance, call, chance.choice((0, 0, 1)), bare=True)
    return value.replace("{{", "{").replace("}}", "}")
