"""Which bandwidth? The whole explanation as the bandwidth moves, and what to make of it.

:func:`path` follows every coefficient over the bandwidth (or the number of boxes): where it is zero
(``critical``), over which range signs and order of the strongest three stay (``stable``), how far the
surrogate is off and how many samples count. ``recommend()`` turns that into one bandwidth and the
reason for it, or says that none is good. Chapter: trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from . import report
from .algorithm import FEW
from .closed_forms import OWN_ROW, penalty_and_rows
from .curves import Boxed, Curve, Points, curve_of
from .kernels import ProductKernel, kernel_of
from .lime_bridge import SAMPLES as LIMES
from .lime_bridge import LimeNumbers, LimeWorld, output_of
from .models import caller, model_behind
from .setting import Answer, Setting, boxes_for
from .travel import notes, plain
from .worlds import Empirical, Gaussian, World, check_world

SAMPLES = 20_000  # of a model without a form, for all bandwidths together
SHOWN = 61  # bandwidths of a path, unless told otherwise
STEPS, CLOSE = 60, 1e-14  # most steps towards a zero, and how near (in log nu) is near enough
ROUNDING = 1e-13  # coefficients below this share of f are rounding and have no sign
CLEAR = 3.0  # standard errors from which on a sampled coefficient has a sign
TOP = 3  # features whose signs and order a reader goes by
NEAR = 0.06  # a bandwidth is never recommended so near a critical one (5% is promised)
OUTSIDE, OUTER = 1.5, 11  # how far beyond its ends a path is looked at, and at how many places
INSIDE = (0.5, 0.25, 0.1)  # how far from the ends of the range in which signs and order stay
WORTH = 1.2  # a range is one from this ratio of its ends
ENOUGH = 30  # effective samples a coefficient
LEFT = 0.9  # of the strongest coefficients, that a penalty should leave
OWN = 10 * OWN_ROW  # weight of all other rows from which on xi's own row does not decide


class Recommendation(NamedTuple):
    """A bandwidth (and a number of boxes, of a path over those), or None; and why, in words."""

    nu: float | None
    reason: str
    boxes: int | None = None


@dataclass(frozen=True, eq=False)
class Path(Answer):
    """An explanation over the bandwidth, or over the number of boxes.

    ``nu`` (m,), ``coef`` and ``stderr`` (m, d; 0 unless ``method`` is "monte carlo"), ``local_error``
    and ``ess``, the effective samples of n (m,). ``critical`` holds for each feature the bandwidths
    between nu[0] and nu[-1] at which its coefficient is zero, ``critical_stderr`` their standard
    errors; both are empty for a coefficient that is zero throughout, and ``notes`` says so.
    ``stable`` is the widest interval (in log nu) in which the signs and the order of the three
    largest coefficients stay.

    Over the number of boxes ``boxes`` (m,) is set, nu is the same everywhere, and ``critical`` holds
    the numbers of boxes at which a sign is not what it was at the number before.
    """

    nu: np.ndarray
    coef: np.ndarray
    stderr: np.ndarray
    local_error: np.ndarray
    ess: np.ndarray
    critical: list[np.ndarray]
    critical_stderr: list[np.ndarray]
    stable: tuple[float, float]
    boxes: np.ndarray | None
    names: tuple[str, ...]
    prediction: float
    kernel: str
    ridge: float
    n: int
    method: str
    notes: tuple[str, ...]
    advice: Recommendation = field(repr=False)
    setting: Setting = field(repr=False)

    @property
    def places(self) -> np.ndarray:
        """What the path goes over: bandwidths, or numbers of boxes."""
        return self.nu if self.boxes is None else self.boxes

    def recommend(self) -> Recommendation:
        """A bandwidth to use and why; ``nu`` is None where none is good.

        It is the smallest one at which enough samples count (30 a coefficient) and a penalty takes at
        most a tenth off the strongest effects, 50% inside a range
        in which signs and order of the three largest coefficients stay (25% or 10% where there is
        no such one), the widest range first, and never within 5% of a bandwidth at which a leading
        coefficient is zero.
        """
        return self.advice

    def order(self) -> np.ndarray:
        """Features from the one whose coefficient gets largest to the one that stays smallest."""
        return np.argsort(-np.max(np.abs(self.coef), axis=0), kind="stable")

    def to_frame(self) -> Any:
        """The coefficients as a DataFrame: a row a bandwidth (or number of boxes), a column a feature."""
        import pandas as pd

        name = "nu" if self.boxes is None else "boxes"
        return pd.DataFrame(
            self.coef, index=pd.Index(self.places, name=name), columns=list(self.names)
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything that was found, in plain Python types, ready for JSON."""
        left = ("advice", "setting")
        found = {part.name: getattr(self, part.name) for part in fields(self)}
        kept = {name: value for name, value in found.items() if name not in left}
        return plain(kept | {"recommendation": self.advice._asdict()})

    def to_html(
        self, path: Any = None, *, title: str | None = None, top: int = 20, symbols: bool = False
    ) -> str | None:
        """A page that stands alone: the recommendation, a picture, what turns where."""
        over = "bandwidth" if self.boxes is None else "number of boxes"
        words = arg.text("title", title, f"Which {over}?")
        top, symbols = arg.whole("top", top, 1), arg.truth("symbols", symbols)
        blocks = [*self.blocks(top, symbols), *notes(self.notes)]
        return report.written(report.page(words, *blocks, lead=self.advice.reason), path)

    def blocks(self, top: int = 20, symbols: bool = False) -> list[report.Markup]:
        """The parts of that page."""
        over = "number of boxes" if self.boxes is not None else "ν" if symbols else "bandwidth"
        first, last = (report.number(end, 3) for end in self.stable)
        best = "none" if self.advice.nu is None else self.advice.boxes or self.advice.nu
        found = [
            report.facts(
                [
                    (f"recommended {over}", best),
                    ("signs and order of the strongest stay", f"from {first} to {last}"),
                    ("f(ξ)" if symbols else "the model's prediction", self.prediction),
                    ("where the numbers come from", self.method),
                ]
            )
        ]
        if report.can_draw():
            found.append(
                report.picture(
                    self.plot(), f"Lines for the effects over the {over}. " + self.said()
                )
            )
        i = int(np.argmin(np.abs(np.log(self.places / best)))) if best != "none" else -1
        rows = [
            (
                self.names[j],
                float(self.coef[i, j]),
                float(self.coef[0, j]),
                float(self.coef[-1, j]),
                ", ".join(report.number(zero) for zero in self.critical[j]) or "nowhere",
            )
            for j in self.order()[:top]
        ]
        at = ("recommended" if best != "none" else "widest", "narrowest", "widest")
        if self.boxes is not None:
            at = ("recommended" if best != "none" else "most boxes", "fewest boxes", "most boxes")
        columns = ["feature", *(f"effect at the {place}" for place in at), f"turns at {over}"]
        return [*found, report.table("Effects, the largest first", columns, rows)]

    def said(self) -> str:
        """The path in sentences."""
        return "; ".join(_in_words(self)) + "."

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """Coefficients over the bandwidth, their zeros and the stable range, as a figure."""
        from .plotting.results import path as draw

        return draw(self, ax=ax, top=top, title=title)

    def __repr__(self) -> str:
        places, over = self.places, "bandwidth" if self.boxes is None else "number of boxes"
        lines = [
            f"Path of the explanation of f(xi) = {self.prediction:.4g} over the {over}, "
            f"{places[0]:.3g} to {places[-1]:.3g}, {self.kernel} kernel ({self.method})"
        ]
        lines += [f"  {words}" for words in _in_words(self)]
        lines += [f"  recommended: {self.advice.reason}"]
        return "\n".join(lines + [f"  note: {text}" for text in self.notes])


def _in_words(path: Path) -> Iterator[str]:
    lo, hi = path.stable
    yield f"signs and order of the largest three stay from {lo:.3g} to {hi:.3g}"
    for j in path.order()[:10]:
        if len(path.critical[j]):
            zeros = ", ".join(f"{zero:.4g}" for zero in path.critical[j][:5])
            more = len(path.critical[j]) - 5
            zeros += f" and {more} more" if more > 0 else ""
            yield f"{path.names[j]} turns at {zeros}"


def path(
    f: Any,
    xi: Any,
    world: World,
    kernel: Any = None,
    nu: Any = None,
    *,
    ridge: float = 0.0,
    n: int | None = None,
    output: Any = None,
    label: int | str | None = None,
    boxes: Any = None,
    samples: int = SAMPLES,
    seed: int | None = 0,
) -> Path:
    """Follow an explanation over the bandwidth, or over the number of boxes.

    Parameters
    ----------
    f, xi, world, output
        As in :func:`limit`.
    label
        The output as `lime` and :func:`audit` count it: its column, or a name of the explainer's
        classes. In a world read from `lime` a classifier is explained in column 1 unless told otherwise.
    kernel
        As in :func:`explain`; the world's own where it was read from `lime`, "gaussian" elsewhere.
    nu
        The bandwidths, in any order. By default a wide range that suits the kernel and the world.
        With ``boxes`` one bandwidth.
    ridge, n
        As in :func:`limit`; n is also what effective samples are counted of (5000 if left out).
    boxes
        Numbers of boxes to go over in place of the bandwidth: the features of an lt.Gaussian or
        lt.Empirical are cut into so many.
    samples, seed
        How a model without a closed form is sampled, once for all bandwidths.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear
    >>> found = path(Linear([10, -10]), [0.961, 0.432], Gaussian())
    >>> [zeros.round(3).tolist() for zeros in found.critical]
    [[], [0.53]]
    """
    check_world(world, boxes=False)
    kernel = getattr(world, "kernel", "gaussian") if kernel is None else kernel
    tilts = isinstance(kernel_of(kernel), ProductKernel)
    asked = _asked(nu, boxes)
    output = _output(f, xi, world, label, output)
    setting = Setting.of(
        f, xi, world, asked.nu or 1.0, kernel, output,
        purpose="its path" if tilts else None, boxes_needed=not tilts,
    )  # fmt: skip
    ridge, n = penalty_and_rows(ridge, n)
    samples = arg.whole("samples", samples, 2 * (setting.d + 1))
    arg.seed("seed", seed)
    if boxes is not None:
        return _over_boxes(setting, asked, ridge, n, samples, seed)
    nus = default_bandwidths(setting) if nu is None else asked.nus
    setting = setting.at(float(np.sqrt(nus[0] * nus[-1])))
    curve = curve_of(setting, ridge, n, samples, seed, (float(nus[0]), float(nus[-1])))
    return _Search(curve, setting, nus, ridge, n).path()


def _output(f: Any, xi: Any, world: World, label: Any, output: Any) -> Any:
    """The output that is asked for; of a classifier in a world of `lime` the one that `lime` takes."""
    model, names = model_behind(f), getattr(world, "class_names", ()) or None
    classifies = None
    if isinstance(world, LimeWorld | LimeNumbers) and label is None and output is None:
        classifies = hasattr(model, "predict_proba") or (
            names is not None and _columns(model, xi, world) > 1
        )
    return output_of(model, label, output, classifies or None, names)


def _columns(f: Any, xi: Any, world: World) -> int:
    """How many numbers f returns for a row."""
    boxes = boxes_for(world, xi, f)
    found = np.asarray(caller(f, boxes)[0](boxes.encode(xi)[None]))
    return found.shape[1] if found.ndim == 2 else 1


class _Asked(NamedTuple):
    """Bandwidths and numbers of boxes as they were asked for, checked and in order."""

    nus: np.ndarray
    nu: float | None
    boxes: np.ndarray


def _asked(nu: Any, boxes: Any) -> _Asked:
    nus = np.array([])
    if nu is not None:
        nus = np.unique([arg.bandwidth("nu", value) for value in arg.vector("nu", nu)])
    if boxes is None:
        return _Asked(nus, nus[0] if len(nus) else None, np.array([], int))
    if len(nus) != 1:
        raise ValueError(
            "nu must be one bandwidth with boxes=, which go over the number of boxes, got "
            f"{'none' if nu is None else len(nus)}."
        )
    counts = [arg.whole("boxes", value, 2, most=1000) for value in arg.vector("boxes", boxes)]
    return _Asked(nus, float(nus[0]), np.unique(counts))


def default_bandwidths(setting: Setting) -> np.ndarray:
    """Bandwidths from narrow to wide, evenly in their logarithm.

    Weights on x: from a tenth of the smallest deviation of a feature to ten times the largest.
    Weights on boxes, which count how many differ: from 1/4 to 4 sqrt(d), around `lime`'s 3/4 sqrt(d).
    """
    if not setting.kernel.measures_x:
        return np.geomspace(0.25, 4 * np.sqrt(setting.d), SHOWN)
    boxes = setting.boxes
    unit = np.broadcast_to(np.asarray(boxes.unit, float), (setting.d,))
    scale = np.where(boxes.ordered, boxes.sigma / unit, 1.0)
    scale = scale[scale > 0]
    if not scale.size:
        scale = np.ones(1)
    return np.geomspace(0.1 * scale.min(), 10 * scale.max(), SHOWN)


@dataclass(frozen=True, eq=False)
class _Search:
    """A curve over bandwidths, looked at closely."""

    curve: Curve
    setting: Setting
    nus: np.ndarray
    ridge: float
    n: int | None

    def path(self) -> Path:
        """Everything there is to say about the curve between the first and the last bandwidth."""
        grid, points = self._grid()
        critical, spread = self._zeros(grid, points)
        ranges = self._ranges(grid, points)
        shown = np.searchsorted(grid, self.nus)
        n = LIMES if self.n is None else self.n
        stable = max(ranges, key=lambda ends: np.log(ends[1] / ends[0]))
        beyond, ends = self._beyond(grid, points, critical, ranges)
        return Path(
            nu=self.nus,
            coef=points.coef[shown],
            stderr=points.stderr[shown],
            local_error=points.error[shown],
            ess=n * points.share[shown],
            critical=critical,
            critical_stderr=spread,
            stable=stable,
            boxes=None,
            names=self.setting.boxes.names,
            prediction=self.setting.prediction,
            kernel=self.setting.kernel.name,
            ridge=self.ridge,
            n=n,
            method=self.curve.method,
            notes=_notes(self.setting, points, critical),
            advice=_advice(self.setting, grid, points, beyond, ranges, ends, n),
            setting=self.setting,
        )

    def _beyond(
        self,
        grid: np.ndarray,
        points: Points,
        critical: list[np.ndarray],
        ranges: list[tuple[float, float]],
    ) -> tuple[list[np.ndarray], list[tuple[float, float]]]:
        """The zeros and the ranges with what happens just outside the path, for who stays inside.

        A path may end beside a bandwidth at which a coefficient is zero.
        """
        if len(grid) < 2:
            return critical, ranges
        zeros, ends = [[part] for part in critical], [list(pair) for pair in ranges]
        for at, far, k in ((grid[0], grid[0] / OUTSIDE, 0), (grid[-1], grid[-1] * OUTSIDE, -1)):
            places = np.sort(np.geomspace(far, at, OUTER))
            outer = self.curve.at(places)
            for kept, found in zip(zeros, self._zeros(places, outer)[0], strict=True):
                kept.append(found)
            ends[k][k] = self._ranges(places, outer)[-1 - k][k]
        return [np.sort(np.concatenate(parts)) for parts in zeros], [(a, b) for a, b in ends]

    def _grid(self) -> tuple[np.ndarray, Points]:
        """The bandwidths asked for and many between them, more where a zero may hide."""
        lo, hi = self.nus[[0, -1]]
        grid = self.nus
        if lo < hi:
            between = np.geomspace(lo, hi, self.curve.looked)[1:-1]
            near = np.searchsorted(grid, between).clip(1, len(grid) - 1)
            apart = np.minimum(between / grid[near - 1], grid[near] / between) > 1 + 1e-9
            grid = np.union1d(grid, between[apart])
        points = self.curve.at(grid)
        if self.curve.method != "exact":
            return grid, points
        extra = _suspects(grid, points.coef)
        if not len(extra):
            return grid, points
        new = np.setdiff1d(extra, grid)
        more = self.curve.at(new)
        where = np.argsort(np.concatenate([grid, new]))
        joined = (np.concatenate(pair)[where] for pair in zip(points, more, strict=True))
        return np.union1d(grid, new), Points(*joined)

    def _zeros(self, grid: np.ndarray, points: Points) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Where each coefficient changes its sign, and the standard error of that bandwidth."""
        signs = _signs(self.setting, points)
        brackets = [
            (j, i, k)
            for j in range(signs.shape[1])
            for i, k in pairwise(np.flatnonzero(signs[:, j]))
            if signs[i, j] != signs[k, j]
        ]
        d = self.setting.d
        if not brackets:
            return [np.array([])] * d, [np.array([])] * d
        j, i, k = np.array(brackets).T

        def values(at: np.ndarray, some: np.ndarray) -> np.ndarray:
            return self.curve.at(at).coef[np.arange(len(some)), j[some]]

        zeros = roots(values, grid[i], grid[k], points.coef[i, j], points.coef[k, j])
        rise = np.abs(points.coef[k, j] - points.coef[i, j]) / (grid[k] - grid[i])
        spread = self.curve.at(zeros).stderr[np.arange(len(j)), j] / np.where(rise > 0, rise, 1.0)
        return [zeros[j == f] for f in range(d)], [spread[j == f] for f in range(d)]

    def _ranges(self, grid: np.ndarray, points: Points) -> list[tuple[float, float]]:
        """The intervals in which signs and order of the largest three stay."""
        leaders = _leaders(self.setting, points)
        turn = np.flatnonzero(np.any(leaders[1:] != leaders[:-1], axis=1))
        if not len(turn):
            return [(float(grid[0]), float(grid[-1]))]

        def left(at: np.ndarray) -> np.ndarray:
            return np.all(_leaders(self.setting, self.curve.at(at)) == leaders[turn], axis=1)

        cuts = [float(grid[0]), *self._halved(grid[turn], grid[turn + 1], left), float(grid[-1])]
        return [(float(a), float(b)) for a, b in pairwise(cuts)]

    def _halved(
        self, lo: np.ndarray, hi: np.ndarray, left: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Where, between lo and hi, something stops being as it is at lo; all places at once."""
        lo, hi = np.log(lo), np.log(hi)
        for _ in range(self.curve.halvings):
            middle = (lo + hi) / 2
            same = left(np.exp(middle))
            lo, hi = np.where(same, middle, lo), np.where(same, hi, middle)
        return np.exp((lo + hi) / 2)


def roots(
    values: Callable[[np.ndarray, np.ndarray], np.ndarray],
    lo: np.ndarray,
    hi: np.ndarray,
    at_lo: np.ndarray,
    at_hi: np.ndarray,
) -> np.ndarray:
    """A zero in each of many intervals (lo, hi) at whose ends a curve has different signs.

    By false position in log nu, an end that stays put counting half (the Illinois rule), all
    intervals at once: ``values(places, which)`` are the curves ``which`` at one place each.
    """
    a, b, left, right = np.log(lo), np.log(hi), at_lo.copy(), at_hi.copy()
    zero, side, still = a.copy(), np.zeros(len(a), int), np.arange(len(a))
    for _ in range(STEPS):
        x = (a * right - b * left)[still] / (right - left)[still]
        y = values(np.exp(x), still)
        done = (np.abs(x - zero[still]) <= CLOSE * np.maximum(np.abs(x), 1.0)) | (y == 0)
        zero[still] = x
        same = np.sign(y) == np.sign(left[still])
        low, high = still[same], still[~same]
        right[low] *= np.where(side[low] == 1, 0.5, 1.0)
        left[high] *= np.where(side[high] == -1, 0.5, 1.0)
        a[low], left[low], side[low] = x[same], y[same], 1
        b[high], right[high], side[high] = x[~same], y[~same], -1
        still = still[~done]
        if not len(still):
            break
    return np.exp(zero)


def _suspects(grid: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Places between which a coefficient may touch zero and turn back unseen.

    Where |coef|, or the distance of two neighbours in the order of sizes, has a local minimum and the
    slopes on both sides would lead beyond zero.
    """
    size = np.abs(coef)
    ordered = -np.sort(-size, axis=1)[:, : TOP + 1]
    size = np.hstack([size, -np.diff(ordered, axis=1)])
    middle, before, after = size[1:-1], size[:-2], size[2:]
    low = (middle < before) & (middle < after) & (middle < 2 * (before + after - 2 * middle))
    near = np.flatnonzero(np.any(low, axis=1)) + 1
    cells = np.union1d(near - 1, near)
    parts = [np.geomspace(grid[c], grid[c + 1], 10)[1:-1] for c in cells]
    return np.concatenate(parts) if parts else np.array([])


def _signs(setting: Setting, points: Points) -> np.ndarray:
    """Signs of coefficients; 0 where one is rounding, or not clear of its own noise."""
    scale = np.maximum(np.abs(points.error + setting.prediction), abs(setting.prediction))
    scale = np.maximum(scale, np.max(np.abs(points.coef), axis=1))
    least = np.maximum(ROUNDING * scale[:, None], CLEAR * points.stderr)
    return np.where(np.abs(points.coef) > least, np.sign(points.coef), 0.0)


def _leaders(setting: Setting, points: Points) -> np.ndarray:
    """The features of the three largest coefficients in order, with their signs, (m, 3).

    A feature j is j + 1 with its sign; 0 stands where there is none. Equal ones go by position.
    """
    exact = points._replace(stderr=np.zeros_like(points.stderr))
    coef = points.coef * (_signs(setting, exact) != 0)
    top = np.max(np.abs(coef), axis=1, keepdims=True)
    size = np.round(np.abs(coef) / np.where(top > 0, top, 1.0), 9)
    first = np.argsort(-size, axis=1, kind="stable")[:, :TOP]
    return (first + 1) * np.take_along_axis(np.sign(coef), first, axis=1)


def _leading(setting: Setting, points: Points) -> np.ndarray:
    """Which features are among the largest three at some bandwidth, (d,) of bool."""
    found = np.zeros(setting.d, bool)
    leaders = np.abs(_leaders(setting, points)).astype(int)
    found[np.unique(leaders[leaders > 0]) - 1] = True
    return found


def _notes(setting: Setting, points: Points, critical: list[np.ndarray]) -> tuple[str, ...]:
    """What a reader of the path should know."""
    notes, names = [], setting.boxes.names
    signs = _signs(setting, points)
    silent = ~np.any(signs != 0, axis=0)
    sampled = np.any(points.stderr > 0, axis=0)
    for mask, words in (
        (silent & ~sampled, "is zero at every bandwidth, so that none is critical"),
        (silent & sampled, "cannot be told from zero at any bandwidth; raise samples="),
    ):
        if np.any(mask):
            listed = arg.shorten([names[j] for j in np.flatnonzero(mask)])
            notes.append(f"The coefficient of {int(mask.sum())} feature(s) {listed} {words}.")
    unknown = ~np.isfinite(points.stderr)
    if np.any(unknown):
        notes.append(
            f"Standard errors are given as infinite for {int(np.sum(np.any(unknown, axis=0)))} "
            f"feature(s) at {np.mean(np.any(unknown, axis=1)):.0%} of the places looked at: fewer "
            f"than {FEW} effective samples on one side of xi's box, or f too large for a double; "
            "raise samples= or nu, or rescale f."
        )
    if np.any(points.weight < OWN_ROW):
        notes.append(
            "At the narrow end xi's own row, of weight 1, outweighs all others together: runs of "
            "`lime` with another seed differ widely there, and these numbers are no limit."
        )
    return tuple(notes)


def _advice(
    setting: Setting,
    grid: np.ndarray,
    points: Points,
    critical: list[np.ndarray],
    ranges: list[tuple[float, float]],
    ends: list[tuple[float, float]],
    n: int,
) -> Recommendation:
    """The smallest bandwidth that nothing speaks against, in the widest range that has one.

    ``critical`` and ``ends``, those of the ranges, have what is just outside the path as well.
    """
    whole = f"between {grid[0]:.3g} and {grid[-1]:.3g}"
    if not np.any(_leaders(setting, points)):
        return Recommendation(None, f"No effect is to be seen at any bandwidth {whole}.")
    need = ENOUGH * (setting.d + 1)
    counts = (n * points.share >= need) & (points.weight >= OWN) & _unshrunk(points)
    if not np.any(n * points.share >= need):
        most = n * float(points.share.max())
        return Recommendation(
            None,
            f"None is good: of {n:,} samples at most {most:,.0f} count {whole}, and "
            f"{setting.d + 1} coefficients want {need:,}; draw more samples.",
        )
    leading = _leading(setting, points)
    every = np.concatenate([np.array([]), *critical])
    some = np.concatenate([np.array([]), *(critical[j] for j in np.flatnonzero(leading))])
    wide = [both for both in zip(ranges, ends, strict=True) if both[0][1] / both[0][0] >= WORTH]
    wide.sort(key=lambda both: -np.log(both[0][1] / both[0][0]))
    outer = grid[0] / OUTSIDE, grid[-1] * OUTSIDE
    for margin, zeros, (here, (lo, hi)) in product(INSIDE, (every, some), wide):
        first, last = _within(lo, outer[0], 1 + margin), _within(hi, outer[1], 1 / (1 + margin))
        inside = (grid >= max(first, here[0])) & (grid <= min(last, here[1]))
        good = np.flatnonzero(inside & counts & _clear_of(zeros, grid))
        if len(good):
            return _recommended(setting, grid, points, int(good[0]), here, margin, n)
    return Recommendation(None, _why_none(whole, bool(wide), some, grid, counts, need, n))


def _unshrunk(points: Points) -> np.ndarray:
    """Where a penalty leaves the largest three coefficients nearly as they are, (m,) of bool."""
    first = np.argsort(-np.abs(points.coef), axis=1)[:, :TOP]
    return np.min(np.take_along_axis(points.kept, first, axis=1), axis=1) >= LEFT


def _within(end: float, outer: float, factor: float) -> float:
    """The end of a range, moved inwards unless it is only where nobody looked further."""
    return end if np.isclose(end, outer, rtol=1e-9, atol=0) else end * factor


def _clear_of(zeros: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Which bandwidths are not near any of these, (m,) of bool."""
    if not len(zeros):
        return np.ones(len(grid), bool)
    distance = np.min(np.abs(np.log(grid[:, None] / zeros)), axis=1)
    return distance > np.log1p(NEAR)


def _recommended(
    setting: Setting,
    grid: np.ndarray,
    points: Points,
    i: int,
    ends: tuple[float, float],
    margin: float,
    n: int,
) -> Recommendation:
    nu = float(f"{grid[i]:.3g}")
    three = min(TOP, setting.d)
    words = "the strongest effect keeps its sign" if three == 1 else (
        f"the {'two' if three == 2 else 'three'} strongest effects keep their signs and their order"
    )  # fmt: skip
    own = getattr(setting.world, "nu", None)
    beside = ""
    if own is not None:
        beside = f" The explainer's own {own:.3g} {'is' if ends[0] <= own <= ends[1] else 'is not'} in that range."
    return Recommendation(
        nu,
        f"Bandwidth {nu:g}: from {ends[0]:.3g} to {ends[1]:.3g} {words}, no leading effect is zero "
        f"within 5% of it, and {n * points.share[i]:,.0f} of {n:,} samples count. It is the narrowest "
        f"that is {margin:.0%} away from any change of these; there the explanation is off by {abs(points.error[i]):.2g} from the "
        f"prediction {setting.prediction:.4g}.{beside}",
    )


def _why_none(
    whole: str,
    wide: bool,
    zeros: np.ndarray,
    grid: np.ndarray,
    counts: np.ndarray,
    need: int,
    n: int,
) -> str:
    if not wide:
        return (
            f"None is good: {whole} there is no stretch of {WORTH - 1:.0%} over which the strongest "
            "effects keep their signs and their order."
        )
    if not np.any(counts):
        return (
            f"None is good: {whole}, wherever {need:,} of {n:,} samples count, the row's own weight or "
            "the penalty decides; draw more samples."
        )
    if not np.any(counts & _clear_of(zeros, grid)):
        return (
            f"None is good: {whole}, wherever {need:,} of {n:,} samples count, a leading effect is "
            "zero within 5% of the bandwidth."
        )
    return (
        f"None is good: {whole}, wherever {need:,} of {n:,} samples count, the order or the signs of "
        "the strongest effects change within 10% of the bandwidth."
    )


def _over_boxes(
    setting: Setting, asked: _Asked, ridge: float, n: int | None, samples: int, seed: Any
) -> Path:
    """The path over numbers of boxes, which has places and no zeros between them."""
    world, counts = setting.world, asked.boxes
    if not isinstance(world, Gaussian | Empirical):
        raise ValueError(
            "world must be an lt.Gaussian or an lt.Empirical with boxes=, got one with boxes of its "
            "own; make the explainer anew to cut otherwise."
        )
    if isinstance(world, Empirical) and counts[-1] > len(world.table):  # type: ignore[attr-defined]
        raise ValueError(
            f"boxes must be at most {len(world.table)}, one per row of the table, got {counts[-1]}."  # type: ignore[attr-defined]
        )
    curve = Boxed(setting, ridge, n, samples, seed)
    points = curve.at(counts)
    n = LIMES if n is None else n
    signs = _signs(setting, points)
    critical = [
        np.array([counts[k] for i, k in pairwise(np.flatnonzero(column)) if column[i] != column[k]])
        for column in signs.T
    ]
    leaders = _leaders(setting, points)
    turn = np.flatnonzero(np.any(leaders[1:] != leaders[:-1], axis=1))
    cuts = [0, *(turn + 1), len(counts)]
    lo, hi = max(pairwise(cuts), key=lambda ends: np.log(counts[ends[1] - 1] / counts[ends[0]]))
    stable = (float(counts[lo]), float(counts[hi - 1]))
    return Path(
        nu=np.full(len(counts), setting.nu),
        coef=points.coef,
        stderr=points.stderr,
        local_error=points.error,
        ess=n * points.share,
        critical=critical,
        critical_stderr=[np.zeros(len(zeros)) for zeros in critical],
        stable=stable,
        boxes=counts,
        names=setting.boxes.names,
        prediction=setting.prediction,
        kernel=setting.kernel.name,
        ridge=ridge,
        n=n,
        method=curve.method,
        notes=_notes(setting, points, critical),
        advice=_advised_boxes(setting, counts, points.error, (lo, hi - 1)),
        setting=setting,
    )


def _advised_boxes(
    setting: Setting, counts: np.ndarray, error: np.ndarray, run: tuple[int, int]
) -> Recommendation:
    """Of a run of numbers of boxes with one order, the one that is least off at xi."""
    first, last = run
    if first == last:
        return Recommendation(
            None,
            f"None is good: from {counts[0]} to {counts[-1]} boxes the order or the signs of the "
            "strongest effects change with every number that was looked at.",
        )
    best = first + int(np.argmin(np.abs(error[first : last + 1])))
    return Recommendation(
        setting.nu,
        f"{counts[best]} boxes: from {counts[first]} to {counts[last]} boxes the strongest effects keep "
        f"their signs and their order, and of these {counts[best]} boxes are least off at the "
        f"prediction, by {abs(error[best]):.2g}.",
        int(counts[best]),
    )
