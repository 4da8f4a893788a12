"""`limetutor class collect`: what a learning platform exports, to one folder a student.

Moodle's and Canvas' archives, in folders or flat, archives in them, or a folder; a list of the class says who is who.
Each file ends up in ``OUT/<id>``, what belongs to no assignment in ``other`` there, what belongs to nobody in
``OUT/unplaced``. ``OUT/collected.csv`` says where each came from.
"""

import argparse
import os
import re
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from .command import action
from .roster import Roster, Student
from .sheets import csv_line, read_table

RECORD, UNPLACED, OTHER = "collected.csv", "unplaced", "other"
RECORD_COLUMNS = ("student", "file", "assignment", "platform", "number", "from", "date")
# Full name_123_assignsubmission_file_ (a folder, or before the name of a file)
MOODLE = re.compile(r"(?P<name>.*?)_(?P<number>\d+)_assignsubmission_[a-z]+(?:_(?P<rest>.*))?")
# doejane_LATE_123_456_name-1.ipynb, doejane_123_text.html
CANVAS = re.compile(
    r"(?P<name>.+?)_(?:LATE_)?(?P<number>\d+)_(?:\d+_(?P<rest>.+)|(?P<text>text|link)\.html)"
)
NOTEBOOK = re.compile(r"(?i)\.ipynb(?:\.(?:txt|json))?$")
JUNK = re.compile(r"(?i)^(?:__MACOSX|\.DS_Store|\._.*|Thumbs\.db|desktop\.ini)$")
# "the_audit (1).ipynb" of a browser, "the_audit-1.ipynb" of Canvas
COPY = re.compile(r"\((\d+)\)|-(\d+)(?=\.)")
DAY = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
EXTRACT = f"{__package__}.unpack:extracted"
MAX_DEPTH, NESTED_FILES, NESTED_BYTES = 3, 2000, 200 * 2**20  # archives that students hand in
SECONDS, NESTED_SECONDS = 1800, 60


class Found(NamedTuple):
    """A file that was handed in: the parts of its name in the export, the file that holds it, its dates."""

    parts: tuple[str, ...]
    held: Path
    date: tuple[int, ...] = ()
    given: tuple[int, ...] = ()  # the date of what the platform has, also for a file in an archive

    @property
    def day(self) -> str:
        """When it was handed in, by the platform's archive; empty if that does not say."""
        known = len(self.given) == 6 and self.given[0] > 1980  # where dates in archives begin
        return "{:04d}-{:02d}-{:02d} {:02d}:{:02d}:{:02d}".format(*self.given) if known else ""


@dataclass(frozen=True)
class Owner:
    """Whose a file is: a student, or why it is nobody's."""

    student: Student | None
    why: str = ""
    platform: str = ""
    number: str = ""
    name: str = ""  # of the file, as the student called it


@dataclass
class Budget:
    """What may still come out of a file that a student handed in, all archives in it together."""

    size: int
    files: int = NESTED_FILES
    seconds: float = NESTED_SECONDS


class Collection:
    """The files of an export, taken out of its archives; ``refused`` are those that were not."""

    def __init__(self, scratch: Path) -> None:
        from .bounded import BoundedProcess

        self._scratch, self._count = scratch, 0
        self._process = BoundedProcess(SECONDS)
        self.refused: list[tuple[str, str]] = []

    def files(self, export: Path) -> Iterator[Found]:
        """All files of an export, without what systems leave in archives."""
        from . import unpack

        if export.is_dir():
            entries = [Found(p.relative_to(export).parts, p) for p in self._walked(export)]
        else:
            limits = unpack.MAX_FILES, unpack.MAX_BYTES, SECONDS
            held = self._archive(export, (), *limits)
            entries = [found._replace(given=found.date) for found in held]
        for entry in entries:
            most = max(unpack.SMALL, unpack.MAX_RATIO * entry.held.stat().st_size)
            yield from self._opened(entry, 1, Budget(min(most, NESTED_BYTES)))

    def close(self) -> None:
        """End the process that reads archives."""
        self._process.stop()

    def _walked(self, export: Path) -> Iterator[Path]:
        for folder, _, names in os.walk(export):
            for name in sorted(names):
                path = Path(folder, name)
                if path.is_symlink() or not path.is_file():
                    self.refused.append((str(path.relative_to(export)), "it is a link"))
                else:
                    yield path

    def _opened(self, entry: Found, depth: int, left: Budget) -> Iterator[Found]:
        """A file, or those in it."""
        if any(JUNK.match(part) for part in entry.parts):
            return
        if not entry.parts[-1].lower().endswith(".zip"):
            yield entry
            return
        why = f"it is more than {MAX_DEPTH} archives deep" if depth > MAX_DEPTH else ""
        if min(left.size, left.files, left.seconds) <= 0:
            why = "the file that it is in holds too much already"
        if why:
            self.refused.append(("/".join(entry.parts), why))
            yield entry
            return
        before, began = len(self.refused), time.monotonic()
        limits = left.files, left.size, left.seconds
        inside = list(self._archive(entry.held, entry.parts, *limits))
        left.files -= len(inside)
        left.size -= sum(one.held.stat().st_size for one in inside)
        left.seconds -= time.monotonic() - began
        if len(self.refused) > before:  # the archive itself is kept, so that nothing is lost
            yield entry
        for one in inside:
            yield from self._opened(one._replace(given=entry.given), depth + 1, left)

    def _archive(
        self, path: Path, parts: tuple[str, ...], files: int, size: int, seconds: float
    ) -> Iterator[Found]:
        from .bounded import CallError, ExceededError

        self._count += 1
        out = self._scratch / str(self._count)
        out.mkdir()
        try:
            found = self._process.call(EXTRACT, str(path), str(out), files, size, seconds=seconds)
        except (ExceededError, CallError) as error:
            found = {"files": [], "refused": [["", f"it could not be unpacked: {error}"]]}
        for name, why in found["refused"]:
            self.refused.append(("/".join([*(parts or (path.name,)), name]).rstrip("/"), why))
        for name, held, date in found["files"]:
            inner = tuple(p for p in re.split(r"[/\\]+", name) if p not in ("", ".", ".."))
            yield Found((*parts, *(inner or ("unnamed",))), Path(held), tuple(date))


def _given(parts: tuple[str, ...]) -> Iterator[tuple[int, str, re.Match[str] | None]]:
    """The parts of a name, from outside, with what a platform wrote there; none in an archive that was handed in."""
    for k, part in enumerate(parts):
        told = [match for kind in (MOODLE, CANVAS) if (match := kind.fullmatch(part))]
        yield k, part, min(told, key=lambda match: match.end("name"), default=None)
        if part.lower().endswith(".zip") and (k or told):
            return


def _moodle(export: Path, found: Found) -> tuple[tuple[Any, ...], str]:
    """Where Moodle wrote a name, and that, and the number next to it."""
    for k, _, told in _given(found.parts):
        if told and told.re is MOODLE:
            return (export, found.parts[:k], told["name"]), told["number"]
    return (), ""


def owner(found: Found, roster: Roster, anonymous: bool) -> Owner:
    """Whose a file is: the outermost part of its name in the export that names anybody decides."""
    last, nobody = found.parts[-1], "it has no name of a student"
    for k, part, told in _given(found.parts):
        name = told["rest"] if told and k == len(found.parts) - 1 and told["rest"] else last
        if told and told.re is MOODLE:
            # the number is another one for each assignment: it only tells people of one name apart
            who = roster.by_name(told["name"])
            if len(who) != 1 and (who or anonymous):
                who = [s for s in roster.by_number(told["number"]) if not who or s in who] or who
            return _one(who, told["name"], "moodle", told["number"], name)
        if told:
            if who := roster.by_number(told["number"]) or roster.by_name(told["name"]):
                return _one(who, told["name"], "canvas", told["number"], name)
            nobody = f"nobody in the list is {told['name'][:80]!r}"
        plain = re.sub(r"(?i)\.zip$", "", part)
        if who := roster.by_id(plain) or roster.by_name(plain):
            return _one(who, part, "", "", last)
    return Owner(None, nobody, name=last)


def _one(who: list[Student], told: str, platform: str, number: str, name: str) -> Owner:
    if len(who) == 1:
        return Owner(who[0], "", platform, number, name)
    ids = ", ".join(repr(s.id) for s in who)
    why = f"{told[:80]!r} may be {ids}" if who else f"nobody in the list is {told[:80]!r}"
    return Owner(None, why, platform, number, name)


def assignment_of(name: str, content: Path, names: list[str]) -> str:
    """The assignment that a notebook is, by its name or, where that is another, by the questions in it."""
    if not NOTEBOOK.search(name):
        return ""
    plain = re.sub(r"[^a-z]", "", name.lower())
    told = [one for one in names if one.replace("_", "") in plain]
    if len(told) != 1 and content.stat().st_size < 20_000_000:
        data = content.read_bytes()
        asked = Counter({one: data.count(f'hint(\\"{one}/'.encode()) for one in names})
        told = [one for one, count in asked.most_common(1) if count]
    return told[0] if len(told) == 1 else ""


def plain_name(name: str) -> str:
    """The name of a file, fit for any system: most take 255 bytes, and a digest may be added."""
    plain = re.sub(r"[^\w .()+-]", "_", name).strip(" .") or "unnamed"
    stem, dot, ending = plain.rpartition(".")
    parts = ((stem, 160), (dot + ending, 40)) if dot else ((plain, 160),)
    return "".join(part.encode()[:most].decode(errors="ignore") for part, most in parts)


def _printable(text: str) -> str:
    """A text, with what may control a terminal escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _put(held: Path, target: Path) -> Path:
    """Copy a file; one of another content that is there already stays, in ``other``."""
    digest = _digest(held).hex()
    if target.is_symlink() or (target.exists() and not target.is_file()):
        raise ValueError(f"--out: {str(target)!r} must be a file or not be there.")
    if target.is_file():
        there = _digest(target).hex()
        if there == digest:
            return target
        if target.parent.name in (OTHER, UNPLACED):
            return _put(held, target.with_name(f"{target.stem}.{digest[:12]}{target.suffix}"))
        kept = target.parent / OTHER / f"{target.stem}.{there[:12]}{target.suffix}"
        kept.parent.mkdir(exist_ok=True)
        os.replace(target, kept)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(held, target)
    return target


def collect_all(exports: list[Path], roster: Roster, out: Path) -> dict[str, Any]:
    """Collect exports into ``out``: the lines of the record, what was refused, what was left for another."""
    from .assignments import assignments

    out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, str]] = []
    chosen: list[str] = []
    earlier = {row["file"]: row["date"] for row in recorded(out) if DAY.fullmatch(row["date"])}
    with tempfile.TemporaryDirectory(dir=out, prefix=".") as scratch:
        collection = Collection(Path(scratch))
        try:
            files = [(export, f) for export in exports for f in collection.files(export)]
        finally:
            collection.close()
        called: dict[tuple[Any, ...], set[str]] = defaultdict(set)
        for export, found in files:
            key, number = _moodle(export, found)
            called[key].add(number)
        by_place: dict[tuple[str, str], list[tuple[Owner, Found, Path]]] = defaultdict(list)
        for export, found in files:
            # in blind marking all of an export have one name
            who = owner(found, roster, len(called[_moodle(export, found)[0]]) > 1)
            name, student = "", who.student.id if who.student else ""
            hidden = any(part.startswith(".") for part in found.parts)
            if student and not hidden:
                name = assignment_of(who.name, found.held, [*assignments()])
                if who.name.lower() == "progress.txt":
                    name = "progress.txt"
            by_place[student, name].append((who, found, export))
        for (student, name), candidates in sorted(by_place.items()):
            candidates.sort(key=_lateness)
            for who, found, export in candidates:
                last = name and found is candidates[-1][1]
                file = name if "." in name else f"{name}.ipynb"
                folder = out / (student or UNPLACED)
                for place in (folder, folder / OTHER):
                    if place.is_symlink():
                        raise ValueError(f"--out: the folder {str(place)!r} must not be a link.")
                day, there = found.day, folder / file
                if last and student and there.is_file():
                    before = earlier.get(f"{student}/{file}", "")
                    both = f"{name} of {before or 'an unknown date'}", day or "an unknown date"
                    if _digest(there) == _digest(found.held):
                        day = max(day, before)
                    elif day and day < before:
                        last = ""
                        chosen.append(f"{student}: {both[0]} is kept, that of {both[1]} is older.")
                    else:
                        chosen.append(f"{student}: {both[0]} is replaced by that of {both[1]}.")
                place = there if last else folder / plain_name(who.name)
                if not last and student:
                    place = folder / OTHER / plain_name(who.name)
                place = _put(found.held, place)
                source = (
                    f"{export.name}: {'/'.join(found.parts)}{f' ({who.why})' if who.why else ''}"
                )
                row = student, place.relative_to(out).as_posix(), name if last else "", who.platform
                rows.append(dict(zip(RECORD_COLUMNS, (*row, who.number, source, day), strict=True)))
            if last and len({_digest(f.held) for _, f, _ in candidates}) > 1:
                latest = "/".join(candidates[-1][1].parts)
                count = len(candidates)
                chosen.append(f"{student}: of {count} files for {name}, {latest!r} is taken.")
    placed = {_digest(out / row["file"]) for row in rows if row["student"]}
    for path in (out / UNPLACED).glob("*"):  # of an earlier run with another list
        if _digest(path) in placed:
            path.unlink()
    return {"rows": rows, "refused": collection.refused, "chosen": chosen}


def _digest(path: Path) -> bytes:
    """What is in a file."""
    return sha256(path.read_bytes()).digest()


def _lateness(candidate: tuple[Owner, Found, Path]) -> tuple[Any, ...]:
    """What tells which of several files counts, the last: dates, a notebook with an id, the number of a copy."""
    owner, found, _ = candidate
    begun = b'\\"your id\\"' not in found.held.read_bytes()
    copy = max((int(a or b) for a, b in COPY.findall(owner.name) if len(a or b) < 6), default=0)
    return found.given, found.date, begun, copy, found.parts


def recorded(folder: Path) -> list[dict[str, str]]:
    """The lines of the record in a folder; none if nothing was collected into it."""
    path = folder / RECORD
    if not path.is_file():
        return []
    header, rows = read_table(path, "the record")
    found = [dict(zip(header, row, strict=False)) for row in rows]
    return [{name: row.get(name, "") for name in RECORD_COLUMNS} for row in found]


def numbers(folder: Path, platform: str) -> dict[tuple[str, str], str]:
    """The platform's own numbers of students, by student and assignment, as they were collected."""
    rows = (row for row in recorded(folder) if row["platform"] == platform and row["number"])
    return {(row["student"], row["assignment"]): row["number"] for row in rows if row["assignment"]}


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("exports", nargs="+", help="archives of Moodle or Canvas (zip), or folders")
    words = "the class: a table with id, name, and more"
    add("--roster", required=True, metavar="FILE", help=words)
    add("--out", required=True, metavar="FOLDER", help="where the folders of the students go")


@action("collect", "Sort what Moodle or Canvas exports into a folder for each student.", _options)
def collect(options: argparse.Namespace) -> int:
    """`limetutor class collect`."""
    from ..plotting.files import write_atomically
    from .assignments import assignments
    from .roster import read

    exports, out = [Path(export) for export in options.exports], Path(options.out)
    for export in exports:
        name = repr(str(export))
        if not export.exists():
            raise ValueError(f"exports must be archives or folders, but {name} is not there.")
        if export.resolve() in (out.resolve(), *out.resolve().parents):
            raise ValueError(
                f"--out must not be in what is collected, got {options.out!r} in {name}."
            )
    roster = read(options.roster)
    words = f"The ids are those of the column {roster.id_column!r}"
    print(f"{words}: students must have written them into their notebooks.")
    for student in roster.without_id:
        print(f"Warning: {student.name!r} has no id there; {student.id!r} is taken.")
    found = collect_all(exports, roster, out)
    places = {row["file"] for row in found["rows"]}
    rows = [row for row in recorded(out) if row["file"] not in places]
    rows = [row for row in rows if (out / row["file"]).is_file()] + found["rows"]
    rows.sort(key=lambda row: (row["student"], row["file"]))
    table = "".join(csv_line(row) for row in (RECORD_COLUMNS, *(row.values() for row in rows)))
    write_atomically(out / RECORD, table.encode(errors="backslashreplace"))
    for name in assignments():
        given = {row["student"] for row in rows if row["assignment"] == name}
        if given:
            missing = [s.id for s in roster.students if s.id not in given]
            words = f"; none of {', '.join(map(repr, missing[:10]))}" if missing else ""
            words += ", …" if missing[10:] else ""
            print(f"{name}: {len(given)} of {len(roster.students)} students{words}.")
    for sentence in found["chosen"]:
        print(sentence)
    refused: dict[str, list[str]] = defaultdict(list)  # by the file that a student handed in
    for name, why in found["refused"]:
        refused[re.split(r"(?i)(?<=\.zip)/", name)[0]].append(f"{name!r}, because {why}")
    for outer, told in refused.items():
        more = [f"{len(told) - 3} more files in {outer!r}"] if told[3:] else []
        print(*(f"Not unpacked: {words}." for words in [*told[:3], *more]), sep="\n")
    lost = [row for row in found["rows"] if not row["student"]]
    for row in lost[:20]:
        print(f"Not placed: {_printable(row['from'])}.")
    if lost:
        words = "add their students to the list, with a number where names are the same, or move them by hand"
        print(f"{len(lost)} files are in {out / UNPLACED}: {words}.")
    return 0
