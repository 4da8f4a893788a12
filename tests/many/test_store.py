"""A folder of finished rows: whole files or none, read back to the last digit, refused if foreign."""

import json
import os
import re

import numpy as np
import pytest

from limetutor.many.store import CALL, FORMAT, SETTINGS_BEFORE, VALUES, Store

SETTINGS_OF = {"n": "100", "seed": "1"}
TABLE = np.arange(6.0).reshape(3, 2)


def evidence_of(table=TABLE):
    return lambda first: {"X": table[:first]}


def test_a_row_comes_back_as_it_was(tmp_path):
    store = Store.opened(tmp_path / "new" / "folder", SETTINGS_OF, evidence_of())
    row = {
        "coef": np.array([0.1, np.pi, -np.inf]),
        "used": np.array([True, False, True]),
        "score": 1 / 3,
        "ess": np.float64(0.1),
        "local": float("inf"),
        "warnings": ("one", "two ⚠"),
        "n": 7,
        "nothing": None,
    }
    store.write(12, row)
    again = Store.opened(tmp_path / "new" / "folder", SETTINGS_OF, evidence_of()).rows(20)
    assert list(again) == [12] and set(again[12]) == set(row)
    for key, value in row.items():
        found = again[12][key]
        np.testing.assert_array_equal(found, value)
        assert type(found) is (float if key == "ess" else type(value))


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    store = Store.opened(tmp_path, SETTINGS_OF, evidence_of())

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError(28, "disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(ValueError, match=r"store must be .* written to, but '.*: disk full\.$"):
        store.write(0, {"coef": np.zeros(2)})
    assert [path.name for path in tmp_path.iterdir()] == [CALL]


def test_a_folder_begun_and_not_finished_is_begun_again(tmp_path):
    (tmp_path / f".{CALL}.left.part").write_text("")
    Store.opened(tmp_path, {"n": "5"}, evidence_of())
    with np.load(tmp_path / CALL) as file:
        assert json.loads(str(file[VALUES])) == {"format": FORMAT, "n": "5"}


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="store must be a folder, got the file"):
        Store.opened(tmp_path / "file", SETTINGS_OF, evidence_of())
    with pytest.raises(ValueError, match="store must be a folder that can be written to"):
        Store.opened(tmp_path / "file" / "within", SETTINGS_OF, evidence_of())
    with pytest.raises(ValueError, match="store must be an empty folder or a store"):
        Store.opened(tmp_path, SETTINGS_OF, evidence_of())
    with pytest.raises(TypeError, match="store must be a path, got 3"):
        Store.opened(3, SETTINGS_OF, evidence_of())


def test_odd_folders_and_files(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    Store.opened("~/store", SETTINGS_OF, evidence_of())
    assert (tmp_path / "store").is_dir()
    monkeypatch.chdir(tmp_path / "store")
    with pytest.raises(ValueError, match=r"but 'a/.*: too many folders within each other[.]$"):
        Store.opened("a/" * 2000, SETTINGS_OF, evidence_of())
    old = tmp_path / "old"
    old.mkdir()
    (old / "settings.json").write_text("[" * 100_000)
    with pytest.raises(
        ValueError, match="written by another version of limetutor in format 1 or 2"
    ):
        Store.opened(old, SETTINGS_OF, evidence_of())
    np.savez(tmp_path / "store" / "call.npz", __plain__=np.array("[" * 100_000))
    with pytest.raises(ValueError, match=r"call.npz cannot be read"):
        Store.opened(tmp_path / "store", SETTINGS_OF, evidence_of())


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("elsewhere")])
@pytest.mark.parametrize("name", [CALL, "row-000000000.npz"])
def test_links_and_pipes_are_refused(tmp_path, name, make):
    Store.opened(tmp_path, SETTINGS_OF, evidence_of())
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    with pytest.raises(ValueError, match=f"^store must be .* {name} is no regular file"):
        Store.opened(tmp_path, SETTINGS_OF, evidence_of()).rows(1)


def test_no_more_is_read_than_was_ever_written(tmp_path):
    np.savez_compressed(tmp_path / CALL, X=np.zeros(2**22))
    with pytest.raises(ValueError, match=f"{CALL} holds more than that of this call"):
        Store.opened(tmp_path, SETTINGS_OF, evidence_of())


def test_another_question_is_refused_and_rounding_is_not(tmp_path):
    Store.opened(tmp_path, SETTINGS_OF, evidence_of())
    Store.opened(tmp_path, SETTINGS_OF, evidence_of(TABLE * (1 + 1e-15)))
    # with other evidence too, which other settings often mean: the cause is named
    for table in (TABLE, TABLE + 1):
        with pytest.raises(ValueError, match="n is 100 there and 50 here"):
            Store.opened(tmp_path, SETTINGS_OF | {"n": "50"}, evidence_of(table))
    with pytest.raises(ValueError, match="more is None there and 1 here"):
        Store.opened(tmp_path, SETTINGS_OF | {"more": "1"}, evidence_of())
    for other in (TABLE + 1e-3, TABLE[:2]):
        with pytest.raises(ValueError, match="X is not the same"):
            Store.opened(tmp_path, SETTINGS_OF, evidence_of(other))


@pytest.mark.parametrize("number", [None, 1, 2])
def test_a_store_of_an_older_version_is_refused_and_left_as_it_was(tmp_path, number):
    """It had the settings in a file of JSON, at first without a format number."""
    text = json.dumps(({} if number is None else {"format": number}) | SETTINGS_OF, indent=1)
    (tmp_path / SETTINGS_BEFORE).write_text(text)
    np.savez(tmp_path / "evidence.npz", **evidence_of()(None))
    plain = np.array(json.dumps({"score": 0.5, "n": 7}))
    np.savez(tmp_path / "row-000000000.npz", coef=np.zeros(2), __plain__=plain)
    assert f"in format {number or 1};" in refused_format(tmp_path)
    assert (tmp_path / SETTINGS_BEFORE).read_text() == text and len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("number", [None, 2, FORMAT + 1, str(FORMAT), "x" * 10**5])
def test_a_store_of_another_format_is_refused(tmp_path, number):
    values = ({} if number is None else {"format": number}) | SETTINGS_OF
    np.savez(tmp_path / CALL, **evidence_of()(None), **{VALUES: np.array(json.dumps(values))})
    assert f"in format {str(number)[:56]}" in refused_format(tmp_path)


def refused_format(folder):
    words = rf"store must be .* {re.escape(repr(str(folder)))} was written by another version"
    with pytest.raises(
        ValueError, match=f"{words}.*; give another folder, or delete this one"
    ) as e:
        Store.opened(folder, SETTINGS_OF, evidence_of())
    assert "\n" not in str(e.value) and len(str(e.value)) < 400
    return str(e.value)


def test_rows_are_added_and_belong_to_what_they_were_computed_for(tmp_path):
    rows = np.arange(12.0).reshape(6, 2)
    Store.opened(tmp_path, SETTINGS_OF, evidence_of()).write(1, {"n": 1})
    grown = Store.opened(tmp_path, SETTINGS_OF, evidence_of(rows[:5]))
    grown.write(4, {"n": 4})
    for table, found in ((rows, {1, 4}), (rows[:4], {1}), (TABLE, {1})):
        again = Store.opened(tmp_path, SETTINGS_OF, evidence_of(table))
        assert set(again.rows(len(table))) == found
    other = np.vstack([rows[:4], [[0.0, 0.0]]])  # another row 4
    assert set(Store.opened(tmp_path, SETTINGS_OF, evidence_of(other)).rows(5)) == {1}
    with pytest.raises(ValueError, match="X is not the same"):
        Store.opened(tmp_path, SETTINGS_OF, evidence_of(rows[1:]))
