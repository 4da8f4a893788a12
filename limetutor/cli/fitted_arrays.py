"""Checks of fitted models from files, before they are called.

Compiled code of scikit-learn follows the arrays of a fitted model without looking: a child of a node
that does not exist, or a class too many, is read or written beyond the end of an array. Here each such
relation is checked, for every class that :mod:`limetutor.cli.model_types` lists.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import issparse

from .refusals import RefusedError, refuse

LEAF = -1  # the child of a leaf of scikit-learn's trees
WORDS = 8  # of 32 bits, in a set of categories
MAX_CLASSES = 10_000
MAX_SIDE = 2**20  # features, and rows or columns of a sparse matrix: as of a HashingVectorizer

# by the name of the class: the attribute that a fitted one has, and the check
CHECKS: dict[str, tuple[str, Callable[[Any], None]]] = {}


def checks(attribute: str, *names: str) -> Callable[[Any], Any]:
    """Register a check for classes of scikit-learn, called where they have the attribute."""

    def register(check: Any) -> Any:
        CHECKS.update(dict.fromkeys(names, (attribute, check)))
        return check

    return register


def check(model: Any) -> None:
    """Refuse a model whose arrays do not fit together; search trees are built anew.

    What is inside comes first: the check of a model may call those in it.
    """
    for part in reversed([*_parts(model)]):
        _refuse_overriding(part)
        names = getattr(part, "__dict__", {}).get("feature_names_in_", ())
        _require(part, np.size(names) <= MAX_SIDE, f"more than {MAX_SIDE:,} features")
        names = np.asarray(names, object)
        texts = {name for name in names.ravel().tolist() if isinstance(name, str)}
        _require(part, names.shape == (len(texts),), "features of the same name or of none")
        if getattr(part, "n_jobs", None) is not None:
            part.n_jobs = None  # the number of processes is not the file's to choose
        if _of_sklearn(part):
            attribute, check_part = CHECKS.get(type(part).__name__, ("", _check_classes))
            if attribute and not hasattr(part, attribute):
                continue  # a template for others to be fitted from
            try:
                _check_classes(part)
                check_part(part)
            except RefusedError:
                raise
            except Exception as error:  # of attributes that are missing or of another type
                words = " ".join(str(error).split())[:100].rstrip(".")
                _refuse(part, f"{type(error).__name__}: {words}")


def _parts(model: Any) -> Iterator[Any]:
    """The model and all objects in its attributes, once each."""
    seen, waiting = {}, [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, type | str | bytes | int | float | None):
            continue
        seen[id(part)] = part  # kept: another object must not get the same id
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype == object else []
        elif issparse(part):
            _check_sparse(part)
        else:
            yield part
            waiting += getattr(part, "__dict__", {}).values()


def _refuse(part: Any, words: str) -> NoReturn:
    refuse(f"model is damaged or was made to do harm: {type(part).__name__} with {words}.")


def _require(part: Any, right: Any, words: str) -> None:
    if not bool(np.all(right)):
        _refuse(part, words)


def _refuse_overriding(part: Any) -> None:
    """An attribute in place of a method would be called in its place; so with what a class fixes."""
    for name in getattr(part, "__dict__", ()):
        _require(part, isinstance(name, str), "an attribute whose name is no text")
        if not hasattr(type(part), name):
            continue
        parameters = inspect.signature(type(part).__init__).parameters
        if callable(getattr(type(part), name)) or (_of_sklearn(part) and name not in parameters):
            _refuse(part, f"an attribute in place of {name} of its class")


def _of_sklearn(part: Any) -> bool:
    return type(part).__module__.startswith("sklearn.")


def _check_sparse(matrix: Any) -> None:
    _require(matrix, matrix.format in ("csr", "csc"), f"the format {matrix.format}")
    side = f"more than {MAX_SIDE:,} rows or columns"
    _require(matrix, max(matrix.shape) <= MAX_SIDE, side)
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        _refuse(matrix, str(error))


# --- trees ---------------------------------------------------------------------------------------------


def check_tree_node(node: dict[str, Any], value: Callable[[Any], Any]) -> None:
    """Check the tree that a node of a skops file describes, before it is made.

    ``value`` reads the number or the array of a node.
    """
    try:
        args, content = node["__reduce__"]["args"], node["content"]
        features, classes, outputs = map(value, args["content"])
        state = {key: value(part) for key, part in content["content"].items()}
        keys = [_name_of(part) for part in content["key_types"]["content"]]
        nodes, values, count = state["nodes"], state["values"], state["node_count"]
        left, feature, threshold = nodes["left_child"], nodes["feature"], nodes["threshold"]
        sizes = all(type(size) is int for size in (features, outputs, count, state["max_depth"]))
        right = (
            sizes
            and (_name_of(args), _name_of(content)) == ("builtins.tuple", "builtins.dict")
            and content["__loader__"] == "DictNode"
            and content["key_types"]["__loader__"] == "ListNode"
            and keys == ["builtins.str"] * len(state) == ["builtins.str"] * 4
            and classes.dtype.kind == "i"
            and classes.shape == (outputs,)
            and classes.min() >= 1
            and nodes.shape == (count,)
            and values.shape == (count, outputs, classes.max())
        )
    except (AttributeError, LookupError, TypeError, ValueError):
        right = False
    if not right:
        refuse("model is damaged or was made to do harm: a tree whose arrays do not fit together.")
    leaf = left == LEAF
    if np.any(np.isnan(threshold[~leaf])):  # infinity splits missing values from the others
        refuse("model is damaged or was made to do harm: a tree with nan for a threshold.")
    _check_branches(left, nodes["right_child"], leaf)
    _check_features(feature[~leaf], features)


def _name_of(node: dict[str, Any]) -> str:
    return f"{node['__module__']}.{node['__class__']}"


def _check_branches(left: np.ndarray, right: np.ndarray, leaf: np.ndarray) -> None:
    """Every node but the first is the child of exactly one node, which comes before it."""
    parents = np.flatnonzero(~leaf)
    children = np.concatenate([left[parents], right[parents]]).astype(np.int64)
    if (
        not len(leaf)
        or np.any(children <= np.concatenate([parents, parents]))
        or not np.array_equal(np.sort(children), np.arange(1, len(leaf)))
    ):
        refuse("model is damaged or was made to do harm: a tree whose nodes do not form a tree.")


def _check_features(feature: np.ndarray, features: int) -> None:
    if np.any((feature < 0) | (feature >= features)):
        refuse("model is damaged or was made to do harm: a tree with a feature that is not there.")


def _whole(part: Any, name: str) -> int:
    """An attribute that must be a whole number, of 1 or more."""
    value = getattr(part, name)
    _require(part, type(value) is int and value >= 1, f"{name} that is no whole number")
    return int(value)


@checks("tree_", "DecisionTreeClassifier", "DecisionTreeRegressor")
@checks("tree_", "ExtraTreeClassifier", "ExtraTreeRegressor")
def _tree(f: Any) -> None:
    _require(f, f.tree_.n_features == _whole(f, "n_features_in_"), "a tree of other features")
    _require(f, f.tree_.n_outputs == _whole(f, "n_outputs_"), "a tree of other outputs")


@checks("estimators_", "RandomForestClassifier", "RandomForestRegressor")
@checks("estimators_", "ExtraTreesClassifier", "ExtraTreesRegressor")
def _forest(f: Any) -> None:
    d = _whole(f, "n_features_in_")
    _require(f, len(f.estimators_) > 0, "no trees")
    for tree in f.estimators_:
        right = (tree.tree_.n_features, tree.tree_.n_outputs) == (d, _whole(f, "n_outputs_"))
        _require(f, right, "a tree of other features or outputs")


def _check_classes(f: Any) -> None:
    """Predictions have as many columns as there are classes, and their names are in memory."""
    own = getattr(f, "__dict__", {})
    if "classes_" not in own:
        return
    listed = own["classes_"] if isinstance(own["classes_"], list) else [own["classes_"]]
    sizes = [np.size(classes) for classes in listed]
    _require(f, np.array(sizes) <= MAX_CLASSES, f"more than {MAX_CLASSES:,} classes")
    if "n_classes_" in own:
        right = np.ravel(own["n_classes_"]).tolist() == sizes
        _require(f, right, "n_classes_ that is not that of classes_")


@checks("estimators_", "GradientBoostingClassifier", "GradientBoostingRegressor")
def _gradient_boosting(f: Any) -> None:
    """Trees add to one column each of what the first model predicts."""
    d, k = _whole(f, "n_features_in_"), f.estimators_.shape[1]
    _require(f, f.estimators_.ndim == 2 and f.estimators_.size, "no trees")
    for tree in f.estimators_.flat:
        sizes = (tree.tree_.n_features, tree.tree_.n_outputs, tree.tree_.max_n_classes)
        _require(f, sizes == (d, 1, 1), "a tree of other features or outputs")
    _require(f, _whole(f, "n_trees_per_iteration_") == k, "another number of trees")
    for n in (1, 3):
        first = f._raw_predict_init(np.zeros((n, d), np.float32))
        _require(f, first.shape == (n, k), "a first model of another shape")


@checks("_predictors", "HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
def _hist_gradient_boosting(f: Any) -> None:
    d, trees = _whole(f, "n_features_in_"), [tree for row in f._predictors for tree in row]
    k, categorical = _whole(f, "n_trees_per_iteration_"), f._bin_mapper.is_categorical_
    _require(f, [len(row) == k for row in f._predictors], "another number of trees")
    _require(f, categorical.shape == (d,), "categories of other features")
    _require(f, not getattr(f, "_in_fit", False), "a fit that has not ended")
    for tree in trees:
        nodes = tree.nodes
        leaf, sets = nodes["is_leaf"].astype(bool), nodes["is_categorical"].astype(bool)
        _check_branches(nodes["left"], nodes["right"], leaf)
        _check_features(nodes["feature_idx"][~leaf], d)
        _require(f, ~np.isnan(nodes["num_threshold"][~leaf & ~sets]), "nan for a threshold")
        split = nodes[~leaf & sets]
        _require(f, categorical[split["feature_idx"]], "categories of a number")
        bits = tree.raw_left_cat_bitsets
        _require(f, bits.ndim == 2 and bits.shape[1] == WORDS, "categories that are no sets")
        _require(f, split["bitset_idx"] < len(bits), "categories that are not there")
    columns = f._preprocess_X(np.zeros((1, d)), reset=False).shape[1]
    _require(f, columns == d, "columns of other features")


# --- other classes with compiled code ------------------------------------------------------------------


@checks("support_vectors_", "SVC", "NuSVC", "SVR", "NuSVR")
def _support_vectors(f: Any) -> None:
    """Support vectors come class by class, with a weight for every other class."""
    d, vectors, counts = _whole(f, "n_features_in_"), f.support_vectors_, np.asarray(f._n_support)
    classifies = type(f).__name__ in ("SVC", "NuSVC")
    _require(f, hasattr(f, "classes_") == classifies, "classes of a regressor, or none")
    classes = len(f.classes_) if classifies else 2
    _require(f, classes >= 2, "a single class")
    pairs = classes * (classes - 1) // 2
    total = vectors.shape[0] if classifies else counts[0]
    _require(f, type(f._sparse) is bool, "_sparse that is neither true nor false")
    for part in (vectors, f._dual_coef_):
        right = part.format == "csr" if issparse(part) else isinstance(part, np.ndarray)
        _require(f, right and issparse(part) == f._sparse, "support vectors of another kind")
    weights = f._dual_coef_.data if f._sparse else f._dual_coef_
    _require(f, vectors.ndim == 2 and vectors.shape[1] == d, "support vectors of other features")
    _require(f, counts >= 0, "fewer than no support vectors of a class")
    _require(f, counts.shape == (classes,), "support vectors of other classes")
    _require(f, np.sum(counts[: None if classifies else 1]) == total, "other counts")
    _require(f, total == vectors.shape[0], "another number of support vectors")
    _require(f, f._sparse or np.shape(f.support_) == (total,), "support_ of another length")
    _require(f, weights.size == (classes - 1) * total, "weights of another number")
    _require(f, f._sparse or weights.shape == (classes - 1, total), "weights of another shape")
    _require(f, np.shape(f._intercept_) == (pairs,), "intercepts of another number")
    for scale in (f._probA, f._probB):
        _require(f, np.size(scale) in (0, pairs), "probabilities of other classes")
    _require(f, np.size(f._probA) == np.size(f._probB), "probabilities of other classes")
    _require(f, isinstance(f.kernel, str) and f.kernel != "precomputed", "a kernel of its own")


@checks("_fit_X", "KNeighborsClassifier", "KNeighborsRegressor")
def _neighbours(f: Any) -> None:
    """The tree that finds neighbours is built anew from the points; labels are positions of classes."""
    points, d = f._fit_X, _whole(f, "n_features_in_")
    sparse = issparse(points)
    _require(f, points.ndim == 2 and points.shape == (f.n_samples_fit_, d), "points of other sizes")
    _require(f, len(f._y) == points.shape[0], "labels of another number")
    _require(f, _whole(f, "n_neighbors") <= f.n_samples_fit_, "more neighbours than points")
    _require(f, isinstance(f.effective_metric_, str), "a metric of its own")
    _require(f, isinstance(f.metric, str) and f.metric != "precomputed", "a metric of its own")
    for name, value in {**(f.metric_params or {}), **f.effective_metric_params_}.items():
        shape = {
            "p": (),
            "V": (d,) if f.metric == "seuclidean" else (d, d),
            "VI": (d, d),
            "w": (d,),
        }
        right = value is None or np.shape(value) == shape.get(name)
        _require(f, right, "a metric of other features")
    if hasattr(f, "classes_") and not f.outputs_2d_:
        _require(f, f._y.ndim == 1 and f._y.dtype.kind == "i", "labels that are no positions")
        _require(f, (f._y >= 0) & (f._y < len(f.classes_)), "labels of other classes")
    f._tree = None
    if f._fit_method in ("kd_tree", "ball_tree") and not sparse:
        from sklearn.neighbors import BallTree, KDTree

        search = KDTree if f._fit_method == "kd_tree" else BallTree
        how = f.effective_metric_params_ or {}
        f._tree = search(points, f.leaf_size, metric=f.effective_metric_, **how)
    else:
        _require(f, f._fit_method == "brute", "no way to find neighbours")


@checks("func", "FunctionTransformer")
def _function(f: Any) -> None:
    """The file names the functions, and what they are called with."""
    for function in (f.func, f.inverse_func):
        _require(f, not isinstance(function, type), "a class in place of a function")
    for given in (f.kw_args, f.inv_kw_args):
        _require(f, not {"where", "out"} & {*(given or {})}, "arguments for parts of an array")


@checks("_max_degree", "PolynomialFeatures")
def _polynomial(f: Any) -> None:
    """Compiled code counts with the flag: as 3 it is given less memory than it writes to."""
    _require(f, type(f.interaction_only) is bool, "a flag that is neither true nor false")


@checks("transformers_", "ColumnTransformer")
def _columns(f: Any) -> None:
    """Fitting has called what chooses columns."""
    chosen = [columns for *_, columns in f.transformers_]
    _require(f, [not callable(columns) for columns in chosen], "columns that are still to choose")


@checks("stack_method_", "StackingClassifier", "StackingRegressor")
def _stacking(f: Any) -> None:
    """The file names the methods that are called."""
    names = {"decision_function", "predict", "predict_proba"}
    _require(f, [name in names for name in f.stack_method_], "a method that predicts nothing")
    _require(f, [_of_sklearn(model) for model in f.estimators_], "models that are none")


@checks("bin_thresholds_", "_BinMapper")
def _bins(f: Any) -> None:
    d = len(f.bin_thresholds_)
    right = f.n_bins_non_missing_.shape == f.is_categorical_.shape == (d,)
    _require(f, right, "bins of other features")


@checks("categories_", "OneHotEncoder")
def _one_hot(f: Any) -> None:
    """Each category has a column of its own among those of its feature."""
    categories, columns = f.categories_, f._n_features_outs
    _require(f, len(categories) == len(columns) == f.n_features_in_, "categories of other features")
    dropped = f._drop_idx_after_grouping
    grouped: Any = (
        f._default_to_infrequent_mappings if f._infrequent_enabled else [None] * len(columns)
    )
    for i, (known, count) in enumerate(zip(categories, columns, strict=True)):
        given = known.tolist()
        present = [value for value in given if value is not None and value == value]
        # texts are looked up by name; numbers in no order would be found beyond the last
        if not all(isinstance(value, str) for value in present):
            rise = given[: len(present)] == present == sorted(set(present))
            _require(f, rise, "categories that do not rise")
        position: Any = np.arange(len(known))
        if grouped[i] is not None:
            _require(f, grouped[i].shape == position.shape, "categories of another number")
            _require(f, f._infrequent_indices[i][0] < len(known), "a category that is not there")
            position = grouped[i]
        if dropped is not None and dropped[i] is not None:
            position = position[position != dropped[i]]
            position = np.where(position > dropped[i], position - 1, position)
        _require(f, type(count) is int and 0 <= count <= len(known), "columns without a category")
        _require(f, (position >= 0) & (position < count), "a category without a column")
