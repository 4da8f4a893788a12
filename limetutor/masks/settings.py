"""What `lime` is asked about switches: a board, a classifier, a label, and the weights of masks.

Whatever the kernel and the distance, the weight of a mask must depend on how many switches are on and
on nothing else: :func:`level_weights` reads it off the explainer. Chapters: images, text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from .. import arguments as arg
from ..lime_bridge import own_width
from ..lime_runs import checked_weights
from .classifiers import Classifier, Label
from .estimators import Reading, read
from .fits import SwitchRows
from .forms import Switched
from .sampling import draw
from .switches import Switches, cosine_log_weight

MOST = 2000  # switches of one text or image
CHECKS = 24  # masks at which a form must say what the classifier says
ALIKE = 1e-6  # relative to how much it varies
PLACES = 17  # numbers of switches, spread from few to many, at which two masks must weigh the same


class Board(Protocol):
    """What is switched on and off: d switches with names, and what a mask makes of them."""

    word: str

    @property
    def d(self) -> int:
        """How many switches there are."""

    @property
    def names(self) -> tuple[Any, ...]:
        """What they are called."""

    @property
    def batch(self) -> int:
        """How many masks to compose at a time."""

    def compose(self, z: np.ndarray) -> Any:
        """What a classifier gets for masks (n, d)."""

    def reading(self, model: Any) -> Reading | None:
        """What the last step of a model reads of the switches; None where that is no sum."""


@dataclass(frozen=True, eq=False)
class MaskSetting:
    """Everything `lime`'s answer about one instance depends on, but chance.

    ``world`` has the weights in units of ``own_weight``, that of the instance itself; ``answers``
    (columns,) is what the classifier says of it.
    """

    board: Board
    world: Switches
    own_weight: float
    nu: float | None
    classifier: Classifier
    label: Label
    answers: np.ndarray = field(repr=False)

    @property
    def d(self) -> int:
        """How many switches there are."""
        return self.board.d

    @property
    def prediction(self) -> float:
        """f(xi)."""
        return float(self.answers[self.label.column])

    def predict(self, z: np.ndarray) -> np.ndarray:
        """The explained column at masks (n, d), (n,)."""
        parts = [
            self.classifier.columns(self.board.compose(z[start : start + self.board.batch]))
            for start in range(0, len(z), self.board.batch)
        ]
        found = np.concatenate(parts)
        if found.shape[1] != len(self.answers):
            raise ValueError(
                f"f must return {len(self.answers)} column(s) for every {self.board.word} mask, as for "
                f"the instance, got {found.shape[1]}."
            )
        return found[:, self.label.column]

    @cached_property
    def reading(self) -> Reading | None:
        """What the estimator behind the classifier reads of the switches."""
        return self.board.reading(self.classifier.model)

    @cached_property
    def form(self) -> Switched | None:
        """f as a function of the switches, where its estimator is known and does what it should."""
        if self.reading is None:
            return None
        model = self.classifier.model
        column, sign = self.classifier.picks(self.label.column)
        last = model.steps[-1][1] if hasattr(model, "steps") else model
        found = read(last, self.classifier.method, self.reading, self.d, column)
        return found.times(sign) if found is not None and self._agrees(found.times(sign)) else None

    def _agrees(self, form: Switched) -> bool:
        """Whether a form says what the classifier says, at the instance and at random masks."""
        z = draw(self.world.powered(0.0), CHECKS, np.random.default_rng(0))
        z = np.vstack([np.ones((1, self.d), bool), z])
        theirs, ours = self.predict(z), form(z)
        return bool(np.max(np.abs(theirs - ours)) <= ALIKE * max(np.ptp(theirs), 1e-6))

    def rows(self, n: int, penalty: float) -> SwitchRows:
        """The fit of `lime` to n rows."""
        return SwitchRows(n, penalty / self.own_weight, True)


def level_weights(
    explainer: Any, d: int, metric: Any, scale: float, distances: Callable[[np.ndarray, Any], Any]
) -> tuple[np.ndarray, float, float | None]:
    """Log weights of k = 0..d switches on relative to the instance's own, that one, and nu.

    ``distances`` (rows, metric) are those of `lime`, the instance first; nu is None for a kernel or a
    distance other than `lime`'s own. ``scale`` is what `lime` multiplies its cosine distance by.
    """
    width = own_width(explainer, scale * (1 - np.sqrt(np.arange(d + 1) / d)))
    if width and isinstance(metric, str) and metric == "cosine":
        nu = abs(width) / scale  # lime squares it
        return cosine_log_weight(d, nu), 1.0, nu
    stairs = np.tri(d + 1, d, -1)
    weights = _weights(explainer, metric, distances, stairs)
    some = np.unique(np.linspace(0, d, PLACES).astype(int))
    others = _weights(explainer, metric, distances, stairs[some][:, ::-1])
    if not np.allclose(others[1:], weights[1 + some], 1e-6, 1e-12):
        raise ValueError(
            "distance_metric must depend on how many are switched off alone, got "
            f"{arg.shorten(metric)}, which tells switches apart."
        )
    if not np.any(weights[1:-1] > 0):
        raise ValueError(
            "explainer's kernel must weigh some samples above 0, got 0 for all but the instance."
        )
    with np.errstate(divide="ignore"):
        return np.log(weights[1:] / weights[0]), float(weights[0]), None


def _weights(
    explainer: Any, metric: Any, distances: Callable[[np.ndarray, Any], Any], masks: np.ndarray
) -> np.ndarray:
    rows = np.vstack([np.ones(masks.shape[1]), masks])
    return checked_weights(explainer, metric, lambda: np.asarray(distances(rows, metric)))
