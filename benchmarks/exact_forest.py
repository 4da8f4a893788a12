"""The exact limit of a forest against sampling it to three digits.

    python benchmarks/exact_forest.py

Prints the machine, both times and their ratio. Sampling is not run to three digits, which takes
long: its standard error and its time per sample are measured on a run of moderate size, and n is
extrapolated from them (the error falls as the square root of n, the time grows with n). Both ways
of sampling are measured, Algorithm 1 as printed and the tilted law, which is the faster of the two.
Three digits means a standard error below one part in a thousand of the largest coefficient.
"""

import os
import platform
import time

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestRegressor

import limetutor as lt

D, TREES, DEPTH, NU = 10, 100, 8, 2.0


def setting():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, D))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] + 0.1 * rng.normal(size=len(X))
    forest = RandomForestRegressor(TREES, max_depth=DEPTH, random_state=0, n_jobs=1).fit(X, y)
    return forest, X[0], lt.Empirical(X)


def best_time(call, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def main():
    forest, xi, world = setting()
    print(f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, sklearn {sklearn.__version__}"
    )
    leaves = sum(tree.tree_.n_leaves for tree in forest.estimators_)
    print(f"{TREES} trees of depth {DEPTH} on {D} features, {leaves} leaves; nu = {NU:g}")

    exact, limit = best_time(lambda: lt.limit(forest, xi, world, NU), repeats=7)
    print(f"exact limit                 {exact:8.3f} s   (best of 7)")

    largest = np.max(np.abs(limit.coef))
    ratios = {}
    for sampler in ("tilted", "bins"):
        n = 40_000
        took, run = best_time(
            lambda n=n, sampler=sampler: lt.explain(forest, xi, world, NU, n, 0, sampler=sampler), 2
        )
        error = np.max(run.stderr) / largest
        away = np.max(np.abs(run.coef - limit.coef) / run.stderr)
        needed = n * (error / 1e-3) ** 2
        total = took * needed / n
        ratios[sampler] = total / exact
        print(
            f"{sampler:6} sampling, measured   {took:8.3f} s   n = {n}, error {error:.2%} of the "
            f"largest coefficient, {away:.1f} standard errors from the limit at most"
        )
        print(f"{sampler:6} sampling, three digits {total:6.0f} s   extrapolated, n = {needed:.2g}")
    print(f"ratio: {ratios['tilted']:.0f} times (tilted), {ratios['bins']:.0f} times (Algorithm 1)")
    assert exact < 1, "the exact limit took more than a second"
    assert ratios["tilted"] >= 100, "less than 100 times faster than sampling"


if __name__ == "__main__":
    main()
