"""An image as `lime` takes it apart: superpixels that are shown or hidden behind a fill colour.

`lime` numbers its switches 0 to d - 1, d being how many labels the segmentation has, and switch j
hides the pixels whose label is j. Where labels do not run from 0 to d - 1 (scikit-image's slic starts
at 1) a switch without pixels does nothing, and a superpixel without a switch is never hidden; the board
does as `lime` does. Chapter: images.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import arguments as arg

PIXELS = 2**21  # numbers in one batch of images, unless told otherwise


@dataclass(frozen=True, eq=False)
class ImageBoard:
    """The switches of an image: ``names`` are `lime`'s numbers of superpixels.

    ``image`` (height, width, 3), ``segments`` (height, width) of whole numbers, ``hidden`` the image
    behind all of them.
    """

    image: np.ndarray
    segments: np.ndarray
    hidden: np.ndarray
    batch_size: int | None = None
    word = "superpixel"  # what a switch is called

    @cached_property
    def d(self) -> int:
        """How many switches there are: one for each label."""
        return len(np.unique(self.segments))

    @property
    def names(self) -> tuple[int, ...]:
        """The numbers of the superpixels."""
        return tuple(range(self.d))

    def compose(self, z: np.ndarray) -> np.ndarray:
        """The images that masks (n, d) stand for, as `lime` makes them, (n, height, width, 3)."""
        z = np.asarray(z, bool)
        switched = (self.segments >= 0) & (self.segments < self.d)
        shown = np.where(switched, z[:, np.where(switched, self.segments, 0)], True)
        return np.where(shown[..., None], self.image, self.hidden)

    @property
    def batch(self) -> int:
        """How many images are made and classified at a time."""
        return self.batch_size or max(PIXELS // self.image.size, 1)

    def reading(self, model: Any) -> None:
        """No estimator is known that reads images."""

    def changed(self) -> np.ndarray:
        """How much the fill changes of each superpixel: the largest difference of a pixel, (d,)."""
        apart = np.abs(self.image.astype(float) - self.hidden.astype(float)).max(axis=2)
        return np.array([np.max(apart[self.segments == j], initial=0.0) for j in range(self.d)])

    @cached_property
    def without_switch(self) -> tuple[int, ...]:
        """Labels of superpixels that are never hidden, since their number is no switch's."""
        labels = np.unique(self.segments)
        return tuple(int(v) for v in labels[(labels < 0) | (labels >= self.d)])

    @cached_property
    def without_pixels(self) -> tuple[int, ...]:
        """Switches that hide nothing, since no pixel has their number."""
        return tuple(sorted(set(range(self.d)) - set(np.unique(self.segments).tolist())))


def image_board(
    image: Any,
    *,
    segmentation_fn: Any = None,
    hide_color: Any = None,
    random_seed: Any = None,
    batch_size: Any = None,
) -> ImageBoard:
    """The switches that a ``lime.lime_image.LimeImageExplainer`` makes of an image.

    ``segmentation_fn`` is `lime`'s (quickshift if left out), or the labels themselves, (height, width).
    """
    batch = None if batch_size is None else arg.whole("batch_size", batch_size, 1)
    pixels = _as_lime(image)
    segments = _segments(pixels, segmentation_fn, random_seed)
    return ImageBoard(pixels, segments, _hidden(pixels, segments, hide_color), batch)


def _as_lime(image: Any) -> np.ndarray:
    """An image of three channels; a grey one is made into three, as `lime` does."""
    plain = isinstance(image, np.ndarray) and not arg.holds_masked(image)
    if not plain or image.dtype.kind not in "uifb" or not image.size:
        raise TypeError(
            "instance must be an image for a LimeImageExplainer, an array (height, width, 3) of "
            f"numbers, got {arg.shorten(image)}."
        )
    if image.dtype.kind == "f" and not np.all(np.isfinite(image)):
        bad = int(np.sum(~np.isfinite(image)))
        raise ValueError(f"instance must be finite, got {bad} nan or infinite pixel value(s).")
    if image.ndim == 2:
        return np.repeat(image[..., None], 3, axis=2)
    if image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            "instance must be an image (height, width) or (height, width, 3), as lime wants it, "
            f"got shape {image.shape}."
        )
    return image


def _segments(image: np.ndarray, given: Any, random_seed: Any) -> np.ndarray:
    """Labels of the pixels."""
    if given is None:
        from lime.wrappers.scikit_image import SegmentationAlgorithm

        how = {"kernel_size": 4, "max_dist": 200, "ratio": 0.2, "random_seed": random_seed or 0}
        given = SegmentationAlgorithm("quickshift", **how)
    found = given(image) if callable(given) else given
    labels = np.asarray(found)
    if labels.shape != image.shape[:2] or labels.dtype.kind not in "uib":
        raise ValueError(
            f"segmentation_fn must give a whole number for each pixel, {image.shape[:2]}, got "
            f"{labels.dtype} of shape {labels.shape}."
        )
    return labels.astype(int)


def _hidden(image: np.ndarray, segments: np.ndarray, color: Any) -> np.ndarray:
    """What is behind the superpixels: ``hide_color``, or of each its mean, in the image's own dtype."""
    hidden = image.copy()
    if color is None:
        for label in np.unique(segments):
            mine = segments == label
            hidden[mine] = tuple(np.mean(image[mine][:, c]) for c in range(3))
        return hidden
    try:
        hidden[:] = color
    except (ValueError, TypeError, OverflowError):
        raise ValueError(
            f"hide_color must be a number or three that {image.dtype} holds, or None for the mean of "
            f"each superpixel, got {arg.shorten(color)}."
        ) from None
    if hidden.dtype.kind == "f" and not np.all(np.isfinite(hidden)):
        raise ValueError(f"hide_color must be finite, got {arg.shorten(color)}.")
    return hidden
