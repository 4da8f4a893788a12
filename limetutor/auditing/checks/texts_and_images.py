"""Checks of explanations of texts and images, whose words or superpixels are switched off.

Chapters: images, text.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...precision.diagnostics import MIN_OTHER_WEIGHT
from ...switches.fits import fit_form
from ...switches.switches import cosine_log_weight
from ..findings import Finding, few, mask_check
from ..mask_case import MaskCase
from .fit import own_copy
from .noise import LARGE, SAME_SET, min_ess, too_few, unstable

BEYOND_NOISE = 3.0  # standard deviations of a run beyond which a difference is not its noise
MIN_SHOWN = 0.5  # of the effect of a word alone: a coefficient below it hides the word
MIN_EFFECT = 0.25  # of the largest such effect
APART = 0.25  # of the larger of two numbers: they do not say the same
NARROWER = np.geomspace(1, 0.02, 60)  # widths that are tried instead, as shares of the one in use
SAME_COLOUR = 1e-9  # of the range of an image: a fill that differs by less is the same


@mask_check
def unstable_set(case: MaskCase) -> Iterator[Finding]:
    """Would another run put others on display?"""
    k, same, d = case.shown, case.subject.sets[0][1], len(case.coef)
    if k < d and case.top > 0 and same < SAME_SET:
        yield unstable(case, np.arange(d), case.displayed, case.subject.selection, same, k)


@mask_check
def own_row(case: MaskCase) -> Iterator[Finding]:
    """Does the instance itself, which lime puts among its samples, decide the answer?"""
    if case.weight < MIN_OTHER_WEIGHT:
        numbers = {"weight": case.weight, "n": case.n}
        yield own_copy(case, "serious", "decides", numbers, "instance")


@mask_check
def few_samples(case: MaskCase) -> Iterator[Finding]:
    """Are there enough effective samples for the number of coefficients?"""
    ess = effective(case, case.problem.world)
    if ess < min_ess(case):
        yield too_few(case, ess)


def effective(case: MaskCase, world: Any) -> float:
    """The effective sample size that is expected with the weights of a world."""
    return case.n * float(np.exp(2 * world.log_C - world.powered(2.0).log_C))


@mask_check
def cannot_matter(case: MaskCase) -> Iterator[Finding]:
    """Are there switches that change nothing the model reads?"""
    if case.word != "word" or not np.any(case.silent):
        return
    on_display = case.silent & case.displayed & (np.abs(case.coef) > LARGE * case.top)
    count, d, names = int(case.silent.sum()), len(case.coef), case.name(case.silent)
    largest, read = float(np.max(np.abs(case.coef[case.silent]))), case.problem.reading is not None
    if count == d:
        sentence = (
            "The model reads none of the words of this text: whatever lime removes, the prediction "
            "stays as it is, and no coefficient says anything."
        )
        remedy = "Look at the vocabulary and the stop words of the vectoriser."
    else:
        because = "cannot matter, since the vectoriser drops them" if read else "change nothing"
        sentence = (
            f"{count} of the {d} words {because}: {few(names)}. Their coefficients reach "
            f"{largest:.2g} all the same, from chance and from what the other words do together."
        )
        remedy = "Do not read them as the reasons of the prediction."
    yield Finding(
        "cannot-matter", "warning" if count == d or np.any(on_display) else "note", names,
        {"words": count, "of": d, "largest_coef": largest, "read": read}, sentence, remedy,
    )  # fmt: skip


@mask_check
def repeated_words(case: MaskCase) -> Iterator[Finding]:
    """Are several switches one word to the model?"""
    if case.word != "word" or not case.same:
        return
    without = np.array([~np.isin(np.arange(len(case.coef)), group) for group in case.same])
    joint = case.prediction - case.problem.predict(without)
    added = np.array([case.coef[group].sum() for group in case.same])
    size = np.maximum(np.maximum(np.abs(joint), np.abs(added)), LARGE * case.top)
    noise = [np.sqrt(np.sum(case.stderr[group] ** 2)) for group in case.same]
    apart = np.abs(joint - added) > np.maximum(APART * size, BEYOND_NOISE * np.array(noise))
    worst = int(np.argmax(np.where(apart, np.abs(joint - added), -1.0)))
    first = [case.names[group[0]] for group in case.same]
    doubted = [case.same[i] for i in np.flatnonzero(apart)] or case.same
    sentence = f"lime switches the same word more than once: {few(first)}."
    if np.any(apart):
        sentence += (
            f" Without any {first[worst]} the prediction moves by {joint[worst]:.3g}, but its "
            f"coefficients add up to {added[worst]:.3g}: one occurrence stands in for another."
        )
        remedy = "Remove all of them together to see what the word does."
    else:
        sentence += " Its effect is spread over its coefficients."
        remedy = "Add them up before you compare them with those of other words."
    yield Finding(
        "repeated-words", "warning" if np.any(apart) else "note",
        tuple(dict.fromkeys(case.names[j] for group in doubted for j in group)),
        {
            "groups": [[case.names[j] for j in group] for group in case.same],
            "together": joint.tolist(), "added": added.tolist(),
        },
        sentence, remedy,
    )  # fmt: skip


@mask_check
def hidden_rule(case: MaskCase) -> Iterator[Finding]:
    """Does the width hide what the model does without a word that needs others beside it?"""
    if len(case.coef) == 1 or case.weight < MIN_OTHER_WEIGHT:
        return  # there is no other switch, or nothing but the instance itself counts
    effect, size = np.abs(case.alone), np.abs(case.coef)
    hidden = effect >= MIN_EFFECT * np.max(effect, initial=0.0)
    hidden &= (size < MIN_SHOWN * effect) & (effect - size > BEYOND_NOISE * case.stderr)
    if not np.any(hidden):
        return
    worst, names = int(np.argmax(np.where(hidden, effect - size, -1.0))), case.name(hidden)
    numbers = {"coef": float(case.coef[worst]), "alone": float(case.alone[worst])}
    nu, wider = _narrower(case, worst), ""
    if nu is not None:
        numbers["kernel_width"] = nu * case.scale
        wider = f" kernel_width={numbers['kernel_width']:.3g} shows half of it."
    yield Finding(
        "hidden-rule", "warning", names, numbers,
        f"The width hides what {few(names)} {'does' if len(names) == 1 else 'do'} here: without "
        f"{case.names[worst]} alone the prediction moves by {numbers['alone']:.3g}, but its "
        f"coefficient is {numbers['coef']:.3g}, an average over samples in which others it works with "
        "are gone too.",
        f"Remove single {case.word}s to see what they do.{wider}",
    )  # fmt: skip


def _narrower(case: MaskCase, j: int) -> float | None:
    """The largest width at which the coefficient shows, for an f that has a form and `lime`'s kernel."""
    problem = case.problem
    if problem.form is None or problem.nu is None:
        return None
    for nu in NARROWER * problem.nu:
        world = replace(problem.world, log_weight=cosine_log_weight(problem.d, nu))
        others = (case.n - 1) * float(np.exp(world.log_C))
        if others < MIN_OTHER_WEIGHT or effective(case, world) < min_ess(case):
            return None  # too few samples would count
        if abs(fit_form(problem.form, world).coef[j]) >= MIN_SHOWN * abs(case.alone[j]):
            return float(nu)
    return None


@mask_check
def same_as_fill(case: MaskCase) -> Iterator[Finding]:
    """Are there superpixels that the fill colour does not change?"""
    image: Any = case.problem.instance
    if case.word != "superpixel":
        return
    pixels = np.bincount(image.segments[image.segments >= 0], minlength=image.d)[: image.d]
    scale = float(np.ptp(image.image.astype(float))) or 1.0
    same = (image.changed() <= SAME_COLOUR * scale) & (pixels > 0)
    if not np.any(same):
        return
    count, share = int(same.sum()), float(pixels[same].sum() / image.segments.size)
    which, names = "No superpixel looks any different when hidden", case.name(same)
    if count < image.d:
        which = (
            f"{count} of {image.d} superpixels do not look any different when hidden ({few(names)})"
        )
    yield Finding(
        "same-as-fill", "serious" if np.all(same) else "warning", names,
        {"superpixels": count, "of": image.d, "share": share},
        f"{which}, {share:.0%} of the image: the fill is what was there, and their coefficients cannot "
        "say whether the model looks at them.",
        "Choose another hide_color, one that the image does not have.",
    )  # fmt: skip


@mask_check
def shifted_labels(case: MaskCase) -> Iterator[Finding]:
    """Do the labels of the segmentation run from 0, as lime takes them to?"""
    image: Any = case.problem.instance
    if case.word != "superpixel" or not image.without_switch:
        return
    never, empty = ([str(j) for j in js] for js in (image.without_switch, image.without_pixels))
    shown = f"superpixel {never[0]} is" if len(never) == 1 else f"superpixels {few(never)} are"
    idle = f"number {empty[0]} hides" if len(empty) == 1 else f"numbers {few(empty)} hide"
    yield Finding(
        "shifted-labels", "serious", tuple(empty),
        {"never_hidden": image.without_switch, "empty": image.without_pixels},
        f"lime numbers superpixels from 0 upwards and the segmentation does not: {shown} never hidden, "
        f"and {idle} nothing.",
        "Number the labels from 0 without gaps (slic's start_label=0, or numpy.unique with "
        "return_inverse=True).",
    )  # fmt: skip
