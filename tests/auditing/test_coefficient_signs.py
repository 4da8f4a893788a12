"""The signs of slopes and coefficients."""

import numpy as np
import pytest
from audited_rows import WORLD

import limetutor as lt
from limetutor.bandwidth.risk import critical_bandwidths


def test_three_signs_are_told_apart():
    """f = x1 + x2 + x3: below the mean, above it, and at a place where nu decides."""
    f, xi = lt.Linear([1.0, 1.0, 0.0]), [-0.6, 0.5, 1.0]
    for nu, opposed in ((3.0, True), (0.3, False)):
        at = lt.limit(f, xi, WORLD, nu)
        signs = lt.audit(at).signs
        assert signs.opposes[0] == opposed == (at.coef[0] < 0)
        assert not signs.opposes[2]  # the model does not use it
        assert signs.slope.tolist() == [1, 1, 0] and signs.contrast is at.coef
        assert ("oppose" in str(lt.audit(at))) == bool(signs.opposes.any())
        assert ("oppose" in lt.audit(at)._repr_html_()) == bool(signs.opposes.any())
        assert lt.audit(at).to_dict()["opposes_slope"] == signs.opposes.tolist()
    critical = critical_bandwidths(WORLD, [xi])[0]
    near = lt.audit(lt.limit(f, xi, WORLD, 1.1 * critical[0])).signs
    assert near.turns_at[0] == pytest.approx(critical[0], rel=1e-6) and np.isnan(near.turns_at[2])


def test_the_signs_of_a_model_that_is_not_linear_are_those_of_the_boxes():
    signs = lt.audit(lt.limit(lambda x: np.exp(x[:, 0]), [-0.6], WORLD, 3.0, samples=5000)).signs
    assert signs.opposes.tolist() == [True] and np.isnan(signs.slope[0])
    assert "shows as a negative coefficient" in str(signs)
