"""What `lime` will print, without running it: :func:`predict_lime`.

An explanation by `lime` is random three times over: in its coefficients, in the features it chooses,
and, where the kernel is narrow, in whether any sample counts at all beside xi itself. All three follow
from the law of its samples, which :mod:`limetutor.lime_bridge` reads off the explainer;
:mod:`limetutor.resampling` makes runs from it and :mod:`limetutor.lime_fits` fits them as `lime` does.
Chapter: the real lime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from .closed_forms import OWN_ROW, TINY, own_row_note
from .lime_bridge import (
    RIDGE,
    SAMPLES,
    from_lime,
    has_own_kernel,
    label_column,
    printed_names,
    readable,
    world_of,
)
from .lime_fits import SELECTIONS, estimator_fits, linearised, penalty_of, ridge
from .models import caller, model_behind, names_fitted_on
from .resampling import Pool, Weigh, known_surrogate, pool_of
from .setting import Setting

FEATURES = 10  # that `lime` prints unless told otherwise
CALLS = 2**14  # of a model that has a form: how its residuals are spread
MORE_CALLS = 2**15  # of one that has none: the mean of fits is then off by some .15 of ``sd``
RUNS = 400  # that are made of them,
WORK = (
    20_000  # ... and fewer for many features, down to a quarter: about so many runs times features
)
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
    names: tuple[str, ...]
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

    def as_list(self) -> list[tuple[str, float]]:
        """The likeliest set as `lime` prints it: pairs of name and coefficient, largest first."""
        return [(self.names[j], float(self.coef[j])) for j in self._order(self.sets[0][0])]

    def as_map(self) -> dict[int, list[tuple[int, float]]]:
        """The same with positions, by label (1 for a regression, as in `lime`)."""
        pairs = [(j, float(self.coef[j])) for j in self._order(self.sets[0][0])]
        return {1 if self.label is None else self.label: pairs}

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
            f"What lime will print{which}: {self.num_features} features, {self.num_samples} samples"
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
            f"<tr><td style='text-align:left'>{escape(self.names[j])}</td><td>{self.coef[j]:+.4g}</td>"
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


def predict_lime(
    explainer: Any,
    f: Any,
    instance: Any,
    label: Any = None,
    num_features: int | None = None,
    num_samples: int | None = None,
    *,
    distance_metric: Any = "euclidean",
    model_regressor: Any = None,
    labels: Any = None,
    top_labels: int | None = None,
    calls: int | None = None,
    runs: int | None = None,
    seed: int | None = 0,
) -> LimePrediction:
    """What ``explainer.explain_instance`` will print for an instance, without running it.

    Parameters
    ----------
    explainer
        A ``lime.lime_tabular.LimeTabularExplainer``; its discretizer, kernel, categories and rule
        of feature selection are its own.
    f
        What `lime` gets (``model.predict_proba``, ``model.predict``, a function of an array) or the
        fitted estimator.
    instance
        The row, as `lime` gets it; with names (a Series, a dict) it goes by name, and categories may
        be given by the explainer's ``categorical_names``.
    label
        `lime`'s label: the column of the probabilities, or its class name; 1 if None. A regression
        has none, and what is predicted is `lime`'s ``local_exp[1]``.
    num_features, num_samples, distance_metric, model_regressor
        As in ``explain_instance``; 10, 5000, "euclidean" and Ridge(alpha=1) by default.
    labels, top_labels
        `lime`'s own words for the label: ``labels`` with one entry, or ``top_labels=1`` for the likeliest
        class at the instance.
    calls
        How often the model is called: 16384 times where it has a form (:func:`limetutor.limit` says
        which have) and the means are exact, 32768 times where they are not.
    runs, seed
        How many runs are made of these calls (400, down to 100 for 200 features), and the seed.

    Examples
    --------
    >>> from lime.lime_tabular import LimeTabularExplainer
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> wine = load_wine()
    >>> forest = RandomForestClassifier(30, random_state=0).fit(wine.data, wine.target)
    >>> explainer = LimeTabularExplainer(
    ...     wine.data, feature_names=wine.feature_names, class_names=wine.target_names
    ... )
    >>> found = predict_lime(explainer, forest, wine.data[0], label="class_0", num_features=3)
    >>> for name, value in found.as_list():
    ...     print(f"{name:35} {value:.2f}")
    proline > 985.00                    0.17
    flavanoids > 2.88                   0.12
    alcohol > 13.68                     0.11
    >>> found.method
    'exact'
    """
    readable(explainer)
    ask = _asked(num_features, num_samples, calls, runs, seed, len(explainer.feature_names))
    label = _one_label(label, labels)
    rules = tuple(SELECTIONS)
    rule = SELECTIONS[
        arg.one_of("explainer's feature_selection", explainer.feature_selection, rules)
    ]
    penalty = penalty_of(model_regressor)
    own_kernel = has_own_kernel(explainer) and _is_euclidean(distance_metric)
    weigh = None if own_kernel else _weigh(explainer, distance_metric)
    setting, column = _setting(explainer, f, instance, label, top_labels)
    known = None if weigh else known_surrogate(setting)
    usual = MORE_CALLS if known is None else CALLS
    pool = pool_of(setting, ask.calls or usual, ask.seed, known, weigh)
    draws = pool.draws(ask.samples, ask.runs, np.random.default_rng(ask.seed))
    sums, mean = pool.moments(draws), pool.expected(ask.samples)
    chosen = rule.choose(sums, min(ask.features, setting.d), pool.own)
    if penalty is None:
        parts = _rows_of(pool, draws, setting.prediction)
        fits, steady = estimator_fits(model_regressor, parts, chosen), np.zeros(chosen.shape)
    else:
        fits, steady = ridge(sums, penalty, chosen), linearised(mean, sums, penalty)
    whole = ridge(sums, RIDGE if penalty is None else penalty)
    coef, error = _means(fits.coef, chosen, whole.coef, steady)
    local = setting.prediction + fits.local
    return LimePrediction(
        coef=coef,
        sd=_spread(fits.coef, chosen, whole.coef),
        stderr=np.hypot(error, pool.stderr),
        intercept=float(np.mean(local - fits.coef @ pool.own)),
        local_pred=float(np.mean(local)),
        score=float(np.mean(fits.score)),
        names=printed_names(explainer, setting.xi),
        selection=_probabilities(chosen),
        sets=_sets(chosen),
        method=pool.method,
        prediction=setting.prediction,
        label=column,
        class_name=_class_name(explainer, column),
        num_features=ask.features,
        num_samples=ask.samples,
        calls=len(pool.y),
        runs=ask.runs,
        warnings=_notes(setting, ask.samples) if own_kernel else (),
    )


class _Asked(NamedTuple):
    features: int
    samples: int
    calls: int | None
    runs: int
    seed: Any


def _asked(features: Any, samples: Any, calls: Any, runs: Any, seed: Any, d: int) -> _Asked:
    """The numbers a caller passed; those of `lime` where there are none."""
    usual = int(np.clip(WORK / d, RUNS / 4, RUNS))
    return _Asked(
        arg.whole("num_features", FEATURES if features is None else features, 1),
        arg.whole("num_samples", SAMPLES if samples is None else samples, 2, most=10**8),
        None if calls is None else arg.whole("calls", calls, 2, most=10**8),
        arg.whole("runs", usual if runs is None else runs, 2, most=10**6),
        arg.seed("seed", seed),
    )


def _one_label(label: Any, labels: Any) -> Any:
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


# --- what lime is asked -------------------------------------------------------------------------------


def _setting(
    explainer: Any, f: Any, instance: Any, label: Any, top_labels: Any
) -> tuple[Setting, int | None]:
    """f at the instance in the explainer's world, and the column that is explained."""
    nu = 0.75 * np.sqrt(
        len(explainer.feature_names)
    )  # only where to look, if the kernel is not lime's
    world = from_lime(explainer) if has_own_kernel(explainer) else world_of(explainer, nu)
    if hasattr(instance, "toarray"):
        raise ValueError(
            "instance must be a dense row, got a sparse one, which lime samples otherwise."
        )
    xi = world.boxes().encode(instance)
    f = model_behind(f)
    world = _as_fitted(world, f)
    call, classes = caller(f, world.boxes())
    found = np.asarray(call(xi[None]))
    if explainer.mode == "regression":
        column, output = _of_regression(f, found, label, top_labels)
    else:
        column = _of_classes(explainer, found, label, top_labels, classes)
        output = classes[column] if classes else column
    purpose = "a prediction of lime"
    made = Setting.of(
        f, xi, world, world.nu, world.kernel, output, purpose=purpose, boxes_needed=False
    )
    return made, column


def _as_fitted(world: Any, f: Any) -> Any:
    """The world with the column names that f was fitted on.

    `lime` calls f with arrays, whatever its own features are called.
    """
    fitted, boxes = names_fitted_on(f), world.boxes()
    if len(fitted) != boxes.d or set(fitted) == set(boxes.names):
        return world
    return replace(world, _boxes=replace(boxes, names=tuple(fitted)))


def _of_regression(f: Any, found: np.ndarray, label: Any, top_labels: Any) -> tuple[None, Any]:
    """No column, and the output that `lime` takes where f has several: the first."""
    if top_labels is not None or not (label is None or (arg.is_integer(label) and label == 1)):
        raise ValueError(
            "label must be left out for an explainer of mode 'regression', got "
            f"{arg.shorten(label if top_labels is None else top_labels)}."
        )
    if hasattr(f, "predict_proba"):
        raise ValueError(
            f"f must be a regressor for an explainer of mode 'regression', got {arg.shorten(f)}."
        )
    return None, 0 if found.ndim == 2 and found.shape[1] > 1 else None


def _of_classes(
    explainer: Any, found: np.ndarray, label: Any, top_labels: Any, classes: list[Any]
) -> int:
    """The column of the probabilities that a label stands for."""
    if found.ndim != 2 or found.shape[1] < 2:
        raise ValueError(
            "f must return a probability for each class, (n, classes), for an explainer of mode "
            f"'classification', got shape {found.shape} for one row."
        )
    columns = found.shape[1]
    if top_labels is not None:
        if label is not None or not arg.is_integer(top_labels) or top_labels != 1:
            raise ValueError(
                "top_labels must be 1, and label left out, for one prediction, got "
                f"{arg.shorten(top_labels)}; ask for other labels one at a time."
            )
        return int(np.argmax(found[0]))
    names = explainer.class_names
    return label_column(label, classes if names is None else names, columns)


def _class_name(explainer: Any, column: int | None) -> str | None:
    """As `lime` calls it: by its number where the explainer has no names."""
    names = explainer.class_names
    if column is None:
        return None
    return str(names[column]) if names is not None and column < len(names) else str(column)


def _is_euclidean(metric: Any) -> bool:
    return isinstance(metric, str) and metric in ("euclidean", "l2")


def _weigh(explainer: Any, metric: Any) -> Weigh:
    """The weights that an explainer gives by another kernel or another distance."""

    def weigh(rows: np.ndarray) -> np.ndarray:
        from sklearn.metrics import pairwise_distances

        try:
            distances = pairwise_distances(rows, rows[:1], metric=metric).ravel()
        except (ValueError, TypeError) as error:
            words = " ".join(str(error).split())[:150].rstrip(".")
            raise ValueError(
                f"distance_metric must be one that scikit-learn has for these rows, got "
                f"{arg.shorten(metric)}: {words}."
            ) from None
        weights = np.asarray(explainer.base.kernel_fn(distances), float)
        if weights.shape != distances.shape or not np.all(weights >= 0) or not weights[0] > 0:
            raise ValueError(
                "explainer's kernel must give one weight of 0 or above for each distance, and the "
                f"instance itself one above 0, got {arg.shorten(weights)}."
            )
        return weights

    return weigh


# --- what its runs have in common ---------------------------------------------------------------------


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


def _probabilities(chosen: np.ndarray) -> np.ndarray:
    """How often features are chosen; one more run that chooses anyhow keeps them off 0 and 1."""
    if np.all(chosen):
        return np.ones(chosen.shape[1])
    return (chosen.sum(axis=0) + chosen.mean()) / (len(chosen) + 1)


def _sets(chosen: np.ndarray) -> list[tuple[tuple[int, ...], float]]:
    """The sets that runs chose, with their shares, the likeliest first."""
    counted = Counter(tuple(map(int, np.flatnonzero(run))) for run in chosen)
    ordered = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(features, count / len(chosen)) for features, count in ordered]


def _notes(setting: Setting, n: int) -> tuple[str, ...]:
    """Where xi's own row decides, runs are what they happen to be."""
    weight = (n - 1) * np.exp(setting.tilt.log_C)
    return (own_row_note(n, weight),) if weight < OWN_ROW else ()
