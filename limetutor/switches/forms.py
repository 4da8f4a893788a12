"""Functions of switches whose means are known: sums, rules, polynomials, and small d.

A rule is a product of conditions on disjoint groups of switches: "these are on, those are off", or
"of these three at most one is on". Given how many switches are on, the probability that c of a
given set are on is known (:func:`limetutor.switches.switches.count_share`), and given c all choices
are equally likely, so that the mean of a rule is a sum of such probabilities, each times the share of
the choices that the rule allows. A leaf of a tree is a rule, and a monomial is one.
Chapters: images, text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from ..inputs import arguments as arg
from .switches import Function, all_masks, count_share, evaluate

MAX_ENUMERATED = 16  # switches whose 2^d masks are all evaluated: 65,536 of them
MAX_COUNTED_IN_DOUBLES = 1000  # switches whose 2^1000 settings a double can count


@dataclass(frozen=True)
class Group:
    """A condition on some switches: the sum of those that are on, each times its ``size``, is allowed."""

    members: tuple[int, ...]
    sizes: tuple[int, ...]
    allowed: frozenset[int]

    @classmethod
    def on(cls, j: int) -> Group:
        """Switch j is on."""
        return cls((j,), (1,), frozenset((1,)))

    @classmethod
    def off(cls, j: int) -> Group:
        """Switch j is off."""
        return cls((j,), (1,), frozenset((0,)))

    @cached_property
    def ways(self) -> np.ndarray:
        """How many allowed settings have c switches on, c = 0..m, (m + 1,) of int."""
        return _ways(self.sizes, self.allowed)

    def ways_with(self, i: int) -> np.ndarray:
        """How many of those have member i on, (m + 1,)."""
        rest, size = self.sizes[:i] + self.sizes[i + 1 :], self.sizes[i]
        shifted = frozenset(total - size for total in self.allowed)
        return np.concatenate([np.zeros(1, object), _ways(rest, shifted)])

    def holds(self, z: np.ndarray) -> np.ndarray:
        """Where it holds among masks (n, d)."""
        totals = z[:, list(self.members)] @ np.array(self.sizes)
        return np.isin(totals, list(self.allowed))


@lru_cache(maxsize=4096)
def _ways(sizes: tuple[int, ...], allowed: frozenset[int]) -> np.ndarray:
    """Settings of switches with these sizes whose sum is allowed, by the number of those on."""
    settings: dict[tuple[int, int], int] = {(0, 0): 1}
    for size in sizes:
        longer: dict[tuple[int, int], int] = defaultdict(int)
        for (count, total), ways in settings.items():
            longer[count, total] += ways
            longer[count + 1, total + size] += ways
        settings = longer
    result = np.zeros(len(sizes) + 1, object)  # they may be too many for a double
    for (count, total), ways in settings.items():
        if total in allowed:
            result[count] += ways
    return result


@dataclass(frozen=True)
class Rule:
    """``value`` where all conditions hold, 0 elsewhere; the groups share no switch."""

    value: float
    groups: tuple[Group, ...]

    @property
    def size(self) -> int:
        """How many switches it looks at."""
        return sum(len(group.members) for group in self.groups)


def _product(polynomials: Sequence[np.ndarray]) -> np.ndarray:
    """Ways of several groups together, as doubles where these can hold them."""
    switches = sum(len(polynomial) - 1 for polynomial in polynomials)
    kind = float if switches <= MAX_COUNTED_IN_DOUBLES else object
    result = np.ones(1, kind)
    for polynomial in polynomials:
        result = np.convolve(result, polynomial.astype(kind))
    return result


def _allowed(ways: np.ndarray) -> Iterator[tuple[int, float]]:
    """For each number c of m switches: the share of the choices of c that are among the ways, if any."""
    m = len(ways) - 1
    return ((c, float(count / comb(m, c))) for c, count in enumerate(ways) if count)


@dataclass(frozen=True, eq=False)
class Switched:
    """``constant + additive @ z + sum of rules``: a function of d switches with known means."""

    constant: float
    additive: np.ndarray
    rules: tuple[Rule, ...] = ()

    @property
    def d(self) -> int:
        """How many switches there are."""
        return len(self.additive)

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Values at masks (n, d)."""
        z = np.asarray(z, bool)
        values = self.constant + z @ self.additive
        for rule in self.rules:
            holds = np.ones(len(z), bool)
            for group in rule.groups:
                holds &= group.holds(z)
            values = values + rule.value * holds
        return values

    def times(self, factor: float) -> Switched:
        """The same function, times a number."""
        rules = tuple(Rule(factor * rule.value, rule.groups) for rule in self.rules)
        return Switched(factor * self.constant, factor * self.additive, rules)

    def by_level(self) -> np.ndarray:
        """F_k, (d + 1,): the chances of all counts, times the share of them that the rules want."""
        wanted: dict[tuple[int, int], float] = defaultdict(float)
        for rule in self.rules:
            for on, share in _allowed(_product([group.ways for group in rule.groups])):
                wanted[on, rule.size - on] += rule.value * share
        level = self.constant + self.additive.mean() * np.arange(self.d + 1)
        for (on, off), times in wanted.items():
            if times:
                level = level + times * count_share(self.d, on, off)
        return level

    def within(self, weights: np.ndarray) -> np.ndarray:
        """sum_k weights_k H_jk, (d,).

        A switch that a rule does not look at is on with probability (k - on) / (d - m) where the
        rule has m switches, ``on`` of them on; less k/d that is (k m - d on) / (d (d - m)).
        """
        d, k = self.d, np.arange(self.d + 1)
        result = np.zeros(d)
        if d > 1:
            between = weights @ (k * (d - k)) / (d * (d - 1))
            result = (self.additive - self.additive.mean()) * between

        @cache
        def chance(on: int, off: int) -> tuple[float, float]:
            """Of a count, weighted; and the same times k/d."""
            share = weights * count_share(d, on, off)
            return float(share.sum()), float(share @ k) / d

        outside = 0.0
        for rule in self.rules:
            ways, m = [group.ways for group in rule.groups], rule.size
            whole = [(on, share, *chance(on, m - on)) for on, share in _allowed(_product(ways))]
            level = sum(share * times_level for _, share, _, times_level in whole)
            rest = 0.0
            if m < d:
                wanted_on = sum(on * share * plain for on, share, plain, _ in whole)
                rest = rule.value * (level * m - wanted_on) / (d - m)
            outside += rest
            for g, group in enumerate(rule.groups):
                others, with_member = ways[:g] + ways[g + 1 :], {}
                for i, (j, size) in enumerate(zip(group.members, group.sizes, strict=True)):
                    if size not in with_member:  # members of one size are alike
                        counts = _allowed(_product([*others, group.ways_with(i)]))
                        chances = (share * chance(on, m - on)[0] for on, share in counts)
                        with_member[size] = sum(chances)
                    result[j] += rule.value * (with_member[size] - level) - rest
        return result + outside


def additive(a: ArrayLike, constant: float = 0.0) -> Switched:
    """``constant + a @ z``: LIME gives back a, whatever the bandwidth."""
    return Switched(arg.scalar("constant", constant), arg.vector("a", a))


def rule(d: int, on: Sequence[int] = (), off: Sequence[int] = (), value: float = 1.0) -> Switched:
    """``value`` where the switches ``on`` are on and the switches ``off`` are off, else 0."""
    d = arg.whole("d", d, 1)
    members = [*on, *off]
    valid = all(arg.is_integer(j) and 0 <= j < d for j in members)
    if not valid or len(set(members)) < len(members):
        raise ValueError(
            f"on and off must be different switches from 0 to {d - 1}, got {arg.shorten(members)}."
        )
    groups = (*map(Group.on, on), *map(Group.off, off))
    return Switched(0.0, np.zeros(d), (Rule(arg.scalar("value", value), groups),))


def polynomial(d: int, terms: dict[tuple[int, ...], float]) -> Switched:
    """Sum of coefficients times products of switches: ``{(): 1, (0,): 2, (0, 3): -1}``.

    A power of a switch is the switch itself.
    """
    if not isinstance(terms, dict) or not all(isinstance(term, tuple) for term in terms):
        raise ValueError(
            "terms must map tuples of switches to numbers, such as {(0, 1): 2.0}, got "
            f"{arg.shorten(terms)}."
        )
    parts = [rule(d, tuple(dict.fromkeys(term)), (), value) for term, value in terms.items()]
    return Switched(0.0, np.zeros(d), tuple(r for part in parts for r in part.rules))


class Enumerated:
    """Any function of at most 16 switches, evaluated at all 2^d masks."""

    def __init__(self, f: Function, d: int) -> None:
        self.d = arg.whole("d", d, 1)
        if d > MAX_ENUMERATED:
            raise ValueError(
                f"d must be at most {MAX_ENUMERATED} for all 2^d masks to be looked at, got {d}; sample instead."
            )
        self._z = all_masks(d)
        self._values = evaluate(f, self._z)
        kept, count = self._z.sum(axis=1), np.array([comb(d, k) for k in range(d + 1)])
        self._mean = np.bincount(kept, self._values) / count
        # departures from the mean of the level, so that H needs no difference of large sums
        off = (self._values - self._mean[kept]) / count[kept]
        self._H = np.stack([np.bincount(kept, off * on, d + 1) for on in self._z.T])

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Values at masks (n, d), looked up."""
        return self._values[np.asarray(z, bool) @ (1 << np.arange(self.d))]

    def by_level(self) -> np.ndarray:
        """F_k, (d + 1,)."""
        return self._mean

    def within(self, weights: np.ndarray) -> np.ndarray:
        """sum_k weights_k H_jk, (d,)."""
        return self._H @ weights
