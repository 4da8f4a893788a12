"""The welcome page: the whole story in one picture."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ..experiments import running_example
from ..limits import limit
from .style import color, new_figure, styled


def story(fig: Figure, nu: float) -> str:
    """What LIME says about f(x) = 10 x1 - 10 x2 at one bandwidth, feature by feature."""
    f, xi, world = running_example()
    coef = limit(f, xi, world, nu).coef
    ax = fig.subplots()
    places = np.arange(1, len(coef) + 1)
    ax.axhline(0, color=color.muted, lw=1)
    colors = [color.positive if value >= 0 else color.negative for value in coef]
    ax.bar(places, coef, color=colors, width=0.62)
    ax.plot(places, f.a, "_", color=color.ink, ms=22, mew=2.4)
    ax.set(xlim=(0.4, 10.6), ylim=(-11, 18), xticks=places)
    ax.set(xlabel="feature", ylabel="coefficient")
    second = "is switched off" if abs(coef[1]) < 0.05 else f"gets {coef[1]:+.2f}"
    return (
        f"At ν = {nu:.2f} LIME gives feature 1 the coefficient {coef[0]:+.2f}; feature 2 {second}."
    )


@styled
def cover(nu: float = 0.53) -> Figure:
    """The picture of the README: :func:`story` at the bandwidth that hides feature 2."""
    fig = new_figure((6.4, 3.6))
    story(fig, nu)
    return fig
