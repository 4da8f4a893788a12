"""Algorithm 1 of the paper: cut, draw, ask, weigh, fit. Chapter: surrogate."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..inputs import arguments as arg
from ..inputs import worlds
from ..inputs.warning_classes import FitWarning
from ..results.explanation import Explanation, Samples
from .boxes import World
from .problem import Problem
from .sampler import Sampler, sampler_of
from .surrogate import Sums, fit

NUMBERS_PER_BATCH = 2**20  # about 8 MB; with more samples they are drawn in several batches
SELECTIONS = ("auto", "highest", "forward")  # ways to choose features

# what serves the options of explain that are beyond Algorithm 1, filled by limetutor.precision
EXTENSIONS: dict[str, Any] = {}


def explain(
    f: Any, xi: Any, world: World, nu: float | None = None, n: int | None = None,
    seed: int | None = None, kernel: Any = None, sampler: Any = "bins", ridge: float | None = None, *,
    lasso: float = 0.0, features: int | None = None, select: str = "auto", output: Any = None,
    keep: bool = False, scrambles: int | None = None, adjust: bool = False,
    tol: float | None = None, rtol: float | None = None,
) -> Explanation:  # fmt: skip
    """Explain f(xi) by tabular LIME (paper, Algorithm 1).

    Parameters
    ----------
    f
        A function of an (n, d) array, or a fitted scikit-learn estimator.
    xi
        The instance, d numbers; with names (a Series, a row of a DataFrame, a dict) they go by name.
    world
        :class:`limetutor.Gaussian` or :class:`limetutor.Empirical`: where samples come from. In
        one read by :func:`limetutor.from_lime` the first of the n rows is xi itself, as in `lime`.
    nu, n
        Bandwidth of the kernel, and number of samples (5000); `lime`'s own in a world read from it.
    seed
        Results are bit-identical for a seed.
    kernel
        "gaussian" (on x, the paper; if left out), "laplace" (on x, with heavier tails), "mismatch" (on
        z; if left out in a world read from `lime`), "cosine", or a function of (x, z, xi, nu).
    sampler
        "bins" (a box, then a value in it), "gaussian" (the value directly), "tilted" (from the tilted
        law, with equal weights: the same limit, usually less noise) or "sobol" (evenly spread points
        of the tilted law, with far less noise; n is rounded up to a power of two a scramble).
    ridge, lasso
        Penalties, at most one of them, scaled as in scikit-learn; 0, but `lime`'s ridge in its worlds.
    features, select
        Keep only that many features: those with the "highest" coefficients, by "forward"
        selection, or "auto" (forward up to 6, as `lime` does). Memory then grows with n.
    output
        Which output to explain, a class or a column, where f has several.
    keep
        Keep samples, weights and responses; memory then grows with n.
    scrambles
        Into how many independent scrambles "sobol" divides n: 2 (4 for one or two features) unless
        told otherwise; 1 has the least error, and a standard error that is only an upper bound.
    adjust
        Add control variates to the fit, columns of mean 0 for what f does within boxes: the same
        limit with less noise. Needs n of some ten times the number of boxes; not with lasso.
    tol, rtol
        Draw until the largest standard error is at most ``tol``, in the units of f, or ``rtol`` times
        the largest coefficient; n is then the most that is drawn, and a warning says so.

    Returns
    -------
    Explanation
        ``coef``, ``stderr``, ``interval()``, ``intercept``, ``local_prediction``, ``score`` (R²) and more.

    Notes
    -----
    The defaults are the paper's Algorithm 1. For as few calls of the model as possible take
    ``sampler="sobol", adjust=True``, or ``rtol=0.05`` with a large n. Kernels without a tilt
    have "bins" and "gaussian" only.

    Examples
    --------
    >>> from limetutor import Gaussian
    >>> ex = explain(
    ...     lambda x: 10 * x[:, 0] - 10 * x[:, 1], [0.961, 0.432], Gaussian(), nu=1.0, seed=0
    ... )
    >>> [bool(abs(b - limit) < 4 * s) for b, limit, s in zip(ex.coef, (11.4, -1.76), ex.stderr)]
    [True, True]
    """
    problem = Problem.of(f, xi, world, nu, kernel, output)
    n, ridge = worlds.rows_and_penalty(world, n, ridge, lasso)
    explanation = run(
        problem, n, seed, sampler, ridge, lasso=lasso, features=features, select=select, keep=keep,
        scrambles=scrambles, adjust=adjust, tol=tol, rtol=rtol,
    )  # fmt: skip
    for text in explanation.warnings:
        warnings.warn(text, FitWarning, stacklevel=2)
    return explanation


class Options(NamedTuple):
    """How a surrogate is fitted, checked."""

    draws: Sampler
    n: int
    ridge: float
    lasso: float
    features: int | None
    select: str
    keep: bool
    own_row: bool
    scrambles: int | None
    variates: Any  # control variates
    target: Any  # when to stop


def run(
    problem: Problem, n: int, seed: Any = None, sampler: Any = "bins", ridge: float = 0.0, *,
    lasso: float = 0.0, features: int | None = None, select: str = "auto", keep: bool = False,
    own_row: bool = True, scrambles: int | None = None, adjust: bool = False,
    tol: float | None = None, rtol: float | None = None,
) -> Explanation:  # fmt: skip
    """Algorithm 1 on a problem that has been checked; xi is a row where its world has it so."""
    draws = sampler_of(sampler)
    arg.one_of("select", select, SELECTIONS)
    ridge, lasso = arg.not_negative("ridge", ridge), arg.not_negative("lasso", lasso)
    if ridge and lasso:
        raise ValueError("ridge and lasso must not both be above 0; choose one penalty.")
    n = arg.whole("n", n, problem.d + 2, because=f" to fit {problem.d + 1} coefficients")
    features = None if features is None else arg.whole("features", features, 1)
    keep = arg.truth("keep", keep)
    draws.check(problem)
    scrambles = draws.scrambles(scrambles, problem.d)
    target = None if tol is None and rtol is None else EXTENSIONS["tol"](tol, rtol, draws)
    n, adjust = draws.size(n, scrambles), arg.truth("adjust", adjust)
    variates = EXTENSIONS["adjust"](problem, draws, n, lasso) if adjust else None
    own_row = own_row and problem.world.own_row
    options = Options(
        draws, n, ridge, lasso, features, select, keep, own_row, scrambles, variates, target
    )
    rng, prediction = np.random.default_rng(arg.seed("seed", seed)), problem.prediction
    beyond = lasso or (features, scrambles, variates, target) != (None, None, None, None)
    one_batch = n * (problem.d + 1) <= NUMBERS_PER_BATCH or not EXTENSIONS
    plain = draws.independent and one_batch and not beyond
    algorithm = algorithm_1 if plain else EXTENSIONS["batches"]
    surrogate, sums, samples, precision = algorithm(problem, rng, options)
    if problem.world.regression is not None:
        surrogate = problem.world.regression.from_zero(problem, surrogate)
    notes, textbook = EXTENSIONS.get("warnings"), EXTENSIONS.get("textbook_stderr")
    return Explanation(
        coef=surrogate.beta[1:], intercept=float(surrogate.beta[0]), covariance=surrogate.covariance,
        prediction=prediction, score=surrogate.score, ess=sums.ess, n=sums.n, nu=problem.nu,
        kernel=problem.kernel.name, sampler=draws.name, names=problem.boxes.names,
        output=problem.output, xi=problem.xi,
        warnings=notes(problem, draws, sums, surrogate, ridge, precision) if notes else (),
        used=surrogate.used, freedom=surrogate.freedom, local_freedom=surrogate.local_freedom,
        setting=problem, draws=draws, ridge=ridge, lasso=lasso, scrambles=scrambles,
        adjusted=variates is not None, precision=precision, samples=samples if keep else None,
        textbook_stderr=textbook(sums, ridge, surrogate) if textbook else None,
    )  # fmt: skip


def algorithm_1(problem: Problem, rng: np.random.Generator, options: Options) -> Any:
    """The surrogate, the sums that it solves, its samples, and None: no precision was asked for."""
    draws, with_xi = options.draws, options.own_row
    # 1. Cut every feature into boxes: problem.boxes.
    # 2. Draw examples x; z_j says whether x_j lies in the box of xi_j.
    (source,) = draws.sources(problem, rng, None)
    x, z = source(options.n - with_xi)
    if with_xi:
        x, z = xi_first(problem, x, z)
    # 3. Ask the model about each of them.
    y = problem.predict(x)
    # 4. Weigh each by how close it is to xi.
    log_w, columns = weigh(problem, draws, x, z, with_xi)
    # 5. Fit a linear model of y on the indicators z, by weighted least squares.
    sums = Sums(problem.d, are_indicators=problem.world.regression is None)
    sums.add(columns, y, log_w)
    return fit(sums, options.ridge), sums, Samples(x, z, log_w, y), None


def xi_first(problem: Problem, x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Samples whose first row is xi itself, as in `lime`."""
    return np.vstack([problem.xi, x]), np.vstack([np.ones((1, problem.d), bool), z])


def weigh(
    problem: Problem, draws: Sampler, x: np.ndarray, z: np.ndarray, with_xi: bool, variates: Any = None
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """How much each sample counts, as logarithms, and the columns that are fitted on.

    With ``with_xi`` the first row is xi, of weight 1 and with control variates at their mean.
    """
    log_w, drawn = np.zeros(len(x)), slice(int(with_xi), None)
    log_w[drawn] = draws.log_weights(problem, x[drawn], z[drawn])
    columns = problem.columns(x, z) if variates is None else variates.columns(x, z)
    if with_xi:
        columns[0, : problem.d], columns[0, problem.d :] = 1, 0
    return log_w, columns
