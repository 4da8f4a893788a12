"""Chapter *discretization*: quantile boxes, indicators, and the patients that LIME makes up."""

from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.boxes import Boxes
from ...interactive.layers import in_layers
from ...lime.empirical import Empirical
from ...plotting.style import color
from ...precision.gaussian_and_tilted_samplers import sampler
from ..datasets import diabetes
from . import parts

PATIENT = 13  # the row of the table that Part I explains


@cache
def _column(name: str) -> np.ndarray:
    return diabetes().X[name].to_numpy()


@cache
def _boxes(name: str, p: int = 4) -> Boxes:
    return Empirical(_column(name)[:, None], p=p).boxes()


def box_numbers(name: str, values: np.ndarray, p: int = 4) -> np.ndarray:
    """The boxes of some values of a column of the diabetes table, counted from 0."""
    return _boxes(name, p).discretize(np.asarray(values, float)[:, None])[:, 0]


def _ends(name: str, value: float, p: int = 4) -> tuple[float, float]:
    """The ends of the box of a value."""
    return _boxes(name, p).ends(0, int(box_numbers(name, np.array([value]), p)[0]))


def phrase(name: str, value: float, p: int = 4) -> str:
    """The box of a value in the words of `lime`, with two decimals."""
    lo, hi = _ends(name, value, p)
    if not np.isfinite(lo):
        return f"{name} ≤ {hi:.2f}"
    return f"{lo:.2f} < {name} ≤ {hi:.2f}" if np.isfinite(hi) else f"{name} > {lo:.2f}"


# --- boxes of one column ---------------------------------------------------------------------

BMI = (17.0, 43.0)


def _histogram(fig: Figure) -> Axes:
    ax = fig.subplots()
    counts, cuts = np.histogram(_column("bmi"), bins=np.arange(17, 44))
    ax.fill_between(*parts.steps(cuts, counts), color=color.muted, alpha=0.45, lw=0)
    ax.set(xlim=BMI, ylim=(0, 60), xlabel="body mass index", ylabel="patients")
    return ax


@in_layers(
    _histogram,
    lambda ax, p: ax.plot(*parts.lines(_boxes("bmi", p).edges[0], 0, 60), color=color.box, lw=1.4),
    lambda ax, p, patient: ax.axvspan(
        *np.clip(_ends("bmi", patient, p), *BMI), color=color.box, alpha=0.2, lw=0
    ),
    lambda ax, patient: parts.instance(ax, patient, 0, ms=10, control="patient"),
)
def body_mass(p: int, patient: float) -> str:
    """A histogram of the body mass index, its p quantile boxes, and the box of one patient."""
    own = box_numbers("bmi", np.array([patient]), p)[0]
    inside = int(np.sum(box_numbers("bmi", _column("bmi"), p) == own))
    everyone = len(_column("bmi"))
    return (
        f"With p = {p} boxes, a body mass index of {patient:.1f} becomes “{phrase('bmi', patient, p)}”, "
        f"box {own + 1} of {p}, which holds {inside} of the {everyone} patients ({inside / everyone:.0%})."
    )


# --- the same box as the patient? ------------------------------------------------------------

SAMPLES = 100
BP = (60.0, 135.0)
BAR = {"bmi": 1.7, "bp": 0.3}  # half the length of the upright bars, and of the level ones


@cache
def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples of all ten features as `lime` draws them, and their indicators for patient 13."""
    X = diabetes().X
    boxes = Empirical(X, p=4).boxes()
    return sampler("bins", boxes, X.to_numpy()[PATIENT])(np.random.default_rng(0), n)


@cache
def sampled(name: str, n: int = SAMPLES) -> np.ndarray:
    """One feature of the samples."""
    return samples(n)[0][:, list(diabetes().X.columns).index(name)]


def _plane(fig: Figure) -> Axes:
    ax = fig.subplots()
    ax.plot(*parts.lines(_boxes("bmi").edges[0], *BP), color=color.box, lw=1.2)
    ax.plot(*parts.lines(_boxes("bp").edges[0], *BMI)[::-1], color=color.box, lw=1.2)
    ax.plot(sampled("bmi"), sampled("bp"), "o", mfc=color.paper, mec=color.sample, ms=9.5, mew=0.8)
    ax.set(xlim=BMI, ylim=BP, xlabel="body mass index", ylabel="blood pressure")
    return ax


def _bars(ax: Axes, name: str, value: float) -> None:
    """A bar in the mark of each sample that shares the box of the value: upright for a column."""
    own, of_value = box_numbers(name, sampled(name)), box_numbers(name, np.array([value]))
    at, across = (sampled(n)[own == of_value] for n in (name, "bp" if name == "bmi" else "bmi"))
    bars = parts.lines(at, across - BAR[name], across + BAR[name])
    ax.plot(*(bars if name == "bmi" else bars[::-1]), color=color.sample, lw=2.4)


@in_layers(
    _plane,
    lambda ax, bmi: ax.axvspan(
        *np.clip(_ends("bmi", bmi), *BMI), color=color.box, alpha=0.16, lw=0
    ),
    lambda ax, bp: ax.axhspan(*np.clip(_ends("bp", bp), *BP), color=color.box, alpha=0.16, lw=0),
    lambda ax, bmi: _bars(ax, "bmi", bmi),
    lambda ax, bp: _bars(ax, "bp", bp),
    lambda ax, bmi, bp: parts.on_map(ax, bmi, bp, "bmi", "bp"),
)
def same_box(bmi: float, bp: float) -> str:
    """Samples in the plane of two features, and which of them share the patient's boxes."""
    first, second = indicators(bmi, bp).T
    both, one = int(np.sum(first & second)), int(np.sum(first ^ second))
    return (
        f"Of {SAMPLES} samples, {both} share both boxes with the patient, {one} share one of them, "
        f"and {SAMPLES - both - one} share neither."
    )


def indicators(bmi: float, bp: float) -> np.ndarray:
    """Whether each sample is in the box of the patient along the two features, (SAMPLES, 2)."""
    return np.column_stack(
        [
            box_numbers(name, sampled(name)) == box_numbers(name, np.array([value]))
            for name, value in (("bmi", bmi), ("bp", bp))
        ]
    )


# --- made-up patients ------------------------------------------------------------------------

TOTAL, LDL = (80.0, 310.0), (30.0, 250.0)


@cache
def impossible() -> np.ndarray:
    """Whether the LDL cholesterol of a sample exceeds its total cholesterol, of which it is a part."""
    return sampled("s2") > sampled("s1")


def _cholesterol(fig: Figure) -> Axes:
    ax = fig.subplots()
    ax.fill_between(LDL, LDL, LDL[1], color=color.alarm, alpha=0.1, lw=0)
    parts.named(ax, 86, 238, "more LDL than total", color.alarm)
    parts.named(ax, 306, 236, "patients", color.muted, ha="right")
    parts.named(ax, 306, 48, "samples", color.sample, ha="right")
    ax.plot(_column("s1"), _column("s2"), "o", color=color.muted, ms=3.2, mew=0, alpha=0.6)
    total, ldl = sampled("s1"), sampled("s2")
    for which, hue, mark in ((~impossible(), color.sample, "o"), (impossible(), color.alarm, "X")):
        ax.plot(total[which], ldl[which], mark, color=hue, ms=6, mew=0)
    ax.set(xlim=TOTAL, ylim=LDL, xlabel="total cholesterol s1", ylabel="LDL cholesterol s2")
    return ax


def _this_one(ax: Axes, sample: int) -> None:
    hue = color.alarm if impossible()[sample - 1] else color.sample
    at = sampled("s1")[sample - 1], sampled("s2")[sample - 1]
    ax.plot(*at, "o", mfc="none", mec=hue, ms=17, mew=2.4)


@in_layers(_cholesterol, _this_one)
def made_up(sample: int) -> str:
    """Patients and samples, total cholesterol against its LDL part; one sample in words."""
    age, bmi, total, ldl = (sampled(name)[sample - 1] for name in ("age", "bmi", "s1", "s2"))
    shared = int(samples(SAMPLES)[1][sample - 1].sum())
    verdict = ", which is impossible" if impossible()[sample - 1] else ""
    return (
        f"Sample {sample}: {age:.0f} years old, body mass index {bmi:.1f}, total cholesterol "
        f"{total:.0f}, LDL {ldl:.0f}{verdict}. It shares {shared} of ten boxes with patient {PATIENT}."
    )
