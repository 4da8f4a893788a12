"""Measured: how much of what is planted is found, how calm ordinary rows are, how long it takes."""

import time

import numpy as np
import planted
import pytest
from audited_rows import explainer, severity_of
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import limetutor as lt
from limetutor.auditing.findings import LEVELS


@pytest.mark.verify
@pytest.mark.timeout(3600)
def test_what_is_planted_is_found(verified, verifying):
    """Found means: more severe than on the clean table, which differs in nothing else."""
    seeds = range(1000, 1060) if verifying else range(2000, 2002)
    every, alarmed = [], []
    for name, kind in planted.KINDS.items():
        found = []
        for seed in seeds:
            twins = kind(np.random.default_rng(seed))
            bad, good = twins.planted(), twins.clean()
            levels = [
                [LEVELS.index(word) for word in severity_of(t, twins.code)] for t in (bad, good)
            ]
            found += [a > b for a, b in zip(*levels, strict=True)]
            alarmed += [word == "serious" for word in good.frame.severity]
        every += found
        if verifying:
            verified(f"planted and found: {name}", f"{np.mean(found):.1%}", "")
    kinds = len(planted.KINDS)
    verified(
        f"planted in tables of {kinds} kinds and found, share of rows", np.mean(every), (0.95, 1)
    )
    verified("rows of their clean twins called serious, share", np.mean(alarmed), 0.02)
    assert kinds >= 12


@pytest.mark.verify
def test_a_table_takes_seconds(verified, verifying):
    """Processor time of one core, so that other work on the machine does not count."""
    data = load_diabetes(scaled=False)
    model = RandomForestRegressor(100, random_state=0).fit(data.data, data.target)
    ex = explainer(data.data, categorical_features=[1])
    many = 1000 if verifying else 40
    rows = np.resize(data.data, (many, 10))
    start = time.process_time()
    lt.audit(ex, model, rows, data=data.data)
    seconds = (time.process_time() - start) * 1000 / many
    verified("1000 rows of a forest of 100 trees audited on one core, s", seconds, 60)


@pytest.mark.verify
def test_two_hundred_features_take_seconds(verified, verifying):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((1000 if verifying else 300, 200))
    model = RandomForestRegressor(100 if verifying else 10, random_state=0)
    model.fit(data, 3 * data[:, 0] + 2 * data[:, 1])
    ex = explainer(data)
    start = time.process_time()
    found = lt.audit(ex, model, data[0], data=data)
    str(found)
    verified("200 features of a forest audited, s", time.process_time() - start, 5)
    assert found.plot().get_figheight() < 8
    assert stats.norm.sf(found.case.half_width[5] / found.case.stderr[5]) < 0.05 / 200 / 1.9
