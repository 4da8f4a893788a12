"""What `lime`'s explainers of texts and of images have in common: masks.

A problem is an instance with its switches, a classifier, a label and the weights of masks. Whatever
the kernel and the distance, the weight of a mask must depend on how many switches are on and on nothing
else: :func:`level_weights` reads it off the explainer.

Runs are resampled from a pool of masks. Few switches have all their masks in the pool. Otherwise it
follows the weighted law, and where weights differ much a mixture with others
(:mod:`limetutor.lime.sample_pools` says why), each number of switches that are on with its exact share. Its
responses are the surrogate, known or estimated, plus residuals. Chapters: images, text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..inputs import arguments as arg
from ..inputs.predictors import last_step
from ..precision.diagnostics import MIN_OTHER_WEIGHT, own_row_note
from ..results.limit import TINY
from ..switches.estimators import Reading, read
from ..switches.fits import estimate_limit, fit_form
from ..switches.forms import Switched
from ..switches.sampler import draw
from ..switches.switches import Switches, all_masks, cosine_log_weight, log_choose, pattern_share
from .classifiers import Classifier, Label, label_of
from .columns_and_classes import refuse_classes
from .lime_prediction import LimePrediction
from .read_explainer import checked_weights, is_named, own_width
from .runs import Request, Surrogates
from .sample_pools import Pool, mixture_log_ratio, noise_of_runs, recentred, tilt_shares

MAX_SWITCHES = 2000  # of one text or image
CHECKED_MASKS = 24  # at which a form must agree with the classifier
TOLERANCE = 1e-6  # of that, relative to how much the classifier varies
CHECKED_LEVELS = 17  # numbers of switches at which two masks must have the same weight
MASKS_OF_A_FORM = 2**13
MIN_MASKS_PER_SWITCH = 10
ERROR_TARGET = 0.2  # of what runs differ by: the error that is aimed at, ...
MAX_CALLS_PER_SAMPLE = 16  # ... with at most so many times the samples of `lime`, ...
MAX_CALLS = 40_000  # ... and so many calls
MAX_RULES = 64  # of a form that is quicker than its classifier
MAX_ERROR_SHARE = 0.5  # of what runs differ by: an error of the prediction beyond it is reported


@dataclass(frozen=True, eq=False)
class MaskedInstance:
    """A text or an image with d switches called ``names``, of which each is a ``word``."""

    names: tuple[Any, ...]
    batch: int  # masks that are composed at a time
    word: ClassVar[str]

    @property
    def d(self) -> int:
        """Number of switches."""
        return len(self.names)

    def compose(self, z: np.ndarray) -> Any:
        """What a classifier gets for masks (n, d)."""
        raise NotImplementedError

    def reading(self, model: Any) -> Reading | None:
        """What the last step of a model reads of the switches; None where that is no sum."""
        return None


@dataclass(frozen=True, eq=False)
class MaskProblem:
    """Everything `lime`'s answer about one instance depends on, but chance.

    ``world`` has the weights in units of ``own_weight``, that of the instance itself; ``outputs``
    (columns,) is what the classifier returns for it.
    """

    instance: MaskedInstance
    world: Switches
    own_weight: float
    nu: float | None
    classifier: Classifier
    label: Label
    outputs: np.ndarray = field(repr=False)

    @property
    def d(self) -> int:
        """Number of switches."""
        return self.instance.d

    @property
    def prediction(self) -> float:
        """f(xi)."""
        return float(self.outputs[self.label.column])

    def predict(self, z: np.ndarray) -> np.ndarray:
        """The explained column at masks (n, d), (n,)."""
        batch, compose = self.instance.batch, self.instance.compose
        parts = np.split(z, range(batch, len(z), batch))
        outputs = np.concatenate([self.classifier.columns(compose(part)) for part in parts])
        if outputs.shape[1] != len(self.outputs):
            raise ValueError(
                f"f must return {len(self.outputs)} column(s) for every {self.instance.word} mask, "
                f"as for the instance, got {outputs.shape[1]}."
            )
        return outputs[:, self.label.column]

    @cached_property
    def reading(self) -> Reading | None:
        """What the estimator behind the classifier reads of the switches."""
        return self.instance.reading(self.classifier.model)

    @cached_property
    def form(self) -> Switched | None:
        """f as a function of the switches, where its estimator is known and agrees with it."""
        if self.reading is None:
            return None
        column, sign = self.classifier.picks(self.label.column)
        last = last_step(self.classifier.model)
        form = read(last, self.classifier.method, self.reading, self.d, column)
        if form is None:
            return None
        form = form.times(sign)
        z = draw(self.world.powered(0.0), CHECKED_MASKS, np.random.default_rng(0))
        z = np.vstack([np.ones((1, self.d), bool), z])
        values = self.predict(z)
        error = np.max(np.abs(values - form(z)))
        return form if error <= TOLERANCE * max(np.ptp(values), 1e-6) else None


def level_weights(
    explainer: Any, d: int, metric: Any, scale: float, distances: Callable[[np.ndarray, Any], Any]
) -> tuple[np.ndarray, float, float | None]:
    """Log weights of k = 0..d switches on relative to the instance's own, that one, and nu.

    ``distances`` (rows, metric) are those of `lime`, the instance first; nu is None for a kernel or a
    distance other than `lime`'s own. ``scale`` is what `lime` multiplies its cosine distance by.
    """
    width = own_width(explainer, scale * (1 - np.sqrt(np.arange(d + 1) / d)))
    if width and isinstance(metric, str) and metric == "cosine":
        nu = abs(width) / scale  # lime squares it
        return cosine_log_weight(d, nu), 1.0, nu

    def weights_of(masks: np.ndarray) -> np.ndarray:
        rows = np.vstack([np.ones(masks.shape[1]), masks])
        return checked_weights(explainer, metric, lambda: np.asarray(distances(rows, metric)))

    one_of_each = np.tri(d + 1, d, -1)
    weights = weights_of(one_of_each)
    levels = np.unique(np.linspace(0, d, CHECKED_LEVELS).astype(int))
    others = weights_of(one_of_each[levels][:, ::-1])
    if not np.allclose(others[1:], weights[1 + levels], 1e-6, 1e-12):
        raise ValueError(
            "distance_metric must depend on how many are switched off alone, got "
            f"{arg.shorten(metric)}, which tells switches apart."
        )
    if not np.any(weights[1:-1] > 0):
        raise ValueError(
            "explainer's kernel must weigh some samples above 0, got 0 for all but the instance."
        )
    with np.errstate(divide="ignore"):
        return np.log(weights[1:] / weights[0]), float(weights[0]), None


@dataclass(frozen=True)
class ValuedMasks:
    """Masks z (m, d), f at them, and how often one draw of `lime` falls on each.

    ``log_ratio`` (m,) is the log of that expectation, ``weighted`` (m,) says which masks follow the
    weighted law.
    """

    z: np.ndarray
    y: np.ndarray
    log_ratio: np.ndarray
    weighted: np.ndarray
    calls: int

    def joined(self, other: ValuedMasks) -> ValuedMasks:
        """Both, of the same laws in the same shares."""
        n, m = len(self.y), len(other.y)
        log_share = np.log(np.repeat([n / (n + m), m / (n + m)], [n, m]))
        return ValuedMasks(
            np.vstack([self.z, other.z]), np.append(self.y, other.y),
            np.append(self.log_ratio, other.log_ratio) + log_share,
            np.append(self.weighted, other.weighted), self.calls + other.calls,
        )  # fmt: skip


def pool_of_masks(
    problem: MaskProblem, samples: int, calls: int | None, seed: Any
) -> tuple[Pool, int]:
    """The pool of a problem, and how often f was called for it.

    Without ``calls`` an f that has no form is called as often as `lime` calls it, and more often where
    that leaves errors that count beside the noise of its runs.
    """
    rng = np.random.default_rng(seed)
    least = MIN_MASKS_PER_SWITCH * (problem.d + 2)
    usual = max(samples if problem.form is None else MASKS_OF_A_FORM, least)
    size = usual if calls is None else calls
    if problem.d <= np.log2(size):
        return _pool_of_all(problem, 0)
    if calls is not None and problem.form is None:
        arg.whole("calls", calls, 2 * (problem.d + 2), f" for {problem.d} {problem.instance.word}s")
    masks = _drawn(problem, size, rng)
    if problem.form is not None:
        exact = fit_form(problem.form, problem.world)
        beta = np.append(exact.intercept, exact.coef)
        return _centred(problem, masks, beta, np.zeros(problem.d), "exact"), masks.calls
    pool = _estimated(problem, masks, rng)
    noise, error = np.median(noise_of_runs(pool, samples)), np.median(pool.stderr)
    wanted = size * (float(error / noise) / ERROR_TARGET) ** 2 if noise > 0 else 0.0
    rest = int(min(wanted, MAX_CALLS_PER_SAMPLE * samples, max(MAX_CALLS, size))) - size
    if calls is None and problem.d <= np.log2(size + max(rest, 0)):
        return _pool_of_all(problem, masks.calls)
    if calls is None and rest > 0:
        masks = masks.joined(_drawn(problem, rest, rng))
        pool = _estimated(problem, masks, rng)
    return pool, masks.calls


def _values(problem: MaskProblem, z: np.ndarray) -> tuple[np.ndarray, int]:
    """f at masks, by its form where that is quicker, and how often it was called."""
    form = problem.form
    if form is not None and len(form.rules) <= MAX_RULES:
        return form(z), 0
    return problem.predict(z), len(z)


def _pool_of_all(problem: MaskProblem, calls: int) -> tuple[Pool, int]:
    """The pool of all 2^d masks, after so many calls."""
    z = all_masks(problem.d)
    log_ratio = (problem.world.log_share - log_choose(problem.d))[z.sum(axis=1)]
    possible = np.isfinite(log_ratio)
    y, more = _values(problem, z[possible])
    masks = ValuedMasks(z[possible], y, log_ratio[possible], np.zeros(len(y), bool), more)
    return _pool(problem, masks, "exact", np.zeros(problem.d)), calls + more


def _drawn(problem: MaskProblem, size: int, rng: np.random.Generator) -> ValuedMasks:
    """Masks of the weighted law, and of others where weights differ much."""
    world = problem.world
    shares = tilt_shares(2 * world.log_C - world.powered(2.0).log_C)
    powers, laws = list(shares), [world.powered(s) for s in shares]
    sizes = [2 * max(int(size * share / 2), 1) for share in shares.values()]  # pairs
    z = np.vstack([draw(law, m, rng) for law, m in zip(laws, sizes, strict=True)])
    k, weighted = z.sum(axis=1), np.repeat([s == 1 for s in powers], sizes)
    log_ratio = mixture_log_ratio(sizes, [law.log_weight[k] - law.log_C for law in laws])
    y, calls = _values(problem, z)
    return ValuedMasks(z, y, log_ratio, weighted, calls)


def _pool(problem: MaskProblem, masks: ValuedMasks, method: str, stderr: np.ndarray) -> Pool:
    log_weight = problem.world.log_weight[masks.z.sum(axis=1)]
    return Pool(
        design=masks.z - 1.0, y=masks.y - problem.prediction,
        log_weights=np.log(problem.own_weight) + log_weight, ratio=np.exp(masks.log_ratio),
        at_xi=np.ones(problem.d), own_weight=problem.own_weight, method=method, stderr=stderr,
    )  # fmt: skip


def _estimated(problem: MaskProblem, masks: ValuedMasks, rng: np.random.Generator) -> Pool:
    """The pool whose fits tend to the limit as estimated from the masks of the weighted law."""
    z, y = masks.z[masks.weighted], masks.y[masks.weighted]
    estimate = estimate_limit(problem.world, z, y, rng)
    error = np.sqrt(np.clip(np.diag(estimate.covariance)[1:], 0, None))
    return _centred(problem, masks, estimate.beta, error, "monte carlo")


def _centred(
    problem: MaskProblem, masks: ValuedMasks, beta: np.ndarray, error: np.ndarray, method: str
) -> Pool:
    """The pool whose fits tend to a limit.

    A fit of d + 1 numbers to m rows takes some of the residuals with it, which is given back.
    """
    m, d = len(masks.y), problem.d
    line = np.append(beta.sum() - problem.prediction, beta[1:])  # at xi, less f(xi)
    inflation = float(np.sqrt(m / max(m - d - 1, 1)))
    pool = recentred(_pool(problem, masks, method, error), line[0], line[1:], inflation)
    return replace(pool, products=_products(problem, line, pool))


def _products(problem: MaskProblem, line: np.ndarray, pool: Pool) -> np.ndarray:
    """Mean weighted products of 1, z - 1 and f - f(xi) of one draw, f being known by its line.

    From E[pi (1 - z_1)] and E[pi (1 - z_1)(1 - z_2)], which need no difference.
    """
    world, d = problem.world, problem.d
    measure = np.exp(world.log_measure)
    off = [float(measure @ pattern_share(d, 0, p)) for p in range(3)]
    result = np.empty((d + 2, d + 2))
    result[:-1, :-1] = off[2]
    np.fill_diagonal(result, off[1])
    result[0, 1:-1] = result[1:-1, 0] = -off[1]
    result[0, 0] = off[0]
    result[:-1, -1] = result[-1, :-1] = result[:-1, :-1] @ line
    result *= problem.own_weight
    result[-1, -1] = np.sum(pool.ratio * pool.weights * pool.y**2)
    return result


class MaskKind:
    """An explainer that masks an instance; :mod:`.text` and :mod:`.images` say what differs."""

    name: str
    options: tuple[str, ...]
    num_samples: int  # of `lime`, if left out
    num_features: int
    default_label: int | None  # None for the likeliest
    scale: float  # of distances
    world: Callable[[int], Switches]  # from the number of switches to the law of how many are on

    def reads(self, explainer: Any) -> bool:
        """Whether an explainer is of this kind."""
        return is_named(explainer, self.name)

    def masked(self, explainer: Any, instance: Any, options: dict[str, Any]) -> MaskedInstance:
        """The instance with its switches."""
        raise NotImplementedError

    def distances(self, rows: np.ndarray, metric: Any) -> Any:
        """The distances of `lime` from the first row to all, (n,)."""
        from sklearn.metrics import pairwise_distances

        return pairwise_distances(rows, rows[:1], metric=metric).ravel() * self.scale

    def problem(self, explainer: Any, f: Any, instance: Any, request: Request) -> MaskProblem:
        """What is explained, checked before the classifier is called."""
        classifier, options = Classifier.of(f), request.options
        masked = self.masked(explainer, instance, options)
        d = masked.d
        if d > MAX_SWITCHES:
            raise ValueError(
                f"instance must have at most {MAX_SWITCHES} different {masked.word}s for a prediction "
                f"of what lime prints, got {d}; lt.switch_limit of a form has no such bound."
            )
        metric = options.get("distance_metric", "cosine")
        log_weight, own_weight, nu = level_weights(explainer, d, metric, self.scale, self.distances)
        world = replace(self.world(d), log_weight=log_weight)
        outputs = classifier.columns(masked.compose(np.ones((1, d), bool)))[0]
        names = explainer.class_names if hasattr(explainer, "class_names") else None
        names = [str(name) for name in (classifier.classes if names is None else names)]
        if isinstance(request.label, str):
            refuse_classes(names, classifier.classes)
        label = label_of(outputs, request.label, request.top_labels, names, self.default_label)
        return MaskProblem(masked, world, own_weight, nu, classifier, label, outputs)

    def predict(self, explainer: Any, f: Any, instance: Any, request: Request) -> LimePrediction:
        """What ``explain_instance`` will print."""
        surrogates = Surrogates(explainer, request.model_regressor)
        return self.predicted(self.problem(explainer, f, instance, request), surrogates, request)

    def predicted(
        self, problem: MaskProblem, surrogates: Surrogates, request: Request
    ) -> LimePrediction:
        """The same of a problem."""
        numbers = request.numbers(self.num_features, self.num_samples, problem.d)
        pool, calls = pool_of_masks(problem, numbers.samples, numbers.calls, numbers.seed)
        weight = (numbers.samples - 1) * np.exp(problem.world.log_C)
        prediction = surrogates.predicted(
            pool, numbers, problem.prediction, names=problem.instance.names,
            label=problem.label.number, class_name=problem.label.name, calls=calls + 1,
            warnings=(own_row_note(numbers.samples, weight),) if weight < MIN_OTHER_WEIGHT else (),
        )  # fmt: skip
        share = float(np.median(pool.stderr) / max(np.median(prediction.sd), TINY))
        if share <= MAX_ERROR_SHARE:
            return prediction
        note = (
            f"f varies so unevenly that {prediction.calls} calls leave errors of {share:.0%} of what "
            "runs differ by; raise calls."
        )
        return replace(prediction, warnings=(*prediction.warnings, note))
