"""Classifiers of texts and images as functions of switches, to count the questions they cost."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from limetutor.switches.switches import Switches, image_switches, text_switches

TEXTS = {
    "forest": lambda: RandomForestClassifier(60, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(60, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=60, random_state=0),
    "logistic": lambda: make_pipeline(TfidfTransformer(), LogisticRegression(C=30)),
    "calibrated SVM": lambda: make_pipeline(
        TfidfTransformer(), CalibratedClassifierCV(LinearSVC(), cv=3)
    ),
}
IMAGES = {
    "forest": lambda: RandomForestClassifier(60, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=20, random_state=0),
    "logistic": lambda: LogisticRegression(C=0.01, max_iter=500),
    "net": lambda: MLPClassifier((40,), alpha=0.1, max_iter=400, random_state=0),
    "two-layer net": lambda: MLPClassifier((60, 60), alpha=0.1, max_iter=400, random_state=0),
}
SIDE = 32  # of an image: digits of 8 x 8, four times as large
TRAINED = 900


class Masked(NamedTuple):
    """A classifier as a function f of masks, in its world, and how often `lime` asks it."""

    name: str
    world: Switches
    f: Callable[[np.ndarray], np.ndarray]
    n: int


@cache
def corpus() -> tuple[np.ndarray, np.ndarray]:
    """1200 texts as counts of 800 words, of two kinds, with 12 to 260 words each."""
    rng = np.random.default_rng(0)
    frequent = 1 / np.arange(3, 803)
    tilt = np.where(rng.random((2, 800)) < 0.2, rng.normal(0, 1.3, (2, 800)), 0)
    kinds = rng.integers(2, size=1200)
    lengths = np.exp(rng.uniform(np.log(12), np.log(260), 1200)).astype(int)
    chances = frequent * np.exp(tilt[kinds] + rng.normal(0, 0.5, (1200, 800)))
    chances /= chances.sum(axis=1, keepdims=True)
    counts = [rng.multinomial(n, p) for n, p in zip(lengths, chances, strict=True)]
    return np.array(counts, np.float32), kinds


@cache
def text_model(name: str):
    counts, kinds = corpus()
    return TEXTS[name]().fit(counts[:TRAINED], kinds[:TRAINED])


@cache
def image_model(name: str):
    digits = load_digits()
    return IMAGES[name]().fit(digits.data[:TRAINED], digits.target[:TRAINED])


def texts(name: str, sizes: tuple[int, ...]) -> Iterator[Masked]:
    """For each size the text with about as many different words."""
    model, unseen = text_model(name), corpus()[0][TRAINED:]
    for d in sizes:
        row = unseen[np.argmin(np.abs((unseen > 0).sum(axis=1) - d))]
        words = np.flatnonzero(row)
        label = int(np.argmax(model.predict_proba(row[None])))

        def f(z, row=row, words=words, label=label):
            counts = np.zeros((len(z), len(row)), np.float32)
            counts[:, words] = z * row[words]
            return model.predict_proba(counts)[:, label]

        yield Masked(f"text, {name}, d = {len(words)}", text_switches(len(words)), f, 5000)


def images(name: str, sizes: tuple[int, ...]) -> Iterator[Masked]:
    """A digit for each size, cut into about as many superpixels; hidden ones are black or grey."""
    model, digits = image_model(name), load_digits().data[TRAINED:]
    rng = np.random.default_rng(1)
    for i, d in enumerate(sizes):
        image = np.kron(digits[rng.integers(len(digits))].reshape(8, 8), np.ones((4, 4)))
        at = np.stack(np.meshgrid(*[np.arange(SIDE) + 0.5] * 2), -1)
        middles = rng.random((d, 2)) * SIDE
        nearest = ((at[:, :, None] - middles) ** 2).sum(-1).argmin(-1)
        hidden = 6.0 * (i % 2)
        parts = np.unique(nearest)[:, None, None] == nearest
        blank, shown = small(np.full((SIDE, SIDE), hidden)), small(parts * (image - hidden))
        label = int(np.argmax(model.predict_proba(small(image)[None])))

        def f(z, blank=blank, shown=shown, label=label):
            return model.predict_proba(blank + z @ shown)[:, label]

        yield Masked(f"image, {name}, d = {len(parts)}", image_switches(len(parts)), f, 1000)


def small(images: np.ndarray) -> np.ndarray:
    """Images of 8 x 8 mean tones, as the models saw them."""
    tones = images.reshape(*images.shape[:-2], 8, 4, 8, 4).mean(axis=(-3, -1))
    return tones.reshape(*images.shape[:-2], 64)
