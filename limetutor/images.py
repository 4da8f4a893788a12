"""LIME for images: switch superpixels on and off, and fit a linear model to the switches.

An image with its superpixels is a table with d two-valued features: z_j = 1 keeps superpixel j,
z_j = 0 puts the reference in its place. Everything the package knows about tables holds for that
one: :func:`switches` is its world. Chapter: images.

Images are (height, width) arrays; models get rows of pixels, as scikit-learn's digits come.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

import numpy as np
import scipy

from . import arguments as arg
from .algorithm import Explanation, explain
from .kernels import ProductKernel, kernel_of
from .models import Linear
from .surrogate import Solver
from .worlds import Empirical

MOST = 16  # superpixels whose 2^d images are all looked at: 65536 of them


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
    """The images that the rows of z (n, d) stand for, as rows of pixels (n, pixels)."""
    hidden = reference_image(image, labels, reference).ravel()
    return np.where(np.asarray(z, bool)[:, labels.ravel()], image.ravel(), hidden)


def switches(d: int) -> Empirical:
    """The world of d fair switches: z_j = 0 or 1, each half of the time."""
    return Empirical(np.repeat([[0.0], [1.0]], d, axis=1), p=2, categorical=tuple(range(d)))


def explain_image(
    f: Callable[[np.ndarray], np.ndarray],
    image: np.ndarray,
    labels: np.ndarray,
    nu: float = 0.25,
    n: int = 1000,
    seed: int | None = None,
    kernel: str = "cosine",
    *,
    reference: Any = "mean",
    ridge: float = 0.0,
) -> Explanation:
    """Explain what f says about an image, one coefficient per superpixel (paper, Figure 1).

    Bandwidth, number of samples, kernel and reference are those of `lime`, its ridge of 1 is not.
    """
    d = int(labels.max()) + 1

    def on_switches(z: np.ndarray) -> np.ndarray:
        return f(compose(image, labels, z, reference))

    return explain(on_switches, np.ones(d), switches(d), nu, n, seed, kernel, ridge=ridge)


class ImageLimit(NamedTuple):
    """What the explanation of an image becomes as n grows."""

    coef: np.ndarray
    intercept: float


def image_limit(
    f: Any,
    image: np.ndarray,
    labels: np.ndarray,
    nu: float = 0.25,
    kernel: str = "cosine",
    *,
    reference: Any = "mean",
) -> ImageLimit:
    """The explanation of an image as n grows.

    For an lt.Linear of the pixels, beta_j = sum over the pixels i of superpixel j of
    a_i (image_i - reference_i), whatever the kernel and the bandwidth: f is linear in the switches,
    and the surrogate is f itself. Other models are asked about all 2^d images.
    """
    kernel_of(kernel)
    if isinstance(f, Linear):
        hidden = reference_image(image, labels, reference)
        parts = f.a * (image - hidden).ravel()
        return ImageLimit(np.bincount(labels.ravel(), parts), float(f(hidden.ravel())))
    z = all_switches(int(labels.max()) + 1)
    beta = weighted_fit(tally(z, f(compose(image, labels, z, reference))), nu, kernel)
    return ImageLimit(beta[1:], float(beta[0]))


def all_switches(d: int) -> np.ndarray:
    """All 2^d settings of d switches, (2^d, d) of bool."""
    if d > MOST:
        raise ValueError(
            f"labels must have at most {MOST} superpixels for all 2^d images to be looked at, "
            f"got {d}; use explain_image."
        )
    return (np.arange(2**d)[:, None] >> np.arange(d)) % 2 == 1


class Tally(NamedTuple):
    """Sums of f over the images that keep k superpixels, k = 0 to d: all a surrogate needs of f.

    Every kernel of the package sees the switches through their number alone.
    """

    total: np.ndarray  # (d + 1,)
    each: np.ndarray  # (d + 1, d): over those that keep superpixel j


def tally(z: np.ndarray, values: np.ndarray) -> Tally:
    """Sort the values of f on all images by the number of superpixels that are kept."""
    kept = z.sum(axis=1)
    total = np.bincount(kept, values)
    each = [np.bincount(kept, values * on, len(total)) for on in z.T]
    return Tally(total, np.column_stack(each))


def weighted_fit(sums: Tally, nu: float, kernel: str) -> np.ndarray:
    """Least squares of f on the switches over all images, intercept first, (d + 1,)."""
    d = len(sums.total) - 1
    weight = kernel_of(kernel)
    if isinstance(weight, ProductKernel):
        alpha = scipy.special.expit(-weight.mismatch(nu))
        mean = alpha ** np.arange(d + 1) * (1 - alpha) ** np.arange(d, -1, -1) @ sums.total
        beta = difference_of_means(sums, alpha)
        return np.concatenate([[mean - alpha * beta.sum()], beta])
    one_of_each = np.arange(d) < np.arange(d + 1)[:, None]
    log_w = weight.log_weights(one_of_each, one_of_each, np.ones(d), nu, switches(d).boxes())
    w = np.exp(log_w)
    # how many images keep k superpixels: in all, j among them, i and j among them
    images, with_one, with_two = (
        w @ [comb(d - m, k - m) if k >= m else 0 for k in range(d + 1)] for m in range(3)
    )
    gram = np.full((d + 1, d + 1), with_two)
    gram[0, :] = gram[:, 0] = with_one
    np.fill_diagonal(gram, with_one)
    gram[0, 0] = images
    return Solver(gram).beta(np.concatenate([[w @ sums.total], w @ sums.each]))


def difference_of_means(sums: Tally, alpha: float) -> np.ndarray:
    """E[f | z_j = 1] - E[f | z_j = 0] when each superpixel is kept with probability alpha, (d,).

    LIME with the mismatch kernel has alpha = 1 / (1 + exp(-1 / 2nu^2)); alpha = 1 is occlusion,
    alpha = 1/2 gives Banzhaf values, and the mean over alpha in [0, 1] Shapley values.
    """
    k = np.arange(len(sums.total) - 1)  # superpixels kept besides j
    weight = alpha**k * (1 - alpha) ** k[::-1]
    return weight @ (sums.each[1:] - (sums.total[:, None] - sums.each)[:-1])


def shapley_of(sums: Tally) -> np.ndarray:
    """Shapley values of the superpixels: the mean of the differences over alpha, (d,)."""
    nodes, weights = np.polynomial.legendre.leggauss(len(sums.total) // 2)
    return weights / 2 @ [difference_of_means(sums, (t + 1) / 2) for t in nodes]
