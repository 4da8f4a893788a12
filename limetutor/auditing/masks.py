"""An audit of `lime` on a text or an image: what its checks look at, and the checks.

The numbers are those of :func:`limetutor.predict_lime`, so that the noise of a run is known before one is
made. Beside them the model is asked what it says without each word or superpixel alone.
Chapters: images, text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..closed_forms import OWN_ROW
from ..lime_runs import LimePrediction
from ..masks.fits import fit_form
from ..masks.settings import MaskSetting
from ..masks.switches import cosine_log_weight
from . import wording
from .case import CONFIDENCE
from .findings import Finding
from .noise_checks import EDGE, LARGE, PER_COEFFICIENT, SAME, noise, unsettled
from .speech import PLAIN, Speech

CHANCE = 3.0  # standard deviations of a run beyond which a difference is not its noise
SHOWS = 0.5  # of what the model does without a word: a coefficient below it hides the word
MATTERS = 0.25  # of the largest such effect
APART = 0.25  # of the larger of two numbers: they do not say the same
RANDOM = 8  # masks at which a word that seems to do nothing is tried
NARROWER = np.geomspace(1, 0.02, 60)  # widths that are tried instead, as shares of the one in use
PIXEL = 1e-9  # of the range of an image: a fill that differs by less is the same


@dataclass(frozen=True, eq=False)
class MaskCase:
    """What the checks look at: the setting, what `lime` will print, how many are on display."""

    setting: MaskSetting | None
    subject: LimePrediction
    scale: float  # of `lime`'s kernel_width to nu
    say: Speech = PLAIN
    word: str = "word"
    known: dict[str, Any] = field(default_factory=dict, repr=False)

    is_lime = True
    product = tilts = False
    form = None
    kernel = "cosine"
    what = "instance"
    sampled = None

    @property
    def world(self) -> MaskSetting:
        """The setting; audits that were stored have none."""
        assert self.setting is not None
        return self.setting

    @property
    def names(self) -> tuple[str, ...]:
        """Of the switches, a number for those that share theirs with others."""
        return tuple(str(name) for name in self.subject.names)

    @property
    def coef(self) -> np.ndarray:
        """What a run prints on average, (d,)."""
        return self.subject.coef

    @property
    def stderr(self) -> np.ndarray:
        """How that differs from run to run, (d,)."""
        return self.subject.sd

    @property
    def reach(self) -> np.ndarray:
        """Half of intervals that hold together with 95%, (d,): Sidak's for normal errors."""
        level = CONFIDENCE ** (1 / len(self.coef))
        return float(scipy.special.ndtri(0.5 + level / 2)) * self.stderr

    @property
    def used(self) -> np.ndarray:
        """All of them."""
        return np.ones(len(self.coef), bool)

    @property
    def shown(self) -> int:
        """How many are on display."""
        return min(self.subject.num_features, len(self.coef))

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.subject.num_samples

    @property
    def nu(self) -> float:
        """The bandwidth, nan for a kernel that is not `lime`'s."""
        nu = self.known["nu"] if self.setting is None else self.setting.nu
        return float("nan") if nu is None else nu

    @property
    def prediction(self) -> float:
        """f(xi)."""
        return self.subject.prediction

    @property
    def local_prediction(self) -> float:
        """The surrogate at xi."""
        return self.subject.local_pred

    @property
    def top(self) -> float:
        """The largest coefficient, without its sign."""
        return float(np.max(np.abs(self.coef)))

    @property
    def weight(self) -> float:
        """What all samples but the instance itself are expected to weigh, which weighs 1."""
        return (self.n - 1) * float(np.exp(self.world.world.log_C))

    def name(self, mask: np.ndarray) -> tuple[str, ...]:
        """Names of the switches where mask is True."""
        return tuple(self.names[j] for j in np.flatnonzero(mask))

    def light(self) -> MaskCase:
        """The same without model and instance."""
        return replace(self, setting=None, known={"nu": self.nu})

    @cached_property
    def displayed(self) -> np.ndarray:
        """The likeliest set, (d,) of bool."""
        mask = np.zeros(len(self.coef), bool)
        mask[list(self.subject.sets[0][0])] = True
        return mask

    @cached_property
    def alone(self) -> np.ndarray:
        """f(xi) less f without each switch alone, (d,)."""
        d = len(self.coef)
        return self.prediction - self.world.predict(~np.eye(d, dtype=bool))

    @cached_property
    def silent(self) -> np.ndarray:
        """Switches that do nothing: without the others, with them, and at random masks, (d,) of bool."""
        d, setting = len(self.coef), self.world
        if setting.reading is not None:
            return np.array([not setting.reading.switched(j) for j in range(d)])
        bare = setting.predict(np.vstack([np.zeros((1, d), bool), np.eye(d, dtype=bool)]))
        quiet = (self.alone == 0) & (bare[1:] == bare[0])
        for j in np.flatnonzero(quiet):
            z = np.random.default_rng(0).random((RANDOM, d)) < 0.5
            on, off = z.copy(), z.copy()
            on[:, j], off[:, j] = True, False
            both = setting.predict(np.vstack([on, off]))
            quiet[j] = np.array_equal(both[:RANDOM], both[RANDOM:])
        return quiet

    @cached_property
    def same(self) -> list[np.ndarray]:
        """Groups of switches that are one word to the model, or to the reader."""
        reading = self.world.reading
        if reading is not None:
            columns = reading.columns().values()
            groups = {tuple(sorted(c.members)) for c in columns if len(c.members) > 1}
        else:
            spelled: dict[str, list[int]] = {}
            for j, name in enumerate(self.names):
                spelled.setdefault(name.casefold(), []).append(j)
            groups = {tuple(g) for g in spelled.values() if len(g) > 1}
        heard = [np.array(group) for group in sorted(groups)]
        return [group for group in heard if not np.all(self.silent[group])]


MaskCheck = Callable[[MaskCase], Iterator[Finding]]
MASK_CHECKS: list[MaskCheck] = [noise]  # type: ignore[list-item]


def mask_check(function: MaskCheck) -> MaskCheck:
    """Register a check."""
    MASK_CHECKS.append(function)
    return function


@mask_check
def unstable_set(case: MaskCase) -> Iterator[Finding]:
    """Would another run put others on display?"""
    k, sets, often = case.shown, case.subject.sets, case.subject.selection
    if k >= len(case.coef) or case.top == 0 or sets[0][1] >= SAME:
        return
    kept = float(often[case.displayed].mean())
    edge = (often > EDGE) & (often < 1 - EDGE)
    loose = sorted(np.flatnonzero(edge), key=lambda j: -abs(case.coef[j]))
    yield unsettled(case, loose, sets[0][1], kept, k)


@mask_check
def own_row(case: MaskCase) -> Iterator[Finding]:
    """Does the instance itself, which `lime` puts among its samples, decide the answer?"""
    if case.weight >= OWN_ROW:
        return
    words = wording.own_copy(case, case.weight)
    yield Finding("own-row", "serious", (), {"weight": case.weight, "n": case.n}, *words)


@mask_check
def few_samples(case: MaskCase) -> Iterator[Finding]:
    """Are there enough effective samples for the number of coefficients?"""
    world = case.world.world
    ess = case.n * float(np.exp(2 * world.log_C - world.powered(2.0).log_C))
    least = PER_COEFFICIENT * (len(case.coef) + 1)
    if ess >= least:
        return
    numbers = {"ess": ess, "n": case.n, "least": least}
    numbers["n_needed"] = int(np.ceil(case.n * least / ess))
    severity = "serious" if ess < least / 4 else "warning"
    yield Finding("few-samples", severity, (), numbers, *wording.few_samples(case, numbers))


@mask_check
def cannot_matter(case: MaskCase) -> Iterator[Finding]:
    """Are there switches that change nothing the model reads?"""
    if case.word != "word" or not np.any(case.silent):
        return
    on_display = case.silent & case.displayed & (np.abs(case.coef) > LARGE * case.top)
    severity = "warning" if np.all(case.silent) or np.any(on_display) else "note"
    largest = float(np.max(np.abs(case.coef[case.silent])))
    numbers = {"words": int(case.silent.sum()), "of": len(case.coef), "largest_coef": largest}
    numbers["read"] = case.world.reading is not None
    names = case.name(case.silent)
    yield Finding("cannot-matter", severity, names, numbers, *wording.cannot_matter(names, numbers))


@mask_check
def repeated_words(case: MaskCase) -> Iterator[Finding]:
    """Are several switches one word to the model?"""
    if case.word != "word" or not case.same:
        return
    without = np.array([~np.isin(np.arange(len(case.coef)), group) for group in case.same])
    joint = case.prediction - case.world.predict(without)
    added = np.array([case.coef[group].sum() for group in case.same])
    size = np.maximum(np.maximum(np.abs(joint), np.abs(added)), LARGE * case.top)
    noise = CHANCE * np.array([np.sqrt(np.sum(case.stderr[group] ** 2)) for group in case.same])
    apart = np.abs(joint - added) > np.maximum(APART * size, noise)
    worst = int(np.argmax(np.where(apart, np.abs(joint - added), -1.0)))
    groups = [case.names[group[0]] for group in case.same]
    numbers = {
        "groups": [[case.names[j] for j in group] for group in case.same],
        "together": joint.tolist(),
        "added": added.tolist(),
    }
    doubted = [case.same[i] for i in np.flatnonzero(apart)] or case.same
    features = tuple(case.names[j] for group in doubted for j in group)
    words = wording.repeated_words(
        groups, groups[worst], joint[worst], added[worst], bool(np.any(apart))
    )
    severity = "warning" if np.any(apart) else "note"
    yield Finding("repeated-words", severity, tuple(dict.fromkeys(features)), numbers, *words)


@mask_check
def hidden_rule(case: MaskCase) -> Iterator[Finding]:
    """Does the width hide what the model does without a word that needs others beside it?"""
    if len(case.coef) == 1 or case.weight < OWN_ROW:
        return  # nothing to work with, or nothing but the instance itself
    effect, size = np.abs(case.alone), np.abs(case.coef)
    hidden = effect >= MATTERS * np.max(effect, initial=0.0)
    hidden &= (size < SHOWS * effect) & (effect - size > CHANCE * case.stderr)
    if not np.any(hidden):
        return
    worst = int(np.argmax(np.where(hidden, effect - size, -1.0)))
    instead = _narrower(case, worst)
    numbers = {"coef": float(case.coef[worst]), "alone": float(case.alone[worst])}
    if instead is not None:
        numbers["kernel_width"] = instead * case.scale
    words = wording.hidden_rule(case, case.name(hidden), case.names[worst], numbers)
    yield Finding("hidden-rule", "warning", case.name(hidden), numbers, *words)


def _narrower(case: MaskCase, j: int) -> float | None:
    """The largest width at which the coefficient shows, for an f that has a form and `lime`'s kernel."""
    setting = case.world
    if setting.form is None or setting.nu is None:
        return None
    for nu in NARROWER * setting.nu:
        world = replace(setting.world, log_weight=cosine_log_weight(setting.d, nu))
        if abs(fit_form(setting.form, world).coef[j]) >= SHOWS * abs(case.alone[j]):
            return float(nu)
    return None


@mask_check
def same_as_fill(case: MaskCase) -> Iterator[Finding]:
    """Are there superpixels that the fill colour does not change?"""
    board: Any = case.world.board
    if case.word != "superpixel":
        return
    pixels = np.bincount(board.segments[board.segments >= 0], minlength=board.d)[: board.d]
    reach = float(np.ptp(board.image.astype(float))) or 1.0
    same = (board.changed() <= PIXEL * reach) & (pixels > 0)
    if not np.any(same):
        return
    share = float(pixels[same].sum() / board.segments.size)
    numbers = {"superpixels": int(same.sum()), "of": board.d, "share": share}
    yield Finding(
        "same-as-fill",
        "serious" if np.all(same) else "warning",
        case.name(same),
        numbers,
        *wording.same_as_fill(case.name(same), numbers),
    )


@mask_check
def shifted_labels(case: MaskCase) -> Iterator[Finding]:
    """Do the labels of the segmentation run from 0, as `lime` takes them to?"""
    board: Any = case.world.board
    if case.word != "superpixel" or not board.without_switch:
        return
    numbers = {"never_hidden": board.without_switch, "empty": board.without_pixels}
    features = tuple(str(j) for j in board.without_pixels)
    words = wording.shifted_labels(board.without_switch, board.without_pixels)
    yield Finding("shifted-labels", "serious", features, numbers, *words)
