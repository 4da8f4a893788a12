"""One look for every figure of the book.

Colours are named by what they stand for, not by hue: ``color.xi`` is the example being explained,
``color.surrogate`` what LIME fits.  Each role has a light and a dark shade.  Figures are drawn in
the light shades; on a page the shades become CSS variables and follow the reader's theme.

A figure function draws on a figure it is given or makes one with :func:`new_figure`; either way
the axes must be created inside the style, so decorate it with :func:`styled`::

    @styled
    def two_curves() -> Figure:
        fig = new_figure((6.4, 3.6))
        ax = fig.subplots()
        ax.plot(x, y, color=color.surrogate, label="surrogate")
        return fig

Prefer Unicode (ν, ξ, β₁) to mathtext in labels: it stays text on the page and takes its font.  What
comes from outside, such as the name of a column, goes through :func:`plain`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from threading import RLock
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from .page import visible
from .palette import PALETTE, as_variables

P = ParamSpec("P")
R = TypeVar("R")

color = SimpleNamespace(**{role: light for role, (light, _) in PALETTE.items()})
color.positive, color.negative = color.surrogate, color.against
color.__doc__ = "Colours by role: color.ink, color.xi, color.surrogate, …"

# The fonts that the book's pages show, so that text is measured as it will be seen.
for _font in sorted((Path(__file__).parent / "fonts").glob("*.ttf")):
    fontManager.addfont(_font)
# The Greek letters have one weight, which matplotlib would remark upon at every bold text.
fontManager.ttflist += [
    replace(font, weight=700) for font in fontManager.ttflist if font.name == "Lime Greek"
]

RC: dict[Any, Any] = {
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    # Fixed margins: constrained layout costs 50 ms a frame and moves the axes between frames.
    "figure.subplot.left": 0.125, "figure.subplot.right": 0.975,
    "figure.subplot.bottom": 0.185, "figure.subplot.top": 0.955,
    "figure.subplot.wspace": 0.32, "figure.subplot.hspace": 0.4,
    # Large enough to be read on a phone, where the picture shrinks by a fifth.
    "font.family": ["Lime Sans", "Lime Greek", "DejaVu Sans"],
    "font.size": 12.5, "axes.labelsize": 13, "axes.titlesize": 13,
    "xtick.labelsize": 12, "ytick.labelsize": 12, "legend.fontsize": 12,
    "text.color": color.ink, "axes.labelcolor": color.ink, "axes.edgecolor": color.muted,
    "xtick.color": color.muted, "ytick.color": color.muted,
    "xtick.labelcolor": color.ink, "ytick.labelcolor": color.ink,
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "axes.unicode_minus": True,
    # roles that claim nothing of a feature
    "axes.prop_cycle": cycler(color=[color.surrogate, color.ink, color.muted]),
    "axes.grid": False, "grid.color": color.grid, "grid.linewidth": 0.8,
    "legend.frameon": False, "lines.linewidth": 2, "image.cmap": "cividis",
    "patch.edgecolor": color.ink,
    # The same elements in the same order in every frame: stable ids, no point left out.
    "svg.hashsalt": "limetutor", "svg.fonttype": "none", "path.simplify": False,
    # What `plain` escapes is read as it expects, whatever the user's own settings are.
    "text.usetex": False, "text.parse_math": True,
}  # fmt: skip

# rcParams are global: a thread that entered the style while another was in it would take the style
# for the user's own settings, and restore it as such in the end.
_in_style = RLock()


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Run ``function`` in the book's style, one thread at a time, and restore the user's rcParams."""

    @wraps(function)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> R:
        with _in_style, mpl.rc_context(RC):
            return function(*args, **kwargs)

    return in_style


@styled
def new_figure(size: Sequence[float] = (6.4, 3.6)) -> Figure:
    """A new figure in the book's style, ``size`` in inches, not managed by pyplot."""
    return Figure(figsize=(size[0], size[1]))


def plain(text: object) -> str:
    r"""Escape ``text`` so that matplotlib prints it letter for letter.

    Matplotlib reads what stands between two dollar signs as a formula, so that the name
    ``price ($) / cost ($)`` would lose its dollars or fail; ``\$`` is its word for a plain one.

    >>> print(plain("price ($) / cost ($)"))
    price (\$) / cost (\$)
    """
    return visible(text).replace("$", r"\$")


def as_css_variable(hex_color: str) -> str:
    """``#c8102e`` → ``var(--lt-xi,#c8102e)``; a colour that is no role stays as it is."""
    role = _ROLE_OF.get(hex_color.lower())
    return f"var(--lt-{role},{hex_color})" if role else hex_color


_ROLE_OF = {light: role for role, (light, _) in PALETTE.items()}

# Selectors of a dark page: the book, JupyterLab, Colab, VS Code.
_DARK = (
    "html[data-theme=dark]", "body[data-jp-theme-light=false]", "html[theme=dark]",
    "body.vscode-dark",
)  # fmt: skip


def theme_css() -> str:
    """The palette as CSS rules: light by default and on paper, dark where the page is dark."""
    light, dark = as_variables(0), as_variables(1)
    dark_pages = ",".join(f"{page} .lt-figure" for page in _DARK)
    return f".lt-figure{{{light}}}\n@media not print{{{dark_pages}{{{dark}}}}}\n"
