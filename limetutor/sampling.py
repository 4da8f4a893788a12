"""New examples: boxes first as in Algorithm 1, from the Gaussian directly, or from the tilted law.

A sampler is an object that draws values and indicators for a setting and says how much each draw
counts. To add one: write a class, list it in ``SAMPLERS``. Chapter: sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arguments as arg
from .kernels import KERNELS, PRODUCT_KERNELS
from .setting import Setting
from .worlds import Boxes

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


class Sampler:
    """How new examples are drawn; ``name`` is what callers pass."""

    name: str
    weighted = True  # draws count by the kernel; otherwise the kernel is in the law already

    def draw(
        self, setting: Setting, rng: np.random.Generator, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """n values (n, d) and their indicators z (n, d): in the box of xi?"""
        raise NotImplementedError

    def log_weights(self, setting: Setting, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """How much each draw counts, as logarithms (n,)."""
        return setting.kernel.log_weights(x, z, setting.xi, setting.nu, setting.boxes)

    def check(self, setting: Setting) -> None:
        """Refuse a setting that cannot be drawn for."""

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
        x, drawn = setting.boxes.law.sample(rng, n)
        return x, drawn == setting.own


class Normals(Sampler):
    """Values straight from N(mu, sigma^2), which then fall into boxes."""

    name = "gaussian"

    def draw(
        self, setting: Setting, rng: np.random.Generator, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw values, then look up their boxes; labels have no normal law: by frequency."""
        boxes = setting.boxes
        x = boxes.mu + boxes.sigma * rng.standard_normal((n, boxes.d))
        if not np.all(boxes.ordered):
            x[:, ~boxes.ordered] = boxes.law.sample(rng, n)[0][:, ~boxes.ordered]
        return x, boxes.discretize(x) == setting.own

    def follows(self, boxes: Boxes) -> bool:
        """Only where the law of the world is normal."""
        return boxes.standard is not None


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
        x, drawn = setting.tilt.views.law.sample(rng, n)
        return x, drawn == setting.own

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


# every sampler that callers can ask for by name
SAMPLERS: dict[str, Sampler] = {s.name: s for s in (Bins(), Normals(), Tilted())}


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
