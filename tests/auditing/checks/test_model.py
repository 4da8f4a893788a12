"""A model that is constant, or that answers anew each time, is not explained."""

import numpy as np
from audited_rows import EXPLAINER, LINEAR, X

import limetutor as lt


def test_a_model_that_is_constant_or_answers_anew_is_noticed():
    """Nothing else is said of it; a deterministic twin is not accused."""
    rng = np.random.default_rng(0)
    flat, dust = lambda x: np.full(len(x), 2.0), lambda x: 0.2 + 1e-17 * x[:, 0]
    for f in (flat, dust, lambda x: LINEAR(x) + rng.normal(size=len(x))):
        code = "not-deterministic" if f not in (flat, dust) else "constant-model"
        for found in (lt.audit(EXPLAINER, f, X[0], data=X), lt.audit(EXPLAINER, f, X[:1]).rows[0]):
            codes = [finding.code for finding in found.findings]
            assert codes == [code] and found.findings[0].severity == "serious"
            assert {c.state for c in found.checked[2:]} == {"not checked"}
    assert "not-deterministic" not in lt.audit(EXPLAINER, lambda x: LINEAR(x), X[0], data=X)
