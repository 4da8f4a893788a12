"""Remedies: tried again from outside, with another seed, each leaves no finding of its kind and no worse one."""

import numpy as np
import pytest
from audited_rows import X, explainer
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import limetutor as lt
from limetutor.auditing.findings import LEVELS, Finding
from limetutor.auditing.trials import works

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
    verified("remedies offered that leave their finding or bring a worse one", np.mean(left), 0.03)
    assert len(offered) >= (5 if verifying else 2)


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


def test_a_declaration_that_makes_it_worse_is_not_offered():
    """A column of 60 values, most of which occur a few times: declared, the row's value is hardly ever drawn."""
    rng = np.random.default_rng(0)
    data = np.column_stack([np.maximum(rng.normal(size=400), 0), X[:, 1:]])
    f = lt.Linear([4.0, 1.0, 0.5, 0.2])
    found = lt.audit(explainer(data), f, data[data[:, 0] == 0][0], data=data)["collapsed-bin"]
    assert found.severity != "note" and "advised" not in found.numbers
    assert found.remedy.startswith("Do not read") and "Declare" not in found.remedy
