"""Which fitted model is which form: one small function per family, registered by class name.

A function takes the fitted estimator and ``output`` (the class or the column that was asked for)
and returns a form of :mod:`limetutor.exact`, or None where f must be sampled. It refuses, in a
sentence, what belongs to a family but has no form. To add a model: write the function under
``@family("package", "ClassName")``. No package is imported before the caller has.
Chapter: beyond linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from . import arguments as arg
from .exact import Bumps, Trees, Units
from .models import Form, Linear, first_fitted, fitted_columns, output_column
from .worlds import Boxes

Family = Callable[[Any, Any], Form | None]

# the package and the class of a fitted model, and the function that gives its form
FAMILIES: dict[tuple[str, str], Family] = {}


def family(package: str, *names: str) -> Callable[[Family], Family]:
    """Register a function for the classes of those names in that package."""

    def register(function: Family) -> Family:
        FAMILIES.update({(package, name): function for name in names})
        return function

    return register


def form_of(f: Any, output: Any = None) -> Form | None:
    """The form of a model, or None where it has none and must be sampled.

    Only the registered classes themselves count: a subclass may predict something else.
    """
    if isinstance(f, Form):
        return f
    package = type(f).__module__.partition(".")[0]
    function = FAMILIES.get((package, type(f).__name__))
    if function is None:
        return None
    if package == "sklearn":
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(f)
    return function(f, output)


def form_in(boxes: Boxes, f: Any, output: Any) -> Form | None:
    """The form of f in the coordinates of a world, or None."""
    if isinstance(f, Form):
        if f.d is not None and f.d != boxes.d:
            name = "a" if hasattr(f, "a") else "f"
            raise ValueError(
                f"{name} must have {boxes.d} entries, one per feature of the world, got {f.d}."
            )
        if output is not None:
            raise ValueError(
                f"output must be left out when f has a single output, got {arg.shorten(output)}."
            )
        return f
    features = features_of(f)
    if features is not None and features != boxes.d:
        raise ValueError(
            f"f must have been fitted on {boxes.d} features, as many as the world has, "
            f"got one fitted on {features}."
        )
    columns = fitted_columns(f, boxes)
    if boxes.has_text or boxes.has_gaps:
        return None  # text and gaps: the model turns them into numbers in its own way
    form = form_of(f, output)
    if form is None or not columns or set(columns) != set(boxes.names):
        return form
    order = np.array([boxes.names.index(name) for name in columns])
    if np.all(order == np.arange(boxes.d)):
        return form
    return form.moved(order, np.ones(boxes.d), np.zeros(boxes.d))


def features_of(f: Any) -> int | None:
    """The number of features that f was fitted on, where it says so."""
    if isinstance(f, Form):
        return f.d
    count: Any = getattr(first_fitted(f), "n_features_in_", None)
    return int(count) if arg.is_integer(count) else None


def _refuse(wanted: str, f: Any, got: str) -> NoReturn:
    raise ValueError(
        f"f must {wanted} for an exact limit, got {type(f).__name__} with {got}; "
        "pass a function such as f.predict to have it sampled."
    )


def _picked(values: Any, output: Any) -> np.ndarray:
    """Row ``output`` of (outputs, k) values; the only one where there is one."""
    values = np.atleast_2d(_dense(values))
    if len(values) == 1 and output is None:
        return values[0]
    return values[output_column(output, len(values), [])]


def _dense(values: Any) -> np.ndarray:
    """An attribute of a fitted model as floats; models fitted on sparse tables keep it sparse."""
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, float)


LINEAR = (
    "ARDRegression BayesianRidge ElasticNet ElasticNetCV HuberRegressor Lars LarsCV Lasso LassoCV "
    "LassoLars LassoLarsCV LassoLarsIC LinearRegression LinearSVR MultiTaskElasticNet "
    "MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV OrthogonalMatchingPursuit "
    "OrthogonalMatchingPursuitCV PassiveAggressiveRegressor QuantileRegressor Ridge RidgeCV "
    "SGDRegressor TheilSenRegressor"
).split()


@family("sklearn", *LINEAR)
def _linear(f: Any, output: Any) -> Linear:
    """coef_.x + intercept_."""
    coef = np.atleast_2d(_dense(f.coef_))
    a = _picked(coef, output)
    intercept = np.broadcast_to(np.ravel(f.intercept_), (len(coef),))
    return Linear(a, _picked(intercept[:, None], output)[0])


@family("sklearn", "KernelRidge")
def _kernel_ridge(f: Any, output: Any) -> Any:
    """sum_i dual_i k(x, x_i)."""
    if f.kernel != "rbf":
        _refuse("have an RBF kernel", f, f"kernel={arg.shorten(f.kernel)}")
    t = _dense(f.X_fit_)
    gamma = 1 / t.shape[1] if f.gamma is None else f.gamma
    return Bumps(_picked(np.transpose(f.dual_coef_), output), t, np.full(t.shape, float(gamma)))


@family("sklearn", "SVR", "NuSVR")
def _svr(f: Any, output: Any) -> Any:
    """sum_i dual_i k(x, support_i) + intercept."""
    if f.kernel == "linear":
        return _linear(f, output)
    if f.kernel != "rbf":
        _refuse("have an RBF kernel", f, f"kernel={arg.shorten(f.kernel)}")
    t = _dense(f.support_vectors_)
    gamma = np.full(t.shape, float(f._gamma))
    return Bumps(np.ravel(_dense(f.dual_coef_)), t, gamma, float(f.intercept_[0]))


@family("sklearn", "GaussianProcessRegressor")
def _gaussian_process(f: Any, output: Any) -> Any:
    """Mean + deviation sum_i alpha_i k(x, x_i), for constants, RBFs, their sums and products."""
    if not hasattr(f, "X_train_"):  # scikit-learn predicts from the prior alone
        _refuse("be fitted", f, "no training points")
    t = np.asarray(f.X_train_, float)
    columns = 1 if f.alpha_.ndim == 1 else f.alpha_.shape[1]
    shift, scale = (
        _picked(np.broadcast_to(np.ravel(v), (columns,))[:, None], output)[0]
        for v in (f._y_train_mean, f._y_train_std)
    )
    c = scale * _picked(np.transpose(f.alpha_), output)
    terms = _kernel_terms(f.kernel_, t.shape[1], f)
    b = float(shift + sum(height * c.sum() for height, gamma in terms if not np.any(gamma)))
    bumps = [(height, gamma) for height, gamma in terms if np.any(gamma)]
    if not bumps:
        return Linear(np.zeros(t.shape[1]), b)
    c = np.concatenate([height * c for height, _ in bumps])
    gamma = np.concatenate([np.broadcast_to(gamma, t.shape) for _, gamma in bumps])
    return Bumps(c, np.tile(t, (len(bumps), 1)), gamma, b)


def _kernel_terms(kernel: Any, d: int, f: Any) -> list[tuple[float, np.ndarray]]:
    """A kernel as a sum of height * exp(-sum_j gamma_j (x_j - t_j)^2)."""
    name = type(kernel).__name__
    if name == "ConstantKernel":
        return [(kernel.constant_value, np.zeros(d))]
    if name == "RBF":
        return [(1.0, np.broadcast_to(1 / (2 * np.square(kernel.length_scale)), (d,)))]
    if name == "WhiteKernel":  # noise is of the training points alone
        return []
    if name in ("Sum", "Product"):
        first, second = (_kernel_terms(k, d, f) for k in (kernel.k1, kernel.k2))
        if name == "Sum":
            return first + second
        return [(a * b, g + h) for a, g in first for b, h in second]
    return _refuse("have an RBF kernel", f, f"kernel={arg.shorten(kernel)}")


@family(
    "sklearn",
    "DecisionTreeRegressor",
    "DecisionTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreeClassifier",
)
def _tree(f: Any, output: Any) -> Trees:
    return _forest_of([f], f, output)


@family(
    "sklearn",
    "RandomForestRegressor",
    "RandomForestClassifier",
    "ExtraTreesRegressor",
    "ExtraTreesClassifier",
)
def _forest(f: Any, output: Any) -> Trees:
    """The mean of the trees; for classes, of their frequencies in the leaf."""
    return _forest_of(f.estimators_, f, output)


def _forest_of(trees: Iterable[Any], f: Any, output: Any) -> Trees:
    if hasattr(f, "classes_"):
        if f.n_outputs_ > 1:
            _refuse("predict one label", f, f"{f.n_outputs_} of them")
        column = output_column(output, len(f.classes_), list(f.classes_))
        values = [tree.tree_.value[:, 0] for tree in trees]
        values = [value[:, column] / value.sum(axis=1) for value in values]
    else:
        values = [_picked(tree.tree_.value[:, :, 0].T, output) for tree in trees]
    return _stacked([tree.tree_ for tree in trees], [value / len(values) for value in values])


@family("sklearn", "GradientBoostingRegressor")
def _gradient_boosting(f: Any, output: Any) -> Trees | None:
    """The constant to start from + learning_rate * the sum of the trees."""
    start = 0.0
    if not isinstance(f.init_, str):
        if not hasattr(f.init_, "constant_"):
            return None  # it starts from another model
        start = float(np.ravel(f.init_.constant_)[0])
    trees = [tree.tree_ for tree in f.estimators_[:, 0]]
    values = [f.learning_rate * tree.value[:, 0, 0] for tree in trees]
    return replace(_stacked(trees, values), b=start)


def _stacked(trees: list[Any], values: list[np.ndarray]) -> Trees:
    """The tables of scikit-learn's trees below each other, each tree with values of its own."""
    start = np.cumsum([0, *(tree.node_count for tree in trees)])
    feature = np.concatenate([tree.feature for tree in trees])
    threshold = rounded_threshold(np.concatenate([tree.threshold for tree in trees]))
    left, right = (
        np.concatenate([_shifted(getattr(t, side), s) for t, s in zip(trees, start, strict=False)])
        for side in ("children_left", "children_right")
    )
    return Trees(feature, threshold, left, right, np.concatenate(values), start[:-1])


def _shifted(children: np.ndarray, start: int) -> np.ndarray:
    return np.where(children < 0, -1, children + start)


def rounded_threshold(threshold: np.ndarray) -> np.ndarray:
    """The largest double that goes left: scikit-learn's trees round x to single precision first.

    That is the middle between the last single-precision number up to the threshold and the next
    (or just below it, where the middle itself is rounded up).
    """
    last = threshold.astype(np.float32)
    last = np.where(last > threshold, np.nextafter(last, np.float32(-np.inf)), last)
    middle = (last.astype(float) + np.nextafter(last, np.float32(np.inf))) / 2
    goes_left = middle.astype(np.float32) <= threshold
    return np.where(goes_left, middle, np.nextafter(middle, -np.inf))


@family("sklearn", "LogisticRegression", "LogisticRegressionCV")
def _logistic_regression(f: Any, output: Any) -> Units | None:
    """1 / (1 + exp(-(coef_.x + intercept_))) for the second class, the rest for the first."""
    if len(f.classes_) != 2:
        return None  # softmax: not a function of one projection
    second = output_column(output, 2, list(f.classes_)) == 1
    c = np.array([1.0 if second else -1.0])
    w, v = np.asarray(f.coef_, float), np.ravel(f.intercept_).astype(float)
    return Units(w, v, c, "logistic", 0.0 if second else 1.0)


@family("sklearn", "MLPRegressor")
def _mlp(f: Any, output: Any) -> Any:
    """The sum b + sum_h c_h g(w_h.x + v_h), with g the activation of the one hidden layer."""
    if f.n_layers_ > 3 or f.out_activation_ != "identity":
        return None  # functions of functions of projections
    *hidden, last = (np.asarray(weights, float).T for weights in f.coefs_)
    c, b = _picked(last, output), _picked(np.asarray(f.intercepts_[-1])[:, None], output)[0]
    if not hidden:
        return Linear(c, b)
    w, v = hidden[0], np.asarray(f.intercepts_[0], float)
    if f.activation == "identity":
        return Linear(c @ w, b + c @ v)
    return Units(w, v, c, f.activation, float(b))


@family("sklearn", "Pipeline")
def _pipeline(f: Any, output: Any) -> Any:
    """Scalers move each coordinate on its own; the model behind them sees a moved law."""
    move, (_, last) = scaled_steps(f), f.steps[-1]
    if move is None:
        return None
    form = None if isinstance(last, str) or last is None else form_of(last, output)
    return None if form is None else form.moved(np.arange(len(move[0])), *move)


def scaled_steps(f: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """What the steps before the last one do to each coordinate, a factor and a term, or None."""
    d = features_of(f)
    if d is None:
        return None
    scale, shift = np.ones(d), np.zeros(d)
    for _, step in f.steps[:-1]:
        if step is None or isinstance(step, str):  # "passthrough"
            continue
        move = SCALERS.get(type(step).__name__, lambda step: None)(step)
        if move is None:
            return None
        scale, shift = scale * move[0], shift * move[0] + move[1]
    return scale, shift


def _standard(step: Any) -> tuple[np.ndarray, np.ndarray]:
    scale = 1 / step.scale_ if step.with_std else np.ones(step.n_features_in_)
    return scale, -step.mean_ * scale if step.with_mean else np.zeros_like(scale)


def _min_max(step: Any) -> tuple[np.ndarray, np.ndarray] | None:
    return None if step.clip else (step.scale_, step.min_)


def _robust(step: Any) -> tuple[np.ndarray, np.ndarray]:
    scale = 1 / step.scale_ if step.with_scaling else np.ones(step.n_features_in_)
    return scale, -step.center_ * scale if step.with_centering else np.zeros_like(scale)


def _max_abs(step: Any) -> tuple[np.ndarray, np.ndarray] | None:
    if getattr(step, "clip", False):
        return None
    return 1 / step.scale_, np.zeros_like(step.scale_)


# what scikit-learn's scalers do to a coordinate: the factor and the term, or None
SCALERS = {
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "RobustScaler": _robust,
    "MaxAbsScaler": _max_abs,
}
