"""What LIME's coefficients are for a function of switches, and other expressions for them.

:func:`limetutor.switch_limit` takes any function. :func:`contrasts` writes a coefficient as a slope plus a
mixture of differences of means, :func:`tilted` as one such difference, for weights that are products;
:func:`long_text` has the coefficients of a model that is linear in normalised word counts.

A normalised TF-IDF vector has length 1, and still has it when words are removed: the others are
scaled up. A model that is linear in it, with weights a and the vector h of the whole text, is

    f(z) = b + sum_j a_j h_j z_j / sqrt(sum_j h_j^2 z_j),      f(0) = b,

a function of the switches that is not a sum. Chapters: images, text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ..inputs import arguments as arg
from .fits import SwitchFit, SwitchForm, SwitchRows, fit_form, fit_sampled
from .forms import MAX_ENUMERATED, Enumerated
from .switches import Line, Switches, coin_flips

MIN_CALLS = 4096  # of a function that has to be sampled, ...
CALLS_PER_SWITCH = 20  # ... and more where there are many switches


def switch_limit(
    f: SwitchForm | Callable[[np.ndarray], np.ndarray], world: Switches, *, n: int | None = None,
    ridge: float = 0.0, own_row: bool = False, calls: int | None = None, seed: Any = 0,
) -> SwitchFit:  # fmt: skip
    """What LIME's surrogate of f becomes in a world of switches.

    Parameters
    ----------
    f
        A form of :mod:`limetutor.switches` (``additive``, ``rule``, ``polynomial``, ``presence``), or
        any function from masks (m, d) of bool to m numbers. A form is exact, and so is any f of at
        most 16 switches, which is called with all 2^d masks; others are sampled, with standard errors.
    world
        By :func:`text_switches`, :func:`image_switches` or :func:`counted_switches`.
    n, ridge, own_row
        Without n the limit as samples grow. With n what a fit to n rows tends to that is penalised by
        ``ridge`` and, with ``own_row``, has the instance itself as one of its rows; `lime` has
        ``ridge=1, own_row=True`` and n = 5000 for text, 1000 for images.
    calls, seed
        How often an f that has no form is called; without it as often as enumeration or small errors
        need. The seed is that of the masks.

    Returns
    -------
    SwitchFit
        Coefficients and intercept, with standard errors where f was sampled.

    Examples
    --------
    A rule on two words of twelve: two shares, and next to nothing for the others.

    >>> import limetutor as lt
    >>> from limetutor import switches
    >>> fit = lt.switch_limit(switches.rule(12, on=[0, 1]), lt.text_switches(12))
    >>> fit.coef[:3].round(4)
    array([ 0.6524,  0.6524, -0.005 ])
    >>> fit.method
    'exact'
    """
    if not isinstance(world, Switches):
        raise TypeError(
            "world must be made by text_switches, image_switches or counted_switches, got "
            f"{arg.shorten(world)}."
        )
    rows = SwitchRows(n, ridge, arg.truth("own_row", own_row))
    calls = None if calls is None else arg.whole("calls", calls, 2, most=10**8)
    form = as_form(f, world.d, calls)
    if form is not None:
        return fit_form(form, world, rows)
    usual = max(MIN_CALLS, CALLS_PER_SWITCH * (world.d + 2))
    return fit_sampled(f, world, usual if calls is None else calls, seed, rows)


def as_form(f: Any, d: int, calls: int | None = None) -> SwitchForm | None:
    """A form as it is, and any f of few switches as the table of its values; None for others."""
    if hasattr(f, "by_level") and hasattr(f, "within"):
        return f
    if not callable(f):
        raise TypeError(
            f"f must be a form of limetutor.switches or a function of masks (m, {d}), got "
            f"{arg.shorten(f)}."
        )
    return Enumerated(f, d) if d <= MAX_ENUMERATED and (calls is None or calls >= 2**d) else None


def _needed_form(f: Any, d: int) -> SwitchForm:
    form = as_form(f, d)
    if form is None:
        raise ValueError(
            f"f must be a form for {d} switches; others need at most {MAX_ENUMERATED}."
        )
    return form


@dataclass(frozen=True)
class Contrasts:
    """A coefficient as a slope on the number of switches that are on, plus a mixture of contrasts.

    ``slope`` is that of the means F_k of f on k: what the switches do together. ``difference``
    (d, d + 1) is E[f | k, z_j = 1] - E[f | k, z_j = 0], and 0 for k = 0 and d; ``share`` (d + 1,) is
    the law of k that mixes them, proportional to m_k k (d - k). A switch that f ignores has contrasts
    too, since at equal k it replaces others. The slope cancels them if f is a sum or the weights are
    products, in general not otherwise.
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
    """The coefficients of a form, or of any f of at most 16 switches: a slope and a mixture of contrasts.

    For independent switches a coefficient is one difference of means, under the tilted law
    (:func:`tilted`). Exchangeable ones depend on each other through their number k alone: given k the
    difference of means says how a switch departs from the others, and the slope on k what all of
    them have in common. The coefficient mixes the former over k and adds the latter:

        beta_j = slope(F on k) + (1 - 1/d) sum_k share_k (E[f | k, z_j = 1] - E[f | k, z_j = 0]).

    From H_jk = k (d - k) / d^2 times that difference, :mod:`limetutor.switches.fits`. Chapter: text.
    """
    world.refuse_unidentified()
    d = world.d
    form = _needed_form(f, d)
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
    independent switches tilt, exchangeable ones mix over the count (:func:`contrasts`). It is
    :func:`mean_differences` with the shares Binomial(d - 1, alpha)_k, for a form, or for any f of at
    most 16 switches, whose number d must then be given.
    """
    alpha = arg.probability("alpha", alpha)
    d = arg.whole("d", getattr(f, "d", d), 1)
    others = np.exp(coin_flips(d - 1, alpha).log_share) if d > 1 else np.ones(1)
    return mean_differences(_needed_form(f, d), others)


def mean_differences(form: SwitchForm, share: np.ndarray) -> np.ndarray:
    """sum_k share_k (mean of f with switch j and k others on - with k others on and j off), (d,).

    ``share`` (d,) is for k = 0..d - 1. All of it at d - 1 is occlusion, equal shares are Shapley
    values, those of Binomial(d - 1, 1/2) Banzhaf values. From E[f | k, z_j = 1] = F_k + H_jk d / k and
    E[f | k, z_j = 0] = F_k - H_jk d / (d - k), :mod:`limetutor.switches.fits`. Chapter: images.
    """
    d, k = form.d, np.arange(form.d)
    weights = np.zeros(d + 1)
    weights[1:] += share * d / (k + 1)
    weights[:-1] += share * d / (d - k)
    return form.within(weights) + share @ np.diff(form.by_level())


class NormFactors(NamedTuple):
    """By how much LIME magnifies a normalised linear model: word against word, and all together."""

    apart: float
    together: float


def norm_factors(world: Switches) -> NormFactors:
    """The two factors of a world, with v = k/d the share of the words that stay and m its measure:

    apart = sum m sqrt(v) (1 - v) / sum m v (1 - v), together = the slope of sqrt(v) on v under m.
    In the text they are kappa and kappa'. Where all h_j are equal, beta is exactly
    (apart (a_j - mean a) + together mean a) / sqrt(d). Chapter: text.
    """
    world.refuse_unidentified()
    v = world.levels
    m = np.exp(world.log_measure - np.max(world.log_measure))
    line = Line.through(np.arange(world.d + 1), world.log_measure)
    between = m @ (v * (1 - v))
    apart = m @ (np.sqrt(v) * (1 - v)) / between if between else np.nan
    return NormFactors(float(apart), line.slope(np.sqrt(v)) * world.d)


def long_text(a: ArrayLike, h: ArrayLike, world: Switches) -> np.ndarray:
    """LIME's coefficients of a normalised linear model where the text is long, (d,):

    beta_j ~ kappa (a_j h_j - f h_j^2 / 2) + (kappa' - kappa / 2) f / d,  f = sum a h = f(xi) - b.
    ``h`` has length 1. Exact for equal h; else the error falls faster than the numbers themselves as
    the text grows and no word has more than a few times its share of the length. Chapter: text.
    """
    a = arg.vector("a", a, world.d, " like the world")
    h = arg.vector("h", h, world.d, " like the world")
    if abs(h @ h - 1) > 1e-9:
        raise ValueError(f"h must have length 1, got one of length {np.sqrt(h @ h):.6g}.")
    apart, together = norm_factors(world)
    f = a @ h
    return apart * (a * h - f * h**2 / 2) + (together - apart / 2) * f / world.d
