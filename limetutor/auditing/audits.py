"""Can this explanation be trusted? :func:`audit` answers in words with numbers.

Its findings have a code for machines, a sentence for people, the numbers behind it and what to change.
No finding means that none of the registered checks found anything. Chapter: the real lime.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.boxes import World, check_world
from ..core.problem import instance_in, named_world
from ..inputs import arguments as arg
from ..inputs.lime_defaults import NUM_SAMPLES
from ..inputs.predictors import model_behind
from ..lime.columns_and_classes import output_of, refuse_columns
from ..lime.masks import MaskKind
from ..lime.predict_lime import MASK_KINDS, request
from ..lime.read_explainer import from_lime, is_named
from ..lime.runs import Surrogates, one_label, renamed
from ..results.explanation import Explanation
from ..results.limit import Limit
from .audit_table import AuditTable, audit_table
from .case import NUM_FEATURES, Case, case_of_row, problem_of
from .checks import CHECKS, MASK_CHECKS
from .findings import PLAIN, SYMBOLS, Terms
from .mask_case import MaskCase
from .shared_work import AuditPlan, SharedWork
from .verdicts import Audit


def audit(
    subject: Any,
    f: Any = None,
    xi: Any = None,
    *,
    label: int | str | None = None,
    output: Any = None,
    data: Any = None,
    n: int | None = None,
    num_features: int | None = None,
    nu: float | None = None,
    kernel: Any = None,
    ridge: float | None = None,
    seed: int | None = 0,
    n_jobs: int | None = None,
    store: Any = None,
    symbols: bool = False,
    **options: Any,
) -> Audit | AuditTable:
    """Look for what makes an explanation untrustworthy.

    Parameters
    ----------
    subject
        An :class:`Explanation` or a :class:`Limit`; or a ``LimeTabularExplainer`` or a world
        (:class:`Empirical`, :class:`Gaussian`, one by ``lt.from_lime``), with f and xi; or a
        ``LimeTextExplainer`` with a classifier and a text, a ``LimeImageExplainer`` with an image.
    f, xi
        The model and the instance. A table of instances, one row included, is audited row by row.
    label, output
        Which output of the model: ``label`` is its column, as in `lime` (1 for classifiers unless told
        otherwise; a name of the explainer's classes will do), ``output`` the class itself.
    data
        The training data, with the features of the explanation: are the samples like them? An
        :class:`Empirical` world has its own.
    n, num_features
        ``num_samples`` and ``num_features`` of `lime`; its own defaults if left out.
    nu, kernel, ridge
        With a world: as in :func:`explain`. One read from `lime` has lime's own unless told otherwise.
    seed, n_jobs
        Of the samples, which rows of a table share; the number of processes for them, by joblib.
    store
        For a table, a folder in which each row is put as soon as it is done, as in :func:`explain_many`.
    symbols
        Whether findings use the symbols of the book.
    **options
        For a text or an image, further options of ``explain_instance`` such as ``hide_color``.

    Returns
    -------
    Audit or AuditTable
        The findings about one explanation, or about every row of a table.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear, explain
    >>> ex = explain(Linear([10, -10]), [0.961, 0.432], Gaussian(), nu=0.53, n=20_000, seed=0)
    >>> audit(ex).codes
    ('critical-bandwidth', 'other-boxes', 'noise')
    """
    terms = SYMBOLS if arg.truth("symbols", symbols) else PLAIN
    fit = {"nu": nu, "kernel": kernel, "ridge": ridge}
    is_result = isinstance(subject, Explanation | Limit)
    kinds = () if isinstance(subject, Explanation | Limit | World) else MASK_KINDS
    kind = next((kind for kind in kinds if is_named(subject, kind.name)), None)
    if kind is not None:
        others = {"output": output, "data": data, **fit, "n_jobs": n_jobs, "store": store}
        _refuse(others, "an explainer of texts or images has its own")
        named = {"label": label, "num_features": num_features, "num_samples": n, "seed": seed}
        return _audit_masks(kind, subject, f, xi, named | options, terms)
    is_explainer = not isinstance(subject, Explanation | Limit | World)
    theirs = {"num_samples": "n", "labels": "label"} if is_explainer else {}
    ours = {"n": n, "label": label, "num_features": num_features, "output": output, "data": data}
    words = renamed(options, theirs, ours | fit, "an audit of rows")
    n, label = words["n"], one_label(label, options.get("labels"))
    shown = NUM_FEATURES if num_features is None else arg.whole("num_features", num_features, 1)
    n_jobs = arg.jobs(n_jobs)
    if is_result:
        others = {"f": f, "xi": xi, **fit, "label": label, "output": output, "store": store}
        _refuse(others, "an explanation knows its own")
        work = SharedWork.of(problem_of(subject), subject.n, subject.ridge, data)
        return Audit.of(Case(subject, work, shown=shown, terms=terms), CHECKS)
    if type(subject).__module__.startswith("lime.") and hasattr(subject, "local_exp"):
        raise TypeError(
            "subject must be the explainer, got a lime Explanation, which keeps neither the model nor "
            "the samples: pass audit(explainer, model, instance) with what it was made from."
        )
    if f is None or xi is None:
        raise ValueError(
            "f and xi must be given with a lime explainer or a world: "
            "audit(explainer, model, instance)."
        )
    plan = _plan(
        subject, f, fit, label, output, seed,
        data=data, n=n, shown=shown, terms=terms,
    )  # fmt: skip
    if plan.is_lime:
        refuse_columns(plan.f, plan.world.boxes().names, "xi", xi)
    plan = replace(plan, world=named_world(plan.world, "xi", xi, plan.f))
    if _is_table(xi):
        return audit_table(plan, xi, n_jobs, store)
    _refuse({"store": store}, "it holds the rows of a table")
    boxes, numbers = instance_in(plan.world, xi, plan.f)
    work = plan.work(boxes, numbers[None], [getattr(xi, "name", None)])
    return Audit.of(case_of_row(plan, work, 0), CHECKS)


def _audit_masks(
    kind: MaskKind, explainer: Any, f: Any, instance: Any, options: dict[str, Any], terms: Terms
) -> Audit:
    """Audit what `lime` will print for a text or an image."""
    if f is None or instance is None:
        raise ValueError(
            "f and xi must be given with a lime explainer: audit(explainer, model, text)."
        )
    requested = request(kind, **options)
    surrogates = Surrogates(explainer, requested.model_regressor)
    problem = kind.problem(explainer, f, instance, requested)
    prediction = kind.predicted(problem, surrogates, requested)
    case = MaskCase(problem, prediction, kind.scale, terms, problem.instance.word)
    return Audit.of(case, MASK_CHECKS)


def _refuse(options: dict[str, Any], because: str) -> None:
    """Raise where one of the options is given."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        names = " and ".join(["f", "xi"] if "f" in given or "xi" in given else given[:1])
        raise ValueError(f"{names} must be left out: {because}.")


def _is_table(xi: Any) -> bool:
    """Whether instances came with rows and columns, one row included."""
    if isinstance(xi, Mapping):
        return False
    if hasattr(xi, "ndim"):
        return bool(xi.ndim == 2)
    if hasattr(type(xi), "columns") and hasattr(type(xi), "shape"):  # polars
        return True
    try:
        return np.asarray(xi, dtype=object).ndim == 2
    except ValueError:
        return False


def _plan(
    subject: Any, f: Any, fit: dict[str, Any], label: Any, output: Any, seed: Any, **options: Any
) -> AuditPlan:
    """What is asked of every row: by a `lime` explainer, or in a world."""
    model, is_lime = model_behind(f), not isinstance(subject, World)
    if is_lime:
        world: World = from_lime(subject)
        _refuse(fit, "the explainer has its own")
        classifies, names = subject.mode == "classification", subject.class_names
    else:
        world, names = subject, getattr(subject, "class_names", ()) or None
        classifies = True if hasattr(model, "predict_proba") else None
    check_world(world, boxes=False)
    fit = {name: getattr(world, name) if value is None else value for name, value in fit.items()}
    options["n"] = (world.n or NUM_SAMPLES) if options["n"] is None else options["n"]
    if fit["nu"] is None:
        raise ValueError("nu must be given with a world, the bandwidth of the explanations.")
    if label is not None or classifies:
        output = output_of(model, label, output, classifies, names)
    return AuditPlan(
        f=model,
        world=world,
        nu=fit["nu"],
        kernel=fit["kernel"],
        ridge=arg.not_negative("ridge", fit["ridge"]),
        output=output,
        seed=None if seed is None else arg.whole("seed", seed, 0),
        is_lime=is_lime,
        **options,
    )
