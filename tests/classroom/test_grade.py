"""A folder of submissions, graded by the command, in a real sandbox."""

import argparse
import contextlib
import csv
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from pkgutil import resolve_name
from unittest import mock

import pytest
from submissions import NAME, handed_in, progress_code, write

from limetutor.classroom import notebooks
from limetutor.classroom.assignments import assignments
from limetutor.classroom.bounded import BoundedProcess, CallError, ExceededError
from limetutor.classroom.command import ACTIONS, options
from limetutor.classroom.grade import grade_all
from limetutor.classroom.marking import GradedSubmission, Mark
from limetutor.classroom.release import released, solved
from limetutor.classroom.release import write as write_versions
from limetutor.classroom.sandbox import ENVIRONMENT, SandboxLimits, why_unavailable
from limetutor.classroom.tables import COLUMNS, table
from limetutor.cli import main

# what the interpreter and its packages set by themselves
USUAL = {*ENVIRONMENT, "PYTHONPATH", "PWD", "COLUMNS", "LC_CTYPE"}
USUAL |= {"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"}


def grades(out: Path) -> list[dict[str, str]]:
    with open(out / "grades.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def digests(folder: Path) -> dict[str, str]:
    """What is in the files of a folder."""
    files = [p for p in folder.rglob("*") if p.is_file()]
    return {str(p.relative_to(folder)): sha256(p.read_bytes()).hexdigest() for p in files}


def grading(submissions: Path, out: Path, *how: str) -> subprocess.Popen[str]:
    """The command, in a session of its own."""
    command = [sys.executable, "-m", "limetutor.cli", "class", "grade", submissions, "--out", out]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, *how], **options, start_new_session=True)


def workers(session: int) -> list[str]:
    """The workers in sandboxes that were started in a session."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            belongs = (folder / "stat").read_text().rpartition(")")[2].split()[3] == str(session)
            if belongs and b"/inside/worker.py" in (folder / "cmdline").read_bytes():
                found.append(folder.name)
    return found


NAMED = ("missing", "raises", "tells", "loops when called", "other name", "spies")


@pytest.mark.slow
@pytest.mark.verify
def test_a_folder_of_good_and_bad_submissions(tmp_path, monkeypatch, verifying):
    """Each gets what it deserves; nothing changes, nothing is left, nothing is found.

    ``make test`` grades every second of them, and those that are asked for by name.
    """
    if why := why_unavailable():
        pytest.skip(why)
    submissions, home, out = tmp_path / "handed in", tmp_path / "at home", tmp_path / "graded"
    home.mkdir()
    (home / "answers.txt").write_text("the right values")
    monkeypatch.setenv("LIMETUTOR_SECRET", "SECRET")
    with socket.create_server(("127.0.0.1", 0)) as server:
        places = [str(tmp_path), str(submissions), str(home), str(Path(main.__code__.co_filename))]
        handed = handed_in(places, server.getsockname()[1], USUAL)
        if not verifying:
            handed = [h for k, h in enumerate(handed) if k % 2 == 0 or h.name in NAMED]
        for one in handed:
            write(one, submissions)
        (submissions / "missing" / "progress.txt").write_text(progress_code() + "\n")
        before = digests(tmp_path)
        how = ["--seconds", "5", "--memory", "700", "--jobs", "2"]
        started, seen = grading(submissions, out, *how), set()
        while started.poll() is None:
            seen.update(workers(started.pid))
            time.sleep(0.2)
    printed = started.communicate()[0]
    assert started.returncode == 0 and "lines (" in printed
    rows = grades(out)
    assert seen, "while they are graded"
    assert {key: value for key, value in digests(tmp_path).items() if "graded" not in key} == before
    assert workers(started.pid) == []
    assert len(rows) == 3 * len(handed) + 1  # and the progress that one of them reports
    got = {r["student"]: (float(r["points"]), r["status"]) for r in rows if r["assignment"] == NAME}
    assert got == {one.name: (one.points, one.status) for one in handed}
    others = {r["status"] for r in rows if r["assignment"] in ("the_theorem", "the_audit")}
    assert others == {"missing"}
    (reported,) = [r for r in rows if r["assignment"] == "progress"]
    assert (reported["student"], reported["points"]) == ("missing", "2")
    assert reported["status"] == "self-reported"
    said = {
        told["student"]: told["questions"][f"{NAME}/score"]["words"]
        for told in json.loads((out / "marks.json").read_text())
        if told["assignment"] == NAME
    }
    for name in ("raises", "tells"):  # no hidden input leaves by an exception, nor by a forged one
        assert said[name] == "It raises an error, Exception."
    assert said["loops when called"] == "It took too long."
    assert said["other name"].startswith("There is no score in the notebook")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_solutions_get_all_points_and_what_is_released_none(tmp_path):
    """With the seconds that teachers give: `the_audit` imports lime and scikit-learn."""
    if why := why_unavailable():
        pytest.skip(why)
    write_versions(str(tmp_path / "in" / "solution"), solved)
    write_versions(str(tmp_path / "in" / "released"), released)
    assert grading(tmp_path / "in", tmp_path / "out").wait() == 0
    rows = grades(tmp_path / "out")
    assert {r["status"] for r in rows} == {"graded"}
    for row in rows:
        most = int(row["max_points"]) - int(row["open"])
        assert (row["open"] == "0") == (row["student"] != "solution")
        assert float(row["points"]) == (most if row["student"] == "solution" else 0)
    assert len(rows) == 6


def test_a_grader_without_a_sandbox_says_so_and_asks(tmp_path, monkeypatch, capsys):
    (tmp_path / "ada").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    said = sentence(capsys, tmp_path, "--out", tmp_path / "out")
    assert "bubblewrap" in said and "--unsafe-no-sandbox" in said


@pytest.fixture
def in_this_process(monkeypatch):
    """Judge in this process: to start another one takes a second."""

    def call(process, function, *arguments, seconds):
        return resolve_name(function)(*json.loads(json.dumps(arguments)))

    monkeypatch.setattr(BoundedProcess, "call", call)


@pytest.mark.usefixtures("in_this_process")
def test_without_a_sandbox_if_asked(tmp_path):
    """Limits and separate questions hold there too, as far as they can."""
    chosen = [h for h in handed_in([], 1, USUAL) if h.name in ("good", "ends Python")]
    for one in chosen:
        write(one, tmp_path / "in")
    out = tmp_path / "out"
    how = ["--unsafe-no-sandbox", "--seconds", "20"]
    assert main(["class", "grade", str(tmp_path / "in"), "--out", str(out), *how]) == 0
    got = {r["student"]: int(r["points"]) for r in grades(out) if r["assignment"] == NAME}
    assert got == {one.name: one.points for one in chosen}
    first = digests(out)
    assert main(["class", "grade", str(tmp_path / "in"), "--out", str(out), *how]) == 0
    assert digests(out) == first, "a second run gives the same"


def test_the_table_has_the_columns_that_it_promises():
    marks = {f"{NAME}/edges": Mark(1, ""), f"{NAME}/in_words": Mark(0, "", open=4)}
    result = GradedSubmission("ada, the first", NAME, "graded", 20, marks)
    head, line = table([result], [*assignments()]).splitlines()
    names = [q.name for a in assignments().values() for q in a.questions]
    assert head == ",".join([*COLUMNS, *names])
    assert line == f'"ada, the first",{NAME},1,20,4,graded,1' + "," * (len(names) - 1)


@pytest.mark.parametrize("name", ["=1", ";=1", "a, b", 'say "x"', "two\nlines", "Zoë 😀", "x\r"])
def test_no_name_is_a_formula_and_any_other_comes_back_as_it_is(name):
    file = io.StringIO(table([GradedSubmission(name, NAME, "graded", 16)], [NAME]), newline="")
    assert list(csv.reader(file))[1][0] == name.replace("=", "'=")


@pytest.mark.parametrize(
    ("error", "status", "note"),
    [(ExceededError("timed out"), "timed out", "took too long"),
     (ExceededError("out of memory"), "out of memory", "too much memory"),
     (CallError("KeyError", "'x'"), "unreadable", "The grader failed with KeyError: 'x'")],
)  # fmt: skip
def test_what_cannot_be_judged_costs_only_itself(tmp_path, monkeypatch, error, status, note):
    good = asdict(GradedSubmission("ben", NAME, "graded", 16, {f"{NAME}/edges": Mark(1, "")}))
    monkeypatch.setattr(BoundedProcess, "call", mock.Mock(side_effect=[error, good, good]))
    found = grade_all([tmp_path / "eve"], SandboxLimits(sandboxed=False), 1)
    assert [result.status for result in found] == [status, "graded", "graded"]
    assert [found[0].points, found[1].points] == [0, 1] and note in found[0].notes[0]
    assert set(found[0].marks) == {q.name for q in assignments()[NAME].questions}


def sentence(capsys, *arguments) -> str:
    """The one sentence that `limetutor class grade` says before it gives up."""
    assert main(["class", "grade", *map(str, arguments)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "is not there"),
        (lambda path: path.write_text("a file"), "is a file"),
        (lambda path: path.mkdir(), "holds none"),
        (lambda path: (path / ".git").mkdir(parents=True), "holds none"),
    ],
    ids=["absent", "file", "empty", "hidden only"],
)
def test_a_folder_that_is_none_gets_a_sentence(tmp_path, capsys, make, words):
    make(tmp_path / "handed in")
    said = sentence(capsys, tmp_path / "handed in", "--out", tmp_path / "out")
    assert "submissions must" in said and words in said


def test_other_bad_input_gets_a_sentence_too(tmp_path, monkeypatch, capsys):
    """Limits that are none, a file as output, and no sources, as in an installation from a wheel."""
    (tmp_path / "in" / "ada").mkdir(parents=True)
    asked = [tmp_path / "in", "--out", tmp_path / "out"]
    for option in ("--jobs", "--seconds", "--memory"):
        assert f"{option} must be at least" in sentence(capsys, *asked, option, 0)
    assert "--seconds must be at most 86400" in sentence(capsys, *asked, "--seconds", 1e308)
    with monkeypatch.context() as patch:
        patch.setattr(notebooks, "SOURCES", tmp_path)
        assert "from a clone" in sentence(capsys, *asked)
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").write_text("x")
    assert sentence(capsys, *asked)


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("place", [".", "graded"])
def test_an_output_among_the_submissions_is_no_student(tmp_path, monkeypatch, place):
    """Neither the first time nor when they are graded again; nor are the pages of feedback."""
    (tmp_path / "ada").mkdir()
    monkeypatch.chdir(tmp_path)
    asked = ["class", "grade", ".", "--out", place, "--unsafe-no-sandbox"]
    for _ in range(2):
        assert main(asked) == 0
        assert main(["class", "feedback", ".", "--out", place]) == 0
        assert {row["student"] for row in grades(tmp_path / place)} == {"ada"}


@pytest.mark.usefixtures("in_this_process")
def test_a_folder_whose_name_is_no_text_leaves_the_table_one(tmp_path):
    os.makedirs(os.fsencode(tmp_path / "in") + b"/\xff")
    asked = [str(tmp_path / "in"), "--out", str(tmp_path), "--unsafe-no-sandbox"]
    assert main(["class", "grade", *asked]) == 0
    assert {row["student"] for row in grades(tmp_path)} == {r"\udcff"}


@pytest.mark.usefixtures("in_this_process")
def test_notebooks_in_no_folder_are_named(tmp_path, capsys):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "in" / "ben.ipynb").write_text("{}")
    assert main(["class", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]) in (0, 2)
    assert "not in the folder of a student: 'ben.ipynb'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_stopped_half_way_it_leaves_the_old_grades(tmp_path, monkeypatch, number, code):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # who is killed leaves a folder
    if why := why_unavailable():
        pytest.skip(why)
    for one in handed_in([], 1, USUAL):
        if one.name in ("loops in a cell", "loops when called"):
            write(one, tmp_path / "in")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "grades.csv").write_text("old")
    started = grading(tmp_path / "in", tmp_path / "out", "--seconds", "300")
    until = time.monotonic() + 60
    while not workers(started.pid):
        assert time.monotonic() < until
    os.killpg(started.pid, number)  # as a terminal does
    _, said = started.communicate(timeout=60)
    assert started.returncode == code and said.endswith("limetutor: stopped.\n" if code > 0 else "")
    until = time.monotonic() + 30  # one that was just starting ends when it finds nobody to talk to
    while left := workers(started.pid):
        assert time.monotonic() < until, left
        time.sleep(0.1)
    assert digests(tmp_path / "out") == {"grades.csv": sha256(b"old").hexdigest()}


def test_the_command_is_there_for_a_shell():
    done = subprocess.run(
        [sys.executable, "-m", "limetutor.cli", "class", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    options(argparse.ArgumentParser())
    assert set(ACTIONS) >= {"release", "solution", "grade", "feedback"}
    assert all(f"{name} " in done.stdout for name in ACTIONS)
