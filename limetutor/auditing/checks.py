"""What an audit looks for: one small function a check, each yields what it finds.

A check gets a :class:`Case`, all there is to know about an explanation, and yields findings. To add
one, write it and put it into ``CHECKS``. Chapter: the real lime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..algorithm import explain
from ..closed_forms import Limit, form_in, limit, shrinkage
from ..exact import is_closed
from ..hiding import crossings, gaps
from ..kernels import PRODUCT_KERNELS
from ..laws import BoxLaw
from ..lime_bridge import repaired
from ..models import Linear, predictor
from ..normal_limit import effective_sample_size
from ..theory import Tilt, tilt, tilted_law
from ..worlds import Boxes, World

# When to speak. Each is a judgement, stated once and quoted in the chapter.
NOISE = 0.1  # standard errors up to a tenth of the largest coefficient leave the picture as it is
CLEAR = 2.0  # standard errors that tell a number from 0, or two coefficients apart
TOP = 3  # readers look at the first three features
CRITICAL = 0.05  # relative distance in nu within which a feature counts as switched off
REACH = 0.25  # ... and within which a change of sign is worth a word
HIDDEN = 0.1  # a gap below a tenth of a standard deviation shows nothing
MATTERS = 0.05  # features whose effect on f is below this share of the largest are left alone
OFF = 0.5  # the surrogate may miss f(xi) by half the largest coefficient
PER_COEFFICIENT = 20  # effective samples for each coefficient
SCARCE = 0.01  # an indicator that is nearly always 0, or nearly always 1
VISIBLE = 0.02  # a coefficient that stays below this share of the largest is not worth a word
SHRUNK = 0.9  # what ridge should leave of a coefficient

SEVERITIES = ("note", "warning", "serious")


@dataclass(frozen=True)
class Finding:
    """One thing to know: a ``code``, how severe, which features, the numbers, the words."""

    code: str
    severity: str
    features: tuple[str, ...]
    numbers: dict[str, Any]
    sentence: str
    remedy: str

    def __str__(self) -> str:
        return f"[{self.severity}] {self.sentence} {self.remedy}"


@dataclass(frozen=True, eq=False)
class Case:
    """What the checks look at, wherever it came from. Without samples, ``n`` is None."""

    f: Any
    xi: np.ndarray
    world: World
    nu: float
    kernel: Any
    output: Any
    ridge: float
    coef: np.ndarray
    prediction: float
    local_prediction: float
    n: int | None = None
    covariance: np.ndarray | None = None
    ess: float | None = None
    sampler: str = "bins"
    used: np.ndarray | None = None
    is_lime: bool = False

    @cached_property
    def boxes(self) -> Boxes:
        """The boxes of the world."""
        return self.world.boxes(len(self.xi))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.boxes.names

    @property
    def product(self) -> bool:
        """Whether the kernel factors over the features: the theory applies."""
        return self.kernel in PRODUCT_KERNELS

    @cached_property
    def tilt(self) -> Tilt:
        """The tilted law seen from xi (product kernels only)."""
        return tilt(self.world, self.xi, self.nu, self.kernel)

    @cached_property
    def form(self) -> Any:
        """The form of f whose limits are exact and quick, or None."""
        if not self.product:
            return None
        try:
            form = form_in(self.boxes, _estimator(self.f), self.output)
        except ValueError:  # a model of a known family that has no form
            return None
        return form if form is not None and is_closed(form) else None

    @property
    def linear(self) -> Linear | None:
        """F as a linear model, if that is what it is."""
        return self.form if isinstance(self.form, Linear) else None

    def exact(self, nu: float, world: World | None = None, ridge: float = 0.0) -> Limit:
        """The limit of an f that has a form, at any bandwidth and in any world."""
        how = {"ridge": ridge, "n": self.n} if ridge and self.n else {}
        f, world = _estimator(self.f), self.world if world is None else world
        return limit(f, self.xi, world, nu, self.kernel, output=self.output, **how)

    @cached_property
    def stderr(self) -> np.ndarray | None:
        """Standard errors of the coefficients; None without samples."""
        return None if self.covariance is None else np.sqrt(np.diag(self.covariance)[1:])

    @property
    def top(self) -> float:
        """The largest coefficient, without its sign."""
        return float(np.max(np.abs(self.coef)))

    @property
    def error(self) -> float:
        """How far the surrogate is off at xi."""
        return self.local_prediction - self.prediction

    @cached_property
    def shrinkage(self) -> np.ndarray:
        """What ridge leaves of each coefficient."""
        if not self.ridge or self.n is None:
            return np.ones(len(self.xi))
        return shrinkage(self.tilt, self.ridge, self.n)

    @cached_property
    def matters(self) -> np.ndarray:
        """Features whose effect on f is not negligible beside the largest one, (d,) of bool."""
        effect = _effects(self)
        return (effect > 0) & (effect >= MATTERS * effect.max())

    def name(self, mask: np.ndarray) -> tuple[str, ...]:
        """Names of the features where mask is True."""
        return tuple(self.names[j] for j in np.flatnonzero(mask))


def _estimator(f: Any) -> Any:
    """The model behind ``model.predict`` or ``model.predict_proba``, as `lime` is given it."""
    owner, name = getattr(f, "__self__", None), getattr(f, "__name__", "")
    wanted = "predict_proba" if hasattr(owner, "predict_proba") else "predict"
    return owner if owner is not None and name == wanted else f


def _effects(case: Case) -> np.ndarray:
    """How much f moves with each feature alone: |a_j| sigma_j, or the deviation of f over x_j.

    For other than linear models x_j runs over 64 draws of its law, the others stay at xi.
    """
    if case.linear is not None:
        return np.abs(case.linear.a) * case.boxes.sigma
    d, draws = len(case.xi), 64
    x, _ = case.boxes.law.sample(np.random.default_rng(0), draws)
    rows = np.tile(case.xi, (d, draws, 1))
    rows[np.arange(d), :, np.arange(d)] = x.T
    y = predictor(case.f, case.boxes, case.output)(rows.reshape(-1, d))
    return y.reshape(d, draws).std(axis=1)


def _noise(case: Case) -> Iterator[Finding]:
    """Is the sampling noise small against the coefficients?"""
    if case.stderr is None or case.top == 0:
        return
    largest = float(case.stderr.max())
    ratio = largest / case.top
    if ratio <= NOISE:
        return
    unclear = (np.abs(case.coef) < CLEAR * case.stderr) & case.used
    needed = int(np.ceil(case.n * (ratio / NOISE) ** 2))
    yield Finding(
        "noise",
        "serious" if ratio > 0.5 else "warning",
        case.name(unclear),
        {
            "stderr": largest,
            "largest_coef": case.top,
            "ratio": ratio,
            "unclear": int(unclear.sum()),
            "n": case.n,
            "n_needed": needed,
        },
        f"Sampling noise is large: with n = {case.n:,} standard errors reach {largest:.3g}, "
        f"{ratio:.0%} of the largest coefficient ({case.top:.3g}), and {unclear.sum()} of "
        f"{len(case.coef)} coefficients cannot be told from 0.",
        f"About n = {needed:,} brings that to {NOISE:.0%}{_tilted_advice(case)}.",
    )


def _tilted_advice(case: Case) -> str:
    if case.is_lime or case.sampler == "tilted" or not case.product:
        return ""
    return "; sampler='tilted' needs fewer"


def _order(case: Case) -> Iterator[Finding]:
    """Would another run put the first features in another order?"""
    if case.stderr is None or case.top == 0:
        return
    order = np.argsort(-np.abs(case.coef), kind="stable")[: TOP + 1]
    V, sign = case.covariance[1:, 1:], np.sign(case.coef)
    pairs = []
    for i, j in pairwise(order):
        if abs(case.coef[i]) < CLEAR * case.stderr[i]:
            break  # from here on all of them could be 0
        ahead = abs(case.coef[i]) - abs(case.coef[j])
        stderr = np.sqrt(max(V[i, i] + V[j, j] - 2 * sign[i] * sign[j] * V[i, j], 0.0))
        if ahead < CLEAR * stderr:
            pairs.append((case.names[i], case.names[j], float(ahead), float(stderr)))
    if pairs:
        first, second, ahead, stderr = pairs[0]
        more = f", and {len(pairs) - 1} more such pair(s)" if len(pairs) > 1 else ""
        yield Finding(
            "order",
            "warning",
            tuple(dict.fromkeys(name for pair in pairs for name in pair[:2])),
            {"pairs": [list(pair) for pair in pairs]},
            f"The order of the largest coefficients is not settled: {first} is ahead of {second} "
            f"by {ahead:.3g}, with a standard error of {stderr:.3g}{more}.",
            f"Do not read the ranking, or raise n{_tilted_advice(case)}.",
        )


def _few_samples(case: Case) -> Iterator[Finding]:
    """Are there enough effective samples for the number of coefficients?"""
    if case.ess is None:
        return
    least = PER_COEFFICIENT * (len(case.coef) + 1)
    if case.ess >= least:
        return
    needed = int(np.ceil(case.n * least / case.ess))
    numbers = {"ess": case.ess, "n": case.n, "least": least, "n_needed": needed}
    expected = ""
    if case.product and case.sampler != "tilted":
        numbers["ess_expected"] = effective_sample_size(
            case.xi, case.world, case.nu, case.n, case.kernel
        )
        expected = f" ({numbers['ess_expected']:.0f} expected)"
    yield Finding(
        "few-samples",
        "serious" if case.ess < least / 4 else "warning",
        (),
        numbers,
        f"The n = {case.n:,} weighted samples are worth {case.ess:.0f} equal ones{expected}, for "
        f"{len(case.coef) + 1} coefficients.",
        f"About n = {needed:,} would make {least}; a larger bandwidth also raises it"
        f"{_tilted_advice(case)}.",
    )


def _singular(case: Case) -> Iterator[Finding]:
    """Does every indicator vary among the weighted samples?"""
    if not case.product:
        return
    share = case.tilt.alpha
    scarce = np.minimum(share, case.tilt.rest) < SCARCE
    if not np.any(scarce):
        return
    worst = int(np.argmin(np.minimum(share, case.tilt.rest)))
    full = share[worst] > 0.5
    yield Finding(
        "near-singular",
        "serious" if case.used is not None and not np.all(case.used[scarce]) else "warning",
        case.name(scarce),
        {"alpha": share[scarce].tolist(), "worst_alpha": float(share[worst])},
        f"{_few(case.name(scarce))} hardly var{'y' if scarce.sum() > 1 else 'ies'} among the "
        f"weighted samples: {share[worst]:.3%} of the weight lies in ξ's box of "
        f"{case.names[worst]}.",
        "Raise the bandwidth." if full else "Use fewer boxes for it, or raise n.",
    )


def _bandwidth(case: Case) -> Iterator[Finding]:
    """Is a feature switched off, or about to change its sign, near this bandwidth?"""
    if not case.product:
        return
    critical = _critical(case)
    distance = critical / case.nu - 1
    with np.errstate(invalid="ignore"):
        close = case.matters & (np.abs(distance) <= CRITICAL)
        flips = case.matters & ~close & np.isfinite(critical)
    if np.any(close):
        yield _switched_off(case, close, critical, distance)
    if np.any(flips):
        yield _sign_flips(case, flips, critical, distance)


def _critical(case: Case) -> np.ndarray:
    """The bandwidth nearest to nu where each coefficient changes its sign, nan without one.

    Of the coefficient itself where f has a form; otherwise of the boxes alone.
    """
    if case.form is None or case.linear is not None:
        return crossings(case.world, case.xi, case.nu, case.kernel, REACH)
    grid = case.nu * np.array([1 / (1 + REACH), 1 / (1 + CRITICAL), 1.0, 1 + CRITICAL, 1 + REACH])
    curve = np.array([case.exact(nu).coef for nu in grid])
    clear = np.max(np.abs(curve), axis=0) >= VISIBLE * np.max(np.abs(curve))
    found = np.full(len(case.xi), np.nan)
    for j in np.flatnonzero(clear):
        roots = [
            _zero(case, j, grid[i], grid[i + 1])
            for i in range(len(grid) - 1)
            if curve[i, j] * curve[i + 1, j] < 0
        ]
        found[j] = min(roots, key=lambda root: abs(root - case.nu), default=np.nan)
    return found


def _zero(case: Case, j: int, lo: float, hi: float) -> float:
    from scipy import optimize

    return float(optimize.brentq(lambda nu: case.exact(nu).coef[j], lo, hi, rtol=1e-5))


def _switched_off(
    case: Case, close: np.ndarray, critical: np.ndarray, distance: np.ndarray
) -> Finding:
    j = _nearest(close, distance)
    now, wider = (
        gaps(case.world, case.xi[None], nu, case.kernel)[0] for nu in (case.nu, 2 * case.nu)
    )
    numbers = {
        "nu": case.nu,
        "critical_nu": critical[close].tolist(),
        "distance": distance[close].tolist(),
        "coef": case.coef[close].tolist(),
        "gap": now[close].tolist(),
        "gap_at_2nu": wider[close].tolist(),
    }
    advice = f"At twice the bandwidth its boxes differ by {wider[j]:.3g} instead of {now[j]:.3g}"
    if case.form is not None:
        coef = case.exact(2 * case.nu).coef
        numbers["coef_at_2nu"] = coef[close].tolist()
        advice = f"At twice the bandwidth its coefficient would be {coef[j]:.3g}"
    at = f"at ν = {critical[j]:.4g}, {_away(distance[j])} the ν = {case.nu:.4g} in use"
    if case.form is not None:
        sentence = (
            f"{case.names[j]} is switched off {at}: its coefficient, {case.coef[j]:.3g}, says "
            "nothing about the model."
        )
    else:
        sentence = (
            f"A straight-line effect of {case.names[j]} is switched off {at}: its coefficient, "
            f"{case.coef[j]:.3g}, comes from whatever else the model does with it."
        )
    return Finding(
        "critical-bandwidth",
        "serious" if case.form is not None else "warning",
        case.name(close),
        numbers,
        sentence + _also(case, close, j),
        f"{advice}; choose another bandwidth, or do not read this feature.",
    )


def _sign_flips(
    case: Case, flips: np.ndarray, critical: np.ndarray, distance: np.ndarray
) -> Finding:
    j = _nearest(flips, distance)
    return Finding(
        "sign-flips",
        "warning" if case.form is not None else "note",
        case.name(flips),
        {
            "nu": case.nu,
            "critical_nu": critical[flips].tolist(),
            "distance": distance[flips].tolist(),
            "coef": case.coef[flips].tolist(),
        },
        f"The sign of {'' if case.form is not None else 'a straight-line effect of '}"
        f"{case.names[j]} ({case.coef[j]:+.3g}) depends on the bandwidth: it changes at "
        f"ν = {critical[j]:.4g}, {_away(distance[j])} the ν = {case.nu:.4g} in use."
        f"{_also(case, flips, j)}",
        "Do not read the sign; compare with a bandwidth well above it.",
    )


def _nearest(mask: np.ndarray, distance: np.ndarray) -> int:
    return int(np.argmin(np.where(mask, np.abs(distance), np.inf)))


def _away(distance: float) -> str:
    if abs(distance) < 5e-4:
        return "practically"
    return f"{abs(distance):.1%} {'above' if distance > 0 else 'below'}"


def _also(case: Case, mask: np.ndarray, j: int) -> str:
    others = [case.names[k] for k in np.flatnonzero(mask) if k != j]
    return f" The same holds for {_few(others)}." if others else ""


def _few(names: Any, most: int = 3) -> str:
    """The first few names in words."""
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _hidden(case: Case) -> Iterator[Finding]:
    """Does a box average the same as everything outside it, whatever the bandwidth?"""
    if not case.product:
        return
    sigma = np.where(case.boxes.sigma > 0, case.boxes.sigma, 1.0)
    across = [
        gaps(case.world, case.xi[None], case.nu * factor, case.kernel)[0] / sigma
        for factor in 2 ** np.linspace(-1, 1, 9)
    ]
    far = gaps(case.world, case.xi[None], case.nu, "mismatch")[0] / sigma  # as nu grows
    largest = np.max(np.abs(across), axis=0)
    hidden = case.matters & ~case.boxes.categorical & (np.abs(far) < HIDDEN)
    hidden &= largest < 2.5 * HIDDEN
    if not np.any(hidden):
        return
    j = int(np.argmin(np.where(hidden, largest, np.inf)))
    own = case.boxes.discretize(case.xi[None])[0]
    count = [int(np.sum(case.boxes.law.prob[k] > 0)) for k in range(len(case.xi))]
    yield Finding(
        "hidden",
        "warning" if case.linear is not None else "note",
        case.name(hidden),
        {
            "gap": across[4][hidden].tolist(),
            "largest_gap": largest[hidden].tolist(),
            "box": (own[hidden] + 1).tolist(),
            "boxes": [count[k] for k in np.flatnonzero(hidden)],
            "coef": case.coef[hidden].tolist(),
        },
        f"{case.names[j]} is hidden: ξ lies in box {own[j] + 1} of {count[j]}, whose mean differs "
        f"from the mean outside by at most {largest[j]:.2g} standard deviations at any bandwidth "
        f"from ν/2 to 2ν, so an effect that goes one way along the feature cancels "
        f"(coefficient {case.coef[j]:.3g}).{_also(case, hidden, j)}",
        "Choose other boxes, with ξ's to one side of the feature's mean: an even number of them if "
        "the feature is symmetric.",
    )


def _local_error(case: Case) -> Iterator[Finding]:
    """How wrong is the surrogate at xi, and why?"""
    lasting = _lasting_error(case)
    if case.top == 0 or abs(lasting) <= OFF * case.top:
        return
    ratio = abs(lasting) / case.top
    features, numbers, why = _reasons(case, lasting)
    noisy = abs(lasting - case.error) > 0.05 * abs(lasting)
    grown = f" ({lasting:+.3g} as n grows)" if noisy else ""
    yield Finding(
        "local-error",
        "serious" if ratio > 1 else "warning",
        features,
        {
            "error": case.error,
            "lasting_error": lasting,
            "prediction": case.prediction,
            "local_prediction": case.local_prediction,
            "ratio": ratio,
        }
        | numbers,
        f"The surrogate at ξ is {case.local_prediction:.4g} where the model says "
        f"{case.prediction:.4g}: it is off by {case.error:+.3g}{grown}, {ratio:.2f} times the "
        f"largest coefficient.{why}",
        "Read the coefficients as comparisons of boxes, not as a model of f around ξ; narrower "
        "boxes bring the surrogate closer.",
    )


def _lasting_error(case: Case) -> float:
    """The part of f^(xi) - f(xi) that more samples would not remove."""
    if case.form is not None:
        return case.exact(case.nu, ridge=case.ridge).local_error
    if case.covariance is None:
        return case.error
    noise = 3 * float(np.sqrt(max(case.covariance.sum(), 0.0)))
    return case.error if abs(case.error) > noise else 0.0


def _reasons(case: Case, lasting: float) -> tuple[tuple[str, ...], dict[str, Any], str]:
    """Where the lasting error comes from: which features, or which part of the approximation."""
    if not case.product:
        return (), {}, ""
    if case.linear is not None:
        parts = local_error_parts(case.linear, case.tilt, case.shrinkage)
        order = [j for j in np.argsort(-np.abs(parts), kind="stable") if parts[j] != 0][:3]
        names = tuple(case.names[j] for j in order)
        listed = ", ".join(f"{case.names[j]} ({parts[j]:+.3g})" for j in order)
        text = f" The largest parts are {listed}: samples in ξ's box do not centre on ξ."
        return names, {"parts": parts.tolist()}, text
    mean = box_average(case)
    inside = mean - case.prediction
    beyond = lasting - inside
    text = (
        f" Of it {inside:+.3g} is the model averaged over ξ's boxes instead of taken at ξ, and "
        f"{beyond:+.3g} is that the model is not a sum over features."
    )
    return (), {"box_average": mean, "inside_box": inside, "interaction": beyond}, text


def local_error_parts(f: Linear, law: Tilt, shrinkage: np.ndarray) -> np.ndarray:
    """What each feature adds to f^(xi) - f(xi) for a linear f.

    a_j (E~[x_j | z_j=1] - xi_j), less what ridge takes off. Paper: Corollary
    local-model-error-light. Chapter: local error.
    """
    return f.a * law.inside - f.a * law.gap * law.rest * (1 - shrinkage)


def box_average(case: Case, n: int = 20_000) -> float:
    """E~[f | z = (1, ..., 1)], the model averaged over xi's boxes, from n samples."""
    law, _ = tilted_law(case.boxes, case.xi, case.nu, case.kernel)
    own = case.boxes.discretize(case.xi[None])[0][:, None]
    parts = (np.take_along_axis(part, own, 1) for part in (law.mean, law.sd, law.lo, law.hi))
    inside = BoxLaw(np.zeros((len(case.xi), 1)), *parts)
    x, _ = inside.sample(np.random.default_rng(0), n)
    return float(np.mean(predictor(case.f, case.boxes, case.output)(x)))


def _ridge(case: Case) -> Iterator[Finding]:
    """How much does the penalty take off the coefficients?"""
    if not case.ridge or not case.product or case.shrinkage.min() >= SHRUNK:
        return
    shrunk = case.shrinkage < SHRUNK
    worst = int(np.argmin(case.shrinkage))
    lost = 1 - case.shrinkage
    yield Finding(
        "ridge",
        "serious" if case.shrinkage.min() < 0.5 else "warning",
        case.name(shrunk),
        {"shrinkage": case.shrinkage.tolist(), "most_lost": float(lost.max())},
        f"Ridge (penalty {case.ridge:g}) takes {lost.min():.1%} to {lost.max():.1%} off the "
        f"coefficients, most off {case.names[worst]}: the total weight of the samples is "
        f"{case.n * np.exp(case.tilt.log_mass.sum()):.3g}.",
        "Raise n or the bandwidth, or fit without the penalty"
        + (" (model_regressor=LinearRegression())." if case.is_lime else " (ridge=0)."),
    )


def _collapsed(case: Case) -> Iterator[Finding]:
    """Does `lime` feed the model a value that no row of the data has?"""
    wrong = [
        bin_
        for bin_ in getattr(case.world, "collapsed", ())
        if case.boxes.law.mean[bin_.feature, bin_.box] == bin_.fed
        and abs(bin_.fed - bin_.value) > 1e-3 * case.boxes.sigma[bin_.feature]
    ]
    if not wrong:
        return
    first = wrong[0]
    share = [float(case.boxes.law.prob[bin_.feature, bin_.box]) for bin_ in wrong]
    coef, right = (_coef_in(case, world) for world in (case.world, repaired(case.world)))
    numbers = {
        "fed": [bin_.fed for bin_ in wrong],
        "value": [bin_.value for bin_ in wrong],
        "share": share,
        "coef": [float(coef[bin_.feature]) for bin_ in wrong],
        "coef_repaired": [float(right[bin_.feature]) for bin_ in wrong],
    }
    names = tuple(case.names[bin_.feature] for bin_ in wrong)
    more = f" The same happens to {_few(names[1:])}." if len(names) > 1 else ""
    matters = any(
        abs(right[b.feature] - coef[b.feature]) > 0.01 * abs(coef[b.feature]) for b in wrong
    )  # a tree that splits between the two values cannot tell them apart
    yield Finding(
        "collapsed-bin",
        "serious" if matters else "note",
        names,
        numbers,
        f"lime 0.2.0.1 feeds the model {names[0]} = {first.fed:.3g} in {share[0]:.0%} of the "
        f"samples, where the training data have {first.value:.3g}; with that value its coefficient "
        f"would be {right[first.feature]:.3g} instead of {coef[first.feature]:.3g}"
        f"{'' if matters else ', no difference to this model here'}.{more}",
        "Declare the column in categorical_features, with whole numbers as its values.",
    )


def _coef_in(case: Case, world: World) -> np.ndarray:
    """The coefficients that another world would give: the limit, or a long run."""
    if case.form is not None:
        return case.exact(case.nu, world, case.ridge).coef
    how = {"n": case.n, "seed": 0, "kernel": case.kernel, "ridge": case.ridge}
    return explain(case.f, case.xi, world, case.nu, output=case.output, **how).coef


def _irrelevant_bandwidth(case: Case) -> Iterator[Finding]:
    """With lime's kernel a linear model has the same coefficients at every bandwidth."""
    if case.kernel != "mismatch" or case.linear is None:
        return
    yield Finding(
        "bandwidth-irrelevant",
        "note",
        (),
        {"nu": case.nu},
        "With a kernel that counts mismatches and a linear model the bandwidth changes no "
        f"coefficient{', apart from what ridge takes off' if case.ridge else ''}.",
        f"Tuning {'kernel_width' if case.is_lime else 'nu'} changes nothing here; the boxes decide.",
    )


CHECKS: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    _collapsed,
    _noise,
    _order,
    _few_samples,
    _singular,
    _bandwidth,
    _hidden,
    _local_error,
    _ridge,
    _irrelevant_bandwidth,
)
