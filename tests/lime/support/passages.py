"""Real texts and photographs to explain, that ship with scikit-learn, and classifiers of them."""

import re
from functools import cache
from typing import Any

import numpy as np
from lime.lime_text import IndexedString
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

MEDICAL = ("breast_cancer", "diabetes")  # what is told from the others


@cache
def sentences() -> tuple[list[str], np.ndarray]:
    """Passages of some ten words from the descriptions of data sets, and whether they are medical."""
    texts, labels = [], []
    for name in ("breast_cancer", "diabetes", "wine", "iris", "linnerud", "digits"):
        words = getattr(datasets, f"load_{name}")().DESCR.split()
        parts = [" ".join(words[i : i + 12]) for i in range(0, len(words) - 12, 12)]
        texts += parts
        labels += [name in MEDICAL] * len(parts)
    return texts, np.array(labels)


def passage(d: int, start: int = 0) -> str:
    """Words of one of the descriptions from there on, until d of them are distinct, as `lime` counts."""
    text = datasets.load_breast_cancer().DESCR + datasets.load_wine().DESCR
    ends = [m.end() for m in re.finditer(r"\w+", text)]
    first = ends[start]
    for end in ends[start + d - 1 :]:
        if IndexedString(text[first:end]).num_words() == d:
            return text[first:end].strip()
    raise ValueError("not that many words")


@cache
def pipelines() -> dict[str, Pipeline]:
    """A sum of counts, normalised TF-IDF and a forest on presence."""
    texts, labels = sentences()
    made = {
        "linear": make_pipeline(CountVectorizer(), LogisticRegression()),
        "tfidf": make_pipeline(TfidfVectorizer(), LogisticRegression(C=20)),
        "forest": make_pipeline(
            CountVectorizer(binary=True), RandomForestClassifier(30, random_state=0)
        ),
    }
    return {name: pipeline.fit(texts, labels) for name, pipeline in made.items()}


TEXT = (
    "Mean radius of the cell nuclei, mean texture; the Radius was computed for each image of a mass"
)

SHORT = "Mean radius of nuclei; the Radius was for each image"


def probability(texts):
    """Of being long."""
    p = np.array([np.tanh(len(t) / 40) for t in texts])
    return np.column_stack([1 - p, p])


@cache
def photographs() -> tuple[np.ndarray, np.ndarray]:
    """A temple and a flower, every fourth pixel."""
    temple, flower = datasets.load_sample_images().images
    return temple[::4, ::4], flower[::4, ::4]


def crop(k: int, side: int = 48) -> np.ndarray:
    """One of the squares of the two photographs."""
    image = photographs()[k % 2]
    row, column = 7 * k % (image.shape[0] - side), 17 * k % (image.shape[1] - side)
    return image[row : row + side, column : column + side]


def colours(images: Any) -> np.ndarray:
    """Means and deviations of the three colours in the four quarters, (n, 24)."""
    x = np.asarray(images, float) / 255
    half = x.shape[1] // 2
    parts = [
        x[:, a, b]
        for a in (slice(half), slice(half, None))
        for b in (slice(half), slice(half, None))
    ]
    return np.hstack([np.hstack([p.mean(axis=(1, 2)), p.std(axis=(1, 2))]) for p in parts])


@cache
def painters() -> dict[str, Any]:
    """Temple or flower? A logistic regression, a forest and a net on colours.

    All of them are penalised: of one that says 1e-13 to nearly all images and 0.5 to a few, the mean
    over 20 runs is an accident.
    """
    images = np.array([crop(k) for k in range(120)])
    x, y = colours(images), np.arange(120) % 2
    made = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.05)),
        "forest": RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
        "net": make_pipeline(
            StandardScaler(),
            MLPClassifier((8,), alpha=30.0, solver="lbfgs", max_iter=2000, random_state=0),
        ),
    }
    return {name: model.fit(x, y) for name, model in made.items()}


def squares(image: np.ndarray, side: int = 8) -> np.ndarray:
    """A grid of superpixels, numbered from 0."""
    rows, columns = (np.arange(s) // side for s in image.shape[:2])
    return rows[:, None] * (columns[-1] + 1) + columns


IMAGE = crop(5)


def bright(images):
    p = np.asarray(images, float).mean(axis=(1, 2, 3)) / 255
    return np.column_stack([1 - p, p])
