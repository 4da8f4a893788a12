"""A case: intervals that hold together, and bandwidths at which signs turn."""

import numpy as np
from audited_rows import small_width, wide

import limetutor as lt
from limetutor.core.theory import limit_of


def test_intervals_hold_together():
    """Over runs: in how many pictures of 60 bars is one solid that should be 0?"""
    solid, alone = 0, 0
    for seed in range(40):
        case = lt.audit(wide(60, seed, 2500)).case
        solid += bool(np.any(np.abs(case.coef[2:]) > case.half_width[2:]))
        alone += bool(
            np.any(np.abs(case.coef[2:]) > np.ptp(case.sampled.interval(0.95), axis=1)[2:] / 2)
        )
    # 5% expected and at most, 6 of 40 has a chance of 1%; one by one nearly all have one
    assert solid <= 6 and alone >= 25


def test_with_its_own_row_even_a_linear_model_turns():
    audit = lt.audit(*small_width(0.5))
    case = audit.case
    problems = [case.problem.at(nu) for nu in np.linspace(0.4, 0.625, 40)]
    curve = [limit_of(problem, case.ridge, case.n).coef for problem in problems]
    turns = np.flatnonzero(np.any(np.diff(np.sign(curve), axis=0) != 0, axis=0))
    assert turns.size and case.problem.world.own_row
    at = audit.signs.turns_at
    assert set(np.flatnonzero(np.isfinite(at))) <= set(turns)
