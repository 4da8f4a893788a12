"""Chapter *images*: an astronaut and a digit, their superpixels and their coefficients.

A photograph stays visible where it counts towards a class, and is veiled elsewhere. A digit is drawn with
squares whose area is the tone of the pixel, so that the colour behind them is free for the
coefficients and both follow the reader's theme.
"""

from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ...plotting.results import by_sign
from ...plotting.style import color, new_figure, styled
from ...switches import Enumerated, fit_form, images, mean_differences
from ..colours import SIDE, astronaut, colour_classifier, superpixels_of
from .parts import agreement, joined, panel

ROW, TRAINING = 1203, 1200  # a five that the model has not seen; training rows
WHITE = 16.0  # the brightest tone of scikit-learn's digits


@cache
def example() -> tuple[Any, np.ndarray]:
    """Logistic regression on 1200 of scikit-learn's digits, and a five it has not seen, (8, 8)."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    X, y = load_digits(return_X_y=True)
    # Newton's method to convergence: an earlier stop gives digits that depend on the processor.
    model = LogisticRegression(C=0.01, solver="newton-cholesky", tol=1e-8)
    model.fit(X[:TRAINING], y[:TRAINING])
    return model, X[ROW].reshape(8, 8)


@cache
def probabilities(digit: int = 5, reference: float = 0.0) -> Enumerated:
    """The probability of a class on all 2¹⁶ images with hidden superpixels."""
    model, image = example()
    labels = images.superpixels(image)

    def of_masks(z: np.ndarray) -> np.ndarray:
        return model.predict_proba(images.compose(image, labels, z, reference))[:, digit]

    return Enumerated(of_masks, 16)


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
    ax.add_artist(PathPatch(path, facecolor=color.ink, lw=0))
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
        ax.add_artist(PathPatch(path, facecolor=hue, lw=0, alpha=opacity))
    draw_image(ax, tones, labels)


# --- a photograph ----------------------------------------------------------------------------

SHADES = 31  # of each colour: half the bytes, no visible difference
VEIL = 0.93  # opacity of the veil over a superpixel that does not count towards the class


@cache
def _outlines(method: str) -> tuple[Path, ...]:
    """Each superpixel as a polygon, with its holes and its islands."""
    from skimage.measure import approximate_polygon, find_contours

    labels, outlines = np.pad(superpixels_of(method), 1, constant_values=-1), []
    for j in range(labels.max() + 1):
        rings = [approximate_polygon(r, 0.2) for r in find_contours((labels == j) * 1.0, 0.5)]
        polygons = [Path(ring[:, ::-1] - 1, closed=True) for ring in rings if len(ring) > 3]
        outlines.append(Path.make_compound_path(*polygons))
    return tuple(outlines)


def sums_of(label: int, fill: float | str, method: str = "quickshift") -> np.ndarray:
    """The limit for a score that is a sum over pixels, one coefficient a superpixel, (d,).

    ``fill`` is the tone that hidden superpixels show, or "mean", each its own mean colour.
    """
    image, labels = astronaut(), superpixels_of(method)
    hidden: Any = fill
    if fill == "mean":
        hidden = np.dstack([images.reference_image(image[..., c], labels) for c in range(3)])
    model = colour_classifier()
    hidden = np.broadcast_to(hidden, image.shape)
    change = model.by_pixel(image, label) - model.by_pixel(hidden, label)
    return np.bincount(labels.ravel(), change.ravel())


def _photograph(ax: Axes) -> None:
    """The astronaut, without axes."""
    shown = np.round(astronaut() * SHADES) / SHADES
    ax.imshow(shown, interpolation="none", extent=(-0.5, SIDE - 0.5, SIDE - 0.5, -0.5))
    ax.set(xlim=(-0.5, SIDE - 0.5), ylim=(SIDE - 0.5, -0.5), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _covered(ax: Axes, method: str, hues: list[str], opacity: np.ndarray) -> None:
    """Superpixels covered with a colour each, more or less of it, never none: matplotlib draws that otherwise."""
    for path, hue, alpha in zip(_outlines(method), hues, opacity, strict=True):
        ax.add_artist(
            PathPatch(path, facecolor=hue, lw=0, alpha=round(max(float(alpha), 0.004), 3))
        )


def speaking(ax: Axes, coef: np.ndarray, scale: float, method: str = "quickshift") -> None:
    """The photograph, veiled where it does not count towards the class."""
    _photograph(ax)
    opacity = VEIL * (1 - np.clip(coef / scale, 0, 1))
    _covered(ax, method, [color.paper] * len(coef), opacity)


def cut(ax: Axes, method: str) -> None:
    """The photograph with the borders of its superpixels."""
    _photograph(ax)
    for path in _outlines(method):
        ax.add_artist(PathPatch(path, facecolor="none", edgecolor=color.lime, lw=0.9))


@styled
def story(coef: dict[str, np.ndarray]) -> Figure:
    """The photograph with its superpixels, and what counts towards three classes (paper: figure 1)."""
    fig = new_figure((5.4, 5.8))
    fig.subplots_adjust(left=0.01, right=0.99, top=0.94, bottom=0.01, wspace=0.04, hspace=0.12)
    first, *others = np.ravel(fig.subplots(2, 2))
    cut(first, "quickshift")
    first.set_title("the picture")
    for ax, (name, values) in zip(others, coef.items(), strict=True):
        speaking(ax, values, np.abs(values).max())
        ax.set_title(f"for {name}")
    return fig


@styled
def two_ways_to_cut(names: tuple[str, ...], fill: float) -> Figure:
    """Quickshift above and slic below: the superpixels, and what counts towards each class."""
    fig = new_figure((6.4, 4.6))
    fig.subplots_adjust(left=0.06, right=0.99, top=0.93, bottom=0.01, wspace=0.05, hspace=0.05)
    grid = fig.subplots(2, 1 + len(names))
    classes = colour_classifier().names
    for row, method in zip(grid, ("quickshift", "slic"), strict=True):
        cut(row[0], method)
        row[0].set_ylabel(method)
        for ax, name in zip(row[1:], names, strict=True):
            values = sums_of(classes.index(name), fill, method)
            speaking(ax, values, np.abs(values).max(), method)
    for ax, title in zip(grid[0], ("cut", *(f"for {name}" for name in names)), strict=True):
        ax.set_title(title)
    return fig


SCALES = {"flower": 1.2, "temple": 1.2, "rocket": 0.35}  # a coefficient that is drawn unveiled


def hidden_tone(fig: Figure, tone: float, name: str) -> str:
    """A sample with superpixels hidden behind one tone, and the coefficients of a score that result."""
    beta = sums_of(colour_classifier().names.index(name), tone)
    fig.subplots_adjust(left=0.02, right=0.98, top=0.9, bottom=0.02, wspace=0.06)
    left, right = fig.subplots(1, 2)
    _photograph(left)
    # not quite black, which matplotlib leaves out as SVG's default: all frames have the same elements
    grey = "#" + 3 * f"{max(round(255 * tone), 1):02x}"
    _covered(left, "quickshift", [grey] * len(beta), np.arange(len(beta)) % 2 * 1.0)
    left.set_title("a sample")
    speaking(right, beta, SCALES[name])
    right.set_title(f"for {name}")
    speak = int(np.sum(beta > 0.05 * SCALES[name]))
    more = "more" if beta.sum() > 0 else "less"
    return (
        f"With hidden superpixels at tone {tone:.2f}, {speak} of {len(beta)} superpixels clearly count "
        f"towards {name}; the picture scores {abs(beta.sum()):.2f} {more} for {name} than a blank one of "
        "that tone."
    )


@styled
def predicted_and_printed(prediction: Any, runs: np.ndarray) -> Figure:
    """Coefficients of the real `lime`, one dot a run and superpixel, against what was predicted."""
    fig, ax = panel((6.4, 3.8))
    reach = 1.1 * max(np.abs(prediction.coef).max(), np.abs(runs).max())
    ax.plot([-reach, reach], [-reach, reach], color=color.truth, lw=1.5)
    ax.plot(np.tile(prediction.coef, len(runs)), runs.ravel(), ".", color=color.lime, ms=6)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set(xlabel="predicted coefficient", ylabel="coefficient that lime prints")
    return fig


# --- a digit ---------------------------------------------------------------------------------


def bandwidths(fig: Figure, nu: float, kernel: str) -> str:
    """The coefficients for a probability, beside occlusion and Shapley values."""
    _, image = example()
    form = probabilities()
    beta = fit_form(form, images.kernel_switches(16, nu, kernel)).coef
    occlusion = mean_differences(form, np.arange(16) == 15)
    shapley = mean_differences(form, np.full(16, 1 / 16))
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
    words = f", which keeps a superpixel with probability {alpha:.2f},"
    kept = words if kernel == "mismatch" else ","
    return (
        f"At ν = {nu:.2f} with the {kernel} kernel{kept} LIME's coefficients have a cosine of "
        f"{agreement(beta, occlusion):.2f} with occlusion and of {agreement(beta, shapley):.2f} "
        f"with the Shapley values; the largest is {beta.max():.2f}."
    )
