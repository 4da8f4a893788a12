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
from .closed_forms import Limit
from .columns import Category
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

    ``nu`` is its kernel width; ``collapsed`` lists the bins that `lime` feeds a wrong value for.
    """

    nu: float
    collapsed: tuple[Collapsed, ...]

    def __repr__(self) -> str:
        wrong = f", {len(self.collapsed)} collapsed" if self.collapsed else ""
        return f"LimeWorld({self.d} features, nu={self.nu:.4g}{wrong})"


def from_lime(explainer: Any) -> LimeWorld:
    """Read a ``lime.lime_tabular.LimeTabularExplainer`` into a world.

    Quartile, decile, entropy and own discretizers, and categorical features. The explainer's
    training set is not needed: `lime` keeps of it what it samples from. Collapsed bins hold the
    wrong value that `lime` feeds the model; :func:`repaired` gives the world with the right one.

    `lime` also puts xi itself among its n samples; :func:`instance_row` says what that adds.
    Chapter: the real lime.
    """
    _refuse_unreadable(explainer)
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
    labels = {j: Category() for j in range(d) if j not in numeric}
    boxes = Boxes.stack(columns, names, kinds=labels)
    return LimeWorld(boxes, _kernel_width(explainer), tuple(collapsed))


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
PARTS = "discretizer feature_values feature_frequencies feature_names base mode".split()
STATISTICS = "lambdas mins maxs means stds".split()


def _refuse_unreadable(explainer: Any) -> None:
    discretizer = getattr(explainer, "discretizer", None)
    known = all(hasattr(explainer, part) for part in (*PARTS, "sample_around_instance"))
    cuts = discretizer is None or all(hasattr(discretizer, part) for part in STATISTICS)
    if not known or not cuts or not hasattr(explainer.base, "kernel_fn"):
        raise TypeError(
            "explainer must be a lime.lime_tabular.LimeTabularExplainer, got "
            f"{arg.shorten(explainer)}."
        )
    if explainer.sample_around_instance:
        raise ValueError(
            "explainer must be made with sample_around_instance=False, got True; `lime` ignores "
            "the option while it discretizes, so leaving it out changes no explanation."
        )
    if explainer.discretizer is None:
        raise ValueError(
            "explainer must discretize for its bins to be read, got discretize_continuous=False; "
            "make it with discretize_continuous=True, or sample with lt.explain on an lt.Gaussian."
        )
    names, columns = len(explainer.feature_names), len(explainer.feature_frequencies)
    if names != columns:
        raise ValueError(
            f"explainer must have one name per column of its {columns}, got {names} feature_names."
        )
    for j, shares in explainer.feature_frequencies.items():
        stats = [getattr(explainer.discretizer, s).get(j, ()) for s in ("means", "mins", "maxs")]
        if not all(np.all(np.isfinite(np.asarray(v, float))) for v in (shares, *stats)):
            raise ValueError(
                "explainer must be made from training data without nan or infinite values, "
                f"got some in column {explainer.feature_names[j]!r}."
            )


def _kernel_width(explainer: Any) -> float:
    """The bandwidth of `lime`'s own kernel, sqrt(exp(-D^2 / nu^2))."""
    kernel = explainer.base.kernel_fn
    nu = arg.bandwidth(
        "explainer's kernel_width", getattr(kernel, "keywords", {}).get("kernel_width")
    )
    distance = np.sqrt(np.arange(len(explainer.feature_names) + 1))
    if not np.allclose(
        explainer.base.kernel_fn(distance), np.exp(-(distance**2) / (2 * nu**2)), 1e-9, 0
    ):
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
    return LimeWorld(boxes, world.nu, ())


def instance_row(at: Limit, n: int = SAMPLES, ridge: float = RIDGE) -> np.ndarray:
    """What `lime` adds to each coefficient by putting xi itself among its n samples, (d,).

    One row of weight 1 and indicators 1 moves a fit by u (f(xi) - f^(xi)) / (1 + sum u), where
    u_j = (1 - alpha_j) / (N s_j + ridge), s_j = alpha_j (1 - alpha_j), and N = (n - 1) C is the
    weight of the other rows. At n = 5000 it is a fraction of a standard error.
    """
    alpha, rest = at.tilt.alpha, at.tilt.rest
    weight = (n - 1) * np.exp(at.log_C)
    u = rest / (weight * alpha * rest + ridge)
    return -at.local_error * u / (1 + 1 / weight + np.sum(rest * u))
