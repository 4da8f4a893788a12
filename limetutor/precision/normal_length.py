"""The length of a normal vector: its distribution and its quantiles, in thousands of dimensions.

For y ~ N(0, V) the square of the length is a sum of chi-squares weighted by the eigenvalues of V. Its
cumulant generating function is K(s) = -1/2 log det(1 - 2 s V), and

    P(||y||^2 <= q) = -1/(2 pi i) int exp(K(s) - s q) ds / s

along any path from -i inf to +i inf that crosses the real axis below 0. The integral is taken along a
parabola that opens to the right, where exp(-s q) decays: near the saddle point of the integrand for
small q, and next to the pole at 0 for large ones. The trapezoidal rule converges geometrically there
(Trefethen and Weideman 2014, The exponentially convergent trapezoidal rule). Chapter: how many samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ..inputs import arguments as arg

NEGLIGIBLE = 38.0  # exp(-38) of an integrand is below the rounding of its integral
TOLERANCE = 1e-12  # of a probability
MIN_POINTS, MAX_POINTS = 64, 2**16  # of the trapezoidal rule
POINTS_PER_POLE = 3  # per distance of the path from the pole at 0, before they are doubled
MAX_STEPS = 100  # of Newton's method; about six are needed ...
LAST_STEP = 1e-5  # ... after which one of this size leaves an error of its square
NUMBERS_PER_CHUNK = 2**15  # points times dimensions that are worked on together: they stay in cache
MAX_MATRIX = 300  # rows up to which eigenvalues are as quick, and good to their last digits
FACTORS_PER_LOG = 8  # of a determinant, whose product neither overflows nor underflows


@dataclass(frozen=True, eq=False)
class Covariance:
    """A covariance V = diag(diagonal) + factors @ middle @ factors', of which the last part has low rank."""

    diagonal: np.ndarray  # (m,)
    factors: np.ndarray  # (m, r)
    middle: np.ndarray  # (r, r)

    @classmethod
    def of(cls, V: np.ndarray) -> Covariance:
        """A matrix, by its eigenvalues: the length of y does not know its direction."""
        size = len(V)
        eigenvalues = np.clip(np.linalg.eigvalsh(V), 0, None)
        return cls(eigenvalues, np.zeros((size, 0)), np.zeros((0, 0)))

    @property
    def variances(self) -> np.ndarray:
        """The diagonal of V, (m,)."""
        return self.diagonal + np.einsum(
            "ij,jk,ik->i", self.factors, self.middle, self.factors, optimize=True
        )

    @property
    def is_finite(self) -> bool:
        """Whether no entry is beyond the range of a double."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.all(np.isfinite(self.variances)))

    def matrix(self) -> np.ndarray:
        """V itself, (m, m)."""
        V = self.factors @ self.middle @ self.factors.T
        V[np.diag_indices(len(V))] += self.diagonal
        return (V + V.T) / 2

    def times(self, number: float) -> Covariance:
        """V times a number above 0."""
        return Covariance(self.diagonal * number, self.factors, self.middle * number)

    def square_trace(self) -> float:
        """The trace of V^2, which is the sum of the squared eigenvalues."""
        low = self.middle @ (self.factors.T @ self.factors)
        both = 2 * self.variances - self.diagonal
        return float(self.diagonal @ both + np.sum(low * low.T))

    def log_det(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log the modulus of det(1 - 2 s V) at complex s (n,), and the phase of the determinant, up to 2 pi.

        det(D + F M F') = det D det(1 + M F' D^-1 F), in O(m r^2) for each s.
        """
        s, r = np.asarray(s, complex), len(self.middle)
        size, phase, inner = np.empty(len(s)), np.empty(len(s)), np.zeros((len(s), r, r), complex)
        first, second = np.triu_indices(r)
        products = (self.factors[:, first] * self.factors[:, second]).astype(complex)
        entries = np.append(self.diagonal, np.zeros(-len(self.diagonal) % FACTORS_PER_LOG))
        step = max(NUMBERS_PER_CHUNK // len(entries), 1)
        for start in range(0, len(s), step):
            part = slice(start, start + step)
            factor = 1 - 2 * s[part, None] * entries
            logs = np.log(np.prod(factor.reshape(len(factor), -1, FACTORS_PER_LOG), axis=-1))
            size[part], phase[part] = logs.real.sum(axis=1), logs.imag.sum(axis=1)
            if r:
                sums = (1 / factor[:, : len(products)]) @ products
                inner[part, first, second] = inner[part, second, first] = sums
        small = np.linalg.det(np.eye(r) - 2 * s[:, None, None] * (self.middle @ inner))
        return size + np.log(np.abs(small)), phase + np.angle(small)


class _Length:
    """||y||^2 for y ~ N(0, V), where V has trace 1: the mean is 1."""

    def __init__(self, V: Covariance) -> None:
        self.V, self.deviation = V, float(np.sqrt(2 * V.square_trace()))

    def _cumulants(self, s: np.ndarray) -> np.ndarray:
        """K at real s below 0."""
        return -0.5 * self.V.log_det(s)[0]

    def _slope(self, s: float) -> float:
        """K' at a real s below 0, by a complex step: it falls from 1 at s = 0 to 0 at minus infinity."""
        step = 1e-20 * s
        phase = float(self.V.log_det(np.array([s + 1j * step]))[1][0])
        return -0.5 * (phase - 2 * np.pi * round(phase / (2 * np.pi))) / step

    def _crossing(self, q: float) -> float:
        """Where the path crosses the real axis: at the saddle point, but not next to the pole at 0."""
        nearest = -1 / (max(q - 1, 0.0) + self.deviation)
        far = nearest
        while self._slope(far) > q:
            far *= 2
        if far == nearest:
            return nearest
        saddle = scipy.optimize.brentq(
            lambda x: self._slope(-np.exp(x)) - q, np.log(-far / 2), np.log(-far), xtol=0.01
        )
        return -float(np.exp(saddle))

    def _paths(self, q: float, crossing: float) -> list[tuple[float, float]]:
        """Bends of paths, each with the u at which its path may end; the shortest path first.

        Along the largest bend the phase of the integrand is 0 to third order. Where one eigenvalue
        stands out, that path passes too near to 1 / (2 lambda) of the others, at which the integrand
        has another maximum; along the last one, which is straight, it decays throughout.
        """
        step = -crossing / 3
        K = self._cumulants(crossing + step * np.array([-1.5, -0.5, 0.5, 1.5]))
        second = (K[0] - K[1] - K[2] + K[3]) / (2 * step**2)
        third = (K[3] - 3 * K[2] + 3 * K[1] - K[0]) / step**3
        entries = np.sort(self.V.diagonal[self.V.diagonal > 0])
        nearest = 1 / (2 * entries[np.linspace(0, len(entries) - 1, 30).astype(int)])
        paths = []
        for bend in third / (6 * second) * np.array([1, 1 / 8, 1 / 64, 0]):
            u = np.append(0.0, np.sqrt(1 / second) * 2.0 ** (np.arange(40) / 2))
            if bend > 0:
                beside = np.sqrt((nearest - crossing) / bend)
                u = np.sort(np.append(u, beside[beside < u[-1]]))
            s = crossing + 1j * u + bend * u**2
            size = -0.5 * self.V.log_det(s)[0] - s.real * q
            after = np.maximum.accumulate(size[::-1])[::-1]  # the largest from here on
            paths.append((float(bend), float(u[np.argmax(after < size[0] - NEGLIGIBLE)] or u[-1])))
        return sorted(paths[:-1], key=lambda path: path[1]) + paths[-1:]

    def distribution(self, q: float) -> tuple[float, float]:
        """log P(||y||^2 <= q) for q > 0, and the density at q divided by that probability.

        P is good to about 1e-11, and to as many digits of its own below the mean.
        """
        crossing = self._crossing(q)
        log_scale = float(self._cumulants(np.array([crossing]))[0] - crossing * q)
        for bend, end in self._paths(q, crossing):
            points = int(max(MIN_POINTS, -POINTS_PER_POLE * end / crossing))
            before, now = np.full(3, np.inf), np.full(3, np.nan)
            while points < MAX_POINTS and not abs(now[0] - before[0]) < TOLERANCE:
                path = crossing, bend, end, points
                before, now = now, _integrals(self.V, q, log_scale, *path)
                points *= 2
                if now[2] > 1:  # the integrand has grown
                    break
            else:
                break
        below, density, _ = now
        return min(log_scale + float(np.log(below)), 0.0), float(density / below)

    def quantile(self, eta: float) -> float:
        """The q with P(||y||^2 <= q) = 1 - eta, by Newton's method between bounds.

        It starts from the quantile of a chi-square with the same mean and variance. The logarithm of
        the smaller of P and 1 - P is nearly linear, in log q below the median and in q above it.
        """
        freedom = 2 / self.deviation**2
        q = float(scipy.special.chdtri(freedom, eta)) / freedom
        lo, hi = 0.0, np.inf
        for _ in range(MAX_STEPS):
            log_below, rate = self.distribution(q)
            missing = np.log1p(-eta) - log_below
            lo, hi = (q, hi) if missing > 0 else (lo, q)
            if eta > 0.5:
                ratio = np.exp(np.clip(missing / (q * rate), -1, 1))
            else:
                above = max(-np.expm1(log_below), 1e-16)
                ratio = 1 - (np.log(eta) - np.log(above)) * above / (q * rate * np.exp(log_below))
            if abs(ratio - 1) < LAST_STEP:
                return float(q * ratio)
            q = float(q * np.clip(ratio, 0.5, 2.0))
            q = q if lo < q < hi else float(np.sqrt(lo * hi))
        raise ArithmeticError(f"no quantile of the length was found for eta = {eta:g}.")


def _integrals(
    V: Covariance, q: float, log_scale: float, crossing: float, bend: float, end: float, points: int
) -> np.ndarray:
    """Distribution and density at q in units of exp(log_scale), by the trapezoidal rule.

    Along s = crossing + i u + bend u^2 for 0 < u < end; the other half is its mirror image. The last
    result is the logarithm of the largest integrand.
    """
    u = (np.arange(points) + 0.5) * (end / points)
    s = crossing + 1j * u + bend * u**2
    size, phase = V.log_det(s)
    phase = np.unwrap(phase + 2 * u * q)  # that of the integrand, which varies slowly
    phase -= 2 * np.pi * np.round(phase[0] / (2 * np.pi))  # the integrand is real where u = 0
    size = -0.5 * size - s.real * q - log_scale
    values = np.exp(np.minimum(size, 1.0) - 0.5j * phase)
    values *= (1 - 2j * bend * u) * (end / points / np.pi)
    return np.array([-np.sum((values / s).real), np.sum(values.real), np.max(size)])


def _in_units(V: np.ndarray | Covariance) -> tuple[_Length | None, float]:
    """||y||^2 in units of its mean, and the root of that mean; no law where it is 0 or infinite."""
    if isinstance(V, Covariance) and (len(V.diagonal) <= MAX_MATRIX or not V.is_finite):
        with np.errstate(over="ignore", invalid="ignore"):
            V = V.matrix() if V.is_finite else np.diag([np.inf])
    variances = V.variances if isinstance(V, Covariance) else np.diag(V)
    size = float(np.max(variances, initial=0.0))
    if not 0 < size < np.inf:
        return None, np.nan if np.any(np.isnan(variances)) else size
    share = float(np.sum(variances / size))
    if isinstance(V, Covariance):
        unit = V.times(1 / size).times(1 / share)
    else:
        unit = Covariance.of(V / size / share)
    return _Length(unit), float(np.sqrt(size) * np.sqrt(share))


def norm_distribution(t: ArrayLike, V: np.ndarray | Covariance) -> np.ndarray:
    """P(||y|| <= t) for y ~ N(0, V)."""
    length, root = _in_units(V)
    t = np.asarray(t, float)
    if length is None:
        return np.where(t >= root, 1.0, 0.0) if root == root else np.full(t.shape, np.nan)
    values = [np.exp(length.distribution((x / root) ** 2)[0]) if x > 0 else 0.0 for x in t.ravel()]
    return np.array(values).reshape(t.shape)


def norm_quantile(V: np.ndarray | Covariance, eta: float) -> float:
    """The t with P(||y|| <= t) = 1 - eta for y ~ N(0, V); 0 or infinite where V is."""
    eta = arg.probability("eta", eta)
    if eta < 1e-10:  # the distribution is good to about 1e-11
        raise ValueError(f"eta must be 1e-10 or above, got {eta:g}.")
    length, root = _in_units(V)
    return root if length is None else float(root * np.sqrt(length.quantile(eta)))
