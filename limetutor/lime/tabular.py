"""What `lime`'s explainer of tables will print.

The law of its samples is read off the explainer by :mod:`limetutor.lime.read_explainer`, its runs come
from a pool of rows (:mod:`limetutor.lime.sample_pools`), which are Sobol points. Chapter: the real lime.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.problem import Problem, knowing
from ..core.sampler import SAMPLERS
from ..core.theory import PopulationFit, exact_fit
from ..inputs import arguments as arg
from ..inputs.lime_defaults import KERNEL_WIDTH_FACTOR, NUM_SAMPLES
from ..inputs.predictors import caller, model_behind
from ..precision.diagnostics import MIN_OTHER_WEIGHT, own_row_note
from ..precision.effective_samples import log_share
from ..precision.finite_n import regressors_of
from . import read_explainer
from .classifiers import class_name
from .columns_and_classes import label_column, with_columns_of
from .lime_prediction import LimePrediction
from .read_explainer import has_own_kernel, world_of
from .runs import NUM_FEATURES, Request, Surrogates
from .sample_pools import Pool, mixture_log_ratio, recentred, spread_of_fits, tilt_shares
from .unusual_rows import nonzero_part, sequence

CALLS_WITH_FORM = 2**12  # of a model that has a form: how its residuals are spread
CALLS_WITHOUT_FORM = 2**15  # the mean of fits is then off by some .15 of ``sd``
OTHER_KERNEL_SHARES = {0.0: 0.5, 0.5: 0.25, 1.0: 0.25}  # of the tilts by `lime`'s kernel
FLAT = 1e8  # times a bandwidth: one that tilts nothing

Weigh = Callable[[np.ndarray], np.ndarray]  # from rows of regressors, xi's first, to weights


class TabularKind:
    """``LimeTabularExplainer``: rows of a table."""

    name = "lime.lime_tabular.LimeTabularExplainer"
    options = ("distance_metric",)

    def reads(self, explainer: Any) -> bool:
        """Whether an explainer is one of tables; what is none of any kind is refused in its name."""
        read_explainer.readable(explainer, sequences=True)
        return True

    def predict(self, explainer: Any, f: Any, instance: Any, request: Request) -> LimePrediction:
        """What ``explain_instance`` will print for a row."""
        surrogates = Surrogates(explainer, request.model_regressor)
        d, part = len(explainer.feature_names), None
        if hasattr(explainer, "n_timesteps"):
            f, instance = sequence(explainer, f, instance)
        if hasattr(instance, "toarray"):
            part = nonzero_part(explainer, f, instance)
            f, instance = part.f, part.xi
        numbers = request.numbers(NUM_FEATURES, NUM_SAMPLES, d, surrogates.rule)
        metric = request.options.get("distance_metric", "euclidean")
        euclidean = isinstance(metric, str) and metric in ("euclidean", "l2")
        own_kernel = has_own_kernel(explainer) and euclidean
        weigh = None if own_kernel else _weigh(explainer, metric)
        world = None if part is None else part.world
        problem, column = _problem(explainer, f, instance, request.label, request.top_labels, world)
        fit = None if weigh else known_surrogate(problem)
        usual = CALLS_WITHOUT_FORM if fit is None else CALLS_WITH_FORM
        pool = pool_of_rows(problem, numbers.calls or usual, numbers.seed, fit, weigh)
        weight = (numbers.samples - 1) * np.exp(problem.tilt.log_C) if own_kernel else np.inf
        names = problem.boxes.names
        if part is None:
            names = read_explainer.printed_names(explainer, problem.xi)
        prediction = surrogates.predicted(
            pool, numbers, problem.prediction, names=names,
            label=column,
            class_name=None
            if column is None or explainer.mode == "regression"
            else class_name(column, explainer.class_names),
            calls=len(pool.y),
            warnings=(
                *((own_row_note(numbers.samples, weight),) if weight < MIN_OTHER_WEIGHT else ()),
                *problem.form_notes,
            ),
        )  # fmt: skip
        every = tuple(map(str, explainer.feature_names))
        return prediction if part is None else part.spread(prediction, every)


def _problem(
    explainer: Any, f: Any, instance: Any, label: Any, top_labels: Any, world: Any = None
) -> tuple[Problem, int | None]:
    """f at the instance in the explainer's world, and the column that is explained."""
    # for a kernel that is not lime's, a width by which the pool is drawn, and no more
    nu = KERNEL_WIDTH_FACTOR * np.sqrt(len(explainer.feature_names))
    if world is None:
        own_kernel = has_own_kernel(explainer)
        width = explainer.base.kernel_fn.keywords["kernel_width"] if own_kernel else nu
        world = world_of(explainer, arg.bandwidth("explainer's kernel_width", width))
    xi = world.boxes().encode(instance)
    f = model_behind(f)
    world = with_columns_of(f, world, "instance", instance)
    call, classes = caller(f, world.boxes())
    outputs = np.asarray(call(xi[None]))
    column, output = None, None
    if explainer.mode == "regression":
        output = _regression_output(f, outputs, label, top_labels)
        column = None if label is None else output
    else:
        column = _class_column(explainer, outputs, label, top_labels, classes)
        output = classes[column] if classes else column
    purpose = "a prediction of lime"
    world = replace(world, class_names=())  # which have been read
    problem = Problem.of(
        f, xi, world, world.nu, world.kernel, output, purpose=purpose, boxes_needed=False
    )
    known = float(np.ravel(outputs)[column or 0])  # by the call above
    return knowing(problem, prediction=known) if np.isfinite(known) else problem, column


def _regression_output(f: Any, outputs: np.ndarray, label: Any, top_labels: Any) -> int | None:
    """The output that is explained: of several the first, as `lime` takes it, unless a label says which."""
    several = outputs.shape[1] if outputs.ndim == 2 else 1
    if several > 1 and top_labels is None and not hasattr(f, "predict_proba"):
        return label_column(0 if label is None else label, None, several)
    if top_labels is not None or not (label is None or (arg.is_integer(label) and label == 1)):
        raise ValueError(
            "label must be left out for an explainer of mode 'regression', got "
            f"{arg.shorten(label if top_labels is None else top_labels)}."
        )
    if hasattr(f, "predict_proba"):
        raise ValueError(
            f"f must be a regressor for an explainer of mode 'regression', got {arg.shorten(f)}."
        )
    return None


def _class_column(
    explainer: Any, outputs: np.ndarray, label: Any, top_labels: Any, classes: list[Any]
) -> int:
    """The column of the probabilities that a label stands for."""
    if outputs.ndim != 2 or outputs.shape[1] < 2:
        raise ValueError(
            "f must return a probability for each class, (n, classes), for an explainer of mode "
            f"'classification', got shape {outputs.shape} for one row."
        )
    if top_labels is not None:
        if label is not None or not arg.is_integer(top_labels) or top_labels != 1:
            raise ValueError(
                "top_labels must be 1, and label left out, for one prediction, got "
                f"{arg.shorten(top_labels)}; ask for other labels one at a time."
            )
        return int(np.argmax(outputs[0]))
    names = classes if explainer.class_names is None else explainer.class_names
    columns = outputs.shape[1]
    return label_column(label, list(names)[:columns], columns, classes)


def _weigh(explainer: Any, metric: Any) -> Weigh:
    """The weights that an explainer gives by another kernel or another distance."""
    from sklearn.metrics import pairwise_distances

    def distances(rows: np.ndarray) -> np.ndarray:
        return pairwise_distances(rows, rows[:1], metric=metric).ravel()

    return lambda rows: read_explainer.checked_weights(explainer, metric, lambda: distances(rows))


def known_surrogate(problem: Problem) -> PopulationFit | None:
    """The surrogate in closed form, or None where f has to be sampled."""
    try:
        return exact_fit(problem)
    except ValueError:  # a family of which this member has no form: it is sampled
        return None


def pool_of_rows(
    problem: Problem, calls: int, seed: Any, fit: PopulationFit | None = None,
    weigh: Weigh | None = None,
) -> Pool:  # fmt: skip
    """The pool of a problem, from that many calls of the model; ``fit`` is its surrogate, if known.

    ``weigh`` is a kernel other than that of the problem, by which the pool is still drawn.
    """
    rng = np.random.default_rng(seed)
    shares = OTHER_KERNEL_SHARES if weigh else tilt_shares(log_share(problem))
    sizes = [max(round(calls * share), 1) for share in shares.values()]
    # a power s of the kernel exp(-D^2 / 2nu^2) is the same kernel at nu / sqrt(s)
    nus = [problem.nu / np.sqrt(power) if power else FLAT * problem.nu for power in shares]
    tilts = [problem.at(nu=nu) for nu in nus]
    sobol = SAMPLERS["sobol"]
    drawn = [sobol.draw(tilt, rng, size) for tilt, size in zip(tilts, sizes, strict=True)]
    x, z = (np.concatenate(part) for part in zip(*drawn, strict=True))
    design = problem.columns(x, z).astype(float) - 1
    log_kernel = -np.sum(design**2, axis=1) / (2 * problem.nu**2)
    log_tilts = [
        power * log_kernel - tilt.tilt.log_C for power, tilt in zip(shares, tilts, strict=True)
    ]
    own_weight, log_weights = 1.0, log_kernel
    if weigh is not None:
        own_weight, *weights = weigh(np.vstack([problem.value_at_xi, design + problem.value_at_xi]))
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)
    pool = Pool(
        design=design, y=problem.predict(x) - problem.prediction, log_weights=log_weights,
        ratio=np.exp(mixture_log_ratio(sizes, log_tilts)), at_xi=problem.value_at_xi,
        own_weight=float(own_weight), method="monte carlo", stderr=np.zeros(problem.d),
    )  # fmt: skip
    if fit is None:
        # as if points were independent; Sobol points have less noise than that
        return replace(pool, stderr=spread_of_fits(pool, pool.ratio))
    intercept = fit.centre - problem.prediction + regressors_of(problem).offset_at_xi @ fit.beta
    return replace(recentred(pool, float(intercept), fit.beta), method=fit.method)
