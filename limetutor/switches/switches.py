"""d switches that are on or off, drawn and weighted by how many are on.

`lime` explains a text by removing words and an image by hiding superpixels. Word or superpixel j is
a switch, z_j = 1 while it is present; a mask is one vector z. Given how many switches are on, every
set of that many is equally likely, and the weight depends on the number alone. A world of switches
is therefore two numbers for each k = 0..d: the probability that k are on, and the weight of such a
mask. The z_j are not independent as in a table: they are exchangeable, a mixture over k.

With m the measure that gives k the mass share_k weight_k, and k! / (k - p)! written (k)_p,

    alpha_p = E[pi z_1 ... z_p] = sum_k m_k (k)_p / (d)_p
    Sigma = [[alpha_0, alpha_1 1'], [alpha_1 1, (alpha_1 - alpha_2) I + alpha_2 11']].

Sigma has one eigenspace for what the switches do together and one for how they differ. In the
first the surrogate is the straight line through the means of f given k, in the second each switch
has the variance alpha_1 - alpha_2. That is how :mod:`limetutor.switches.fits` inverts it.

The alphas and the inverse are those of Garreau and Mardaoui (images, ICML 2021) and Mardaoui and
Garreau (text, AISTATS 2021). Chapters: images, text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import comb
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ..inputs import arguments as arg

Function = Callable[[np.ndarray], np.ndarray]

MAX_FACTORS = 64  # of a product of probabilities that is multiplied out
MAX_SWITCHES = 100_000
KERNEL_WIDTH = 0.25  # of `lime` for images; for text it says 25 and multiplies distances by 100


@dataclass(frozen=True, eq=False)
class Switches:
    """A world of d switches; made by :func:`text_switches`, :func:`image_switches` or :func:`counted_switches`.

    ``log_share`` (d + 1,) is the log of the probability that k of them are on, ``log_weight`` that
    of the weight of such a mask; -inf where there is none.

    Examples
    --------
    >>> round(text_switches(4).alpha(1), 3)
    0.234
    """

    d: int
    log_share: np.ndarray
    log_weight: np.ndarray

    @property
    def log_measure(self) -> np.ndarray:
        """Log of share times weight, (d + 1,)."""
        return self.log_share + self.log_weight

    @property
    def log_C(self) -> float:
        """Log C = log E[pi], the mean weight."""
        return float(scipy.special.logsumexp(self.log_measure))

    @property
    def levels(self) -> np.ndarray:
        """k / d for k = 0..d."""
        return np.arange(self.d + 1) / self.d

    @cached_property
    def log_between(self) -> np.ndarray:
        """Log of m_k E[z_1 (1 - z_2) | k] = m_k k (d - k) / (d (d - 1)), (d + 1,).

        Its sum is alpha_1 - alpha_2, without the difference.
        """
        k = np.arange(self.d + 1)
        with np.errstate(divide="ignore"):
            return self.log_measure + np.log(k * (self.d - k) / max(self.d * (self.d - 1), 1))

    def powered(self, power: float) -> Switches:
        """The same switches, with every weight to this power: 0 for all masks alike."""
        with np.errstate(invalid="ignore"):
            log_weight = np.where(self.log_weight == -np.inf, -np.inf, power * self.log_weight)
        return replace(self, log_weight=log_weight if power else np.zeros(self.d + 1))

    def alpha(self, p: int) -> float:
        """alpha_p = E[pi z_1 ... z_p]: the mean weight of masks in which p given switches are on."""
        p = arg.whole("p", p, 0, most=self.d)
        return float(np.exp(self.log_measure) @ pattern_share(self.d, p, 0))

    def covariance(self) -> np.ndarray:
        """Sigma = E[pi z z'] with a leading 1 in z, (d + 1, d + 1). Chapters: images, text."""
        one = self.alpha(1)
        result = np.full((self.d + 1, self.d + 1), self.alpha(2) if self.d > 1 else one)
        result[0] = result[:, 0] = one
        np.fill_diagonal(result, one)
        result[0, 0] = self.alpha(0)
        return result

    def inverse_covariance(self) -> np.ndarray:
        """Sigma^-1 in closed form, (d + 1, d + 1).

        With a and v mean and variance of k under m, C its mass and D = alpha_1 - alpha_2:
        corner (1 + a^2/v) / C, beside it -a / (C v), elsewhere 1 / (C v) + (1{j = l} - 1/d) / D.
        Chapters: images, text.
        """
        self.refuse_unidentified()
        line = Line.through(np.arange(self.d + 1), self.log_measure)
        with np.errstate(over="ignore", invalid="ignore"):
            scale = np.exp(-line.log_mass)
            mean, precision = line.mean, scale * np.exp(-line.log_variance)
            result = np.full((self.d + 1, self.d + 1), precision)
            if self.d > 1:
                within = np.exp(-scipy.special.logsumexp(self.log_between))
                result += within * (np.eye(self.d + 1) - 1 / self.d)
            result[0] = result[:, 0] = -mean * precision
            result[0, 0] = scale + mean**2 * precision
        if not np.all(np.isfinite(result)):
            raise ValueError(
                "nu must leave entries of the inverse below 1e308, got some beyond it: nearly all "
                "weight is on masks that are all on or all off."
            )
        return result

    def refuse_unidentified(self) -> None:
        """Refuse a law under which the surrogate is not determined by f."""
        possible = np.isfinite(self.log_measure)
        between = self.d == 1 or np.any(possible[1:-1])
        if np.sum(possible) < 2 or not between:
            raise ValueError(
                f"shares must leave at least two numbers of switches possible, one of them between "
                f"0 and {self.d}, or the surrogate is not determined; possible are "
                f"{arg.shorten(np.flatnonzero(possible))}."
            )


def pattern_share(d: int, on: int, off: int) -> np.ndarray:
    """P(``on`` given switches are on and ``off`` others are off | k), for k = 0..d, (d + 1,).

    (k)_on (d - k)_off / (d)_(on + off), as a product of ratios below 1.
    """
    k = np.arange(d + 1.0)
    share = np.ones(d + 1)
    for i in range(on):
        share *= np.maximum(k - i, 0) / (d - i)
    for i in range(off):
        share *= np.maximum(d - k - i, 0) / (d - on - i)
    return share


def count_share(d: int, on: int, off: int) -> np.ndarray:
    """P(exactly ``on`` of ``on + off`` given switches are on | k), for k = 0..d, (d + 1,).

    C(m, on) times :func:`pattern_share`, m = on + off, and so C(k, on) C(d - k, off) / C(d, m): for
    many switches from logs of factorials, since the two factors are beyond the range of a double.
    """
    m = on + off
    if m <= MAX_FACTORS:
        return comb(m, on) * pattern_share(d, on, off)
    log = log_factorials(d)
    k = np.arange(on, d - off + 1)
    chances = log[k] - log[k - on] + log[d - k] - log[d - k - off]
    chances += log[m] - log[on] - log[off] + log[d - m] - log[d]
    result = np.zeros(d + 1)
    result[k] = np.exp(chances)
    return result


@dataclass(frozen=True)
class Line:
    """A weighted mean and variance of k that keep their digits when one k has nearly all the weight.

    Differences are taken from the heaviest entry and measured in the weight of the second heaviest:
    at small bandwidths the two may differ by more than a double can hold.
    """

    log_mass: float
    mean: float
    log_variance: float
    first: int  # the heaviest entry
    tilt: np.ndarray  # weight times (k - mean), in units of the second weight; 0 for the first
    log_second: float
    weight: np.ndarray  # in the weight of the first

    @classmethod
    def through(cls, k: ArrayLike, log_weight: np.ndarray) -> Line:
        """The line through entries at k with these weights."""
        k = np.asarray(k, float)
        first = int(np.argmax(log_weight))
        others = np.arange(len(k)) != first
        second = float(np.max(log_weight[others]))
        u = np.where(others, np.exp(np.where(others, log_weight, -np.inf) - second), 0.0)
        ratio = float(np.exp(second - log_weight[first]))
        mass = 1 + ratio * u.sum()
        moment = u @ (k - k[first])
        shift = ratio * moment / mass  # of the mean from the first
        centred = k - k[first] - shift
        squares = u @ centred**2 + ratio * (moment / mass) ** 2
        return cls(
            log_mass=float(log_weight[first] + np.log(mass)), mean=float(k[first] + shift),
            log_variance=float(np.log(squares) + second - log_weight[first] - np.log(mass)),
            first=first, tilt=u * centred, log_second=second,
            weight=np.where(others, ratio * u, 1.0) / mass,
        )  # fmt: skip

    def slope(self, values: np.ndarray, log_penalty: float = -np.inf) -> float:
        """Slope of the values on k; the penalty is what ridge adds to the weighted sum of squares."""
        rise = self.tilt @ (values - values[self.first])
        log_square = self.log_variance + self.log_mass - self.log_second
        with np.errstate(over="ignore"):
            return float(rise / (np.exp(log_square) + np.exp(log_penalty - self.log_second)))

    def average(self, values: np.ndarray) -> float:
        """Weighted mean of the values."""
        first = values[self.first]
        return float(first + self.weight @ (values - first))


def text_switches(d: int, nu: float = KERNEL_WIDTH) -> Switches:
    """Words as `lime` removes them: how many, uniform on 1..d; which, uniform. Chapter: text.

    Parameters
    ----------
    d, nu
        Number of words, and the width of the kernel: `lime`'s kernel_width over 100.

    Returns
    -------
    Switches
        The world, for :func:`limetutor.switch_limit`.

    Examples
    --------
    >>> text_switches(4).covariance().round(2)[:2]
    array([[0.38, 0.23, 0.23, 0.23, 0.23],
           [0.23, 0.23, 0.13, 0.13, 0.13]])
    """
    d = arg.whole("d", d, 1, most=MAX_SWITCHES)
    log_share = np.full(d + 1, -np.log(d))
    log_share[d] = -np.inf
    return Switches(d, log_share, cosine_log_weight(d, nu))


def image_switches(d: int, nu: float = KERNEL_WIDTH) -> Switches:
    """Superpixels as `lime` hides them: each on with probability 1/2. Chapter: images.

    Parameters
    ----------
    d, nu
        Number of superpixels, and `lime`'s kernel_width.

    Returns
    -------
    Switches
        The world, for :func:`limetutor.switch_limit`.

    Examples
    --------
    >>> image_switches(4, nu=1e4).covariance().round(2)[:2]
    array([[1.  , 0.5 , 0.5 , 0.5 , 0.5 ],
           [0.5 , 0.5 , 0.25, 0.25, 0.25]])
    """
    d = arg.whole("d", d, 1, most=MAX_SWITCHES)
    return Switches(d, coin_flips(d).log_share, cosine_log_weight(d, nu))


def counted_switches(
    shares: ArrayLike, nu: float = KERNEL_WIDTH, log_weight: ArrayLike | None = None
) -> Switches:
    """Any law of how many switches are on.

    Parameters
    ----------
    shares
        Probabilities of 0..d switches on, (d + 1,), which sum to 1.
    nu, log_weight
        The width of `lime`'s kernel; or the logs of other weights, (d + 1,).

    Returns
    -------
    Switches
        The world, for :func:`limetutor.switch_limit`.

    Examples
    --------
    >>> counted_switches([0.25, 0.5, 0.25], log_weight=[0, 0, 0]).alpha(1)
    0.5
    """
    shares = arg.vector("shares", shares)
    if len(shares) < 2 or np.any(shares < 0) or abs(shares.sum() - 1) > 1e-9:
        raise ValueError(
            "shares must be the probabilities that 0, 1, ..., d switches are on, which sum to 1, "
            f"got {arg.shorten(shares)}."
        )
    d = len(shares) - 1
    if log_weight is None:
        weight = cosine_log_weight(d, nu)
    else:
        weight = arg.vector("log_weight", log_weight, d + 1, " like shares")
        if np.max(weight) > 700:
            raise ValueError(f"log_weight must be at most 700, got {np.max(weight):g}.")
    with np.errstate(divide="ignore"):
        return Switches(d, np.log(shares), weight)


def coin_flips(d: int, alpha: float = 0.5) -> Switches:
    """Independent switches, each on with probability alpha, and all masks of the same weight."""
    d, alpha = arg.whole("d", d, 1, most=MAX_SWITCHES), arg.probability("alpha", alpha)
    k = np.arange(d + 1)
    log_share = log_choose(d) + k * np.log(alpha) + (d - k) * np.log1p(-alpha)
    return Switches(d, log_share, np.zeros(d + 1))


def cosine_log_weight(d: int, nu: float) -> np.ndarray:
    """-(1 - sqrt(k/d))^2 / (2 nu^2) for k = 0..d switches on: `lime`'s weight by cosine distance.

    The cosine between the mask and the vector of ones is sqrt(k/d); the empty mask is at distance 1.
    Chapters: images, text.
    """
    nu = arg.bandwidth("nu", nu)
    share = np.arange(d + 1) / d
    distance = (1 - share) / (1 + np.sqrt(share))  # 1 - sqrt(share)
    with np.errstate(over="ignore"):
        return -((distance / nu) ** 2) / 2


@lru_cache(maxsize=8)
def log_factorials(d: int) -> np.ndarray:
    """Log of k! for k = 0..d, in extended precision."""
    logs = np.log(np.arange(1, d + 1, dtype=np.longdouble))
    return np.concatenate([[np.longdouble(0)], np.cumsum(logs)])


def log_choose(d: int) -> np.ndarray:
    """Log of C(d, k) for k = 0..d, summed from ratios in extended precision."""
    k = np.arange(1, d + 1, dtype=np.longdouble)
    ratios = np.log((d + 1 - k) / k)
    return np.asarray(np.concatenate([[np.longdouble(0)], np.cumsum(ratios)]), float)


def evaluate(f: Function, z: np.ndarray) -> np.ndarray:
    """Values of f at masks, checked; f gets a copy, so that it cannot change the masks."""
    returned = arg.called("f", f, f"one argument, masks (n, {z.shape[1]}) of bool", z.copy())
    values = arg.within("f's answers", arg.numbers("f's answers", returned))
    if values.shape != (len(z),):
        raise ValueError(
            f"f must return one number per mask, (n,) for masks (n, d), got shape {values.shape} "
            f"for {len(z)} masks."
        )
    return values


def all_masks(d: int) -> Any:
    """All 2^d settings of d switches, (2^d, d) of bool."""
    return (np.arange(2**d)[:, None] >> np.arange(d)) % 2 == 1
