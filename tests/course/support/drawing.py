"""Draw a figure of the course as a page does, and look at what it says or shows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from limetutor.plotting.style import new_figure, styled


def drawn(draw: Callable[..., str], *values: Any, **named: Any) -> tuple[str, Figure]:
    """The sentence of a figure with these settings, and the figure."""
    fig = new_figure()
    return styled(draw)(fig, *values, **named), fig


def said(draw: Callable[..., str], *values: Any, **named: Any) -> str:
    """The sentence alone."""
    return drawn(draw, *values, **named)[0]


def in_colour(ax: Axes, hue: str, marker: str | None = None) -> list[Line2D]:
    """The lines of a colour, those with a marker if one is given."""
    found = [line for line in ax.lines if line.get_color() == hue]
    return [line for line in found if marker is None or line.get_marker() == marker]


def xy(line: Line2D) -> np.ndarray:
    """The points of a line, (n, 2), gaps left out."""
    points = np.column_stack([np.ravel(line.get_xdata()), np.ravel(line.get_ydata())]).astype(float)
    return points[np.all(np.isfinite(points), axis=1)]
