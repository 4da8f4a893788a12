"""Tables as platforms and spreadsheets write and read them."""

import csv
import io

import pytest

from limetutor.classroom.sheets import csv_line, read_table

ROWS = [["id", "Name"], ["7", "Zoë, the 2nd"], ["8", ""]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_is_read_as_it_was_written(tmp_path, encoding, delimiter):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([ROWS[0], ROWS[1], ["8"]])  # a line cut short
    (tmp_path / "table.csv").write_bytes(text.getvalue().encode(encoding))
    assert read_table(tmp_path / "table.csv", "--roster") == (ROWS[0], ROWS[1:])


@pytest.mark.parametrize("content", [None, b"id,name\n" + b'"' + b"a" * 200_000])
def test_what_is_no_table_is_refused_by_name(tmp_path, content):
    if content:
        (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"^--roster must be a table \(CSV\), but '.*table.csv'"):
        read_table(tmp_path / "table.csv", "--roster")


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1+1", "@a", "\t=1", ";=1"])
def test_a_spreadsheet_takes_every_cell_as_text(cell):
    (read,) = csv.reader(io.StringIO(csv_line([cell, "Ada"])))
    pieces = [piece.strip() for piece in read[0].replace(";", "\t").split("\t")]
    assert read[1] == "Ada" and not any(piece.startswith(tuple("=+-@")) for piece in pieces)


def test_a_line_keeps_what_a_name_contains():
    row = ["Ada\r", 'said "no"', "a,b", "two\nlines"]
    assert next(csv.reader(io.StringIO(csv_line(row), newline=""))) == row
