"""What runs of `lime` have in common: from a pool of rows to a :class:`LimePrediction`.

Whatever `lime` explains, a run of it is n weighted rows, a rule that chooses features and a fit. Here
many runs are drawn from a pool (:mod:`limetutor.resampling`), fitted as `lime` fits them
(:mod:`limetutor.lime_fits`) and summed up. Chapter: the real lime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from .closed_forms import TINY
from .lime_bridge import RIDGE
from .lime_fits import SELECTIONS, Fits, Moments, estimator_fits, linearised, penalty_of, ridge
from .resampling import Pool

RUNS = 400  # that are made of the calls of a model,
WORK = (
    20_000  # ... and fewer for many features, down to a quarter: about so many runs times features
)
HEAVY = 4e11  # ... and fewer still: products that the sums of all runs may take
FEWEST = 10  # ... but not fewer than these
TOGETHER = 20  # runs whose standard deviation is the one that is predicted
# ... over sigma, for normal values: the median of chi / sqrt(19) with 19 degrees of freedom
TYPICAL = 0.9824


@dataclass(frozen=True, eq=False)
class LimePrediction:
    """What ``explain_instance`` will print for one instance and one label.

    ``coef`` (d,) is the mean of what `lime` prints for a feature when it is chosen and ``sd`` (d,)
    how that differs from run to run: the standard deviation that 20 runs show (where few samples
    have all the weight runs have long tails, and 20 of them rarely show the whole of it).
    ``selection`` (d,) are the probabilities that a run chooses a feature; ``sets`` are the chosen
    sets with their probabilities, the likeliest first. ``intercept``, ``local_pred`` and ``score``
    are means over runs. ``names`` are as `lime` prints them.

    ``method`` says where the coefficients come from, as in :class:`limetutor.Limit`; ``stderr`` (d,)
    is the error of ``coef`` itself: that of the ``runs`` it was averaged over, and where the method is
    "monte carlo" that of the ``calls`` of the model, at most. ``warnings`` says what to beware of.
    """

    coef: np.ndarray
    sd: np.ndarray
    stderr: np.ndarray = field(repr=False)
    intercept: float
    local_pred: float
    score: float
    names: tuple[Any, ...]
    selection: np.ndarray
    sets: list[tuple[tuple[int, ...], float]] = field(repr=False)
    method: str
    prediction: float
    label: int | None
    class_name: str | None
    num_features: int
    num_samples: int
    calls: int
    runs: int
    warnings: tuple[str, ...] = ()

    def as_list(self) -> list[tuple[Any, float]]:
        """The likeliest set as `lime` prints it: pairs of name and coefficient, largest first."""
        return [(self.names[j], float(self.coef[j])) for j in self._order(self.sets[0][0])]

    def as_map(self) -> dict[int, list[tuple[int, float]]]:
        """The same with positions, by label (1 for a regression, as in `lime`)."""
        pairs = [(j, float(self.coef[j])) for j in self._order(self.sets[0][0])]
        return {1 if self.label is None else self.label: pairs}

    def order(self) -> np.ndarray:
        """All features, from the largest coefficient to the smallest."""
        return np.argsort(-np.abs(self.coef), kind="stable")

    def blocks(self, top: int = 20, symbols: bool = False, picture: bool = True) -> list[Any]:
        """The parts of a page: what is predicted, feature by feature."""
        from . import report

        rows = [
            (str(self.names[j]), float(self.coef[j]), float(self.sd[j]), float(self.selection[j]))
            for j in self._rows()[:top]
        ]
        columns = ["feature", "coefficient", "from run to run", "chosen"]
        return [report.table(self._what(), columns, rows), report.paragraph(self._end() + ".")]

    def _order(self, features: Any) -> list[int]:
        return sorted(map(int, features), key=lambda j: -abs(self.coef[j]))

    def _rows(self) -> list[int]:
        """The features to show: those of the likeliest set, then those that may come instead."""
        first = self._order(self.sets[0][0])
        seen = {j for features, _ in self.sets for j in features} - set(first)
        rest = sorted(seen, key=lambda j: -self.selection[j])
        return first + [j for j in rest if self.selection[j] >= 0.01]

    def _what(self) -> str:
        which = "" if self.label is None else f" for label {self.label} ({self.class_name})"
        return (
            f"What lime will print{which}: {min(self.num_features, len(self.coef))} features, "
            f"{self.num_samples} samples"
        )

    def _end(self) -> str:
        often = f"{self.sets[0][1]:.0%} of runs choose the first {len(self.sets[0][0])}"
        return (
            f"{often}; intercept {self.intercept:.4g}, local prediction {self.local_pred:.4g}, "
            f"R² {self.score:.3f}; {self.method}, {self.calls} model calls"
        )

    def __repr__(self) -> str:
        lines = [self._what()]
        lines += [
            f"  {self.coef[j]:+10.4g} ± {self.sd[j]:<8.2g} {self.selection[j]:>4.0%}  {self.names[j]}"
            for j in self._rows()
        ]
        return "\n".join([*lines, "  " + self._end(), *(f"  warning: {w}" for w in self.warnings)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(str(self.names[j]))}</td><td>{self.coef[j]:+.4g}</td>"
            f"<td>± {self.sd[j]:.2g}</td><td>{self.selection[j]:.0%}</td></tr>"
            for j in self._rows()
        )
        notes = "".join(f"<p>⚠ {escape(text)}</p>" for text in self.warnings)
        return (
            f"<table><caption>{escape(self._what())}</caption><thead><tr>"
            "<th style='text-align:left'>feature</th><th>coefficient</th><th>from run to run</th>"
            f"<th>chosen</th></tr></thead><tbody>{rows}</tbody></table>"
            f"<p>{escape(self._end())}.</p>{notes}"
        )


class Asked(NamedTuple):
    """The numbers of a prediction, checked."""

    features: int
    samples: int
    calls: int | None
    runs: int
    seed: Any

    @classmethod
    def of(cls, features: Any, samples: Any, calls: Any, runs: Any, seed: Any, d: int) -> Asked:
        """The numbers a caller passed, those of `lime` filled in; runs by the number of features."""
        rows = arg.whole("num_samples", samples, 2, most=10**8)
        usual = min(np.clip(WORK / d, RUNS / 4, RUNS), max(HEAVY / (rows * d**2), FEWEST))
        return cls(
            arg.whole("num_features", features, 1),
            rows,
            None if calls is None else arg.whole("calls", calls, 2, most=10**8),
            arg.whole("runs", int(usual) if runs is None else runs, 2, most=10**6),
            arg.seed("seed", seed),
        )


def one_label(label: Any, labels: Any) -> Any:
    """The label, whichever of the two words was used."""
    if labels is None:
        return label
    given = (
        list(labels) if isinstance(labels, Iterable) and not isinstance(labels, str) else [labels]
    )
    if label is not None or len(given) != 1:
        raise ValueError(
            f"labels must hold one label, and label be left out, got labels={arg.shorten(labels)}; "
            "ask for others one at a time."
        )
    return given[0]


@dataclass(frozen=True)
class Request:
    """What a caller asks beside explainer, model and instance, in `lime`'s words."""

    label: Any = None
    top_labels: Any = None
    num_features: Any = None
    num_samples: Any = None
    model_regressor: Any = None
    calls: Any = None
    runs: Any = None
    seed: Any = 0
    options: dict[str, Any] = field(default_factory=dict)

    def numbers(self, features: int, samples: int, d: int) -> Asked:
        """The numbers, with those of `lime` where there are none."""
        return Asked.of(
            features if self.num_features is None else self.num_features,
            samples if self.num_samples is None else self.num_samples,
            self.calls,
            self.runs,
            self.seed,
            d,
        )


@dataclass(frozen=True)
class Told:
    """What a prediction says of itself beside its numbers."""

    names: tuple[Any, ...]
    label: int | None
    class_name: str | None
    prediction: float
    calls: int
    warnings: tuple[str, ...] = ()


class Surrogates:
    """How an explainer chooses features and fits: its rule, and a ridge or another regressor."""

    def __init__(self, explainer: Any, model_regressor: Any) -> None:
        rules = tuple(SELECTIONS)
        name = arg.one_of("explainer's feature_selection", explainer.feature_selection, rules)
        self.rule = SELECTIONS[name]
        self.regressor = model_regressor
        self.penalty = penalty_of(model_regressor)

    def predicted(self, pool: Pool, ask: Asked, told: Told) -> LimePrediction:
        """The runs of a pool, chosen, fitted and summed up."""
        draws = pool.draws(ask.samples, ask.runs, np.random.default_rng(ask.seed))
        sums, mean = pool.moments(draws), pool.expected(ask.samples)
        chosen = self.rule.choose(sums, min(ask.features, len(pool.own)), pool.own)
        if self.penalty is None:
            parts = _rows_of(pool, draws, told.prediction)
            fits, steady = estimator_fits(self.regressor, parts, chosen), np.zeros(chosen.shape)
        else:
            fits = _recentred(
                ridge(sums, self.penalty, chosen), pool, mean, self.penalty, chosen, ask
            )
            steady = linearised(mean, sums, self.penalty)
        whole = ridge(sums, RIDGE if self.penalty is None else self.penalty)
        coef, error = _means(fits.coef, chosen, whole.coef, steady)
        local = told.prediction + fits.local
        return LimePrediction(
            coef=coef,
            sd=_spread(fits.coef, chosen, whole.coef),
            stderr=np.hypot(error, pool.stderr),
            intercept=float(np.mean(local - fits.coef @ pool.own)),
            local_pred=float(np.mean(local)),
            score=float(np.mean(fits.score)),
            selection=_probabilities(chosen, self.rule.fills),
            sets=_sets(chosen),
            method=pool.method,
            num_features=ask.features,
            num_samples=ask.samples,
            runs=ask.runs,
            **vars(told),
        )


def _recentred(
    fits: Fits, pool: Pool, mean: Moments, penalty: float, chosen: np.ndarray, ask: Asked
) -> Fits:
    """Fits without what the rows of the pool, being some of all, do to every run alike.

    To first order that is the fit to the mean sums of the pool less the fit to the known ones.
    """
    known = pool.known(ask.samples)
    if known is None:
        return fits
    sets, place = np.unique(chosen, axis=0, return_inverse=True)
    coef, local = fits.coef.copy(), fits.local.copy()
    for s, one in enumerate(sets):
        mine = np.ravel(place) == s
        right, wrong = (ridge(sums, penalty, one[None]) for sums in (known, mean))
        coef[mine] += right.coef[0] - wrong.coef[0]
        local[mine] += right.local[0] - wrong.local[0]
    return Fits(coef, local, fits.score)


def _rows_of(
    pool: Pool, draws: list[np.ndarray], prediction: float
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Regressors, responses and weights of each run, xi's own row first."""
    for mine in draws:
        design = np.vstack([pool.own, pool.design[mine] + pool.own])
        y = np.concatenate([[0.0], pool.y[mine]]) + prediction
        yield design, y, np.concatenate([[pool.own_weight], pool.weights[mine]])


def _means(
    coef: np.ndarray, chosen: np.ndarray, whole: np.ndarray, steady: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means over the runs that chose a feature, and their errors.

    A feature that all runs chose has a control: what the fits would be to first order, ``steady``,
    has mean 0, and what it explains of the runs is taken off. One that no run chose has the
    mean of the fits to all features, ``whole``.
    """
    values = np.where(chosen.any(axis=0), coef, whole)
    there = np.where(chosen.any(axis=0), chosen, True)
    count = there.sum(axis=0)
    mean = np.sum(values, axis=0, where=there) / count
    left = np.where(there, values - mean, 0.0)
    spread = np.sum(steady**2, axis=0)
    share = np.where(
        chosen.all(axis=0) & (spread > 0),
        np.sum(steady * left, axis=0) / np.maximum(spread, TINY),
        0.0,
    )
    left -= share * (steady - steady.mean(axis=0))
    error = np.sqrt(np.sum(left**2, axis=0)) / count
    return mean - share * steady.mean(axis=0), error


def _spread(coef: np.ndarray, chosen: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The standard deviation that :data:`TOGETHER` runs show, of each coefficient."""
    found = np.empty(coef.shape[1])
    for j in range(coef.shape[1]):
        values = coef[chosen[:, j], j]
        values = values if len(values) > 1 else whole[:, j]
        groups = len(values) // TOGETHER
        if groups < 2:
            found[j] = values.std(ddof=1)
        else:
            parts = values[: groups * TOGETHER].reshape(groups, TOGETHER)
            found[j] = np.median(parts.std(axis=1, ddof=1)) / TYPICAL
    return found


def _probabilities(chosen: np.ndarray, fills: bool) -> np.ndarray:
    """How often features are chosen; one more run that chooses anyhow keeps them off 0 and 1.

    Where all are asked for they are certain, unless the rule may choose fewer: then by half a run.
    """
    if np.all(chosen):
        return np.full(chosen.shape[1], 1.0 if fills else 1 - 0.5 / (len(chosen) + 1))
    return (chosen.sum(axis=0) + chosen.mean()) / (len(chosen) + 1)


def _sets(chosen: np.ndarray) -> list[tuple[tuple[int, ...], float]]:
    """The sets that runs chose, with their shares, the likeliest first."""
    counted = Counter(tuple(map(int, np.flatnonzero(run))) for run in chosen)
    ordered = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(features, count / len(chosen)) for features, count in ordered]


def checked_weights(explainer: Any, metric: Any, distances: Callable[[], np.ndarray]) -> np.ndarray:
    """The weights of rows, the instance first, by an explainer's own kernel and any distance."""
    try:
        found = distances()
    except (ValueError, TypeError) as error:
        words = " ".join(str(error).split())[:150].rstrip(".")
        raise ValueError(
            f"distance_metric must be one that scikit-learn has for these rows, got "
            f"{arg.shorten(metric)}: {words}."
        ) from None
    weights = np.asarray(explainer.base.kernel_fn(found), float)
    if weights.shape != found.shape or not np.all(weights >= 0) or not weights[0] > 0:
        raise ValueError(
            "explainer's kernel must give one weight of 0 or above for each distance, and the "
            f"instance itself one above 0, got {arg.shorten(weights)}."
        )
    return weights
