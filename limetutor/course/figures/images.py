"""Chapter *images*: a digit, its superpixels and their coefficients.

Images are drawn with squares whose area is the tone of the pixel, so that the colour behind them
is free for the coefficients and both follow the reader's theme.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ... import images
from ...models import Linear
from ...plotting.results import by_sign
from ...plotting.style import color, new_figure, styled
from .parts import agreement, joined

ROW, TRAINING = 1203, 1200  # a five that the model takes for a six once in a while; rows to learn
KEPT = np.array([(i // 4 + i % 4) % 2 == 0 for i in range(16)])  # a chessboard of superpixels
WHITE = 16.0  # the brightest tone of scikit-learn's digits


@cache
def example() -> tuple[Any, np.ndarray]:
    """Logistic regression on 1200 of scikit-learn's digits, and a five it has not seen, (8, 8)."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    X, y = load_digits(return_X_y=True)
    # Newton goes to the end; steps that stop on the way leave digits to the processor.
    model = LogisticRegression(C=0.01, solver="newton-cholesky", tol=1e-8)
    model.fit(X[:TRAINING], y[:TRAINING])
    return model, X[ROW].reshape(8, 8)


def score(model: Any, digit: int) -> Linear:
    """The linear score of one class, before it becomes a probability."""
    return Linear(model.coef_[digit], model.intercept_[digit])


@cache
def probabilities(digit: int = 5, reference: float = 0.0) -> images.Tally:
    """The probability of a class on all 2¹⁶ images with hidden superpixels."""
    model, image = example()
    z = images.all_switches(16)
    rows = images.compose(image, images.superpixels(image), z, reference)
    return images.tally(z, model.predict_proba(rows)[:, digit])


def _squares(places: np.ndarray, sides: np.ndarray) -> Path:
    """Squares around (column, row) places as one path."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) / 2
    points = places[:, None] + corners * sides[:, None, None]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    return Path(points.reshape(-1, 2), np.tile(codes, len(places)))


def _places(mask: np.ndarray) -> np.ndarray:
    return np.argwhere(mask)[:, ::-1].astype(float)


def draw_image(ax: Axes, tones: np.ndarray, labels: np.ndarray | None = None) -> None:
    """An image as squares of ink, with the borders of its superpixels."""
    height, width = tones.shape
    sides = np.sqrt(np.clip(tones, 0, WHITE) / WHITE).ravel() * 0.94
    path = _squares(_places(np.ones_like(tones, bool)), sides)
    ax.add_patch(PathPatch(path, facecolor=color.ink, lw=0))
    if labels is not None:
        ax.plot(*_borders(labels), color=color.muted, lw=1)
    ax.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5), xticks=[], yticks=[])
    ax.set_aspect("equal")
    ax.spines[:].set_visible(True)


def _borders(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines between pixels of different superpixels, as one line with gaps."""
    pairs = [
        *([(j, i - 1), (j, i)] for i, j in np.argwhere(labels[:, 1:] != labels[:, :-1])),
        *([(j - 1, i), (j, i)] for i, j in np.argwhere(labels[1:] != labels[:-1])),
    ]
    return joined([np.array(pair) + 0.5 for pair in pairs])


def draw_coefficients(
    ax: Axes, tones: np.ndarray, labels: np.ndarray, coef: np.ndarray, scale: float
) -> None:
    """The image over its superpixels, coloured by sign and, by opacity, by size."""
    for j, (value, hue) in enumerate(zip(coef, by_sign(coef), strict=True)):
        places = _places(labels == j)
        path = _squares(places, np.ones(len(places)))
        opacity = round(float(min(abs(value) / scale, 1)), 3)
        ax.add_patch(PathPatch(path, facecolor=hue, lw=0, alpha=opacity))
    draw_image(ax, tones, labels)


@styled
def whole_story(
    model: Any, image: np.ndarray, labels: np.ndarray, digits: tuple[int, int]
) -> Figure:
    """An image, one sample of LIME, and the explanations of two classes (paper: figure 1)."""
    fig = new_figure((6.4, 2.3))
    fig.subplots_adjust(left=0.01, right=0.99, top=0.86, bottom=0.02, wspace=0.06)
    axes = fig.subplots(1, 4)
    draw_image(axes[0], image, labels)
    draw_image(axes[1], images.compose(image, labels, KEPT[None], 0.0).reshape(8, 8), labels)
    for ax, digit in zip(axes[2:], digits, strict=True):
        beta = images.image_limit(score(model, digit), image, labels, reference=0.0).coef
        draw_coefficients(ax, image, labels, beta, 3.2)
    titles = ("image", "a sample", *(f"for {digit}" for digit in digits))
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
    return fig


def hidden_tone(fig: Figure, tone: float, digit: int) -> str:
    """What hidden superpixels show, and the coefficients of a linear score that follow from it."""
    model, image = example()
    labels = images.superpixels(image)
    beta = images.image_limit(score(model, digit), image, labels, reference=tone).coef
    fig.subplots_adjust(left=0.02, right=0.98, top=0.89, bottom=0.03, wspace=0.08)
    left, right = fig.subplots(1, 2)
    draw_image(left, images.compose(image, labels, KEPT[None], tone).reshape(8, 8), labels)
    left.set_title("a sample")
    draw_coefficients(right, image, labels, beta, 3.5)
    right.set_title(f"coefficients for {digit}")
    top = int(np.argmax(beta))
    zeros = int(np.sum(np.abs(beta) < 0.01))
    return (
        f"With hidden pixels at tone {tone:g}, {zeros} of 16 superpixels have a coefficient of zero "
        f"for class {digit}; the largest, {beta[top]:.2f}, is in row {top // 4 + 1}, "
        f"column {top % 4 + 1}."
    )


def bandwidths(fig: Figure, nu: float, kernel: str) -> str:
    """The coefficients for a probability, beside occlusion and Shapley values."""
    _, image = example()
    sums = probabilities()
    beta = images.weighted_fit(sums, nu, kernel)[1:]
    occlusion, shapley = images.difference_of_means(sums, 1.0), images.shapley_of(sums)
    fig.subplots_adjust(left=0.01, right=0.985, top=0.97, bottom=0.17)
    left, right = fig.subplots(1, 2, width_ratios=(1, 1.25), gridspec_kw={"wspace": 0.24})
    draw_coefficients(left, image, images.superpixels(image), beta, 0.45)
    order = np.argsort(-shapley, kind="stable")
    places = np.arange(1, 17)
    right.axhline(0, color=color.muted, lw=1)
    right.plot(places, occlusion[order], "v", color=color.ink, mfc="none", ms=6, label="occlusion")
    right.plot(places, shapley[order], "s", color=color.muted, mfc="none", ms=6, label="Shapley")
    right.plot(places, beta[order], "o", color=color.surrogate, ms=5, label="LIME")
    right.set(xlim=(0.2, 16.8), ylim=(-0.28, 0.95), xticks=[1, 4, 8, 12, 16])
    right.set(yticks=[-0.2, 0, 0.2, 0.4, 0.6, 0.8], xlabel="superpixel, by Shapley value")
    right.legend(loc="upper right")
    alpha = 1 / (1 + np.exp(-1 / (2 * nu**2)))
    kept = (
        f", which keeps a superpixel with probability {alpha:.2f}," if kernel == "mismatch" else ""
    )
    return (
        f"At ν = {nu:.2f} with the {kernel} kernel{kept} LIME's coefficients have a cosine of "
        f"{agreement(beta, occlusion):.2f} with occlusion and of {agreement(beta, shapley):.2f} "
        f"with the Shapley values; the largest is {beta.max():.2f}."
    )
