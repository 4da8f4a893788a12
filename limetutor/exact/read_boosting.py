"""Boosted trees of XGBoost, LightGBM and CatBoost as sums of leaves.

Each package keeps its trees in a format of its own; a reader turns them into
:class:`limetutor.exact.trees.Trees`, one for each raw output. A regressor whose prediction is that sum
has an exact limit; a classifier's probability is a function of the sum, and is sampled unless its
margin is explained (:mod:`limetutor.exact.margins`). No package is imported before the caller has.
Chapter: beyond linear.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core.models import Form
from ..inputs import arguments as arg
from ..inputs.predictors import Adapter, adapts
from .readers import family, picked, raw_outputs, refuse
from .trees import Tree, Trees, rounded_threshold

# --- XGBoost ------------------------------------------------------------------------------------------

XGBOOST_REGRESSORS = ("XGBRegressor", "XGBRFRegressor", "XGBRanker")
XGBOOST = (*XGBOOST_REGRESSORS, "XGBClassifier", "XGBRFClassifier")
# objectives whose prediction is the sum of the leaves
XGBOOST_SUMS = (
    "reg:squarederror reg:squaredlogerror reg:absoluteerror reg:pseudohubererror "
    "reg:quantileerror reg:linear rank:pairwise rank:ndcg rank:map"
).split()


@raw_outputs("xgboost", *XGBOOST)
def _xgboost_outputs(f: Any) -> list[Trees] | None:
    """The base score + the sum of the trees of each group; a row goes left where x < threshold."""
    if f.missing is not None and not np.isnan(f.missing):
        return None  # a number that stands for a missing value takes another branch
    learner = json.loads(bytes(f.get_booster().save_raw("json")))["learner"]
    booster = learner["gradient_booster"]
    booster = booster.get("gbtree", {}) | booster  # around the trees of dart before XGBoost 3.4
    model = booster.get("model", {})
    if "trees" not in model:
        return None  # linear boosters have no trees
    # of dart, in the file of one version or the other
    weights = (model | booster).get("weight_drop", np.ones(len(model["trees"])))
    last = getattr(f, "best_iteration", None)
    end = len(model["trees"]) if last is None else model["iteration_indptr"][last + 1]
    if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in model["trees"]):
        return None  # leaves that hold a vector
    trees = [_xgboost_tree(f, t, w) for t, w in zip(model["trees"][:end], weights, strict=False)]
    params = learner["learner_model_param"]
    count = max(int(params["num_class"]), int(params.get("num_target", 1)), 1)
    groups = model["tree_info"][:end]
    sums = [
        Trees.stack([tree for tree, group in zip(trees, groups, strict=True) if group == k])
        for k in range(count)
    ]
    base = np.atleast_1d(np.array(json.loads(str(params["base_score"])), float))
    return _with_base_score(f, sums, np.broadcast_to(base, (count,)))


def _xgboost_tree(f: Any, tree: dict[str, Any], weight: float) -> Tree:
    if tree["categories_nodes"]:
        refuse("split at thresholds", f, "categorical splits")
    left, right = (np.array(tree[side], np.intp) for side in ("left_children", "right_children"))
    single = np.array(tree["split_conditions"], np.float32)  # thresholds, and values of leaves
    # x < threshold, in single precision, is x <= the number before it
    cuts = rounded_threshold(np.nextafter(single, np.float32(-np.inf)).astype(float))
    value = weight * single.astype(float)[:, None]
    return Tree(np.array(tree["split_indices"], np.intp), cuts, left, right, value)


def _with_base_score(f: Any, sums: list[Trees], base_score: np.ndarray) -> list[Trees]:
    """The sums with the constant that they start from.

    The file has it on the scale of the prediction, and the objective decides which function leads to
    the margin. So the model is evaluated at one point, and the nearest of three functions is taken.
    """
    origin = np.zeros((1, int(f.n_features_in_)))
    last = getattr(f, "best_iteration", None)
    rounds = (0, 0) if last is None else (0, last + 1)
    margin = f.get_booster().inplace_predict(origin, iteration_range=rounds, predict_type="margin")
    outputs, totals = [], np.ravel(np.asarray(margin, float))
    for form, base, total in zip(sums, base_score, totals, strict=True):
        start = total - form(origin)[0]
        with np.errstate(all="ignore"):
            candidates = np.array([base, np.log(base / (1 - base)), np.log(base)])
        distance = np.where(np.isfinite(candidates), np.abs(candidates - start), np.inf)
        nearest = np.nanargmin(distance)
        close = distance[nearest] <= 1e-4 * max(abs(start), 1.0)
        outputs.append(replace(form, b=float(candidates[nearest] if close else start)))
    return outputs


@family("xgboost", *XGBOOST_REGRESSORS)
def _xgboost(f: Any, output: Any) -> Form | None:
    return picked(_xgboost_outputs(f), output) if f.objective in XGBOOST_SUMS else None


@adapts("xgboost", "Booster")
def _booster_adapter(f: Any) -> Adapter:
    """What XGBoost's own training function returns predicts from its own class of matrix."""
    from xgboost import DMatrix

    def call(rows: Any) -> Any:
        return f.predict(DMatrix(rows, enable_categorical=True))

    return Adapter(call, list(f.feature_names or ()), categories=_xgboost_types(f))


@adapts("xgboost", *XGBOOST)
def _xgboost_adapter(f: Any) -> Adapter:
    return Adapter(categories=_xgboost_types(f.get_booster()))


def _xgboost_types(booster: Any) -> Callable[[list[str]], dict[str, Any]]:
    """Columns that were categories when it was fitted; it keeps the order of their values itself."""
    names, types = booster.feature_names or (), booster.feature_types or ()
    categorical = [name for name, letter in zip(names, types, strict=False) if letter == "c"]
    return lambda labels: dict.fromkeys(categorical)


# --- LightGBM -----------------------------------------------------------------------------------------

# objectives, as the model's own file calls them, whose prediction is the sum of the leaves
LIGHTGBM_SUMS = "regression regression_l1 huber fair quantile mape lambdarank rank_xendcg".split()


@raw_outputs("lightgbm", "LGBMRegressor", "LGBMRanker", "LGBMClassifier")
def _lightgbm_outputs(f: Any, mean: bool = False) -> list[Trees] | None:
    """The sum of the trees, the first of which hold the start; a row goes left where x <= threshold.

    With ``mean`` they are averaged, as a forest predicts.
    """
    head, *blocks = f.booster_.model_to_string().split("\nTree=")
    count = int(_lightgbm_entries(head)["num_tree_per_iteration"])
    trees = [_lightgbm_tree(f, block) for block in blocks]
    share = count / max(len(trees), 1) if mean else 1.0
    scaled = [tree._replace(value=share * tree.value) for tree in trees if tree is not None]
    if len(scaled) < len(trees):
        return None
    return [Trees.stack(scaled[k::count]) for k in range(count)]


def _lightgbm_entries(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.splitlines() if "=" in line)


def _lightgbm_tree(f: Any, block: str) -> Tree | None:
    """A tree of the file, whose nodes point at leaf k by -1 - k; here leaves follow the nodes."""
    facts = _lightgbm_entries(block)
    if int(facts["num_cat"]):
        refuse("split at thresholds", f, "categorical splits")
    if int(facts.get("is_linear", 0)):
        return None  # a linear model in each leaf
    value = np.array(facts["leaf_value"].split(), float)
    if len(value) == 1:
        return Tree.leaf(value)
    feature, left, right, decision = (
        np.array(facts[key].split(), np.intp)
        for key in ("split_feature", "left_child", "right_child", "decision_type")
    )
    if np.any((decision >> 2) & 3 == 1):
        return None  # zeros count as missing and take another branch
    inner, none = len(feature), np.full(len(value), -1)
    left, right = (
        np.concatenate([np.where(side < 0, inner - 1 - side, side), none]) for side in (left, right)
    )
    threshold = np.concatenate([np.array(facts["threshold"].split(), float), 0.0 * value])
    values = np.concatenate([np.zeros(inner), value])
    return Tree(np.concatenate([feature, 0 * none]), threshold, left, right, values[:, None])


@family("lightgbm", "LGBMRegressor", "LGBMRanker")
def _lightgbm(f: Any, output: Any) -> Form | None:
    lines = f.booster_.model_to_string().partition("\nTree=")[0].splitlines()
    if not any(f"objective={name}" in lines for name in LIGHTGBM_SUMS):  # not "regression sqrt"
        return None
    return picked(_lightgbm_outputs(f, mean="average_output" in lines), output)


@adapts("lightgbm", "LGBMRegressor", "LGBMRanker", "LGBMClassifier", "Booster")
def _lightgbm_adapter(f: Any) -> Adapter:
    """It keeps the categories of each such column, in order, and not which columns those were."""
    booster = getattr(f, "booster_", f)
    names, fitted_on = booster.feature_name(), booster.pandas_categorical or []
    counted = names == [f"Column_{j}" for j in range(len(names))]  # fitted on an array

    def categories(labels: list[str]) -> dict[str, Any]:
        if fitted_on and len(labels) != len(fitted_on):
            raise ValueError(
                f"f was fitted on {len(fitted_on)} columns of pandas' dtype 'category', got a world with "
                f"{len(labels)} columns of labels, {arg.shorten(labels)}; make it from the same table."
            )
        return dict(zip(labels, fitted_on, strict=True)) if fitted_on else {}

    names = [] if counted else names
    return Adapter(None, names, lambda name: name.replace(" ", "_"), categories)


# --- CatBoost -----------------------------------------------------------------------------------------

CATBOOST = ("CatBoostRegressor", "CatBoostClassifier", "CatBoostRanker", "CatBoost")
# losses whose prediction is the sum of the leaves
CATBOOST_SUMS = ("RMSE", "MAE", "Quantile", "MAPE", "Huber", "LogCosh", "Lq", "Expectile")


@raw_outputs("catboost", *CATBOOST)
def _catboost_outputs(f: Any) -> list[Trees]:
    """scale * the sum of the trees + bias; a row goes right where x > border, in single precision."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        f.save_model(str(path), format="json")
        model = json.loads(path.read_text())
    info = model["features_info"]
    if any(info.get(f"{kind}_features") for kind in ("categorical", "text", "embedding")):
        refuse("split at thresholds", f, "categorical, text or embedding features")
    flat = np.array([entry["flat_feature_index"] for entry in info["float_features"]], np.intp)
    scale, bias = model["scale_and_bias"]
    bias = np.atleast_1d(np.array(bias, float))
    trees = [_oblivious(tree, flat, len(bias)) for tree in model.get("oblivious_trees", ())]
    trees += [_asymmetric(tree, flat, len(bias)) for tree in model.get("trees", ())]
    scaled = [tree._replace(value=scale * tree.value) for tree in trees]
    return [Trees.stack(scaled, float(b), k) for k, b in enumerate(bias)]


def _oblivious(tree: dict[str, Any], flat: np.ndarray, outputs: int) -> Tree:
    """A tree with the same split at all nodes of a level, as a heap of nodes."""
    splits = tree.get("splits") or []
    depth = len(splits)
    level = np.floor(np.log2(np.arange(1, 2 ** (depth + 1)))).astype(int)
    inner = level < depth
    feature, threshold = np.zeros(len(level), np.intp), np.zeros(len(level))
    if depth:
        border = rounded_threshold(np.array([split["border"] for split in splits], float))
        features = flat[[split["float_feature_index"] for split in splits]]
        feature[inner], threshold[inner] = features[level[inner]], border[level[inner]]
    nodes = np.arange(len(level))
    left, right = np.where(inner, 2 * nodes + 1, -1), np.where(inner, 2 * nodes + 2, -1)
    leaf = np.arange(2**depth)  # the first split is the highest bit of a heap, CatBoost's lowest
    reversed_bits = sum(((leaf >> (depth - 1 - i)) & 1) << i for i in range(depth)) + 0 * leaf
    value = np.zeros((len(level), outputs))
    value[~inner] = np.reshape(tree["leaf_values"], (2**depth, -1))[reversed_bits]
    return Tree(feature, threshold, left, right, value)


def _asymmetric(tree: dict[str, Any], flat: np.ndarray, outputs: int) -> Tree:
    """A tree of any shape, from its nested form."""
    nodes, children = [tree], []
    for node in nodes:  # which grows: children are appended in pairs
        children.append(len(nodes) if "split" in node else -1)
        nodes += [node["left"], node["right"]] if "split" in node else []
    splits = [node.get("split", {"float_feature_index": 0, "border": 0.0}) for node in nodes]
    feature = flat[[split["float_feature_index"] for split in splits]]
    cuts = rounded_threshold(np.array([split["border"] for split in splits], float))
    left = np.array(children)
    value = np.array([np.broadcast_to(node.get("value", 0.0), (outputs,)) for node in nodes])
    return Tree(feature, cuts, left, np.where(left < 0, -1, left + 1), value)


@adapts("catboost", *CATBOOST)
def _catboost_adapter(f: Any) -> Adapter:
    """It calls the columns it was fitted on ``feature_names_``, and numbers them if they have no names."""
    names = list(f.feature_names_ or ())
    return Adapter(names=[] if names == [str(j) for j in range(len(names))] else names)


@family("catboost", "CatBoostRegressor")
def _catboost(f: Any, output: Any) -> Form | None:
    loss = str(f.get_all_params().get("loss_function", "")).partition(":")[0]
    return picked(_catboost_outputs(f), output) if loss in CATBOOST_SUMS else None
