"""Boosted trees of other packages as sums of leaves, and classifiers on the scale of their margin.

XGBoost, LightGBM and CatBoost keep their trees each in a table of its own; a reader turns them into
:class:`limetutor.exact.Trees`, one for each raw output. A regressor whose prediction is that sum has
an exact limit. A classifier's probability is a function of the sum, and is sampled; its **margin**,
the sum itself (log odds, mostly), is exact: ``lt.limit(lt.margin(model, label), ...)``. No package is
imported before the caller has. Chapter: beyond linear.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from .exact import Trees
from .families import _refuse, family, form_of, rounded_threshold, scaled_steps
from .models import Adapter, Form, Linear, adapts, first_fitted, listed_classes, output_column

Reader = Callable[[Any], "list[Form] | None"]

# the package and the class of a fitted model, and what gives the forms of its raw outputs
RAW: dict[tuple[str, str], Reader] = {}


def raw_outputs(package: str, *names: str) -> Callable[[Reader], Reader]:
    """Register a reader for the classes of those names in that package."""

    def register(function: Reader) -> Reader:
        RAW.update({(package, name): function for name in names})
        return function

    return register


def _kind(model: Any) -> tuple[str, str]:
    return type(model).__module__.partition(".")[0], type(model).__name__


class Nodes(NamedTuple):
    """One tree: ``left`` is -1 at a leaf; ``value`` (nodes, outputs)."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray


def joined(trees: Sequence[Nodes], b: float = 0.0, column: int = 0) -> Trees:
    """One output of some trees as a form."""
    if not trees:
        return _constant(b)
    start = np.cumsum([0, *(len(tree.left) for tree in trees)])
    shifted = [
        [np.where(tree.left < 0, -1, side + first) for side in (tree.left, tree.right)]
        for tree, first in zip(trees, start[:-1], strict=True)
    ]
    left, right = (np.concatenate([pair[k] for pair in shifted]) for k in (0, 1))
    feature, threshold = (np.concatenate([tree[k] for tree in trees]) for k in (0, 1))
    value = np.concatenate([np.where(t.left < 0, t.value[:, column], 0.0) for t in trees])
    return Trees(feature.astype(np.intp), threshold, left, right, value, start[:-1], float(b))


def _constant(b: float) -> Trees:
    leaf = np.array([-1])
    return Trees(np.zeros(1, np.intp), np.zeros(1), leaf, leaf, np.zeros(1), np.zeros(1, int), b)


def _below(threshold: np.ndarray) -> np.ndarray:
    """x < threshold in single precision, as x <= another number in double."""
    single = threshold.astype(np.float32)
    return rounded_threshold(np.nextafter(single, np.float32(-np.inf)).astype(float))


# --- XGBoost ------------------------------------------------------------------------------------------

# objectives whose prediction is the sum of the leaves
XGB_SUMS = (
    "reg:squarederror reg:squaredlogerror reg:absoluteerror reg:pseudohubererror "
    "reg:quantileerror reg:linear rank:pairwise rank:ndcg rank:map"
).split()


@raw_outputs(
    "xgboost", "XGBRegressor", "XGBRFRegressor", "XGBRanker", "XGBClassifier", "XGBRFClassifier"
)
def _xgboost(f: Any) -> list[Form] | None:
    """The start + the sum of the trees of each group; a row goes left where x < threshold."""
    if f.missing is not None and not np.isnan(f.missing):
        return None  # a number that stands for a missing value goes its own way
    learner = json.loads(bytes(f.get_booster().save_raw("json")))["learner"]
    booster = learner["gradient_booster"]
    if "gbtree" in booster:  # dart: trees with weights
        weights, model = np.array(booster["weight_drop"]), booster["gbtree"]["model"]
    elif "trees" in booster.get("model", {}):
        model = booster["model"]
        weights = np.ones(len(model["trees"]))
    else:
        return None  # linear boosters have no trees
    last = getattr(f, "best_iteration", None)
    end = len(model["trees"]) if last is None else model["iteration_indptr"][last + 1]
    groups = np.array(model["tree_info"][:end], int)
    if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in model["trees"]):
        return None  # leaves that hold a vector
    trees = [_xgboost_tree(f, t, w) for t, w in zip(model["trees"][:end], weights, strict=False)]
    params = learner["learner_model_param"]
    count = max(int(params["num_class"]), int(params.get("num_target", 1)), 1)
    forms = [
        joined([t for t, g in zip(trees, groups, strict=True) if g == k]) for k in range(count)
    ]  # type: ignore[misc]
    known = np.atleast_1d(np.array(json.loads(str(params["base_score"])), float))
    return _started(f, forms, np.broadcast_to(known, (count,)))


def _xgboost_tree(f: Any, tree: dict[str, Any], weight: float) -> Nodes:
    if tree["categories_nodes"]:
        _refuse("split at thresholds", f, "categorical splits")
    left, right = (np.array(tree[side], np.intp) for side in ("left_children", "right_children"))
    number = np.array(tree["split_conditions"], np.float32).astype(float)
    feature = np.array(tree["split_indices"], np.intp)
    return Nodes(feature, _below(number), left, right, weight * number[:, None])


def _started(f: Any, forms: list[Trees], known: np.ndarray) -> list[Form]:
    """The forms with the constant that the sum starts from.

    The file has it on the scale of the prediction; which function leads to the margin depends on
    the objective, so the model itself is asked at one point, and the nearest of the three is it.
    """
    origin = np.zeros((1, int(f.n_features_in_)))
    margin = np.atleast_2d(np.asarray(f.get_booster().inplace_predict(
        origin, iteration_range=_rounds(f), predict_type="margin"
    ), float)).reshape(-1)  # fmt: skip
    found: list[Form] = []
    for form, base, total in zip(forms, known, margin, strict=True):
        start = total - form(origin)[0]
        with np.errstate(all="ignore"):
            ways = np.array([base, np.log(base / (1 - base)), np.log(base)])
        near = np.nanargmin(np.where(np.isfinite(ways), np.abs(ways - start), np.inf))
        exact = abs(ways[near] - start) <= 1e-4 * max(abs(start), 1.0)
        found.append(replace(form, b=float(ways[near] if exact else start)))
    return found


def _rounds(f: Any) -> tuple[int, int]:
    last = getattr(f, "best_iteration", None)
    return (0, 0) if last is None else (0, last + 1)


@family("xgboost", "XGBRegressor", "XGBRFRegressor", "XGBRanker")
def _xgboost_sum(f: Any, output: Any) -> Form | None:
    return _picked(RAW["xgboost", type(f).__name__](f), output) if f.objective in XGB_SUMS else None


@adapts("xgboost", "Booster")
def _booster(f: Any) -> Adapter:
    """What XGBoost's own training function returns takes a matrix of its own."""
    from xgboost import DMatrix

    names = list(f.feature_names or ())
    return Adapter(
        lambda rows: f.predict(DMatrix(rows, enable_categorical=True)), names, _xgboost_types(f)
    )


@adapts(
    "xgboost", "XGBRegressor", "XGBRFRegressor", "XGBRanker", "XGBClassifier", "XGBRFClassifier"
)
def _xgboost_model(f: Any) -> Adapter:
    return Adapter(categories=_xgboost_types(f.get_booster()))


def _xgboost_types(booster: Any) -> Callable[[list[str]], dict[str, Any]]:
    """Columns that were categories when it was fitted; it knows their order by itself."""
    names, types = booster.feature_names or (), booster.feature_types or ()
    wanted = [name for name, kind in zip(names, types, strict=False) if kind == "c"]
    return lambda labels: dict.fromkeys(wanted)


# --- LightGBM -----------------------------------------------------------------------------------------

# objectives, as the model's own file calls them, whose prediction is the sum of the leaves
LGBM_SUMS = "regression regression_l1 huber fair quantile mape lambdarank rank_xendcg".split()


@raw_outputs("lightgbm", "LGBMRegressor", "LGBMRanker", "LGBMClassifier")
def _lightgbm(f: Any) -> list[Form] | None:
    """The sum of the trees, in which the start is; a row goes left where x <= threshold."""
    return _lightgbm_trees(f, f.booster_.model_to_string())


def _lightgbm_trees(f: Any, text: str, mean: bool = False) -> list[Form] | None:
    """The trees of a model's file, added up or, as a forest predicts, averaged."""
    head, *blocks = text.split("\nTree=")
    facts = dict(line.split("=", 1) for line in head.splitlines() if "=" in line)
    count = int(facts["num_tree_per_iteration"])
    trees = [_lightgbm_tree(f, block) for block in blocks]
    if any(tree is None for tree in trees):
        return None
    share = count / max(len(trees), 1) if mean else 1.0
    scaled = [tree._replace(value=share * tree.value) for tree in trees if tree is not None]
    return [joined(scaled[k::count]) for k in range(count)]


def _lightgbm_tree(f: Any, block: str) -> Nodes | None:
    facts = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
    if int(facts["num_cat"]):
        _refuse("split at thresholds", f, "categorical splits")
    if int(facts.get("is_linear", 0)):
        return None  # a linear model in each leaf
    value = np.array(facts["leaf_value"].split(), float)
    if len(value) == 1:
        leaf = np.array([-1])
        return Nodes(np.zeros(1, np.intp), np.zeros(1), leaf, leaf, value[:, None])
    feature, left, right, kind = (
        np.array(facts[key].split(), np.intp)
        for key in ("split_feature", "left_child", "right_child", "decision_type")
    )
    if np.any((kind >> 2) & 3 == 1):
        return None  # zeros count as missing and go their own way
    inner, none = len(feature), np.full(len(value), -1)
    left, right = (
        np.concatenate([np.where(side < 0, inner - 1 - side, side), none]) for side in (left, right)
    )
    threshold = np.concatenate([np.array(facts["threshold"].split(), float), 0.0 * value])
    values = np.concatenate([np.zeros(inner), value])
    return Nodes(np.concatenate([feature, 0 * none]), threshold, left, right, values[:, None])


@family("lightgbm", "LGBMRegressor", "LGBMRanker")
def _lightgbm_sum(f: Any, output: Any) -> Form | None:
    text = f.booster_.model_to_string()
    lines = text.partition("\nTree=")[0].splitlines()
    if not {f"objective={name}" for name in LGBM_SUMS} & {*lines}:  # "regression sqrt" is another
        return None
    return _picked(_lightgbm_trees(f, text, mean="average_output" in lines), output)


@adapts("lightgbm", "LGBMRegressor", "LGBMRanker", "LGBMClassifier", "Booster")
def _lightgbm_model(f: Any) -> Adapter:
    """It keeps the categories of each such column, in order, and not which columns those were."""
    booster = getattr(f, "booster_", f)
    known = booster.pandas_categorical or []

    def categories(labels: list[str]) -> dict[str, Any]:
        if known and len(labels) != len(known):
            raise ValueError(
                f"f was fitted on {len(known)} columns of pandas' dtype 'category', got a world with "
                f"{len(labels)} columns of labels, {arg.shorten(labels)}; make it from the same table."
            )
        return dict(zip(labels, known, strict=True)) if known else {}

    return Adapter(categories=categories)


# --- CatBoost -----------------------------------------------------------------------------------------

CATBOOST_SUMS = ("RMSE", "MAE", "Quantile", "MAPE", "Huber", "LogCosh", "Lq", "Expectile")


@raw_outputs("catboost", "CatBoostRegressor", "CatBoostClassifier", "CatBoostRanker", "CatBoost")
def _catboost(f: Any) -> list[Form] | None:
    """scale * the sum of the trees + bias; a row goes right where x > border, in single precision."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        f.save_model(str(path), format="json")
        model = json.loads(path.read_text())
    info = model["features_info"]
    if any(info.get(f"{kind}_features") for kind in ("categorical", "text", "embedding")):
        _refuse("split at thresholds", f, "categorical, text or embedding features")
    flat = np.array([entry["flat_feature_index"] for entry in info["float_features"]], np.intp)
    scale, bias = model["scale_and_bias"]
    bias = np.atleast_1d(np.array(bias, float))
    made = [_oblivious(tree, flat, len(bias)) for tree in model.get("oblivious_trees", ())]
    made += [_grown(tree, flat, len(bias)) for tree in model.get("trees", ())]
    trees = [tree._replace(value=scale * tree.value) for tree in made]
    return [joined(trees, float(b), k) for k, b in enumerate(bias)]


def _oblivious(tree: dict[str, Any], flat: np.ndarray, outputs: int) -> Nodes:
    """A tree that asks the same question at all nodes of a level, as a heap of nodes."""
    splits = tree.get("splits") or []
    depth = len(splits)
    level = np.floor(np.log2(np.arange(1, 2 ** (depth + 1)))).astype(int)
    inner = level < depth
    feature, threshold = np.zeros(len(level), np.intp), np.zeros(len(level))
    if depth:
        border = rounded_threshold(np.array([split["border"] for split in splits], float))
        asked = flat[[split["float_feature_index"] for split in splits]]
        feature[inner], threshold[inner] = asked[level[inner]], border[level[inner]]
    nodes = np.arange(len(level))
    left, right = np.where(inner, 2 * nodes + 1, -1), np.where(inner, 2 * nodes + 2, -1)
    leaf = np.arange(2**depth)  # the first question is the highest bit here, the lowest there
    there = sum(((leaf >> (depth - 1 - i)) & 1) << i for i in range(depth)) + 0 * leaf
    value = np.zeros((len(level), outputs))
    value[~inner] = np.reshape(tree["leaf_values"], (2**depth, -1))[there]
    return Nodes(feature, threshold, left, right, value)


def _grown(tree: dict[str, Any], flat: np.ndarray, outputs: int) -> Nodes:
    """A tree of any shape, from its nested form."""
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    value: list[np.ndarray] = []
    waiting = [(tree, -1, left)]
    while waiting:
        node, parent, side = waiting.pop()
        here = len(feature)
        if parent >= 0:
            side[parent] = here
        leaf = "split" not in node
        feature.append(0 if leaf else int(flat[node["split"]["float_feature_index"]]))
        threshold.append(0.0 if leaf else node["split"]["border"])
        value.append(np.broadcast_to(node["value"], (outputs,)) if leaf else np.zeros(outputs))
        left.append(-1)
        right.append(-1)
        if not leaf:
            waiting += [(node["left"], here, left), (node["right"], here, right)]
    cuts = rounded_threshold(np.array(threshold))
    return Nodes(np.array(feature), cuts, np.array(left), np.array(right), np.array(value))


@adapts("catboost", "CatBoostRegressor", "CatBoostClassifier", "CatBoostRanker", "CatBoost")
def _catboost_model(f: Any) -> Adapter:
    """It has its own word for the columns it was fitted on, and counts them where it has no names."""
    names = list(f.feature_names_ or ())
    return Adapter(names=[] if names == [str(j) for j in range(len(names))] else names)


@family("catboost", "CatBoostRegressor")
def _catboost_sum(f: Any, output: Any) -> Form | None:
    loss = str(f.get_all_params().get("loss_function", "")).partition(":")[0]
    return _picked(_catboost(f), output) if loss in CATBOOST_SUMS else None


# --- scikit-learn -------------------------------------------------------------------------------------


@raw_outputs("sklearn", "HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
def _hist_gradient_boosting(f: Any) -> list[Form] | None:
    """The baseline + the sum of the trees of each class."""
    if getattr(f, "is_categorical_", None) is not None and np.any(f.is_categorical_):
        _refuse("split at thresholds", f, "categorical splits")
    start = np.ravel(f._baseline_prediction)
    return [
        joined([_hist_tree(iteration[k].nodes) for iteration in f._predictors], b)
        for k, b in enumerate(start)
    ]


@family("sklearn", "HistGradientBoostingRegressor")
def _hist_sum(f: Any, output: Any) -> Form | None:
    if type(f._loss.link).__name__ != "IdentityLink":
        return None  # an exponential of the sum
    return _picked(_hist_gradient_boosting(f), output)


def _hist_tree(nodes: np.ndarray) -> Nodes:
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, -1, nodes[side].astype(np.intp)) for side in ("left", "right"))
    threshold, feature = nodes["num_threshold"].astype(float), nodes["feature_idx"].astype(np.intp)
    return Nodes(feature, threshold, left, right, nodes["value"][:, None])


@raw_outputs("sklearn", "GradientBoostingClassifier")
def _gradient_boosting(f: Any) -> list[Form] | None:
    """The log odds to start from + learning_rate * the sum of the trees of each class."""
    if not isinstance(f.init_, str) and type(f.init_).__name__ != "DummyClassifier":
        return None  # it starts from another model
    origin = np.zeros((1, f.n_features_in_))
    start = np.ravel(f._raw_predict_init(origin))
    columns = range(f.estimators_.shape[1])
    grown = [
        [_sklearn_tree(t.tree_, f.learning_rate) for t in f.estimators_[:, k]] for k in columns
    ]
    return [joined(trees, b) for trees, b in zip(grown, start, strict=True)]


@raw_outputs("sklearn", "GradientBoostingRegressor")
def _gradient_boosted_sum(f: Any) -> list[Form] | None:
    """It has no link: what it predicts."""
    form = form_of(f)
    return None if form is None else [form]


def _sklearn_tree(tree: Any, rate: float) -> Nodes:
    left, right = (np.asarray(side) for side in (tree.children_left, tree.children_right))
    cuts = rounded_threshold(tree.threshold)
    return Nodes(tree.feature, cuts, left, right, rate * tree.value[:, 0, :1])


@raw_outputs(
    "sklearn",
    "LogisticRegression",
    "LogisticRegressionCV",
    "LinearSVC",
    "Perceptron",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
)
def _linear(f: Any) -> list[Form] | None:
    """coef_.x + intercept_ of each class."""
    coef = np.atleast_2d(np.asarray(f.coef_, float))
    start = np.broadcast_to(np.ravel(f.intercept_), (len(coef),))
    return [Linear(a, b) for a, b in zip(coef, start, strict=True)]


# --- margins ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Margin:
    """The raw output of a model for a label; made by :func:`limetutor.margin`."""

    model: Any
    label: Any = None

    @property
    def feature_names_in_(self) -> Any:
        """What the model was fitted on, where it says so."""
        return first_fitted(self.model).feature_names_in_

    @property
    def n_features_in_(self) -> Any:
        """How many features it was fitted on."""
        return first_fitted(self.model).n_features_in_

    def __call__(self, x: Any) -> np.ndarray:
        """The margin at each row of x."""
        raw = _raw(self.model, x)
        outputs = 1 if raw.ndim == 1 else raw.shape[1]
        column, sign = self.picks(outputs)
        return sign * (raw if raw.ndim == 1 else raw[:, column])

    def picks(self, outputs: int) -> tuple[int, float]:
        """Which raw output, and its sign: one output of two classes speaks for the second."""
        last = self.model.steps[-1][1] if hasattr(self.model, "steps") else self.model
        classes = listed_classes(last)
        if not classes:
            if self.label is None and outputs == 1:
                return 0, 1.0
            return output_column(self.label, outputs, [], name="label"), 1.0
        if self.label is None:
            raise ValueError(f"label must be a class of {arg.shorten(classes)}.")
        column = output_column(self.label, len(classes), classes, name="label")
        return (0, 1.0 if column else -1.0) if outputs == 1 else (column, 1.0)

    def __repr__(self) -> str:
        return f"margin({type(self.model).__name__}, {self.label!r})"


def margin(model: Any, label: Any = None) -> Margin:
    """A classifier on the scale on which it adds up: a function of rows with an exact limit.

    Trees and linear classifiers add up numbers and turn the sum into a probability at the end. The
    sum, the **margin** of ``label``, is what scikit-learn calls decision_function, XGBoost
    output_margin, LightGBM raw_score and CatBoost RawFormulaVal; for two classes it is the log odds
    of the label (of a support vector machine or the like, a distance; of a random forest of LightGBM
    the log odds times the number of trees). A regressor with a link (Poisson, say) has a margin too,
    without a label.

    Examples
    --------
    >>> import limetutor as lt
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> lt.limit(lt.margin(model, "yes"), [1.0], lt.Gaussian(1.5, 1.0), nu=1.0).method
    'exact'
    """
    found = Margin(model, label)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not _has_margin(last) or not _is_fitted(last):
        raise TypeError(
            "model must be a fitted classifier that has a margin (decision_function, or one of "
            f"XGBoost, LightGBM or CatBoost), got {arg.shorten(model)}."
        )
    classes = listed_classes(last)
    if classes:
        found.picks(1 if len(classes) == 2 else len(classes))
    return found


def _has_margin(model: Any) -> bool:
    if _kind(model)[0] in CALLS or hasattr(model, "decision_function"):
        return True
    return hasattr(model, "_raw_predict")  # scikit-learn's boosted regressors


def _is_fitted(model: Any) -> bool:
    if hasattr(model, "is_fitted"):  # CatBoost
        return bool(model.is_fitted())
    return hasattr(model, "n_features_in_")


def _raw(model: Any, x: Any) -> np.ndarray:
    """What a model adds up, (n,) or (n, outputs)."""
    if hasattr(model, "steps"):
        last = model.steps[-1][1]
        return _raw(last, model[:-1].transform(x) if len(model.steps) > 1 else x)
    call = CALLS.get(_kind(model)[0])
    if call is not None:
        return np.asarray(call(model, x), float)
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(x), float)
    if _kind(model) == ("sklearn", "GradientBoostingRegressor"):  # it has no link
        return np.asarray(model.predict(x), float)
    return np.ravel(model._raw_predict(np.asarray(x, float)))


# how other packages are asked for what they add up
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "xgboost": lambda model, x: model.predict(x, output_margin=True),
    "lightgbm": lambda model, x: model.predict(x, raw_score=True),
    "catboost": lambda model, x: model.predict(x, prediction_type="RawFormulaVal"),
}


def _picked(forms: list[Form] | None, output: Any) -> Form | None:
    """The form of one output; the only one where there is one."""
    if forms is None:
        return None
    if len(forms) == 1 and output is None:
        return forms[0]
    return forms[output_column(output, len(forms), [])]


@family("limetutor", "Margin")
def _margin(f: Any, output: Any) -> Form | None:
    """The form of what the model adds up for the label."""
    if output is not None:
        raise ValueError(f"output must be left out for a margin, got {arg.shorten(output)}.")
    model, move = f.model, None
    if hasattr(model, "steps"):
        model, move = model.steps[-1][1], scaled_steps(model)
        if move is None:
            return None
    reader = RAW.get(_kind(model))
    forms = None if reader is None else reader(model)
    if forms is None:
        return None
    column, sign = f.picks(len(forms))
    form = forms[column] if sign > 0 else _negative(forms[column])
    return form if move is None else form.moved(np.arange(len(move[0])), *move)


def _negative(form: Form) -> Form:
    if isinstance(form, Linear):
        return Linear(-form.a, -form.b)
    assert isinstance(form, Trees)
    return replace(form, value=-form.value, b=-form.b)
