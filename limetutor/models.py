"""The models to explain: forms such as `Linear` and `Quadratic`, and one way to call any other.

A :class:`Form` is a model whose expectations under the tilted law are known: limits of it are exact.
Functions are called as they are, scikit-learn estimators by the method that gives numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from .columns import Coded, is_missing
from .tables import nameless
from .theory import Views
from .worlds import Boxes

LARGEST = 1e300  # of what f may return: differences of two values must stay numbers
STEEPEST = 1e190  # of the coefficients of a form: at values up to 1e100 it stays a number


class Expectation(NamedTuple):
    """E~[f], and E~[f | z_j = 1] and E~[f | z_j = 0] for each j."""

    mean: Any
    inside: np.ndarray
    outside: np.ndarray

    def plus(self, other: Expectation, times: float = 1.0) -> Expectation:
        """The expectation of f + times * g."""
        return Expectation(*(a + times * b for a, b in zip(self, other, strict=True)))


class Form:
    """A function of d numbers whose expectations under any tilted law can be computed.

    To add one: write a class with these methods in :mod:`limetutor.exact`. Chapter: beyond linear.
    """

    closed = True  # a closed form; otherwise a series or a quadrature, good to about 1e-10
    travels = False  # whether it is so small that pickles of results keep it

    @property
    def size(self) -> float:
        """How large the numbers are that it adds up: a model may round each to single precision."""
        return 0.0

    def agrees(self, formula: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        """Where its own values are those of the model it was read from, to 1e-6 of their size."""
        scale = np.maximum(np.abs(prediction), max(self.size, 1.0))
        return np.asarray(np.abs(formula - prediction) <= 1e-6 * scale)

    @property
    def d(self) -> int | None:
        """Number of arguments, or None where any number will do."""
        return None

    def __call__(self, x: Any) -> np.ndarray:
        """The value at each row of x (n, d)."""
        raise NotImplementedError

    def expectation(self, views: Views) -> Expectation:
        """E~[f], E~[f | z_j = 1] and E~[f | z_j = 0]."""
        raise NotImplementedError

    def contrasts(self, views: Views) -> tuple[np.ndarray, np.ndarray] | None:
        """E~[f] (rows,) and E~[f | z_j = 1] - E~[f | z_j = 0] (rows, d) for laws of many rows.

        None where the rows of a form share no work, so that each goes by :meth:`expectation`.
        """
        return None

    def moved(self, columns: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> Form:
        """The form of x -> f(scale * x[columns] + shift)."""
        return Moved(self, columns, scale, shift)


@dataclass(frozen=True, eq=False)
class Moved(Form):
    """form(scale * x[columns] + shift): a scaler, or columns in another order, before a model."""

    form: Form
    columns: np.ndarray
    scale: np.ndarray
    shift: np.ndarray

    @property
    def closed(self) -> bool:  # type: ignore[override]
        """As its form."""
        return self.form.closed

    @property
    def d(self) -> int:
        """As many as there are columns."""
        return len(self.columns)

    def __call__(self, x: Any) -> np.ndarray:
        """The value at each row of x."""
        return self.form(self.scale * x[:, self.columns] + self.shift)

    def expectation(self, views: Views) -> Expectation:
        """The law moves with the coordinates; the answers go back to where they came from."""
        moved = self.form.expectation(views.moved(self.columns, self.scale, self.shift))
        back = np.argsort(self.columns)
        return Expectation(moved.mean, moved.inside[back], moved.outside[back])

    def contrasts(self, views: Views) -> tuple[np.ndarray, np.ndarray] | None:
        """The same for many rows."""
        moved = self.form.contrasts(views.moved(self.columns, self.scale, self.shift))
        return None if moved is None else (moved[0], moved[1][:, np.argsort(self.columns)])


@dataclass(frozen=True, eq=False)
class Linear(Form):
    """The linear model f(x) = a.x + b of the paper (its assumption H1).

    Examples
    --------
    >>> f = Linear([10, -10])
    >>> f([[1.0, 2.0]])
    array([-10.])
    """

    a: Any
    b: float = 0.0

    travels = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", _slopes(self.a))
        object.__setattr__(self, "b", _constant(self.b))

    @property
    def d(self) -> int:
        """Number of slopes."""
        return self.a.size

    def __call__(self, x: Any) -> np.ndarray:
        """The value of f at each row of x."""
        x = _rows(x, self.a.size)
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(x @ self.a + self.b)

    def expectation(self, views: Views) -> Expectation:
        """E~[f | z_j] = f(mu~) + a_j (E~[x_j | z_j] - mu~_j)."""
        whole, inside, outside = views.mix(views.law.box_means())
        mean = float(self(whole[None])[0])
        return Expectation(mean, *(mean + self.a * (x - whole) for x in (inside, outside)))

    def moved(self, columns: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> Linear:
        """A linear form stays linear."""
        a = np.empty_like(self.a)
        a[columns] = self.a * scale
        return Linear(a, self.b + self.a @ shift)

    def __repr__(self) -> str:
        return f"Linear(a={np.array2string(self.a, precision=4, threshold=6)}, b={self.b:g})"


@dataclass(frozen=True, eq=False)
class Quadratic(Form):
    """The quadratic model f(x) = x.Qx + a.x + b, with Q (d, d) made symmetric.

    Examples
    --------
    >>> f = Quadratic([[1, 0], [0, 0]], a=[0, 2])
    >>> f([[3.0, 1.0]])
    array([11.])
    """

    Q: Any
    a: Any = None
    b: float = 0.0

    travels = True

    def __post_init__(self) -> None:
        Q = arg.numbers("Q", self.Q)
        if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or Q.size == 0:
            raise ValueError(f"Q must be a square matrix, got shape {Q.shape}.")
        a = np.zeros(len(Q)) if self.a is None else self.a
        Q = arg.within("Q", Q, STEEPEST / arg.LARGEST)
        object.__setattr__(self, "Q", (Q + Q.T) / 2)
        object.__setattr__(self, "a", _slopes(a, len(Q), because=", one per row of Q"))
        object.__setattr__(self, "b", _constant(self.b))

    @property
    def d(self) -> int:
        """Number of rows of Q."""
        return self.a.size

    def __call__(self, x: Any) -> np.ndarray:
        """The value of f at each row of x."""
        x = _rows(x, self.a.size)
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(np.sum((x @ self.Q) * x, axis=-1) + x @ self.a + self.b)

    def expectation(self, views: Views) -> Expectation:
        """E~[f | z_j] = f(mu~) + sum_i Q_ii s_i + g_j E~[u_j | z_j] + Q_jj (E~[u_j^2 | z_j] - s_j).

        u = x - mu~ is centred, so that the mixed terms Q_ij u_i u_j vanish; s_j = E~[u_j^2] and
        g = a + 2 Q mu~ is the gradient at mu~.
        """
        means = views.law.box_means()
        centre = views.mix(means)[0]
        step = means - centre[:, None]
        first, second = views.mix(step), views.mix(step**2 + views.law.box_variances())
        curve = np.diag(self.Q)
        gradient = self.a + 2 * self.Q @ centre
        mean = float(self(centre[None])[0] + curve @ second[0])
        moves = gradient * first[1:] + curve * (second[1:] - second[0])
        return Expectation(mean, *(mean + moves))

    def contrasts(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """The same for many rows: g_j and E~[u_j^2] belong to each row."""
        means, weights = views.law.box_means(), views.weights
        centre = np.sum(weights[0] * means, axis=-1)
        step = means - centre[..., None]
        square = step**2 + views.law.box_variances()
        first, second = (np.sum(weights * v, axis=-1) for v in (step, square))
        curve = np.diag(self.Q)
        gradient = self.a + 2 * centre @ self.Q
        beta = gradient * (first[1] - first[2]) + curve * (second[1] - second[2])
        return self(centre) + second[0] @ curve, beta

    def __repr__(self) -> str:
        Q, a = (
            " ".join(np.array2string(v, precision=4, threshold=6, separator=", ").split())
            for v in (self.Q, self.a)
        )
        return f"Quadratic(Q={Q}, a={a}, b={self.b:g})"


def _slopes(a: Any, length: int | None = None, because: str = "") -> np.ndarray:
    return arg.within("a", arg.vector("a", a, length, because), STEEPEST)


def _constant(b: Any) -> float:
    return float(arg.within("b", np.array(arg.scalar("b", b)), STEEPEST))


def _rows(x: Any, d: int) -> np.ndarray:
    if type(x) is not np.ndarray or x.dtype != float:
        try:
            x = arg.floats(x)
        except (TypeError, ValueError):
            raise ValueError(f"x must hold numbers only, got {arg.shorten(x)}.") from None
    if x.shape[-1:] != (d,):
        raise ValueError(f"x must have {d} columns, one per entry of a, got shape {x.shape}.")
    return x


def _finite(y: np.ndarray) -> np.ndarray:
    if not np.all(np.isfinite(y)):
        bad = int(np.size(y) - np.sum(np.isfinite(y)))
        raise ValueError(
            f"x must be finite, got nan, infinite or too large values in {bad} row(s)."
        )
    return y


def predictor(f: Any, boxes: Boxes, output: Any = None) -> Callable[[np.ndarray], np.ndarray]:
    """``f`` as a function from rows (n, d) to finite numbers (n,), checked at every call."""
    call, classes = caller(f, boxes)
    return lambda x: _one_output(call(x), len(x), output, classes)


def caller(f: Any, boxes: Boxes) -> tuple[Callable[[np.ndarray], Any], list[Any]]:
    """``f`` as a function from rows (n, d) to whatever it returns, and its classes, if any.

    Functions are called as they are; classifiers by ``predict_proba``, other estimators by
    ``predict``. An estimator fitted on a DataFrame gets one, with its own columns in its own order,
    and so does its method (``model.predict_proba``); text columns get their text back.
    """
    call, classes = _callable_of(f)
    model = getattr(f, "__self__", f)
    columns = fitted_columns(model, boxes)
    first = first_fitted(model)
    nameless = hasattr(first, "n_features_in_") and not names_fitted_on(first)
    categories = _categories_wanted(first, boxes, columns) if columns else {}
    named = any(isinstance(k, Coded) and k.labels is not None for k in boxes.kinds.values())

    def predict(x: np.ndarray) -> Any:
        # a copy: a model that scales its input in place must not move our samples
        rows: Any = boxes.fed(x)
        if columns:
            rows = _as_frame(rows, boxes, boxes.decoded(x), columns, categories)
        if columns and nameless:  # fitted on an array that held text
            rows = rows.to_numpy(dtype=object)
        try:
            return arg.called("f", call, "one argument, the rows (n, d)", rows)
        except (TypeError, ValueError) as error:
            if not named or not hasattr(model, "fit"):
                raise
            raise ValueError(_no_codes(error)) from error

    return predict, classes


def _no_codes(error: Exception) -> str:
    """For an estimator fitted on text, asked in a world whose categories are codes with names."""
    words = " ".join(str(error).split())[:120].rstrip(".")
    return (
        "f must take the codes of categories, as lime hands them over, but this estimator failed with "
        f"{type(error).__name__}: {words}; pass the function that lime gets."
    )


class Adapter(NamedTuple):
    """What a model of another package wants that scikit-learn's do not."""

    call: Callable[[Any], Any] | None = None  # in place of ``predict`` or ``predict_proba``
    names: list[str] | None = None  # of the columns it was fitted on
    categories: Callable[[list[str]], dict[str, Any]] | None = (
        None  # see :func:`_categories_wanted`
    )


# the package and the class of a model, and what adapts it
ADAPTERS: dict[tuple[str, str], Callable[[Any], Adapter]] = {}


def adapts(package: str, *names: str) -> Callable[[Any], Any]:
    """Register an adapter for the classes of those names in that package."""

    def register(function: Any) -> Any:
        ADAPTERS.update({(package, name): function for name in names})
        return function

    return register


def _adapter(model: Any) -> Adapter:
    known = ADAPTERS.get((type(model).__module__.partition(".")[0], type(model).__name__))
    return Adapter() if known is None else known(model)


def _categories_wanted(model: Any, boxes: Boxes, columns: list[str]) -> dict[str, Any]:
    """The columns that a model wants as pandas' categories; None for those of the world.

    A column of the world that came with pandas' dtype goes back with it.
    """
    named = dict(zip(columns, boxes.names, strict=True))
    if set(columns) == set(boxes.names):
        named = {name: name for name in columns}
    kinds = {name: boxes.kind(boxes.names.index(named[name])) for name in columns}
    wanted = _adapter(model).categories
    asked = {} if wanted is None else wanted([c for c in columns if not kinds[c].ordered])
    return {c: None for c in columns if kinds[c].categories is not None} | asked


def _callable_of(f: Any) -> tuple[Callable[[Any], Any], list[Any]]:
    if isinstance(f, type):
        raise TypeError(
            f"f must be a fitted estimator or a function, got the class {f.__name__} itself."
        )
    adapted = _adapter(f).call
    if adapted is not None:
        return adapted, []
    if getattr(f, "__name__", "") == "predict_proba":
        return f, listed_classes(getattr(f, "__self__", None))
    if hasattr(f, "predict_proba"):
        return f.predict_proba, listed_classes(f)
    if has_classes(f) and hasattr(f, "predict"):
        raise ValueError(
            f"f must give class probabilities, got {arg.shorten(f)} without predict_proba; its "
            "class labels are no quantities: calibrate it, or pass a function such as "
            "f.decision_function."
        )
    if hasattr(f, "predict"):
        return f.predict, []
    if callable(f):
        return f, []
    raise TypeError(
        "f must be a function of an (n, d) array or a fitted estimator with predict or "
        f"predict_proba, got {arg.shorten(f)}."
    )


def listed_classes(model: Any) -> list[Any]:
    """The class labels of a model, [] for none; regressors of CatBoost have the attribute, and none in it."""
    try:
        return list(getattr(model, "classes_", ()))
    except TypeError:  # a model of somebody's own, with None for instance
        return []


def has_classes(f: Any) -> bool:
    """Whether a model has class labels."""
    return bool(listed_classes(f))


def model_behind(f: Any) -> Any:
    """The estimator behind the method that `lime` gets, ``predict_proba`` or a regressor's ``predict``.

    Its form may be known. A classifier's ``predict`` is left as it is: it says something else.
    """
    model, name = getattr(f, "__self__", None), getattr(f, "__name__", "")
    if model is None or isinstance(model, type):
        return f
    plain = name == "predict" and not hasattr(model, "predict_proba") and not has_classes(model)
    return model if plain or name == "predict_proba" else f


def classes_of(f: Any) -> list[Any]:
    """The classes that the columns of f's probabilities stand for, where it says so."""
    return _callable_of(f)[1]


def first_fitted(model: Any) -> Any:
    """The part of a model that sees the table itself: a pipeline's first step that does anything.

    A pipeline asks its first step what it was fitted on, which "passthrough" cannot answer.
    """
    steps = getattr(model, "steps", None)
    if not isinstance(steps, list):
        return model
    working = [step for _, step in steps if step is not None and not isinstance(step, str)]
    return first_fitted(working[0]) if working else model


def fitted_columns(model: Any, boxes: Boxes) -> list[str]:
    """The columns of the DataFrame that f wants, or none where it takes arrays.

    A world without names of its own (x1, x2, ...) takes those of the model, in order.
    """
    fitted = names_fitted_on(model)
    if not fitted or set(fitted) == set(boxes.names):
        return fitted or (list(boxes.names) if boxes.has_text else [])
    if nameless(boxes.names) and len(fitted) == boxes.d:
        return fitted
    raise ValueError(
        f"f must be fitted on the columns of the world, {arg.shorten(list(boxes.names))}, "
        f"got one fitted on {arg.shorten(fitted)}."
    )


def names_fitted_on(f: Any) -> list[str]:
    """The columns that a model was fitted on, where it knows them."""
    model = first_fitted(getattr(f, "__self__", f))
    names = list(getattr(model, "feature_names_in_", ()))
    return names or list(_adapter(model).names or ())


def _as_frame(
    x: np.ndarray,
    boxes: Boxes,
    decoded: dict[int, np.ndarray],
    columns: list[str],
    categories: dict[str, Any],
) -> Any:
    """Rows as a DataFrame with the columns and the categories that a model wants."""
    import pandas as pd  # the caller gave a DataFrame, so pandas is there

    named = set(columns) == set(boxes.names)
    names = list(boxes.names) if named else columns
    frame = pd.DataFrame(x, columns=names)
    for j, values in decoded.items():
        frame[names[j]] = values
    for name, known in categories.items():
        j = names.index(name)
        frame[name] = _as_categories(pd, frame[name], boxes, j, known)
    return frame[columns]


def _as_categories(pd: Any, values: Any, boxes: Boxes, j: int, known: Any) -> Any:
    """A column as pandas' categories: the model's, those the table came with, or its labels."""
    kind = boxes.kind(j)
    known = kind.categories if known is None else known
    if known is None:
        codes = boxes.law.mean[j, : boxes.count[j]]
        labels = kind.decode(codes)
        known = [v for v in (kind.fed(codes) if labels is None else labels) if not is_missing(v)]
        if labels is None and all(v == int(v) for v in known):
            known = [int(v) for v in known]  # XGBoost takes no others
    numbers = {float(c): c for c in known if not isinstance(c, str)}
    if numbers:  # 1.0 is not the category 1
        values = [numbers.get(v) for v in values]
    return pd.Categorical(values, categories=known)


def _one_output(y: Any, n: int, output: Any, classes: list[Any]) -> np.ndarray:
    """The chosen column of what a model returned, as n finite numbers."""
    try:
        y = arg.floats(y)
    except (TypeError, ValueError):
        raise ValueError(
            f"f must return numbers, got {arg.shorten(y)}; explain class probabilities, "
            "not class names."
        ) from None
    if y.shape == (n, 1) and output is None:
        y = y[:, 0]
    if y.ndim == 2 and y.shape[0] == n:
        y = y[:, output_column(output, y.shape[1], classes)]
    elif output is not None:
        raise ValueError(
            f"output must be left out when f has a single output, got {arg.shorten(output)}."
        )
    if y.shape != (n,):
        raise ValueError(
            f"f must return one value per row (shape ({n},)), or one row of outputs, "
            f"got shape {y.shape}."
        )
    if not np.all(np.isfinite(y)):
        raise ValueError(
            f"f must return finite values, got {int(np.sum(~np.isfinite(y)))} nan or infinite "
            f"value(s) for {n} row(s)."
        )
    if np.max(np.abs(y)) > LARGEST:
        raise ValueError(
            f"f must return values within ±{LARGEST:g}, got {y[np.argmax(np.abs(y))]:g}; rescale it."
        )
    return y


def _equal(known: Any, output: Any) -> bool:
    try:
        return bool(known == output)
    except (TypeError, ValueError):  # arrays and tables do not answer with yes or no
        return False


def output_column(output: Any, columns: int, classes: list[Any], name: str = "output") -> int:
    """The column of a class, or of a position where no class is a number, among f's outputs."""
    if output is None:
        raise ValueError(
            f"{name} must pick one of the {columns} outputs of f: "
            f"{'a class of ' + arg.shorten(classes) if classes else f'0 to {columns - 1}'}."
        )
    same = [k for k, known in enumerate(classes) if _equal(known, output)]
    if same:
        return same[0]
    if any(isinstance(c, int | float | np.number) for c in classes):
        # a position would be mistaken for the class with that number
        raise ValueError(
            f"{name} must be a class of {arg.shorten(classes)}, got {arg.shorten(output)}."
        )
    if arg.is_integer(output) and 0 <= output < columns:
        return int(output)
    allowed = f"a class of {arg.shorten(classes)} or " if classes else ""
    raise ValueError(
        f"{name} must be {allowed}a column from 0 to {columns - 1}, got {arg.shorten(output)}."
    )
