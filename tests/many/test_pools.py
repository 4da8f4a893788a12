"""Calls on other processes, and here where joblib is missing."""

import sys

import pytest

from limetutor.many.pools import unordered


@pytest.mark.parametrize("missing", [False, True])
def test_calls_without_other_processes_need_no_joblib(monkeypatch, missing):
    if missing:
        monkeypatch.setitem(sys.modules, "joblib", None)
    assert sorted(unordered(pow, [(2, 3), (3, 2)], None)) == [8, 9]
    assert list(unordered(pow, [], 1)) == []
    if missing:
        with pytest.raises(ImportError, match="n_jobs needs joblib"):
            list(unordered(pow, [(2, 3)], 2))
