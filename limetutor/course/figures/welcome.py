"""The welcome page: the reasons that `lime` prints for patient 13, and what changes them."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...interactive.controls import Choice, Slider
from ...plotting.results import by_sign
from ...plotting.style import color, new_figure, styled
from ..experiments import patient_13
from .parts import signed, stacked

RUN = Slider(1, 8, 1, stops=8, fmt="{:d}", label="run")
BOXES = Choice({"four": "quartile", "ten": "decile"}, label="boxes for each feature")
WIDTH = Slider(0.3, 10, 2.37, stops=61, log=True, label="kernel width", also=[0.5, 1.0])


class Reason(NamedTuple):
    """A line of the list: the feature, the phrase that `lime` prints, and its coefficient."""

    feature: str
    phrase: str
    coefficient: float


@cache
def reasons_for(run: int = 1, boxes: str = "quartile", width: float | None = None) -> list[Reason]:
    """The five reasons that one run of the real `lime` gives for patient 13, the largest first.

    ``run`` is its seed, ``boxes`` its discretizer and ``width`` its kernel width, all else at its default.
    """
    from lime.lime_tabular import LimeTabularExplainer

    model, xi, X = patient()
    explainer = LimeTabularExplainer(
        X.to_numpy(),
        feature_names=list(X.columns),
        mode="regression",
        discretizer=boxes,
        kernel_width=width,
        random_state=run,
    )
    found = explainer.explain_instance(xi, model.predict, num_features=5)
    positions = [j for j, _ in found.as_map()[1]]
    return [Reason(X.columns[j], *line) for j, line in zip(positions, found.as_list(), strict=True)]


patient = cache(patient_13)


def run_again(fig: Figure, run: int) -> str:
    """The list of one run."""
    ax = fig.subplots()
    fig.subplots_adjust(left=0.02, right=0.98, bottom=0.21, top=0.97)
    found = reasons_for(run)
    _draw_list(ax, found)
    return f"Run {run}: {_beside_first(found)}"


def other_boxes(fig: Figure, boxes: str, run: int) -> str:
    """Top: the list with four or ten boxes. Bottom: the model along bmi, and the box of the patient."""
    top, below = stacked(fig, (1.25, 1))
    top.set_position((0.02, top.get_position().y0, 0.96, top.get_position().height))
    found = reasons_for(run, boxes)
    _draw_list(top, found)
    _draw_along_bmi(below, found)
    bmi = next(r.coefficient for r in found if r.feature == "bmi")
    many = "four" if boxes == "quartile" else "ten"
    return f"With {many} boxes, run {run}: the coefficient of bmi is {signed(bmi, 1, plus=True)}."


def other_width(fig: Figure, width: float) -> str:
    """The list of the first run at a different kernel width."""
    ax = fig.subplots()
    fig.subplots_adjust(left=0.02, right=0.98, bottom=0.21, top=0.97)
    found = reasons_for(1, "quartile", width)
    _draw_list(ax, found)
    if max(abs(reason.coefficient) for reason in found) < 0.05:
        return f"At kernel width {width:.2f}, all coefficients are 0.0."
    share = abs(found[0].coefficient) / abs(reasons_for()[0].coefficient)
    return (
        f"At kernel width {width:.2f}, the largest coefficient is that of {found[0].feature}, "
        f"{signed(found[0].coefficient, 1, plus=True)}: {share:.0%} of the largest at the default, 2.37."
    )


def _draw_list(ax: Axes, found: Sequence[Reason]) -> None:
    """A row for each reason: the phrase on the left, its bar, and the coefficient at its end."""
    rows = [-float(k) for k in range(len(found))]
    values = np.array([reason.coefficient for reason in found])
    ax.axvline(0, color=color.muted, lw=1)
    ax.barh(rows, values, color=by_sign(values), height=0.6)
    for row, reason in zip(rows, found, strict=True):
        ax.text(-36, row, reason.phrase.replace("<=", "≤"), ha="right", va="center")
        value = reason.coefficient
        ax.text(
            value + (1 if value > 0 else -1),
            row,
            signed(value, 1, plus=True),
            ha="left" if value > 0 else "right",
            va="center",
        )
    ax.set(xlim=(-86, 56), ylim=(-4.6, 0.6), yticks=[], xticks=[-20, 0, 20, 40])
    ax.set_xlabel("coefficient", x=(86 + 10) / 142)
    ax.spines["left"].set_visible(False)
    ax.spines["bottom"].set_bounds(-20, 50)


def _draw_along_bmi(ax: Axes, found: Sequence[Reason]) -> None:
    """What the model predicts for patient 13 with a different bmi, and the box that LIME sees."""
    model, xi, X = patient()
    j = list(X.columns).index("bmi")
    grid, rows = np.linspace(18, 42, 97), np.tile(xi, (97, 1))
    rows[:, j] = grid
    phrase = next(r.phrase for r in found if r.feature == "bmi")
    low, high = (float(part) for part in (phrase.split()[0], phrase.split()[-1]))
    ax.axvspan(low, high, color=color.box, alpha=0.25, lw=0)
    ax.plot(grid, model.predict(rows), color=color.ink, lw=1.8)
    ax.plot(xi[j], model.predict([xi])[0], "D", color=color.xi, ms=7)
    ax.set(xlim=(18, 42), ylim=(130, 270), yticks=[150, 200, 250], ylabel="prediction")
    ax.set_xlabel("bmi of patient 13, all else unchanged")


def _beside_first(found: Sequence[Reason]) -> str:
    """How a list differs from that of the first run."""
    first = [reason.feature for reason in reasons_for()]
    now = [reason.feature for reason in found]
    if now == first:
        return f"the reasons are {', '.join(now[:-1])} and {now[-1]}, in this order."
    new = [name for name in now if name not in first]
    gone = [name for name in first if name not in now]
    if not new:
        return "the same five reasons as in run 1, in a different order."
    return f"{' and '.join(new)} in place of {' and '.join(gone)} from run 1."


@styled
def cover() -> Figure:
    """The picture of the README: one run with four boxes, one with ten (written by tools/cover.py)."""
    fig = new_figure((11.6, 3.0))
    fig.subplots_adjust(left=0.005, right=0.995, bottom=0.19, top=0.88, wspace=0.02)
    for ax, (boxes, title) in zip(
        fig.subplots(1, 2),
        (("quartile", "four boxes for each feature"), ("decile", "ten boxes for each feature")),
        strict=True,
    ):
        _draw_list(ax, reasons_for(1, boxes))
        ax.set_title(title, x=(86 + 10) / 142)
    return fig
