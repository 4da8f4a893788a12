"""Checks of noise, order, sets on display and the fit as a whole."""

from types import SimpleNamespace

import numpy as np
import pytest
from audited_rows import EXPLAINER, LINEAR, WORLD, X, assert_states, explainer, severity_in, wide

import limetutor as lt
from limetutor.auditing.checks import noise as noise_checks


@pytest.mark.filterwarnings("ignore::limetutor.FitWarning")
def test_far_too_few_samples():
    f, xi, world, nu = lt.Linear([10.0, -10.0, 3.0, 0.0]), [0.961, 0.6, 0.3, -1.0], WORLD, 1.0
    ex = lt.explain(f, xi, world, nu, n=60, seed=0)
    found = lt.audit(ex)
    assert {"noise", "few-samples"} <= set(found.codes) and not found.ok

    noise = found["noise"]
    assert noise.severity == "serious" and noise.numbers["advised"] == {}  # 960 would not settle it
    percent = [noise.numbers["together"], *noise.numbers["each"], *noise.numbers["same"]]
    assert " 60 samples do not settle which feature is the largest" in noise.sentence
    limit = lt.limit(f, xi, world, nu).coef
    drawn = np.random.default_rng(1).multivariate_normal(limit, ex.covariance[1:, 1:], 4000)
    first = np.argmax(np.abs(drawn), axis=1) == np.argmax(np.abs(limit))
    assert noise.numbers["same"][0] == pytest.approx(first.mean(), abs=0.03)
    many = lt.audit(lt.explain(f, xi, world, nu, n=90_000, seed=0))
    (seen,) = (one.reason for one in many.checked if one.name == "noise")
    assert "90,000 samples settle which 3 features are the largest (the same in" in seen
    assert seen in many.to_html()
    assert_states(noise, ex.names, 60, *percent)

    few = found["few-samples"]
    x = np.random.default_rng(0).standard_normal((400_000, 4))
    pi = np.exp(-((x - xi) ** 2).sum(1) / (2 * nu**2))
    expected = 60 * pi.mean() ** 2 / (pi**2).mean()
    assert_states(few, ex.names, 60, (ex.ess, 0.03), (expected, 0.04), 5)
    enough = lt.explain(f, xi, world, nu, n=few.numbers["n_needed"], seed=2)
    assert enough.ess == pytest.approx(few.numbers["least"], rel=0.2)


def test_an_order_that_is_not_settled():
    f, xi = lt.Linear([5.0, -4.99, 1.0]), [1.1, -1.1, 1.0]
    runs = [lt.explain(f, xi, WORLD, 1.5, n=2000, seed=s) for s in range(100)]
    ahead = np.array([abs(ex.coef[0]) - abs(ex.coef[1]) for ex in runs])
    audits = [lt.audit(ex) for ex in runs]
    assert np.mean(["order" in found for found in audits]) > 0.85  # two standard errors: 95%
    assert 0.2 < np.mean(ahead > 0) < 0.8  # another run, another order
    i = next(i for i, found in enumerate(audits) if "order" in found)
    finding, V = audits[i]["order"], runs[i].covariance[1:, 1:]
    assert set(finding.features) == {"x1", "x2"}
    assert np.all(runs[i].coef[:2] > 0)
    stderr = np.sqrt(V[0, 0] + V[1, 1] - 2 * V[0, 1])
    assert_states(finding, runs[i].names, abs(ahead[i]), stderr)
    assert stderr == pytest.approx(ahead.std(), rel=0.3)


@pytest.mark.parametrize(("count", "found"), [(39, True), (40, False)])
@pytest.mark.filterwarnings("ignore::limetutor.FitWarning")
def test_twenty_effective_samples_a_coefficient(count, found):
    kernel = lambda x, z, xi, nu: (np.arange(len(x)) < count).astype(float)  # noqa: E731
    ex = lt.explain(lt.Linear([1.0]), [0.1], lt.Gaussian(p=2), 1.0, 500, 0, kernel)
    assert ex.ess == pytest.approx(count)
    assert ("few-samples" in lt.audit(ex)) is found


def test_features_that_could_all_be_zero_have_no_order_to_settle():
    ex = lt.explain(lt.Linear([10.0, 0, 0, 0, 0]), [1.5] * 5, lt.Gaussian(), 1.5, 4000, seed=1)
    assert "order" not in lt.audit(ex)


def test_an_additive_model_is_never_said_not_to_be_one():
    """At a row whose boxes are average ones R2 is small; that is no fault of the surrogate."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 9, 600)
    table = np.column_stack([codes, rng.normal(size=(600, 2))]).astype(float)
    effect = np.linspace(-4, 4, 9)
    ex = explainer(table, categorical_features=[0])
    additive = lambda x: effect[x[:, 0].astype(int)] + 0.3 * x[:, 1]  # noqa: E731
    product = lambda x: effect[x[:, 0].astype(int)] * np.sign(x[:, 1])  # noqa: E731
    middle = table[codes == 4][:5]
    for f in (additive, product):
        for row in lt.audit(ex, f, middle).rows:
            (ended,) = [one for one in row.checked if one.name == "no-fit"]
            assert ("average ones" in ended.reason) == (f is additive)
            found = [one for one in row.findings if one.code == "no-fit"]
            assert ended.state == ("passed" if f is additive else "found")
            assert [one.severity for one in found] == ["serious"] * (f is product)
            assert all(one.numbers["additive"] < 0.05 for one in found)


@pytest.mark.parametrize(
    ("strength", "severity"), [(0.0, "serious"), (0.2, "serious"), (0.3, "warning"), (0.5, "ok")]
)
def test_a_surrogate_that_explains_nothing(strength, severity):
    """Two signs multiplied, and one of them added: R^2 is strength^2 / (3 (1 + strength^2)).

    xi is in the third of four boxes: z = 1 there, and the sign is + in half the rest.
    """
    f = lambda x: np.sign(x[:, 0] * x[:, 1]) + strength * np.sign(x[:, 0])  # noqa: E731
    ex = lt.explain(f, [0.3, 0.3, 1.0, 1.0], lt.Gaussian(), 1e3, 60_000, seed=0)
    assert ex.score == pytest.approx(strength**2 / (3 * (1 + strength**2)), abs=0.03)
    assert severity_in(lt.audit(ex), "no-fit") == severity


def test_without_a_fit_no_boxes_are_recommended():
    found = lt.audit(EXPLAINER, lambda x: np.sign(x[:, 0] * x[:, 1]) * 5, X[2])
    assert "no-fit" in found and "narrower boxes" not in str(found)


@pytest.mark.parametrize(("d", "found"), [(19, False), (20, True), (100, True)])
def test_many_features_are_said_to_be_many(d, found):
    audit = lt.audit(wide(d))
    assert ("many-features" in audit) is found
    if found:
        finding, case = audit["many-features"], audit.case
        assert finding.numbers["expected_misses"] == pytest.approx(0.05 * d)
        shown = case.ranking[:10]
        named = shown[np.abs(case.coef[shown]) < case.half_width[shown]]
        assert set(finding.features) == {case.names[j] for j in named} and len(named) == 8
        assert_states(finding, case.names, 8, 10, d, 0.05 * d, 0, len(named) - 3)


def test_an_order_that_is_not_settled_hollows_no_bar():
    f, xi = lt.Linear([5.0, -4.99, 1.0]), [1.1, -1.1, 1.0]
    audit = lt.audit(lt.explain(f, xi, WORLD, 1.5, 2000, seed=1))
    assert audit["order"].severity == "note" == audit.severity
    assert all(bar.get_facecolor()[3] == 1 for bar in audit.plot().axes[0].patches)


@pytest.mark.parametrize("kind", ["form", "function"])
@pytest.mark.parametrize("k", [4, 8])
def test_the_chance_of_the_same_set_is_that_of_runs(kind, k):
    """Ten features, of which those around the k-th are nearly alike: runs against the audit."""
    a = np.linspace(2.0, 1.6, 10) * np.where(np.arange(10) % 2, -1, 1)
    xi, linear = np.where(np.arange(10) % 2, -1.2, 1.2), lt.Linear(a)
    f = linear if kind == "form" else (lambda x: linear(x))
    how = {"world": lt.Gaussian(), "nu": 2.5, "n": 1500, "kernel": "mismatch"}
    runs = [lt.explain(f, xi, seed=s, features=k, **how) for s in range(60)]
    sets = [frozenset(np.flatnonzero(run.used)) for run in runs]
    same = np.mean([a == b for i, a in enumerate(sets) for b in sets[:i]])
    kept = np.mean([len(a & b) / k for i, a in enumerate(sets) for b in sets[:i]])
    first = [lt.audit(lt.explain(f, xi, seed=s, **how), num_features=k) for s in range(30)]
    numbers = [found["unstable-set"].numbers for found in first if "unstable-set" in found]
    assert len(numbers) >= 28
    assert np.mean([n["same"] for n in numbers]) == pytest.approx(same, abs=0.12)
    assert np.mean([n["kept"] for n in numbers]) == pytest.approx(kept, abs=0.08)


def test_a_set_of_all_features_is_stable():
    ex = lt.explain(LINEAR, X[0], lt.Gaussian(), 2.0, 2000, seed=0)
    for k in (4, 10):
        assert "unstable-set" not in lt.audit(ex, num_features=k)
    apart = lt.explain(lt.Linear([9.0, 3.0, 1.0, 0.3]), [1.2] * 4, lt.Gaussian(), 2.0, 5000, seed=0)
    assert "unstable-set" not in lt.audit(apart, num_features=2)


@pytest.mark.parametrize(
    ("ess", "severity"), [(14.9, "serious"), (15.1, "warning"), (59.9, "warning")]
)
def test_samples_are_too_few_below_twenty_a_coefficient_and_far_too_few_below_five(ess, severity):
    case = stub_case(coef=np.ones(2), n=100)
    assert noise_checks.min_ess(case) == 60
    assert noise_checks.too_few(case, ess).severity == severity


def stub_case(**facts):
    """What these findings need of a case."""
    terms = lt.audit(lt.limit(lt.Linear([1.0]), [0.3], WORLD, 1.0)).case.terms
    return SimpleNamespace(terms=terms, n_name="n", is_lime=True, sampled=None, **facts)
