"""LIME, Shapley values and Anchors as readings of one function: :func:`limetutor.cube`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core.boxes import World, check_world
from ..core.problem import Problem
from ..inputs import arguments as arg
from ..inputs.predictors import model_behind
from ..lime.columns_and_classes import output_in_world
from ..results.explanation import ROUNDING
from ..results.printing import printed
from ..results.result import DroppedModel, PicklesWithoutModel, Result, plain, wing
from .classes import Answers
from .draws import MIN_PER_COEFFICIENT
from .extension import (
    Estimate,
    Extension,
    Masses,
    banzhaf_of,
    gauss_legendre,
    interactions_of,
    shapley_of,
)
from .readings import Diagonal, Reading
from .rules import Rule, best_rule
from .two_functions import TwoFunctions
from .widths import MANY, Widths, are_equal, over_all_widths, widths_of

DRAWS = 20_000  # for what has no closed form
PLACES = 21  # of a picture, from p to 1
INDICES = ("shapley", "banzhaf")
FUNCTIONS = ("value", "class")


@dataclass(frozen=True, eq=False, repr=False)
class Cube(PicklesWithoutModel):
    """F for f and for its class at xi: the mean where feature j lies in xi's box with probability t_j.

    LIME with the mismatch kernel is the gradient of F at one place on a path from p (``mass``) to 1.
    The mean of this gradient along the diagonal from p to 1, times 1 - p, is the vector of Shapley values on
    boxes (``coef``); rules are corners. Where all masses are equal, LIME's path is the diagonal.
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
    masses: Masses = field(repr=False)
    both: Any = field(repr=False)  # F of f and of its class
    setting: Problem = field(repr=False)

    problem_fields = ("setting", "both", "masses")
    notes_in_repr = False
    page_title = "LIME, Shapley values and rules as readings of one function"

    def __getstate__(self) -> dict[str, Any]:
        """Without the model and what was read off it, but for the Shapley values."""
        state = super().__getstate__() | {"both": DroppedModel(self.setting.f)}
        return state | {"diagonal": self.diagonal, "corner": self.__dict__.get("corner")}

    @property
    def local_prediction(self) -> float:
        """F(1), the mean of f in xi's boxes: what intercept and coefficients add up to."""
        return self.intercept + float(np.sum(self.coef))

    def at(self, t: Any, of: str = "value") -> Reading:
        """F(t): the mean of f (or of the class) where feature j lies in xi's box with probability t_j.

        What is sampled is drawn for anew: ``n`` draws shared by all t, but at least 2048 (or ``n``) at each.
        """
        t = arg.numbers("t", t)
        shaped = t.ndim in (1, 2) and t.size and t.shape[-1] == len(self.names)
        if not shaped or np.any((t < 0) | (t > 1)):
            raise ValueError(
                f"t must hold {len(self.names)} probabilities, or a row of them each, "
                f"got {arg.shorten(t)}."
            )
        extension = self._extension(of)
        means, n = extension.means(np.atleast_2d(t))
        found = Estimate(*(v[0] if t.ndim == 1 else v for v in means))
        return replace(self._reading("F", extension, of, found), n=n)

    def lime(self, nu: Any, of: str = "value") -> Reading:
        """LIME's coefficients at a width (d,), or at many (k, d), without ridge: d_j F(alpha(nu)).

        With the mismatch kernel, as n grows; ``nu=np.inf`` counts all samples alike.
        """
        widths = _widths(nu)
        extension = self._extension(of)
        alpha = self.masses.alpha(np.atleast_1d(widths))
        means, slopes = extension.at(alpha)
        intercept = means.value - np.sum(alpha * slopes.value, axis=1)
        parts = (*slopes, intercept)
        coef, stderr, intercept = (part[0] if widths.ndim == 0 else part for part in parts)
        at = f" at width {float(widths):.3g}" if widths.ndim == 0 else ""
        return self._reading(f"LIME{at}", extension, of, Estimate(coef, stderr), intercept)

    def shapley(self, of: str = "value") -> Reading:
        """Shapley values on boxes, (d,): a held feature lies in xi's box, another is drawn anew.

        With their ``intercept`` F(p) they add up to F(1), the mean of f in xi's boxes.
        """
        if arg.one_of("of", of, FUNCTIONS) == "value":
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
        enters before j with probability h(p_i / p_j), h(r) = r (r - 1 - log r) / (r - 1)^2, h(1) = 1/2.
        """
        extension, equal = self._extension(of), are_equal(self.masses)
        found = (
            shapley_of(extension)
            if equal
            else extension.weighted_slopes(*over_all_widths(self.masses))
        )
        what = "Mean of LIME over its widths"
        reading = self._reading(what, extension, of, found, _start(extension))
        return reading if equal or extension.n else replace(reading, method="quadrature")

    def widths(self, m: int = 1) -> Widths:
        """The m widths of which, for equal masses, a weighted sum is the Shapley value up to order 2m."""
        return widths_of(self.masses, arg.whole("m", m, 1, most=MANY))

    def rule(self, features: Any) -> Rule:
        """The rule that these features, by name or position, lie in xi's boxes."""
        self._extension("class")
        rule = _positions(features, self.names)
        (precision,) = self.both.precisions().final([rule])
        return Rule.of(rule, precision, self)

    def anchor(self, precision: float = 0.95) -> Rule:
        """The rule of largest coverage whose precision is at least this, and a certificate of that."""
        target = arg.scalar("precision", precision)
        if not 0 < target <= 1:
            raise ValueError(f"precision must be above 0 and at most 1, got {target:g}.")
        self._extension("class")
        precisions = self.both.precisions()
        p = np.where(self.masses.constant, 1.0, self.mass)
        found = best_rule(precisions, p, target)
        (got,) = precisions.final([found.rule])
        found = found._replace(reaches=precisions.reaches(got, target))  # with all its draws
        return Rule.of(found.rule, got, self).certified(found, target)

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """The diagonal from p to 1: slopes, Shapley values, LIME times 1 - p, and the corner of the anchor."""
        return wing("plotting.cubes").cube(self, ax=ax, top=top, title=title)

    figure = plot
    values = Result.values

    def to_shap(self) -> Any:
        """A ``shap.Explanation`` for shap's pictures, from F(p) upwards: Shapley values on boxes.

        What is missing from F(1), the mean of f in xi's boxes, to f(xi) is one more entry.
        """
        return super().to_shap()

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
        return printed(self)

    @property
    def _is_noisy(self) -> bool:
        return self.draws > 0

    def _headline(self) -> str:
        how = self.shapley().how
        return f"Shapley values on the boxes of xi, f(xi) = {self.prediction:.4g} ({how})"

    def _closing(self, xi: str) -> list[str]:
        rounding = ROUNDING * np.sum(np.abs([*self.coef, self.prediction]))
        start, end = (
            0.0 if abs(v) < rounding else v for v in (self.intercept, self.local_prediction)
        )
        ends = f"{start:.4g} of f to its mean in {xi}'s boxes {end:.4g}"
        return [f"from the mean {ends}", *(f"note: {note}" for note in self.notes)]

    @cached_property
    def diagonal(self) -> Diagonal:
        """What each feature adds on the diagonal from p to 1, and LIME at three widths."""
        q, nu, rest = np.linspace(0, 1, PLACES), self.widths(3).nu, self.masses.rest
        steps = rest * self._extension("value").at(self.masses.along(q))[1].value
        return Diagonal(q, steps, gauss_legendre(3)[0], rest * self.lime(nu).coef, nu)

    @cached_property
    def corner(self) -> tuple[Rule, list[int], list[float]] | None:
        """The anchor, its features, the most precise first, and precisions as one after the other joins."""
        if not self.both.answers.has_class:
            return None
        rule = self.anchor()
        singles = [self.rule([j]).precision for j in rule.features]
        order = [rule.features[k] for k in np.argsort(-np.array(singles), kind="stable")]
        return rule, order, [self.rule(order[:k]).precision for k in range(len(order) + 1)]

    def _extension(self, of: str) -> Extension:
        if isinstance(self.both, DroppedModel):
            self.both()
        value = arg.one_of("of", of, FUNCTIONS) == "value"
        return self.both.value if value else self.both.label  # type: ignore[no-any-return]

    def _reading(
        self, what: str, extension: Extension, of: str, found: Estimate, intercept: Any = 0.0
    ) -> Reading:
        source = (self.names, of, extension.method, extension.n)
        return Reading(what, found.value, found.stderr, intercept, *source)


def _widths(nu: Any) -> np.ndarray:
    """One width or a list of them, above 0; infinite ones too."""
    try:
        widths = arg.floats(nu)
    except TypeError:
        widths = np.empty(0)
    if widths.ndim > 1 or not widths.size or not np.all(widths > 0):
        raise ValueError(f"nu must be one width above 0 or a list of them, got {arg.shorten(nu)}.")
    return widths


def _start(extension: Extension) -> float:
    """F(p)."""
    return float(extension.at(extension.masses.p[None])[0].value[0])


def _positions(features: Any, names: tuple[str, ...]) -> tuple[int, ...]:
    """Features by name or position, as positions in order."""
    try:
        listed = [features] if isinstance(features, str | int | np.integer) else list(features)
    except TypeError:
        raise TypeError(
            f"features must be names or positions, got {arg.shorten(features)}."
        ) from None
    positions = set()
    for feature in listed:
        if isinstance(feature, str) and feature in names:
            positions.add(names.index(feature))
        elif arg.is_integer(feature) and 0 <= int(feature) < len(names):
            positions.add(int(feature))
        else:
            raise ValueError(
                f"features must be of {arg.shorten(list(names))} or positions from 0 to "
                f"{len(names) - 1}, got {arg.shorten(feature)}."
            )
    return tuple(sorted(positions))


def _shares(*masses: float) -> list[str]:
    """Masses below 1 in three digits, or in as many as tell them from 1 and from one another."""
    texts = ([f"{p:.{k}g}" for p in masses] for k in range(3, 17))
    return next((t for t in texts if len({*t, "1"}) > len(t)), [str(p) for p in masses])


def cube(
    f: Any, xi: Any, world: World, *, output: Any = None, label: Any = None,
    tolerance: float | None = None, n: int = DRAWS, seed: Any = 0,
) -> Cube:  # fmt: skip
    """LIME at every width, Shapley values, interactions and rules of f at xi, on the boxes of a world.

    All are readings of F(t), the mean of f (for rules, of the class indicator) where each feature j lies in
    xi's box with probability t_j, independently of the others.

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
        How what has no closed form is sampled: once for most readings, and again for F at given places,
        for places that few of the draws count for, and for single rules.

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
    n = arg.whole("n", n, min(MIN_PER_COEFFICIENT * (problem.d + 1), DRAWS))
    root = int(np.random.default_rng(arg.seed("seed", seed)).integers(2**62))
    tolerance = None if tolerance is None else arg.not_negative("tolerance", tolerance)
    both = TwoFunctions(problem, Masses.of(problem), Answers(problem, tolerance), n, root)
    value, masses = both.value, both.masses
    found = shapley_of(value)
    return Cube(
        coef=found.value, stderr=found.stderr, intercept=_start(value), names=problem.boxes.names,
        mass=masses.p, prediction=problem.prediction, tolerance=tolerance, output=problem.output,
        notes=(*problem.form_notes, *_notes(problem, masses)), method=value.method, draws=value.n,
        masses=masses, both=both, setting=problem,
    )  # fmt: skip


def _notes(problem: Problem, masses: Masses) -> list[str]:
    """What holds with these masses."""
    notes, names, p = [], problem.boxes.names, masses.p[~masses.constant]
    if np.any(masses.constant):
        stuck = arg.shorten([names[j] for j in np.flatnonzero(masses.constant)])
        notes.append(
            f"{int(np.sum(masses.constant))} feature(s) {stuck} never leave xi's box: their values are 0, "
            "and no rule needs them."
        )
    if not len(p):
        return notes
    which = "boxes that samples can leave" if np.any(masses.constant) else "boxes"
    if are_equal(masses):
        notes.append(
            f"All {which} have mass {_shares(p[0])[0]}: the Shapley values are (1 - p) times the mean of LIME's "
            "coefficients along the diagonal from p to 1, without ridge, as n grows."
        )
    else:
        notes.append(
            f"The {which} have masses from {' to '.join(_shares(p.min(), p.max()))}: these are Shapley values "
            "still, but LIME averaged over its widths need not be; it adds up to the same, and lets "
            "features with likely boxes enter earlier (mean_over_widths)."
        )
    return notes
