"""Many rows, exactly: forests against shap's TreeExplainer, a million features, risk of a data set.

    python benchmarks/many_rows.py [--small]

Prints the machine, times and ratios of one run; ``--small`` only shows that it runs. shap is not
needed by the package: without it the rows about it are left out.
"""

import os
import platform
import resource
import sys
import time

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

import limetutor as lt

SMALL = "--small" in sys.argv
ROWS = 20 if SMALL else 1000


def best(call, repeats=3):
    """The least time of some runs, in seconds."""
    times = []
    for _ in range(1 if SMALL else repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def forests():
    """Limits of many rows beside their TreeSHAP values."""
    try:
        import shap
    except ImportError:
        shap = None
    X, y = make_friedman1(2000, 10, noise=0.1, random_state=0)
    world, nu = lt.Empirical(X), 0.75 * np.sqrt(10)
    models = {
        "forest of 100, depth 8": (RandomForestRegressor(100, max_depth=8, random_state=0), 1),
        "boosting of 200, depth 4": (GradientBoostingRegressor(n_estimators=200, max_depth=4), 3),
    }
    for name, (model, goal) in models.items():
        model.fit(X, y)
        for kernel in ("mismatch", "gaussian"):
            ours = best(lambda m=model, k=kernel: lt.limits(m, X[:ROWS], world, nu, k))
            print(f"{name}, {ROWS} rows, {kernel} kernel: {ours:.2f} s")
            if shap is not None and kernel == "mismatch":
                explainer = shap.TreeExplainer(model)
                theirs = best(lambda e=explainer: e.shap_values(X[:ROWS], check_additivity=False))
                print(f"  TreeExplainer {theirs:.2f} s: ratio {ours / theirs:.2f} (goal {goal})")


def wide():
    """A linear model of a million features."""
    d = 1000 if SMALL else 10**6
    rng = np.random.default_rng(0)
    f, xi, world = lt.Linear(rng.normal(size=d)), rng.normal(size=d), lt.Gaussian()
    took = best(lambda: lt.limit(f, xi, world, 100.0).coef)
    print(f"limit of a linear model, d = {d}: {took:.2f} s (goal 1 s)")


def signs():
    """Which signs hang on the bandwidth, in a whole data set."""
    X = np.random.default_rng(0).normal(size=(200 if SMALL else 10**5, 20))
    for world, goal in ((lt.Gaussian(), 10), (lt.Empirical(X), 60)):
        took = best(lambda w=world: lt.risk(X, w, np.geomspace(0.1, 10, 50)), 1)
        print(f"risk of {X.shape} x 50, {type(world).__name__}: {took:.1f} s (goal {goal} s)")


def main():
    print(f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    forests()
    wide()
    signs()
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
