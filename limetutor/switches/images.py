"""LIME for images: switch superpixels on and off, and fit a linear model to the switches.

An image with its superpixels is a table with d two-valued features: z_j = 1 keeps superpixel j,
z_j = 0 puts the reference in its place. :func:`explain_image` samples that table, :func:`image_limit`
is :func:`limetutor.switch_limit` for it. Chapter: images.

Images are (height, width) arrays; models get rows of pixels, as scikit-learn's digits come.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.boxes import Boxes, BoxWorld
from ..core.explainer import explain
from ..core.kernels import kernel_of
from ..core.models import Linear
from ..core.truncated import BoxLaw
from ..inputs import arguments as arg
from ..inputs.columns import Category
from ..inputs.tables import default_names
from ..results.explanation import Explanation
from .fits import SwitchFit, fit_form
from .forms import MAX_ENUMERATED, Enumerated, additive
from .switches import KERNEL_WIDTH, Switches, coin_flips


def superpixels(image: np.ndarray, side: int = 4, tone: float = 0.0) -> np.ndarray:
    """Numbers 0 to d - 1, one for each pixel: side² blocks that follow the tones of the image.

    k-means on (row, column, ``tone`` times grey level), started from a grid of side² centres, as
    the SLIC algorithm does it. With tone 0 the blocks stay squares.
    """
    image = np.asarray(image, float)
    where = np.indices(image.shape).reshape(2, -1).T
    points = np.column_stack([where, tone * image.ravel()])
    labels = (where * side // image.shape) @ [side, 1]
    for _ in range(20):
        kinds = np.unique(labels)
        centres = np.array([points[labels == k].mean(axis=0) for k in kinds])
        distance = ((points[:, None] - centres) ** 2).sum(axis=2)
        labels = np.argmin(distance, axis=1)
    return np.unique(labels, return_inverse=True)[1].reshape(image.shape)


def reference_image(image: np.ndarray, labels: np.ndarray, reference: Any = "mean") -> np.ndarray:
    """What hidden superpixels show: a grey level, or "mean", each its own mean as in `lime`."""
    if not isinstance(reference, str):
        return np.full(image.shape, arg.scalar("reference", reference))
    arg.one_of("reference", reference, ("mean",))
    means = np.bincount(labels.ravel(), image.ravel()) / np.bincount(labels.ravel())
    return means[labels]


def compose(
    image: np.ndarray, labels: np.ndarray, z: np.ndarray, reference: Any = "mean"
) -> np.ndarray:
    """The images that masks z (n, d) stand for, as rows of pixels (n, pixels)."""
    hidden = reference_image(image, labels, reference).ravel()
    return np.where(np.asarray(z, bool)[:, labels.ravel()], image.ravel(), hidden)


def fair_switches(d: int) -> BoxWorld:
    """The world of d fair switches: z_j = 0 or 1, each half of the time."""
    half = np.full(d, 0.5)
    ends = np.tile([0.0, 0.5, 1.0], (d, 1))
    law = BoxLaw(np.log([[0.5, 0.5]] * d), ends[:, ::2], 0 * ends[:, ::2], ends[:, :2], ends[:, 1:])
    kinds = dict.fromkeys(range(d), Category())
    return BoxWorld(Boxes(law, ends[:, 1:2], False, default_names(d), half, half, kinds))


def kernel_switches(d: int, nu: float, kernel: str) -> Switches:
    """The same as a world of switches, weighted by any kernel of the package.

    Every kernel sees the switches through their number alone.
    """
    one_of_each = np.tri(d + 1, d, -1, dtype=bool)
    boxes = fair_switches(d).boxes()
    log_w = kernel_of(kernel).log_weights(one_of_each, one_of_each, np.ones(d), nu, boxes)
    return replace(coin_flips(d), log_weight=log_w)


def explain_image(
    f: Callable[[np.ndarray], np.ndarray], image: np.ndarray, labels: np.ndarray,
    nu: float = KERNEL_WIDTH, n: int = 1000, seed: int | None = None, kernel: str = "cosine", *,
    reference: Any = "mean", ridge: float = 0.0,
) -> Explanation:  # fmt: skip
    """Explain what f says about an image, one coefficient per superpixel (paper, Figure 1).

    Bandwidth, number of samples, kernel and reference are those of `lime`, its ridge of 1 is not.
    """
    d = int(labels.max()) + 1

    def of_masks(z: np.ndarray) -> np.ndarray:
        return f(compose(image, labels, z, reference))

    return explain(of_masks, np.ones(d), fair_switches(d), nu, n, seed, kernel, ridge=ridge)


def image_limit(
    f: Any, image: np.ndarray, labels: np.ndarray, nu: float = KERNEL_WIDTH, kernel: str = "cosine",
    *, reference: Any = "mean",
) -> SwitchFit:  # fmt: skip
    """The explanation of an image as n grows.

    For an lt.Linear of the pixels, beta_j = sum over the pixels i of superpixel j of
    a_i (image_i - reference_i), whatever the kernel and the bandwidth: f is linear in the switches,
    and the surrogate is f itself. Other models are called with all 2^d images.
    """
    d = int(labels.max()) + 1
    world = kernel_switches(d, nu, kernel)
    if isinstance(f, Linear):
        hidden = reference_image(image, labels, reference)
        parts = f.a * (image - hidden).ravel()
        form = additive(np.bincount(labels.ravel(), parts), float(f(hidden.ravel())))
        return fit_form(form, world)
    if d > MAX_ENUMERATED:
        raise ValueError(
            f"labels must have at most {MAX_ENUMERATED} superpixels for all 2^d images to be looked "
            f"at, got {d}; use explain_image."
        )
    return fit_form(Enumerated(lambda z: f(compose(image, labels, z, reference)), d), world)
