"""Progress bars: for several batches, and none where they are not wanted."""

import sys

from limetutor.precision.progress import batches_with_progress, progress_bar


def test_a_bar_for_several_batches_that_take_long(capsys, monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    with progress_bar(range(3), unit="batch", delay=0) as bar:
        assert list(bar) == [0, 1, 2]
    assert "0/3" in capsys.readouterr().err
    assert batches_with_progress(range(1)) == range(1)
    assert list(batches_with_progress(range(5))) == [0, 1, 2, 3, 4]
    assert capsys.readouterr().err == ""  # it was quick


def test_no_bar_where_it_is_not_wanted_or_tqdm_is_missing(monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    assert progress_bar(range(3)) is None and batches_with_progress(range(3)) == range(3)
    monkeypatch.delenv("TQDM_DISABLE")
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert progress_bar(range(3)) is None
