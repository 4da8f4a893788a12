"""The welcome page: the whole story in one picture."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.theory import limit
from ...plotting.results import by_sign
from ...plotting.style import color, new_figure, styled
from ..experiments import running_example
from .parts import signed


def story(fig: Figure, nu: float) -> str:
    """What LIME says about f(x) = 10 x1 - 10 x2 at one bandwidth, feature by feature."""
    coef = _bars(fig.subplots(), nu)
    beside = "agrees with" if coef[1] < 0 else "opposes"
    second = f"gets {signed(coef[1], plus=True)}, whose sign {beside} that of its slope, −10"
    if abs(coef[1]) < 0.05:
        second = "is switched off"
    first = f"LIME gives feature 1 the coefficient {coef[0]:+.2f}"
    return f"At ν = {nu:.2f} {first}; feature 2 {second}."


def _bars(ax: Axes, nu: float) -> np.ndarray:
    """Coefficients as bars, the slopes of the model as dashes."""
    f, xi, world = running_example()
    coef = limit(f, xi, world, nu).coef
    places = np.arange(1, len(coef) + 1)
    ax.axhline(0, color=color.muted, lw=1)
    ax.bar(places, coef, color=by_sign(coef), width=0.62)
    ax.plot(places, f.a, "_", color=color.ink, ms=16, mew=2.4)
    ax.set(xlim=(0.4, 10.6), ylim=(-11, 18), xticks=places)
    ax.set(xlabel="feature", ylabel="coefficient")
    return coef


@styled
def cover() -> Figure:
    """The picture of the README: the same model, two bandwidths (written by tools/cover.py)."""
    fig = new_figure((8.4, 3.4))
    fig.subplots_adjust(left=0.09, top=0.89, wspace=0.12)
    left, right = fig.subplots(1, 2, sharey=True)
    for ax, nu in ((left, 1.0), (right, 0.53)):
        _bars(ax, nu)
        ax.set_title(f"bandwidth ν = {nu:g}")
    right.set_ylabel("")
    arrow = {"arrowstyle": "->", "color": color.alarm, "lw": 1.6}
    right.annotate("feature 2 is gone", (2, -0.4), (3.6, -7), color=color.alarm, arrowprops=arrow)
    return fig
