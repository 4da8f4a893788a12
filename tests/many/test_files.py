"""Files that are whole or not there."""

import os

import pytest

from limetutor.many.files import write_atomically


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
