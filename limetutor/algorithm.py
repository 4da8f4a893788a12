"""Algorithm 1 of the paper: draw, weigh, fit. Chapter: surrogate."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np
import scipy

from . import adjustment, surrogate
from . import arguments as arg
from .adjustment import Adjustment
from .sampling import Sampler, Source, sampler_of
from .setting import Answer, Setting
from .stability import Stability, stability
from .stopping import Precision, Target
from .travel import Fact, Travels, predictions
from .worlds import World

BATCH = 2**20  # numbers in one batch of samples, about 8 MB: memory does not grow with n
ROUNDING = 16 * np.finfo(float).eps  # of the size of a surrogate
BEYOND = "Standard errors are beyond 1e154, given as infinite; rescale f."
FEW = 5  # effective samples that a coefficient, and each side of an indicator, should have


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
class Explanation(Answer, Travels):
    """A local linear model on "same box as xi?" indicators, with its uncertainty.

    ``coef`` (d,), ``intercept``, and ``covariance`` ((d+1, d+1), intercept first) of the sampling
    error. A feature that was left out has coefficient 0 and standard error 0: it was not
    estimated. ``n`` is the number of samples drawn. ``setting`` is what was asked, for whoever looks closer (:func:`limetutor.audit`).
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
    output: Any
    xi: np.ndarray = field(repr=False)
    warnings: tuple[str, ...]
    used: np.ndarray = field(repr=False)  # which features have an estimate, (d,) of bool
    freedom: np.ndarray = field(repr=False)  # degrees of freedom of intercept and coef, (d+1,)
    local_freedom: float = field(repr=False)
    setting: Setting = field(repr=False)
    draws: Sampler = field(repr=False)
    ridge: float = field(repr=False, default=0.0)
    lasso: float = field(repr=False, default=0.0)
    scrambles: int | None = None  # groups of draws that depend on each other, of sampler="sobol"
    adjusted: bool = False
    precision: Precision | None = None  # what tol or rtol asked for, and what came of it
    samples: Samples | None = field(repr=False, default=None)
    textbook_stderr: np.ndarray | None = field(repr=False, default=None)  # lime_stability's

    @property
    def f(self) -> Any:
        """The model that was explained."""
        return self.setting.f

    @cached_property
    def stderr(self) -> np.ndarray:
        """Standard errors of ``coef``: the sandwich with residuals corrected for leverage.

        Of two and more scrambles: from their spread. Of one it is the sandwich, which takes the
        draws for independent and is an upper bound, several times too large.
        """
        return np.sqrt(np.clip(np.diag(self.covariance)[1:], 0.0, None))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Intervals that hold the limit of each coefficient with probability ``level``, (d, 2).

        coef ± t stderr, where t is Student's quantile with the degrees of freedom that the weights
        leave each coefficient: few samples with most of the weight make wide intervals.
        """
        level = arg.probability("level", level)
        if level > 1 - 1e-12:
            raise ValueError(f"level must be at most 1 - 1e-12, got {level!r}.")
        reach = scipy.special.stdtrit(self.freedom[1:], 0.5 + level / 2) * self.stderr
        if self.adjusted:  # columns may explain f to the last digit, and leave rounding
            rounding = ROUNDING * (abs(self.intercept) + np.sum(np.abs(self.coef)))
            reach = np.where(self.used, np.maximum(reach, rounding), reach)
        return self.coef[:, None] + np.outer(reach, [-1.0, 1.0]).reshape(-1, 2)

    @property
    def local_prediction(self) -> float:
        """The surrogate at xi: intercept plus all coefficients (times scaled numbers without boxes)."""
        return self.intercept + float(np.sum(self.coef * self.setting.lead))

    @property
    def local_stderr(self) -> float:
        """Standard error of ``local_prediction``."""
        if not np.all(np.isfinite(self.covariance)):
            return float("inf")
        lead = np.concatenate([[1.0], self.setting.lead])
        return float(np.sqrt(max(np.sum(self.covariance * np.outer(lead, lead)), 0.0)))

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

    def facts(self) -> list[Fact]:
        """The numbers beside the coefficients, for pages and dictionaries."""
        return [
            *predictions(self),
            Fact("score", "share of the variation nearby that it explains", "R²", self.score),
            Fact("ess", "samples that count", "effective samples", self.ess),
            Fact("n", "samples drawn", "n", self.n),
            Fact("nu", "bandwidth", "ν", self.nu),
            Fact("kernel", "kernel", "kernel", self.kernel),
            Fact("sampler", "sampler", "sampler", self.sampler),
        ]

    def bounds(self) -> np.ndarray:
        """95% intervals, (d, 2)."""
        return self.interval()

    def stability(self, features: int = 10, runs: int = 10, select: str = "auto") -> Stability:
        """How alike repeated explanations would be (VSI and CSI), without repeating any.

        See :func:`limetutor.stability.stability`.
        """
        return stability(self, features, runs, select)

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """Coefficients with 95% intervals, as a matplotlib figure.

        On ``ax`` where one is given; ``top`` is how many features are drawn, 20 if left out.
        """
        from .plotting.results import coefficients

        return coefficients(self, ax=ax, top=top, title=title)

    def __repr__(self) -> str:
        lines = [
            f"Explanation of f(xi) = {self.prediction:.4g} with {self.n} samples, nu = {self.nu:g}, "
            f"{self.kernel} kernel, {self.sampler} sampler{self._how()}"
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
        if self.precision is not None and self.precision.reached:
            lines.append(f"  {self.precision}")
        return "\n".join(lines + [f"  warning: {text}" for text in self.warnings])

    def _how(self) -> str:
        many = self.scrambles
        words = "" if many is None else f" ({many} scramble{'s' if many > 1 else ''})"
        return words + (", adjusted" if self.adjusted else "")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(self.box_names[j])}</td>"
            f"<td>{self.coef[j]:+.4g}</td><td>± {self.stderr[j]:.2g}</td></tr>"
            for j in self.order()
        )
        notes = "".join(f"<p>⚠ {escape(text)}</p>" for text in self.warnings)
        if self.precision is not None and self.precision.reached:
            notes = f"<p>{escape(str(self.precision))}</p>" + notes
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
    sampler: Any = "bins",
    ridge: float = 0.0,
    *,
    lasso: float = 0.0,
    features: int | None = None,
    select: str = "auto",
    output: Any = None,
    keep: bool = False,
    scrambles: int | None = None,
    adjust: bool = False,
    tol: float | None = None,
    rtol: float | None = None,
) -> Explanation:
    """Explain f(xi) by tabular LIME (paper, Algorithm 1).

    Parameters
    ----------
    f
        A function of an (n, d) array, or a fitted scikit-learn estimator.
    xi
        The instance, d numbers; with names (a Series, a row of a DataFrame, a dict) they go by name.
    world
        :class:`Gaussian` or :class:`Empirical`: where new examples come from. In one read by
        :func:`limetutor.lime_bridge.from_lime` the first of the n rows is xi itself, with weight
        1, as in `lime`.
    nu
        Bandwidth of the kernel.
    n
        Number of new examples.
    seed
        Results are bit-identical for a seed.
    kernel
        "gaussian" (on x, the paper), "laplace" (on x, with heavier tails), "mismatch" (on z,
        `lime`), "cosine", or a function of (x, z, xi, nu) that returns weights.
    sampler
        "bins" (a box, then a value in it), "gaussian" (the value directly), "tilted" (from
        the tilted law, with equal weights: the same limit, usually less noise) or "sobol" (evenly
        spread points of the tilted law: the same limit, far less noise; n is rounded up to a power
        of two for each scramble).
    ridge, lasso
        Penalties, at most one of them, scaled as in scikit-learn.
    features, select
        Keep only that many features: those with the "highest" coefficients, by "forward"
        selection, or "auto" (forward up to 6, as `lime` does). Memory then grows with n.
    output
        Which output to explain, a class or a column, where f has several.
    keep
        Keep samples, weights and responses; memory then grows with n.
    scrambles
        Into how many independent scrambles "sobol" divides n. The default, 2 (4 for one or two
        features), gives intervals that cover; 1 has the least error, and a standard error that is
        only an upper bound.
    adjust
        Add columns of mean 0 to the fit that take the noise of what f does within boxes with them:
        the same limit from the same samples, with less noise. Needs n of some ten times the number
        of boxes; not with lasso, nor with kernels without a tilt.
    tol, rtol
        Draw until the largest standard error is at most ``tol``, in the units of f, or ``rtol`` times
        the largest coefficient; n is then the most that is drawn, and a warning says so.

    Notes
    -----
    The defaults are the paper's Algorithm 1. Whoever wants the explanation rather than the
    algorithm, from as few calls of the model as possible, should take ``sampler="sobol",
    adjust=True``, or ``sampler="sobol"`` alone where n is less than ten times the number of boxes.
    With ``rtol=0.05`` and a large n the number of calls is left to the model at hand. Kernels
    without a tilt have "bins" and "gaussian" only.
    """
    found = explain_quietly(
        f, xi, world, nu, n, seed, kernel, sampler, ridge,
        lasso=lasso, features=features, select=select, output=output, keep=keep,
        scrambles=scrambles, adjust=adjust, tol=tol, rtol=rtol,
    )  # fmt: skip
    for text in found.warnings:
        warnings.warn(text, arg.FitWarning, stacklevel=2)
    return found


def explain_quietly(
    f: Any,
    xi: Any,
    world: World,
    nu: float,
    n: int = 5000,
    seed: Any = None,
    kernel: Any = "gaussian",
    sampler: Any = "bins",
    ridge: float = 0.0,
    **options: Any,
) -> Explanation:
    """:func:`explain` for many runs: what it warns of stands in ``warnings`` only."""
    setting = Setting.of(f, xi, world, nu, kernel, options.pop("output", None))
    return run(setting, n, seed, sampler, ridge, **options)


def run(
    setting: Setting,
    n: int,
    seed: Any = None,
    sampler: Any = "bins",
    ridge: float = 0.0,
    *,
    lasso: float = 0.0,
    features: int | None = None,
    select: str = "auto",
    keep: bool = False,
    own_row: bool = True,
    scrambles: int | None = None,
    adjust: bool = False,
    tol: float | None = None,
    rtol: float | None = None,
) -> Explanation:
    """Algorithm 1 on a setting that has been checked; xi is a row where its world has it so."""
    draws = sampler_of(sampler)
    arg.one_of("select", select, tuple(surrogate.SELECTIONS))
    ridge, lasso = arg.not_negative("ridge", ridge), arg.not_negative("lasso", lasso)
    if ridge and lasso:
        raise ValueError("ridge and lasso must not both be above 0; choose one penalty.")
    n = arg.whole("n", n, setting.d + 2, because=f" to fit {setting.d + 1} coefficients")
    if features is not None:
        features = arg.whole("features", features, 1)
    keep = arg.truth("keep", keep)
    draws.check(setting)
    scrambles = draws.scrambles(scrambles, setting.d)
    target = None if tol is None and rtol is None else Target(tol, rtol, draws.independent)
    n = draws.size(n, scrambles)
    adjusted = _adjustment(setting, draws, n, lasso) if arg.truth("adjust", adjust) else None
    rng = np.random.default_rng(arg.seed("seed", seed))
    prediction = setting.prediction
    how = _How(scrambles, adjusted, ridge, lasso, features, select, keep)
    work = _Work(setting, draws, rng, how, own_row and setting.world.own_row)
    result, found = _sampled(work, n, target)
    result, sums = _from_zero(result, setting), work.sums
    marks = setting.world.indicators
    textbook = surrogate.textbook_stderr(sums, ridge, result) if marks else None
    return Explanation(
        coef=result.beta[1:],
        intercept=float(result.beta[0]),
        covariance=result.covariance,
        prediction=prediction,
        score=result.score,
        ess=sums.ess,
        n=sums.n,
        nu=setting.nu,
        kernel=setting.kernel.name,
        sampler=draws.name,
        names=setting.boxes.names,
        output=setting.output,
        xi=setting.xi,
        warnings=_notes(work, result, found),
        used=result.used,
        freedom=result.freedom,
        local_freedom=result.local_freedom,
        setting=setting,
        draws=draws,
        ridge=ridge,
        lasso=lasso,
        scrambles=scrambles,
        adjusted=adjusted is not None,
        precision=found,
        samples=work.samples() if keep else None,
        textbook_stderr=textbook,
    )


def columns_of(setting: Setting, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """What is fitted on, 1 at xi: indicators, or scaled numbers less those of xi plus 1."""
    if setting.world.indicators:
        return z
    return setting.seen(x, z) - (setting.lead - 1)


def _from_zero(found: surrogate.Fit, setting: Setting) -> surrogate.Fit:
    """The intercept where all columns are 0: it is elsewhere where numbers were taken from xi."""
    if setting.world.indicators:
        return found
    back = np.eye(len(found.beta))
    back[0, 1:] = 1 - setting.lead
    return found._replace(beta=back @ found.beta, covariance=back @ found.covariance @ back.T)


def _adjustment(setting: Setting, draws: Sampler, n: int, lasso: float) -> Adjustment:
    adjustment.check(setting, draws, lasso)
    adjusted = Adjustment(setting, n)
    columns = setting.d + 1 + adjusted.size
    if n < 2 * columns:
        raise ValueError(
            f"n must be {2 * columns} or more with adjust=True, twice the {columns} columns of "
            f"this world, got {n}."
        )
    return adjusted


def _sampled(work: _Work, n: int, target: Target | None) -> tuple[surrogate.Fit, Precision | None]:
    """The fit to n samples, or to as many of them as the target asks for."""
    if target is None:
        work.draw(n)
        return work.fit(), None
    columns = len(work.sums.response)
    size = min(n, work.draws.size(target.first(columns), work.how.scrambles))
    with _forecast() as shown:
        while True:
            work.draw(size - work.drawn)
            result = work.fit()
            stderr = np.sqrt(np.clip(np.diag(result.covariance)[1:], 0.0, None))
            found = target.judge(size, result.beta, stderr, n)
            if found.reached or size >= n:
                return result, found
            shown(size, found)
            size = min(n, target.next(size, found))


class _How(NamedTuple):
    """How a surrogate is fitted, as it was asked for."""

    scrambles: int | None
    adjusted: Adjustment | None
    ridge: float
    lasso: float
    features: int | None
    select: str
    keep: bool

    @property
    def fewer(self) -> bool:
        """Whether the surrogate is on some of the features only."""
        return self.features is not None or self.lasso > 0


class _Work:
    """Samples on their way to a fit: drawn in batches, added up, kept only where needed.

    xi itself is a row of the fit if ``own_row``: one of the n, or one more where a count of
    points that is not a power of two would spoil them.
    """

    def __init__(
        self, setting: Setting, draws: Sampler, rng: np.random.Generator, how: _How, own_row: bool
    ) -> None:
        self.setting, self.draws, self.how, self.own_row = setting, draws, how, own_row
        self.extra = 0 if how.adjusted is None else how.adjusted.size
        self.sources: list[Source] = draws.sources(setting, rng, how.scrambles)
        marks = setting.world.indicators
        self.sums = surrogate.Sums(setting.d, self.extra, len(self.sources), marks)
        self.drawn = 0
        self.kept: list[tuple[np.ndarray, ...]] = []

    def draw(self, n: int) -> None:
        """Draw n more samples and add them up; each source gives its share of every batch."""
        d, groups = self.setting.d, len(self.sources)
        width = d + 1 + self.extra
        least = 2 * width  # enough for a fit to a single batch
        few = min(10 * width, 4 * BATCH // width)  # where a fit costs more than its samples
        rows = max(BATCH // (d + 1), few, least) // groups
        for start in _with_progress(range(0, n // groups, rows)):
            first = self.own_row and self.drawn == 0
            many = min(rows, n // groups - start) - (first and self.draws.independent)
            x, z, log_w, columns = self._batch(many, first)
            y = self.setting.predict(x)
            self._add(columns, y, log_w, many)
            self.drawn += len(y)
            if self.how.keep or self.how.fewer:
                self.kept.append((x, z, log_w, y, columns))

    def _batch(self, many: int, own_row: bool) -> tuple[np.ndarray, ...]:
        """Values, indicators, log weights and columns of a batch, xi's own row first if there."""
        parts = [source(many) for source in self.sources]
        x, z = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        log_w = self.draws.log_weights(self.setting, x, z)
        columns = columns_of(self.setting, x, z)
        if self.how.adjusted is not None:
            columns = self.how.adjusted.columns(x, z)
        if not own_row:
            return x, z, log_w, columns
        here = np.zeros((1, columns.shape[1]), columns.dtype)  # the columns behind z have mean 0
        here[:, : self.setting.d] = 1
        z = np.vstack([np.ones((1, self.setting.d), bool), z])
        columns = np.vstack([here, columns])
        return np.vstack([self.setting.xi, x]), z, np.concatenate([[0.0], log_w]), columns

    def _add(self, columns: np.ndarray, y: np.ndarray, log_w: np.ndarray, many: int) -> None:
        """Add a batch up, each group of ``many`` draws for itself; xi's own row has no group."""
        groups = len(self.sources)
        if groups == 1:
            self.sums.add(columns, y, log_w)
            return
        lead = len(y) - groups * many
        for group in range(groups):
            mine = slice(lead + group * many, lead + (group + 1) * many)
            self.sums.add(columns[mine], y[mine], log_w[mine], group)
        if lead:
            self.sums.add(columns[:lead], y[:lead], log_w[:lead], None)

    def samples(self) -> Samples:
        """What was kept."""
        x, z, log_w, y, _ = (np.concatenate(part) for part in zip(*self.kept, strict=True))
        return Samples(x, z, log_w, y)

    def fit(self) -> surrogate.Fit:
        """The surrogate to what has been drawn."""
        sums = self.sums
        surrogate.refuse_weightless(sums)
        how, chosen = self.how, None
        if how.features is not None:
            chosen = surrogate.strongest(sums, how.features, how.select)
        result = surrogate.fit(sums, how.ridge, how.lasso, chosen)
        if not how.fewer or len(self.sources) > 1:
            return result
        _, _, log_w, y, columns = (np.concatenate(part) for part in zip(*self.kept, strict=True))
        return surrogate.noise_of(result, [(columns, y, log_w)], how.ridge, self.extra)


def progress_bar(items: Any = None, **how: Any) -> Any:
    """A bar of tqdm for work of more than two seconds; None where tqdm is missing or not wanted.

    With the environment variable TQDM_DISABLE, which tqdm itself forgets in notebooks, there is none.
    """
    if os.environ.get("TQDM_DISABLE"):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(items, leave=False, **{"delay": 2, **how})


def _with_progress(batches: range) -> Any:
    """The batches, with a bar if they take long."""
    bar = progress_bar(batches, unit="batch") if len(batches) > 1 else None
    return batches if bar is None else bar


@contextmanager
def _forecast(delay: float = 2.0) -> Iterator[Callable[[int, Precision], None]]:
    """A bar of samples drawn, of those that are forecast, for work of more than two seconds."""
    made = progress_bar(delay=delay, mininterval=0, unit="sample", unit_scale=True)
    if made is None:
        yield lambda drawn, found: None
        return
    with made as bar:

        def shown(drawn: int, found: Precision) -> None:
            bar.total = min(found.forecast, found.bound)
            bar.set_description(f"error {found.error:.2g}, {found.goal:.2g} asked for", False)
            bar.update(drawn - bar.n)

        yield shown


def _notes(work: _Work, result: surrogate.Fit, found: Precision | None) -> tuple[str, ...]:
    """What the fit rests on, where it rests on little."""
    setting, remedy = work.setting, _remedy(work.setting, work.draws)
    notes = _few_samples(setting, work.sums, remedy)
    notes += _singular(setting, result, work.how.ridge, remedy)
    if found is not None and not found.reached:
        notes.append(f"{found}.")
    if not np.all(np.isfinite(result.covariance)):
        notes.append(BEYOND)
    return tuple(notes)


def _remedy(setting: Setting, draws: Sampler) -> str:
    tilts = draws.weighted and setting.product is not None
    remedy = "raise nu or n, or use sampler='tilted'" if tilts else "raise nu or n"
    spread = setting.boxes.sigma[setting.boxes.sigma > 0]
    if setting.kernel.measures_x and spread.size and spread.max() > 10 * spread.min():
        remedy += " (features differ in scale: standardise them, since nu is one width for all)"
    return remedy


def _few_samples(setting: Setting, sums: surrogate.Sums, remedy: str) -> list[str]:
    """Too few effective samples, in all or on one side of an indicator, for intervals to hold."""
    notes, least = [], FEW * (setting.d + 1)
    if sums.ess < least:
        notes.append(
            f"The effective sample size is {sums.ess:.1f} of n={sums.n}, and {setting.d + 1} "
            f"coefficients want at least {least}: {remedy}."
        )
    if not setting.world.indicators:
        return notes
    scarcer = surrogate.scarcer_side(sums)
    thin = (scarcer < FEW) & (surrogate.indicator_variances(sums.block) > surrogate.DEAD**2)
    if np.any(thin):
        notes.append(
            f"Fewer than {FEW} effective samples lie on one side of xi's box for "
            f"{int(thin.sum())} feature(s) {_listed(setting, thin)}: their intervals may be too "
            f"narrow; {remedy}."
        )
    return notes


def _singular(setting: Setting, result: surrogate.Fit, ridge: float, remedy: str) -> list[str]:
    """Indicators that do not vary, or not apart from others."""
    notes: list[str] = []
    tangled = result.tangled
    if not setting.world.indicators:
        return notes
    # no sampling helps where the world never leaves, or never enters, xi's box
    share = setting.boxes.law.prob[np.arange(setting.d), setting.own]
    stuck = tangled & ((share == 0.0) | (share == 1.0))
    if np.any(stuck):
        notes.append(
            f"The world has all or none of its values in xi's box for {int(stuck.sum())} "
            f"feature(s) {_listed(setting, stuck)}: their coefficients are left at 0; leave the "
            "columns out or give other edges."
        )
    tangled = tangled & ~stuck
    if np.any(tangled) and not ridge:
        notes.append(
            f"The fit is singular in {int(tangled.sum())} feature(s) {_listed(setting, tangled)}: "
            f"among the weighted samples their indicators do not vary, or not apart from others; "
            f"{remedy}."
        )
    return notes


def _listed(setting: Setting, mask: np.ndarray) -> str:
    return arg.shorten([setting.boxes.names[j] for j in np.flatnonzero(mask)])
