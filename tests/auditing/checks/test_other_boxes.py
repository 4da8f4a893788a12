"""Other boxes: patient 13 of diabetes, whose second reason turns, by real lime and by the audit."""

import numpy as np
import pytest
from audited_rows import EXPLAINER, LINEAR, X
from lime.lime_tabular import LimeTabularExplainer

import limetutor as lt
from limetutor.course.experiments import patient_13
from limetutor.plotting import audits as pictures


@pytest.mark.parametrize("exact", [True, False])
def test_a_sign_that_turns_with_deciles(exact):
    model, xi, table = patient_13()
    names, data = list(table.columns), table.to_numpy()
    quartile, decile = (
        LimeTabularExplainer(
            data, mode="regression", feature_names=names, discretizer=kind, random_state=0
        )
        for kind in ("quartile", "decile")
    )
    f = model if exact else lambda x: model.predict(x)
    audit = lt.audit(quartile, f, xi, data=data)
    finding = audit["other-boxes"]
    (ax,) = pictures.other_boxes(finding).axes  # diamonds, and dots for other boxes
    assert [label.get_text() for label in ax.get_yticklabels()] == finding.numbers["reasons"][::-1]
    assert audit.to_html().count("<svg") == 2 and audit.verdict == "Show it with this remark."
    assert finding.features == ("bmi",) and finding.severity == "warning"
    assert "s5" in finding.sentence and "keep the sign" in finding.sentence
    numbers, at = finding.numbers, finding.numbers["boxes"].index("deciles")
    for explainer, stated in ((quartile, numbers["coef"]), (decile, numbers["other_coef"][at])):
        runs = [explainer.explain_instance(xi, model.predict, num_features=10) for _ in range(6)]
        coef = np.array(
            [[dict(run.local_exp[1])[names.index(n)] for n in numbers["reasons"]] for run in runs]
        )
        away = np.abs(coef.mean(0) - stated) / (coef.std(0, ddof=1) / 6**0.5)
        assert np.all(away < 6) if exact else np.all(np.sign(coef.mean(0)) == np.sign(stated))


def test_what_stays_is_said_and_what_cannot_be_cut_too():
    how, row = {"nu": 2.0, "kernel": "mismatch"}, np.full(4, 2.0)
    audits = [lt.audit(EXPLAINER, LINEAR, row, data=data) for data in (X, None)]
    audits.append(lt.audit(lt.Empirical(X), LINEAR, row, **how))
    ended = [next(c for c in a.checked if c.name == "other-boxes") for a in audits]
    assert [c.state for c in ended] == ["passed", "not checked", "passed"]
    assert "deciles" in ended[0].reason and ended[1].needs and "deciles" in ended[2].reason
