"""What Moodle and Canvas export, and how they import grades: after their own documentation and sources.

Moodle's names are those of mod/assign/classes/downloader.php, its import that of mod/assign/feedback/offline; Canvas'
are those of lib/content_zipper.rb and lib/gradebook_importer.rb.
"""

import csv
import io
import re
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

GIVEN = "Ada Ben Chloé Dörte Eve Finn Gül Hana Ívar Jun Kofi Łukasz Mei Nils Óscar Priya Quinn Rosa Søren Tom".split()
FAMILY = (
    "Lovelace,O'Brien,de la Cruz,Müller-Lüdenscheidt,Ng,van der Berg,Öztürk,Nowak,Sato,Khan".split(
        ","
    )
)


@dataclass(frozen=True)
class Person:
    id: str
    given: str
    family: str
    moodle: int  # of this assignment
    canvas: int

    @property
    def name(self) -> str:
        return f"{self.given} {self.family}"

    @property
    def email(self) -> str:
        return f"{self.id}@uni.example"


def people(count: int) -> list[Person]:
    """So many, all of another name but the first two."""
    found = []
    for k in range(count):
        given, family = GIVEN[k % 20], FAMILY[k // 20 % 10] + ("" if k < 200 else f"{k // 200}")
        found.append(Person(f"s{1000 + 7 * k}", given, family, 90_000 + 3 * k, 500 + k))
    found[1] = replace(found[1], given=found[0].given, family=found[0].family)
    return found


def own_roster(class_: list[Person], numbers: str = "") -> str:
    rows = [["id", "name", "email", "number"]]
    rows += [[p.id, p.name, p.email, str(getattr(p, numbers)) if numbers else ""] for p in class_]
    return _csv(rows)


def moodle_prefix(p: Person) -> str:
    return re.sub(r"[&<>\"`|':\\/]", "", f"{p.name.replace('_', ' ')}_{p.moodle}")


def canvas_prefix(p: Person, late: bool) -> str:
    name = f"{p.family}, {p.given}".lower()
    return re.sub(r"\W", "", "_".join([name, *(["LATE"] if late else []), str(p.canvas)]))


def archive(files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(zipfile.ZipInfo(name, (2026, 11, 2, 9, 0, 0)), content)
    return held.getvalue()


def moodle_export(class_: list[Person], notebook, name: str) -> dict[str, bytes]:
    """In folders, named as before Moodle 4.1 and since, each tenth without; names as browsers and students leave them."""
    files = {}
    for k, p in enumerate(class_):
        called = [
            f"{name}.ipynb",
            f"{name} (1).ipynb",
            f"01_{name}.ipynb",
            f"{name}.IPYNB",
            "Untitled7.ipynb",
        ]
        folder = f"{moodle_prefix(p)}_assignsubmission_file_"
        content = {called[k % 5]: notebook(p)}
        if k % 7 == 3:
            inner = archive({f"my work/{called[k % 5]}": notebook(p), "__MACOSX/._x": b"x"})
            content = {"homework.zip": inner}
        if k % 9 == 4:
            content["notes.pdf"] = b"%PDF notes"
        place = folder if k % 10 == 9 else f"{folder[: -(k % 2) or None]}/"
        for file, data in content.items():
            files[place + file] = data
        if k % 6 == 0:
            text = f"{moodle_prefix(p)}_assignsubmission_onlinetext_/onlinetext.html"
            files[text] = b"<p>Here it is.</p>"
    return files


def canvas_export(class_: list[Person], notebook, name: str) -> dict[str, bytes]:
    files = {}
    for k, p in enumerate(class_):
        called = [f"{name}.ipynb", f"{name}-1.ipynb", f"My {name} (2).ipynb"][k % 3]
        files[f"{canvas_prefix(p, k % 4 == 1)}_{70_000 + k}_{called}"] = notebook(p)
        if k % 5 == 2:
            files[f"{canvas_prefix(p, False)}_text.html"] = b"<p>text</p>"
    return files


def worksheet(class_: list[Person], maximum: str = "100.00") -> str:
    """Moodle's offline grading worksheet before grading."""
    header = [
        "Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum Grade",
        "Grade can be changed", "Last modified (submission)", "Last modified (grade)", "Feedback comments",
    ]  # fmt: skip
    cells = ["Submitted for grading - ", "", maximum, "Yes", "Monday", "-", ""]
    rows = [[f"Participant {p.moodle}", p.name, p.id, p.email, *cells] for p in class_]
    return _csv([header, *rows])


def moodle_imports(text: str, class_: list[Person]) -> dict[str, tuple[float, float]]:
    """What Moodle would write into its gradebook: by id, the grade and the maximum."""
    header, *rows = csv.reader(io.StringIO(text))
    where = {name: header.index(name) for name in ("Grade", "Identifier", "Last modified (grade)")}
    most = header.index("Maximum Grade")
    by_number = {str(p.moodle): p.id for p in class_}
    found = {}
    for row in rows:
        student = by_number[row[where["Identifier"]].removeprefix("Participant ")]
        if row[where["Grade"]]:
            assert 0 <= float(row[where["Grade"]]) <= float(row[most])
            found[student] = float(row[where["Grade"]]), float(row[most])
    return found


def moodle_takes_feedback(path: Path, class_: list[Person]) -> dict[str, dict[str, str]]:
    """What Moodle would hand back from a zip of feedback files (mod/assign/feedback/file/importziplib.php)."""
    by_number = {p.moodle: p.id for p in class_}
    found: dict[str, dict[str, str]] = {}
    with zipfile.ZipFile(path) as archive:
        for inside in archive.namelist():
            _, number, kind, plugin, name = inside.split("_", 4)
            assert (kind, plugin) == ("assignsubmission", "file") and "/" not in name
            found.setdefault(by_number[int(number)], {})[name] = archive.read(inside).decode()
    return found


def canvas_gradebook(class_: list[Person], column: str, possible: str = "10") -> str:
    """Canvas' exported gradebook before grading."""
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column, "Final Score"]
    manual = ["", "", "", "", "", "Manual Posting", ""]
    points = ["    Points Possible", "", "", "", "", possible, "(read only)"]
    cells = ["LIME 1", "", ""]
    rows = [[f"{p.family}, {p.given}", str(p.canvas), p.id, p.email, *cells] for p in class_]
    return _csv([header, manual, points, *rows])


def canvas_imports(text: str, class_: list[Person]) -> dict[str, dict[str, tuple[float, float]]]:
    """What Canvas would: by column, by id, the grade and the points possible."""
    header, *rows = csv.reader(io.StringIO(text))
    assert "Student" in header[0] and "ID" in header[1] and "Section" in header[4]
    possible = next(row for row in rows if "Points Possible" in row[0])
    by_number = {str(p.canvas): p.id for p in class_}
    given = [row for row in rows if row is not possible]
    points = lambda k: {  # noqa: E731
        by_number[row[1]]: (float(row[k]), float(possible[k])) for row in given if row[k]
    }
    return {column: points(k) for k, column in enumerate(header[5:], 5)}


def filled_in(path: Path, **cells: str) -> list[dict[str, str]]:
    """The lines of a table, in which somebody has filled in these cells."""
    rows = [row | cells for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]
    path.write_text(_csv([[*rows[0]], *([*row.values()] for row in rows)]), encoding="utf-8")
    return rows


def _csv(rows: list[list[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


def written(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def contents(out: Path) -> dict[str, bytes]:
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    path.write_bytes(archive(files))
    return path
