"""A classifier of photographs that knows nothing but colours, and the picture it is asked about.

It is trained on tiles of five photographs that come with scikit-image and scikit-learn: a cat, a cup
of coffee, a flower, a rocket and a temple. All it sees of a tile is how much of red, green and blue it
has at five tones each. Its score is therefore a sum over pixels, so that LIME's limit is known for
pictures of any size. Chapter: images.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

TONES = np.linspace(0, 1, 5)
HEIGHT, TILE, STEP = 100, 25, 12  # pixels: of a photograph to learn from, of a tile, between tiles
SIDE = 128  # pixels of the picture that is explained
EVERY = 2  # the classifier looks at every second pixel of every second row


def colours(images: np.ndarray) -> np.ndarray:
    """Shares of five tones of red, green and blue in images (n, height, width, 3), (n, 15).

    A pixel between two tones counts for both, in proportion: tone t gets max(1 - 4 |x - t|, 0).
    """
    seen = np.asarray(images, float)[:, ::EVERY, ::EVERY]
    gap = TONES[1] - TONES[0]
    shares = [np.maximum(1 - np.abs(seen - tone) / gap, 0).mean(axis=(1, 2)) for tone in TONES]
    return np.stack(shares, axis=2).reshape(len(seen), -1)


@dataclass(frozen=True)
class ColourClassifier:
    """Logistic regression on the shares of colours."""

    regression: Any

    @property
    def names(self) -> tuple[str, ...]:
        """The classes."""
        return tuple(str(name) for name in self.regression.classes_)

    def predict_proba(self, images: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, (n, 5)."""
        return np.asarray(self.regression.predict_proba(colours(images)))

    def score(self, images: np.ndarray) -> np.ndarray:
        """What the probabilities are made of: one number for each class, (n, 5)."""
        return np.asarray(self.regression.decision_function(colours(images)))

    def by_pixel(self, image: np.ndarray, label: int) -> np.ndarray:
        """What each pixel of an image (height, width, 3) adds to the score, (height, width)."""
        image = np.asarray(image, float)
        weights = self.regression.coef_[label].reshape(3, len(TONES))
        parts = sum(np.interp(image[..., c], TONES, weights[c]) for c in range(3))
        seen = np.zeros(image.shape[:2])
        seen[::EVERY, ::EVERY] = 1
        return parts * seen / seen.sum()


def shrunk(photo: np.ndarray, height: int) -> np.ndarray:
    """A photograph as means of square blocks, so that it is ``height`` pixels high; tones 0 to 1."""
    block = photo.shape[0] // height
    kept = photo[: block * height, : photo.shape[1] // block * block]
    return kept.reshape(height, block, -1, block, 3).mean(axis=(1, 3)) / 255


def photographs() -> dict[str, np.ndarray]:
    """Five photographs, HEIGHT pixels high."""
    from skimage import data
    from sklearn.datasets import load_sample_image

    photos = {
        "cat": data.chelsea(),
        "coffee": data.coffee(),
        "flower": load_sample_image("flower.jpg"),
        "rocket": data.rocket(),
        "temple": load_sample_image("china.jpg"),
    }
    return {name: shrunk(photo, HEIGHT) for name, photo in photos.items()}


@cache
def colour_classifier() -> ColourClassifier:
    """The classifier, trained on overlapping tiles of the photographs."""
    from sklearn.linear_model import LogisticRegression

    tiles, names = [], []
    for name, photo in photographs().items():
        for i in range(0, photo.shape[0] - TILE + 1, STEP):
            for j in range(0, photo.shape[1] - TILE + 1, STEP):
                tiles.append(photo[i : i + TILE, j : j + TILE])
                names.append(name)
    # Newton's method to convergence: an earlier stop gives digits that depend on the processor.
    regression = LogisticRegression(C=100, solver="newton-cholesky", tol=1e-8)
    return ColourClassifier(regression.fit(colours(np.array(tiles)), names))


@cache
def astronaut() -> np.ndarray:
    """A photograph by NASA that comes with scikit-image, and that the classifier has not seen."""
    from skimage import data

    return shrunk(data.astronaut(), SIDE)


@cache
def superpixels_of(method: str) -> np.ndarray:
    """Superpixels of the astronaut by scikit-image's ``quickshift`` or ``slic``, numbered from 0."""
    from skimage import segmentation

    if method == "slic":
        return segmentation.slic(astronaut(), n_segments=50, compactness=10, start_label=0)
    return segmentation.quickshift(astronaut(), kernel_size=3, max_dist=20, ratio=0.5, rng=0)
