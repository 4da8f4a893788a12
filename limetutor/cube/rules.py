"""Rules about xi's boxes: precision, coverage, and the rule that covers most at a given precision.

A rule holds where the features A lie in xi's boxes; its precision is the mean of the class indicator
there, F(1 on A, p elsewhere), its coverage prod_{j in A} p_j (Ribeiro et al. 2018, on boxes). The best
rule is the one of largest coverage that reaches a precision. Rules are looked at in the order of their
coverage, so that the first one that reaches it is the best; where they are too many, a beam search
goes on, and what was looked at bounds how much more another rule could cover.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from .draws import Pool, draw
from .extension import Extension

MAX_RULES = 2**14  # looked at in the order of their coverage
BEAM = 16  # rules that a beam search goes on from
RULES_PER_CALL = 256
ROUNDING = 1e-12  # of an exact precision
FIRST_DRAWS, MOST_DRAWS = 128, 2048  # of one rule
RULED_OUT = 3e-5  # the probability that draws rule out a rule that reaches the precision
MAX_CALLS = 20_000  # of the model, for the draws of single rules in one search


class Precision(NamedTuple):
    """The precision of a rule: of ``n`` draws in it ``hits``; exact where n is 0."""

    value: float
    n: int = 0
    hits: int = 0

    @property
    def stderr(self) -> float:
        """0 where it is exact."""
        return float(np.sqrt(self.value * (1 - self.value) / self.n)) if self.n else 0.0

    def interval(self, outside: float = 0.025) -> tuple[float, float]:
        """Clopper and Pearson's, with so much probability beyond either end."""
        if not self.n:
            return self.value, self.value
        k, n, inverse = self.hits, self.n, scipy.special.betaincinv
        low = float(inverse(k, n - k + 1, outside)) if k else 0.0
        return low, float(inverse(k + 1, n - k, 1 - outside)) if k < n else 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Rule:
    """Some features in xi's boxes: how often f predicts the same there, and how often that is so.

    ``features`` are positions, ``conditions`` the boxes in words, ``text`` both joined by "and".
    ``interval`` is a 95% interval of the precision, ``n`` the draws that it rests on, 0 where it is
    exact. A rule that was searched for has the precision it was to reach in ``target``; ``found`` is
    False where no rule looked at reaches it (the rule is then the most precise of them), ``bound`` a
    coverage that no rule which reaches it exceeds, and ``certificate`` says that in words.
    """

    features: tuple[int, ...]
    names: tuple[str, ...]
    conditions: tuple[str, ...]
    precision: float
    coverage: float
    stderr: float
    interval: tuple[float, float]
    n: int
    target: float | None = None
    found: bool = True
    bound: float | None = None
    certificate: str = ""

    @property
    def method(self) -> str:
        """Where the precision comes from: "exact" or "sampled"."""
        return "sampled" if self.n else "exact"

    @property
    def text(self) -> str:
        """The rule in words."""
        return " and ".join(self.conditions) or "everywhere"

    def __repr__(self) -> str:
        low, high = self.interval
        sampled = f" ({low:.3f} to {high:.3f}, {self.n:,} draws)" if self.n else ""
        words = (
            f"precision {self.precision:.3f}{sampled}, coverage {self.coverage:.3g} ({self.method})"
        )
        return "\n  ".join(filter(None, [f"{self.text}: {words}", self.certificate]))


def by_coverage(p: np.ndarray) -> Iterator[tuple[float, tuple[int, ...]]]:
    """All rules with their coverage, the largest first; p (d,) lies between 0 and 1.

    From each rule two others: its last feature replaced by the next rarer one, or that one added.
    """
    order = np.argsort(-p, kind="stable")
    cost = -np.log(p[order])
    heap: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    while heap:
        total, ranks = heapq.heappop(heap)
        yield float(np.exp(-total)), tuple(sorted(int(order[k]) for k in ranks))
        after = ranks[-1] + 1 if ranks else 0
        if after < len(order):
            heapq.heappush(heap, (total + cost[after], (*ranks, after)))
            if ranks:
                moved = total - cost[after - 1] + cost[after]
                heapq.heappush(heap, (moved, (*ranks[:-1], after)))


class ExactPrecisions:
    """Precisions from the F of the indicator."""

    is_spent = False

    def __init__(self, extension: Extension) -> None:
        self.extension, self.masses, self.calls = extension, extension.masses, 0

    def of(self, rules: Sequence[tuple[int, ...]], target: float) -> list[Precision]:
        """F at the corners of the rules, together."""
        t = np.tile(self.masses.p, (len(rules), 1))
        for row, rule in zip(t, rules, strict=True):
            row[list(rule)] = 1.0
        return [Precision(float(np.clip(v, 0, 1))) for v in self.extension.at(t)[0].value]

    final = of

    def rules_out(self, precision: Precision, target: float) -> bool:
        """Whether a rule of that precision does not reach the target."""
        return precision.value < target - ROUNDING

    reaches = staticmethod(lambda precision, target: precision.value >= target - ROUNDING)


class SampledPrecisions:
    """Precisions from draws: those of the world that are in the rule, then draws in the rule itself.

    The draws of a rule depend on the seed and the rule, not on what was asked before.
    """

    def __init__(self, pool: Pool, problem: Any, respond: Callable[..., Any], seed: Any) -> None:
        self.problem, self.respond, self.seed, self.masses = problem, respond, seed, pool.masses
        self.z = np.ascontiguousarray(pool.rows.z[: pool.world].T)
        self.same = pool.rows.answers[: pool.world, 1] > 0
        self.calls = 0

    def of(self, rules: Sequence[tuple[int, ...]], target: float) -> list[Precision]:
        """As many draws as tell each precision from the target, and no more calls than are left."""
        return [self._until(rule, target) for rule in rules]

    def final(self, rules: Sequence[tuple[int, ...]], target: float) -> list[Precision]:
        """All draws that rules get."""
        return [self._until(rule, None) for rule in rules]

    def _until(self, rule: tuple[int, ...], target: float | None) -> Precision:
        inside = (
            np.logical_and.reduce(self.z[list(rule)]) if rule else np.ones(len(self.same), bool)
        )
        n, hits, batch = int(np.sum(inside)), int(np.sum(self.same & inside)), 0
        while n < MOST_DRAWS and (target is None or self._is_open(Precision(0.0, n, hits), target)):
            t = self.masses.p.copy()
            t[list(rule)] = 1.0
            size, batch = max(FIRST_DRAWS, n), batch + 1
            size = min(size, MOST_DRAWS)
            seed = [self.seed, 1, batch, *rule]
            same = draw(self.problem, self.respond, np.tile(t, (size, 1)), seed).answers[:, 1] > 0
            n, hits, self.calls = n + size, hits + int(np.sum(same)), self.calls + size
        return Precision(hits / max(n, 1), n, hits)

    def _is_open(self, precision: Precision, target: float) -> bool:
        return not self.is_spent and not self.rules_out(precision, target)

    @property
    def is_spent(self) -> bool:
        """Whether no calls of the model are left for a search."""
        return self.calls >= MAX_CALLS

    def rules_out(self, precision: Precision, target: float) -> bool:
        """Whether the draws rule out that a rule reaches the target."""
        return precision.interval(RULED_OUT)[1] < target

    def reaches(self, precision: Precision, target: float) -> bool:
        """Whether enough draws were taken, and so many of them agree."""
        return precision.n >= MOST_DRAWS and precision.value >= target


class Found(NamedTuple):
    """What a search found: a rule, its precision, whether that reaches the target, and the bound."""

    rule: tuple[int, ...]
    reaches: bool
    bound: float
    looked_at: int
    complete: bool  # whether rules of larger coverage were all looked at


def best_rule(precisions: Any, p: np.ndarray, target: float) -> Found:
    """The rule of largest coverage that reaches the target, the most precise one of several.

    ``p`` holds the masses of the features that a rule may have, 1 for the others.
    """
    free = np.flatnonzero(p < 1)
    rules = by_coverage(p[free])
    looked_at, bound, open_bound = 0, 1.0, 0.0
    best: tuple[float, float, tuple[int, ...]] | None = None
    top: tuple[float, tuple[int, ...]] = (-1.0, ())
    ended = False
    while not ended and looked_at < MAX_RULES and not precisions.is_spent:
        some = [rule for rule, _ in zip(rules, range(RULES_PER_CALL), strict=False)]
        if best is not None:  # only rules that cover as much are of interest now
            some = [rule for rule in some if rule[0] >= best[0] * (1 - 1e-9)]
        ended = not some
        positions = [tuple(int(free[k]) for k in rule) for _, rule in some]
        for (coverage, _), rule, got in zip(
            some, positions, precisions.of(positions, target), strict=True
        ):
            if best is not None and coverage < best[0] * (1 - 1e-9):
                ended = True
                break
            looked_at, bound = looked_at + 1, coverage
            if precisions.reaches(got, target):
                best = max(
                    best or (coverage, -1.0, rule), (coverage, got.value, rule), key=lambda b: b[1]
                )
            elif not precisions.rules_out(got, target):
                open_bound = max(open_bound, coverage)
            top = max(top, (got.value, rule), key=lambda pair: pair[0])
    if best is not None:
        return Found(best[2], True, max(best[0], open_bound), looked_at, True)
    if ended:
        return Found(top[1], False, open_bound, looked_at, True)
    rule, reaches, more = _beam(precisions, p, free, target)
    return Found(rule, reaches, max(bound, open_bound), looked_at + more, False)


def _beam(
    precisions: Any, p: np.ndarray, free: np.ndarray, target: float
) -> tuple[tuple[int, ...], bool, int]:
    """Add features one by one to the most precise rules, until some reach the target."""
    precisions.calls = 0
    beam: list[tuple[int, ...]] = [()]
    top: tuple[float, tuple[int, ...]] = (-1.0, ())
    looked_at = 0
    for _ in free:
        longer = sorted(
            {tuple(sorted({*rule, int(j)})) for rule in beam for j in free if j not in rule}
        )
        got = precisions.of(longer, target)
        looked_at += len(longer)
        good = [
            rule for rule, one in zip(longer, got, strict=True) if precisions.reaches(one, target)
        ]
        ranked = sorted(zip(longer, got, strict=True), key=lambda pair: -pair[1].value)
        top = max(top, (ranked[0][1].value, ranked[0][0]), key=lambda pair: pair[0])
        if good:
            return max(good, key=lambda rule: float(np.prod(p[list(rule)]))), True, looked_at
        beam = [rule for rule, _ in ranked[:BEAM]]
    return top[1], False, looked_at
