"""Is this explanation to be trusted? One call, answers in words with numbers.

:func:`audit` takes an :class:`Explanation`, a :class:`Limit`, or a `lime` explainer (or a world) with a
model and an instance, and returns an :class:`Audit`: a list of findings, each with a code for machines,
a sentence for people, the numbers behind it and what to change. No finding means that none of the
registered checks found anything. With a table of instances it returns an
:class:`~limetutor.auditing.table.AuditTable`. Chapter: the real lime.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import arguments as arg
from ..algorithm import Explanation
from ..closed_forms import Limit
from ..lime_bridge import RIDGE, SAMPLES, LimeNumbers, LimeWorld, from_lime, output_of
from ..lime_prediction import request
from ..lime_runs import Surrogates
from ..masks.kinds import MASK_KINDS, MaskKind
from ..models import model_behind
from ..worlds import Empirical, World, check_world
from .case import SHOWN, Case
from .masks import MASK_CHECKS, MaskCase
from .shared import Shared
from .speech import PLAIN, SYMBOLS, Speech
from .surroundings import Surroundings
from .table import AuditTable, Plan
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
        The model and the instance. A table of instances, a single row included, is audited row by
        row, and the answer is an :class:`~limetutor.auditing.table.AuditTable`.
    label, output
        Which output of the model: ``label`` is its column, as in `lime` (1 for classifiers unless told
        otherwise; a name of the explainer's classes will do), ``output`` the class itself.
    data
        The training data, with the features of the explanation: are the samples like them? An
        :class:`Empirical` world has its own.
    n, num_features
        How many samples and features are asked of `lime` (``num_samples``, ``num_features``); as many as
        it takes by itself if left out.
    nu, kernel, ridge
        With a world: as in :func:`explain`. One read from `lime` has lime's own unless told otherwise.
    seed
        Of the samples that the noise is measured by; all rows of a table share them.
    n_jobs
        How many processes share a table, by joblib; -1 for one per core.
    symbols
        Speak with the symbols of the book.
    **options
        For a text or an image further words of ``explain_instance``: ``hide_color``,
        ``segmentation_fn``, ``distance_metric`` and so on.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear, explain
    >>> ex = explain(Linear([10, -10]), [0.961, 0.432], Gaussian(), nu=0.53, n=20_000, seed=0)
    >>> audit(ex).codes
    ('critical-bandwidth',)
    """
    say = SYMBOLS if arg.truth("symbols", symbols) else PLAIN
    for kind in MASK_KINDS:
        if kind.reads(subject):
            asked = {"output": output, "data": data, "nu": nu, "kernel": kernel, "ridge": ridge}
            _refuse_asked(asked | {"n_jobs": n_jobs}, "an explainer of texts or images has its own")
            words = {"label": label, "num_features": num_features, "num_samples": n, "seed": seed}
            return _of_masks(kind, subject, f, xi, words | options, say)
    if options:
        raise TypeError(
            f"{next(iter(options))} must be left out but for an explainer of texts or images."
        )
    shown = SHOWN if num_features is None else arg.whole("num_features", num_features, 1)
    n_jobs = arg.jobs(n_jobs)
    n = SAMPLES if n is None else n
    if isinstance(subject, Explanation | Limit):
        asked = {"f": f, "xi": xi, "nu": nu, "kernel": kernel, "ridge": ridge}
        asked |= {"label": label, "output": output}
        _refuse_asked(asked, "an explanation knows its own")
        return Audit.of(_case_of(subject, data, shown, say))
    _refuse_lime_explanation(subject)
    if f is None or xi is None:
        raise ValueError(
            "f and xi must be given with a lime explainer or a world: "
            "audit(explainer, model, instance)."
        )
    asked = {"nu": nu, "kernel": kernel, "ridge": ridge}
    plan = _plan(subject, f, asked, label, output, data, n, seed, shown, say)
    if _is_table(xi):
        return plan.table(xi, n_jobs)
    return Audit.of(plan.case(xi))


def _of_masks(
    kind: MaskKind, explainer: Any, f: Any, instance: Any, words: dict[str, Any], say: Speech
) -> Audit:
    """What `lime` will print for a text or an image, and what to doubt in it."""
    if f is None or instance is None:
        raise ValueError(
            "f and xi must be given with a lime explainer: audit(explainer, model, text)."
        )
    asked = request(kind, **words)
    surrogates = Surrogates(explainer, asked.model_regressor)
    setting = kind.setting(explainer, f, instance, asked)
    found = kind.predicted(setting, surrogates, asked)
    return Audit.of(MaskCase(setting, found, kind.scale, say, setting.board.word), MASK_CHECKS)


def _refuse_asked(asked: dict[str, Any], because: str) -> None:
    given = [name for name, value in asked.items() if value is not None]
    if given:
        names = " and ".join(["f", "xi"] if "f" in given or "xi" in given else given[:1])
        raise ValueError(f"{names} must be left out: {because}.")


def _refuse_lime_explanation(subject: Any) -> None:
    if type(subject).__module__.startswith("lime.") and hasattr(subject, "local_exp"):
        raise TypeError(
            "subject must be the explainer, got a lime Explanation, which keeps neither the model nor "
            "the samples: pass audit(explainer, model, instance) with what it was made from."
        )


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


def _case_of(subject: Explanation | Limit, data: Any, shown: int, say: Speech) -> Case:
    """An explanation that was made elsewhere."""
    first = Case(subject, shown=shown, say=say)
    world = first.setting.world
    around = _surroundings(data, world, first.boxes)
    given = Shared.of(first.setting, first.n, first.ridge, around)
    return Case(subject, False, given, 0, shown, say)


def _surroundings(data: Any, world: World, boxes: Any) -> Surroundings | None:
    if data is None and isinstance(world, Empirical):
        data = world.table  # type: ignore[attr-defined]
        return Surroundings(data[:: -(-len(data) // 2000)], boxes) if len(data) > 1 else None
    return None if data is None else Surroundings.of(data, boxes)


def _plan(
    subject: Any,
    f: Any,
    asked: dict[str, Any],
    label: Any,
    output: Any,
    data: Any,
    n: Any,
    seed: Any,
    shown: int,
    say: Speech,
) -> Plan:
    """What is asked of every row: by a `lime` explainer, or in a world."""
    model = model_behind(f)
    if isinstance(subject, World):
        world: World = subject
        is_lime, names = False, getattr(world, "class_names", ()) or None
        classifies = True if hasattr(model, "predict_proba") else None
    else:
        world, is_lime = from_lime(subject), True
        _refuse_asked(asked, "the explainer has its own")
        classifies, names = subject.mode == "classification", subject.class_names
    check_world(world, boxes=False)
    own = {"nu": None, "kernel": "gaussian", "ridge": 0.0}
    if isinstance(world, LimeWorld | LimeNumbers):
        own = {"nu": world.nu, "kernel": world.kernel, "ridge": RIDGE}
    nu, kernel, ridge = (own[name] if value is None else value for name, value in asked.items())
    if nu is None:
        raise ValueError("nu must be given with a world, the bandwidth of the explanations.")
    return Plan(
        f=model,
        world=world,
        nu=nu,
        kernel=kernel,
        ridge=arg.not_negative("ridge", ridge),
        output=output_of(model, label, output, classifies, names),
        n=n,
        seed=None if seed is None else arg.whole("seed", seed, 0),
        data=data,
        surroundings=_surroundings,
        shown=shown,
        say=say,
        is_lime=is_lime,
    )
