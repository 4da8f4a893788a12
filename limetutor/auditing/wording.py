"""The words of an audit: for each code a sentence and a remedy, from a case and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..lime_bridge import Collapsed
from .case import Case


class Words(NamedTuple):
    """What was found, and what to do about it."""

    sentence: str
    remedy: str


def few(names: Sequence[str], most: int = 3) -> str:
    """The first few names in words."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def also(case: Case, mask: np.ndarray, j: int) -> str:
    """A sentence about the other features that share a finding."""
    others = [case.names[k] for k in np.flatnonzero(mask) if k != j]
    return f" The same holds for {few(others)}." if others else ""


def away(distance: float) -> str:
    """How far a critical bandwidth is from the one in use."""
    if abs(distance) < 5e-4:
        return "practically"
    return f"{abs(distance):.1%} {'above' if distance > 0 else 'below'}"


def _tilted_advice(case: Case) -> str:
    drawn = case.sampled
    if case.is_lime or not case.product or drawn is None or not drawn.draws.weighted:
        return ""
    return "; sampler='tilted' needs fewer"


def noise(case: Case, numbers: dict[str, Any], share: float) -> Words:
    """Sampling noise beside the coefficients."""
    return Words(
        f"Sampling noise is large: with n = {case.n:,} standard errors reach "
        f"{numbers['stderr']:.3g}, {numbers['ratio']:.0%} of the largest coefficient "
        f"({case.top:.3g}), and {numbers['unclear']} of {len(case.coef)} coefficients cannot be "
        "told from 0.",
        f"About n = {numbers['n_needed']:,} brings that to {share:.0%}{_tilted_advice(case)}.",
    )


def order(case: Case, pairs: list[tuple[str, str, float, float]]) -> Words:
    """A ranking that another run would change."""
    first, second, ahead, stderr = pairs[0]
    more = f", and {len(pairs) - 1} more such pair(s)" if len(pairs) > 1 else ""
    return Words(
        f"The order of the largest coefficients is not settled: {first} is ahead of {second} "
        f"by {ahead:.3g}, with a standard error of {stderr:.3g}{more}.",
        f"Do not read the ranking, or raise n{_tilted_advice(case)}.",
    )


def few_samples(case: Case, numbers: dict[str, Any]) -> Words:
    """Too few effective samples."""
    expected = f" ({numbers['ess_expected']:.0f} expected)" if "ess_expected" in numbers else ""
    return Words(
        f"The n = {case.n:,} weighted samples are worth {numbers['ess']:.0f} equal ones{expected}, "
        f"for {len(case.coef) + 1} coefficients.",
        f"About n = {numbers['n_needed']:,} would make {numbers['least']}; a larger bandwidth also "
        f"raises it{_tilted_advice(case)}.",
    )


def near_singular(case: Case, scarce: np.ndarray, worst: int) -> Words:
    """An indicator that hardly varies."""
    share = case.tilt.alpha[worst]
    verb = f"hardly var{'y' if scarce.sum() > 1 else 'ies'}"
    return Words(
        f"{few(case.name(scarce))} {verb} among the weighted samples: {share:.3%} of the weight "
        f"lies in ξ's box of {case.names[worst]}.",
        "Raise the bandwidth." if share > 0.5 else "Use fewer boxes for it, or raise n.",
    )


def constant(case: Case) -> Words:
    """A column with a single box."""
    names = case.name(case.constant)
    return Words(
        f"All values of {few(names)} lie in ξ's box: LIME has nothing to compare with, and the "
        "coefficient is 0 whatever the model does.",
        f"Leave {'it' if len(names) == 1 else 'them'} out of the explanation, or give other edges.",
    )


def critical_bandwidth(
    case: Case, close: np.ndarray, j: int, critical: float, distance: float, wider: Any
) -> Words:
    """A feature that is switched off; ``wider`` is its gap or coefficient at twice the bandwidth."""
    at = f"at ν = {critical:.4g}, {away(distance)} the ν = {case.nu:.4g} in use"
    if case.form is not None:
        sentence = (
            f"{case.names[j]} is switched off {at}: its coefficient, {case.coef[j]:.3g}, says "
            "nothing about the model."
        )
        advice = f"At twice the bandwidth its coefficient would be {wider:.3g}"
    else:
        sentence = (
            f"A straight-line effect of {case.names[j]} is switched off {at}: its coefficient, "
            f"{case.coef[j]:.3g}, comes from whatever else the model does with it."
        )
        now, then = wider
        advice = f"At twice the bandwidth its boxes differ by {then:.3g} instead of {now:.3g}"
    return Words(
        sentence + also(case, close, j),
        f"{advice}; choose another bandwidth, or do not read this feature.",
    )


def sign_turns(case: Case, turns: np.ndarray, j: int, critical: float, distance: float) -> Words:
    """A sign that turns with the bandwidth, told apart from the sign of the slope."""
    effect = "" if case.form is not None else "a straight-line effect of "
    side = ""
    if case.linear is not None:
        agrees = case.linear.a[j] * case.coef[j] > 0
        here, there = ("agrees with", "opposes") if agrees else ("opposes", "agrees with")
        side = f" Here it {here} the slope ({case.linear.a[j]:+.3g}), beyond that ν it {there} it."
    return Words(
        f"The sign of {effect}{case.names[j]} ({case.coef[j]:+.3g}) hangs on the bandwidth: it "
        f"turns at ν = {critical:.4g}, {away(distance)} the ν = {case.nu:.4g} in use.{side}"
        f"{also(case, turns, j)}",
        "Do not read the sign; see how it goes with the bandwidth.",
    )


def own_row(case: Case, pulled: float, decides: bool) -> Words:
    """The row of xi itself, against all others together."""
    weight = case.rows.weight
    what = "decides" if decides else f"moves coefficients by up to {pulled:.3g}"
    return Words(
        f"ξ's own row {what}: `lime` puts it among its n = {case.n:,} samples with weight 1, and "
        f"all others together have {weight:.3g}.",
        "Raise kernel_width, or n.",
    )


def hidden(case: Case, mask: np.ndarray, j: int, box: int, boxes: int, largest: float) -> Words:
    """A box that averages the same as everything outside it."""
    return Words(
        f"{case.names[j]} is hidden: ξ lies in box {box} of {boxes}, whose mean differs from the "
        f"mean outside by at most {largest:.2g} standard deviations at any bandwidth from ν/2 to "
        f"2ν, so an effect that goes one way along the feature cancels (coefficient "
        f"{case.coef[j]:.3g}).{also(case, mask, j)}",
        "Choose other boxes, with ξ's to one side of the feature's mean: an even number of them if "
        "the feature is symmetric.",
    )


def local_error(case: Case, lasting: float, ratio: float, why: str) -> Words:
    """A surrogate that is off at xi."""
    noisy = abs(lasting - case.error) > 0.05 * abs(lasting)
    grown = f" ({lasting:+.3g} without the noise of this run)" if noisy else ""
    return Words(
        f"The surrogate at ξ is {case.local_prediction:.4g} where the model says "
        f"{case.prediction:.4g}: it is off by {case.error:+.3g}{grown}, {ratio:.2f} times the "
        f"largest coefficient.{why}",
        "Read the coefficients as comparisons of boxes, not as a model of f around ξ; narrower "
        "boxes bring the surrogate closer.",
    )


def error_by_feature(case: Case, parts: np.ndarray, largest: list[int]) -> str:
    """Which features a linear model's local error comes from."""
    listed = ", ".join(f"{case.names[j]} ({parts[j]:+.3g})" for j in largest)
    return f" The largest parts are {listed}: samples in ξ's box do not centre on ξ."


def error_by_cause(inside: float, beyond: float) -> str:
    """Where the local error of another model comes from."""
    return (
        f" Of it {inside:+.3g} is the model averaged over ξ's boxes instead of taken at ξ, and "
        f"{beyond:+.3g} is that the model is not a sum over features."
    )


def penalty(case: Case, name: str, size: float, lost: np.ndarray, worst: int) -> Words:
    """What ridge or lasso takes off the coefficients."""
    weight = f": the total weight of the samples is {case.n * np.exp(case.tilt.log_C):.3g}"
    lime = " (model_regressor=LinearRegression())." if case.is_lime else f" ({name}=0)."
    remedy = "Raise n or the bandwidth, or fit" if name == "ridge" else "Lower it, or fit"
    return Words(
        f"{name.capitalize()} (penalty {size:g}) takes {lost.min():.1%} to {lost.max():.1%} off the "
        f"coefficients, most off {case.names[worst]}{weight if name == 'ridge' else ''}.",
        f"{remedy} without the penalty{lime}",
    )


def collapsed_bin(
    names: Sequence[str], first: Collapsed, share: float, coef: float, right: float, matters: bool
) -> Words:
    """A value that `lime` 0.2.0.1 feeds the model and no row of the data has."""
    more = f" The same happens to {few(names[1:])}." if len(names) > 1 else ""
    return Words(
        f"lime 0.2.0.1 feeds the model {names[0]} = {first.fed:.3g} in {share:.0%} of the samples, "
        f"where the training data have {first.value:.3g}; with that value its coefficient would be "
        f"{right:.3g} instead of {coef:.3g}"
        f"{'' if matters else ', no difference to this model here'}.{more}",
        "Declare the column in categorical_features, with whole numbers as its values.",
    )


def bandwidth_irrelevant(case: Case) -> Words:
    """A bandwidth that changes nothing."""
    beside = [
        name for name, there in (("ridge", case.ridge), ("ξ's own row", case.own_row)) if there
    ]
    apart = f", apart from what {' and '.join(beside)} do{'es' * (len(beside) == 1)}"
    tuning = (
        f"Tuning {'kernel_width' if case.is_lime else 'nu'} changes nothing here; the boxes decide"
    )
    warning = ", and a much smaller width leaves the answer to ξ's own row" if case.own_row else ""
    return Words(
        "With a kernel that counts mismatches and a linear model the bandwidth changes no "
        f"coefficient{apart if beside else ''}.",
        f"{tuning}{warning}.",
    )
