"""New examples: boxes first as in Algorithm 1, from the Gaussian directly, or from the tilted law.

A sampler is an object that draws values and indicators for a setting and says how much each draw
counts. To add one: write a class, list it in ``SAMPLERS``. Chapters: sampling, how many samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arguments as arg
from .kernels import KERNELS, PRODUCT_KERNELS
from .quantiles import ascending, chunks
from .setting import Setting
from .theory import Tilt
from .worlds import Boxes

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
Source = Callable[[int], tuple[np.ndarray, np.ndarray]]  # the next so many draws


class Sampler:
    """How new examples are drawn; ``name`` is what callers pass."""

    name: str
    weighted = True  # draws count by the kernel; otherwise the kernel is in the law already
    independent = True  # draws know nothing of each other, so that their noise falls as 1/n

    def draw(
        self, setting: Setting, rng: np.random.Generator, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """n values (n, d) and their indicators z (n, d): in the box of xi?"""
        raise NotImplementedError

    def sources(
        self, setting: Setting, rng: np.random.Generator, scrambles: int | None
    ) -> list[Source]:
        """Where draws come from: groups that are independent of each other."""
        return [lambda n: self.draw(setting, rng, n)]

    def size(self, n: int, scrambles: int | None) -> int:
        """The number of draws that is taken where n are asked for."""
        return n

    def log_weights(self, setting: Setting, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """How much each draw counts, as logarithms (n,)."""
        return setting.kernel.log_weights(x, z, setting.xi, setting.nu, setting.boxes)

    def check(self, setting: Setting) -> None:
        """Refuse a setting that cannot be drawn for."""

    def scrambles(self, asked: Any, d: int) -> int | None:
        """How many groups of draws there will be; only draws that depend on each other have any."""
        if asked is not None:
            raise ValueError(
                f"scrambles must be left out with sampler={self.name!r}: it is for draws that "
                "depend on each other, such as those of 'sobol'."
            )
        return None

    def follows(self, boxes: Boxes) -> bool:
        """Whether draws follow the law of the world, so that its limits are theirs."""
        return True


class Bins(Sampler):
    """A box by its frequency, then a value from the normal truncated to it: Algorithm 1."""

    name = "bins"

    def draw(
        self, setting: Setting, rng: np.random.Generator, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw boxes, then values."""
        law = setting.boxes.law
        return law.quantiles.draw(rng, n, law.within(setting.own))


class Normals(Sampler):
    """Values straight from N(mu, sigma^2), which then fall into boxes."""

    name = "gaussian"

    def draw(
        self, setting: Setting, rng: np.random.Generator, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw values, then look up their boxes; labels have no normal law: by frequency."""
        boxes = setting.boxes
        x, z = _normals(setting, boxes.mu, boxes.sigma, rng, n)
        if not np.all(boxes.ordered):
            x[:, ~boxes.ordered] = boxes.law.sample(rng, n)[0][:, ~boxes.ordered]
            z = boxes.inside(x, setting.own)
        return x, z

    def follows(self, boxes: Boxes) -> bool:
        """Only where the law of the world is normal."""
        return boxes.standard is not None


def _normals(
    setting: Setting, mean: np.ndarray, sd: np.ndarray, rng: np.random.Generator, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """n draws from independent normals, and whether they lie in the box of xi."""
    x, z = np.empty((n, setting.d)), np.empty((n, setting.d), bool)
    (lo, hi), (above, below) = setting.boxes.ends_of(setting.own), setting.boxes.comparisons
    for rows in chunks(n, setting.d):
        values, inside = x[rows], z[rows]
        rng.standard_normal(out=values)
        values *= sd
        values += mean
        above(values, lo, out=inside)
        inside &= below(values, hi)
    return x, z


class Tilted(Sampler):
    """From the tilted law, with equal weights.

    The same limit as weighting, with every sample counting in full (the idea of GLIME, Tan et al.
    2023). Only product kernels have a tilted law that can be drawn coordinate by coordinate.
    """

    name = "tilted"
    weighted = False

    def draw(
        self, setting: Setting, rng: np.random.Generator, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw from the law in which the kernel already is."""
        tilt: Tilt = setting.tilt
        if tilt.normal:
            return _normals(setting, tilt.mu_tilde, tilt.sigma_tilde, rng, n)
        law = tilt.views.law
        return law.quantiles.draw(rng, n, law.within(setting.own))

    def log_weights(self, setting: Setting, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Log C for all: the mean weight, so that sums are those of weighted samples."""
        return np.full(len(x), setting.tilt.log_C)

    def check(self, setting: Setting) -> None:
        """Refuse kernels without a tilt."""
        if setting.product is None:
            names = " or ".join(repr(name) for name in PRODUCT_KERNELS)
            raise ValueError(
                f"sampler={self.name!r} needs a kernel that factors over the coordinates, {names}, "
                f"got {setting.kernel.name!r}."
            )


class Sobol(Tilted):
    """From the tilted law by scrambled Sobol points, which fill the cube more evenly than chance.

    Every coordinate of the tilted law is a monotone function of one uniform number: which part,
    then where in it. Points of a Sobol sequence in place of random numbers keep the mean of every
    fit and lose most of its noise (Owen 1997: up to n^-3 for smooth f, never much more than 1/n).
    ``scrambles`` independent scrambles share the draws. Their spread is what standard errors are
    made of, because draws of one scramble are not independent; a single one has the least noise,
    and nothing to measure it by. Chapter: how many samples.
    """

    name = "sobol"
    independent = False

    def scrambles(self, asked: Any, d: int) -> int | None:
        """Two, where there are coefficients enough to judge the noise together, else four."""
        if asked is None:
            return 2 if d >= 3 else 4
        return arg.whole("scrambles", asked, 1, most=64)

    def draw(
        self, setting: Setting, rng: np.random.Generator, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The first n points of one scramble."""
        return self.sources(setting, rng, 1)[0](n)

    def sources(
        self, setting: Setting, rng: np.random.Generator, scrambles: int | None
    ) -> list[Source]:
        """One source a scramble; each goes on in its sequence from call to call."""
        from scipy.stats import qmc  # takes half a second, which other samplers should not wait

        law = ascending(setting.tilt.views.law)
        quantiles, own = law.quantiles, law.within(setting.own)

        def source(stream: np.random.Generator) -> Source:
            points = qmc.Sobol(setting.d, scramble=True, bits=BITS, rng=stream)
            return lambda n: quantiles.at(_inside(points, n), own)

        return [source(stream) for stream in rng.spawn(scrambles or 1)]

    def size(self, n: int, scrambles: int | None) -> int:
        """A power of two a scramble: there the points are balanced in every coordinate."""
        groups = scrambles or 1
        each = -(-n // groups)
        return groups * 2 ** (each - 1).bit_length()

    def check(self, setting: Setting) -> None:
        """Refuse kernels without a tilt, and more coordinates than the sequence has."""
        super().check(setting)
        if setting.d > MOST_COORDINATES:
            raise ValueError(
                f"sampler={self.name!r} takes at most {MOST_COORDINATES} features, got {setting.d}."
            )


BITS = 32  # of each Sobol number: cells of 2e-10, far below what a fit could show
MOST_COORDINATES = 21201  # of the table of directions that scipy has


def _inside(points: Any, n: int) -> np.ndarray:
    """The next n points, moved from the lower ends of their cells to the middles: never 0 or 1."""
    import warnings

    with warnings.catch_warnings():  # sizes are powers of two in all, not from call to call
        warnings.filterwarnings("ignore", message="The balance properties")
        u = points.random(n)
    u += 2.0 ** -(BITS + 1)
    return u  # type: ignore[no-any-return]


# every sampler that callers can ask for by name
SAMPLERS: dict[str, Sampler] = {s.name: s for s in (Bins(), Normals(), Tilted(), Sobol())}


def sampler_of(name: Any) -> Sampler:
    """The sampler that was asked for, by name or as an object."""
    if isinstance(name, Sampler):
        return name
    return SAMPLERS[arg.one_of("sampler", name, tuple(SAMPLERS))]


def sampler(name: str, boxes: Boxes, xi: np.ndarray) -> Draw:
    """The draws of a weighted sampler for one instance, as a function of (rng, n)."""
    chosen = sampler_of(name)
    setting = Setting(None, np.asarray(xi, float), None, boxes, 1.0, KERNELS["gaussian"])  # type: ignore[arg-type]
    return lambda rng, n: chosen.draw(setting, rng, n)
