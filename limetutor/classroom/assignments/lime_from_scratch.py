"""Assignment 1: Tabular LIME, function by function, until ten lines reproduce `lt.explain`."""

from typing import Any

import numpy as np
import scipy

from ...core.boxes import Gaussian, standard_quantiles
from ...course.judging.kinds import Function, Given, Paragraph, one_of, with_hints
from ...many.explain_many import explain_quietly
from ..questions import Formula, assignment


def _edges(p: int) -> np.ndarray:
    return standard_quantiles(p)[1:-1]


def _boxes(x: np.ndarray, edges: np.ndarray, side: Any = "right") -> np.ndarray:
    return np.searchsorted(edges, x, side=side)


def _same(x: np.ndarray, xi: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return _boxes(x, edges) == _boxes(xi, edges)


def _weights(
    x: np.ndarray, xi: np.ndarray, nu: float, *, double: float = 2.0, power: float = 2.0
) -> np.ndarray:
    return np.exp(-((x - xi) ** 2).sum(axis=1) / (double * nu**power))


def _fit(z: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The key equation: intercept, then a coefficient for each feature."""
    Z = np.column_stack([np.ones(len(z)), z])
    return np.linalg.solve(Z.T @ (w[:, None] * Z), Z.T @ (w * y))


def _without_intercept(z: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    beta = np.linalg.lstsq(np.sqrt(w)[:, None] * z, np.sqrt(w) * y, rcond=None)[0]
    return np.append(0.0, beta)


def _score(
    z: np.ndarray, y: np.ndarray, w: np.ndarray, mean: Any = None, beta: Any = None
) -> float:
    beta = _fit(z, y, w) if beta is None else beta
    mean = np.average(y, weights=w) if mean is None else mean
    left = np.sum(w * (y - beta[0] - z @ beta[1:]) ** 2)
    return float(1 - left / np.sum(w * (y - mean) ** 2))


def _lime(f: Any, xi: np.ndarray, nu: float, n: int, seed: int) -> np.ndarray:
    """The result of the package."""
    explanation = explain_quietly(f, xi, Gaussian(p=4), nu, n=n, seed=seed, sampler="gaussian")
    return np.append(explanation.intercept, explanation.coef)


def _by_hand(f: Any, xi: np.ndarray, nu: float, n: int, seed: int, **wrong: Any) -> np.ndarray:
    """The ten lines, with edges or a kernel that may be wrong."""
    x = np.random.default_rng(seed).standard_normal((n, len(xi)))
    edges = wrong.pop("edges", _edges(4))
    return _fit(_same(x, xi, edges), f(x), _weights(x, xi, nu, **wrong))


#: The kernels that an id may be given: shapes in the place of the Gaussian one, and distances.
SHAPES = {
    "exp(−d/ν)": lambda d: np.exp(-d),
    "1 / (1 + d²/ν²)": lambda d: 1 / (1 + d**2),
    "1 − d/ν, and 0 where that is negative": lambda d: np.maximum(1 - d, 0),
    "(1 − d²/ν²)², and 0 where d is larger than ν": lambda d: np.maximum(1 - d**2, 0) ** 2,
}
DISTANCES = {
    "the Euclidean distance from ξ": lambda steps: np.sqrt((steps**2).sum(axis=1)),
    "the sum of the absolute differences from ξ": lambda steps: steps.sum(axis=1),
    "the largest of the absolute differences from ξ": lambda steps: steps.max(axis=1),
}
_BETWEEN = "; d is "
KERNELS = [f"{shape}{_BETWEEN}{distance}" for shape in SHAPES for distance in DISTANCES]


def _own_weights(x: np.ndarray, xi: np.ndarray, nu: float, kernel: str) -> np.ndarray:
    shape, _, distance = kernel.partition(_BETWEEN)
    return SHAPES[shape](DISTANCES[distance](np.abs(x - xi)) / nu)


# --- hidden inputs -----------------------------------------------------------------------------


def _some_x(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Values of some features, a few of them on an edge."""
    edges = _edges(int(rng.integers(2, 8)))
    x = rng.normal(size=(int(rng.integers(5, 40)), int(rng.integers(1, 6))))
    on_edge = rng.random(x.shape) < 0.1
    x[on_edge] = rng.choice(edges, on_edge.sum())
    x.flat[0] = edges[0]
    return x, edges


def _around(rng: np.random.Generator) -> tuple[Any, ...]:
    x, edges = _some_x(rng)
    return x, rng.normal(size=x.shape[1]), edges


def _near(rng: np.random.Generator) -> tuple[Any, ...]:
    x, _ = _some_x(rng)
    return x, np.round(rng.normal(size=x.shape[1]), 2), round(float(rng.uniform(0.6, 3)), 2)


def _to_fit(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indicators of 1 to 4 features in all their combinations, responses and unequal weights."""
    d = int(rng.integers(1, 5))
    corners = np.array(np.meshgrid(*[[0, 1]] * d)).reshape(d, -1).T
    z = np.vstack([corners, rng.integers(0, 2, (int(rng.integers(20, 60)), d))])
    return z, rng.normal(3, 2, len(z)).round(2), rng.uniform(0.02, 1, len(z)).round(3)


def _to_explain(rng: np.random.Generator) -> tuple[Formula, np.ndarray, float, int, int]:
    d = int(rng.integers(1, 5))
    c, k = rng.normal(size=d).round(2), round(float(rng.uniform(0.5, 2)), 2)
    texts = ("x @ c + k", "np.sin(k * x[:, 0]) + x @ c", "np.maximum(x @ c, 0) * k")
    f = Formula((*texts, "(x @ c)**2 - k")[int(rng.integers(4))], c=c, k=k)
    xi, nu = rng.uniform(-1.2, 1.2, d).round(2), round(float(rng.uniform(0.8, 2)), 2)
    return f, xi, nu, int(rng.integers(800, 2000)), int(rng.integers(10_000))


EXERCISES = (
    Function(
        name="edges",
        reference=_edges,
        inputs=lambda rng: (int(rng.integers(2, 16)),),
        mistakes=with_hints(
            lambda p: np.linspace(-3, 3, p + 1)[1:-1],
            "Boxes hold equal shares of the data; they are not equally wide.",
            lambda p: scipy.special.ndtri((np.arange(1, p) - 0.5) / p),
            "Those are the middles of the boxes, counted in shares of the data.",
            lambda p: np.arange(1, p) / p,
            "Those are the shares. Where do they lie?",
        ),
        nudge="How much of the data lies below the first edge, and below the second?",
        formula="Edge number b is the quantile of the normal law at b/p, for b from 1 to p − 1.",
    ),
    Function(
        name="boxes",
        reference=_boxes,
        inputs=_some_x,
        mistakes=with_hints(
            lambda x, edges: _boxes(x, edges, "left"),
            "Nearly: a value that lies on an edge belongs to the box above it.",
            lambda x, edges: _boxes(x, edges) + 1,
            "Count the boxes from 0.",
        ),
        nudge="How many edges lie below a value of the third box?",
        formula="The number of a box is the number of edges at or below the value.",
    ),
    Function(
        name="indicators",
        reference=_same,
        inputs=_around,
        mistakes=with_hints(
            lambda x, xi, edges: ~_same(x, xi, edges),
            "The other way round: 1 stands for the same box as ξ.",
            lambda x, xi, edges: _boxes(x, edges) == _boxes(x[0], edges),
            "Compare with the boxes of ξ, not with those of the first sample.",
            lambda x, xi, edges: np.abs(x - xi) < 0.5,
            "An indicator asks about boxes, not about distances.",
        ),
        nudge="What has to be equal for an entry to be 1?",
        formula="z has the shape of x; an entry is 1 where x and ξ have the same box in that column.",
    ),
    Function(
        name="weights",
        reference=_weights,
        inputs=_near,
        mistakes=with_hints(
            lambda x, xi, nu: _weights(x, xi, nu, double=1.0),
            "A factor of 2 is missing.",
            lambda x, xi, nu: _weights(x, xi, nu, power=1.0),
            "The bandwidth is squared.",
            lambda x, xi, nu: np.exp(-np.sqrt(((x - xi) ** 2).sum(axis=1)) / (2 * nu**2)),
            "The distance in the exponent is squared: there is no root.",
            lambda x, xi, nu: 1 / _weights(x, xi, nu),
            "Far samples should count less, and yours count more.",
        ),
        nudge="What is the weight of a sample that lies at ξ itself?",
        formula="exp(−‖x − ξ‖² / (2ν²)), one number for each row of x.",
    ),
    Function(
        name="fit",
        reference=_fit,
        inputs=_to_fit,
        mistakes=with_hints(
            lambda z, y, w: _fit(z, y, np.ones(len(y))),
            "The weights are missing.",
            lambda z, y, w: _fit(z, y, w**2),
            "The weights enter twice: in the loss each of them stands once.",
            _without_intercept,
            "A column of ones is missing, so that there is no intercept.",
            lambda z, y, w: np.roll(_fit(z, y, w), -1),
            "The intercept comes first.",
        ),
        nudge="Which matrix and which right-hand side does the key equation have?",
        formula="(Zᵀ Π Z) β = Zᵀ Π y, where Z has a first column of ones and Π holds the weights.",
    ),
    Function(
        name="score",
        reference=_score,
        inputs=_to_fit,
        mistakes=with_hints(
            lambda z, y, w: _score(z, y, np.ones(len(y)), beta=_fit(z, y, w)),
            "Both sums are weighted sums.",
            lambda z, y, w: _score(z, y, w, mean=y.mean()),
            "The mean that the surrogate is compared with is a weighted mean.",
            lambda z, y, w: 1 - _score(z, y, w),
            "That is the share that is left over.",
        ),
        nudge="Which share of the weighted variance of y does the surrogate account for?",
        formula="1 minus the weighted sum of squared residuals over the weighted sum of squared "
        "distances from the weighted mean.",
    ),
    Function(
        name="lime",
        reference=_lime,
        inputs=_to_explain,
        calls=10,
        mistakes=with_hints(
            lambda *call: _by_hand(*call, double=np.inf),
            "All samples count alike: the weights are missing.",
            lambda *call: _by_hand(*call, double=1.0),
            "The kernel lacks a factor of 2.",
            lambda *call: _by_hand(*call, power=1.0),
            "The bandwidth is squared.",
            lambda *call: _by_hand(*call, edges=np.array([-0.674, 0, 0.674])),
            "Nearly: 0.674 has too few digits for an edge, so that some samples land in the "
            "wrong box.",
            lambda *call: np.roll(_lime(*call), -1),
            "The intercept comes first.",
        ),
        nudge="Every line is a function that you have written already: in which order?",
        formula="Draw x, ask f, find the indicators and the weights, then fit.",
    ),
    Function(
        name="my_weights",
        given={"kernel": Given(KERNELS[0], "your kernel", one_of(*KERNELS))},
        reference=_own_weights,
        inputs=_near,
        mistakes=with_hints(
            lambda x, xi, nu, **_: _weights(x, xi, nu),
            "Those are the Gaussian weights of question 4.",
        ),
        nudge="Which distance does your kernel take, and what does it make of it?",
        formula="One number for each row of x, computed by the words of your own kernel.",
    ),
    Paragraph(
        name="in_words",
        rubric=[
            "Says what is drawn, and that the model is asked about every sample (1 point).",
            "Says that the fit sees boxes only: in the box of ξ or not, never how far (1 point).",
            "Says what weights do: samples near ξ count more, and ν decides how near (1 point).",
            "Reads a coefficient as a contrast, inside the box against outside, not as a slope "
            "(1 point).",
        ],
    ),
)

POINTS = {
    "edges": 1, "boxes": 2, "indicators": 2, "weights": 2, "fit": 3, "score": 2, "lime": 4,
    "my_weights": 2, "in_words": 4,
}  # fmt: skip

ASSIGNMENT = assignment(1, "lime_from_scratch", "LIME from scratch", EXERCISES, POINTS)
