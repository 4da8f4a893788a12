"""Calls whose numbers are compared with slow computations: sums over grids, over masks, row by row.

A :class:`Setting` has a few features of some boxes each and a model that is a sum of functions of one feature,
with products of two for quadratic ones. Under the tilted law features are independent, and so are their
indicators: a coefficient is the mean of f in the box of xi less that outside, one integral at a time.
"""

import math
from itertools import product

import numpy as np
from fuzz import Case, kind
from lime.lime_tabular import LimeTabularExplainer
from odd_columns import parts_of
from scipy.special import logsumexp
from sklearn.ensemble import GradientBoostingRegressor

import limetutor as lt

NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
PRODUCTS = ["gaussian", "laplace", "mismatch"]
# powers of ten: the unit of x and the size of f
SCALES = [(0, 0)] * 4 + [(-3, 0), (7, 2), (-40, 0), (40, 40), (0, 80), (0, -150)]


def log_kernel(kernel, x, xi, nu, inside):
    """The log weight of one coordinate."""
    if kernel == "mismatch":
        return np.where(inside, 0.0, -0.5 / nu**2)
    return -0.5 * ((x - xi) / nu) ** 2 if kernel == "gaussian" else -np.abs(x - xi) / nu


def grid(log_density, lo, hi, kinks=()):
    """Nodes and log masses of a density with one top, by Gauss's rule where it is not negligible."""
    for _ in range(4):
        x = np.linspace(lo, hi, 1001)
        near = np.flatnonzero(log_density(x) > log_density(x).max() - 45)
        lo, hi = x[max(near[0] - 1, 0)], x[min(near[-1] + 1, 1000)]
    ends = np.unique([*np.linspace(lo, hi, 7), *(k for k in kinks if lo < k < hi)])
    half = np.diff(ends)[:, None] / 2
    x = (ends[:-1, None] + half * (NODES + 1)).ravel()
    return x, np.log(half * WEIGHTS).ravel() + log_density(x)


class Feature:
    """A coordinate under the tilted law: places, their masses, whether each is in the box of xi."""

    def __init__(self, parts, own, xi, nu, kernel, kinks):
        found = []
        for box, (share, mean, sd, lo, hi) in enumerate(parts):
            far = 40 * sd + abs(xi - mean)
            ends = max(lo, mean - far), min(hi, mean + far)

            def plain(x, mean=mean, sd=sd):
                return -0.5 * ((x - mean) / sd) ** 2

            def tilted(x, plain=plain, inside=box == own):
                return plain(x) + log_kernel(kernel, x, xi, nu, inside)

            x, mass = grid(tilted, *ends, [xi, *kinks])
            mass += math.log(share) - logsumexp(grid(plain, *ends)[1])
            found.append((x, mass, np.full(len(x), box == own)))
        self.x, self.log_mass, self.inside = map(np.concatenate, zip(*found, strict=True))
        self.rounding = 1e-5 if kinks else 1e-7  # trees compare in single precision

    def mean(self, values, among=slice(None)):
        mass = np.exp(self.log_mass[among] - self.log_mass[among].max())
        return float(mass @ values[among] / mass.sum())

    def contrast(self, values):
        """The mean in the box less that outside, and a bound on what rounding does to it."""
        both = [self.mean(values, among) for among in (self.inside, ~self.inside)]
        return both[0] - both[1], self.rounding * sum(map(abs, both))


class Setting:
    """A model, an instance and a world, and the same as functions and lists; some in odd units."""

    def __init__(self, chance, *models):
        model = chance.choice(models or ("linear", "quadratic", "stumps", "any"))
        powers = (0, 0) if model == "stumps" else chance.choice(SCALES)
        self.unit, size = (10.0**power for power in powers)
        self.d, p = chance.randint(1, 3), chance.randint(2, 5)
        self.normal = chance.random() < 0.5  # then a value on an edge is in the upper box
        rng = np.random.default_rng(chance.getrandbits(32))
        mu, sigma = (
            self.unit * rng.uniform(low, high, self.d) for low, high in ((-3, 3), (0.5, 2))
        )
        table = mu + sigma * rng.normal(size=(40, self.d))
        self.world = lt.Gaussian(mu, sigma, p) if self.normal else lt.Empirical(table, p)
        laws = zip(mu, sigma, strict=True) if self.normal else [None] * self.d
        self.columns = [parts_of(v, law, p) for v, law in zip(table.T, laws, strict=True)]
        # normal ones may differ by an ulp
        edges = [[] if self.normal else list(e) for e, _ in self.columns]
        far = [[v.max() + v.std(), v.min() - 3 * v.std()] for v in table.T]
        self.xi = np.array([
            chance.choice([*chance.choices(list(v), k=3), *far[j], *edges[j]]) for j, v in enumerate(table.T)
        ])  # fmt: skip
        a, self.Q = size / self.unit * rng.normal(size=self.d), np.zeros((self.d, self.d))
        self.kinks, self.effects = [[]] * self.d, [lambda x, a=slope: a * x for slope in a]
        if model == "linear":
            self.f = lt.Linear(a)
        elif model == "quadratic":
            self.Q = size / self.unit**2 * rng.normal(size=(self.d, self.d))
            self.f = lt.Quadratic(self.Q, a)
            pairs = zip(a, np.diag(self.Q), strict=True)
            self.effects = [
                lambda x, a=slope, q=square: a * x + q * x**2 for slope, square in pairs
            ]
        elif model == "stumps":
            y = table.sum(axis=1) + table[:, 0] ** 2
            self.f = GradientBoostingRegressor(n_estimators=4, max_depth=1, random_state=0).fit(
                table, y
            )
            self.effects, self.kinks = stumps(self.f, self.d)
        else:
            bend = lambda x: size * np.sin(x / self.unit)  # noqa: E731
            self.effects = [lambda x, a=slope: a * x + bend(x) for slope in a]
            self.f = lambda x: sum(effect(x[:, j]) for j, effect in enumerate(self.effects))
        self.words = f"{model}, {self.world}, unit {self.unit:g}, size {size:g}, xi = {self.xi}"

    def box(self, j, value):
        """The number of the box of a value."""
        return np.searchsorted(self.columns[j][0], value, side="right" if self.normal else "left")

    def terms(self, x):
        """What f adds up at a row."""
        alone = [float(effect(np.array([v]))[0]) for effect, v in zip(self.effects, x, strict=True)]
        pairs = [(i, j) for i in range(self.d) for j in range(self.d) if i != j]
        return [*alone, *(self.Q[i][j] * x[i] * x[j] for i, j in pairs)]

    def features(self, nu, kernel, xi=None):
        return [
            Feature(self.columns[j][1], self.box(j, v), float(v), nu, kernel, self.kinks[j])
            for j, v in enumerate(self.xi if xi is None else xi)
        ]

    def coefficients(self, nu, kernel):
        """Coefficients by the grids, and a bound on their rounding."""
        features, both = self.features(nu, kernel), self.Q + self.Q.T - 2 * np.diag(np.diag(self.Q))
        means = np.array([one.mean(one.x) for one in features])
        lines = both @ means  # the slope that products with other features add
        found = [
            one.contrast(self.effects[j](one.x) + lines[j] * one.x)
            for j, one in enumerate(features)
        ]
        return np.array(found).T

    def bandwidth(self, chance, kernel):
        nu = 10.0 ** chance.uniform(-0.9, 1.3)
        return nu * self.unit if kernel in ("gaussian", "laplace") else nu


def stumps(model, d):
    """The effect of each feature on boosted trees of one split, and where it jumps."""
    steps = [[] for _ in range(d)]
    for (tree,) in model.estimators_:
        low, high = (model.learning_rate * float(v) for v in tree.tree_.value[1:, 0, 0])
        steps[tree.tree_.feature[0]].append((float(tree.tree_.threshold[0]), low, high))
    start = float(model.init_.constant_[0, 0]) / d
    effects = [
        lambda x, s=s: start + 0 * x + sum(np.where(x <= t, low, high) for t, low, high in s)
        for s in steps
    ]  # fmt: skip
    return effects, [[t for t, *_ in s] for s in steps]


def far_off(name, found, truth, error):
    """What is wrong with numbers that are farther from the truth than an error allows."""
    near = np.abs(np.asarray(found, float) - np.asarray(truth, float)) <= np.asarray(error)
    return None if np.all(near) else f"{name} is {found}, not {truth}, with an error of {error}"


def of_limit(chance):
    """The limit of one row, or of several, or over bandwidths, against integrals over grids."""
    name = chance.choice(["limit", "limits", "path", "audit", "cube"])
    s, kernel = Setting(chance), "mismatch" if name == "cube" else chance.choice(PRODUCTS)
    nu = s.bandwidth(chance, kernel)

    def call():
        how = {"kernel": kernel, "samples": 3000}
        if name == "limit":
            x = lt.limit(s.f, s.xi, s.world, nu, **how)
            return x.coef, x.stderr, x.prediction
        if name == "limits":
            x = lt.limits(s.f, [s.xi + s.unit, s.xi], s.world, nu, **how)
            return x.coef[1], x.stderr[1], x.prediction[1]
        if name == "cube":
            x = lt.cube(s.f, s.xi, s.world, n=3000)
            return x.lime(nu).coef, x.lime(nu).stderr, x.prediction
        if name == "audit":
            x = lt.audit(s.world, s.f, s.xi, nu=nu, kernel=kernel, n=100).case
            return x.coef, np.inf, x.problem.prediction
        x = lt.path(s.f, s.xi, s.world, nu=[nu / 3, nu], **how)
        return x.coef[1], x.stderr[1], x.prediction

    def wrong(found, notes):
        (coef, rounding), terms = s.coefficients(nu, kernel), s.terms(s.xi)
        at_xi = far_off("f(xi)", found[2], math.fsum(terms), 1e-9 * sum(map(abs, terms)))
        return at_xi or far_off("coef", found[0], coef, 6 * found[1] + rounding)

    return Case(f"{name}, {kernel} {nu:g}, {s.words}", call, wrong)


def of_explain(chance):
    """An explanation against least squares of its samples, which must fall into boxes as often as they should."""
    s, kernel = Setting(chance), chance.choice([*PRODUCTS, "cosine"])
    nu, n, ridge = s.bandwidth(chance, kernel), chance.choice([60, 400]), chance.choice([0.0, 1.0])
    sampler = chance.choice(["bins", "gaussian"]) if s.normal else "bins"

    def call():
        how = {"kernel": kernel, "sampler": sampler, "ridge": ridge, "keep": True}
        return lt.explain(s.f, s.xi, s.world, nu, n, 7, **how)

    def wrong(ex, notes):
        boxes = np.stack([s.box(j, ex.x[:, j]) for j in range(s.d)], axis=1)
        for j, (_, parts) in enumerate(s.columns):
            count, share = np.bincount(boxes[:, j], minlength=len(parts)), np.array(parts)[:, 0]
            if np.any(np.abs(count - n * share) > 6 * np.sqrt(n * share) + 3):
                return f"the boxes of feature {j} are drawn {count} times, with shares {share}"
        z = boxes == [s.box(j, v) for j, v in enumerate(s.xi)]
        y = np.array([math.fsum(s.terms(row)) for row in ex.x])
        log_w = -0.5 * ((1 - np.sqrt(z.mean(axis=1))) / nu) ** 2
        if kernel != "cosine":
            log_w = sum(log_kernel(kernel, ex.x[:, j], s.xi[j], nu, z[:, j]) for j in range(s.d))
        w, unit = np.exp(log_w - log_w.max()), np.abs(y).max() or 1.0
        penalty = math.sqrt(ridge * math.exp(min(-log_w.max(), 60.0))) * np.eye(s.d + 1)[1:]
        rows = np.vstack([np.sqrt(w)[:, None] * np.column_stack([np.ones(n), z]), penalty])
        kept = far_off("ess", ex.ess, w.sum() ** 2 / np.sum(w**2), 1e-6 * n)
        kept = kept or far_off("z", ex.z, z, 0) or far_off("y", ex.y, y, 1e-9 * unit)
        if kept or np.linalg.cond(rows) > 1e6:
            return kept
        fitted = np.append(np.sqrt(w) * (y / unit), np.zeros(s.d))
        truth = unit * np.linalg.lstsq(rows, fitted, rcond=None)[0]
        error = 1e-6 * unit + 1e-3 * ex.stderr.max()
        return far_off("the fit", [ex.intercept, *ex.coef], truth, error)

    return Case(f"explain, {kernel} {nu:g}, {sampler}, n = {n}, {ridge}, {s.words}", call, wrong)


def of_many(chance):
    """Rows at once, and runs at once, against one after the other."""
    s, kernel, repeated = Setting(chance), chance.choice(PRODUCTS[::2]), chance.random() < 0.5
    nu, how = s.bandwidth(chance, kernel), {"sampler": chance.choice(["bins", "tilted", "sobol"])}
    rows = [s.xi] * 3 if repeated else [s.xi, s.xi + 0.1 * s.unit, s.xi - 0.3 * s.unit]

    def call():
        if repeated:
            return lt.repeat(s.f, s.xi, s.world, nu, n=128, runs=3, seed=4, kernel=kernel, **how)
        return lt.explain_many(s.f, rows, s.world, nu, 128, 4, kernel, **how)

    def wrong(found, notes):
        seeds = [np.random.SeedSequence([4, i]) for i in range(3)]
        seeds = np.random.default_rng(4).spawn(3) if repeated else seeds
        pairs = zip(rows, seeds, strict=True)
        one = [lt.explain(s.f, x, s.world, nu, 128, seed, kernel, **how) for x, seed in pairs]
        error = 1e-9 * (max(np.abs(ex.coef).max() for ex in one) + abs(one[0].intercept))
        return far_off("coef", found.coef, [ex.coef for ex in one], error)

    return Case(
        f"{'repeat' if repeated else 'explain_many'}, {how}, {nu:g}, {s.words}", call, wrong
    )


def of_risk(chance):
    """Shares of signs in doubt, gap by gap."""
    s, kernel, tolerance = Setting(chance, "linear"), chance.choice(PRODUCTS), 0.2
    nu, table = s.bandwidth(chance, kernel), s.xi + np.outer([0.0, 0.4, -0.7], [s.unit] * s.d)

    def wrong(found, notes):
        counts, unsure = np.zeros(3), 1e-9
        for row in table:
            at = [nu / (1 + tolerance), nu, nu * (1 + tolerance), 1e4 * max(nu, s.unit)]
            gaps = [[one.contrast(one.x)[0] for one in s.features(w, kernel, row)] for w in at]
            low, here, high, wide = np.sign(gaps)
            counts += [np.sum(low != high), np.sum(here != wide), np.sum(here < 0)]
            unsure += np.sum(np.abs(gaps) < 1e-5 * s.unit)
        got = np.array([found.near[0], found.turned[0], found.opposed[0]])
        return far_off("near, turned, opposed", got * table.size, counts, unsure)

    call = lambda: lt.risk(table, s.world, [nu], kernel, tolerance=tolerance)  # noqa: E731
    return Case(f"risk, {kernel} {nu:g}, {s.words}", call, wrong)


def of_switches(chance):
    """The fit of a function of switches, against least squares over all masks."""
    name = chance.choice(["text_switches", "image_switches", "counted_switches"])
    d, nu, rng = chance.randint(2, 7), chance.choice([0.25, 0.1, 1.0]), np.random.default_rng(chance.getrandbits(32))  # fmt: skip
    values, shares = rng.normal(size=2**d) * 10.0 ** chance.choice([0, 8, -8]), rng.random(d + 1)
    share = {"text_switches": np.append(np.ones(d), 0.0), "counted_switches": shares}
    share = share.get(name, np.array([math.comb(d, k) for k in range(d + 1)]))
    share, log_w = share / share.sum(), -0.5 * ((1 - np.sqrt(np.arange(d + 1) / d)) / nu) ** 2
    ridge, n, own = chance.choice([(0.0, None, False), (1.0, 100, True), (0.0, 50, False)])

    def call():
        given = (share, log_w) if name == "counted_switches" else (d, nu)
        f = lambda z: values[z @ (1 << np.arange(d))]  # noqa: E731
        return lt.switch_limit(f, getattr(lt, name)(*given), n=n, ridge=ridge, own_row=own)

    def wrong(found, notes):
        masks = np.array(list(product([0, 1], repeat=d)))
        on, y = masks.sum(axis=1), values[masks @ (1 << np.arange(d))]
        mass = np.array([share[k] / math.comb(d, k) for k in on]) * np.exp(log_w[on])
        design, count = np.column_stack([np.ones(2**d), masks]), 1 if n is None else n - own
        sides = count * (design * mass[:, None]).T @ np.column_stack([design, y])
        sides += own * np.append(np.ones(d + 1), values[-1])  # the row of the instance itself
        gram = sides[:, :-1] + ridge * np.diag([0.0] + [1.0] * d)
        if np.linalg.cond(gram) > 1e10:
            return None
        truth = np.linalg.solve(gram, sides[:, -1])
        return far_off(
            "the fit", [found.intercept, *found.coef], truth, 1e-5 * np.abs(values).max()
        )

    return Case(f"{name}({d}, {nu}), n = {n}, ridge {ridge}, {own}", call, wrong)


def of_lime(chance):
    """What `lime` will print, against some runs of `lime`."""
    rng, d, n = np.random.default_rng(chance.getrandbits(32)), chance.randint(2, 4), chance.choice([100, 500])  # fmt: skip
    table, xi, a, size = rng.normal(size=(80, d)), rng.normal(size=d), rng.normal(size=d), 10.0 ** chance.choice([0, 60, -60])  # fmt: skip
    f = lambda x: size * (np.asarray(x) @ a + np.sin(2 * np.asarray(x)[:, 0]))  # noqa: E731
    how = {"discretizer": chance.choice(["quartile", "decile"]), "kernel_width": chance.choice([None, 1.0])}  # fmt: skip
    explainer = LimeTabularExplainer(
        table, mode="regression", random_state=chance.randrange(99), **how
    )
    ask = {"num_features": d, "num_samples": n}

    def wrong(found, notes):
        runs = np.zeros((12, d))
        for run in runs:
            for j, value in explainer.explain_instance(xi, f, **ask).local_exp[1]:
                run[j] = value
        error = 6 * np.sqrt(runs.var(axis=0, ddof=1) / 12 + found.sd**2 / 12 + found.stderr**2)
        return far_off("coef", found.coef, runs.mean(axis=0), error)

    call = lambda: lt.predict_lime(explainer, f, xi, calls=3000, runs=100, **ask)  # noqa: E731
    return Case(f"predict_lime, d = {d}, n = {n}, size {size:g}, {how}", call, wrong)


@kind("numbers", 110, 3500)
def odd_numbers(chance, index):
    """Each of them in turn."""
    makers = (of_limit, of_explain, of_many, of_switches, of_risk) * 2 + (of_lime,)
    return makers[index % len(makers)](chance)
