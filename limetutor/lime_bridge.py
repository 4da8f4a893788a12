"""The real `lime`, read: its bins, frequencies and truncated normals as a world of this package.

`lime`'s tabular explainer draws a bin of each feature by its training frequency, a value in the bin
from a normal truncated to it, weighs by the number of features in another bin, and fits a ridge.
Every piece is a product over features, so :func:`from_lime` is all that the theory needs to say
what `explain_instance` will return:

    world = lt.from_lime(explainer)
    lt.limit(model, xi, world, nu=world.nu, kernel="mismatch", ridge=1.0, n=5000)

What `lime` does wrong, the world does wrong as well: see :class:`Collapsed`. Chapter: the real lime.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import arguments as arg
from .columns import Coded
from .models import listed_classes
from .worlds import Boxes, BoxWorld, Column

RIDGE = 1.0  # `lime` fits Ridge(alpha=1)
SAMPLES = 5000  # ... to this many samples, unless told otherwise


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
class LimeWorld(BoxWorld):
    """What a `lime` explainer samples from; made by :func:`from_lime`.

    ``nu`` is its kernel width; ``collapsed`` lists the bins that `lime` feeds a wrong value for;
    ``class_names`` are those of the explainer, which ``output=`` understands.
    """

    nu: float
    collapsed: tuple[Collapsed, ...]
    class_names: tuple[str, ...] = ()

    own_row = True
    kernel = "mismatch"

    def __repr__(self) -> str:
        wrong = f", {len(self.collapsed)} collapsed" if self.collapsed else ""
        return f"LimeWorld({self.d} features, nu={self.nu:.4g}{wrong})"


@dataclass(frozen=True, eq=False)
class LimeNumbers(BoxWorld):
    """What a `lime` explainer without boxes samples from; made by :func:`from_lime`.

    x_j ~ N(centre_j, scale_j^2), or around xi; the surrogate is fitted on (x_j - centre_j) / scale_j,
    and ``nu``, the kernel width, is in units of the scale. Categories are as with boxes. See
    :mod:`limetutor.unboxed`.
    """

    nu: float
    centre: np.ndarray
    around: bool
    class_names: tuple[str, ...] = ()

    own_row = True
    indicators = False
    kernel = "gaussian"

    @property
    def moves(self) -> bool:  # type: ignore[override]
        """Whether samples are drawn around xi."""
        return self.around

    def seen_from(self, xi: np.ndarray) -> Boxes:
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

    Quartile, decile, entropy and own discretizers, and categorical features; without boxes
    (``discretize_continuous=False``) a :class:`LimeNumbers`. The explainer's training set is not
    needed: `lime` keeps of it what it samples from. Collapsed bins hold the wrong value that `lime`
    feeds the model; :func:`repaired` gives the world with the right one.

    `lime` also puts xi itself among its n samples, and so does :func:`limetutor.limit` in this
    world once it is told n. Chapter: the real lime.
    """
    readable(explainer)
    return world_of(explainer, _kernel_width(explainer))


def world_of(explainer: Any, nu: float) -> LimeWorld | LimeNumbers:
    """The world of an explainer that can be read, with a bandwidth."""
    if explainer.discretizer is None:
        return _numbers(explainer, nu)
    d = len(explainer.feature_names)
    numeric = explainer.discretizer.lambdas
    columns, collapsed = [], []
    for j in range(d):
        if j in numeric:
            column, wrong = _bins(explainer, j)
            collapsed += wrong
        else:
            column = _categories(explainer, j)
        columns.append(column)
    names = tuple(str(name) for name in explainer.feature_names)
    boxes = Boxes.stack(columns, names, kinds=_labels(explainer))
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


def label_column(label: Any, names: Any, columns: int | None) -> int:
    """The column of the probabilities that `lime`'s label stands for: its number, or a class name.

    `lime` explains column 1 unless told otherwise, also where the classes are called 1, 2, 3.
    ``names`` are those of the explainer or of the model, None without any; ``columns`` is how many
    there are, None where only the model could tell.
    """
    known = [] if names is None else [str(name) for name in names][:columns]
    if isinstance(label, str) and label in known:
        return known.index(label)
    label = 1 if label is None else label
    if arg.is_integer(label) and 0 <= label < (np.inf if columns is None else columns):
        return int(label)
    upto = "from 0 on" if columns is None else f"from 0 to {columns - 1}"
    named = f" or one of the classes {arg.shorten(known)}" if known else ""
    raise ValueError(f"label must be a column {upto}{named}, got {arg.shorten(label)}.")


def output_of(model: Any, label: Any, output: Any, classifies: bool | None, names: Any) -> Any:
    """What to explain, from `lime`'s column (or its class name) or from the class itself.

    ``names`` are those of :func:`label_column`; ``classifies`` is None where only the model could tell,
    and does not.
    """
    if output is not None:
        if label is not None:
            raise ValueError("label and output must not both be given; label is lime's column.")
        return output
    if classifies is False and (label is None or (arg.is_integer(label) and label == 1)):
        return None  # lime keeps a regression under 1 too
    if classifies is False:
        raise ValueError(f"label must be left out for a regression, got {arg.shorten(label)}.")
    if label is None and not classifies:
        return None
    classes = listed_classes(model)
    column = label_column(label, classes if names is None else names, len(classes) or None)
    return classes[column] if classes else column


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
    d = len(explainer.feature_names)
    labels = _labels(explainer)
    mean, scale = (np.array(getattr(explainer.scaler, part), float) for part in ("mean_", "scale_"))
    reach = np.array([np.inf])
    columns = [
        _categories(explainer, j)
        if j in labels
        else Column(np.array([]), np.ones(1), mean[[j]], scale[[j]], -reach, reach)
        for j in range(d)
    ]
    names = tuple(str(name) for name in explainer.feature_names)
    boxes = replace(Boxes.stack(columns, names, kinds=labels), unit=scale)
    around = bool(explainer.sample_around_instance)
    return LimeNumbers(boxes, nu, mean, around, _class_names(explainer))


def _bins(explainer: Any, j: int) -> tuple[Column, list[Collapsed]]:
    """A discretized feature, as `get_undiscretize_values` of `lime` samples it."""
    discretizer = explainer.discretizer
    lo, hi, mean, sd = (
        np.array(getattr(discretizer, stat)[j], float) for stat in ("mins", "maxs", "means", "stds")
    )
    prob = np.zeros(len(mean))
    prob[np.asarray(explainer.feature_values[j], int)] = explainer.feature_frequencies[j]
    fed = (lo - mean) / sd  # what `lime` returns where this equals the upper end
    point = fed == (hi - mean) / sd
    wrong = [
        Collapsed(j, int(k), float(lo[k]), float(fed[k]))
        for k in np.flatnonzero(point & (prob > 0))
    ]
    where = np.where(prob > 0, fed, lo)  # an empty bin is never drawn
    mean, sd = np.where(point, where, mean), np.where(point, 0.0, sd)
    return Column(hi[:-1], prob, mean, sd, lo, hi), wrong


def _categories(explainer: Any, j: int) -> Column:
    """A categorical feature: one box per value, drawn by its frequency."""
    values = np.asarray(explainer.feature_values[j], float)
    prob = np.asarray(explainer.feature_frequencies[j], float)
    between = (values[:-1] + values[1:]) / 2
    return Column(between, prob, values, np.zeros(len(values)), values, values)


# what is read of an explainer, and of its discretizer
PARTS = (
    "discretizer feature_values feature_frequencies feature_names base mode categorical_features "
    "categorical_names class_names sample_around_instance feature_selection"
).split()
STATISTICS = "lambdas mins maxs means stds".split()


def readable(explainer: Any) -> None:
    """Refuse what is no explainer of tables, or one that was made from what cannot be read."""
    discretizer = getattr(explainer, "discretizer", None)
    known = all(hasattr(explainer, part) for part in PARTS)
    cuts = discretizer is None or all(hasattr(discretizer, part) for part in STATISTICS)
    if not known or not cuts or not hasattr(explainer.base, "kernel_fn"):
        raise TypeError(
            "explainer must be a lime.lime_tabular.LimeTabularExplainer, got "
            f"{arg.shorten(explainer)}."
        )
    if hasattr(explainer, "n_timesteps"):
        raise TypeError(
            "explainer must be of rows, got a RecurrentTabularExplainer, whose rows are sequences."
        )
    if explainer.discretizer is None:
        _refuse_unknown_scale(explainer)
        return
    names, columns = len(explainer.feature_names), len(explainer.feature_frequencies)
    if names != columns:
        raise ValueError(
            f"explainer must have one name per column of its {columns}, got {names} feature_names."
        )
    for j, shares in explainer.feature_frequencies.items():
        stats = [getattr(explainer.discretizer, s).get(j, ()) for s in ("means", "mins", "maxs")]
        if not all(np.all(np.isfinite(np.asarray(v, float))) for v in (shares, *stats)):
            raise ValueError(
                "explainer must be made from training data without nan or infinite values, from "
                "which lime cannot sample (lt.Empirical has a box for what is missing), got some in "
                f"column {explainer.feature_names[j]!r}."
            )


def _refuse_unknown_scale(explainer: Any) -> None:
    """A scaler of training data with nan, which `lime` leaves as they are."""
    columns, names = len(explainer.scaler.scale_), len(explainer.feature_names)
    if names != columns:
        raise ValueError(
            f"explainer must have one name per column of its {columns}, got {names} feature_names."
        )
    known = np.isfinite(explainer.scaler.scale_) & np.isfinite(explainer.scaler.mean_)
    if not np.all(known):
        raise ValueError(
            "explainer must be made from training data without nan or infinite values, "
            f"got some in column {explainer.feature_names[int(np.argmin(known))]!r}."
        )


def has_own_kernel(explainer: Any) -> bool:
    """Whether an explainer weighs by `lime`'s own kernel, sqrt(exp(-D^2 / nu^2))."""
    return own_width(explainer, np.sqrt(np.arange(len(explainer.feature_names) + 1))) is not None


def own_width(explainer: Any, distances: np.ndarray) -> float | None:
    """The nu of `lime`'s own kernel, if that is what an explainer has at these distances."""
    nu = getattr(explainer.base.kernel_fn, "keywords", {}).get("kernel_width")
    if nu == 0:
        raise ValueError("explainer's kernel_width must be above 0, got 0.")
    own = np.exp(-(distances**2) / (2 * float(nu) ** 2)) if nu else np.nan
    same = np.allclose(explainer.base.kernel_fn(distances), own, 1e-9, 0)
    return float(nu) if nu and same else None


def _kernel_width(explainer: Any) -> float:
    """The bandwidth of `lime`'s own kernel, sqrt(exp(-D^2 / nu^2))."""
    kernel = explainer.base.kernel_fn
    nu = arg.bandwidth(
        "explainer's kernel_width", getattr(kernel, "keywords", {}).get("kernel_width")
    )
    if not has_own_kernel(explainer):
        raise ValueError(
            "explainer must use lime's own kernel, got another one; pass it as kernel= to "
            "lt.explain with an lt.Empirical world."
        )
    return nu


def repaired(world: LimeWorld) -> LimeWorld:
    """The same world with the training value in every collapsed bin, as `lime` should have it."""
    law = world.boxes().law
    mean = law.mean.copy()
    for bin_ in world.collapsed:
        mean[bin_.feature, bin_.box] = bin_.value
    boxes = replace(world.boxes(), law=replace(law, mean=mean))
    return replace(world, _boxes=boxes, collapsed=())
