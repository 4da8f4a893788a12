"""Time and memory: explain against lime, and against drawing the normal numbers alone."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator

import many_rows
import numpy as np
from lime.lime_tabular import LimeTabularExplainer
from matplotlib.figure import Figure
from settings import Curves, Row, data, model, times
from sklearn.linear_model import LinearRegression

import limetutor as lt
from limetutor.course.figures.parts import log_axes, named_at_ends, powers
from limetutor.plotting.style import color, new_figure, styled


def rows(small: bool) -> Iterator[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.FitWarning)
        yield from against_lime(small)
        yield from against_normals(small)
        yield from predictions(small)
    yield memory(small)


def against_lime(small: bool) -> Iterator[Row]:
    sizes = {(10, 5000): 4, (50, 5000): 4, (100, 20_000): 4, (500, 5000): 3.3}
    for (d, n), least in sizes.items():
        if small and d > 10:
            continue
        repeats = 2 if small else 30 if d * n < 10**6 else 9
        lime, ours = times(repeats, *_lime_and_ours(d, n))
        what = f"`explain` against lime, d = {d}, n = {n}"
        found = f"{lime / ours:.1f} times as fast ({lime * 1e3:.0f} and {ours * 1e3:.1f} ms)"
        yield Row(what, found, f"{least} times", lime / ours >= least)


def _lime_and_ours(d, n):
    X = np.random.default_rng(0).normal(size=(1000, d))
    a, nu, world = np.linspace(-1, 1, d), 0.75 * np.sqrt(d), lt.Empirical(X)
    explainer = LimeTabularExplainer(X, mode="regression", random_state=0)

    def f(x):
        return x @ a

    return (
        lambda: explainer.explain_instance(X[0], f, num_features=d, num_samples=n),
        lambda: lt.explain(f, X[0], world, nu, n, 0, "mismatch", ridge=1.0),
    )


def against_normals(small: bool) -> Iterator[Row]:
    n = 2000 if small else 100_000
    for d in (50, 100):
        names = ("gaussian", "tilted", "bins on Empirical")
        normals, *ours = times(2 if small else 7, *_normals_and_ours(d, n))
        for name, took, most in zip(names, ours, (2.5, 2.5, 4), strict=True):
            what = f"`explain`, {name}, against drawing the normals alone, d = {d}, n = {n:,}"
            yield Row(
                what, f"{took / normals:.2f} times", f"at most {most}", took / normals <= most
            )


def _normals_and_ours(d, n):
    X, rng = np.random.default_rng(0).normal(size=(1000, d)), np.random.default_rng(0)
    a, nu, world = np.linspace(-1, 1, d), 0.75 * np.sqrt(d), lt.Empirical(X)

    def f(x):
        return x @ a

    return (
        lambda: rng.standard_normal((n, d)),
        lambda: lt.explain(f, X[0], lt.Gaussian(), nu, n, 0, sampler="gaussian"),
        lambda: lt.explain(f, X[0], lt.Gaussian(), nu, n, 0, sampler="tilted"),
        lambda: lt.explain(f, X[0], world, nu, n, 0, "mismatch"),
    )


def predictions(small: bool) -> Iterator[Row]:
    """`predict_lime` in runs of `lime`, by the model, the rule of selection and the columns."""
    ways = [("linear", 10, "auto", 2), ("forest", 10, "auto", 2), ("two-layer net", 30, "auto", 4)]
    ways += [("linear", 30, rule, 6) for rule in ("highest_weights", "none", "lasso_path")]
    ways += [("linear", 768, "auto", 6)]
    for name, d, rule, most in ways[: 2 if small else None]:
        X, y = data(d)
        f = LinearRegression().fit(X, y) if name == "linear" else model(name, d)
        explainer = LimeTabularExplainer(
            X, mode="regression", feature_selection=rule, random_state=0
        )
        lime, ours = times(
            2 if small or d > 100 else 9,
            lambda f=f, at=explainer, x=X[0]: at.explain_instance(x, f.predict),
            lambda f=f, at=explainer, x=X[0]: lt.predict_lime(at, f, x),
        )
        what = f"`predict_lime`, {name}, {rule}, d = {d}"
        found = f"{ours / lime:.1f} runs of lime ({ours * 1e3:.0f} ms)"
        goal = f"at most {most}, or 60 ms"
        yield Row(what, found, goal, ours <= max(most * lime, 0.06))


MEMORY = """
import sys, numpy as np, limetutor as lt
def most():  # of this process alone: getrusage would hand on what the one that started it had
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
before = most()
lt.explain(lambda x: x.sum(axis=1), np.zeros(50), lt.Gaussian(), 5.0, int(sys.argv[1]), 0)
print(most() - before)
"""


def memory(small: bool) -> Row:
    """In a process of its own, above what the interpreter has after imports."""
    n = 10**5 if small else 10**7
    command = [sys.executable, "-c", MEMORY, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = float(done.stdout)
    return Row(
        f"memory of `explain`, n = {n:,}, d = 50", f"{found:.0f} MB", "under 500 MB", found < 500
    )


def curves(small: bool) -> Curves:
    """Times against n at d = 50, against d at n = 5000, and against the number of rows."""
    ns, ds, n = (500, 1000), (5, 10), 500
    if not small:
        ns, ds, n = (
            (500, 1000, 2000, 5000, 10_000, 20_000, 50_000),
            (5, 10, 20, 50, 100, 200, 500),
            5000,
        )
    return {
        "samples n, at d = 50": _times(ns, [(50, size) for size in ns]),
        f"features d, at n = {n}": _times(ds, [(size, n) for size in ds]),
        f"rows, at d = {many_rows.D}": many_rows.curves(small),
    }


def _times(x: tuple[int, ...], sizes: list[tuple[int, int]]) -> dict[str, list[list[float]]]:
    """One curve for lime, two for explain and one for the normals alone."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.FitWarning)
        for d, n in sizes:
            normals, *others, bins = _normals_and_ours(d, n)
            found.append(times(3, _lime_and_ours(d, n)[0], bins, others[1], normals))
    return {
        name: [list(x), (1e3 * series).tolist()]
        for name, series in zip(HUES, np.transpose(found), strict=False)
    }


HUES = {
    "lime": color.lime, "weighted": color.ink, "tilted": color.sample, "normals alone": color.muted,
    "exact limits": color.truth, "TreeSHAP": color.ink,
}  # fmt: skip


@styled
def picture(found: Curves) -> Figure:
    """A panel each, one below the other."""
    figure = new_figure((6.4, 7.2))
    figure.subplots_adjust(left=0.13, right=0.77, bottom=0.075, top=0.985, hspace=0.42)
    for axes, (word, series) in zip(figure.subplots(3, 1), found.items(), strict=True):
        for name, (x, y) in series.items():
            axes.plot(x, y, color=HUES[name], marker="o", ms=4)
        log_axes(axes, x=x[:: max(1, len(x) // 3)], y=powers(range(4)))
        axes.set(xlabel=word, ylabel="milliseconds", ylim=(0.1, 3000))
        inks = {name: color.ink if name == "lime" else hue for name, hue in HUES.items()}
        named_at_ends(axes, x[-1], {name: (y[-1], inks[name]) for name, (_, y) in series.items()})
    return figure
