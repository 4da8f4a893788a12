"""Algorithm 1 of the paper: draw, weigh, fit. Chapter: surrogate."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from . import arguments as arg
from . import surrogate
from .kernels import PRODUCT_KERNELS, log_weights
from .models import predictor
from .sampling import SAMPLERS, tilted_sampler
from .sampling import sampler as draw_for
from .worlds import Boxes, World, check_world

BATCH = 2**20  # numbers in one batch of samples, about 8 MB: memory does not grow with n
SELECTIONS = ("auto", "highest", "forward")


@dataclass(frozen=True)
class Samples:
    """The new examples behind an explanation, kept on request.

    Weights are kept as logarithms too, for the cases where they underflow.
    """

    x: np.ndarray
    z: np.ndarray
    log_weights: np.ndarray
    y: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """exp(log_weights)."""
        return np.exp(self.log_weights)


@dataclass(frozen=True, eq=False)
class Explanation:
    """A local linear model on "same box as xi?" indicators, with its uncertainty.

    ``coef`` (d,), ``intercept``, and ``covariance`` ((d+1, d+1), intercept first) of the sampling
    error. A feature that was left out has coefficient 0 and standard error 0: it was not
    estimated.
    """

    coef: np.ndarray
    intercept: float
    covariance: np.ndarray = field(repr=False)
    prediction: float
    score: float
    ess: float
    n: int
    nu: float
    kernel: str
    sampler: str
    names: tuple[str, ...]
    box_names: tuple[str, ...]
    output: Any
    xi: np.ndarray = field(repr=False)
    warnings: tuple[str, ...]
    used: np.ndarray = field(repr=False)  # which features have an estimate, (d,) of bool
    samples: Samples | None = field(repr=False, default=None)
    f: Any = field(repr=False, default=None)  # what was asked, for whoever looks closer (audit)
    world: World | None = field(repr=False, default=None)
    ridge: float = field(repr=False, default=0.0)

    @cached_property
    def stderr(self) -> np.ndarray:
        """Standard errors of ``coef`` (the sandwich estimator)."""
        return np.sqrt(np.diag(self.covariance)[1:])

    @property
    def local_prediction(self) -> float:
        """The surrogate at xi: intercept plus all coefficients."""
        return self.intercept + float(self.coef.sum())

    @property
    def local_stderr(self) -> float:
        """Standard error of ``local_prediction``."""
        return float(np.sqrt(self.covariance.sum()))

    @property
    def x(self) -> np.ndarray:
        """New examples (n, d)."""
        return self._kept().x

    @property
    def z(self) -> np.ndarray:
        """Their indicators (n, d)."""
        return self._kept().z

    @property
    def weights(self) -> np.ndarray:
        """Their weights (n,)."""
        return self._kept().weights

    @property
    def y(self) -> np.ndarray:
        """The responses f(x) (n,)."""
        return self._kept().y

    def _kept(self) -> Samples:
        if self.samples is None:
            raise ValueError("keep must be True in lt.explain for the samples to be kept.")
        return self.samples

    def order(self) -> np.ndarray:
        """Features from the largest coefficient to the smallest, those left out not among them."""
        used = np.flatnonzero(self.used)
        return used[np.argsort(-np.abs(self.coef[used]), kind="stable")]

    def as_list(self) -> list[tuple[str, float]]:
        """Pairs of box description and coefficient, largest first, as in `lime`."""
        return [(self.box_names[j], float(self.coef[j])) for j in self.order()]

    def as_map(self) -> dict[Any, list[tuple[int, float]]]:
        """Pairs of feature position and coefficient by output (1 for regression, as in `lime`)."""
        label = 1 if self.output is None else self.output
        return {label: [(int(j), float(self.coef[j])) for j in self.order()]}

    def plot(self) -> Any:
        """Coefficients with 95% intervals, as a matplotlib figure."""
        from .plotting.results import coefficients

        return coefficients(self)

    def __repr__(self) -> str:
        lines = [
            f"Explanation of f(xi) = {self.prediction:.4g} with {self.n} samples, nu = {self.nu:g}, "
            f"{self.kernel} kernel, {self.sampler} sampler"
        ]
        lines += [
            f"  {self.coef[j]:+10.4g} ± {self.stderr[j]:<8.2g} {self.box_names[j]}"
            for j in self.order()[:10]
        ]
        if len(self.order()) > 10:
            lines.append(f"  ... and {len(self.order()) - 10} more")
        lines.append(
            f"  surrogate at xi {self.local_prediction:.4g}, R² {self.score:.3f}, "
            f"effective samples {self.ess:.0f}"
        )
        return "\n".join(lines + [f"  warning: {text}" for text in self.warnings])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(self.box_names[j])}</td>"
            f"<td>{self.coef[j]:+.4g}</td><td>± {self.stderr[j]:.2g}</td></tr>"
            for j in self.order()
        )
        notes = "".join(f"<p>⚠ {escape(text)}</p>" for text in self.warnings)
        return (
            "<table><thead><tr><th style='text-align:left'>box of ξ</th><th>coefficient</th>"
            f"<th>standard error</th></tr></thead><tbody>{rows}</tbody></table>"
            f"<p>f(ξ) = {self.prediction:.4g}; surrogate at ξ {self.local_prediction:.4g}; "
            f"R² {self.score:.3f}; effective samples {self.ess:.0f} of {self.n}.</p>{notes}"
        )


def explain(
    f: Any,
    xi: Any,
    world: World,
    nu: float,
    n: int = 5000,
    seed: int | None = None,
    kernel: Any = "gaussian",
    sampler: str = "bins",
    ridge: float = 0.0,
    *,
    lasso: float = 0.0,
    features: int | None = None,
    select: str = "auto",
    output: Any = None,
    keep: bool = False,
) -> Explanation:
    """Explain f(xi) by tabular LIME (paper, Algorithm 1).

    Parameters
    ----------
    f
        A function of an (n, d) array, or a fitted scikit-learn estimator.
    xi
        The instance, d numbers.
    world
        :class:`Gaussian` or :class:`Empirical`: where new examples come from.
    nu
        Bandwidth of the kernel.
    n
        Number of new examples.
    seed
        Results are bit-identical for a seed.
    kernel
        "gaussian" (on x, the paper), "mismatch" (on z, `lime`), "cosine", or a function of
        (x, z, xi, nu) that returns weights.
    sampler
        "bins" (a box, then a value in it), "gaussian" (the value directly), or "tilted" (from
        the tilted law, with equal weights: the same limit, less noise).
    ridge, lasso
        Penalties, at most one of them, scaled as in scikit-learn.
    features, select
        Keep only that many features: those with the "highest" coefficients, by "forward"
        selection, or "auto" (forward up to 6, as `lime` does).
    output
        Which output to explain, a class or a column, where f has several.
    keep
        Keep samples, weights and responses; memory then grows with n.
    """
    check_world(world)
    nu = arg.bandwidth("nu", nu)
    arg.one_of("sampler", sampler, SAMPLERS)
    arg.one_of("select", select, SELECTIONS)
    ridge, lasso = arg.not_negative("ridge", ridge), arg.not_negative("lasso", lasso)
    if ridge and lasso:
        raise ValueError("ridge and lasso must not both be above 0; choose one penalty.")
    boxes = world.boxes(np.asarray(xi, dtype=object).size if world.d is None else None)
    xi = boxes.encode(xi)
    n = arg.whole("n", n, boxes.d + 2, because=f" to fit {boxes.d + 1} coefficients")
    if features is not None:
        features = arg.whole("features", features, 1)
    seed = arg.seed("seed", seed)
    weigh = log_weights(kernel, xi, nu, boxes)
    if sampler == "tilted":
        draw, log_C = tilted_sampler(boxes, xi, nu, kernel)
        weigh = lambda x, z: np.full(len(x), log_C)  # noqa: E731
    else:
        draw = draw_for(sampler, boxes, xi)
    predict = predictor(f, boxes, output)
    prediction = float(predict(xi[None])[0])
    sums, samples = _run(draw, weigh, predict, n, boxes.d, seed, keep)
    if sums.ess == 0:
        raise ValueError(f"kernel must give some sample a weight above 0, got 0 for all {n}.")

    tilts = sampler != "tilted" and not callable(kernel) and kernel in PRODUCT_KERNELS
    remedy = "raise nu or n, or use sampler='tilted'" if tilts else "raise nu or n"
    if kernel == "gaussian" and np.max(boxes.sigma) > 10 * np.min(boxes.sigma[boxes.sigma > 0]):
        remedy += " (features differ in scale: standardise them, since nu is one width for all)"
    own = boxes.discretize(xi[None])[0]
    notes = _warn(sums, boxes, own, ridge, remedy)
    chosen = None
    if features is not None:
        by = ("forward" if features <= 6 else "highest") if select == "auto" else select
        chosen = surrogate.strongest(sums, features, by)
    result = surrogate.fit(sums, ridge, lasso, chosen)
    return Explanation(
        coef=result.beta[1:],
        intercept=float(result.beta[0]),
        covariance=result.covariance,
        prediction=prediction,
        score=result.score,
        ess=sums.ess,
        n=n,
        nu=nu,
        kernel=getattr(kernel, "__name__", "own") if callable(kernel) else kernel,
        sampler=sampler,
        names=boxes.names,
        box_names=tuple(boxes.describe(j, own[j]) for j in range(boxes.d)),
        output=output,
        xi=xi,
        warnings=notes,
        used=result.used,
        samples=samples,
        f=f,
        world=world,
        ridge=ridge,
    )


def _run(
    draw: Any, weigh: Any, predict: Any, n: int, d: int, seed: Any, keep: bool
) -> tuple[surrogate.Sums, Samples | None]:
    """Draw n samples in batches and add them up."""
    rng = np.random.default_rng(seed)
    sums, kept = surrogate.Sums(d), []
    rows = max(BATCH // (d + 1), 64)
    for start in _with_progress(range(0, n, rows)):
        x, z = draw(rng, min(rows, n - start))
        log_w, y = weigh(x, z), predict(x)
        sums.add(z, y, log_w)
        if keep:
            kept.append((x, z, log_w, y))
    if not keep:
        return sums, None
    x, z, log_w, y = (np.concatenate(part) for part in zip(*kept, strict=True))
    return sums, Samples(x, z, log_w, y)


def _with_progress(batches: range) -> Any:
    """A progress bar for work of more than two seconds, where tqdm is installed."""
    if len(batches) < 2:
        return batches
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return batches
    return tqdm(batches, delay=2, leave=False, unit="batch")


def _warn(
    sums: surrogate.Sums, boxes: Boxes, own: np.ndarray, ridge: float, remedy: str
) -> tuple[str, ...]:
    """Say what the fit rests on where it rests on little."""
    notes = []
    least = 5 * (boxes.d + 1)
    if sums.ess < least:
        notes.append(
            f"The effective sample size is {sums.ess:.1f} of n={sums.n}, and {boxes.d + 1} "
            f"coefficients want at least {least}: {remedy}."
        )
    tangled = surrogate.singular_features(sums.gram)
    # no sampling helps where the world never leaves, or never enters, xi's box
    stuck = tangled & np.isin(boxes.law.prob[np.arange(boxes.d), own], (0.0, 1.0))
    if np.any(stuck):
        names = arg.shorten([boxes.names[j] for j in np.flatnonzero(stuck)])
        notes.append(
            f"The world has all or none of its values in xi's box for {int(stuck.sum())} "
            f"feature(s) {names}: their coefficients are left at 0; leave the columns out or give "
            "other edges."
        )
    if not ridge:
        tangled &= ~stuck
        if np.any(tangled):
            names = arg.shorten([boxes.names[j] for j in np.flatnonzero(tangled)])
            notes.append(
                f"The fit is singular in {int(tangled.sum())} feature(s) {names}: among the weighted "
                f"samples their indicators do not vary, or not apart from others; {remedy}."
            )
    for text in notes:
        warnings.warn(text, arg.FitWarning, stacklevel=3)
    return tuple(notes)
