"""The list of a class: who is in it, and what the platform of a course calls them.

It is a table with a header: of one's own, with the columns ``id``, ``name`` and, if need be, ``email`` and ``number``
(the platform's own), or what the platforms write themselves, Moodle's grading worksheet or Canvas' gradebook.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..plotting.files import without_formulas
from .questions import identity
from .sheets import read_table

#: The names of a column in tables of one's own, of Moodle and of Canvas; the first that is there counts.
HEADERS = {
    "id": ("id", "id number", "sis user id", "sis login id", "username", "email address"),
    "name": ("name", "full name", "student"),
    "email": ("email", "e-mail", "email address", "e-mail address"),
    "number": ("number", "identifier"),
}
UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')
MAX_ID = 100
# names of our own folders
RESERVED = ("other", "unplaced", "graded", "feedback", "__macosx", "__pycache__")


@dataclass(frozen=True)
class Student:
    """A line of the list; ``row`` is all of it, by the names of its columns."""

    id: str
    name: str
    email: str
    number: str  # only its digits
    row: dict[str, str] = field(compare=False)


@dataclass(frozen=True)
class Roster:
    """The students of a class, and the line ``Points Possible`` of Canvas' gradebook, where that is the list."""

    students: tuple[Student, ...]
    header: tuple[str, ...] = ()
    possible: dict[str, str] = field(default_factory=dict)
    id_column: str = ""  # the first one that has any
    without_id: tuple[Student, ...] = ()  # whose cell there is blank

    def by_id(self, text: str) -> list[Student]:
        """Those whose id or e-mail address this is."""
        wanted = identity(text)
        found = (s for s in self.students if wanted in (identity(s.id), identity(s.email)))
        return list(found) if wanted else []

    def by_name(self, text: str) -> list[Student]:
        """Those of this name, in whichever order its parts are and however they are joined."""
        wanted = spellings(text)
        return [s for s in self.students if wanted & spellings(s.name)]

    def by_number(self, number: str) -> list[Student]:
        """Those of this number."""
        return [s for s in self.students if number and s.number == number]


def spellings(name: str) -> set[str]:
    """A name as its letters and digits alone, from each of its words on: "Doe, Jane" is janedoe too."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    words = [re.sub(r"[\W_]", "", word) for word in re.split(r"[\s,_]+", plain)]
    words = [word for word in words if word]
    return {"".join(words[k:] + words[:k]) for k in range(len(words))}


def read(path: str | Path) -> Roster:
    """The list in a file."""
    header, rows = read_table(path, "--roster")
    lower = [name.casefold() for name in header]
    headers = dict(HEADERS)
    canvas = ("sis user id", "sis login id")
    if "student" in lower and {*canvas} & {*lower}:  # whose ID is its own
        headers |= {"number": ("id",), "id": canvas}
    columns = {key: [lower.index(n) for n in names if n in lower] for key, names in headers.items()}
    for key in ("id", "name"):
        if not columns[key]:
            raise ValueError(
                f"--roster must have a column for the {key} of a student, one of {', '.join(map(repr, headers[key]))}, "
                f"but the columns of {str(path)!r} are {', '.join(map(repr, header)) or 'none'}."
            )
    students: list[Student] = []
    listed: list[list[str]] = []
    possible: dict[str, str] = {}
    for line, cells in enumerate(rows, 2):
        by_name = dict(zip(header, cells, strict=False))

        def first(key: str, cells: list[str] = cells) -> str:
            return next((cells[k] for k in columns[key] if cells[k]), "")

        if "points possible" in first("name").casefold():
            possible = by_name
        elif first("name") and (first("id") or first("number")):
            number = re.sub(r"\D", "", first("number"))
            own = first("id") or number, first("name"), first("email")
            students.append(Student(*own, number, by_name))
            listed.append(cells)
            _check(students[-1], students[:-1], line)
    if not students:
        raise ValueError(f"--roster must list at least one student, but {str(path)!r} lists none.")
    where = next(k for k in (*columns["id"], *columns["number"]) if any(row[k] for row in listed))
    without = tuple(s for s, row in zip(students, listed, strict=True) if not row[where])
    return Roster(tuple(students), tuple(header), possible, header[where], without)


def _check(student: Student, others: Iterable[Student], line: int) -> None:
    """An id is the name of a folder and belongs to one student."""
    name = student.id
    odd = UNSAFE.search(name) or "." in (name[0], name[-1]) or without_formulas(name) != name
    if odd or len(name) > MAX_ID or identity(name) in RESERVED:
        raise ValueError(
            f"--roster: the id in line {line} must be fit for the name of a folder, of at most {MAX_ID} characters, "
            f"with no slash, no dot at its ends and no sign at its beginning, got {name[:80]!r}."
        )
    if any(identity(other.id) == identity(name) for other in others):
        raise ValueError(f"--roster: each id must be there once, but line {line} repeats {name!r}.")
