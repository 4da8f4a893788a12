"""Tables of grades: a line for each notebook, and one for each student as gradebooks import it.

Moodle's is its offline grading worksheet, one file for each assignment: it finds students by ``Identifier``, which is
another number in each assignment. Canvas' is its gradebook: it finds them by ``ID``, and assignments by their column.
Points that a person has not given yet leave a cell as it is, or empty, and so does what was not handed in.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .roster import Roster, Student
from .sheets import csv_line

COLUMNS = ("student", "assignment", "points", "max_points", "open", "status")
MOODLE = (
    "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
    "Last modified (submission)", "Last modified (grade)", "Feedback comments",
)  # fmt: skip
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def table(results: Iterable[Any], names: Sequence[str]) -> str:
    """The results of all students in these assignments as CSV, with the points of each question."""
    from .assignments import assignments

    questions = [q.name for name in names for q in assignments()[name].questions]
    lines = [csv_line([*COLUMNS, *questions])]
    for result in results:
        points = {name: "" if m.open else m.points for name, m in result.marks.items()}
        row = [result.student, result.assignment, result.points, result.max_points]
        row += [result.open, result.status, *(points.get(name, "") for name in questions)]
        lines.append(csv_line(row))
    return "".join(lines)


@dataclass(frozen=True)
class Gradebook:
    """What a table with one line for each student is made of.

    ``numbers`` are the platform's own by student and assignment, as :mod:`.collect` has read them; ``maximum`` is the
    number of points that the gradebook counts to, if it is not the assignment's own.
    """

    results: Mapping[tuple[str, str], Any]
    names: Sequence[str]
    roster: Roster
    numbers: Mapping[tuple[str, str], str]
    maximum: float | None = None

    def grade(self, student: Student, name: str, maximum: float) -> float | None:
        """The points of a student in the scale of the gradebook; None if there are none, or not all yet."""
        result = self.results.get((student.id, name))
        if result is None or result.open or result.status == "missing":
            return None
        return round(float(result.points) / result.max_points * maximum, 2)

    def most(self, name: str, told: str = "") -> float:
        """The maximum: as asked, as the platform's own table says, or that of the assignment."""
        from .assignments import assignments

        try:
            platform = float(told.replace(",", "."))
        except ValueError:
            platform = 0.0
        return self.maximum or platform or float(assignments()[name].most_points)


def _moodle(book: Gradebook) -> dict[str, str]:
    files = {}
    worksheet = {"Identifier", "Grade"} <= set(book.roster.header)
    header = book.roster.header if worksheet else MOODLE
    for name in book.names:
        lines = [csv_line(header)]
        for student in book.roster.students:
            number = book.numbers.get((student.id, name)) or (student.number if worksheet else "")
            if not number:
                continue
            most = book.most(name, student.row.get("Maximum Grade", ""))
            grade = book.grade(student, name, most)
            cells = dict.fromkeys(header, "") | {
                "Identifier": f"Participant {number}", "Full name": student.name, "Email address": student.email,
                "Grade can be changed": "Yes", "Maximum Grade": shown(most),
            }  # fmt: skip
            cells |= {k: v for k, v in student.row.items() if worksheet and v}
            if grade is not None:
                cells["Grade"] = shown(grade)
                cells["Feedback comments"] = in_words(book.results[student.id, name])
            lines.append(csv_line(cells[column] for column in header))
        files[f"moodle-{name}.csv"] = "".join(lines)
    return files


def _canvas(book: Gradebook) -> dict[str, str]:
    from .assignments import assignments

    columns, most = {}, {}
    for name in book.names:
        title = assignments()[name].title
        columns[name] = next((c for c in book.roster.header if c.startswith((title, name))), title)
        most[name] = book.most(name, book.roster.possible.get(columns[name], ""))
    lines = [csv_line([*CANVAS, *columns.values()])]
    lines.append(csv_line(["    Points Possible", *[""] * 4, *map(shown, most.values())]))
    own = "SIS User ID" in book.roster.header or "SIS Login ID" in book.roster.header
    for student in book.roster.students:
        known = [book.numbers[key] for key in book.numbers if key[0] == student.id]
        told = student.row if own else {"SIS User ID": student.id}
        number = student.number or next(iter(known), "")
        first = [student.name, number, *(told.get(c, "") for c in CANVAS[2:])]
        for name in book.names:
            grade = book.grade(student, name, most[name])
            there = student.row.get(columns[name], "")  # it stays
            first.append(there if grade is None else shown(grade))
        lines.append(csv_line(first))
    return {"canvas.csv": "".join(lines)}


def _plain(book: Gradebook) -> dict[str, str]:
    lines = [csv_line(["student", "name", "email", *book.names, "points", "max_points", "open"])]
    for student in book.roster.students:
        found = [book.results.get((student.id, name)) for name in book.names]
        each = [book.grade(student, name, book.most(name)) for name in book.names]
        grades = ("" if g is None else shown(g) for g in each)
        still = sum(result.open for result in found if result)
        sums = shown(sum(g or 0.0 for g in each)), shown(sum(map(book.most, book.names)))
        lines.append(csv_line([student.id, student.name, student.email, *grades, *sums, still]))
    return {"class.csv": "".join(lines)}


Format = Callable[[Gradebook], dict[str, str]]
#: By the name that ``--format`` takes: files, by their names.
FORMATS: dict[str, Format] = {"moodle": _moodle, "canvas": _canvas, "csv": _plain}


def in_words(result: Any) -> str:
    """The points of each question, for the student; why there are none, and what a person wrote."""
    from .assignments import assignments

    if result.status == "unreadable":
        return " ".join(result.notes)
    people = {q.name for a in assignments().values() for q in a.questions if not q.machine}
    said = [m.words for name, m in result.marks.items() if name in people and m.words]
    marks = (f"{name.partition('/')[2]} {shown(m.points)}" for name, m in result.marks.items())
    points = f"{shown(result.points)} of {result.max_points} points: {', '.join(marks)}."
    return " ".join([points, *said])


def shown(value: float) -> str:
    """A number of points without needless digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
