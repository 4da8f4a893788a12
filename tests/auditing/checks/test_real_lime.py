"""What findings state is true of the real `lime`, on three data sets."""

from functools import cached_property

import numpy as np
import pytest
from audited_rows import assert_states
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression

import limetutor as lt

RUNS = 20


class Real:
    """A `lime` explanation, looked at through `lime` itself and the data: no limetutor here."""

    def __init__(self, load, model, row, output):
        self.data = load()
        self.X, self.xi, self.output = self.data.data, self.data.data[row], output
        self.model = model.fit(self.X, self.data.target)
        self.names = [str(name) for name in self.data.feature_names]
        self.mode = "regression" if output is None else "classification"
        self.explainer = LimeTabularExplainer(
            self.X, mode=self.mode, feature_names=self.names, random_state=3,
            feature_selection="none",
        )  # fmt: skip
        self.audit = lt.audit(self.explainer, self.model, self.xi)

    def predict(self, x):
        return self.model.predict(x) if self.output is None else self.model.predict_proba(x)

    def value(self, x):
        y = self.predict(x)
        return y if self.output is None else y[:, self.output]

    @cached_property
    def explained(self):
        label = 1 if self.output is None else self.output
        return label, [
            self.explainer.explain_instance(
                self.xi, self.predict, labels=(label,), num_features=len(self.xi)
            )
            for _ in range(RUNS)
        ]

    @cached_property
    def runs(self):
        label, found = self.explained
        coef = np.array([[v for _, v in sorted(e.local_exp[label])] for e in found])
        return coef, np.array([float(e.local_pred[0]) for e in found])

    def masses(self):
        """Of each feature, from its bin frequencies: E[weight], E[weight^2] and alpha."""
        own = self.explainer.discretizer.discretize(self.xi)
        p = np.array([self.frequency(j, own[j]) for j in range(len(self.xi))])
        w = np.exp(-1 / (2 * 0.75**2 * len(self.xi)))
        return p + (1 - p) * w, p + (1 - p) * w**2, p / (p + (1 - p) * w)

    def shrink(self):
        """What ridge leaves of a coefficient."""
        mass, _, alpha = self.masses()
        s = alpha * (1 - alpha)
        return s / (s + 1 / (5000 * np.prod(mass)))

    def accounted(self):
        """(f^(xi) - mean) / (f(xi) - mean), and |f(xi) - mean|, from `lime`'s own numbers."""
        (coef, local), (label, found) = self.runs, self.explained
        intercept = np.mean([e.intercept[label] for e in found])
        mean = intercept + self.masses()[2] @ coef.mean(0)
        truth = self.value(self.xi[None])[0]
        return (local.mean() - mean) / (truth - mean), abs(truth - mean)

    def frequency(self, j, k):
        values = list(self.explainer.feature_values[j])
        return self.explainer.feature_frequencies[j][values.index(k)]


def check_collapsed(real, finding):
    j = real.names.index(finding.features[0])
    column = real.X[:, j]
    low, high = np.unique(column)
    share = np.mean(column == low)
    sign = 1 if real.xi[j] == high else -1
    runs, _ = real.runs
    if isinstance(real.model, LinearRegression):
        factor = sign * real.model.coef_[j] * real.shrink()[j]
        should, does = factor * (high - low), factor * high  # the low value is fed as 0
        # xi's own row is in the audit and not in this formula
        own = real.audit.case.limit.own_row_change()
        assert finding.numbers["coef"][0] == pytest.approx(does, abs=own)
        stated = [(value, own / abs(value)) for value in (should, does)]
        assert_states(finding, real.names, 0.0, share, low, *stated)
    stderr = runs[:, j].std(ddof=1)
    assert abs(runs[:, j].mean() - finding.numbers["coef"][0]) < 4 * stderr


def check_order(real, finding):
    coef, _ = real.runs
    first, second, ahead, stderr = finding.numbers["pairs"][0]
    i, j = real.names.index(first), real.names.index(second)
    difference = np.abs(coef[:, i]) - np.abs(coef[:, j])
    assert stderr == pytest.approx(difference.std(ddof=1), rel=0.5)
    assert abs(ahead - difference.mean()) < 4 * stderr
    assert_states(finding, real.names, ahead, stderr, len(finding.numbers["pairs"]) - 1)


def check_local_error(real, finding):
    coef, local = real.runs
    truth, numbers = real.value(real.xi[None])[0], finding.numbers
    assert numbers["local_prediction"] == pytest.approx(local.mean(), abs=4 * local.std(ddof=1))
    error, lasting = numbers["local_prediction"] - truth, numbers["lasting_error"]
    assert abs(local.mean() - truth - lasting) < 4 * local.std(ddof=1) / np.sqrt(RUNS)
    # the samples in xi's boxes, drawn by `lime`'s own code
    own = np.tile(real.explainer.discretizer.discretize(real.xi), (20_000, 1))
    x = real.explainer.discretizer.undiscretize(own)
    if "parts" in numbers:
        parts = real.model.coef_ * (x.mean(0) - real.xi)  # ridge takes off one part in a thousand
        noise = np.abs(real.model.coef_) * x.std(0) / np.sqrt(20_000)
        loss = 0.02 * np.abs(coef.mean(0))
        assert np.all(np.abs(numbers["parts"] - parts) < 5 * noise + loss)
        assert numbers["lasting_error"] == pytest.approx(np.sum(numbers["parts"]))
        stated = [*numbers["parts"], numbers["lasting_error"]]
        assert finding.features == tuple(
            real.names[j] for j in np.argsort(-np.abs(numbers["parts"]))[:3]
        )
    else:
        y = real.value(x)
        noise = y.std() / np.sqrt(20_000)
        assert numbers["inside_box"] == pytest.approx(y.mean() - truth, abs=8 * noise)
        stated = [numbers["inside_box"], lasting, lasting - numbers["inside_box"]]
    assert_states(finding, real.names, numbers["local_prediction"], truth, error, *stated,
                  numbers["ratio"], *([] if numbers["accounted"] is None else [numbers["accounted"]]))  # fmt: skip
    ratio = abs(local.mean() - truth) / np.abs(coef.mean(0)).max()
    assert numbers["ratio"] == pytest.approx(ratio, rel=0.3)
    # how far the surrogate goes from its mean over the weighted samples towards f(xi)
    share, apart = real.accounted()
    if numbers["accounted"] is not None:
        assert numbers["accounted"] == pytest.approx(share, abs=0.1 + 0.1 * abs(share))
    else:
        assert apart < 0.6 * np.abs(coef.mean(0)).max()


def check_hidden(real, finding):
    discretizer, rng = real.explainer.discretizer, np.random.default_rng(0)
    own = discretizer.discretize(real.xi)
    for name in finding.features:
        j = real.names.index(name)
        values, p = real.explainer.feature_values[j], real.explainer.feature_frequencies[j]
        bins = rng.choice(values, size=200_000, p=p)
        x = discretizer.get_undiscretize_values(j, bins.astype(int))
        gap = abs(x[bins == own[j]].mean() - x[bins != own[j]].mean()) / x.std()
        assert gap < 0.1 + 0.01
        if f"{name} is hidden" in finding.sentence:
            coef = real.audit.case.coef[j]
            assert_states(finding, real.names, (gap, 0.3), own[j] + 1, len(values), coef, 1)


def check_noise(real, finding):
    """`lime`'s own runs: how often the three largest are these, with these signs."""
    coef, _ = real.runs
    names, numbers = finding.numbers["reasons"], finding.numbers
    audited = real.audit.case.expected
    wanted = {(real.names.index(name), np.sign(audited[real.names.index(name)])) for name in names}
    tops = [{(j, np.sign(run[j])) for j in np.argsort(-np.abs(run))[:3]} for run in coef]
    # an audit of a model without a form knows the means from one run: it says less than is so
    slack = 0.3 if real.audit.case.form is not None else 0.6
    assert np.mean([top == wanted for top in tops]) == pytest.approx(numbers["together"], abs=slack)
    order = np.argsort(-np.abs(audited))
    for k, share in enumerate(numbers["same"], start=1):
        seen = [set(np.argsort(-np.abs(run))[:k]) == set(order[:k]) for run in coef]
        assert np.mean(seen) == pytest.approx(share, abs=slack)
    shares = numbers["together"], *numbers["each"], *numbers["same"]
    assert_states(finding, real.names, 5000, *range(1, 5), *shares)


def check_many_features(real, finding):
    coef, _ = real.runs
    d = len(real.xi)
    assert d >= 20 and finding.numbers["features"] == d
    count = len(finding.features)
    assert_states(finding, real.names, count, 10, d, 0.05 * d, 0.0, max(count - 3, 0))
    noise = coef.std(0, ddof=1)
    for name in finding.features:  # between 1.96 and 3.1 standard errors in the run audited
        j = real.names.index(name)
        assert abs(real.audit.case.coef[j]) < 5 * noise[j]


def check_unstable_set(real, finding):
    """`lime`'s own runs, the ten largest of each: as alike as is said, within what 20 can tell."""
    coef, _ = real.runs
    k = finding.numbers["num_features"]
    sets = [set(np.argsort(-np.abs(run))[:k]) for run in coef]
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i]]
    same = np.mean([a == b for a, b in pairs])
    kept = np.mean([len(a & b) / k for a, b in pairs])
    assert finding.numbers["same"] == pytest.approx(same, abs=0.35)
    assert finding.numbers["kept"] == pytest.approx(kept, abs=0.1)
    assert_states(finding, real.names, k, finding.numbers["same"], finding.numbers["kept"],
                  len(finding.features) - 3)  # fmt: skip
    always = set.intersection(*sets)
    assert not {real.names[j] for j in always} & set(finding.features[:1]) or len(always) < k


VERIFIERS = {
    "many-features": check_many_features,
    "unstable-set": check_unstable_set,
    "collapsed-bin": check_collapsed,
    "order": check_order,
    "local-error": check_local_error,
    "hidden": check_hidden,
    "noise": check_noise,
}


LINEAR, BOOSTING = LinearRegression(), GradientBoostingRegressor(n_estimators=20, random_state=0)


CASES = {
    "diabetes 3": (load_diabetes, LINEAR, 3, None, {"local-error"}),
    "diabetes 66": (load_diabetes, LINEAR, 66, None, {"noise", "collapsed-bin"}),
    "diabetes 7": (load_diabetes, BOOSTING, 7, None, {"local-error"}),
    "wine 0": (load_wine, RandomForestClassifier(20, random_state=0), 0, 1, {"order"}),
    "wine 28": (load_wine, BOOSTING, 28, None, {"unstable-set"}),
    "cancer 14": (load_breast_cancer, LINEAR, 14, None, {"hidden", "many-features"}),
    "cancer 42": (load_breast_cancer, BOOSTING, 42, None, {"noise"}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_the_text_is_true_of_real_lime(name):
    load, model, row, output, expected = CASES[name]
    real = Real(load, model, row, output)
    assert expected <= set(real.audit.codes), str(real.audit)
    for finding in real.audit.findings:
        VERIFIERS[finding.code](real, finding)
    if "noise" not in real.audit:  # and what it did not say would have been false
        tops = [np.argsort(-np.abs(run))[:3] for run in real.runs[0]]
        kinds = {
            tuple(sorted((j, np.sign(run[j])) for j in t))
            for t, run in zip(tops, real.runs[0], strict=True)
        }
        assert len(kinds) <= 3
