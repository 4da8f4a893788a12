"""The forms of scikit-learn's models, and of the raw outputs of its classifiers.

One small function per family, registered in :mod:`limetutor.exact.readers`. Chapter: beyond linear.
"""

from typing import Any

import numpy as np

from ..core.models import Form, Linear
from ..inputs import arguments as arg
from ..inputs.predictors import ModelRegistry, class_of, output_column
from .forms import Bumps, Units
from .moved import moved
from .readers import FAMILIES as FAMILIES  # imported from here by tests and contributors
from .readers import family, features_of, form_of, picked, raw_outputs, refuse
from .trees import Tree, Trees, rounded_threshold

# what a scaler does to each coordinate: a factor and a term, or None
SCALERS = ModelRegistry()
scaler = SCALERS.register


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
LINEAR_CLASSIFIERS = (
    "LinearSVC LogisticRegression LogisticRegressionCV Perceptron RidgeClassifier "
    "RidgeClassifierCV SGDClassifier"
).split()


@raw_outputs("sklearn", *LINEAR_CLASSIFIERS)
def _linear_outputs(f: Any) -> list[Linear]:
    """coef_.x + intercept_ of each output or class."""
    coef = np.atleast_2d(_dense(f.coef_))
    intercept = np.broadcast_to(np.ravel(f.intercept_), (len(coef),))
    return [Linear(a, b) for a, b in zip(coef, intercept, strict=True)]


@family("sklearn", *LINEAR)
def _linear(f: Any, output: Any) -> Form:
    return picked(_linear_outputs(f), output)


@family("sklearn", "KernelRidge")
def _kernel_ridge(f: Any, output: Any) -> Any:
    """sum_i dual_i k(x, x_i)."""
    if f.kernel != "rbf":
        refuse("have an RBF kernel", f, f"kernel={arg.shorten(f.kernel)}")
    t = _dense(f.X_fit_)
    gamma = 1 / t.shape[1] if f.gamma is None else f.gamma
    c = picked(np.atleast_2d(np.transpose(_dense(f.dual_coef_))), output)
    return Bumps(c, t, np.full(t.shape, float(gamma)))


@family("sklearn", "SVR", "NuSVR")
def _svr(f: Any, output: Any) -> Any:
    """sum_i dual_i k(x, support_i) + intercept."""
    if f.kernel == "linear":
        return _linear(f, output)
    if f.kernel != "rbf":
        refuse("have an RBF kernel", f, f"kernel={arg.shorten(f.kernel)}")
    t = _dense(f.support_vectors_)
    gamma = np.full(t.shape, float(f._gamma))
    return Bumps(np.ravel(_dense(f.dual_coef_)), t, gamma, float(f.intercept_[0]))


@family("sklearn", "GaussianProcessRegressor")
def _gaussian_process(f: Any, output: Any) -> Any:
    """Mean + deviation sum_i alpha_i k(x, x_i), for constants, RBFs, their sums and products."""
    if not hasattr(f, "X_train_"):  # scikit-learn predicts from the prior alone
        refuse("be fitted", f, "no training points")
    t = np.asarray(f.X_train_, float)
    alpha = np.atleast_2d(np.transpose(f.alpha_))
    shift, scale = (
        picked(np.broadcast_to(np.ravel(v), (len(alpha),)), output)
        for v in (f._y_train_mean, f._y_train_std)
    )
    c = scale * picked(alpha, output)
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
    name = class_of(kernel)
    if name == "ConstantKernel":
        return [(kernel.constant_value, np.zeros(d))]
    if name == "RBF":
        return [(1.0, np.broadcast_to(1 / (2 * np.square(kernel.length_scale)), (d,)))]
    if name == "WhiteKernel":  # noise of the training points, which predictions do not have
        return []
    if name in ("Sum", "Product"):
        first, second = (_kernel_terms(k, d, f) for k in (kernel.k1, kernel.k2))
        if name == "Sum":
            return first + second
        return [(a * b, g + h) for a, g in first for b, h in second]
    return refuse("have an RBF kernel", f, f"kernel={arg.shorten(kernel)}")


FORESTS = (
    "DecisionTreeRegressor DecisionTreeClassifier ExtraTreeRegressor ExtraTreeClassifier "
    "RandomForestRegressor RandomForestClassifier ExtraTreesRegressor ExtraTreesClassifier"
).split()


@family("sklearn", *FORESTS)
def _forest(f: Any, output: Any) -> Trees:
    """The mean of the trees; for classes, of their frequencies in the leaf."""
    trees = [tree.tree_ for tree in getattr(f, "estimators_", [f])]
    if hasattr(f, "classes_"):
        if f.n_outputs_ > 1:
            refuse("predict one label", f, f"{f.n_outputs_} of them")
        column = output_column(output, len(f.classes_), list(f.classes_))
        values = [tree.value[:, 0, column] / tree.value[:, 0].sum(axis=1) for tree in trees]
    else:
        values = [picked(tree.value[:, :, 0].T, output) for tree in trees]
    return Trees.stack([_tree(t, v / len(trees)) for t, v in zip(trees, values, strict=True)])


def _tree(tree: Any, value: np.ndarray) -> Tree:
    """A tree of scikit-learn, which rounds x to single precision first, with values of its own."""
    cuts = rounded_threshold(tree.threshold)
    return Tree(tree.feature, cuts, tree.children_left, tree.children_right, value[:, None])


@raw_outputs("sklearn", "GradientBoostingRegressor", "GradientBoostingClassifier")
def _gradient_boosting_outputs(f: Any) -> list[Trees] | None:
    """The constant to start from + learning_rate * the sum of the trees, of each class."""
    constant = class_of(f.init_) in ("DummyRegressor", "DummyClassifier")
    if not constant and not isinstance(f.init_, str):
        return None  # it starts from another model
    constants = np.ravel(f._raw_predict_init(np.zeros((1, f.n_features_in_))))
    return [
        Trees.stack([_tree(t.tree_, f.learning_rate * t.tree_.value[:, 0, 0]) for t in trees], b)
        for trees, b in zip(f.estimators_.T, constants, strict=True)
    ]


@family("sklearn", "GradientBoostingRegressor")
def _gradient_boosting(f: Any, output: Any) -> Form | None:
    outputs = _gradient_boosting_outputs(f)
    return None if outputs is None else outputs[0]


@raw_outputs("sklearn", "HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
def _hist_gradient_boosting_outputs(f: Any) -> list[Trees]:
    """The baseline + the sum of the trees, of each class."""
    if getattr(f, "is_categorical_", None) is not None and np.any(f.is_categorical_):
        refuse("split at thresholds", f, "categorical splits")
    return [
        Trees.stack([_hist_tree(iteration[k].nodes) for iteration in f._predictors], b)
        for k, b in enumerate(np.ravel(f._baseline_prediction))
    ]


def _hist_tree(nodes: np.ndarray) -> Tree:
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, -1, nodes[side].astype(np.intp)) for side in ("left", "right"))
    threshold, feature = nodes["num_threshold"].astype(float), nodes["feature_idx"].astype(np.intp)
    return Tree(feature, threshold, left, right, nodes["value"][:, None])


@family("sklearn", "HistGradientBoostingRegressor")
def _hist_gradient_boosting(f: Any, output: Any) -> Form | None:
    if class_of(f._loss.link) != "IdentityLink":
        return None  # an exponential of the sum
    return picked(_hist_gradient_boosting_outputs(f), output)


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
    c, b = picked(last, output), picked(f.intercepts_[-1], output)
    if not hidden:
        return Linear(c, b)
    w, v = hidden[0], np.asarray(f.intercepts_[0], float)
    if f.activation == "identity":
        return Linear(c @ w, b + c @ v)
    return Units(w, v, c, f.activation, float(b))


@family("sklearn", "Pipeline")
def _pipeline(f: Any, output: Any) -> Any:
    """Scalers transform each coordinate on its own; the model behind them sees a transformed law."""
    transform, (_, last) = scaled_steps(f), f.steps[-1]
    if transform is None or last is None or isinstance(last, str):
        return None
    form = form_of(last, output)
    return None if form is None else moved(form, np.arange(len(transform[0])), *transform)


def scaled_steps(f: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """What the steps before the last one do to each coordinate, a factor and a term, or None."""
    d = features_of(f)
    if d is None:
        return None
    scale, shift = np.ones(d), np.zeros(d)
    for _, step in f.steps[:-1]:
        if step is None or isinstance(step, str):  # "passthrough"
            continue
        read = SCALERS.find(step)
        transform = None if read is None else read(step)
        if transform is None:
            return None
        scale, shift = scale * transform[0], shift * transform[0] + transform[1]
    return scale, shift


def _centred(step: Any, centre: Any, scales: bool) -> tuple[np.ndarray, np.ndarray]:
    scale = 1 / step.scale_ if scales else np.ones(step.n_features_in_)
    return scale, -centre * scale


@scaler("sklearn", "StandardScaler")
def _standard(s: Any) -> tuple[np.ndarray, np.ndarray]:
    return _centred(s, s.mean_ if s.with_mean else 0.0, s.with_std)


@scaler("sklearn", "RobustScaler")
def _robust(s: Any) -> tuple[np.ndarray, np.ndarray]:
    return _centred(s, s.center_ if s.with_centering else 0.0, s.with_scaling)


@scaler("sklearn", "MinMaxScaler")
def _min_max(s: Any) -> tuple[np.ndarray, np.ndarray] | None:
    return None if s.clip else (s.scale_, s.min_)


@scaler("sklearn", "MaxAbsScaler")
def _max_abs(s: Any) -> tuple[np.ndarray, np.ndarray] | None:
    return None if getattr(s, "clip", False) else (1 / s.scale_, 0 * s.scale_)
