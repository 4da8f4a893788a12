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
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import scipy

from .draws import Pool, draw
from .extension import Extension

MAX_RULES = 2**14  # looked at in the order of their coverage
BEAM = 8  # rules that a beam search goes on from
RULES_PER_CALL = 256
ALIKE = 1 - 1e-9  # of two coverages that count as the same
ROUNDING = 1e-12  # of exact numbers
FIRST_DRAWS, WIDE_DRAWS, MOST_DRAWS = 128, 512, 2048  # of one rule
RULED_OUT = 3e-5  # the probability that draws rule out a rule that reaches the precision
COMPARED = 32  # rules, where none reaches the precision

Features = tuple[int, ...]
Candidate = tuple[float, Features]  # the lower end of its interval
Block = tuple[np.ndarray, np.ndarray]  # indicators (d, n), and whether f predicts the same (n,)


class Precision(NamedTuple):
    """The precision of a rule: of ``n`` draws in it ``hits``; exact where n is 0."""

    value: float
    n: int = 0
    hits: int = 0
    own: bool = True  # of the world's draws and the rule's own alone

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
    False where none is shown to reach it (the rule is then the most precise of those looked at, by draws
    of a few that were compared), ``bound`` a coverage that no rule which reaches it exceeds, and
    ``certificate`` says that in words.
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

    @classmethod
    def of(cls, rule: Features, precision: Precision, cube: Any) -> Rule:
        """A rule of a cube."""
        names, boxes = (tuple(listed[j] for j in rule) for listed in (cube.names, cube.box_names))
        coverage = float(np.prod(cube.mass[list(rule)]))
        numbers = (precision.value, coverage, precision.stderr, precision.interval(), precision.n)
        return cls(rule, names, boxes, *numbers)

    def certified(self, found: Found, target: float) -> Rule:
        """The same with what a search says about rules that cover more."""
        doubt = "" if self.method == "exact" else " (by draws, each at four standard errors)"
        looked = f"{found.looked_at:,} rules looked at"
        more = f" that covers more than {found.bound:.3g}" if found.bound else ""
        words = f"no rule{more} has precision {target:g}{doubt}"
        if not found.reaches:
            most = "this is the most precise of them"
            if self.method == "sampled":
                most = f"the most precise by these draws of {found.compared} that were compared"
            words = f"not found: {looked}, {most}; {words}"
        elif found.bound <= self.coverage / ALIKE:
            words = f"the best: {words}; {looked}"
        else:
            times = found.bound / self.coverage
            words = f"another rule may cover up to {times:.3g} times as much: {words}; {looked}"
        return replace(
            self, target=target, found=found.reaches, bound=found.bound, certificate=words
        )

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

    is_spent, calls = False, 0

    def __init__(self, extension: Extension) -> None:
        self.extension = extension

    def of(self, rules: Sequence[Features], _: float = 0.0) -> list[Precision]:
        """F at the corners of the rules, together."""
        t = np.tile(self.extension.masses.p, (len(rules), 1))
        for row, rule in zip(t, rules, strict=True):
            row[list(rule)] = 1.0
        return [Precision(float(np.clip(v, 0, 1))) for v in self.extension.at(t)[0].value]

    sketched = final = of

    def draw_in(self, rules: Sequence[Features]) -> None:
        """Nothing is drawn."""

    def rules_out(self, precision: Precision, target: float) -> bool:
        """Whether a rule of that precision does not reach the target."""
        return precision.value < target - ROUNDING

    def reaches(self, precision: Precision, target: float) -> bool:
        """Whether a rule of that precision reaches it."""
        return not self.rules_out(precision, target)


class SampledPrecisions:
    """Precisions from draws: those of the world that are in the rule, then draws in the rule itself.

    Draws in a rule depend on the seed and on the rule, not on what was asked before. A search rules
    others out by all draws that it has made in rules with fewer features: those among them that are in
    the longer rule follow its law too.
    """

    def __init__(self, pool: Pool, problem: Any, respond: Callable[..., Any], seed: Any) -> None:
        self.problem, self.respond, self.seed, self.masses = problem, respond, seed, pool.masses
        z = np.ascontiguousarray(pool.rows.z[: pool.world].T)
        self.blocks: dict[Features, list[Block]] = {
            (): [(z, pool.rows.answers[: pool.world, 1] > 0)]
        }
        self.calls, self.most = 0, pool.n

    @property
    def is_spent(self) -> bool:
        """Whether a search has made as many calls of the model as the pool has rows."""
        return self.calls >= self.most

    def draw_in(self, rules: Sequence[Features]) -> None:
        """Draw in these rules, for longer ones."""
        for rule in rules:
            while not self.is_spent and self._counted(rule).n < WIDE_DRAWS:
                self._draw(rule)

    def of(self, rules: Sequence[Features], target: float) -> list[Precision]:
        """As many draws as tell each precision from the target, and no more calls than are left."""
        return [self._told(rule, target) for rule in rules]

    def sketched(self, rules: Sequence[Features]) -> list[Precision]:
        """What the draws made so far say."""
        return [self._counted(rule) for rule in rules]

    def final(self, rules: Sequence[Features], draws: int = MOST_DRAWS) -> list[Precision]:
        """By so many draws of the world and the rule's own, without those in other rules."""
        for rule in rules:
            while self._counted(rule, own=True).n < draws:
                self._draw(rule)
        return [self._counted(rule, own=True) for rule in rules]

    def _told(self, rule: Features, target: float) -> Precision:
        while not self.rules_out(every := self._counted(rule), target):
            own = self._counted(rule, own=True)
            if own.n >= MOST_DRAWS:
                return own
            if self.is_spent:
                break
            self._draw(rule)
        return every

    def _counted(self, rule: Features, own: bool = False) -> Precision:
        n = hits = 0
        for given, drawn in self.blocks.items():
            if given == rule or not given or (not own and set(given) <= set(rule)):
                held = [j for j in rule if j not in given]
                for z, same in drawn:
                    inside = (
                        np.logical_and.reduce(z[held], axis=0) if held else np.ones(len(same), bool)
                    )
                    n, hits = n + int(np.sum(inside)), hits + int(np.sum(same & inside))
        return Precision(hits / n if n else 0.0, n, hits, own)

    def _draw(self, rule: Features) -> None:
        """Twice as many draws in the rule as before."""
        made = self.blocks.setdefault(rule, [])
        batch = len(made) - (not rule)  # those of the world come first
        size = min(FIRST_DRAWS << batch, MOST_DRAWS)
        t = self.masses.p.copy()
        t[list(rule)] = 1.0
        seed = [self.seed, 1, batch, *rule]
        rows = draw(self.problem, self.respond, np.tile(t, (size, 1)), seed)
        made.append((rows.z.T, rows.answers[:, 1] > 0))
        self.calls += size

    def rules_out(self, precision: Precision, target: float) -> bool:
        """Whether the draws rule out that a rule reaches the target."""
        return precision.n > 0 and precision.interval(RULED_OUT)[1] < target

    def reaches(self, precision: Precision, target: float) -> bool:
        """Whether enough draws were taken, and so many of them agree."""
        return precision.own and precision.n >= MOST_DRAWS and precision.value >= target


class Found(NamedTuple):
    """What a search found: a rule, whether it reaches the target, and the bound on others' coverage."""

    rule: Features
    reaches: bool
    bound: float
    looked_at: int
    compared: int = 1  # rules, where none reaches it


def best_rule(precisions: Any, p: np.ndarray, target: float) -> Found:
    """The rule of largest coverage that reaches the target; of several the most precise one.

    ``p`` holds the masses of the features that a rule may have, 1 for the others.
    """
    free = np.flatnonzero(p < 1)
    rules, all_seen = by_coverage(p[free]), False
    looked_at, last, undecided = 0, 1.0, 0.0
    best: tuple[float, float, Features | None] = (0.0, -1.0, None)  # coverage, precision, rule
    top: list[Candidate] = []
    while looked_at < MAX_RULES and not precisions.is_spent:
        some = [(c, tuple(int(free[k]) for k in rule)) for c, rule in islice(rules, RULES_PER_CALL)]
        all_seen = not some or some[0][0] < best[0] * ALIKE
        if all_seen:
            break
        for (coverage, rule), got in zip(
            some, precisions.of([r for _, r in some], target), strict=True
        ):
            last, looked_at = coverage, looked_at + 1
            top.append((got.interval()[0], rule))
            if precisions.reaches(got, target):
                if coverage >= best[0] * ALIKE:
                    best = max(best, (coverage, got.value, rule), key=itemgetter(1))
            elif not precisions.rules_out(got, target):
                undecided = max(undecided, coverage)
        top = _most_precise(top)
    bound, found = max(best[0], undecided), best[2]
    if found is None and not all_seen:
        bound = max(last, undecided)
        found, more = _beam(precisions, p, free, target, top)
        looked_at = min(looked_at + more, 2 ** len(free))
    if found is None:
        return _compared(precisions, top, bound, looked_at)
    return Found(found, True, bound, looked_at)


def _most_precise(top: list[Candidate]) -> list[Candidate]:
    """A few rules, each once, whose intervals have the highest lower ends."""
    once = {rule: low for low, rule in top}
    ranked = sorted(once, key=lambda rule: -once[rule])[:COMPARED]
    return [(once[rule], rule) for rule in ranked]


def _compared(precisions: Any, top: list[Candidate], bound: float, looked_at: int) -> Found:
    """The most precise of a few candidates, none of which reaches the target.

    Half of them are left out again and again, while the others get twice as many draws.
    """
    rules = [rule for _, rule in top]
    while len(rules) > 1:
        got = precisions.final(rules, 2 * MOST_DRAWS // len(rules))
        order = np.argsort([-one.value for one in got], kind="stable")
        rules = [rules[k] for k in order[: len(rules) // 2]]
    return Found(rules[0], False, bound, looked_at, len(top))


def _beam(
    precisions: Any, p: np.ndarray, free: np.ndarray, target: float, top: list[Candidate]
) -> tuple[Features | None, int]:
    """Add features one by one to the most precise rules until some reach the target, then leave some out.

    Where none does, the most precise ones join the candidates in ``top``.
    """
    precisions.calls = 0  # as many again
    beam: list[Features] = [()]
    looked_at = 0
    for _ in free:
        precisions.draw_in(beam)
        longer = sorted(
            {tuple(sorted({*rule, int(j)})) for rule in beam for j in free if j not in rule}
        )
        sketches = precisions.sketched(longer)
        values = [got.value for got in sketches]
        ranked = sorted(zip(values, longer, strict=True), key=lambda pair: (-pair[0], pair[1]))
        looked_at += len(longer)
        lower = [got.interval()[0] for got in sketches]
        top[:] = _most_precise([*top, *zip(lower, longer, strict=True)])
        hopeful = [rule for value, rule in ranked if value >= target - ROUNDING]
        good = _reaching(precisions, hopeful, target)
        if good:
            rule = _widest(good, p)
            while shorter := _reaching(precisions, [_without(rule, j) for j in rule], target):
                rule = _widest(shorter, p)
            return rule, looked_at
        beam = [rule for _, rule in ranked[:BEAM]]
    return None, looked_at


def _reaching(precisions: Any, rules: list[Features], target: float) -> list[Features]:
    got = precisions.of(rules, target) if rules else []
    return [rule for rule, one in zip(rules, got, strict=True) if precisions.reaches(one, target)]


def _widest(rules: list[Features], p: np.ndarray) -> Features:
    return max(rules, key=lambda rule: float(np.prod(p[list(rule)])))


def _without(rule: Features, j: int) -> Features:
    return tuple(i for i in rule if i != j)
