"""What the checks of an audit of a text or an image look at.

The numbers are those of :func:`limetutor.predict_lime`, so that the noise of a run is known before one is
made. Beside them the model is called without each word or superpixel alone. Chapters: images, text.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import scipy

from ..lime.lime_prediction import LimePrediction
from ..lime.masks import MaskProblem
from ..plotting import page
from .case import CONFIDENCE
from .coefficient_signs import Signs
from .findings import PLAIN, AuditCase, Terms

KINDS = {"word": "text", "superpixel": "image"}  # what has such switches
RANDOM_MASKS = 8  # at which a word that seems to have no effect is tried


@dataclass(frozen=True, eq=False)
class MaskCase(AuditCase):
    """What `lime` will print for a text or an image; :class:`~limetutor.auditing.case.Case` for rows.

    ``coef`` is the mean over runs; ``word`` is what a switch is called, a word or a superpixel.
    """

    problem: MaskProblem  # unpickled audits have None
    subject: LimePrediction
    scale: float  # of `lime`'s kernel_width to nu
    terms: Terms = PLAIN
    word: str = "word"
    stored: dict[str, Any] = field(default_factory=dict, repr=False)  # without the problem

    is_lime = is_mean = True
    has_box_limit = False
    form = None
    kernel = "cosine"
    sampled = None
    stderr = property(attrgetter("subject.sd"))
    n = property(attrgetter("subject.num_samples"))
    local_prediction = property(attrgetter("subject.local_pred"))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the switches, with a number where several share one."""
        return tuple(str(name) for name in self.subject.names)

    @property
    def covariance(self) -> np.ndarray:
        """The same squared, as a matrix: masks are drawn one by one."""
        return np.diag(self.stderr**2)

    @property
    def half_width(self) -> np.ndarray:
        """Half the simultaneous 95% intervals, (d,): Sidak's for normal errors."""
        level = CONFIDENCE ** (1 / len(self.coef))
        return float(scipy.special.ndtri(0.5 + level / 2)) * self.stderr

    @property
    def used(self) -> np.ndarray:
        """Switches with a coefficient: all of them, (d,) of bool."""
        return np.ones(len(self.coef), bool)

    @property
    def shown(self) -> int:
        """How many switches are on display."""
        return min(self.subject.num_features, len(self.coef))

    @property
    def instance(self) -> str:
        """What was explained, in words."""
        return self.terms.row if self.terms.symbols else f"this {KINDS[self.word]}"

    @property
    def nu(self) -> float:
        """The bandwidth, nan for a kernel that is not `lime`'s."""
        nu = self.stored["nu"] if self.problem is None else self.problem.nu
        return float("nan") if nu is None else nu

    @property
    def weight(self) -> float:
        """The expected total weight of all samples but the instance itself, which has weight 1."""
        return (self.n - 1) * float(np.exp(self.problem.world.log_C))

    def signs(self) -> Signs:
        """The signs of the coefficients; switches have no slopes."""
        return Signs.of(self)

    def without_model(self) -> MaskCase:
        """The same without model and instance."""
        return replace(self, problem=None, stored={"nu": self.nu})  # type: ignore[arg-type]

    def picture(self) -> list[Any]:
        """The text or the image with what is displayed marked, for a page; nothing where it is gone."""
        if self.problem is None:
            return []
        coef, instance = np.where(self.displayed, self.coef, 0.0), self.problem.instance
        if self.word == "word":
            text: Any = instance
            words = page.marked(text.parts(coef))
            return [words, page.paragraph("Underlined: raises the prediction; dotted: lowers it.")]
        if not page.can_draw():
            return []
        from ..plotting.audits import superpixels

        image: Any = instance
        names = [self.names[j] for j in self.subject.order() if coef[j]]
        alt = f"The image, with superpixels outlined: {', '.join(names)}. Solid raises, dotted lowers."
        return [page.picture(superpixels(image.image, image.segments, coef), alt, alt)]

    @cached_property
    def displayed(self) -> np.ndarray:
        """The most probable set on display, (d,) of bool."""
        mask = np.zeros(len(self.coef), bool)
        mask[list(self.subject.sets[0][0])] = True
        return mask

    @cached_property
    def alone(self) -> np.ndarray:
        """f(xi) less f without each switch alone, (d,)."""
        d = len(self.coef)
        return self.prediction - self.problem.predict(~np.eye(d, dtype=bool))

    @cached_property
    def silent(self) -> np.ndarray:
        """Switches without effect: without the others, with them, and at random masks, (d,) of bool."""
        d, problem = len(self.coef), self.problem
        if problem.reading is not None:
            return np.array([not problem.reading.switched(j) for j in range(d)])
        bare = problem.predict(np.vstack([np.zeros((1, d), bool), np.eye(d, dtype=bool)]))
        quiet = (self.alone == 0) & (bare[1:] == bare[0])
        for j in np.flatnonzero(quiet):
            z = np.random.default_rng(0).random((RANDOM_MASKS, d)) < 0.5
            on, off = z.copy(), z.copy()
            on[:, j], off[:, j] = True, False
            both = problem.predict(np.vstack([on, off]))
            quiet[j] = np.array_equal(both[:RANDOM_MASKS], both[RANDOM_MASKS:])
        return quiet

    @cached_property
    def same(self) -> list[np.ndarray]:
        """Groups of switches that are one word to the model, or to the reader."""
        reading = self.problem.reading
        if reading is not None:
            columns = reading.columns().values()
            groups = {tuple(sorted(c.members)) for c in columns if len(c.members) > 1}
        else:
            spelled: dict[str, list[int]] = {}
            for j, name in enumerate(self.names):
                spelled.setdefault(name.casefold(), []).append(j)
            groups = {tuple(g) for g in spelled.values() if len(g) > 1}
        switches = [np.array(group) for group in sorted(groups)]
        return [group for group in switches if not np.all(self.silent[group])]
