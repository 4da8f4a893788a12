"""What tells one call of :func:`limetutor.explain_many` from another: its settings, and evidence.

The settings are compared as they are. The evidence is what stands for the table, the world, the
sampler, the model and the kernel: the table and the law of the world as numbers; the points that the
call's own sampler draws first, at rows spread over the table; the model's predictions and the kernel's
weights there; and the fitted numbers of a model whose form is known, all of them. A model without a
form is known by its predictions alone, so that a difference in a region that a call hardly ever
draws from goes unnoticed.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..core.models import Form
from ..core.sampler import Sampler
from ..exact.readers import form_in_world
from ..inputs.predictors import model_behind, predictor
from .problems import Problems
from .row_results import row_seed

PROBED_ROWS = 64  # at most, at which points are drawn
PROBES = 512  # points drawn in total, at most a row's share more
TOLERANCE = 1e-9  # of a value, in its unit: another machine rounds in another way
ROUNDING = 1e-14  # of a value itself, however small its unit

# what a difference means, in the order in which it is looked for
DIFFERENCES = {
    "X": "X is not the same",
    "world": "world is not the same: it has other boxes",
    "draws": "sampler is not the same: it draws other points",
    "data": "data are not the same",
    "form": "f is not the same: it has other fitted numbers",
    "f": "f is not the same: it gives other predictions",
    "kernel": "kernel is not the same: it gives other weights",
}


def settings_of(question: Problems, options: dict[str, Any], seed: int) -> dict[str, Any]:
    """The settings of a call, ready for JSON."""
    from .. import __version__

    plain = {key: _plain(value) for key, value in options.items()}
    return {"the version of limetutor": __version__} | plain | {
        "seed": seed,
        "nu": question.nu,
        "kernel": question.kernel.name,
        "output": _plain(question.output),
        "world": type(question.world).__name__,
        "names": list(question.boxes.names),
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """A setting as JSON has it: numbers and texts as they are, a sampler by its name."""
    value = getattr(value, "name", value)
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | None) else repr(value)


def evidence_of(question: Problems, draws: Sampler, seed: int) -> dict[str, np.ndarray]:
    """The table, the world, the sampler, the model and the kernel as numbers to compare."""
    table, boxes = question.table, question.boxes
    rows = np.unique(np.linspace(0, len(table) - 1, PROBED_ROWS).astype(int))
    points, weights = [], []
    for i in rows:
        problem, rng = question.problem(i), np.random.default_rng(row_seed(seed, i))
        draws.check(problem)
        x, z = draws.draw(problem, rng, -(-PROBES // len(rows)))
        points.append(x)
        weights.append(problem.kernel.log_weights(x, z, problem.xi, problem.nu, problem.boxes))
    drawn, law = np.concatenate(points), boxes.law
    answers = predictor(question.f, boxes, question.output)(drawn)
    unit = np.where(boxes.sigma > 0, boxes.sigma, np.abs(boxes.mu))
    unit = np.where(unit > 0, unit, 1.0)[:, None]
    places = [part / unit for part in (law.mean, law.sd, law.lo, law.hi, boxes.inner)]
    rules = np.broadcast_to([boxes.left_closed, question.world.own_row], (boxes.d, 2))
    parts = [law.log_prob, *places, np.log(unit), rules]
    parts.append(np.broadcast_to(np.asarray(boxes.unit, float), (boxes.d,))[:, None] / unit)
    return {
        "X": table,
        "world": np.concatenate(parts, axis=1),
        "draws": drawn / unit[:, 0],
        "form": _form_digest(question),
        "f": np.concatenate([question.predictions, answers]),
        "kernel": np.concatenate(weights),
    }


def _form_digest(question: Problems) -> np.ndarray:
    """The fitted numbers of a model whose form is known as 32 bytes; none for any other."""
    try:
        f = model_behind(question.f)
        form = f if isinstance(f, Form) else form_in_world(question.boxes, f, question.output)
        return np.frombuffer(digest(form), np.uint8)
    except (TypeError, ValueError):  # a model of a known family without a form, or parts unknown
        return np.zeros(0, np.uint8)


def digest(value: Any) -> bytes:
    """What a form or a file holds as 32 bytes, whichever dataclasses, arrays, texts and numbers it is made of."""
    if is_dataclass(value):
        parts = [(part.name, getattr(value, part.name)) for part in fields(value)]
        content = repr([(type(value).__name__, name, digest(part)) for name, part in parts])
    elif isinstance(value, list | tuple):
        content = repr([digest(part) for part in value])
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        content = repr((value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).digest()))
    elif isinstance(value, str | int | float | np.generic | None):
        content = repr(value)
    else:
        raise TypeError(f"no digest of {type(value).__name__}")
    return hashlib.sha256(content.encode()).digest()


def same(key: str, then: np.ndarray, now: np.ndarray) -> bool:
    """Whether two pieces of evidence are the same but for rounding.

    Values of tables are compared in relation to themselves; predictions in relation to themselves or to
    their spread, whichever is smaller, so that neither a small unit nor a large constant hides a
    difference. Other evidence is in standard units, or logarithms.
    """
    if then.shape != now.shape:
        return False
    unit: Any = 1.0
    if key in ("X", "data", "f"):
        unit = np.abs(then)
    if key == "f":
        unit = np.minimum(unit, np.median(np.abs(then - np.median(then))))
    with np.errstate(invalid="ignore"):  # infinite edges and logarithms of 0
        near = np.abs(now - then) <= TOLERANCE * unit + ROUNDING * np.abs(then)
    return bool(np.all((near & np.isfinite(then)) | (then == now)))
