"""Remedies: tried again from outside, with another seed, each leaves no finding of its kind and no worse one."""

from types import SimpleNamespace

import numpy as np
import pytest
from drawn_audits import drawn
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import limetutor as lt
from limetutor.auditing.findings import LEVELS, Finding
from limetutor.auditing.trials import works
from limetutor.lime.other_boxes import declared

TABLES = {
    "diabetes": lambda: load_diabetes(scaled=False), "wine": load_wine, "iris": load_iris,
    "breast cancer": load_breast_cancer,
}  # fmt: skip
MODELS = (
    LinearRegression(), RandomForestRegressor(20, min_samples_leaf=3, random_state=0),
    GradientBoostingRegressor(random_state=0), KNeighborsRegressor(15),
)  # fmt: skip
OPTIONS = ({}, {"kernel_width": 0.6}, {"kernel_width": 0.35}, {"num_samples": 300})


def made(table, width=None, declared=(), discretizer="quartile"):
    return LimeTabularExplainer(
        table.data, mode="regression", feature_names=list(table.feature_names), random_state=1,
        kernel_width=width, categorical_features=list(declared), discretizer=discretizer,
    )  # fmt: skip


def with_remedy(table, model, xi, finding, options):
    """The audit again, as the finding advises it; None where `lime` cannot be told so."""
    advised, names = finding.numbers["advised"], list(table.feature_names)
    how = {key: options[key] for key in ("num_samples",) if key in options}
    width, kind = options.get("kernel_width"), "quartile"
    if "ridge" in advised:
        return None
    if "boxes" in advised:
        kind = {"quartiles": "quartile", "deciles": "decile"}[advised["boxes"]]
    how |= {key: advised[key] for key in ("num_samples", "num_features") if key in advised}
    declared = [names.index(name) for name in advised.get("categorical", ())]
    lime = made(table, advised.get("kernel_width", width), declared, kind)
    return lt.audit(lime, model.predict, xi, data=table.data, seed=9, **how)


def severities(audit):
    return {f.code: LEVELS.index(f.severity) for f in reversed(audit.findings)}


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore")
def test_remedies_that_are_offered_work(verified, verifying):
    left, offered = [], set()
    for name, load in TABLES.items():
        table = load()
        for model in MODELS:
            model.fit(table.data, table.target)
            for i in range(12 if verifying else 1):
                xi, options = (
                    table.data[7 * i + 3],
                    OPTIONS[i % 4] if verifying else OPTIONS[len(name) % 4],
                )
                lime = made(table, options.get("kernel_width"))
                how = {key: options[key] for key in ("num_samples",) if key in options}
                first = lt.audit(lime, model.predict, xi, data=table.data, **how)
                for finding in first.findings:
                    if not finding.numbers.get("advised"):
                        continue
                    again = with_remedy(table, model, xi, finding, options)
                    if again is None:
                        continue
                    offered.add(finding.code)
                    before, after = severities(first), severities(again)
                    worst = max(LEVELS.index(finding.severity), LEVELS.index("warning"))
                    worse = [c for c, s in after.items() if s >= worst and s > before.get(c, 0)]
                    left.append(finding.code in after or bool(worse))
    verified("remedies offered that leave their finding or bring a worse one", sum(left), 0)
    assert len(offered) >= (5 if verifying else 2)


@pytest.mark.parametrize("kind", ["quartile", "decile"])
def test_a_declaration_is_tried_in_the_explainer_that_lime_would_make(kind):
    """With the bins that collapse there: of two columns with two values each one is declared."""
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.integers(1, 3, (300, 2)), rng.normal(size=(300, 2))]).astype(float)
    table = SimpleNamespace(data=data, feature_names=list("abcd"))
    world = lt.from_lime(made(table, 0.7, discretizer=kind))
    right = lt.from_lime(made(table, 0.7, [1], kind))
    tried = declared(world, table.data, [1])
    for part in ("prob", "lo", "hi", "mean", "sd"):
        ours, theirs = (getattr(w.boxes().law, part) for w in (tried, right))
        np.testing.assert_array_equal(ours, theirs)
    assert tried.collapsed == right.collapsed and tried.nu == 0.7
    assert len(world.collapsed) > len(right.collapsed) > 0
    half = lt.from_lime(made(table, 0.7)), table.data[::2]  # not the data that lime had
    assert declared(*half, [1]) is None


def test_what_works():
    def of(**severity):
        return [Finding(code, word, (), {}, "a.", "b.") for code, word in severity.items()]

    (warning,), (note,) = of(a="warning"), of(a="note")
    for finding, before, after, right in (
        (warning, of(a="warning"), [], True),
        (warning, of(a="warning"), of(a="note"), False),  # it is still there
        (warning, of(a="warning"), of(b="note"), True),
        (warning, of(a="warning"), of(b="warning"), False),  # another one for it
        (warning, of(a="warning", b="warning"), of(b="warning"), True),
        (warning, of(a="warning", b="warning"), of(b="serious"), False),
        (note, of(a="note"), of(b="note"), True),
        (note, of(a="note"), of(b="warning"), False),
    ):
        assert works(finding, before, after) is right


@pytest.mark.filterwarnings("ignore")
def test_a_declaration_that_makes_it_worse_is_not_offered():
    """Declared, the column's coefficient would be among those that runs of 5,000 cannot tell apart."""
    case = drawn(275)
    audit = case.audit()
    found = audit["collapsed-bin"]
    assert "advised" not in found.numbers
    assert found.remedy == "Read birch as right to a factor of 3 only." and "noise" not in audit
    names = list(case.explainer.feature_names)
    lime = LimeTabularExplainer(
        case.X, mode=case.explainer.mode, feature_names=names, random_state=0,
        categorical_features=[*case.labels, *map(names.index, found.features)],
    )  # fmt: skip
    assert "noise" in case._replace(explainer=lime).audit()


def test_the_recommended_width_asks_the_audit():
    """Near a critical bandwidth the one in use is serious; another one is advised, and its audit is not."""
    f, xi = lt.Linear([10.0, -10.0]), [0.961, 0.432]
    audit = lt.audit(lt.limit(f, xi, lt.Gaussian(), 0.53))
    assert audit.severity == "serious"
    advice = audit.recommend()
    again = lt.audit(lt.limit(f, xi, lt.Gaussian(), advice.nu))
    assert again.severity in advice.reason and again.severity != "serious" and advice.nu != 0.53
    fine = lt.audit(lt.limit(lt.Linear([5.0, -3.0]), [1.1, -1.2], lt.Gaussian(), 1.5))
    assert fine.recommend().nu == pytest.approx(1.5)
