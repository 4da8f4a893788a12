"""Read a tabular explainer of `lime`: its bins, frequencies and truncated normals as a world.

`lime`'s tabular explainer draws a bin of each feature by its training frequency, a value in the bin
from a normal truncated to it, weights by the number of features in another bin, and fits a ridge.
Every piece is a product over features, so :func:`limetutor.from_lime` is all that the theory needs to say
what `explain_instance` will return:

    world = lt.from_lime(explainer)
    lt.limit(model, xi, world)  # with its kernel and width, a ridge of 1, 5000 rows and xi among them

What `lime` does wrong, the world does wrong as well: see :class:`Collapsed`. Chapter: the real lime.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core.boxes import Boxes
from ..core.kernels import GaussianKernel, SquareKernel, product_kernel
from ..exact.without_discretization import ScaledNumbers
from ..inputs import arguments as arg
from ..inputs.columns import BoxInWords, Category
from ..inputs.lime_defaults import NUM_SAMPLES, RIDGE
from ..inputs.names import refuse_repeated
from .columns_and_classes import NamesClasses
from .empirical import Column, stack


@dataclass(frozen=True, eq=False)
class Coded(Category):
    """Labels that the model gets as codes, as in `lime`; ``labels`` are for display.

    ``labels[code]`` is the name of a code, whatever `lime`'s ``categorical_names`` hold for it.
    """

    labels: Any = None

    @property
    def hides_labels(self) -> bool:  # type: ignore[override]
        """Whether codes have names."""
        return self.labels is not None

    def describe(self, name: str, box: BoxInWords) -> str:
        """``housing=own``, as `lime` prints it."""
        return f"{name}={self.name_of(box.value)}"

    def name_of(self, code: float) -> Any:
        """The name of a code; the code itself where it has none, as a whole number."""
        try:
            return self.labels[int(code)] if self.labels is not None else int(code)
        except (KeyError, IndexError, TypeError):
            return int(code)

    def encode(self, name: str, value: Any, known: np.ndarray) -> float:
        """A code, or the name of one."""
        if isinstance(value, str) and self.labels is not None:
            codes = [float(code) for code in known if str(self.name_of(code)) == value]
            if len(codes) > 1:
                raise ValueError(
                    f"xi must hold one category of {name!r}, but {value!r} is the name of "
                    f"{len(codes)} of them; give its code."
                )
            if codes:
                return codes[0]
        return Category().encode(name, value, known)

    def decode(self, codes: np.ndarray) -> np.ndarray | None:
        """The model gets the codes."""
        return None


@dataclass(frozen=True)
class Collapsed:
    """A bin whose two edges coincide, and what `lime` 0.2.0.1 makes of it.

    `get_undiscretize_values` returns the standardised edge (edge - mean) / deviation, a number
    near 0, where the bin's only training ``value`` is meant: the model is fed ``fed`` instead.
    """

    feature: int
    box: int
    value: float
    fed: float


@dataclass(frozen=True, eq=False)
class LimeWorld(NamesClasses):
    """What a `lime` explainer samples from; made by :func:`limetutor.from_lime`.

    ``nu`` is its kernel width; ``collapsed`` lists the bins that `lime` feeds a wrong value for;
    ``class_names`` are those of the explainer, which ``output=`` understands.
    """

    nu: float = field()  # without a default, which the base class has
    collapsed: tuple[Collapsed, ...]
    class_names: tuple[str, ...] = ()

    kernel, ridge, n = "mismatch", RIDGE, NUM_SAMPLES

    def __repr__(self) -> str:
        wrong = f", {len(self.collapsed)} collapsed" if self.collapsed else ""
        return f"LimeWorld({self.d} features, nu={self.nu:.4g}{wrong})"


@dataclass(frozen=True, eq=False)
class LimeNumbers(NamesClasses):
    """What a `lime` explainer without boxes samples from; made by :func:`limetutor.from_lime`.

    x_j ~ N(centre_j, scale_j^2), or around xi; the surrogate is fitted on (x_j - centre_j) / scale_j,
    and ``nu``, the kernel width, is in units of the scale. Categories are as with boxes. See
    :mod:`limetutor.exact.without_discretization`.
    """

    nu: float = field()
    centre: np.ndarray
    around: bool
    class_names: tuple[str, ...] = ()

    ridge, n = RIDGE, NUM_SAMPLES

    @property
    def regression(self) -> ScaledNumbers:  # type: ignore[override]
        """What the surrogate is fitted on: numbers in units of their scale."""
        return ScaledNumbers(self.centre)

    def weighted_by(self, kernel: Any) -> Any:
        """The kernel of scaled distances, which `lime` takes without boxes."""
        chosen = product_kernel(kernel, "a world without boxes")
        if not isinstance(chosen, SquareKernel):
            raise ValueError(
                f"kernel must be 'gaussian' in a world without boxes, got {chosen.name!r}: `lime` "
                "weighs by the distance in scaled units there."
            )
        return GaussianKernel()

    @property
    def moves(self) -> bool:  # type: ignore[override]
        """Whether samples are drawn around xi."""
        return self.around

    def boxes_at(self, xi: np.ndarray) -> Boxes:
        """The law of the samples, which moves with xi where `lime` samples around it."""
        boxes = self._boxes
        if not self.around:
            return boxes
        numbers = boxes.ordered[:, None]
        law = replace(boxes.law, mean=np.where(numbers, xi[:, None], boxes.law.mean))
        return replace(boxes, law=law, mu=np.where(boxes.ordered, xi, boxes.mu))

    def __repr__(self) -> str:
        where = "around xi" if self.around else "around the means"
        return f"LimeNumbers({self.d} features, nu={self.nu:.4g}, sampled {where})"


def from_lime(explainer: Any) -> LimeWorld | LimeNumbers:
    """Read a ``lime.lime_tabular.LimeTabularExplainer`` into a world.

    `lime` also puts xi itself among its n samples, and so does :func:`limetutor.limit` in this
    world once it is told n. Chapter: the real lime.

    Parameters
    ----------
    explainer
        With any discretizer and categorical features, or without boxes
        (``discretize_continuous=False``). Its training set is not needed: `lime` keeps of it what it
        samples from.

    Returns
    -------
    LimeWorld or LimeNumbers
        The latter without boxes. Collapsed bins hold the wrong value that `lime` feeds the model;
        :func:`.repaired` gives the world with the right one.

    Examples
    --------
    >>> import limetutor as lt
    >>> from lime.lime_tabular import LimeTabularExplainer
    >>> from sklearn.datasets import load_wine
    >>> lt.from_lime(LimeTabularExplainer(load_wine().data))
    LimeWorld(13 features, nu=2.704)
    """
    readable(explainer)
    width = getattr(explainer.base.kernel_fn, "keywords", {}).get("kernel_width")
    nu = arg.bandwidth("explainer's kernel_width", width)
    if not has_own_kernel(explainer):
        raise ValueError(
            "explainer must use lime's own kernel, got another one; pass it as kernel= to "
            "lt.explain with an lt.Empirical world."
        )
    return world_of(explainer, nu)


def world_of(explainer: Any, nu: float) -> LimeWorld | LimeNumbers:
    """The world of an explainer that can be read, with a bandwidth."""
    if explainer.discretizer is None:
        return _numbers(explainer, nu)
    columns, collapsed = [], []
    for j in range(len(explainer.feature_names)):
        numeric = j in explainer.discretizer.lambdas
        column, wrong = _bins(explainer, j) if numeric else (_categories(explainer, j), [])
        columns.append(column)
        collapsed += wrong
    names = tuple(str(name) for name in explainer.feature_names)
    boxes = stack(columns, names, kinds=_labels(explainer))
    return LimeWorld(boxes, nu, tuple(collapsed), _class_names(explainer))


def _labels(explainer: Any) -> dict[int, Coded]:
    """The categorical features, with the names that their codes have."""
    names = explainer.categorical_names
    cut = explainer.discretizer.lambdas if explainer.discretizer is not None else ()
    return {int(j): Coded(names.get(j)) for j in explainer.categorical_features if j not in cut}


def _class_names(explainer: Any) -> tuple[str, ...]:
    """The names of the classes, none for a regression."""
    if explainer.mode != "classification" or explainer.class_names is None:
        return ()
    return tuple(str(name) for name in explainer.class_names)


def printed_names(explainer: Any, xi: np.ndarray) -> tuple[str, ...]:
    """What `lime` prints for each feature of xi: its bin, its category or its bare name."""
    names = [str(name) for name in explainer.feature_names]
    for j, kind in _labels(explainer).items():
        names[j] = f"{names[j]}={kind.name_of(xi[j])}"
    if explainer.discretizer is not None:
        boxes = explainer.discretizer.discretize(np.asarray(xi, float))
        for j, texts in explainer.discretizer.names.items():
            names[j] = texts[int(boxes[j])]
    return tuple(names)


def _numbers(explainer: Any, nu: float) -> LimeNumbers:
    """The normals that `lime` samples where it does not discretize."""
    labels = _labels(explainer)
    mean, scale = (np.array(getattr(explainer.scaler, part), float) for part in ("mean_", "scale_"))
    reach = np.array([np.inf])
    columns = [
        _categories(explainer, j)
        if j in labels
        else Column(np.array([]), np.ones(1), mean[[j]], scale[[j]], -reach, reach)
        for j in range(len(explainer.feature_names))
    ]
    names = tuple(str(name) for name in explainer.feature_names)
    boxes = replace(stack(columns, names, kinds=labels), unit=scale)
    around = bool(explainer.sample_around_instance)
    return LimeNumbers(boxes, nu, mean, around, _class_names(explainer))


def _bins(explainer: Any, j: int) -> tuple[Column, list[Collapsed]]:
    """A discretized feature, as `get_undiscretize_values` of `lime` samples it."""
    discretizer = explainer.discretizer
    lo, hi, mean, sd = (
        np.array(getattr(discretizer, stat)[j], float) for stat in ("mins", "maxs", "means", "stds")
    )
    narrow = (hi > lo) & (hi - lo < NARROW * sd)
    if np.any(narrow):
        raise ValueError(
            f"explainer must have columns in units in which its bins are wider than {NARROW * sd.max():.0e}, "
            f"got {explainer.feature_names[j]!r} with one of width {(hi - lo)[narrow][0]:.0e}: lime "
            "adds 1e-11 to all deviations; rescale the column."
        )
    prob = np.zeros(len(mean))
    prob[np.asarray(explainer.feature_values[j], int)] = explainer.feature_frequencies[j]
    fed = (lo - mean) / sd  # what `lime` returns where this equals the upper end
    point = fed == (hi - mean) / sd
    wrong = [
        Collapsed(j, int(k), float(lo[k]), float(fed[k]))
        for k in np.flatnonzero(point & (prob > 0))
    ]
    empty = prob == 0  # never drawn, and maybe beyond all data, so that its ends are exchanged
    value, point = np.where(empty, lo, fed), point | empty
    mean, sd = np.where(point, value, mean), np.where(point, 0.0, sd)
    return Column(hi[:-1], prob, mean, sd, np.minimum(lo, hi), np.maximum(lo, hi)), wrong


def _categories(explainer: Any, j: int) -> Column:
    """A categorical feature: one box per value, drawn by its frequency."""
    values = np.asarray(explainer.feature_values[j], float)
    prob = np.asarray(explainer.feature_frequencies[j], float)
    between = (values[:-1] + values[1:]) / 2
    return Column(between, prob, values, np.zeros(len(values)), values, values)


NARROW = 1e-10  # of a deviation: what is drawn in so narrow a bin is mostly rounding

# what is read of an explainer, and of its discretizer
PARTS = (
    "discretizer feature_values feature_frequencies feature_names base mode categorical_features "
    "categorical_names class_names sample_around_instance feature_selection"
).split()
STATISTICS = "lambdas mins maxs means stds".split()


def is_named(explainer: Any, name: str) -> bool:
    """Whether an explainer is of the class of `lime` with this dotted name, or of one made from it."""
    return any(f"{kind.__module__}.{kind.__name__}" == name for kind in type(explainer).__mro__)


def readable(explainer: Any, sequences: bool = False) -> None:
    """Refuse what is no explainer of tables, or of sequences where these are not taken, or one whose
    training data cannot be read.
    """
    discretizer = getattr(explainer, "discretizer", None)
    complete = all(hasattr(explainer, part) for part in PARTS)
    has_bins = discretizer is None or all(hasattr(discretizer, part) for part in STATISTICS)
    if not complete or not has_bins or not hasattr(explainer.base, "kernel_fn"):
        raise TypeError(
            "explainer must be a lime.lime_tabular.LimeTabularExplainer, got "
            f"{arg.shorten(explainer)}."
        )
    if hasattr(explainer, "n_timesteps") and not sequences:
        raise TypeError(
            "explainer must be of rows, got a RecurrentTabularExplainer, whose rows are sequences: only "
            "lt.predict_lime takes it."
        )
    by_column = explainer.scaler.scale_ if discretizer is None else explainer.feature_frequencies
    names, columns = len(explainer.feature_names), len(by_column)
    if names != columns:
        raise ValueError(
            f"explainer must have one name per column of its {columns}, got {names} feature_names."
        )
    refuse_repeated(
        "explainer", list(map(str, explainer.feature_names)), "have different feature_names"
    )
    if discretizer is None:
        finite = np.isfinite(explainer.scaler.scale_) & np.isfinite(explainer.scaler.mean_)
        if not np.all(finite):
            raise ValueError(
                "explainer must be made from training data without nan or infinite values, "
                f"got some in column {explainer.feature_names[int(np.argmin(finite))]!r}."
            )
        return
    _refuse_discretizer(discretizer)
    for j, shares in explainer.feature_frequencies.items():
        stats = [getattr(explainer.discretizer, s).get(j, ()) for s in ("means", "mins", "maxs")]
        if not all(np.all(np.isfinite(np.asarray(v, float))) for v in (shares, *stats)):
            raise ValueError(
                "explainer must be made from training data without nan or infinite values, from "
                "which lime cannot sample (lt.Empirical has a box for what is missing), got some in "
                f"column {explainer.feature_names[j]!r}."
            )


# what every discretizer of `lime` does in the same way; they differ in their bins alone
DRAWING = ("discretize", "undiscretize", "get_undiscretize_values")


def _refuse_discretizer(discretizer: Any) -> None:
    """Refuse a discretizer of one's own that cuts or draws in another way than those of `lime`."""
    name = type(discretizer).__name__
    base = getattr(sys.modules.get("lime.discretize"), "BaseDiscretizer", None)
    for method in DRAWING if base is not None else ():
        own = getattr(getattr(discretizer, method, None), "__func__", None)
        if own is not getattr(base, method):
            raise ValueError(
                "explainer must have a discretizer that differs from lime's own in its bins alone, "
                f"got {name}, whose {method} is another."
            )
    for j, cut in discretizer.lambdas.items():
        edges = np.asarray(discretizer.maxs[j], float)[:-1]
        sizes = {len(getattr(discretizer, part)[j]) for part in ("mins", "maxs", "means", "stds")}
        around = np.concatenate([np.nextafter(edges, end) for end in (-np.inf, edges, np.inf)])
        same = np.array_equal(np.ravel(cut(around)), np.searchsorted(edges, around))
        if len(sizes) > 1 or np.any(np.diff(edges) <= 0) or not same:
            raise ValueError(
                "explainer must have a discretizer with increasing edges, each of which belongs to "
                f"the bin below it, as lime's own has, got {name} for column {j}."
            )


def has_own_kernel(explainer: Any) -> bool:
    """Whether an explainer weighs by `lime`'s own kernel, sqrt(exp(-D^2 / nu^2))."""
    return own_width(explainer, np.sqrt(np.arange(len(explainer.feature_names) + 1))) is not None


def own_width(explainer: Any, distances: np.ndarray) -> float | None:
    """The nu of `lime`'s own kernel, if that is what an explainer has at these distances."""
    nu = getattr(explainer.base.kernel_fn, "keywords", {}).get("kernel_width")
    if nu == 0:
        raise ValueError("explainer's kernel_width must be above 0, got 0.")
    weights = np.exp(-(distances**2) / (2 * float(nu) ** 2)) if nu else np.nan
    same = np.allclose(explainer.base.kernel_fn(distances), weights, 1e-9, 0)
    return float(nu) if nu and same else None


def checked_weights(explainer: Any, metric: Any, distances: Callable[[], np.ndarray]) -> np.ndarray:
    """The weights of rows, the instance first, by an explainer's own kernel and any distance."""
    try:
        distance = distances()
    except (ValueError, TypeError) as error:
        words = " ".join(str(error).split())[:150].rstrip(".")
        raise ValueError(
            f"distance_metric must be one that scikit-learn has for these rows, got "
            f"{arg.shorten(metric)}: {words}."
        ) from None
    weights = np.asarray(explainer.base.kernel_fn(distance), float)
    if weights.shape != distance.shape or not np.all(weights >= 0) or not weights[0] > 0:
        raise ValueError(
            "explainer's kernel must give one weight of 0 or above for each distance, and the "
            f"instance itself one above 0, got {arg.shorten(weights)}."
        )
    return weights


def repaired(world: LimeWorld) -> LimeWorld:
    """The same world with the training value in every collapsed bin, as `lime` should have it."""
    law = world.boxes().law
    mean = law.mean.copy()
    for bin_ in world.collapsed:
        mean[bin_.feature, bin_.box] = bin_.value
    boxes = replace(world.boxes(), law=replace(law, mean=mean))
    return replace(world, _boxes=boxes, collapsed=())
