"""The whole explanation as the bandwidth moves: :func:`limetutor.path`.

It holds every coefficient over the bandwidth (or the number of boxes): where it is zero (``critical``),
over which range signs and order of the strongest three stay (``stable``), how far the surrogate is off
and how many samples count. ``recommend()`` turns that into one bandwidth and the reason for it, or says
that none is good. Chapter: trust.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..core.boxes import Gaussian, World, check_world
from ..core.kernels import ProductKernel, kernel_of
from ..core.problem import Problem
from ..cubes.extension import Masses
from ..cubes.widths import MANY, Widths, widths_of
from ..inputs import arguments as arg
from ..inputs.worlds import penalty_and_rows
from ..lime.columns_and_classes import output_in_world
from ..lime.empirical import Empirical
from ..lime.read_explainer import from_lime, is_named
from ..lime.runs import one_label, renamed
from ..plotting import page as report
from ..plotting.result_page import frame_in_notebook, to_html
from ..precision.diagnostics import MIN_EFFECTIVE, MIN_OTHER_WEIGHT
from ..results.result import PicklesWithoutModel, fitted_with, largest_first, pairs, plain
from .curves import BoxCountCurve, Curve, Points, curve_of
from .path_events import Section, changes, leaders, signs
from .recommend import Recommendation, recommended_bandwidth, recommended_boxes, with_shapley
from .roots import sign_changes

MODEL_SAMPLES = 20_000  # of a model without a form, for all bandwidths together
DEFAULT_BANDWIDTHS = 61  # of a path, unless told otherwise
MAX_BOXES = 1000
EXPLAINER = "lime.lime_tabular.LimeTabularExplainer"


@dataclass(frozen=True, eq=False)
class Path(PicklesWithoutModel):
    """An explanation over the bandwidth, or over the number of boxes.

    ``nu`` (m,), ``coef`` and ``stderr`` (m, d; 0 unless ``method`` is "monte carlo"), ``local_error``
    and ``ess``, the effective samples of n (m,). ``critical`` holds for each feature the bandwidths
    between nu[0] and nu[-1] at which its coefficient is zero, ``critical_stderr`` their standard
    errors; both are empty for a coefficient that is zero throughout, and ``notes`` says so.
    ``stable`` is the widest interval (in log nu) in which the signs and the order of the three
    largest coefficients stay.

    Over the number of boxes ``boxes`` (m,) is set, nu is the same everywhere, and ``critical`` holds
    the numbers of boxes at which a sign is not what it was at the number before.

    Examples
    --------
    >>> import limetutor as lt
    >>> path = lt.path(lt.Linear([10, -10]), [0.961, 0.432], lt.Gaussian())
    >>> path.critical[1].round(2)
    array([0.53])
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
    setting: Problem = field(repr=False)

    problem_fields = ("setting", "advice")

    @property
    def places(self) -> np.ndarray:
        """What the path goes over: bandwidths, or numbers of boxes."""
        return self.nu if self.boxes is None else self.boxes

    def recommend(self) -> Recommendation:
        """Recommend a bandwidth, with the reason; ``nu`` is None where none is good.

        It is the smallest one at which enough samples count (30 a coefficient) and a penalty takes at
        most a tenth off the strongest effects, 50% inside a range in which signs and order of the three
        largest coefficients stay (25% or 10% where there is no such one), the widest range first, and
        never within 5% of a bandwidth at which a leading coefficient is zero. In a world read from `lime`
        it is none at which the surrogate is further off the prediction than at the explainer's own.
        """
        return self.advice

    def widths(self, m: int = 1) -> Widths:
        """The m bandwidths of which a weighted sum is the Shapley value on boxes; see :func:`cube`.

        For boxes of xi of the same mass, up to interactions of order 2m. Of kernel "mismatch".
        """
        if self.kernel != "mismatch" or self.world.regression is not None:
            raise ValueError(
                "kernel must be 'mismatch', in a world with boxes, for the bandwidths of Shapley values, got "
                f"{self.kernel!r}."
            )
        return widths_of(Masses.of(self.setting), arg.whole("m", m, 1, most=MANY))

    def order(self) -> np.ndarray:
        """Features from the one whose coefficient gets largest to the one that stays smallest."""
        return largest_first(np.max(np.abs(self.coef), axis=0))

    def as_list(self) -> list[list[tuple[str, float]]]:
        """A list for each bandwidth (or number of boxes): pairs of name and coefficient, largest first."""
        return [pairs(self.names, coef, largest_first(coef)) for coef in self.coef]

    def to_frame(self) -> Any:
        """The coefficients as a DataFrame: a row a bandwidth (or number of boxes), a column a feature."""
        import pandas as pd

        name = "nu" if self.boxes is None else "boxes"
        index = pd.Index(self.places, name=name)
        return pd.DataFrame(self.coef, index=index, columns=list(self.names))

    def to_dict(self) -> dict[str, Any]:
        """All results in plain Python types, ready for JSON."""
        return super().to_dict() | {"recommendation": plain(self.advice._asdict())}

    def summary(self) -> str:
        """The reason for the recommendation."""
        return self.advice.reason

    def to_html(  # type: ignore[override]
        self, path: Any = None, *, title: str | None = None, top: int = 20, symbols: bool = False
    ) -> str | None:
        """A page that stands alone: the recommendation, a picture, what turns where."""
        if title is None:
            title = "Which bandwidth?" if self.boxes is None else "Which number of boxes?"
        return to_html(self, path, title, self.notes, top=top, symbols=symbols)

    def blocks(self, top: int = 20, symbols: bool = False) -> list[report.Markup]:  # type: ignore[override]
        """The parts of that page."""
        over = "number of boxes" if self.boxes is not None else "ν" if symbols else "bandwidth"
        first, last = (report.number(end, 3) for end in self.stable)
        best = "none" if self.advice.nu is None else self.advice.boxes or self.advice.nu
        facts = [
            (f"recommended {over}", best),
            ("signs and order of the strongest stay", f"from {first} to {last}"),
            ("f(ξ)" if symbols else "the model's prediction", self.prediction),
            ("where the numbers come from", self.method),
        ]
        parts = [report.facts(facts)]
        if report.can_draw():
            words = f"Lines for the effects over the {over}. {self.said()}"
            parts.append(report.picture(self.plot(), words))
        i = int(np.argmin(np.abs(np.log(self.places / best)))) if best != "none" else -1
        rows = []
        for j in self.order()[:top]:
            zeros = ", ".join(report.number(zero) for zero in self.critical[j]) or "nowhere"
            rows.append((self.names[j], *self.coef[[i, 0, -1], j].tolist(), zeros))
        narrow, wide = "narrowest", "widest"
        if self.boxes is not None:
            narrow, wide = "fewest boxes", "most boxes"
        at = ("recommended" if best != "none" else wide, narrow, wide)
        columns = ["feature", *(f"effect at the {place}" for place in at), f"turns at {over}"]
        return [*parts, report.table("Effects, the largest first", columns, rows)]

    def said(self) -> str:
        """The path in words: the stable range, and where coefficients turn."""
        return "; ".join(_in_words(self)) + "."

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """Coefficients over the bandwidth, their zeros and the stable range, as a figure."""
        from ..plotting.results import path as draw

        return draw(self, ax=ax, top=top, title=title)

    def __repr__(self) -> str:
        places, over = self.places, "bandwidth" if self.boxes is None else "number of boxes"
        lines = [
            f"Path of the explanation of f(xi) = {self.prediction:.4g} over the {over}, "
            f"{places[0]:.3g} to {places[-1]:.3g}, {self.kernel} kernel"
            f"{fitted_with(self.ridge, self.n if self.ridge else None)} ({self.method})"
        ]
        lines += [f"  {words}" for words in _in_words(self)]
        lines += [f"  recommended: {self.advice.reason}"]
        return "\n".join(lines + [f"  note: {text}" for text in self.notes])

    def _repr_html_(self) -> str:
        return frame_in_notebook(repr(self).splitlines(), self.to_frame())


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
    f: Any, xi: Any, world: World, kernel: Any = None, nu: Any = None, *,
    ridge: float | None = None, n: float | None = None, output: Any = None, label: int | str | None = None, boxes: Any = None,
    samples: int = MODEL_SAMPLES, seed: int | None = 0, **options: Any,
) -> Path:  # fmt: skip
    """Follow an explanation over the bandwidth, or over the number of boxes.

    Parameters
    ----------
    f, xi, world, output
        As in :func:`limit`; or ``path(explainer, f, xi)`` with a ``LimeTabularExplainer``, where
        ``num_samples=`` and ``labels=`` of `lime` are understood too.
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
        Numbers of boxes to go over in place of the bandwidth: the features of an lt.Gaussian, or of an
        lt.Empirical without ``edges``, are cut into so many.
    samples, seed
        How a model without a closed form is sampled, once for all bandwidths.

    Returns
    -------
    Path
        Coefficients by bandwidth, their zeros, and a recommendation.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear
    >>> found = path(Linear([10, -10]), [0.961, 0.432], Gaussian())
    >>> [zeros.round(3).tolist() for zeros in found.critical]
    [[], [0.53]]
    """
    explainer, f, xi, world = _in_order(f, xi, world)
    theirs = {} if explainer is None else {"num_samples": "n", "labels": "label"}
    words = renamed(options, theirs, {"n": n, "label": label}, "path")
    n, label = words["n"], one_label(label, options.get("labels"))
    check_world(world, boxes=False)
    kernel = world.kernel if kernel is None else kernel
    tilts = isinstance(kernel_of(kernel), ProductKernel)
    nus = np.array([])
    if nu is not None:
        nus = np.unique([arg.bandwidth("nu", value) for value in arg.vector("nu", nu)])
    if boxes is not None:
        if len(nus) != 1:
            raise ValueError(
                "nu must be one bandwidth with boxes=, which go over the number of boxes, got "
                f"{len(nus) or 'none'}."
            )
        counts = arg.vector("boxes", boxes)
        boxes = np.unique([arg.whole("boxes", count, 2, most=MAX_BOXES) for count in counts])
    output = output_in_world(f, xi, world, label, output)
    if label is not None and hasattr(world, "class_names"):
        world = replace(world, class_names=())  # type: ignore[type-var]  # which have been read
    problem = Problem.of(
        f, xi, world, float(nus[0]) if len(nus) else 1.0, kernel, output,
        purpose="its path" if tilts else None, boxes_needed=not tilts,
    )  # fmt: skip
    ridge, n = penalty_and_rows(ridge, n, world)
    samples = arg.whole("samples", samples, 2 * (problem.d + 1))
    arg.seed("seed", seed)
    if boxes is not None:
        return _over_boxes(BoxCountCurve(problem, ridge, n, samples, seed), boxes)
    if nu is None:
        nus = default_bandwidths(problem)
    problem = problem.at(float(np.sqrt(nus[0] * nus[-1])))
    curve = curve_of(problem, (ridge, n, samples, seed), (float(nus[0]), float(nus[-1])))
    section = Section.of(curve, nus)
    shown = Points(*(part[np.searchsorted(section.grid, nus)] for part in section.points))
    critical, critical_stderr = section.zeros
    return _path(
        curve, shown, nu=nus, critical=critical, critical_stderr=critical_stderr,
        stable=max(section.ranges, key=lambda ends: np.log(ends[1] / ends[0])), boxes=None,
        notes=_notes(problem, section.points), advice=with_shapley(recommended_bandwidth(section), problem),
    )  # fmt: skip


def _in_order(f: Any, xi: Any, world: Any) -> tuple[Any, Any, Any, Any]:
    """An explainer of `lime`, if one stands first or in place of the world; then f, xi and the world."""
    explainers = [is_named(part, EXPLAINER) for part in (f, world)]
    if explainers[0]:
        f, xi, world = xi, world, f
    return (world, f, xi, from_lime(world)) if any(explainers) else (None, f, xi, world)


def default_bandwidths(problem: Problem) -> np.ndarray:
    """Bandwidths from narrow to wide, evenly spaced in their logarithm.

    Weights on x: from a tenth of the smallest deviation of a feature to ten times the largest.
    Weights on boxes, which count how many differ: from 1/4 to 4 sqrt(d), around `lime`'s 3/4 sqrt(d).
    """
    if not problem.kernel.measures_x:
        return np.geomspace(0.25, 4 * np.sqrt(problem.d), DEFAULT_BANDWIDTHS)
    boxes = problem.boxes
    unit = np.broadcast_to(np.asarray(boxes.unit, float), (problem.d,))
    scale = np.where(boxes.ordered, boxes.sigma / unit, 1.0)
    scale = scale[scale > 0] if np.any(scale > 0) else np.ones(1)
    return np.geomspace(0.1 * scale.min(), 10 * scale.max(), DEFAULT_BANDWIDTHS)


def _over_boxes(curve: BoxCountCurve, counts: np.ndarray) -> Path:
    """The path over numbers of boxes, which has places and no zeros between them."""
    problem, world = curve.problem, curve.problem.world
    if not isinstance(world, Gaussian | Empirical):
        raise ValueError(
            "world must be an lt.Gaussian or an lt.Empirical with boxes=, got one with boxes of its "
            "own; make the explainer anew to cut otherwise."
        )
    if isinstance(world, Empirical) and world.edges:
        raise ValueError(
            "world must be cut at quantiles with boxes=, which go over their number, got one with "
            f"edges for {arg.shorten(list(world.edges))}; leave edges= out."
        )
    most = len(getattr(world, "table", range(MAX_BOXES)))
    if counts[-1] > most:
        raise ValueError(
            f"boxes must be at most {most}, one per row of the table, got {counts[-1]}."
        )
    points = curve.at(counts)
    feature, _, after = sign_changes(signs(points, problem.prediction))
    critical = [counts[after[feature == j]] for j in range(problem.d)]
    starts = [0, *(changes(leaders(points, problem.prediction)) + 1), len(counts)]
    runs = [(first, beyond - 1) for first, beyond in pairwise(starts)]
    first, last = max(runs, key=lambda run: np.log(counts[run[1]] / counts[run[0]]))
    return _path(
        curve, points, nu=np.full(len(counts), problem.nu), critical=critical,
        critical_stderr=[np.zeros(len(zeros)) for zeros in critical],
        stable=(float(counts[first]), float(counts[last])), boxes=counts,
        notes=_notes(problem, points),
        advice=recommended_boxes(counts, points.error, first, last, problem.nu),
    )  # fmt: skip


def _path(curve: Curve, points: Points, **results: Any) -> Path:
    """The path along a curve, with these results for the fields that do not follow from its points."""
    problem = curve.problem
    return Path(
        coef=points.coef, stderr=points.stderr, local_error=points.error,
        ess=curve.sample_size * points.share, names=problem.boxes.names,
        prediction=problem.prediction, kernel=problem.kernel.name, ridge=curve.ridge,
        n=curve.sample_size, method=curve.method, setting=problem, **results,
    )  # fmt: skip


def _notes(problem: Problem, points: Points) -> tuple[str, ...]:
    """What a reader of the path should know."""
    notes, names = list(problem.form_notes), problem.boxes.names
    silent = ~np.any(signs(points, problem.prediction) != 0, axis=0)
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
            f"than {MIN_EFFECTIVE} effective samples on one side of xi's box, or f too large for a double; "
            "raise samples= or nu, or rescale f."
        )
    if np.any(points.weight < MIN_OTHER_WEIGHT):
        notes.append(
            "At the narrow end xi's own row, of weight 1, outweighs all others together: runs of "
            "`lime` with another seed differ widely there, and these numbers are not a limit."
        )
    return tuple(notes)
