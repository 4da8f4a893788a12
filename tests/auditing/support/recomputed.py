"""Every number and every comparison in the findings of an audit, computed again from raw calls."""

import re

import numpy as np
from audited_rows import numbers_in
from lime.discretize import BaseDiscretizer
from lime.lime_tabular import LimeTabularExplainer
from raw_lime import Raw, near_contrast, same_reasons
from scipy import spatial

MANY = 20_000  # samples of the reference
SIGMAS = 6.0  # that a number may be away from the reference


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
        self.error = np.sqrt(self.raw.n / many) * self.stderr  # of the reference
        self.wrong = []

    # --- what coefficients may be

    def of_run(self, j):
        """A coefficient of one run of n samples."""
        return self.coef[j], SIGMAS * np.hypot(self.stderr[j], self.error[j]) + self.dust

    def expected(self, j):
        """What the audit expects of runs: exact, or that of its own run."""
        return (self.coef[j], SIGMAS * self.error[j] + self.dust) if self.exact else self.of_run(j)

    @property
    def dust(self):
        return 1e-6 * np.max(np.abs(self.raw.y)) + 0.002 * np.max(np.abs(self.coef))

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

    def check(self):
        """All claims; returns what is wrong."""
        scale = [
            (len(self.names), 0),
            (self.raw.n, 0),
            (self.raw.at_xi, 1e-9 * abs(self.raw.at_xi)),
        ]
        self.states("about", self.audit.about, [*scale, (self.width, 1e-9), (1, 0)])
        for j in np.flatnonzero(self.case.used):
            value, tolerance = self.of_run(j)
            self.says(
                "coef",
                abs(self.run[j] - value) <= tolerance,
                f"{self.names[j]} {self.run[j]:.4g}, {value:.4g} ± {tolerance:.2g}",
            )
        for finding in self.audit.findings:
            method = getattr(self, finding.code.replace("-", "_"), None)
            if method is None:
                self.wrong.append(f"{finding.code}: nothing recomputes it")
                continue
            allowed = method(finding)
            if allowed is not None:
                self.states(finding.code, finding.sentence, [*allowed, *scale])
        for ended in self.audit.checked:
            method = getattr(self, f"passed_{ended.name.replace('-', '_')}", None)
            if ended.state == "passed" and ended.reason and method is not None:
                allowed = method(ended)
                if allowed is not None:
                    self.states(f"passed {ended.name}", ended.reason, [*allowed, *scale])
        return self.wrong

    # --- one method a finding: the numbers that its sentence may state

    def reference(self):
        """Coefficients and covariance that the odds of runs follow from, as the audit knows them."""
        if self.exact:
            return self.coef, self.covariance, 0.05
        return self.run, 2 * self.case.covariance, 0.04

    def odds(self, k):
        coef, covariance, tolerance = self.reference()
        used = np.flatnonzero(self.case.used)
        covariance, error = covariance[np.ix_(used, used)], self.error[used] if self.exact else 0.0
        rng, found = np.random.default_rng(0), []
        for draw in range(12 if self.exact else 1):  # the reference has an error, too
            coefs = coef[used] + (2 * error * rng.standard_normal(len(used)) if draw else 0)
            found.append(same_reasons(coefs, covariance, min(k, len(used))))
        each = {int(used[j]): share for j, share in found[0][0].items()}
        low, high = (end([together for _, together in found]) for end in (min, max))
        return each, (low + high) / 2, tolerance + (high - low)

    def noise(self, finding):
        k = min(3, self.case.shown, len(self.run))
        each, together, tolerance = self.odds(k)
        stated = dict(zip(finding.numbers["reasons"], finding.numbers["each"], strict=True))
        if set(stated) == {self.names[j] for j in each}:
            for j, share in each.items():
                self.says(
                    "noise",
                    abs(stated[self.names[j]] - share) < tolerance + 0.03,
                    f"{self.names[j]} {stated[self.names[j]]} {share}",
                )
        self.says(
            "noise",
            abs(finding.numbers["together"] - together) < tolerance + 0.03,
            f"together {finding.numbers['together']}, {together}",
        )
        return [
            (finding.numbers["together"], 0),
            *[(v, 0) for v in finding.numbers["each"]],
            *self.settled(),
        ]

    def settled(self):
        """How often runs have the same first m features, for the sentence on how many are settled."""
        coef, covariance, tolerance = self.reference()
        draws = np.random.default_rng(1).multivariate_normal(coef, covariance, 3000)
        order, allowed = np.argsort(-np.abs(coef), kind="stable"), []
        for m in range(1, min(5, len(coef) + 1)):
            first = np.sort(np.argsort(-np.abs(draws), axis=1)[:, :m], axis=1)
            share = np.mean(np.all(first == np.sort(order[:m]), axis=1))
            allowed += [(share, tolerance + 0.1 * self.exact), (m, 0)]
        return allowed

    def passed_noise(self, ended):
        coef, _, intercept = self.raw.fit(penalty=0, own_row=False)
        left = self.raw.y - intercept - self.raw.z @ coef
        if np.std(left) < 0.01 * np.std(self.raw.y):  # only the penalty makes runs differ
            return None
        _, together, tolerance = self.odds(min(3, self.case.shown, len(self.run)))
        return [(together, tolerance), *self.settled()]

    def order(self, finding):
        allowed = []
        for first, second, ahead, stderr in finding.numbers["pairs"]:
            i, j = self.column(first), self.column(second)
            sign = np.sign(self.run[i] * self.run[j])
            V = self.covariance
            variance = V[i, i] + V[j, j] - 2 * sign * V[i, j]
            allowed += [
                (abs(self.run[i]) - abs(self.run[j]), 1e-9),
                (np.sqrt(variance), 0.4 * np.sqrt(variance)),
            ]
            self.says(
                "order",
                abs(stderr - np.sqrt(variance)) < 0.4 * np.sqrt(variance),
                f"stderr {stderr} {np.sqrt(variance)}",
            )
            self.says("order", ahead < 2.5 * stderr, "settled")
        return [*allowed, (len(finding.numbers["pairs"]) - 1, 0)]

    def unstable_set(self, finding):
        n = finding.numbers
        self.says(
            "unstable-set", n["num_features"] == self.case.shown < np.sum(self.case.used), "k"
        )
        return [
            (n["same"], 0),
            (n["kept"], 0),
            (n["num_features"], 0),
            (len(finding.features) - 3, 0),
        ]

    def few_samples(self, finding):
        ess = self.raw.n * self.raw.w.mean() ** 2 / np.mean(self.raw.w**2)
        self.says(
            "few-samples", 0.4 < finding.numbers["ess"] / ess < 2.5, f"{finding.numbers} {ess}"
        )
        return [(finding.numbers["ess"], 0), (ess, 0.05 * ess), (len(self.names) + 1, 0)]

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
        return coef, np.sqrt(np.diag(covariance))

    def other_boxes(self, finding):
        n, allowed = finding.numbers, []
        reasons = [self.column(name) for name in n["reasons"]]
        for j, stated in zip(reasons, n["coef"], strict=True):
            value, tolerance = self.expected(j)
            self.says(
                "other-boxes",
                abs(stated - value) <= tolerance,
                f"{self.names[j]} {stated} {value} {tolerance}",
            )
        allowed += [(v, 0) for v in n["coef"]]
        for kind, coefs, noise in zip(n["boxes"], n["other_coef"], n["noise"], strict=True):
            coef, stderr = self.in_other_boxes(kind)
            for j, stated, error in zip(reasons, coefs, noise, strict=True):
                if stated == error == 0:
                    continue  # none of the samples lies in that box
                known = np.sqrt(self.raw.n / self.raw.many) * stderr[j]
                tolerance = SIGMAS * np.hypot(known, error) + self.dust
                self.says(
                    "other-boxes",
                    abs(stated - coef[j]) <= tolerance,
                    f"{self.names[j]} with {kind}: {stated:.4g} ± {error:.2g}, {coef[j]:.4g} ± {known:.2g}",
                )
            allowed += [(v, 0) for v in [*coefs, *noise]]
        return [*allowed, (5, 0)]

    def passed_other_boxes(self, ended):
        return [(5, 0)]  # percentiles of the shifted ones

    def seen(self, where, names, values, stderrs, choices):
        discretized = self.drawn.explainer.discretizer.discretize
        box, own = discretized(self.drawn.X), discretized(self.drawn.xi)
        for name, value, stderr, choice in zip(names, values, stderrs, choices, strict=True):
            j = self.column(name)
            full, rows, picked, usual = near_contrast(
                self.drawn.call,
                self.drawn.X,
                self.drawn.labels,
                self.drawn.xi,
                box[:, j] == own[j],
                j,
            )
            slack = 0.02 * abs(full) + 1e-9
            self.says(
                where,
                choice is None or usual / 2.5 - slack <= choice <= 2 * picked + slack,
                f"{name} choice {choice} {picked:.3g}",
            )
            self.says(
                where,
                abs(value - full) <= 2.5 * picked + slack,
                f"{name} near {value:.4g}, {full:.4g} (choice {picked:.2g})",
            )
            self.says(
                where,
                abs(stderr - rows) <= 0.5 * rows + picked + slack,
                f"{name} rows {stderr:.3g} {rows:.3g}",
            )

    def off_data(self, finding):
        n = finding.numbers
        for name, coef in zip(finding.features, n["coef"], strict=True):
            value, tolerance = self.expected(self.column(name))
            self.says(finding.code, abs(coef - value) <= tolerance, f"{name} {coef} {value}")
        self.seen(finding.code, finding.features, n["near"], n["stderr"], n["choice"])
        return [(v, 0) for key in ("coef", "near", "stderr", "choice") for v in n[key]] + [
            (30, 0),
            (20, 0),
        ]

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
        pattern = r"(?:: |, )([a-z ]+?) ([-+][\d.e+-]+) and ([-+][\d.e+-]+) ± ([\d.e+-]+?)(?=,|\.$)"
        names, *columns = zip(*re.findall(pattern, ended.reason), strict=True)
        coefs, values, stderrs = (list(map(float, column)) for column in columns)
        for name, coef in zip(names, coefs, strict=True):
            value, tolerance = self.expected(self.column(name))
            self.says(
                "passed off-data",
                abs(coef - value) <= tolerance + 5e-3 * abs(coef),
                f"{name} {coef} {value}",
            )
        self.seen("passed off-data", names, values, stderrs, [None] * len(names))
        return [
            *[(v, 0) for v in [*coefs, *values, *stderrs]],
            (share, 2 / np.sqrt(min(self.raw.n, 1000))),
            (30, 0),
            (3, 0),
        ]

    def impossible_samples(self, finding):
        X, far = self.drawn.X, np.zeros(self.raw.many, bool)
        for kind in ("one_hot", "exclusive"):
            columns = [self.column(name) for name in finding.numbers[kind]]
            if columns:
                ones = X[:, columns].sum(1)
                self.says(
                    finding.code,
                    np.all(X[:, columns] % 1 == 0) and ones.max() <= len(columns),
                    "0 and 1",
                )
        share = finding.numbers["impossible"]
        groups = [[self.column(x) for x in finding.numbers[k]] for k in ("one_hot", "exclusive")]
        if len(groups[0]) == 3:
            far |= np.sum(self.raw.x[:, groups[0]] > 0.5, axis=1) != 1
            if not groups[1]:
                self.says(
                    finding.code,
                    abs(self.raw.weighted(far) - share) < 0.08,
                    f"{share} {self.raw.weighted(far)}",
                )
        return [(share, 0)]

    def outside_range(self, finding):
        j = int(np.argmax([self.beyond(k) for k in range(len(self.names))]))
        lo, hi = self.drawn.X[:, j].min(), self.drawn.X[:, j].max()
        return [
            (self.drawn.xi[j], 1e-9),
            (lo, 1e-9),
            (hi, 1e-9),
            (self.beyond(j), 1e-3),
            (len(finding.features) - 4, 0),
        ]

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
            self.says(
                finding.code,
                abs(at.mean() - share) < 5 / np.sqrt(self.raw.many),
                f"share {share} {at.mean()}",
            )
            right[at, j] = value
            allowed += [(fed, 0), (value, 0), (share, 0)]
        fitted = self.raw.fit(self.drawn.call(right))
        stderr = np.sqrt(np.diag(fitted[1]))
        others = [self.column(w) for w in self.names if f"that of {w} would" in finding.sentence]
        for j in [*columns, *others]:
            error = (
                SIGMAS
                * stderr[j]
                * (np.sqrt(self.raw.n / self.raw.many) + (0 if self.exact else 1))
            )
            allowed += [(fitted[0][j], error + self.dust), self.expected(j)]
        for j, stated in zip(columns, n["coef_repaired"], strict=True):
            error = (
                SIGMAS
                * stderr[j]
                * (np.sqrt(self.raw.n / self.raw.many) + (0 if self.exact else 1))
            )
            self.says(
                finding.code,
                not self.case.used[j] or abs(stated - fitted[0][j]) <= error + self.dust,
                f"repaired {stated} {fitted[0][j]}",
            )
        return [*allowed, (len(columns) - 4, 0)]

    def undeclared_category(self, finding):
        n, right, allowed = finding.numbers, self.raw.x.copy(), []
        for j, values in zip(map(self.column, finding.features), n["values"], strict=True):
            self.says(finding.code, np.array_equal(np.unique(self.drawn.X[:, j]), values), "whole")
        for j in range(len(self.names)):  # all columns of whole numbers
            values = np.unique(self.drawn.X[:, j])
            if 1 < len(values) <= 100 and np.all(values % 1 == 0):
                right[:, j] = values[np.argmin(np.abs(right[:, [j]] - values), axis=1)]
        change = self.raw.fit(self.drawn.call(right) - self.raw.y + self.raw.at_xi)
        moved, stderr = change[0], np.sqrt(np.diag(change[1]))
        for j, coef, stated in zip(
            map(self.column, finding.features), n["coef"], n["coef_repaired"], strict=True
        ):
            allowed += [(coef, 0), (stated, 0)]
            self.says(
                finding.code,
                abs(stated - coef - moved[j]) <= SIGMAS * 1.2 * stderr[j] + self.dust,
                f"moved {stated - coef} {moved[j]}",
            )
        return [*allowed, (len(finding.features) - 4, 0)]

    def no_fit(self, finding):
        beta = self.coef
        fitted = self.intercept + self.raw.z @ beta
        mean = self.raw.weighted(self.raw.y)
        score = 1 - self.raw.weighted((self.raw.y - fitted) ** 2) / self.raw.weighted(
            (self.raw.y - mean) ** 2
        )
        self.says(
            finding.code,
            abs(finding.numbers["r2_adjusted"] - score) < 0.04,
            f"{finding.numbers} {score}",
        )
        return [(max(finding.numbers["r2_adjusted"], 0), 0)]

    def many_features(self, finding):
        used = int(self.case.used.sum())
        return [
            (len(finding.features), 0),
            (self.case.shown, 0),
            (used, 0),
            (0.05 * used, 0),
            (0, 0),
            (len(finding.features) - 3, 0),
        ]

    def constant(self, finding):
        for name in finding.features:
            j = self.column(name)
            self.says(finding.code, np.all(self.raw.z[:, j] == 1), f"{name} varies")
        return [(0, 0), (len(finding.features) - 3, 0)]

    def near_singular(self, finding):
        allowed = [(len(finding.features) - 3, 0)]
        for name in finding.features:
            j = self.column(name)
            alpha = self.raw.weighted(self.raw.z[:, j])
            self.says(finding.code, min(alpha, 1 - alpha) < 0.015, f"{name} {alpha}")
            allowed.append((alpha, 0.004))
        return allowed

    def hidden(self, finding):
        j = self.column(finding.sentence.partition(" is hidden")[0])
        inside = self.raw.z[:, j] == 1
        x, sigma = self.raw.x[:, j], self.raw.x[:, j].std()
        gap = abs(x[inside].mean() - x[~inside].mean()) / sigma
        box = self.drawn.explainer.discretizer.discretize(self.drawn.xi)[j] + 1
        count = len(self.drawn.explainer.feature_values[j])
        others = len(finding.features)
        return [(gap, 0.05), (box, 0), (count, 0), self.of_run(j), (others - 4, 0)]

    def critical_bandwidth(self, finding):
        return self.turns(finding)

    def sign_flips(self, finding):
        return self.turns(finding)

    def turns(self, finding):
        """The sign at both sides of the bandwidth named, where the reference can tell."""
        n = finding.numbers
        for name, at in zip(finding.features, n["critical_nu"], strict=True):
            j, sides = self.column(name), []
            for width in (0.97 * at, 1.03 * at):
                coef, covariance, _ = self.raw.fit(width=width)
                sides.append(coef[j] / np.sqrt(covariance[j, j] * self.raw.n / self.raw.many))
            if self.exact:
                self.says(
                    finding.code,
                    sides[0] * sides[1] < 0 or min(map(abs, sides)) < SIGMAS,
                    f"{name} {sides}",
                )
        return (
            [(v, 1e-9) for key in n for v in np.ravel(n[key])]
            + [(abs(v), 6e-4) for v in n["distance"]]
            + [(len(finding.features) - 4, 0)]
        )

    def local_error(self, finding):
        n, f = finding.numbers, self.raw.at_xi
        spread = np.sqrt(np.abs(self.local_variance()))
        local = self.intercept + self.coef.sum()
        self.says(
            finding.code,
            abs(n["local_prediction"] - local) <= SIGMAS * 1.3 * spread + self.dust,
            f"local {n['local_prediction']} {local} {spread}",
        )
        error = n["local_prediction"] - f
        self.says(finding.code, abs(n["error"] - error) < 1e-9 * max(1, abs(f)), "error")
        long = Raw.fit(self.raw, own_row=False, penalty=0)
        lasting = long[2] + long[0].sum() - f if self.exact else n["lasting_error"]
        known = (
            SIGMAS * spread * np.sqrt(self.raw.n / self.raw.many) + 0.02 * abs(lasting) + self.dust
        )
        self.says(
            finding.code,
            abs(n["lasting_error"] - lasting) < known + 0.02 * self.case.top,
            f"lasting {n['lasting_error']} {lasting} ± {known}",
        )
        allowed = [
            (n["local_prediction"], 0),
            (f, 1e-9),
            (error, 1e-9),
            (n["lasting_error"], 0),
            (abs(n["lasting_error"]) / self.case.top, 1e-6),
        ]
        if n["accounted"] is not None:
            apart = f - self.raw.weighted(self.raw.y)
            accounted = 1 + n["lasting_error"] / apart
            mean = SIGMAS * self.raw.y.std() * np.sqrt(1 / self.raw.n + 1 / self.raw.many)
            slack = 0.01 + abs(1 - accounted) * mean / max(abs(apart) - mean, 1e-12)
            if abs(apart) <= 1.5 * mean:  # the mean is not known well enough
                slack = np.inf
            self.says(
                finding.code,
                abs(accounted - n["accounted"]) <= slack,
                f"accounted {n['accounted']} {accounted}",
            )
            allowed.append((n["accounted"], 0))
        if "box_average" in n:
            mean, stderr = self.raw.mean_inside(4000, 0)
            self.says(
                finding.code,
                abs(n["box_average"] - mean) < 8 * stderr + self.dust,
                f"box {n['box_average']} {mean} {stderr}",
            )
            allowed += [
                (n["box_average"] - f, 1e-9 * max(1, abs(f))),
                (n["lasting_error"] - n["box_average"] + f, 1e-9 * max(1, abs(f))),
            ]
        for part in n.get("parts", ()):
            allowed.append((part, 0))
        return allowed

    def local_variance(self):
        return self.covariance.sum() + self.stderr.max() ** 2  # with the intercept, roughly

    def ridge(self, finding):
        alpha = np.array([self.raw.weighted(z) for z in self.raw.z.T])
        total = self.raw.n * self.raw.w.mean()
        lost = 1 / (1 + total * alpha * (1 - alpha))
        lost = lost[self.case.used]
        name = finding.sentence.rpartition("off that of ")[2].partition(":")[0]
        at = lost[list(np.flatnonzero(self.case.used)).index(self.column(name))]
        self.says(finding.code, abs(at - finding.numbers["most_lost"]) < 0.02, f"{name} {lost}")
        return [(1, 0), (lost.min(), 0.02), (lost.max(), 0.03), (at, 0.02), (total, 0.05 * total)]

    def own_row(self, finding):
        weight = (self.raw.n - 1) * self.raw.w.mean()
        n = finding.numbers
        allowed = [(weight, 0.05 * weight), (n["pulled"], 0), (1, 0)]
        without = self.raw.fit(own_row=False)[0]
        pulled = np.max(np.abs(self.coef - without))
        if self.exact:
            self.says(
                finding.code,
                abs(n["pulled"] - pulled) < 0.3 * pulled + self.dust,
                f"pulled {n['pulled']} {pulled}",
            )
        return allowed

    def bandwidth_irrelevant(self, finding):
        for width in (0.8, 2.0):
            nu = width * self.width
            coef, covariance, _ = self.raw.fit(width=nu, penalty=0, own_row=False)
            plain = self.raw.fit(penalty=0, own_row=False)[0]
            error = np.sqrt(np.diag(covariance) * self.raw.n / self.raw.many) + self.error
            self.says(
                finding.code,
                np.all(
                    np.abs(coef - plain)[self.case.used]
                    <= SIGMAS * error[self.case.used] + self.dust
                ),
                "moves",
            )
        return []

    def constant_model(self, finding):
        self.says(finding.code, np.ptp(self.raw.y) < 1e-9 * max(1, abs(self.raw.at_xi)), "varies")
        return [(self.raw.at_xi, 1e-9)]

    def other_data(self, finding):
        self.wrong.append("other-data on the training data")
        return []
