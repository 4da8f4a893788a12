"""`lime`'s explainers of text and of images, read: what they switch, how they draw and weigh.

Chapters: images, text.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from ..closed_forms import OWN_ROW, TINY, own_row_note
from ..lime_runs import LimePrediction, Request, Surrogates, Told
from .classifiers import Classifier, label_of
from .pictures import image_board
from .pools import pool_of_masks
from .settings import MOST, Board, MaskSetting, level_weights
from .switches import Switches, image_switches, text_switches
from .texts import text_board

UNEVEN = 0.5  # of what runs differ by: an error of the prediction that is said


class MaskKind:
    """An explainer that switches words or superpixels; the two kinds say what differs."""

    name: str
    options: tuple[str, ...]
    samples: int  # of `lime`, unless told otherwise
    features: int
    usual: int | None  # the label of no label; None for the likeliest
    scale: float  # of distances

    def reads(self, explainer: Any) -> bool:
        """Whether an explainer is of this kind; its module is loaded then."""
        module, _, name = self.name.rpartition(".")
        loaded = sys.modules.get(module)
        return loaded is not None and isinstance(explainer, getattr(loaded, name))

    def board(self, explainer: Any, instance: Any, options: dict[str, Any]) -> Board:
        """What is switched."""
        raise NotImplementedError

    def world(self, d: int) -> Switches:
        """How many are on."""
        raise NotImplementedError

    def distances(self, rows: np.ndarray, metric: Any) -> Any:
        """The distances of `lime` from the first row to all, (n,)."""
        raise NotImplementedError

    def setting(self, explainer: Any, f: Any, instance: Any, asked: Request) -> MaskSetting:
        """What is asked, checked before the classifier is called."""
        classifier, options = Classifier.of(f), asked.options
        board = self.board(explainer, instance, options)
        d = board.d
        if d > MOST:
            raise ValueError(
                f"instance must have at most {MOST} different {board.word}s for a prediction of what "
                f"lime prints, got {d}; lt.switch_limit of a form has no such bound."
            )
        metric = options.get("distance_metric", "cosine")
        log_weight, own, nu = level_weights(explainer, d, metric, self.scale, self.distances)
        world = replace(self.world(d), log_weight=log_weight)
        answers = classifier.columns(board.compose(np.ones((1, d), bool)))[0]
        names = explainer.class_names if hasattr(explainer, "class_names") else None
        named = [str(name) for name in (classifier.classes if names is None else names)]
        label = label_of(answers, asked.label, asked.top_labels, named, self.usual)
        return MaskSetting(board, world, own, nu, classifier, label, answers)

    def predict(self, explainer: Any, f: Any, instance: Any, asked: Request) -> LimePrediction:
        """What ``explain_instance`` will print."""
        surrogates = Surrogates(explainer, asked.model_regressor)
        return self.predicted(self.setting(explainer, f, instance, asked), surrogates, asked)

    def predicted(
        self, setting: MaskSetting, surrogates: Surrogates, asked: Request
    ) -> LimePrediction:
        """The same, of what is asked."""
        ask = asked.numbers(self.features, self.samples, setting.d)
        pool, calls = pool_of_masks(setting, ask.samples, ask.calls, ask.seed)
        weight = (ask.samples - 1) * np.exp(setting.world.log_C)
        told = Told(
            names=setting.board.names,
            label=setting.label.number,
            class_name=setting.label.name,
            prediction=setting.prediction,
            calls=calls + 1,
            warnings=(own_row_note(ask.samples, weight),) if weight < OWN_ROW else (),
        )
        found = surrogates.predicted(pool, ask, told)
        share = float(np.median(pool.stderr) / max(np.median(found.sd), TINY))
        if share <= UNEVEN:
            return found
        note = (
            f"f varies so unevenly that {found.calls} calls leave errors of {share:.0%} of what runs "
            "differ by; raise calls."
        )
        return replace(found, warnings=(*found.warnings, note))


class Texts(MaskKind):
    """Words of a text: how many go is uniform, and so is which."""

    name = "lime.lime_text.LimeTextExplainer"
    options = ("distance_metric",)
    samples, features, usual, scale = 5000, 10, 1, 100.0

    def board(self, explainer: Any, instance: Any, options: dict[str, Any]) -> Board:
        """Its words."""
        return text_board(explainer, instance)

    def world(self, d: int) -> Switches:
        """Uniform."""
        return text_switches(d)

    def distances(self, rows: np.ndarray, metric: Any) -> Any:
        """Of sparse rows, times 100."""
        from scipy.sparse import csr_matrix
        from sklearn.metrics import pairwise_distances

        sparse = csr_matrix(rows)
        return pairwise_distances(sparse, sparse[0], metric=metric).ravel() * self.scale


class Images(MaskKind):
    """Superpixels of an image: a coin is flipped for each."""

    name = "lime.lime_image.LimeImageExplainer"
    options = ("distance_metric", "hide_color", "segmentation_fn", "random_seed", "batch_size")
    samples, features, usual, scale = 1000, 100_000, None, 1.0

    def board(self, explainer: Any, instance: Any, options: dict[str, Any]) -> Board:
        """Its superpixels."""
        return image_board(instance, **{k: v for k, v in options.items() if k != "distance_metric"})

    def world(self, d: int) -> Switches:
        """Coin flips."""
        return image_switches(d)

    def distances(self, rows: np.ndarray, metric: Any) -> Any:
        """Of dense rows."""
        from sklearn.metrics import pairwise_distances

        return pairwise_distances(rows, rows[:1], metric=metric).ravel()


MASK_KINDS: tuple[MaskKind, ...] = (Texts(), Images())
