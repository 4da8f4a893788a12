"""Lazy ticks, drawn once for many frames: the pictures are matplotlib's own, element by element."""

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np  # noqa: F401 - a case has it
import pytest
from browser import ROOT
from cases import cases
from executed_chapters import execute
from matplotlib import patheffects  # noqa: F401 - a case has it
from matplotlib.axes import Axes
from matplotlib.axis import XAxis
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from plain_svg import differs
from waves import wave

from limetutor.course.figures import local_error, switch_off, theorem
from limetutor.interactive import explorer, frame_table, lazy_ticks
from limetutor.interactive.frame_table import draw_frame
from limetutor.interactive.lazy_ticks import LazyAxes, LazyFigure
from limetutor.plotting import svg
from limetutor.plotting.style import styled

SIZE = (6.4, 3.6)

# What somebody may do to axes, each a change that shows: two of them must never share a drawing.
CHANGES: dict[str, Callable[[Any], Any]] = dict(
    cases(Path(__file__).parent / "support" / "changes.txt", globals())
)


def changed(fig: Any, name: str) -> str:
    """Axes with one line, to which the change is done."""
    ax = fig.subplots()
    ax.plot([0, 1], [0, 1])
    CHANGES[name](ax)
    return f"With {name}."


def test_no_change_is_mistaken_for_another():
    """One memo for all, and each change looked at when the memo knows all of them."""
    memo: dict[Any, Any] = {}
    for name in CHANGES:
        explorer._frame(changed, "Alt.", SIZE, {"name": name}, memo)
    found = {name: differs(changed, SIZE, {"name": name}, memo) for name in CHANGES}
    assert not {name: difference for name, difference in found.items() if difference}


def test_what_is_known_is_not_drawn_again():
    """The second frame shares its axes with the first, and no tick was made for it."""
    memo: dict[Any, Any] = {}
    (one, _), (other, _) = (
        explorer._frame(wave, "A wave.", SIZE, {"nu": nu}, memo) for nu in (0.5, 0.6)
    )
    elements = [set(map(id, root.iter())) for root in (one, other)]
    assert len(elements[0] & elements[1]) > 40  # two axes of seven or more ticks
    assert svg.markup(one) != svg.markup(other)


@styled
def test_ticks_are_made_for_who_asks():
    ax = LazyFigure().subplots()
    ax.plot([0, 1])
    ax.set(xlim=(0, 1), xticks=[0, 1], xticklabels=["a", "b"], yscale="log", title="t")
    ax.tick_params(length=3)
    ax.grid()
    assert not any("majorTicks" in vars(axis) for axis in (ax.xaxis, ax.yaxis))
    ax = LazyFigure().subplots()
    assert isinstance(ax, LazyAxes)
    ticks = ax.set_xticks([1, 2, 3], ["a", "b", "c"])
    assert len(ticks) == 3 and [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "c"]
    labels = ax.set_yticklabels(["d", "e"]) if ax.set_yticks([0, 1]) else []
    assert [label.get_text() for label in labels] == ["d", "e"]
    assert len(ax.set_yticks([0.5], minor=True)) == 1
    assert len(ax.xaxis.get_children()) == 2 + 3 and len(ax.yaxis.get_children()) == 2 + 2 + 1


def test_what_moves_in_one_picture_does_not_make_the_next_be_drawn_again():
    """An area is a marker to matplotlib, with an id from its shape: it must not count."""
    memo: dict[Any, Any] = {}

    def area(fig: Any, top: float) -> str:
        left, right = fig.subplots(1, 2)
        left.fill_between([0, 1], [0, top])
        left.plot([0.5], [top], "o" if top < 2 else "s")
        for ax in (left, right):
            ax.set(xlim=(0, 1), ylim=(0, 9), xlabel="x")
        return f"Up to {top}."

    stops = (0.5, 1, 1.5, 2, 2.5)
    assert not any(differs(area, SIZE, {"top": top}, memo) for top in stops)
    kept = [drawn for found in memo.values() if isinstance(found, list) for drawn in found]
    assert len(kept) == 4  # two axes, each with two


def test_a_style_set_within_a_drawing_counts():
    """Lazy ticks would not know it, so that there axes are made as matplotlib makes them."""

    def small(fig: Any, size: int) -> str:
        with mpl.rc_context({"xtick.labelsize": size}):
            fig.subplots().plot([0, 1])
        return f"Size {size}."

    memo: dict[Any, Any] = {}
    assert not any(differs(small, SIZE, {"size": size}, memo) for size in (6, 12, 18))


def titled(fig: Any, top: float) -> str:
    """Two panels, of which one has a title."""
    left, right = fig.subplots(1, 2)
    left.plot([0, top], "o-")
    left.set(title="one", xlabel="x")
    right.set(xlim=(0, 1), xticks=[0, 1], xticklabels=["no", "yes"])
    return f"Up to {top}."


PRIVATE = {
    XAxis: ["_autolabelpos", "_major_tick_kw", "_minor_tick_kw"],
    Axes: ["_twinned_axes", "_left_title", "_right_title"],
    Figure: ["_align_label_groups"],
    RendererSVG: ["_markers", "_clipd"],
}


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner, names in PRIVATE.items() for name in names]
)
def test_without_a_private_attribute_the_picture_is_the_same(owner, name, monkeypatch):
    """Matplotlib itself still finds the attribute, lazy_ticks does not."""
    inherited = getattr(owner, name, None)

    def get(self):
        if sys._getframe(1).f_code.co_filename == lazy_ticks.__file__:
            raise AttributeError(name)
        return vars(self).get(name, inherited)

    hidden = property(get, lambda self, value: vars(self).__setitem__(name, value))
    monkeypatch.setattr(owner, name, hidden, raising=False)
    memo: dict[Any, Any] = {}
    assert not any(differs(titled, SIZE, {"top": top}, memo) for top in (1, 2, 2))


@pytest.mark.parametrize("missing", [*lazy_ticks.REPLACED, "the argument clear"], ids=str)
def test_without_a_private_method_axes_are_matplotlibs_own(missing, monkeypatch):
    if isinstance(missing, tuple):
        gone = (missing[0], f"{missing[1]}_of_old")
        monkeypatch.setattr(lazy_ticks, "REPLACED", (*lazy_ticks.REPLACED, gone))
        assert type(LazyFigure().subplots()) is Axes
    else:
        monkeypatch.setattr(lazy_ticks, "LazyXAxis", lambda axes: None)
        assert type(LazyFigure().subplots().xaxis) is XAxis
    assert not any(differs(titled, SIZE, {"top": top}, {}) for top in (1, 2))


def test_other_axes_stay_what_they_are():
    def round_about(fig: Any, turn: float) -> str:
        fig.add_subplot(projection="polar").plot([0, turn], [0, 1])
        return f"Turned by {turn}."

    assert not any(differs(round_about, SIZE, {"turn": turn}, {}) for turn in (1, 2))


SAMPLE = {
    local_error.landing: [{"nu": nu, "xi": xi} for nu in (0.2, 0.53) for xi in (0.4, 0.9)],
    theorem.factor_curve: [{"nu": 1.0, "p": p} for p in (3, 4)],
    switch_off.touched_map: [
        {"xi": 0.432, "nu": nu, "kernel": kernel}
        for nu in (0.2, 0.53)
        for kernel in ("gaussian", "mismatch")
    ],
}


@pytest.mark.parametrize("draw", SAMPLE, ids=lambda draw: draw.__name__)
def test_figures_of_the_book_are_matplotlibs_own(draw):
    memo: dict[Any, Any] = {}
    assert not [values for values in SAMPLE[draw] if differs(draw, SIZE, values, memo)]


@pytest.mark.verify
@pytest.mark.parametrize(
    "path", sorted((ROOT / "book").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_every_frame_of_the_book_is_matplotlibs_own(path: Path, monkeypatch, verifying, verified):
    """Chapters executed as for the site, each frame of each control drawn both ways."""
    if not verifying:
        pytest.skip("some figures of the book are drawn both ways above")
    wrong, count = [], itertools.count()

    def both(draw, size, values, memo, prefix) -> Any:
        next(count)
        if difference := differs(draw, size, values, memo):
            wrong.append(f"{draw.__name__} at {values}: {difference}")
        return draw_frame(draw, size, values, memo, prefix)

    layers_agree = frame_table.FrameTable.check_layers

    def some(made: Any, draw: Any) -> None:
        layers_agree(made, draw)
        for values in itertools.islice(made.combinations(tuple(made.moving)), 0, None, 50):
            both(draw, made.size, made.defaults | values, {}, "p")

    monkeypatch.setattr(frame_table, "draw_frame", both)
    monkeypatch.setattr(frame_table.FrameTable, "check_layers", some)
    execute(path, monkeypatch)
    assert not wrong
    what = f"frames of {path.stem} that are not matplotlib's own, of {next(count)}"
    verified(what, len(wrong), 0)
