"""Experiments of the book: the same explanation many times over, to see what chance does to it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from ..core.boxes import Gaussian, World
from ..core.models import Linear
from ..core.problem import Problem
from ..core.sampler import sampler_of
from ..inputs import arguments as arg
from ..lime.empirical import Empirical
from ..lime.read_explainer import from_lime
from ..many.explain_many import explain_quietly
from .datasets import Dataset, diabetes


@dataclass(frozen=True)
class Runs:
    """Repeated explanations: coefficients (runs, d); intercepts, surrogates at xi, ESS (runs,).

    ``coef_stderr`` (runs, d) and ``interval`` (runs, d, 2) are the standard errors and the 95%
    intervals that each run reports of itself.
    """

    coef: np.ndarray
    coef_stderr: np.ndarray
    interval: np.ndarray
    intercept: np.ndarray
    local_prediction: np.ndarray
    prediction: float
    ess: np.ndarray
    names: tuple[str, ...]

    @property
    def mean(self) -> np.ndarray:
        """Mean coefficient over the runs, (d,)."""
        return self.coef.mean(axis=0)

    @property
    def stderr(self) -> np.ndarray:
        """Standard error of that mean, (d,)."""
        return self.coef.std(axis=0, ddof=1) / np.sqrt(len(self.coef))


def repeat(
    f: Any, xi: Any, world: World, nu: float, *, n: int = 5000, runs: int = 20, seed: int = 0,
    **how: Any,
) -> Runs:  # fmt: skip
    """Explain f(xi) many times with independent samples.

    Warnings about single fits are left out: the spread of the runs shows what they warn of.

    Parameters
    ----------
    f, xi, world, nu, n
        As for :func:`explain`; so are the options in ``how``.
    runs
        Number of explanations, at least 2.
    seed
        Each run has a stream of its own, spawned from this seed.

    Returns
    -------
    Runs
        ``.coef`` (runs, d), with ``.mean`` and ``.stderr`` over the runs.

    Examples
    --------
    >>> repeat(Linear([1, 2]), [0.5, 0.5], Gaussian(), nu=1, n=200, runs=3).coef.shape
    (3, 2)
    """
    runs = arg.whole("runs", runs, 2)
    streams = np.random.default_rng(arg.seed("seed", seed)).spawn(runs)
    all_runs = [explain_quietly(f, xi, world, nu, n=n, seed=s, **how) for s in streams]
    names = ("coef", "intercept", "local_prediction", "ess")
    values = {name: np.array([getattr(ex, name) for ex in all_runs]) for name in names}
    return Runs(
        **values,
        coef_stderr=np.array([ex.stderr for ex in all_runs]),
        interval=np.array([ex.interval() for ex in all_runs]),
        prediction=all_runs[0].prediction,
        names=all_runs[0].names,
    )


def repeat_fits(
    f: Linear, xi: np.ndarray, world: Gaussian, nu: float, *, n: int, runs: int, seed: int = 0,
    sampler: str = "gaussian",
) -> np.ndarray:  # fmt: skip
    """Coefficients of many small runs at once, (runs, d): :func:`repeat` without the rest.

    All runs are drawn together and their normal equations solved in one stack, which is what a
    slider over n can afford. Chapter: how many samples.
    """
    problem, draws = Problem.of(f, xi, world, nu), sampler_of(sampler)
    x, z = draws.draw(problem, np.random.default_rng(seed), runs * n)
    log_w = draws.log_weights(problem, x, z)
    w = np.exp(log_w - log_w.max())
    design = np.concatenate([np.ones((len(z), 1)), z], axis=1).reshape(runs, n, -1)
    weighted = np.swapaxes(design * w.reshape(runs, n, 1), 1, 2)
    gram, response = weighted @ design, weighted @ f(x).reshape(runs, n, 1)
    return (np.linalg.pinv(gram, hermitian=True) @ response)[:, 1:, 0]


def repeat_lime(
    explainer: Any, xi: np.ndarray, predict: Any, *, n: int = 5000, runs: int = 20
) -> np.ndarray:
    """Coefficients of repeated ``explain_instance`` calls of the real `lime`, (runs, d).

    For regression, with all features asked for. `lime` has no seed per call: its explainer's
    random state moves on, so that the runs differ. Chapter: the real lime.
    """
    return repeat_switches(explainer, xi, predict, len(xi), runs=runs, num_samples=n)


def repeat_switches(
    explainer: Any, instance: Any, classifier: Any, d: int, *, label: int = 1, runs: int = 20,
    **options: Any,
) -> np.ndarray:  # fmt: skip
    """Coefficients of repeated runs of `lime` on a text or an image of d switches, (runs, d).

    ``options`` goes to ``explain_instance``. Chapters: text, images.
    """
    from lime import lime_image

    coefs = np.zeros((runs, d))
    with patch.object(lime_image, "tqdm", iter):  # no bars on the page
        for row in coefs:
            explanation = explainer.explain_instance(
                instance, classifier, labels=(label,), num_features=d, **options
            )
            for j, value in explanation.local_exp[label]:
                row[j] = value
    return coefs


class Example(NamedTuple):
    """A linear model, an instance and a world; printed, with every number a reader needs."""

    f: Linear
    xi: np.ndarray
    world: Gaussian

    def __str__(self) -> str:
        """Model, data, edges, instance and its boxes, in lines that fit on a phone."""
        terms = [f"{a:+g} x{j}" for j, a in enumerate(self.f.a, start=1) if a]
        model = "".join(terms).removeprefix("+").replace("+", " + ").replace("-", " - ").strip()
        boxes = self.world.boxes(len(self.xi))
        edges = ", ".join(f"{edge:.3g}" for edge in boxes.edges[0])
        place = textwrap.fill(", ".join(f"{x:g}" for x in self.xi), 36, subsequent_indent=5 * " ")
        xi_boxes = " ".join(str(k + 1) for k in boxes.discretize(self.xi[None])[0])
        return (
            f"f(x) = {model}\n"
            f"data: {len(self.xi)} independent features N({self.world.mu:g}, {self.world.sigma**2:g})\n"
            f"boxes: {self.world.p:g} each, edges {edges}\n"
            f"ξ = [{place}]\n"
            f"in boxes {xi_boxes}"
        )


def running_example(d: int = 10) -> Example:
    """The paper's f(x) = 10 x1 - 10 x2, the instance the book explains, and its world.

    The paper does not print its instance. Ours has xi1 = 0.961, where the coefficient at nu = 1
    is the 11.4 of the paper (Figure 4), and xi2 = 0.432, which a bandwidth of 0.53 switches off
    (Figure 7). ``print(running_example())`` shows all of it.
    """
    xi = np.array([0.961, 0.432, 0.3, -0.2, 0.5, -0.4, 0.1, -0.1, 0.2, -0.3])
    a = np.array([10.0, -10.0] + 8 * [0.0])
    return Example(Linear(a[:d]), xi[:d], Gaussian(mu=0, sigma=1, p=4))


class Patient(NamedTuple):
    """A fitted model, the row that it is asked about, and the table of all rows."""

    model: Any
    xi: np.ndarray
    X: Any


def patient_13(columns: Sequence[str] = ()) -> Patient:
    """The person whose list of reasons runs through Part I, and the forest that predicts for them.

    Row 13 of the diabetes table, or some columns of it; the model is fitted on arrays, as ``lime`` will ask it.
    """
    from sklearn.ensemble import RandomForestRegressor

    table = diabetes()
    frame = table.X[list(columns)] if columns else table.X
    X = frame.to_numpy()
    model = RandomForestRegressor(n_estimators=50, min_samples_leaf=5, random_state=0)
    return Patient(model.fit(X, table.y), X[13], frame)


def two_faced(model: Any, explainer: Any, X: Any) -> Any:
    """A model that hides from LIME: people in the table are judged by sex alone, made-up ones by ``model``.

    A forest tells the rows of the table from as many samples of the explainer, after Slack et al. (2020).
    Chapter: can it be shown?
    """
    from sklearn.ensemble import RandomForestClassifier

    rows, sex = np.asarray(X), list(X).index("sex")
    samples, _ = from_lime(explainer).boxes().law.sample(np.random.default_rng(0), len(rows))
    detector = RandomForestClassifier(30, random_state=0)
    detector.fit(np.concatenate([rows, samples]), np.repeat([False, True], len(rows)))

    def predict(x: Any) -> np.ndarray:
        x = np.asarray(x)
        by_sex = np.where(x[:, sex] == 1, 250.0, 100.0)
        return np.where(detector.predict(x), model.predict(x), by_sex)

    return predict


def linear_example(table: Dataset) -> tuple[Linear, np.ndarray, Gaussian]:
    """Least squares on a table, its most average row, and the Gaussian world of its columns.

    The most average row has the least sum of squared standard scores, so that the weights of LIME
    leave as large an effective sample size as this table allows. Paper: Figure 5. Chapter: covariance.
    """
    X, y = table.X.to_numpy(), table.y
    world = Gaussian.from_data(table.X)
    design = np.column_stack([np.ones(len(X)), X])
    b, *a = np.linalg.lstsq(design, y, rcond=None)[0]
    scores = (X - world.mu) / world.sigma
    return Linear(a, b), X[np.argmin(np.sum(scores**2, axis=1))], world


def kernel_ridge_example(table: Dataset) -> tuple[Any, np.ndarray, Gaussian]:
    """The paper's kernel machine on a table, in the setting of :func:`linear_example`.

    Gaussian kernel of scale 5, gamma = 1 / (2 5^2), and alpha = 1 (paper, Figure 6). Chapter: beyond linear.
    """
    from sklearn.kernel_ridge import KernelRidge

    _, xi, world = linear_example(table)
    model = KernelRidge(kernel="rbf", gamma=1 / (2 * 5**2), alpha=1.0)
    return model.fit(table.X.to_numpy(), table.y), xi, world


def boosting_example() -> tuple[Any, np.ndarray, Empirical]:
    """Boosted trees on Friedman's function of ten standardised features, one of its rows, its world.

    A model that no surrogate fits, with an exact limit to measure errors by. Chapter: how many samples.
    """
    from sklearn.datasets import make_friedman1
    from sklearn.ensemble import GradientBoostingRegressor

    X, y = make_friedman1(1000, 10, noise=1.0, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return GradientBoostingRegressor(random_state=0).fit(X, y), X[0], Empirical(X)
