"""Files that are whole or not there."""

import csv
import io
import os
import stat

import pytest

from limetutor.plotting.files import place, without_formulas, write_atomically


def test_a_file_is_replaced_as_a_whole_or_left_as_it_was(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]
    write_atomically(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == ["file"]


def fail(file):
    file.write(b"half")
    raise OSError("disk full")


def test_others_may_read_it_as_any_file_of_this_user(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "file", b"")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_an_older_file_keeps_its_permissions_and_a_link_stays_one(tmp_path):
    path, link = tmp_path / "private", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o600)
    link.symlink_to(path)
    write_atomically(link, b"new")
    assert link.is_symlink() and path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_error_names_the_path_that_was_asked_for(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "file", tmp_path / ("x" * 300)):
        with pytest.raises(OSError, match="Errno") as caught:
            write_atomically(path, b"")
        assert caught.value.filename == str(path) and caught.value.strerror
    assert os.listdir(tmp_path) == []


def test_names_may_be_as_long_as_the_file_system_takes(tmp_path):
    write_atomically(tmp_path / ("x" * 255), b"")
    assert os.listdir(tmp_path) == ["x" * 255]


def test_a_device_is_written_to():
    write_atomically(place("path", "/dev/null"), b"gone")
    assert not os.path.isfile("/dev/null")


def test_places(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place("path", "~/x") == tmp_path / "x" and place("path", tmp_path) == tmp_path
    for odd in ("a\0b", "x" * 300, "a/" * 3000, "\ud800", "~nobody-of-that-name/x"):
        with pytest.raises(ValueError, match=r"^path must be a path, but .{1,200}[.]$"):
            place("path", odd)
    with pytest.raises(TypeError, match="path must be a path, got 3"):
        place("path", 3)


SAFE = ["a = b", "x-y", "a, -b", "1;2", "two\nlines", "x\r", "'=1", "a;'=1", "", "4; ok"]
FORMULAS = ["=1", "+1", "-x", "@a", "\t1", "\r1", "＝1", " =1", '"=1"', ";=1", "a;b;+1", "a\t@b", "a|-b",
            "a\n=b", "a\r=b", "a; =1", "=1;=2", 'a;"=1', "\x0b=1", "\x0c=1", "\u3000=1", "\u200b=1", "a;\ufeff=1"]  # fmt: skip


@pytest.mark.parametrize("text", [*SAFE, *FORMULAS])
def test_no_spreadsheet_finds_a_formula(text):
    """Whether it splits lines at commas, as they are written, or at another separator, quotes or not."""
    assert without_formulas(text).replace("'", "") == text.replace("'", "")
    assert (without_formulas(text) == text) is (text in SAFE)
    line = io.StringIO(newline="")
    csv.writer(line).writerow(["x", without_formulas(text), "y"])
    for separator in ",;\t|":
        for row in csv.reader(io.StringIO(line.getvalue(), newline=""), delimiter=separator):
            assert not any(cell.lstrip().startswith(tuple("=+-@＝")) for cell in row)
