"""What dividing by the length of the vector does to the words of a linear model.

A normalised TF-IDF vector has length 1, and still has it when words are taken out: those that stay
are scaled up. A model that is linear in it, with weights a and the vector h of the whole text, is

    f(z) = b + sum_j a_j h_j z_j / sqrt(sum_j h_j^2 z_j),      f(0) = b,

a function of the switches that is not a sum. Chapter: text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import arguments as arg
from .switches import Line, Switches


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
