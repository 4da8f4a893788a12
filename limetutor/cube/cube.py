"""LIME, Shapley values and Anchors as readings of one function: :func:`limetutor.cube`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..core.boxes import World, check_world
from ..core.models import SlowSeriesError
from ..core.problem import Problem
from ..inputs import arguments as arg
from ..inputs.predictors import model_behind
from ..lime.columns_and_classes import output_in_world
from ..results.result import BaseResult, DroppedModel, PicklesWithoutModel, plain, wing
from .classes import Answers, table_of
from .draws import Draws, Pool
from .extension import (
    Estimate,
    Extension,
    FormExtension,
    Masses,
    banzhaf_of,
    interactions_of,
    shapley_of,
)
from .rules import ExactPrecisions, Precision, Rule, SampledPrecisions, best_rule
from .widths import MANY, Widths, are_equal, widths_of

DRAWS = 20_000  # of a model without a form
INDICES = ("shapley", "banzhaf")
FUNCTIONS = ("value", "class")


@dataclass(frozen=True, eq=False, repr=False)
class Reading(BaseResult):
    """Numbers read off F: ``coef``, their standard errors ``stderr``, and where they come from.

    ``of`` is the function, "value" (f) or "class" (the indicator of the class of xi); ``method`` is
    "exact", "quadrature" or "sampled", from ``n`` draws. LIME's ``intercept`` is its own, that of
    Shapley and Banzhaf values is F(p). ``np.asarray`` of a reading is ``coef``.
    """

    what: str
    coef: Any
    stderr: Any
    intercept: Any
    names: tuple[str, ...]
    of: str
    method: str
    n: int = 0

    @property
    def how(self) -> str:
        """Where the numbers come from, in words."""
        if not self.n:
            return self.method
        return f"sampled, n = {self.n:,}, ± {np.max(self.stderr, initial=0.0):.2g}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.coef, dtype=dtype, copy=copy)

    def to_frame(self) -> Any:
        """A DataFrame with a row for each feature (of interactions a square one, of widths a row each)."""
        if np.ndim(self.coef) == 1 and len(self.coef) == len(self.names):
            return super().to_frame()
        import pandas as pd

        square = np.shape(self.coef) == (len(self.names),) * 2 and "interaction" in self.what
        columns = list(self.names) if np.ndim(self.coef) == 2 else ["value"]
        values = self.coef if np.ndim(self.coef) == 2 else np.reshape(self.coef, (-1, 1))
        return pd.DataFrame(values, index=columns if square else None, columns=columns)

    def __repr__(self) -> str:
        about = "f" if self.of == "value" else "the class of xi"
        return f"{self.what} of {about} ({self.how})\n{np.array_repr(np.asarray(self.coef))}"


@dataclass(frozen=True, eq=False, repr=False)
class Cube(PicklesWithoutModel):
    """F for f and for its class at xi: the mean where feature j lies in xi's box with probability t_j.

    LIME with the mismatch kernel is the gradient of F at one place on the way from p (``mass``) to 1,
    the Shapley values on boxes (``coef``) are its mean along that way, and rules are corners.
    ``notes`` say what holds for these masses.

    Examples
    --------
    >>> import limetutor as lt
    >>> cube = lt.cube(lt.Quadratic([[0, 1], [1, 0]]), [1.0, 1.0], lt.Gaussian())
    >>> nu, weights, _ = cube.widths(1)
    >>> cube.coef.round(3), (weights * cube.lime(nu).coef).sum(axis=0).round(3)
    (array([1.616, 1.616]), array([1.616, 1.616]))
    """

    coef: np.ndarray
    stderr: np.ndarray
    intercept: float
    names: tuple[str, ...]
    mass: np.ndarray
    prediction: float
    tolerance: float | None
    output: Any
    notes: tuple[str, ...]
    method: str
    draws: int
    n: int
    seed: int | None
    masses: Masses = field(repr=False)
    value: Any = field(repr=False)
    answers: Any = field(repr=False)
    setting: Problem = field(repr=False)

    problem_fields: ClassVar[tuple[str, ...]] = ("setting", "value", "answers", "masses")
    page_title = "LIME, Shapley values and rules as readings of one function"

    def __getstate__(self) -> dict[str, Any]:
        """Without the model and what was read off it, but for the Shapley values."""
        dropped = DroppedModel(self.setting.f)
        state = super().__getstate__() | {"value": dropped, "answers": dropped}
        return {name: part for name, part in state.items() if name not in ("pool", "label")}

    @property
    def local_prediction(self) -> float:
        """F(1), the mean of f in xi's boxes: what intercept and coefficients add up to."""
        return self.intercept + float(np.sum(self.coef))

    def at(self, t: Any, of: str = "value") -> Reading:
        """F(t): the mean of f (or of the class) where feature j lies in xi's box with probability t_j."""
        t = arg.numbers("t", t)
        if t.ndim not in (1, 2) or t.shape[-1] != len(self.names) or np.any((t < 0) | (t > 1)):
            raise ValueError(
                f"t must hold {len(self.names)} probabilities, or a row of them each, "
                f"got {arg.shorten(t)}."
            )
        extension = self._extension(of)
        means = extension.at(np.atleast_2d(t))[0]
        return self._reading(
            "F", extension, of, Estimate(*(v[0] if t.ndim == 1 else v for v in means))
        )

    def lime(self, nu: Any, of: str = "value") -> Reading:
        """LIME's coefficients at a width (d,), or at many (k, d), without ridge: d_j F(alpha(nu)).

        With the mismatch kernel, as n grows; ``nu=np.inf`` counts all samples alike.
        """
        widths = np.array(nu, float)
        if widths.ndim > 1 or not widths.size or not np.all(widths > 0):
            raise ValueError(
                f"nu must be one width above 0 or a list of them, got {arg.shorten(nu)}."
            )
        extension = self._extension(of)
        alpha = self.masses.alpha(np.atleast_1d(widths))
        means, slopes = extension.at(alpha)
        intercept = means.value - np.sum(
            np.where(self.masses.constant, 0.0, alpha) * slopes.value, axis=1
        )
        parts = (*slopes, intercept)
        coef, stderr, intercept = (part[0] if widths.ndim == 0 else part for part in parts)
        at = f" at width {float(widths):.3g}" if widths.ndim == 0 else ""
        return self._reading(f"LIME{at}", extension, of, Estimate(coef, stderr), intercept)

    def shapley(self, of: str = "value") -> Reading:
        """Shapley values on boxes, (d,): a held feature lies in xi's box, another is drawn anew.

        With their ``intercept`` F(p) they add up to F(1), the mean of f in xi's boxes.
        """
        if of == "value":
            return Reading(
                "Shapley values", self.coef, self.stderr, self.intercept, self.names, of,
                self.method, self.draws,
            )  # fmt: skip
        extension = self._extension(of)
        return self._reading(
            "Shapley values", extension, of, shapley_of(extension), _start(extension)
        )

    def interactions(self, order: int = 2, index: str = "shapley", of: str = "value") -> Reading:
        """Shapley or Banzhaf interaction values of two features (d, d); of one on the diagonal.

        ``order=1`` gives those of one feature alone, (d,).
        """
        order = arg.whole("order", order, 1, most=2)
        arg.one_of("index", index, INDICES)
        extension = self._extension(of)
        single = shapley_of if index == "shapley" else banzhaf_of
        found = single(extension) if order == 1 else interactions_of(extension, index)
        what = f"{index.capitalize()} {'values' if order == 1 else 'interaction values'}"
        return self._reading(what, extension, of, found, _start(extension))

    def mean_over_widths(self, of: str = "value") -> Reading:
        """LIME averaged over its widths: psi_j, the integral of alpha_j (1 - alpha_j) beta_j over 1/2nu^2.

        It adds up to F(1) - F(p). Where all masses are equal it is the Shapley value; else feature i
        enters before j with probability h(p_i / p_j), h(r) = r (r - 1 - log r) / (r - 1)^2, not 1/2.
        """
        extension, widths = self._extension(of), widths_of(self.masses, MANY)
        found = extension.averaged(self.masses.alpha(widths.nu), widths.weights)
        return self._reading(
            "Mean of LIME over its widths", extension, of, found, _start(extension)
        )

    def widths(self, m: int = 1) -> Widths:
        """The m widths of which a weighted sum is the Shapley value, up to interactions of order 2m."""
        return widths_of(self.masses, arg.whole("m", m, 1, most=MANY))

    def rule(self, features: Any) -> Rule:
        """The rule that these features, by name or position, lie in xi's boxes."""
        rule = self._positions(features)
        (precision,) = self._precisions().final([rule], 1.0)
        return self._rule(rule, precision)

    def anchor(self, precision: float = 0.95) -> Rule:
        """The rule of largest coverage whose precision is at least this, and a certificate of that."""
        target = float(arg.numbers("precision", precision))
        if not 0 < target <= 1:
            raise ValueError(f"precision must be above 0 and at most 1, got {target:g}.")
        precisions = self._precisions()
        p = np.where(self.masses.constant, 1.0, self.mass)
        found = best_rule(precisions, p, target)
        (got,) = precisions.final([found.rule], target)
        rule = self._rule(found.rule, got)
        words = _certificate(rule, found, target)
        return Rule(**rule.__dict__ | {
            "target": target, "found": found.reaches, "bound": found.bound, "certificate": words,
        })  # fmt: skip

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """The way from p to 1: LIME at its widths, its mean, and the corner of the anchor, as a figure."""
        return wing("plotting.cubes").cube(self, ax=ax, top=top, title=title)

    figure = plot

    def to_frame(self) -> Any:
        """A DataFrame with a row for each feature: box, mass, Shapley value and standard error."""
        frame = super().to_frame()
        frame.insert(0, "mass", self.mass)
        frame.insert(0, "condition", list(self.box_names))
        return frame

    def to_dict(self) -> dict[str, Any]:
        """All numbers and names, in plain Python types, ready for JSON."""
        return super().to_dict() | {"conditions": plain(self.box_names)}

    def __repr__(self) -> str:
        lines = [
            f"Shapley values on the boxes of xi, f(xi) = {self.prediction:.4g} ({self.shapley().how})"
        ]
        for j in self.order()[:10]:
            error = f" ± {self.stderr[j]:<8.2g}" if self.draws else ""
            lines.append(f"  {self.coef[j]:+10.4g}{error} {' '.join(self.box_names[j].split())}")
        if len(self.coef) > 10:
            lines.append(f"  ... and {len(self.coef) - 10} more")
        lines.append(
            f"  from the mean {self.intercept:.4g} of f to its mean in xi's boxes {self.local_prediction:.4g}"
        )
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    @cached_property
    def pool(self) -> Pool:
        """The draws of what has to be sampled."""
        return Pool.of(self.setting, self.answers, self.masses, self.n, self.seed)

    @cached_property
    def label(self) -> Extension:
        """F of the class indicator."""
        if not self.answers.has_class:
            raise ValueError(
                "tolerance must be given for rules about an f of one output: the same as at xi is then "
                "what lies within it of f(xi); or f must be a classifier, got neither."
            )
        tables = table_of(self.answers, self.masses, self.n)
        if tables is not None:
            return tables[1]
        form = self.answers.form_of_class()
        if form is not None:
            return FormExtension.of(form, self.setting, self.masses)
        return Draws(self.pool, self.pool.rows.answers[:, 1])

    def _extension(self, of: str) -> Extension:
        if isinstance(self.value, DroppedModel):
            self.value()
        return self.value if arg.one_of("of", of, FUNCTIONS) == "value" else self.label

    def _precisions(self) -> Any:
        extension = self._extension("class")
        if not extension.n:
            return ExactPrecisions(extension)
        return SampledPrecisions(self.pool, self.setting, self.answers, self.seed)

    def _positions(self, features: Any) -> tuple[int, ...]:
        listed = [features] if isinstance(features, str | int | np.integer) else features
        if not isinstance(listed, Sequence | np.ndarray | set):
            raise TypeError(f"features must be names or positions, got {arg.shorten(features)}.")
        positions = []
        for feature in listed:
            if isinstance(feature, str) and feature in self.names:
                positions.append(self.names.index(feature))
            elif arg.is_integer(feature) and 0 <= int(feature) < len(self.names):
                positions.append(int(feature))
            else:
                raise ValueError(
                    f"features must be of {arg.shorten(list(self.names))} or positions from 0 to "
                    f"{len(self.names) - 1}, got {arg.shorten(feature)}."
                )
        return tuple(sorted(set(positions)))

    def _rule(self, rule: tuple[int, ...], precision: Precision) -> Rule:
        return Rule(
            rule, tuple(self.names[j] for j in rule), tuple(self.box_names[j] for j in rule),
            precision.value, float(np.prod(self.mass[list(rule)])), precision.stderr,
            precision.interval(), precision.n,
        )  # fmt: skip

    def _reading(
        self, what: str, extension: Extension, of: str, found: Estimate, intercept: Any = 0.0
    ) -> Reading:
        source = (self.names, of, extension.method, extension.n)
        return Reading(what, found.value, found.stderr, intercept, *source)


def _start(extension: Extension) -> float:
    """F(p)."""
    return float(extension.at(extension.masses.p[None])[0].value[0])


def _certificate(rule: Rule, found: Any, target: float) -> str:
    """What is known about rules that cover more."""
    doubt = "" if rule.method == "exact" else " (by draws, each at four standard errors)"
    ruled_out = f"no rule that covers more than {found.bound:.3g} has precision {target:g}{doubt}"
    looked = f"{found.looked_at:,} rules looked at"
    if not found.reaches:
        return f"not found: {looked}, this is the most precise of them; {ruled_out}"
    if found.bound <= rule.coverage * (1 + 1e-9):
        return f"the best: {ruled_out}; {looked}"
    return f"another rule may cover up to {found.bound / rule.coverage:.3g} times as much: {ruled_out}; {looked}"


def cube(
    f: Any, xi: Any, world: World, *, output: Any = None, label: Any = None,
    tolerance: float | None = None, n: int = DRAWS, seed: int | None = 0,
) -> Cube:  # fmt: skip
    """LIME at every width, Shapley values, interactions and rules of f at xi, on the boxes of a world.

    All are readings of one function, F(t): the mean of f where feature j lies in xi's box with
    probability t_j, on its own.

    Parameters
    ----------
    f, xi, world, output
        As in :func:`limit`.
    label
        The output as `lime` and :func:`audit` count it, see :func:`path`.
    tolerance
        What counts as the same prediction in rules: within this of f(xi). A classifier needs none: the
        same is what has the largest probability at xi.
    n, seed
        How a model without a form is sampled, once for all readings; single rules are drawn for again.

    Returns
    -------
    Cube
        Shapley values, and methods for everything else.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear
    >>> found = cube(Linear([10, -10]), [0.961, 0.432], Gaussian(), tolerance=3)
    >>> found.shapley().coef.round(2), found.anchor(0.8).names
    (array([12.71, -3.25]), ('x1', 'x2'))
    """
    check_world(world)
    f = model_behind(f)
    output = output_in_world(f, xi, world, label, output)
    problem = Problem.of(f, xi, world, 1.0, "mismatch", output, purpose="its cube")
    n = arg.whole("n", n, 4 * (problem.d + 1))
    seed = None if seed is None else arg.whole("seed", seed, 0)
    if tolerance is not None:
        tolerance = float(arg.numbers("tolerance", tolerance))
        if tolerance < 0:
            raise ValueError(f"tolerance must be at least 0, got {tolerance:g}.")
    masses, answers = Masses.of(problem), Answers(problem, tolerance)
    value, pool = _value_of(problem, masses, answers, n, seed)
    found = shapley_of(value)
    result = Cube(
        coef=found.value, stderr=found.stderr, intercept=_start(value), names=problem.boxes.names,
        mass=masses.p, prediction=problem.prediction, tolerance=tolerance, output=problem.output,
        notes=(*problem.form_notes, *_notes(problem, masses)),
        method=value.method, draws=value.n, n=n, seed=seed, masses=masses,
        value=value, answers=answers, setting=problem,
    )  # fmt: skip
    if pool is not None:
        result.__dict__["pool"] = pool
    return result


def _value_of(
    problem: Problem, masses: Masses, answers: Answers, n: int, seed: Any
) -> tuple[Extension, Pool | None]:
    """F of f: by its form, by a table of all values, or by draws."""
    if problem.form is not None:
        extension = FormExtension.of(problem.form, problem, masses)
        try:
            extension.at(masses.p[None])
        except SlowSeriesError:
            pass
        else:
            return extension, None
    tables = table_of(answers, masses, n)
    if tables is not None:
        return tables[0], None
    pool = Pool.of(problem, answers, masses, n, seed)
    return Draws(pool, pool.rows.answers[:, 0]), pool


def _notes(problem: Problem, masses: Masses) -> list[str]:
    """What holds with these masses."""
    notes, names, p = [], problem.boxes.names, masses.p[~masses.constant]
    if np.any(masses.constant):
        stuck = arg.shorten([names[j] for j in np.flatnonzero(masses.constant)])
        notes.append(
            f"{stuck} never leave the box of xi: their values are 0, and no rule needs them."
        )
    if not len(p):
        return notes
    if are_equal(masses):
        notes.append(
            f"All boxes have mass {p[0]:.3g}: the Shapley values are (1 - p) times the mean of LIME's "
            "coefficients along the way from p to 1, without ridge, as n grows."
        )
    else:
        notes.append(
            f"The boxes have masses from {p.min():.3g} to {p.max():.3g}: these are Shapley values still, but "
            "LIME averaged over its widths is not; it adds up to the same, and lets features with likely "
            "boxes enter earlier (mean_over_widths)."
        )
    return notes
