"""Error against model calls: what Sobol points and adjustment save."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from lime.lime_tabular import LimeTabularExplainer
from matplotlib.figure import Figure
from settings import Curves, Measured, Question, Row, data, measure, model, questions

import limetutor as lt
from limetutor.course.figures.parts import log_axes, named_at_ends
from limetutor.plotting.style import color, new_figure, styled

LIME = "lime itself"
ONE = {"sampler": "sobol", "scrambles": 1}
DEFAULT = {"sampler": "sobol"}
# how each way of sampling is asked for, and its colour and stroke in the picture
WAYS: dict[str, tuple[dict[str, Any], str, str]] = {
    "weighted": ({"sampler": "bins"}, color.muted, "-"),
    "weighted, adjusted": ({"sampler": "bins", "adjust": True}, color.muted, "--"),
    "tilted": ({"sampler": "tilted"}, color.sample, "-"),
    "tilted, adjusted": ({"sampler": "tilted", "adjust": True}, color.sample, "--"),
    "Sobol": (DEFAULT, color.ink, "-"),
    "Sobol, adjusted": (DEFAULT | {"adjust": True}, color.ink, "--"),
    "Sobol, one scramble": (ONE, color.alarm, "-"),
}


def rows(small: bool) -> Iterator[Row]:
    yield from gaussian(small)
    yield from as_lime(small)
    yield calls_needed(small)


def gaussian(small: bool) -> Iterator[Row]:
    """The paper's kernel, nu = 1, d = 10."""
    n, many, runs = (512, 2, 2) if small else (4096, 20, 6)
    goals = {"boosting": (700, 250), "forest": (500, 200), "two-layer net": (400, 200)}
    for name, (least_one, least) in goals.items():
        asked = questions(name, 10, "gaussian", many)
        base, one, default, both = (
            measure(asked, n, runs, **how) for how in ({}, ONE, DEFAULT, DEFAULT | {"adjust": True})
        )
        what = f"{name}, d = 10, gaussian kernel, ν = 1, n = {n}: error² of "
        yield _gain(what + "`sobol`, one scramble", one, base, least_one)
        yield _gain(what + "`sobol`", default, base, least)
        yield _intervals(f"{name}: 95% intervals of `sobol`", default)
        yield _gain(what + "`sobol`, adjusted", both, base, None)


def as_lime(small: bool) -> Iterator[Row]:
    """lime's kernel and default width."""
    n, many, runs = (512, 2, 2) if small else (4096, 12, 6)
    for d, least in ((10, 50), (50, 12)):
        if small and d > 10:
            continue
        asked = questions("boosting", d, "mismatch", many)
        base = measure(asked, n, runs)
        what = f"boosting, d = {d}, lime's kernel and width, n = {n}: error² of "
        yield _gain(what + "`sobol`, one scramble", measure(asked, n, runs, **ONE), base, least)
        default = measure(asked, n, runs, **DEFAULT)
        yield _gain(what + "`sobol`", default, base, None)
        yield _intervals(f"the same, d = {d}: 95% intervals of `sobol`", default, judged=False)
        both = measure(asked, n, runs, **DEFAULT, adjust=True)
        yield _gain(what + "`sobol`, adjusted", both, base, None)
        plain = measure(asked, n, runs, adjust=True)
        yield _gain(what + "plain samples, adjusted", plain, base, 4)
        found = f"{plain.coverage:.1%}"
        what = f"the same, d = {d}: 95% intervals of plain samples, adjusted"
        yield Row(what, found, "at least 93%", plain.coverage >= 0.93)


def calls_needed(small: bool) -> Row:
    """Calls that bring the error which lime has with 5000."""
    many, runs = (2, 2) if small else (12, 8)
    asked = questions("boosting", 10, "mismatch", many)
    base = measure(asked, 5000, runs)
    found = {}
    for words, how in (("", ONE), (" adjusted", ONE | {"adjust": True})):
        for n in (64, 128, 256, 512, 1024):
            if "adjust" in how and n < 128:
                continue
            if measure(asked, n, runs, **how).gain(base) >= 1:
                break
        found[words] = n
    text = ", ".join(f"{n}{words}" for words, n in found.items())
    what = "boosting, d = 10, lime's kernel and width: calls for the error of lime's way with 5000"
    return Row(what, text, "at most 512", min(found.values()) <= 512)


def _gain(what: str, found: Measured, base: Measured, least: int | None) -> Row:
    gain = found.gain(base)
    goal = "" if least is None else f"{least} times smaller"
    return Row(what, f"{gain:.3g} times smaller", goal, None if least is None else gain >= least)


def _intervals(what: str, found: Measured, judged: bool = True) -> Row:
    text = f"cover {found.coverage:.1%}, median half-width {found.half_width:.1f} RMSE"
    met = 0.93 <= found.coverage <= 0.99 and found.half_width <= 4
    return Row(what, text, "93–99%, at most 4" if judged else "", met if judged else None)


def curves(small: bool) -> Curves:
    """Root mean squared error against model calls, boosting, lime's kernel and width, d = 10."""
    many, runs = (1, 2) if small else (6, 6)
    sizes = 2 ** np.arange(8, 10 if small else 14)
    asked = questions("boosting", 10, "mismatch", many)
    found = {
        name: [np.sqrt(np.median(measure(asked, int(n), runs, **how).mse)) for n in sizes]
        for name, (how, *_) in WAYS.items()
    }
    found[LIME] = [np.sqrt(np.median([_of_lime(q, int(n), runs) for q in asked])) for n in sizes]
    return {"calls": {name: [sizes.tolist(), error] for name, error in found.items()}}


@styled
def picture(found: Curves) -> Figure:
    """All errors in one panel."""
    figure = new_figure((6.4, 4.4))
    figure.subplots_adjust(left=0.11, right=0.68, bottom=0.13)
    axes, ends, looks = figure.subplots(), {}, {name: look for name, (_, *look) in WAYS.items()}
    for name, (sizes, error) in found["calls"].items():
        hue, stroke = looks.get(name, (color.lime, ":"))
        axes.plot(sizes, error, color=hue, ls=stroke, marker="o", ms=4)
        ends[name] = error[-1], color.ink if name == LIME else hue
    log_axes(axes, x=sizes[::2], y=[0.03, 0.1, 0.3, 1])
    axes.set(xlim=(sizes[0] / 1.1, sizes[-1] * 1.1), ylim=(0.015, 2.2))
    axes.set(xlabel="calls of the model", ylabel="error of all coefficients")
    named_at_ends(axes, sizes[-1], ends)
    return figure


def _of_lime(question: Question, n: int, runs: int) -> float:
    """The squared error of the real lime against its own limit, ridge and row 0 included."""
    explainer = LimeTabularExplainer(data(10)[0], mode="regression", random_state=0)
    f = model("boosting", 10)
    truth = lt.limit(
        f, question.xi, lt.from_lime(explainer), question.nu, "mismatch", ridge=1.0, n=n
    )
    square = []
    for _ in range(runs):
        found = explainer.explain_instance(question.xi, f.predict, num_features=10, num_samples=n)
        coef = np.array([value for _, value in sorted(found.as_map()[1])])
        square.append(np.sum((coef - truth.coef) ** 2))
    return float(np.mean(square))
