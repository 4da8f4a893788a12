"""The work that rows share: one call of the model, and what other processes get."""

import pickle
from collections import Counter
from dataclasses import replace

import joblib
import numpy as np
from audited_rows import EXPLAINER, LINEAR, X
from sklearn.ensemble import RandomForestRegressor

import limetutor as lt
from limetutor.auditing import audit_table, shared_work
from limetutor.core.sampler import Bins


def test_the_model_is_asked_once_for_all_rows():
    asked = []

    def f(x):
        asked.append(len(x))
        return x @ LINEAR.a

    few, many = [], []
    for rows, counts in ((X[:5], few), (X[:50], many)):
        asked.clear()
        lt.audit(EXPLAINER, f, rows)
        counts += asked
    assert max(few) == max(many) == 4999  # the samples, without the row's own copy
    assert Counter(many)[4999] == 1
    assert sum(many) < 4999 + 50 * 2500  # what single rows need: their boxes, their effects


def test_several_workers_find_the_same(monkeypatch):
    monkeypatch.setattr(audit_table, "ROWS_PER_PIECE", 16)
    model = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    one = lt.audit(EXPLAINER, model, X[:40], data=X)
    with joblib.parallel_config(backend="threading"):
        two = lt.audit(EXPLAINER, model, X[:40], data=X, n_jobs=2)
    assert one.frame.equals(two.frame)
    # and what is sent to another process is all that it needs there
    plan, shared = replace(one.plan, f=None), one.work[0].rows(slice(0, 16))
    there = pickle.loads(pickle.dumps((plan, shared, 0)))
    assert [row for _, row in audit_table._audited(*there)] == list(one.rows[:16])


def test_draws_of_a_pool_are_pickled_as_how_they_are_made():
    pool = shared_work.Pool(X[:3], np.zeros(X[:3].shape, int), LINEAR)
    again = pickle.loads(pickle.dumps(shared_work.Replay(pool)))
    assert type(again) is Bins and not hasattr(again, "pool")
