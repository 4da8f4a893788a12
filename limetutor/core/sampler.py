"""Step 2 of Algorithm 1, draw: a box by its frequency, then a value from a truncated normal.

A sampler draws values and indicators for a problem and says how much each draw counts.
:mod:`limetutor.precision.gaussian_and_tilted_samplers` has others. Chapters: sampling, how many samples.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..inputs import arguments as arg
from .boxes import Boxes
from .problem import Problem
from .surrogate import Sums
from .truncated import BoxLaw

Draws = tuple[np.ndarray, np.ndarray]  # values (n, d) and their indicators z (n, d)
Source = Callable[[int], Draws]  # the next n draws


class Sampler:
    """How samples are drawn; ``name`` is what callers pass."""

    name: str
    weighted = True  # draws count by the kernel; otherwise the kernel is in the law already
    independent = True  # draws are independent, so that their noise falls as 1/n

    def draw(self, problem: Problem, rng: np.random.Generator, n: int) -> Draws:
        """n values (n, d) and their indicators z (n, d): in the box of xi?"""
        raise NotImplementedError

    def sources(self, problem: Problem, rng: np.random.Generator, scrambles: Any) -> list[Source]:
        """Where draws come from: groups that are independent of each other."""
        return [partial(self.draw, problem, rng)]

    def sums(self, d: int, extra: int, groups: int, are_indicators: bool) -> Sums:
        """What draws are added up in; standard errors of groups take another one."""
        return Sums(d, extra, are_indicators)

    def size(self, n: int, scrambles: int | None) -> int:
        """The number of draws that is taken where n are asked for."""
        return n

    def log_weights(self, problem: Problem, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """How much each draw counts, as logarithms (n,)."""
        return problem.kernel.log_weights(x, z, problem.xi, problem.nu, problem.boxes)

    def check(self, problem: Problem) -> None:
        """Refuse a problem that cannot be drawn for."""

    def scrambles(self, requested: Any, d: int) -> int | None:
        """How many groups of draws there will be; only draws that depend on each other have any."""
        if requested is not None:
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

    def draw(self, problem: Problem, rng: np.random.Generator, n: int) -> Draws:
        """Draw boxes, then values."""
        return draw_by_inverse_transform(problem.boxes.law, problem, rng, n)


def draw_by_inverse_transform(
    law: BoxLaw, problem: Problem, rng: np.random.Generator, n: int
) -> Draws:
    """n draws from a mixture of truncated normals, and whether they lie in the box of xi."""
    tables = law.inverse_transform
    return tables.draw(rng, n, tables.boxes == problem.box_of_xi[:, None])


# every sampler that callers can ask for by name; other folders add theirs
SAMPLERS: dict[str, Sampler] = {s.name: s for s in (Bins(),)}


def sampler_of(name: Any) -> Sampler:
    """The sampler that was asked for, by name or as an object."""
    if isinstance(name, Sampler):
        return name
    return SAMPLERS[arg.one_of("sampler", name, tuple(SAMPLERS))]
