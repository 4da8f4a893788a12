"""The palette as CSS: one variable for each role, in both shades."""

from __future__ import annotations

import pytest

from limetutor.plotting.palette import PALETTE, as_variables


@pytest.mark.parametrize("shade", [0, 1])
def test_every_role_is_a_variable(shade):
    found = dict(pair.split(":") for pair in as_variables(shade).rstrip(";").split(";"))
    assert found == {f"--lt-{role}": shades[shade] for role, shades in PALETTE.items()}
