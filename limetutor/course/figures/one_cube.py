"""Chapter *one cube*: a walk along its diagonal, and rules beside coefficients."""

from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...lime.empirical import Empirical
from ...plotting.handles import handle
from ...plotting.results import by_sign, stroke
from ...plotting.style import color
from ..datasets import ABOARD_NAMES, titanic
from ..experiments import patient_13
from ..research.multilinear import BoxGame
from .parts import minus, signed

MEASURED = ("bmi", "bp", "s5")
ALONG = np.linspace(0, 1, 41)

# --- the diagonal ----------------------------------------------------------------------------


@cache
def three_measurements() -> BoxGame:
    """The means in boxes of a forest that knows three measurements of patient 13."""
    model, xi, X = patient_13(MEASURED)
    return BoxGame.of(model, xi, Empirical(X))


def held_or_redrawn(game: BoxGame, q: Any) -> np.ndarray:
    """How often a feature lies in ξ's box if it is held there with probability q and else redrawn."""
    return np.asarray(game.frequency + q * (1 - game.frequency))


def slopes(game: BoxGame, q: Any) -> np.ndarray:
    """The slopes of the mean prediction in the probabilities q of holding the features, (d,)."""
    return (1 - game.frequency) * game.gradient(held_or_redrawn(game, q))


def width_at(q: float, p: float = 0.25) -> float:
    """The width at which lime's samples hit a box of frequency p as often as if it were held with q."""
    return (
        float(1 / np.sqrt(2 * np.log1p(q / ((1 - q) * p)))) if 0 < q < 1 else 0.0 if q else np.inf
    )


@cache
def walk() -> tuple[np.ndarray, np.ndarray]:
    """Each slope along the diagonal, (d, places), and their means, the Shapley values, (d,)."""
    game = three_measurements()
    nodes, weights = np.polynomial.legendre.leggauss((game.d + 1) // 2)
    mean = weights / 2 @ [slopes(game, (node + 1) / 2) for node in nodes]
    return np.array([slopes(game, q) for q in ALONG]).T, mean


def diagonal(fig: Figure, q: float) -> str:
    """Left: the cube, its corners, and a walk along its diagonal. Right: what LIME says on the way."""
    game = three_measurements()
    left, right = fig.subplots(1, 2, gridspec_kw={"wspace": 0.26, "width_ratios": (1, 1.05)})
    fig.subplots_adjust(left=0.02)
    _cube(left, game, q)
    curves, means = walk()
    here = slopes(game, q)
    right.axhline(0, color=color.muted, lw=1)
    right.axvline(q, color=color.ink, lw=1.2, ls="--")
    for k, (name, curve, mean) in enumerate(zip(MEASURED, curves, means, strict=True)):
        hue, _ = stroke(k)
        right.plot(ALONG, curve, color=hue)
        right.plot([0, 1], [mean, mean], color=hue, lw=1.4, ls=":")
        right.plot(q, here[k], "o", color=hue, ms=8)
        right.text(1.03, curve[-1], name, color=hue, va="center")
    right.set(xlim=(0, 1), ylim=(-9, 43), xticks=[0, 0.5, 1], yticks=[0, 20, 40])
    right.set(xlabel="probability q of holding", ylabel="slope of V")
    fig.subplots_adjust(right=0.92)
    ends = {0.0: "the place of LIME without weights", 1.0: "the place of LIME as ν tends to 0"}
    width = ends.get(q, f"near the place of LIME with ν = {width_at(q):.2f}")
    said, mean = (", ".join(signed(b, 1) for b in values) for values in (here, means))
    return minus(
        f"At q = {q:.2f}, {width}, the slopes of bmi, bp and s5 are {said}; their means along "
        f"the diagonal are {mean}."
    )


SIDES = np.array([[1.0, 0.0], [0.56, 0.28], [0.0, 1.0]])  # how bmi, bp and s5 are drawn


def _cube(ax: Axes, game: BoxGame, q: float) -> None:
    """Corners with the mean prediction if some features are held, the diagonal, and a place on it."""
    corners = np.array(list(np.ndindex(2, 2, 2)))
    places = corners @ SIDES
    for a, axis in np.argwhere(corners == 0):
        ax.plot(*places[[a, a + (4, 2, 1)[axis]]].T, color=color.muted, lw=1.2)
    ax.plot(*places[[0, 7]].T, color=color.truth)
    for corner, (x, y) in zip(corners, places, strict=True):
        value = game.extension(held_or_redrawn(game, corner))
        ax.plot(x, y, "o", color=color.ink, ms=5)
        up, across = corner[2] * 2 - 1, corner[0] * 2 - 1
        ax.text(x + 0.05 * across, y + 0.07 * up, f"{value:.0f}", ha="center",
                va="bottom" if up > 0 else "top")  # fmt: skip
    aside = (
        (0, -0.08, "center", "top"),
        (-0.02, 0.05, "right", "bottom"),
        (-0.06, 0, "right", "center"),
    )
    for name, (x, y), (dx, dy, ha, va) in zip(MEASURED, SIDES / 2, aside, strict=True):
        ax.text(x + dx, y + dy, name, color=color.muted, ha=ha, va=va)
    (dot,) = ax.plot(*(q * SIDES.sum(axis=0)), "o", color=color.truth, ms=9, clip_on=False)
    handle(dot, "q")
    ax.set(xlim=(-0.24, 1.72), ylim=(-0.2, 1.5), aspect="equal")
    ax.set_axis_off()


# --- rules -----------------------------------------------------------------------------------

PEOPLE = {
    "third-class man": (2, 0, 0), "third-class woman": (2, 1, 0), "first-class woman": (0, 1, 0),
}  # fmt: skip


@cache
def passenger_tree() -> Any:
    """The tree that the chapter explains: who was saved, by class, sex and age."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = titanic()
    return DecisionTreeClassifier(random_state=0).fit(X.to_numpy(), y)


@cache
def people_like(person: str, men: float) -> BoxGame:
    """How often the tree predicts the same for others, if so many of those drawn are men."""
    X = titanic().X.to_numpy()
    xi, predict = np.array(PEOPLE[person]), passenger_tree().predict
    shares = [np.bincount(column) / len(X) for column in X.T]
    shares[1] = np.array([men, 1 - men])
    values = predict(np.indices([len(s) for s in shares]).reshape(3, -1).T) == predict([xi])
    table = values.reshape([len(s) for s in shares]).astype(float)
    for j, (share, own) in enumerate(zip(shares, xi, strict=True)):
        others = np.where(np.arange(len(share)) == own, 0, share)
        table = np.moveaxis(table, j, 0)
        sides = [np.tensordot(others / others.sum(), table, 1), table[own]]
        table = np.moveaxis(np.array(sides), 0, j)
    return BoxGame(table, [share[own] for share, own in zip(shares, xi, strict=True)])


def rules(fig: Figure, men: float, person: str) -> str:
    """Left: LIME's coefficients on the class. Right: how precise each condition is on its own."""
    game = people_like(person, men)
    beta, base = game.gradient(game.frequency), game.extension(game.frequency)
    precision = base + (1 - game.frequency) * beta
    names = [ABOARD_NAMES[j][own] for j, own in enumerate(PEOPLE[person])]
    left, right = fig.subplots(1, 2, sharey=True, gridspec_kw={"wspace": 0.14})
    fig.subplots_adjust(left=0.14)
    rows = np.arange(3)[::-1]
    left.axvline(0, color=color.muted, lw=1)
    left.barh(rows, beta, color=by_sign(beta), height=0.6)
    left.set(xlim=(-1.05, 1.05), xticks=[-1, 0, 1], xlabel="LIME's coefficient")
    left.set_yticks(rows, names)
    right.axvline(base, color=color.muted, lw=1.6)
    right.barh(rows, precision - base, left=base, color=by_sign(beta), height=0.6)
    right.set(xlim=(0, 1.03), ylim=(-0.6, 2.6), xticks=[0, 0.5, 1], xlabel="precision of the rule")
    right.tick_params(axis="y", length=0)
    first, best = names[int(np.argmax(np.abs(beta)))], names[int(np.argmax(precision))]
    said = " and ".join(
        f"“{name}” {100 * at:.1f}%" for name, at in zip(names[:2], precision, strict=False)
    )
    return minus(
        f"With {men:.0%} men, the tree predicts the same for {base:.0%} of all samples. LIME puts “{first}” "
        f"first; the most precise condition is “{best}”. Precision: {said}."
    )
