"""Every number and every comparison in the findings of an audit, computed again from raw calls."""

import re

import numpy as np
from audited_rows import numbers_in
from lime.discretize import BaseDiscretizer
from lime.lime_tabular import LimeTabularExplainer
from raw_lime import Raw, near_contrast, same_reasons
from scipy import spatial

MANY = 20_000  # samples of the reference
SIGMAS = 6.0  # standard errors that a number may be away from the reference
RUNS, DRAWN = 4000, 1000  # draws that shares of runs rest on, here and in the audit


class Shifted(BaseDiscretizer):
    """lime's quartiles, with edges at other percentiles."""

    def __init__(self, data, labels, names, at):
        self.at = at
        super().__init__(data, labels, names, random_state=np.random.RandomState(0))

    def bins(self, data, labels):
        return [np.unique(np.percentile(data[:, j], self.at)) for j in self.to_discretize]


class Claims:
    """The claims of one audit, each with what it should be; ``wrong`` collects those that are not."""

    def __init__(self, drawn, audit, seed, many=MANY):
        self.drawn, self.audit, self.case = drawn, audit, audit.case
        self.names = list(audit.case.names)
        self.width = drawn.explainer.base.kernel_fn.keywords["kernel_width"]
        self.raw = Raw(drawn.explainer, drawn.call, drawn.xi, audit.case.n, many, seed)
        self.coef, self.covariance, self.intercept = self.raw.fit()
        self.covariance[~audit.case.used] = 0.0  # those of columns that do not vary are rounding
        self.covariance[:, ~audit.case.used] = 0.0
        self.stderr = np.sqrt(np.diag(self.covariance))  # of a run
        self.exact = audit.case.form is not None
        self.run = audit.case.coef
        self.part = np.sqrt(self.raw.n / many)
        self.error = self.part * self.stderr  # of the reference
        # sums of a run are off by 1 / sqrt(ess s) of themselves; what a ridge takes off is so in
        # second order by d / (ess s) of it, and ess is no less than the sum of the weights
        self.dust = self.second_order(self.raw.lost(), self.coef)
        # the relative standard deviation of a variance that a run estimates
        self.loose = np.sqrt(
            2 / np.min(audit.case.sampled.freedom[1:][audit.case.used], initial=1e9)
        )
        self.wrong = []

    # --- what coefficients may be

    def of_run(self, j):
        """A coefficient of one run of n samples."""
        return self.coef[j], SIGMAS * np.hypot(self.stderr[j], self.error[j]) + self.dust[j]

    def expected(self, j):
        """What the audit expects of runs: exact, or that of its own run."""
        exact = self.coef[j], SIGMAS * self.error[j] + self.dust[j]
        return exact if self.exact else self.of_run(j)

    def second_order(self, lost, coef):
        """What is left out by equations that hold to first order, and rounding."""
        rounding = 1e-9 * np.max(np.abs(self.raw.y))
        return len(lost) * lost**2 * np.max(np.abs(coef)) + rounding

    def column(self, name):
        return self.names.index(name)

    # --- checking

    def states(self, where, sentence, allowed):
        """Every number in a sentence is one of those allowed, (value, tolerance)."""
        for stated, half in numbers_in(sentence, self.names):
            if not any(abs(abs(stated) - abs(value)) <= half + tol for value, tol in allowed):
                near = min((abs(abs(stated) - abs(v)) - t, v, t) for v, t in allowed)
                self.wrong.append(
                    f"{where}: {stated:g} is not so (nearest {near[1]:.4g} ± {near[2]:.2g}) in: {sentence}"
                )

    def says(self, where, holds, words):
        if not holds:
            self.wrong.append(f"{where}: {words}")

    def close(self, where, stated, value, tolerance, what=""):
        words = f"{what} {stated:.4g}, {value:.4g} ± {tolerance:.2g}"
        self.says(where, abs(stated - value) <= tolerance, words)

    def check(self):
        """All claims; returns what is wrong."""
        at_xi = self.raw.at_xi, 1e-9 * abs(self.raw.at_xi)
        scale = [(len(self.names), 0), (self.raw.n, 0), at_xi]
        self.states("about", self.audit.about, [*scale, (self.width, 1e-9), (1, 0)])
        for j in np.flatnonzero(self.case.used):
            self.close("coef", self.run[j], *self.of_run(j), self.names[j])
            self.close("expected", self.case.expected[j], *self.expected(j), self.names[j])
        for finding in self.audit.findings:
            method = getattr(self, finding.code.replace("-", "_"), None)
            if method is None:
                self.wrong.append(f"{finding.code}: nothing recomputes it")
                continue
            more = [(len(finding.features) - named, 0) for named in (0, 1, 3, 4)]  # "and 2 more"
            self.states(finding.code, finding.sentence, [*method(finding), *more, *scale])
        for ended in self.audit.checked:
            method = getattr(self, f"passed_{ended.name.replace('-', '_')}", None)
            if ended.state == "passed" and ended.reason and method is not None:
                self.states(f"passed {ended.name}", ended.reason, [*method(ended), *scale])
        return self.wrong

    # --- one method a finding: the numbers that its sentence may state

    def runs(self):
        """Draws of runs by the law that the audit knows; a variance that it estimates may be off."""
        used, rng = np.flatnonzero(self.case.used), np.random.default_rng(0)
        covariance = self.covariance if self.exact else 2 * self.case.covariance
        for by in (0, -SIGMAS, SIGMAS) if self.exact else (0,):
            scaled = max(1 + by * self.loose, 0.1) * covariance[np.ix_(used, used)]
            drawn = np.zeros((RUNS, len(self.run)))
            drawn[:, used] = rng.multivariate_normal(self.case.expected[used], scaled, RUNS)
            yield drawn

    @staticmethod
    def share(seen):
        """A share of runs, of what was seen of it, and how far the audit's draws may be from it."""
        low, high = min(seen), max(seen)
        middle = (low + high) / 2
        chance = (middle * (1 - middle) + 1 / DRAWN) * (1 / DRAWN + 1 / RUNS)
        return middle, (high - low) / 2 + SIGMAS * np.sqrt(chance)

    def odds(self):
        """The reasons of most runs with their shares, and the share that gives them all."""
        k = min(3, self.case.shown, int(self.case.used.sum()))
        found = [same_reasons(runs, k) for runs in self.runs()]
        each = {j: self.share([one[j] for one, _ in found if j in one]) for j in found[0][0]}
        return each, self.share([together for _, together in found])

    def noise(self, finding):
        each, (together, tolerance) = self.odds()
        stated = dict(zip(finding.numbers["reasons"], finding.numbers["each"], strict=True))
        if set(stated) == {self.names[j] for j in each}:
            for j, (share, half) in each.items():
                self.close("noise", stated[self.names[j]], share, half, self.names[j])
        self.close("noise", finding.numbers["together"], together, tolerance, "together")
        shares = finding.numbers["together"], *finding.numbers["each"]
        return [*[(share, 0) for share in shares], *self.settled()]

    def settled(self):
        """How often runs have the same first m features, for the sentence on how many are settled."""
        order, seen = np.argsort(-np.abs(self.case.expected), kind="stable"), []
        most = min(4, len(order))
        for runs in self.runs():
            ranks = np.argsort(-np.abs(runs), axis=1)
            first = [np.isin(ranks[:, : m + 1], order[: m + 1]) for m in range(most)]
            seen.append([np.mean(np.all(same, axis=1)) for same in first])
        return [*map(self.share, zip(*seen, strict=True)), *[(m + 1, 0) for m in range(most)]]

    def passed_noise(self, ended):
        return [self.odds()[1], *self.settled()]

    def order(self, finding):
        allowed = []
        for first, second, ahead, stderr in finding.numbers["pairs"]:
            i, j = self.column(first), self.column(second)
            sign = np.sign(self.run[i] * self.run[j])
            V = self.covariance
            right = np.sqrt(V[i, i] + V[j, j] - 2 * sign * V[i, j])
            known = SIGMAS * right * self.loose / 2
            allowed += [(abs(self.run[i]) - abs(self.run[j]), 1e-9), (right, known)]
            self.close("order", stderr, right, known, "stderr")
            self.says("order", ahead < 2.5 * stderr, "settled")
        return [*allowed, (len(finding.numbers["pairs"]) - 1, 0)]

    def unstable_set(self, finding):
        n, k = finding.numbers, self.case.shown
        self.says("unstable-set", n["num_features"] == k < np.sum(self.case.used), "k")
        return [(n[key], 0) for key in ("same", "kept", "num_features")]

    def few_samples(self, finding):
        ess, w = self.raw.ess(self.raw.n), self.raw.w
        spread = np.std(2 * w / w.mean() - w**2 / np.mean(w**2))  # of the logarithm, to first order
        off = np.log(finding.numbers["ess"] / ess) / (spread / np.sqrt(self.raw.n))
        self.says("few-samples", abs(off) <= SIGMAS, f"{finding.numbers} {ess} {off}")
        known = SIGMAS * ess * spread / np.sqrt(self.raw.many)
        return [(finding.numbers["ess"], 0), (ess, known), (len(self.names) + 1, 0)]

    def other_explainer(self, kind):
        drawn, classes = self.drawn, None
        options = {"discretizer": "quartile"}
        if kind == "entropy boxes":
            classes = (drawn.call(drawn.X) >= 0.5).astype(int)
            options = {"discretizer": "entropy", "training_labels": classes}
        elif kind == "deciles":
            options = {"discretizer": "decile"}
        elif "percentiles" in kind:
            by = -5 if "lower" in kind else 5
            at = np.array([25, 50, 75]) + by
            options = {"discretizer": Shifted(drawn.X, drawn.labels, self.names, at)}
        return LimeTabularExplainer(
            drawn.X, mode="regression", feature_names=self.names, categorical_features=drawn.labels,
            kernel_width=self.width, random_state=1, **options,
        )  # fmt: skip

    def in_other_boxes(self, kind):
        """Coefficients with other boxes: with their own draws, every coefficient's error and stderr."""
        raw = Raw(
            self.other_explainer(kind), self.drawn.call, self.drawn.xi, self.raw.n, self.raw.many, 3
        )
        z = None
        if not self.exact:  # the samples of the explanation, compared by these boxes
            cut, x = raw.explainer.discretizer.discretize, self.raw.x
            labels = self.drawn.labels
            z = (cut(x) == cut(self.drawn.xi)).astype(float)
            z[:, labels] = x[:, labels] == self.drawn.xi[labels]
            raw.y, raw.w = self.raw.y, np.exp(-(1 - z).sum(1) / (2 * self.width**2))
        coef, covariance, _ = raw.fit(z=z)
        return coef, np.sqrt(np.diag(covariance)), self.second_order(raw.lost(z), coef)

    def other_boxes(self, finding):
        n, allowed = finding.numbers, []
        reasons = [self.column(name) for name in n["reasons"]]
        for j, stated in zip(reasons, n["coef"], strict=True):
            self.close("other-boxes", stated, *self.expected(j), self.names[j])
            allowed.append((stated, 0))
        for kind, coefs, noise in zip(n["boxes"], n["other_coef"], n["noise"], strict=True):
            coef, stderr, dust = self.in_other_boxes(kind)
            for j, stated, error in zip(reasons, coefs, noise, strict=True):
                if stated == error == 0:
                    continue  # none of the samples lies in that box
                tolerance = SIGMAS * np.hypot(self.part * stderr[j], error) + dust[j]
                self.close("other-boxes", stated, coef[j], tolerance, f"{self.names[j]} {kind}")
            allowed += [(v, 0) for v in [*coefs, *noise]]
        return [*allowed, (5, 0)]

    def passed_other_boxes(self, ended):
        return [(5, 0)]  # percentiles of the shifted ones

    def seen(self, where, names, values, stderrs, choices):
        discretized = self.drawn.explainer.discretizer.discretize
        box, own = discretized(self.drawn.X), discretized(self.drawn.xi)
        for name, value, stderr, choice in zip(names, values, stderrs, choices, strict=True):
            j = self.column(name)
            asked = self.drawn.call, self.drawn.X, self.drawn.labels, self.drawn.xi
            inside = box[:, j] == own[j]
            full, rows, picked, (least, most) = near_contrast(*asked, inside, j)
            slack = 0.02 * abs(full) + 1e-9
            if choice is not None:
                half = (most - least) / 2 + slack
                self.close(where, choice, (most + least) / 2, half, f"{name} choice")
            self.close(where, value, full, 2.5 * picked + slack, f"{name} near")
            self.close(where, stderr, rows, 0.5 * rows + picked + slack, f"{name} rows")

    def off_data(self, finding):
        n = finding.numbers
        for name, coef in zip(finding.features, n["coef"], strict=True):
            self.close(finding.code, coef, *self.expected(self.column(name)), name)
        self.seen(finding.code, finding.features, n["near"], n["stderr"], n["choice"])
        stated = [*n["coef"], *n["near"], *n["stderr"], *n["choice"], 30, 20]
        return [(value, 0) for value in stated]

    size = off_data

    def passed_off_data(self, ended):
        """The share of samples far from the data, and what the rows near this one say of each reason."""
        X, labels, x = self.drawn.X, self.drawn.labels, self.raw.x[:2000]
        numbers = [j for j in range(len(self.names)) if j not in labels and X[:, j].std() > 0]
        points = [part[:, numbers] / X[:, numbers].std(0) for part in (X, x)]
        for j in labels:
            for k, part in enumerate((X, x)):
                hot = (part[:, [j]] == np.unique(X[:, j])) / 2**0.5
                points[k] = np.column_stack([points[k], hot])
        tree = spatial.cKDTree(points[0])
        near = np.quantile(tree.query(points[0], k=2)[0][:, 1], 0.95)
        w = self.raw.w[:2000]
        share = w @ (tree.query(points[1])[0] > near) / w.sum()
        sizes = self.raw.ess(min(self.raw.n, 1000)), self.raw.ess(2000)
        half = SIGMAS * np.sqrt(share * (1 - share) * (1 / sizes[0] + 1 / sizes[1]))
        pattern = r"(?:: |, )([a-z ]+?) ([-+][\d.e+-]+) and ([-+][\d.e+-]+) ± ([\d.e+-]+?)(?=,|\.$)"
        names, *columns = zip(*re.findall(pattern, ended.reason), strict=True)
        coefs, values, stderrs = (list(map(float, column)) for column in columns)
        for name, coef, value, stderr in zip(names, coefs, values, stderrs, strict=True):
            right, tolerance = self.expected(self.column(name))
            self.close("passed off-data", coef, right, tolerance + 5e-3 * abs(coef), name)
            along, digits = np.sign(coef) * value, 5e-3 * (abs(coef) + abs(value))
            agrees = along >= -stderr - digits
            agrees &= abs(coef) <= 3 * (along + 2 * stderr) + digits
            agrees &= 3 * abs(coef) >= along - 2 * stderr - digits
            agrees |= abs(coef - value) <= 0.02 * np.max(np.abs(self.run)) + digits
            self.says("passed off-data", agrees, f"agrees: {coef} {value} {stderr}")
        self.seen("passed off-data", names, values, stderrs, [None] * len(names))
        return [(share, half), *[(v, 0) for v in (*coefs, *values, *stderrs, 30, 3, 0.02)]]

    def impossible_samples(self, finding):
        X, far = self.drawn.X, np.zeros(self.raw.many, bool)
        for kind in ("one_hot", "exclusive"):
            columns = [self.column(name) for name in finding.numbers[kind]]
            if columns:
                self.says(finding.code, np.all(np.isin(X[:, columns], (0, 1))), "0 and 1")
        share = finding.numbers["impossible"]
        groups = [[self.column(x) for x in finding.numbers[k]] for k in ("one_hot", "exclusive")]
        if len(groups[0]) == 3:
            far |= np.sum(self.raw.x[:, groups[0]] > 0.5, axis=1) != 1
            if not groups[1]:
                right, ess = self.raw.weighted(far), self.raw.ess(min(self.raw.n, 1000))
                half = SIGMAS * np.sqrt((right * (1 - right) + 1 / ess) / ess)
                self.close(finding.code, share, right, half)
        return [(share, 0)]

    def outside_range(self, finding):
        j = int(np.argmax([self.beyond(k) for k in range(len(self.names))]))
        lo, hi = self.drawn.X[:, j].min(), self.drawn.X[:, j].max()
        return [*[(v, 1e-9) for v in (self.drawn.xi[j], lo, hi)], (self.beyond(j), 1e-3)]

    def beyond(self, j):
        x, xi = self.drawn.X[:, j], self.drawn.xi[j]
        if j in self.drawn.labels:
            return 0.0
        return max(x.min() - xi, xi - x.max()) / (np.ptp(x) or 1.0)

    def collapsed_bin(self, finding):
        n, allowed = finding.numbers, [(0.2, 0)]
        columns = [self.column(name) for name in finding.features]
        right = self.raw.x.copy()
        for j, fed, value, share in zip(columns, n["fed"], n["value"], n["share"], strict=True):
            self.says(finding.code, np.any(self.drawn.X[:, j] == value), "value of the data")
            at = np.isclose(right[:, j], fed, rtol=0, atol=1e-12)
            self.close(finding.code, share, at.mean(), SIGMAS / 2 / np.sqrt(self.raw.many), "share")
            right[at, j] = value
            allowed += [(fed, 0), (value, 0), (share, 0)]
        fitted = self.raw.fit(self.drawn.call(right))
        stderr = np.sqrt(np.diag(fitted[1]))
        others = [self.column(w) for w in self.names if f"that of {w} would" in finding.sentence]
        error = SIGMAS * stderr * np.hypot(self.part, 0 if self.exact else 1) + self.dust
        for j in [*columns, *others]:
            allowed += [(fitted[0][j], error[j]), self.expected(j)]
        for j, stated in zip(columns, n["coef_repaired"], strict=True):
            if self.case.used[j]:
                self.close(finding.code, stated, fitted[0][j], error[j], "repaired")
        return allowed

    def undeclared_category(self, finding):
        n, right, allowed = finding.numbers, self.raw.x.copy(), []
        for j, values in zip(map(self.column, finding.features), n["values"], strict=True):
            self.says(finding.code, np.array_equal(np.unique(self.drawn.X[:, j]), values), "whole")
        for j in range(len(self.names)):  # all columns of whole numbers
            values = np.unique(self.drawn.X[:, j])
            if 1 < len(values) <= 100 and np.all(values % 1 == 0):
                right[:, j] = values[np.argmin(np.abs(right[:, [j]] - values), axis=1)]
        change = self.raw.fit(self.drawn.call(right) - self.raw.y + self.raw.at_xi)
        error = SIGMAS * np.hypot(1, self.part) * np.sqrt(np.diag(change[1])) + self.dust
        for name, coef, stated in zip(finding.features, n["coef"], n["coef_repaired"], strict=True):
            j = self.column(name)
            allowed += [(coef, 0), (stated, 0)]
            self.close(finding.code, stated - coef, change[0][j], error[j], f"{name} moved")
        return allowed

    def no_fit(self, finding):
        y, mean = self.raw.y, self.raw.weighted(self.raw.y)
        left = self.raw.weighted((y - self.intercept - self.raw.z @ self.coef) ** 2)
        score = 1 - left / self.raw.weighted((y - mean) ** 2)
        # the variance of R^2 of normal responses
        ess, d = self.raw.ess(self.raw.n), int(self.case.used.sum())
        half = SIGMAS * np.sqrt((4 * max(score, 0) * (1 - score) ** 2 + 2 * d / ess) / ess)
        self.close(finding.code, finding.numbers["r2_adjusted"], score, half)
        return [(max(finding.numbers["r2_adjusted"], 0), 0)]

    def many_features(self, finding):
        used = int(self.case.used.sum())
        return [(value, 0) for value in (self.case.shown, used, 0.05 * used, 0)]

    def constant(self, finding):
        for name in finding.features:
            j = self.column(name)
            self.says(finding.code, np.all(self.raw.z[:, j] == 1), f"{name} varies")
        return [(0, 0)]

    def near_singular(self, finding):
        allowed = []
        for name in finding.features:
            j = self.column(name)
            alpha = self.raw.weighted(self.raw.z[:, j])
            half = SIGMAS * np.sqrt(alpha * (1 - alpha) / self.raw.ess(self.raw.many))
            self.says(finding.code, min(alpha, 1 - alpha) < 0.01 + half, f"{name} {alpha}")
            allowed.append((alpha, half))
        return allowed

    def hidden(self, finding):
        j = self.column(finding.sentence.partition(" is hidden")[0])
        inside = self.raw.z[:, j] == 1
        x, sigma = self.raw.x[:, j], self.raw.x[:, j].std()
        gap = abs(x[inside].mean() - x[~inside].mean()) / sigma
        box = self.drawn.explainer.discretizer.discretize(self.drawn.xi)[j] + 1
        count = len(self.drawn.explainer.feature_values[j])
        half = SIGMAS * np.sqrt(1 / inside.sum() + 1 / (~inside).sum())
        return [(gap, half), (box, 0), (count, 0), self.of_run(j)]

    def sign_flips(self, finding):
        """The sign at both sides of the bandwidth named, where the reference can tell."""
        n = finding.numbers
        for name, at in zip(finding.features, n["critical_nu"], strict=True):
            j, sides = self.column(name), []
            for width in (0.97 * at, 1.03 * at):
                coef, covariance, _ = self.raw.fit(width=width)
                sides.append(coef[j] / np.sqrt(covariance[j, j]) / self.part)
            turns = sides[0] * sides[1] < 0 or min(map(abs, sides)) < SIGMAS
            self.says(finding.code, turns or not self.exact, f"{name} {sides}")
        return [(v, 1e-9) for key in n for v in np.ravel(n[key])]

    critical_bandwidth = sign_flips

    def local_error(self, finding):
        n, f = finding.numbers, self.raw.at_xi
        stated, lasting, dust = n["local_prediction"], n["lasting_error"], self.dust.sum()
        spread = SIGMAS * np.sqrt(np.abs(self.local_variance()))
        local, rounding = self.intercept + self.coef.sum(), 1e-9 * max(1, abs(f))
        self.close(finding.code, stated, local, spread * np.hypot(1, self.part) + dust, "local")
        self.close(finding.code, n["error"], stated - f, rounding, "error")
        if self.exact:
            self.close(finding.code, lasting, local - f, spread * self.part + dust, "lasting")
        ratio = abs(lasting) / self.case.top
        allowed = [(v, rounding) for v in (stated, f, stated - f, lasting, ratio)]
        if n["accounted"] is not None:
            apart = f - self.raw.weighted(self.raw.y)
            accounted = 1 + lasting / apart
            mean = SIGMAS * self.raw.y.std() * np.sqrt(1 / self.raw.n + 1 / self.raw.many)
            slack = 0.01 + abs(1 - accounted) * mean / max(abs(apart) - mean, 1e-12)
            if abs(apart) <= 1.5 * mean:  # the mean is not known well enough
                slack = np.inf
            self.close(finding.code, n["accounted"], accounted, slack, "accounted")
            allowed.append((n["accounted"], 0))
        if "box_average" in n:
            mean, stderr = self.raw.mean_inside(4000, 0)
            box = n["box_average"]
            self.close(finding.code, box, mean, SIGMAS * 2**0.5 * stderr + dust, "box")
            allowed += [(box - f, rounding), (lasting - box + f, rounding)]
        return allowed + [(part, 0) for part in n.get("parts", ())]

    def local_variance(self):
        return self.covariance.sum() + self.stderr.max() ** 2  # with the intercept, roughly

    def ridge(self, finding):
        total, lost = self.raw.n * self.raw.w.mean(), self.raw.lost()[self.case.used]
        known = SIGMAS / np.sqrt(self.raw.ess(self.raw.many))
        variance = (1 / lost - 1) / total  # of an indicator
        half = (lost * (1 - lost) * known * (1 + 1 / np.sqrt(variance))).max()
        name = finding.sentence.rpartition("off that of ")[2].partition(":")[0]
        at = lost[list(np.flatnonzero(self.case.used)).index(self.column(name))]
        self.close(finding.code, finding.numbers["most_lost"], at, half, name)
        return [(1, 0), *[(v, half) for v in (lost.min(), lost.max(), at)], (total, known * total)]

    def own_row(self, finding):
        weight = (self.raw.n - 1) * self.raw.w.mean()
        n = finding.numbers
        known = SIGMAS / np.sqrt(self.raw.ess(self.raw.many))
        allowed = [(weight, known * weight), (n["pulled"], 0), (1, 0)]
        without, _, intercept = self.raw.fit(own_row=False)
        pulled = np.max(np.abs(self.coef - without))
        if self.exact:  # a share of the error without it, known as well as the surrogate is
            error = intercept + without.sum() - self.raw.at_xi
            spread = SIGMAS * self.part * np.sqrt(np.abs(self.local_variance()))
            half = pulled * (spread / abs(error) + known) + self.dust.max()
            self.close(finding.code, n["pulled"], pulled, half, "pulled")
        return allowed

    def constant_model(self, finding):
        self.says(finding.code, np.ptp(self.raw.y) < 1e-9 * max(1, abs(self.raw.at_xi)), "varies")
        return [(self.raw.at_xi, 1e-9)]

    def other_data(self, finding):
        self.wrong.append("other-data on the training data")
        return []
