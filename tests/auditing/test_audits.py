"""`audit`: what it takes, what it refuses, and that it is quiet on what is healthy."""

from pathlib import Path

import numpy as np
import pytest
from audited_rows import EXPLAINER, HEALTHY, LINEAR, X, explainer
from cases import cases
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import limetutor as lt


def test_methods_of_models_are_read_like_the_models():
    data = load_diabetes()
    lime = explainer(data.data)
    model = LinearRegression().fit(data.data, data.target)
    one, two = (lt.audit(lime, f, data.data[0]) for f in (model, model.predict))
    assert one.to_dict() == two.to_dict()
    wine = load_wine()
    lime = LimeTabularExplainer(wine.data, random_state=0)
    forest = RandomForestClassifier(5, random_state=0).fit(wine.data, wine.target)
    audits = [lt.audit(lime, f, wine.data[0]) for f in (forest, forest.predict_proba)]
    assert audits[0].to_dict() == audits[1].to_dict()
    assert all(found.case.form is not None for found in audits)


def test_quiet_on_a_healthy_case():
    f, xi, world, nu = HEALTHY
    X = np.random.default_rng(0).standard_normal((2000, 4))
    subjects = [lt.limit(f, xi, world, nu)]
    subjects += [lt.explain(f, xi, world, nu, n=5000, seed=seed) for seed in range(5)]
    subjects.append(lt.explain(f, xi, lt.Empirical(X), nu, n=50_000, seed=0))
    subjects.append(lt.explain(lambda x: f(x), xi, world, nu, n=50_000, seed=0))
    for subject in subjects:
        found = lt.audit(subject, data=X)
        assert found.findings == () and found.ok, str(found)
        assert found.verdict == "Show it." and str(found).startswith("Show it.")
        unknown = lt.audit(subject)
        if subject.world.d is None:  # without data nobody says that nothing was found
            assert unknown.verdict.startswith("Cannot be judged without the training data")
            assert not unknown.ok and "not checked: off-data" in str(unknown)


def test_kernels_without_a_theory_are_audited_as_far_as_they_go():
    f, xi, world, _ = HEALTHY
    found = lt.audit(lt.explain(f, xi, world, 0.4, n=50_000, seed=0, kernel="cosine"))
    assert set(found.codes) <= {"noise", "order", "few-samples", "local-error", "no-fit"}
    own = lt.audit(
        lt.explain(f, xi, world, 1.0, n=60, seed=0, kernel=lambda x, z, xi, nu: np.ones(len(x)))
    )
    assert "noise" in own


def test_worlds_are_audited_like_explainers():
    world = lt.from_lime(EXPLAINER)
    one, two = lt.audit(EXPLAINER, LINEAR, X[:3]), lt.audit(world, LINEAR, X[:3])
    assert one.frame.drop(columns="words").equals(two.frame.drop(columns="words"))
    plain = lt.audit(lt.Empirical(X), LINEAR, X[:3], nu=1.0)
    ex = lt.explain(LINEAR, X[1], lt.Empirical(X), 1.0, 5000, seed=0)
    assert plain[1].case.coef == pytest.approx(ex.coef)
    other = lt.audit(lt.Gaussian(), LINEAR, X[:2], nu=1.0, kernel="laplace", ridge=2.0)
    assert other[0].case.ridge == 2
    assert np.all(plain.frame.off_data < 0.25) and two.frame.off_data.isna().all()


@pytest.mark.parametrize("classes", [[1, 2, 3], [0, 1, 2], ["a", "b", "c"]], ids=str)
def test_the_label_is_the_column_that_lime_explains(classes):
    """Held to lime itself: the mean of its runs for the default label, and for another."""
    wine = load_wine()
    y = np.array(classes)[wine.target]
    model = RandomForestClassifier(10, random_state=0).fit(wine.data, y)
    ex = LimeTabularExplainer(wine.data, feature_selection="none", random_state=0)
    for label in (None, 2) if classes[0] == 1 else (2,):
        how = {} if label is None else {"labels": (label,)}
        column = 1 if label is None else label
        runs = [
            dict(ex.explain_instance(wine.data[0], model.predict_proba, **how).local_exp[column])
            for _ in range(5)
        ]
        coef = np.array([[run[j] for j in range(13)] for run in runs])
        for f in (model, model.predict_proba, lambda x: model.predict_proba(x)):
            case = lt.audit(ex, f, wine.data[0], label=label).case
            noise = np.hypot(coef.std(0, ddof=1) / np.sqrt(5), case.stderr)
            assert np.all(np.abs(case.coef - coef.mean(0)) < 6 * noise)  # of five runs: t, not z
    assert lt.audit(ex, model, wine.data[0], output=classes[2]).case.coef == pytest.approx(
        case.coef
    )


def test_a_risk_of_nothing_is_no_clean_bill():
    shares = lt.risk(X, lt.Empirical(X), [1.0], "mismatch")
    assert shares.at_risk[0] == 0 and "lt.audit looks at those" in str(shares)
    assert "lt.audit" not in str(lt.risk(X, lt.Empirical(X), [1.0]))


def lime_explanation():
    return EXPLAINER.explain_instance(X[0], LINEAR, num_samples=50)


@pytest.mark.parametrize(
    ("call", "words"),
    cases(Path(__file__).parent / "support" / "refused.txt", globals()),
)
def test_refusals(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()


def test_a_label_that_there_is_not():
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    ex = LimeTabularExplainer(X, class_names=np.array(["no", "yes"]), random_state=0)
    named, default = (lt.audit(ex, model, X[0], label=label) for label in ("yes", None))
    assert named.case.coef == pytest.approx(default.case.coef)
    assert lt.audit(ex, model, X[0], label="no").case.coef == pytest.approx(-default.case.coef)
    columns = "label must be a column from 0 to 1 or one of the classes"
    for lime, f, label, words in (
        (ex, model, "maybe", "label must be"),
        (EXPLAINER, LINEAR, 0, "label must be"),
        (ex, model, 2, columns),
    ):
        with pytest.raises(ValueError, match=words):
            lt.audit(lime, f, X[0], label=label)
