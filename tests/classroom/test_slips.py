"""A class of typical slips: each costs its own points and nothing else, as `slips.txt` has it beforehand."""

import pytest
from slips import judged, slips

from limetutor.classroom.assignments import assignments
from limetutor.classroom.sandbox import why_unavailable

pytestmark = pytest.mark.skipif(bool(why_unavailable()), reason="there is no sandbox")


@pytest.mark.sampled(12)
@pytest.mark.parametrize("slip", slips(), ids=lambda slip: f"{slip.assignment}-{slip.name}")
def test_each_slip_costs_its_own_points(slip, tmp_path):
    found = judged(slip, tmp_path / "ada")
    right = {q.name: q.points for q in assignments()[slip.assignment].judged}
    lost = {name: 0 for name in right if name.partition("/")[2] in slip.lost}
    assert {name: found.marks[name].points for name in right} == right | lost
    assert len(lost) == len(slip.lost) and found.status == slip.status
