"""What callers pass to make a world: parameters of normals, numbers of boxes, training columns."""

from typing import Any

import numpy as np

from . import arguments as arg
from .lime_defaults import NUM_SAMPLES
from .names import refuse_repeated

MAX_BOXES = 10_000  # of one feature; more of them than training sets have rows
MAX_FEATURES = 1_000_000


def box_counts(p: Any) -> np.ndarray:
    """One number of boxes, or one per feature."""
    try:
        array = np.asarray(p, dtype=object)
    except ValueError:
        raise ValueError(
            f"p must be one number or one per feature, got {arg.shorten(p)}."
        ) from None
    whole = np.vectorize(lambda v: arg.whole("p", v, least=2, most=MAX_BOXES), otypes=[int])
    return whole(array) if array.size else np.zeros(array.shape, int)


def feature_names(names: Any) -> tuple[str, ...]:
    """Names of features, as different texts."""
    try:
        texts = () if isinstance(names, str | bytes) else tuple(str(name) for name in names)
    except (TypeError, RecursionError):
        texts = ()
    if not texts:
        raise ValueError(f"names must be one text per feature, got {arg.shorten(names)}.")
    refuse_repeated("names", texts, "differ")
    return texts


def agreed_dimension(of_xi: int | None, of_world: int | None) -> int:
    """The number of features of a world and of an instance, which must agree."""
    of_xi = None if of_xi is None else arg.whole("d", of_xi, 0, most=MAX_FEATURES)
    if of_xi is None and of_world is None:
        raise ValueError("d must be given: this world holds scalars and fits any dimension.")
    if None not in (of_xi, of_world) and of_xi != of_world:
        needed = f"{of_world} entries, one per feature of the world"
        raise ValueError(f"xi must have {needed}, got {of_xi}.")
    if of_xi == 0:
        raise ValueError("xi must have at least one entry, got none.")
    return of_xi or of_world or 0


def gaussian_parameters(mu: Any, sigma: Any, p: Any, names: Any) -> dict[str, Any]:
    """Means, deviations, numbers of boxes and names of normals, and how many features they fix."""
    values = {"mu": arg.numbers("mu", mu), "sigma": arg.numbers("sigma", sigma), "p": box_counts(p)}
    for name, value in values.items():
        if value.ndim > 1 or value.size == 0:
            shape = value.shape
            raise ValueError(f"{name} must be one number or one per feature, got shape {shape}.")
    if np.any(values["sigma"] <= 0):
        raise ValueError(f"sigma must be above 0, got {float(np.min(values['sigma'])):g}.")
    arg.within("mu", values["mu"])
    for deviation in (np.min(values["sigma"]), np.max(values["sigma"])):
        arg.bandwidth("sigma", deviation)
    lengths = {value.size for value in values.values() if value.ndim == 1}
    if names is not None:
        names = feature_names(names)
        lengths.add(len(names))
    if len(lengths) > 1:
        raise ValueError(
            "mu, sigma, p and names must have the same length where they are given per "
            f"feature, got lengths {sorted(lengths)}."
        )
    return values | {"names": names, "_d": lengths.pop() if lengths else None}


def refuse_merged(mu: np.ndarray, sigma: np.ndarray, inner: np.ndarray) -> None:
    """Refuse a law so narrow beside its mean that a double cannot tell its edges apart."""
    with np.errstate(invalid="ignore"):
        merged = np.any(np.diff(inner, axis=1) <= 0, axis=1) | (mu + sigma == mu)
    if np.any(merged):
        j = int(np.flatnonzero(merged)[0])
        raise ValueError(
            f"sigma must be large enough beside mu for a double to tell the edges of the boxes "
            f"apart, got sigma={sigma[j]:g} at mu={mu[j]:g}."
        )


def mean_and_deviation(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each column; exact for a constant one, whose mean and deviation numpy rounds."""
    constant = np.all(table == table[0], axis=0)
    mean = np.where(constant, table[0], table.mean(axis=0))
    return mean, np.where(constant, 0.0, table.std(axis=0))


def short(value: np.ndarray) -> str:
    """Parameters as a repr shows them: one number where all are the same."""
    flat = np.ravel(value)
    if np.all(flat == flat[0]):
        return f"{flat[0]:g}"
    return np.array2string(flat, precision=3, threshold=6, separator=", ")


def rows_and_penalty(world: Any, n: Any, ridge: Any, lasso: Any) -> tuple[Any, Any]:
    """Rows and ridge of a sampled fit: those asked for, or else those of the world."""
    usual = NUM_SAMPLES if world.n is None else world.n
    if ridge is None:  # a lasso takes its place
        ridge = 0.0 if arg.not_negative("lasso", lasso) else world.ridge
    return usual if n is None else n, ridge


def penalty_and_rows(ridge: Any, n: Any, world: Any = None) -> tuple[float, int | None]:
    """The two of a limit, checked: a penalty needs n, the rows that it competes with.

    None stands for those of the world, where one is given, and n = inf for the limit itself.
    """
    usual = (0.0, None) if world is None else (world.ridge, world.n)
    if isinstance(n, float) and n == np.inf:
        n, usual = None, (0.0, None)
    ridge = arg.not_negative("ridge", usual[0] if ridge is None else ridge)
    n = usual[1] if n is None else n
    if ridge > 0:
        because = " with ridge (the penalty weighs against n)"
        return ridge, arg.whole("n", 0 if n is None else n, 1, because=because)
    return ridge, None if n is None else arg.whole("n", n, 1)
