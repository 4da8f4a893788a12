"""Models whose expectations under the tilted law are sums of products: Gaussian bumps and neural units.

The theory needs E~[f], E~[f | z_j = 1] and E~[f | z_j = 0] for every j (:mod:`limetutor.core.tilted_law`).
Under the tilted law the coordinates are independent, so a product over coordinates has for its
expectation the product of d one-dimensional ones, and conditioning on z_j replaces one factor.
Every form of this folder is a sum of such products,

    f(x) = sum_t c_t prod_j g_tj(x_j):

a Gaussian bump is one (kernel machines), the indicator of a leaf is one (:mod:`limetutor.exact.trees`),
exp(i t w.x) is one, and a function of the projection w.x has a Fourier series of those (logistic
regression, the units of a neural net). :mod:`limetutor.exact.read_sklearn` says which fitted model has
which form. Chapter: beyond linear.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from ..core.models import Expectation, Form, Linear, SlowSeriesError
from ..core.tilted_law import ConditionalLaws
from .integrals import box_characteristic, box_envelope, essential_ends
from .moved import moved_laws

NUMBERS_PER_CHUNK = 2**20  # memory does not grow with the model
MAX_CHARACTERISTIC_VALUES = 2**24  # computed for one model, in two or three seconds
SERIES_TOLERANCE = 1e-10  # of what a truncated Fourier series leaves out


def chunks(count: int, size: int, numbers: int | None = None) -> Iterator[slice]:
    """Slices of range(count) that each hold about ``numbers`` numbers, at ``size`` per item."""
    step = max((numbers or NUMBERS_PER_CHUNK) // size, 1)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def one_row(views: ConditionalLaws) -> ConditionalLaws:
    """The laws of one instance as those of a table with one row."""
    return ConditionalLaws(views.law, views.weights[:, None])


def sum_of_products(c: np.ndarray, factors: np.ndarray) -> Expectation:
    """E~ of sum_t c_t prod_j g_tj(x_j), from E~[g_tj] under the three conditional laws, (3, d, ..., T).

    E~[.. | z_j = 1] = sum_t c_t E~[g_tj | z_j = 1] prod_{i != j} E~[g_ti]. The products without
    one factor come from cumulative products from both sides: a division would fail where a factor
    is 0. The sides of the result are (d, ...).
    """
    whole, inside, outside = factors
    ones = np.ones_like(whole[:1])
    before = np.cumprod(np.concatenate([ones, whole[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([ones, whole[:0:-1]]), axis=0)[::-1]
    others = c * before * after
    mean = np.sum(others[0] * whole[0], axis=-1)
    return Expectation(mean, np.sum(others * inside, axis=-1), np.sum(others * outside, axis=-1))


@dataclass(frozen=True, eq=False)
class Bumps(Form):
    """b + sum_i c_i exp(-sum_j gamma_ij (x_j - t_ij)^2): kernel machines with an RBF kernel."""

    c: np.ndarray  # (n,)
    t: np.ndarray  # (n, d)
    gamma: np.ndarray  # (n, d)
    b: float = 0.0

    @property
    def d(self) -> int:
        """Number of arguments."""
        return self.t.shape[1]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The value at each row of x."""
        parts = []
        for rows in chunks(len(x), max(self.t.size, 1)):
            square = np.sum(self.gamma * (x[rows, None, :] - self.t) ** 2, axis=2)
            parts.append(self.b + np.exp(-square) @ self.c)
        return np.concatenate(parts)

    def rounding(self, x: np.ndarray) -> float:
        """That of terms which may cancel."""
        return 1e-13 * (abs(self.b) + float(np.sum(np.abs(self.c))))

    def expectation(self, views: ConditionalLaws) -> Expectation:
        """E~ of the bumps at one instance."""
        mean, inside, outside = self._expectations(one_row(views))
        return Expectation(mean[0], inside[:, 0], outside[:, 0])

    def contrasts(self, views: ConditionalLaws) -> tuple[np.ndarray, np.ndarray]:
        """E~ and the contrasts at many rows, which share the mean weights where they share the law."""
        mean, inside, outside = self._expectations(views)
        return mean, (inside - outside).T

    def _expectations(self, views: ConditionalLaws) -> Expectation:
        """A bump around t_i is a Gaussian weight of bandwidth (2 gamma)^-1/2 seen from t_i.

        Its expectation over a box is the mean weight there, which the tilted law has in closed form.
        """
        rows, d, _ = views.weights.shape[1:]
        total = Expectation(*(np.full(shape, self.b) for shape in (rows, (d, rows), (d, rows))))
        nu = 1 / np.sqrt(2 * self.gamma)
        for part in chunks(len(self.c), max(views.law.mean.size * 16, rows * d * 8)):
            t, width = self.t[part, None, :, None], nu[part, None, :, None]
            log_mean = views.law.weighted_by_gaussian(t, width)[2]  # (bumps, rows or 1, d, K)
            with np.errstate(under="ignore"):
                weight = np.exp(log_mean + np.zeros((rows, 1, 1)))
                factors = np.einsum("vrdk,nrdk->vdrn", views.weights, weight)
                total = total.plus(sum_of_products(self.c[part], factors))
        return total


class Activation(NamedTuple):
    """A function of one number as a line plus a Fourier series, on [-(A - margin), A - margin]:

    g(s) = height(A) + slope s + Re sum_m coef(t_m, A) exp(i t_m s), t_m = (2m + 1) pi / A.
    ``tail`` bounds the sum of abs(coef) beyond t, whatever A.
    """

    function: Callable[[np.ndarray], np.ndarray]
    height: Callable[[float], float]
    slope: float
    margin: float
    coef: Callable[[np.ndarray, float], np.ndarray]
    tail: Callable[[float], float]


# Poisson summation of the derivative, 2 pi t / sinh(pi t) in frequency, gives the logistic function
# repeated with alternating sign at distance A; the copies reach exp(-margin) into the interval.
# tanh(s) is 2 logistic(2s) - 1. The triangular wave of half period A is |s| itself.
ACTIVATIONS = {
    "logistic": Activation(
        lambda s: scipy.special.expit(s), lambda A: 0.5, 0.0, 32.0,
        lambda t, A: -2j * np.pi / (A * np.sinh(np.pi * t)),
        lambda t: -np.log(np.tanh(np.pi * t / 2)) / np.pi,
    ),
    "tanh": Activation(
        np.tanh, lambda A: 0.0, 0.0, 16.0,
        lambda t, A: -2j * np.pi / (A * np.sinh(np.pi * t / 2)),
        lambda t: -2 * np.log(np.tanh(np.pi * t / 4)) / np.pi,
    ),
    "relu": Activation(
        lambda s: np.maximum(s, 0.0), lambda A: A / 4, 0.5, 0.0,
        lambda t, A: -2 / (A * t**2) + 0j,
        lambda t: 1 / (np.pi * t),
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Units(Form):
    """b + sum_h c_h g(w_h.x + v_h): logistic regression, and nets with one hidden layer."""

    w: np.ndarray  # (H, d)
    v: np.ndarray  # (H,)
    c: np.ndarray  # (H,)
    activation: str
    b: float = 0.0
    closed = False

    @property
    def d(self) -> int:
        """Number of arguments."""
        return self.w.shape[1]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The value at each row of x."""
        return self.b + ACTIVATIONS[self.activation].function(x @ self.w.T + self.v) @ self.c

    def rounding(self, x: np.ndarray) -> np.ndarray:
        """That of terms which may cancel."""
        inner = np.abs(x) @ np.abs(self.w.T) + np.abs(self.v) + 1
        return 1e-13 * (abs(self.b) + inner @ np.abs(self.c))

    def expectation(self, views: ConditionalLaws) -> Expectation:
        """Each unit is a line plus a series of exp(itw.x) = prod_j exp(itw_j x_j).

        E~ of such a term is the product of the characteristic functions of the coordinates.
        """
        total = Expectation(self.b, np.full(views.d, self.b), np.full(views.d, self.b))
        budget = MAX_CHARACTERISTIC_VALUES // len(self.c)
        centre = views.mix(views.law.box_means())[0]  # far from 0 the phases t w_j x_j lose digits
        views = moved_laws(views, np.arange(views.d), np.ones(views.d), -centre)
        for w, v, c in zip(self.w, self.v + self.w @ centre, self.c, strict=True):
            total = total.plus(_unit(w, v, ACTIVATIONS[self.activation], views, budget), times=c)
        return total


def _unit(
    w: np.ndarray, v: float, g: Activation, views: ConditionalLaws, budget: int
) -> Expectation:
    """The expectation of g(w.x + v)."""
    least, most = _range(w, v, views)
    if g.slope and least * most >= 0:  # relu without its kink is a line
        return (Linear(w, v) if least > 0 else Linear(0 * w)).expectation(views)
    A = max(-least, most) + g.margin
    total = Linear(g.slope * w, g.height(A) + g.slope * v).expectation(views)
    for t in _frequencies(w, A, g, views, budget):
        with np.errstate(under="ignore"):
            factors = views.mix(box_characteristic(views.law, w[:, None] * t))
            terms = sum_of_products(g.coef(t, A) * np.exp(1j * t * v), factors)
        total = total.plus(Expectation(*(np.real(term) for term in terms)))
    return total


def _range(w: np.ndarray, v: float, views: ConditionalLaws) -> tuple[float, float]:
    """Least and greatest value of w.x + v, negligible tails of normals left out."""
    ends = w[:, None] * np.stack(essential_ends(views.law))
    occurs = np.any(views.weights > 0, axis=0)
    least = np.min(np.where(occurs, ends, np.inf), axis=(0, 2)).sum()
    most = np.max(np.where(occurs, ends, -np.inf), axis=(0, 2)).sum()
    return float(v + least), float(v + most)


def _frequencies(
    w: np.ndarray, A: float, g: Activation, views: ConditionalLaws, budget: int
) -> Iterator[np.ndarray]:
    """The frequencies t_m = (2m + 1) pi / A, in chunks, until the remainder is negligible."""
    tolerance = SERIES_TOLERANCE * (A if g.slope else 1.0)
    terms, size = 32, views.law.mean.size
    while _remainder_bound(w, 2 * np.pi * terms / A, g, views) > tolerance:
        terms = terms * 5 // 4
        if terms * size > budget:
            raise SlowSeriesError
    for part in chunks(terms, size * 4):
        yield (2 * np.arange(terms)[part] + 1) * np.pi / A


def _remainder_bound(w: np.ndarray, t: float, g: Activation, views: ConditionalLaws) -> float:
    """A bound on what the terms beyond frequency t add to any of the expectations."""
    envelope = views.mix(box_envelope(views.law, w * t))[..., None]
    bound = sum_of_products(np.ones(1), envelope)
    return float(g.tail(t) * max(bound.mean, bound.inside.max(), bound.outside.max()))
