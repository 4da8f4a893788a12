"""The words of an audit: for each code a sentence and a remedy, from a case and its numbers.

They are for whoever has to decide on an explanation: what was found, what it means, what to do. The
symbols of the book come from :mod:`limetutor.auditing.speech` and only where they were asked for.
"""

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


def more_samples(case: Case) -> str:
    """What to call the number of samples in advice."""
    return "num_samples" if case.is_lime else "n"


def _tilted_advice(case: Case) -> str:
    drawn = case.sampled
    if case.is_lime or not case.product or drawn is None or not drawn.draws.weighted:
        return ""
    return "; sampler='tilted' needs fewer"


def noise(case: Case, numbers: dict[str, Any], share: float) -> Words:
    """Sampling noise beside the coefficients; the exact answer where it is known."""
    off = f" This run is off by up to {numbers['off']:.3g}." if "off" in numbers else ""
    return Words(
        f"Another run would give visibly other numbers: with {case.say.samples(case.n)} standard "
        f"errors reach {numbers['stderr']:.3g}, {numbers['ratio']:.0%} of the largest coefficient "
        f"({case.top:.3g}), and {numbers['unclear']} of {len(case.coef)} coefficients cannot be "
        f"told from 0.{off}",
        f"About {case.say.samples(numbers['n_needed'])} bring that to {share:.0%}"
        f"{_tilted_advice(case)}.",
    )


def order(case: Case, pairs: list[tuple[str, str, float, float]]) -> Words:
    """A ranking that another run would change."""
    first, second, ahead, stderr = pairs[0]
    more = f", and {len(pairs) - 1} more such pair(s)" if len(pairs) > 1 else ""
    return Words(
        f"The order of the largest coefficients is not settled: {first} is ahead of {second} "
        f"by {ahead:.3g}, with a standard error of {stderr:.3g}{more}.",
        f"Do not read the ranking of these, or raise {more_samples(case)}{_tilted_advice(case)}.",
    )


def few_samples(case: Any, numbers: dict[str, Any]) -> Words:
    """Too few effective samples."""
    expected = f" ({numbers['ess_expected']:.0f} expected)" if "ess_expected" in numbers else ""
    return Words(
        f"Most samples hardly count: the {case.say.samples(case.n)} are worth {numbers['ess']:.0f} "
        f"equal ones{expected}, for {len(case.coef) + 1} coefficients.",
        f"About {case.say.samples(numbers['n_needed'])} would make {numbers['least']}; a larger "
        f"bandwidth also raises it{_tilted_advice(case)}.",
    )


def near_singular(case: Case, scarce: np.ndarray, worst: int) -> Words:
    """An indicator that hardly varies."""
    share = case.tilt.alpha[worst]
    verb = f"hardly var{'y' if scarce.sum() > 1 else 'ies'}"
    return Words(
        f"{few(case.name(scarce))} {verb} among the weighted samples: {share:.3%} of the weight "
        f"lies in {case.say.rows} box of {case.names[worst]}.",
        "Raise the bandwidth."
        if share > 0.5
        else f"Use fewer boxes for it, or raise {more_samples(case)}.",
    )


def constant(case: Case) -> Words:
    """A column with a single box."""
    names = case.name(case.constant)
    return Words(
        f"All values of {few(names)} lie in {case.say.rows} box: LIME has nothing to compare with, "
        "and the coefficient is 0 whatever the model does.",
        f"Leave {'it' if len(names) == 1 else 'them'} out of the explanation, or give other edges.",
    )


def critical_bandwidth(
    case: Case, close: np.ndarray, j: int, critical: float, distance: float, wider: Any
) -> Words:
    """A feature that is switched off; ``wider`` is its gap or coefficient at twice the bandwidth."""
    say = case.say
    at = f"at {say.at_width(critical)}, {away(distance)} the {say.at_width(case.nu)} in use"
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
    say, side = case.say, ""
    effect = "" if case.form is not None else "a straight-line effect of "
    if case.linear is not None:
        agrees = case.linear.a[j] * case.coef[j] > 0
        here, there = ("agrees with", "opposes") if agrees else ("opposes", "agrees with")
        side = (
            f" Here it {here} the slope ({case.linear.a[j]:+.3g}), beyond that {say.width} it "
            f"{there} it."
        )
    return Words(
        f"The sign of {effect}{case.names[j]} ({case.coef[j]:+.3g}) hangs on the bandwidth: it "
        f"turns at {say.at_width(critical)}, {away(distance)} the {say.at_width(case.nu)} in use."
        f"{side}{also(case, turns, j)}",
        "Do not read the sign; see how it goes with the bandwidth.",
    )


def own_row(case: Case, pulled: float, decides: bool) -> Words:
    """The row of xi itself, against all others together."""
    what = "decides" if decides else f"moves coefficients by up to {pulled:.3g}"
    return own_copy(case, case.rows.weight, what)


def own_copy(case: Any, weight: float, what: str = "decides") -> Words:
    """The same, for whatever is explained."""
    say = case.say
    itself = say.rows if say.symbols else f"This {getattr(case, 'what', 'row')}'s"
    return Words(
        f"{itself} own copy {what}: lime puts it among its {say.samples(case.n)} with weight 1, and "
        f"all others together have {weight:.3g}.",
        "Raise kernel_width, or num_samples.",
    )


def hidden(case: Case, mask: np.ndarray, j: int, box: int, boxes: int, largest: float) -> Words:
    """A box that averages the same as everything outside it."""
    say = case.say
    return Words(
        f"{case.names[j]} is hidden: {say.row} lies in box {box} of {boxes}, whose mean differs from "
        f"the mean outside by at most {largest:.2g} standard deviations at any bandwidth "
        f"{say.around}, so an effect that goes one way along the feature cancels (coefficient "
        f"{case.coef[j]:.3g}).{also(case, mask, j)}",
        f"Choose other boxes, with {say.rows} to one side of the feature's mean: an even number of "
        "them if the feature is symmetric.",
    )


def local_error(
    case: Case, lasting: float, ratio: float, accounted: float | None, why: str, together: bool
) -> Words:
    """A surrogate that is off at xi; ``together`` where features that act together are to blame."""
    say = case.say
    noisy = abs(lasting - case.error) > 0.05 * abs(lasting)
    grown = f" ({lasting:+.3g} without the noise of this run)" if noisy else ""
    closer = (
        "no boxes bring the surrogate closer where features act together"
        if together
        else "narrower boxes bring the surrogate closer"
    )
    read = f"comparisons of boxes, not as a model of what happens around {say.row}; {closer}"
    if not case.boxed:
        read = f"average slopes, not as the slopes at {say.row}; a smaller bandwidth brings them closer"
    return Words(
        f"The surrogate at {say.row} is {case.local_prediction:.4g} where the model says "
        f"{case.prediction:.4g}: it is off by {case.error:+.3g}{grown}, {ratio:.2f} times the "
        f"largest coefficient.{_account(accounted)}{why}",
        f"Read the coefficients as {read}.",
    )


def _account(accounted: float | None) -> str:
    """How much of what sets a prediction apart the coefficients add up to, where that is little."""
    if accounted is None or accounted >= 0.5:
        return ""
    if accounted <= 0:
        return " The coefficients add up to the other side of the average."
    return f" The coefficients account for {accounted:.0%} of what sets this prediction apart."


def error_by_feature(case: Case, parts: np.ndarray, largest: list[int]) -> str:
    """Which features a linear model's local error comes from."""
    listed = ", ".join(f"{case.names[j]} ({parts[j]:+.3g})" for j in largest)
    return (
        f" The largest parts are {listed}: samples in {case.say.rows} box do not centre on "
        f"{'ξ' if case.say.symbols else 'it'}."
    )


def error_by_cause(case: Case, inside: float, beyond: float) -> str:
    """Where the local error of another model comes from."""
    at = "ξ" if case.say.symbols else "the row"
    return (
        f" Of it {inside:+.3g} is the model averaged over {case.say.rows} boxes instead of taken at "
        f"{at}, and {beyond:+.3g} is that the model is not a sum over features."
    )


def penalty(case: Case, name: str, size: float, lost: np.ndarray, worst: int) -> Words:
    """What ridge or lasso takes off the coefficients."""
    weight = f": the total weight of the samples is {case.n * np.exp(case.tilt.log_C):.3g}"
    lime = " (model_regressor=LinearRegression())." if case.is_lime else f" ({name}=0)."
    raised = f"Raise {more_samples(case)} or the bandwidth, or fit"
    return Words(
        f"{name.capitalize()} (penalty {size:g}) takes {lost.min():.1%} to {lost.max():.1%} off the "
        f"coefficients, most off {case.names[worst]}{weight if name == 'ridge' else ''}.",
        f"{raised if name == 'ridge' else 'Lower it, or fit'} without the penalty{lime}",
    )


def collapsed_bin(
    names: Sequence[str],
    first: Collapsed,
    share: float,
    whose: str,
    coef: float,
    right: float,
    matters: bool,
) -> Words:
    """A value that `lime` 0.2.0.1 feeds the model and no row of the data has."""
    more = f" The same happens to {few(names[1:])}." if len(names) > 1 else ""
    return Words(
        f"lime 0.2.0.1 feeds the model {names[0]} = {first.fed:.3g} in {share:.0%} of the samples, "
        f"where the training data have {first.value:.3g}; with that value {whose} would be "
        f"{right:.3g} instead of {coef:.3g}"
        f"{'' if matters else ', no difference to this model here'}.{more}",
        "Declare the column in categorical_features, with whole numbers as its values.",
    )


def bandwidth_irrelevant(case: Case) -> Words:
    """A bandwidth that changes nothing."""
    itself = "ξ's own row" if case.say.symbols else "the row's own copy among the samples"
    beside = [name for name, there in (("ridge", case.ridge), (itself, case.own_row)) if there]
    apart = f", apart from what {' and '.join(beside)} do{'es' * (len(beside) == 1)}"
    tuning = (
        f"Tuning {'kernel_width' if case.is_lime else 'nu'} changes nothing here; the boxes decide"
    )
    warning = f", and a much smaller width leaves the answer to {itself}" if case.own_row else ""
    return Words(
        "With a kernel that counts mismatches and a linear model the bandwidth changes no "
        f"coefficient{apart if beside else ''}.",
        f"{tuning}{warning}.",
    )


def many_features(case: Case, doubtful: Sequence[str], wrong: Sequence[str]) -> Words:
    """Intervals of which some must miss; ``wrong`` are those that the exact answer refutes."""
    many = int(case.used.sum())
    sentence = (
        f"There are {many} coefficients, and of {many} intervals that hold in 95% of runs each, "
        f"about {many * 0.05:.2g} would miss in every run: an audit widens them until all hold "
        "together."
    )
    if doubtful:
        verb = "is" if len(doubtful) == 1 else "are"
        sentence += f" {few(doubtful)} {verb} then no longer clear of 0."
    if wrong:
        sentence += (
            f" By the exact answer {few(wrong)} differ from what is shown by more than that."
        )
    return Words(
        sentence,
        "Do not read coefficients whose widened interval holds 0: the picture of the audit draws "
        "them hollow.",
    )


def unstable_set(case: Any, same: float, kept: float, names: Sequence[str], k: int) -> Words:
    """A selection that another run would not make again."""
    return Words(
        f"The {k} features on display are partly chance: another run would choose the same ones with "
        f"a probability of {same:.0%}, and keep {kept:.0%} of them on average; {few(names)} "
        f"{'is' if len(names) == 1 else 'are'} at the edge of being chosen.",
        f"Show other than {k} features (num_features), or raise {more_samples(case)}.",
    )


def no_fit(case: Case, score: float) -> Words:
    """A surrogate that explains next to nothing."""
    if not case.acts_together:
        return Words(
            f"The surrogate explains {max(score, 0.0):.1%} of how the model varies over its samples, "
            f"and sums over features, with all boxes in place of {case.say.rows} own, explain "
            f"{case.additive:.0%}: {case.say.rows} boxes are average ones.",
            "Nothing to mend: the coefficients stand, and what the model does shows at other rows.",
        )
    seen, other = f"effects of single features seen from {case.say.rows} boxes", "other boxes"
    if not case.boxed:
        seen, other = "straight lines in single features", "boxes (discretize_continuous=True)"
    return Words(
        f"The surrogate explains {max(score, 0.0):.1%} of how the model varies over its samples: "
        f"what the model does here is not a sum of {seen}.",
        "Do not read the coefficients as the reasons of the prediction; look for features that act "
        f"together, or explain by {other}.",
    )


def wrong_kernel(case: Case, kernel: str, nu: float, instead: np.ndarray | None) -> Words:
    """A world read from `lime`, with weights that `lime` does not use."""
    say = case.say
    sentence = (
        f"This is not what lime prints: its samples are weighed by kernel {case.kernel!r} at "
        f"{say.at_width(case.nu)}, and this explainer uses {kernel!r} at {say.at_width(nu)}."
    )
    if instead is not None:
        j = int(np.argmax(np.abs(instead)))
        sentence += f" Its largest coefficient, of {case.names[j]}, is {instead[j]:.3g} there and {case.coef[j]:.3g} here."
    return Words(
        sentence, f"Pass nu=world.nu and kernel={kernel!r}, or audit the explainer itself."
    )


def outside_range(case: Case, j: int, beyond: float, ends: tuple[float, float], more: str) -> Words:
    """An instance that lies where no data are."""
    lo, hi = ends
    why = (
        " The explanation compares data of the outermost box, and nothing in it comes from where "
        f"{case.say.row} lies."
    )
    return Words(
        f"{case.names[j]} is {case.xi[j]:.4g} here and between {lo:.4g} and {hi:.4g} in the data: "
        f"{beyond:.0%} of that range beyond it.{why if case.boxed else ''}{more}",
        "Check the value; if it is right, do not explain this row by this data.",
    )


def undeclared_category(
    case: Case,
    names: Sequence[str],
    coef: float,
    right: float,
    size: str,
    *,
    few_values: bool,
    felt: bool,
) -> Words:
    """Labels or counts that are taken for measured numbers."""
    first, more = names[0], f" {few(names[1:])} too." if len(names) > 1 else ""
    changes = (
        f", which {'leaves the coefficients here as they are' if felt else 'makes no difference to this model here'}"
        if size == "note"
        else f": its coefficient is {coef:.3g}, and {right:.3g} if the model gets values that exist"
    )
    return Words(
        f"{first} holds {'a few ' if few_values else ''}whole numbers only, and samples hold values between them that no row "
        f"of the data has{changes}.{more}",
        "Declare the column as categorical"
        + (" (categorical_features)." if case.is_lime else " (categorical=)."),
    )


def off_data(case: Case, numbers: dict[str, Any], name: str | None) -> Words:
    """Samples unlike the data; ``name`` is the feature that the data do not confirm."""
    parts = [
        f"{numbers['share']:.0%} of the samples, by weight, are farther from the data than 95% of "
        "the data are from each other."
    ]
    if numbers["impossible"] > 0:
        parts.append(f"{numbers['impossible']:.0%} cannot exist, with {_dummies(numbers)}.")
    if name is None:
        parts.append("On the data themselves the coefficients are much the same.")
        if numbers["torn"]:
            parts[-1] = (
                f"On the data themselves columns go together: a fit to them turns {few(numbers['torn'])}, "
                "and alone they point the way they do here."
            )
        if not numbers["comparable"]:
            parts[-1] = "There are too few data near this row to tell whether that matters."
        remedy = "Nothing to mend, as long as the model is only asked about data like these."
        if numbers["impossible"] > 0:
            remedy = "Explain the columns before they are encoded, as one categorical feature."
    else:
        parts.append(
            f"It matters: {name} has the coefficient {numbers['coef']:.3g} over the samples, and "
            f"{numbers['coef_on_data']:.3g} with a standard error of {numbers['stderr_on_data']:.2g} "
            "over the data themselves."
        )
        remedy = (
            "Do not read this as how the model treats real cases; compare with an explanation that "
            "draws from the data, or leave out columns that go together."
        )
    return Words(" ".join(parts), remedy)


def _dummies(numbers: dict[str, Any]) -> str:
    """What is wrong with columns that exclude each other."""
    parts = [
        f"{how} of {few(numbers[which])}"
        for how, which in (("none or several", "one_hot"), ("several", "exclusive"))
        if numbers[which]
    ]
    return ", or ".join(parts)


# --- words and superpixels -----------------------------------------------------------------------


def cannot_matter(names: Sequence[str], numbers: dict[str, Any]) -> Words:
    """Words that the model does not read, or that changed nothing wherever they were tried."""
    many, of, reads = numbers["words"], numbers["of"], numbers["read"]
    if many == of:
        return Words(
            "The model reads none of the words of this text: whatever lime removes, the prediction "
            "stays as it is, and no coefficient says anything.",
            "Look at the vocabulary and the stop words of the vectoriser.",
        )
    because = "cannot matter, since the vectoriser drops them" if reads else "change nothing"
    return Words(
        f"{many} of the {of} words {because}: {few(names)}. Their coefficients reach "
        f"{numbers['largest_coef']:.2g} all the same, from chance and from what the other words do "
        "together.",
        "Do not read them as the reasons of the prediction.",
    )


def repeated_words(
    groups: Sequence[str], worst: str, joint: float, added: float, apart: bool
) -> Words:
    """Words that are several switches, of which the model makes one."""
    found = f"lime switches the same word more than once: {few(groups)}."
    if not apart:
        return Words(
            f"{found} Its effect is spread over its coefficients.",
            "Add them up before you compare them with those of other words.",
        )
    return Words(
        f"{found} Without any {worst} the prediction moves by {joint:.3g}, but its coefficients add up "
        f"to {added:.3g}: one occurrence stands in for another.",
        "Write the word in one way (lower case) and use bow=True, or remove all of them together.",
    )


def hidden_rule(case: Any, names: Sequence[str], worst: str, numbers: dict[str, Any]) -> Words:
    """A coefficient far below what the model does without the word alone."""
    width = numbers.get("kernel_width")
    wider = "" if width is None else f" kernel_width={width:.3g} would show half of it."
    return Words(
        f"The width hides what {few(names)} {'does' if len(names) == 1 else 'do'} here: without "
        f"{worst} alone the prediction moves by {numbers['alone']:.3g}, but its coefficient is "
        f"{numbers['coef']:.3g}, an average over samples in which others it works with are gone too.",
        f"Remove single {case.word}s to see what they do, or take a smaller kernel_width.{wider}",
    )


def same_as_fill(names: Sequence[str], numbers: dict[str, Any]) -> Words:
    """Superpixels that look the same hidden."""
    many, of = numbers["superpixels"], numbers["of"]
    whole = "No superpixel looks" if many == of else f"{many} of {of} superpixels do not look"
    which = "" if many == of else f" ({few(names)})"
    return Words(
        f"{whole} any different when hidden{which}, {numbers['share']:.0%} of the image: the fill is "
        "what was there, and their coefficients cannot say whether the model looks at them.",
        "Choose another hide_color, one that the image does not have.",
    )


def shifted_labels(never: Sequence[int], empty: Sequence[int]) -> Words:
    """Labels that `lime` does not count from."""
    what = (
        f"superpixel {never[0]} is" if len(never) == 1 else f"superpixels {few(_texts(never))} are"
    )
    nothing = (
        f"number {empty[0]} hides" if len(empty) == 1 else f"numbers {few(_texts(empty))} hide"
    )
    return Words(
        f"lime numbers superpixels from 0 upwards and the segmentation does not: {what} never hidden, "
        f"and {nothing} nothing.",
        "Number the labels from 0 without gaps (slic's start_label=0, or numpy.unique with "
        "return_inverse=True).",
    )


def _texts(numbers: Sequence[int]) -> list[str]:
    return [str(number) for number in numbers]
