"""Lines of CSV that a spreadsheet takes as text, and tables as platforms and spreadsheets write them."""

import codecs
import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..plotting.files import without_formulas


def csv_line(row: Iterable[Any]) -> str:
    """A line of a table; with this line end, a name that contains any other one is quoted as well."""
    text = io.StringIO(newline="")
    cells = [without_formulas(cell) if isinstance(cell, str) else cell for cell in row]
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n") + "\n"


def read_table(path: str | Path, option: str) -> tuple[list[str], list[list[str]]]:
    """The header and the other lines of a table, as a platform or a spreadsheet writes it."""
    place = Path(path)
    if not place.is_file():
        raise ValueError(f"{option} must be a table (CSV), but {str(path)!r} is not there.")
    data = place.read_bytes()
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:  # Excel on Windows
        text = data.decode("cp1252", errors="replace")
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise ValueError(f"{option} must be a table (CSV), but {str(path)!r}: {error}.") from None
    header = [name.strip() for name in rows[0]] if rows else []
    return header, [
        [cell.strip() for cell in row] + [""] * (len(header) - len(row)) for row in rows[1:]
    ]
