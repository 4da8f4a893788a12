"""One call for every function of switches, and the two faces of what it returns.

Chapters: images, text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from .. import arguments as arg
from .fits import SwitchFit, SwitchForm, SwitchRows, fit_form
from .forms import MOST, Enumerated
from .sampling import fit_sampled
from .switches import Line, Switches, coin_flips

CALLS = 4096  # of a function that has to be sampled, ...
CALLS_A_SWITCH = 20  # ... and more where there are many switches


def switch_limit(
    f: SwitchForm | Callable[[np.ndarray], np.ndarray],
    world: Switches,
    *,
    n: int | None = None,
    ridge: float = 0.0,
    own_row: bool = False,
    calls: int | None = None,
    seed: Any = 0,
) -> SwitchFit:
    """What LIME's surrogate of f becomes in a world of switches.

    Parameters
    ----------
    f
        A form of :mod:`limetutor.masks` (``additive``, ``rule``, ``polynomial``, ``presence``), or any
        function from masks (m, d) of bool to m numbers. A form is exact, and so is any f of at most 16
        switches, which is asked about all 2^d masks; others are sampled, with standard errors.
    world
        By :func:`text_switches`, :func:`image_switches` or :func:`counted_switches`.
    n, ridge, own_row
        Without n the limit as samples grow. With n what a fit to n rows tends to that is penalised by
        ``ridge`` and, with ``own_row``, has the instance itself as one of its rows; `lime` has
        ``ridge=1, own_row=True`` and n = 5000 for text, 1000 for images.
    calls, seed
        How often an f that has no form is called; without it as often as enumeration or small errors
        need. The seed is that of the masks.

    Examples
    --------
    A rule on two words of twelve: two shares, and next to nothing for the others.

    >>> import limetutor as lt
    >>> from limetutor import masks
    >>> found = lt.switch_limit(masks.rule(12, on=[0, 1]), lt.text_switches(12))
    >>> found.coef[:3].round(4)
    array([ 0.6524,  0.6524, -0.005 ])
    >>> found.method
    'exact'
    """
    if not isinstance(world, Switches):
        raise TypeError(
            "world must be made by text_switches, image_switches or counted_switches, got "
            f"{arg.shorten(world)}."
        )
    rows = SwitchRows(n, ridge, arg.truth("own_row", own_row))
    asked = None if calls is None else arg.whole("calls", calls, 2, most=10**8)
    form = known(f, world.d, asked)
    if form is not None:
        return fit_form(form, world, rows)
    many = max(CALLS, CALLS_A_SWITCH * (world.d + 2)) if asked is None else asked
    return fit_sampled(f, world, many, seed, rows)


def known(f: Any, d: int, calls: int | None = None) -> SwitchForm | None:
    """A form as it is, and any f of few switches as the table of its values; None for others."""
    if hasattr(f, "by_level") and hasattr(f, "within"):
        return f
    if not callable(f):
        raise TypeError(
            f"f must be a form of limetutor.masks or a function of masks (m, {d}), got "
            f"{arg.shorten(f)}."
        )
    return Enumerated(f, d) if d <= MOST and (calls is None or calls >= 2**d) else None


# --- two faces -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contrasts:
    """A coefficient as a difference of means, mixed over how many switches are on.

    ``slope`` is that of the means F_k of f on k: what the switches do together. ``difference``
    (d, d + 1) is E[f | k, z_j = 1] - E[f | k, z_j = 0], and 0 for k = 0 and d; ``share`` (d + 1,) is
    the law of k that mixes them, proportional to m_k k (d - k).
    """

    slope: float
    difference: np.ndarray
    share: np.ndarray

    @property
    def coef(self) -> np.ndarray:
        """beta_j = slope + (1 - 1/d) sum_k share_k difference_jk, (d,)."""
        d = len(self.difference)
        return self.slope + (1 - 1 / d) * self.difference @ self.share


def contrasts(f: Any, world: Switches) -> Contrasts:
    """The coefficients of a form, or of any f of at most 16 switches, as differences of means.

    For independent switches a coefficient is one difference of means, under the tilted law
    (:func:`tilted`). Exchangeable ones depend on each other through their number k alone: given k the
    difference of means says how a switch departs from the others, and the slope on k what all of
    them have in common. The coefficient mixes the former over k and adds the latter:

        beta_j = slope(F on k) + (1 - 1/d) sum_k share_k (E[f | k, z_j = 1] - E[f | k, z_j = 0]).

    From H_jk = k (d - k) / d^2 times that difference, :mod:`limetutor.masks.fits`. Chapter: text.
    """
    world.refuse_unidentified()
    d = world.d
    form = known(f, d)
    if form is None:
        raise ValueError(f"f must be a form for {d} switches; others need at most {MOST}.")
    k = np.arange(d + 1)
    line = Line.through(k, world.log_measure)
    with np.errstate(divide="ignore"):
        log_share = world.log_measure + np.log(k * (d - k))
    share = np.exp(log_share - scipy.special.logsumexp(log_share)) if d > 1 else np.zeros(2)
    difference = np.zeros((d, d + 1))
    for level in range(1, d):
        difference[:, level] = form.within((k == level) * (d**2 / (level * (d - level))))
    return Contrasts(line.slope(form.by_level()), difference, share)


def tilted(f: Any, alpha: float, d: int | None = None) -> np.ndarray:
    """E[f | z_j = 1] - E[f | z_j = 0] where d independent switches are on with probability alpha, (d,).

    That is what LIME computes where the weight is a product (paper, Theorem 3.1 and its tilted law):
    independent switches tilt, exchangeable ones mix over the count (:func:`contrasts`). Summed over k,

        beta_j = sum_k Binomial(d - 1, alpha)_k (mean of f with j and k others - without j),

    for a form, or for any f of at most 16 switches, whose number d must then be given.
    """
    alpha = arg.probability("alpha", alpha)
    d = arg.whole("d", getattr(f, "d", d), 1)
    form = known(f, d)
    if form is None:
        raise ValueError(f"f must be a form for {d} switches; others need at most {MOST}.")
    k = np.arange(d + 1)
    share = np.exp(coin_flips(d, alpha).log_share)
    # E[f z_j] = sum share (H_jk + F_k k/d), and z_j is on with probability alpha
    with_j = form.within(share) + share @ (form.by_level() * k / d)
    return with_j / alpha - (share @ form.by_level() - with_j) / (1 - alpha)
