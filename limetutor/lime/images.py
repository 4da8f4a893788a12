"""What is special to `lime`'s explainer of images: superpixels, shown or hidden by a fill colour.

`lime` numbers its switches 0 to d - 1, d being how many labels the segmentation has, and switch j
hides the pixels whose label is j. Where labels do not run from 0 to d - 1 (scikit-image's slic starts
at 1) a switch without pixels does nothing, and a superpixel without a switch is never hidden;
:class:`MaskedImage` does as `lime` does. Chapter: images.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..inputs import arguments as arg
from ..switches.switches import image_switches
from .masks import MaskedInstance, MaskKind

NUMBERS_PER_BATCH = 2**21  # of all images of a batch together, without a batch_size


class ImageKind(MaskKind):
    """``LimeImageExplainer``: superpixels of an image are hidden, each with probability 1/2."""

    name = "lime.lime_image.LimeImageExplainer"
    options = ("distance_metric", "hide_color", "segmentation_fn", "random_seed", "batch_size")
    num_samples, num_features, default_label, scale = 1000, 100_000, None, 1.0
    world = staticmethod(image_switches)

    def masked(self, explainer: Any, instance: Any, options: dict[str, Any]) -> MaskedImage:
        """The superpixels of an image."""
        masking = {name: value for name, value in options.items() if name != "distance_metric"}
        return masked_image(instance, **masking)


@dataclass(frozen=True, eq=False)
class MaskedImage(MaskedInstance):
    """The switches of an image: ``names`` are `lime`'s numbers of superpixels.

    ``image`` (height, width, 3), ``segments`` (height, width) of whole numbers, ``hidden`` the image
    with all of them hidden.
    """

    image: np.ndarray
    segments: np.ndarray
    hidden: np.ndarray
    word = "superpixel"

    def compose(self, z: np.ndarray) -> np.ndarray:
        """The images that masks (n, d) stand for, as `lime` makes them, (n, height, width, 3)."""
        z = np.asarray(z, bool)
        switched = (self.segments >= 0) & (self.segments < self.d)
        shown = np.where(switched, z[:, np.where(switched, self.segments, 0)], True)
        return np.where(shown[..., None], self.image, self.hidden)

    def changed(self) -> np.ndarray:
        """How much the fill changes of each superpixel: the largest difference of a pixel, (d,)."""
        change = np.abs(self.image.astype(float) - self.hidden.astype(float)).max(axis=2)
        return np.array([np.max(change[self.segments == j], initial=0.0) for j in range(self.d)])

    @cached_property
    def without_switch(self) -> tuple[int, ...]:
        """Labels of superpixels that are never hidden, since their number is no switch's."""
        labels = np.unique(self.segments)
        return tuple(int(v) for v in labels[(labels < 0) | (labels >= self.d)])

    @cached_property
    def without_pixels(self) -> tuple[int, ...]:
        """Switches that hide nothing, since no pixel has their number."""
        return tuple(sorted(set(range(self.d)) - set(np.unique(self.segments).tolist())))


def masked_image(
    image: Any, *, segmentation_fn: Any = None, hide_color: Any = None, random_seed: Any = None,
    batch_size: Any = None,
) -> MaskedImage:  # fmt: skip
    """The switches that a ``lime.lime_image.LimeImageExplainer`` makes of an image.

    ``segmentation_fn`` is `lime`'s (quickshift if left out), or the labels themselves, (height, width).
    """
    batch = None if batch_size is None else arg.whole("batch_size", batch_size, 1)
    pixels = _as_lime(image)
    segments = _segments(pixels, segmentation_fn, random_seed)
    hidden, names = _hidden(pixels, segments, hide_color), range(len(np.unique(segments)))
    batch = batch or max(NUMBERS_PER_BATCH // pixels.size, 1)
    return MaskedImage(tuple(names), batch, pixels, segments, hidden)


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


def _segments(image: np.ndarray, segmentation: Any, random_seed: Any) -> np.ndarray:
    """Labels of the pixels, (height, width)."""
    if segmentation is None:
        from lime.wrappers.scikit_image import SegmentationAlgorithm

        options = {"kernel_size": 4, "max_dist": 200, "ratio": 0.2, "random_seed": random_seed or 0}
        segmentation = SegmentationAlgorithm("quickshift", **options)
    labels = np.asarray(segmentation(image) if callable(segmentation) else segmentation)
    if labels.shape != image.shape[:2] or labels.dtype.kind not in "uib":
        raise ValueError(
            f"segmentation_fn must give a whole number for each pixel, {image.shape[:2]}, got "
            f"{labels.dtype} of shape {labels.shape}."
        )
    return labels.astype(int)


def _hidden(image: np.ndarray, segments: np.ndarray, color: Any) -> np.ndarray:
    """The fill of the superpixels: ``hide_color``, or the mean of each, in the image's own dtype."""
    hidden = image.copy()
    if color is None:
        for label in np.unique(segments):
            inside = segments == label
            hidden[inside] = tuple(np.mean(image[inside][:, c]) for c in range(3))
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
