"""Scrambled Sobol points in place of random numbers. Chapter: how many samples."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..core.problem import Problem
from ..core.sampler import SAMPLERS, Draws, Source
from ..core.surrogate import Solver, Sums, one_thread
from ..core.truncated import BoxLaw
from ..inputs import arguments as arg
from .gaussian_and_tilted_samplers import Tilted

BITS = 32  # of each Sobol number: cells of 2e-10, far below the noise of any fit
POOLED_FREEDOM = 3  # degrees of freedom that the coefficients of a few groups lend each other
MAX_COORDINATES = 21201  # for which scipy has direction numbers


class Sobol(Tilted):
    """Draws from the tilted law by scrambled Sobol points, which are spread more evenly than random ones.

    Every coordinate of the tilted law is a monotone function of one uniform number: which part,
    then where in it. Points of a Sobol sequence in place of random numbers leave the expectation of
    every mean and remove most of its variance (Owen 1997: n^-3 for smooth integrands, never much
    more than 1/n; indicators jump, so that smooth models of a few features have about n^-2).
    ``scrambles`` independent scrambles share the draws. Standard errors come from their
    spread, because draws of one scramble are not independent; a single scramble has the least noise,
    and no standard error. Chapter: how many samples.
    """

    name = "sobol"
    independent = False

    def scrambles(self, requested: Any, d: int) -> int | None:
        """Two, where there are enough coefficients to estimate the noise from, else four."""
        if requested is None:
            return 2 if d >= 3 else 4
        return arg.whole("scrambles", requested, 1, most=64)

    def draw(self, problem: Problem, rng: np.random.Generator, n: int) -> Draws:
        """The first n points of one scramble."""
        return self.sources(problem, rng, 1)[0](n)

    def sources(
        self, problem: Problem, rng: np.random.Generator, scrambles: int | None
    ) -> list[Source]:
        """One source a scramble; each continues its sequence from call to call."""
        from scipy.stats import qmc  # half a second, which other samplers do not need

        law = ascending(problem.tilt.views.law)
        tables, in_box = law.inverse_transform, law.within(problem.box_of_xi)

        def source(stream: np.random.Generator) -> Source:
            points = qmc.Sobol(problem.d, scramble=True, bits=BITS, rng=stream)

            def draw(n: int) -> Draws:
                with warnings.catch_warnings():  # totals are powers of two, single calls are not
                    warnings.filterwarnings("ignore", message="The balance properties")
                    u = points.random(n)
                u += 2.0 ** -(BITS + 1)  # from the lower ends of cells to the middles: never 0 or 1
                return tables.at(u, in_box)

            return draw

        return [source(stream) for stream in rng.spawn(scrambles or 1)]

    def sums(self, d: int, extra: int, groups: int, are_indicators: bool) -> Sums:
        """Sums of groups, where there are several."""
        if groups == 1:
            return Sums(d, extra, are_indicators)
        return GroupedSums(d, extra, groups, are_indicators)

    def size(self, n: int, scrambles: int | None) -> int:
        """A power of two a scramble: there the points are balanced in every coordinate."""
        groups = scrambles or 1
        each = -(-n // groups)
        return groups * 2 ** (each - 1).bit_length()

    def check(self, problem: Problem) -> None:
        """Refuse kernels without a tilt, and more coordinates than the sequence has."""
        super().check(problem)
        if problem.d > MAX_COORDINATES:
            raise ValueError(
                f"sampler={self.name!r} takes at most {MAX_COORDINATES} features, got {problem.d}."
            )


def ascending(law: BoxLaw) -> BoxLaw:
    """The same law with its parts in the order of their values, empty ones last."""
    key = np.where(np.isneginf(law.log_prob), np.inf, np.where(law.sd == 0, law.mean, law.lo))
    order = np.argsort(key, axis=1, kind="stable")
    names = ("log_prob", "mean", "sd", "lo", "hi")
    parts = {name: np.take_along_axis(getattr(law, name), order, 1) for name in names}
    boxes = np.broadcast_to(law.boxes, law.mean.shape)
    return replace(law, **parts, box=np.take_along_axis(boxes, order, 1))


class GroupedSums(Sums):
    """Sums of samples that come in groups, whose own sums are kept apart as well."""

    POWERS: ClassVar[dict[str, tuple[int, int]]] = Sums.POWERS | {
        "group_gram": (1, 0),
        "group_response": (1, 1),
    }

    def __init__(self, d: int, extra: int, groups: int, are_indicators: bool = True) -> None:
        super().__init__(d, extra, are_indicators)
        self.groups, size = groups, 1 + d + extra
        self.group_gram = np.zeros((groups, size, size))
        self.group_response = np.zeros((groups, size))

    @one_thread()
    @np.errstate(over="ignore", under="ignore")
    def add(self, z: np.ndarray, y: np.ndarray, log_w: np.ndarray) -> None:
        """Take in a batch, as many rows of each group; what is left over, in front, has no group."""
        rows = len(y) // self.groups
        first = len(y) - self.groups * rows
        for group in range(self.groups):
            part = slice(first + group * rows, first + (group + 1) * rows)
            batch = self._add_products(z[part], y[part], log_w[part])[2]
            self.group_gram[group] += batch["gram"]
            self.group_response[group] += batch["response"]
        if first:
            self._add_products(z[:first], y[:first], log_w[:first])

    def sampling_covariance(
        self, solver: Solver, used: np.ndarray, kept: int
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """The sandwich of G independent groups, moderated.

        With scores g_i = sum w z r over group i (r the residual of the fit to all) and their mean g
        the middle is sum (g_i - g)(g_i - g)' G / (G - 1), with G - 1 degrees of freedom. (g is 0
        unless a row belongs to no group.)

        Two groups leave one degree of freedom (``own``), and intervals that are useless. But the
        noise of the ``kept`` coefficients is much alike, up to the shape ``equal`` that equal
        residuals would give it: with g the mean over coefficients of spread / equal, ``pool`` degrees
        of freedom at g join,

            (own spread + pool g equal) / (own + pool).

        A coefficient alone has none to borrow from. (The idea of moderated t-statistics, Smyth 2004,
        with a fixed pool; ``make bench`` measures how the intervals cover.) Chapter: how many samples.
        """
        gram = self.gram[np.ix_(used, used)]
        beta = Solver(gram).beta(self.response[used])
        grams = self.group_gram[:, used[:, None], used]
        scores = self.group_response[:, used] - grams @ beta
        scores = scores - scores.mean(axis=0)
        meat = scores.T @ scores * (self.groups / (self.groups - 1))
        spread, equal = (solver.bread @ middle @ solver.bread for middle in (meat, gram))
        own, pool = self.groups - 1, max(min(POOLED_FREEDOM, kept - 1), 0)
        variances = np.array([np.diag(matrix)[1 : kept + 1] for matrix in (spread, equal)])
        ratios = variances[0][variances[1] > 0] / variances[1][variances[1] > 0]
        common = float(np.mean(ratios)) if ratios.size else 0.0
        inner = (own * spread + pool * common * equal) / (own + pool)
        return inner, np.full(self.d + 1, float(own + pool)), float(own + pool)


SAMPLERS[Sobol.name] = Sobol()
