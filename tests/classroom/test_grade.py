"""A folder of submissions, graded by the command, in a real sandbox."""

from __future__ import annotations

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
import warnings
from hashlib import sha256
from pathlib import Path

import pytest
from submissions import NAME, handed_in, progress_code, write

from limetutor.classroom import notebooks
from limetutor.classroom.release import released, solved
from limetutor.classroom.release import write as write_versions
from limetutor.classroom.sandbox import ENVIRONMENT, lacking
from limetutor.cli import main

# what the interpreter and its packages set by themselves
USUAL = {
    *ENVIRONMENT,
    "PYTHONPATH",
    "PWD",
    "KMP_DUPLICATE_LIB_OK",
    "KMP_INIT_AT_FORK",
    "COLUMNS",
    "LC_CTYPE",
}


def grades(out: Path) -> list[dict[str, str]]:
    with open(out / "grades.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def digests(folder: Path) -> dict[str, str]:
    """What is in the files of a folder."""
    files = [p for p in folder.rglob("*") if p.is_file()]
    return {str(p.relative_to(folder)): sha256(p.read_bytes()).hexdigest() for p in files}


def processes(marker: str, of: int = 0) -> list[str]:
    """Processes of this machine, or of one session, that mention a text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if of and f" {of} " not in _session(path.parent):
            continue
        if marker in line and str(os.getpid()) != path.parent.name:
            found.append(line[:80])
    return found


def _session(folder: Path) -> str:
    """The group and session that a process belongs to."""
    try:
        group, session = (folder / "stat").read_text().rpartition(")")[2].split()[2:4]
    except (OSError, ValueError):
        return ""
    return f" {group} {session} "


NAMED = ("missing", "raises", "tells", "loops when called", "other name", "spies")


@pytest.mark.slow
@pytest.mark.verify
def test_a_folder_of_good_and_bad_submissions(tmp_path, monkeypatch, capsys, verifying):
    """Each gets what it deserves; nothing changes, nothing is left, nothing is found.

    ``make test`` grades every second of them, and those that are asked for by name.
    """
    if why := lacking():
        pytest.skip(why)
    submissions, home, out = tmp_path / "handed in", tmp_path / "at home", tmp_path / "graded"
    home.mkdir()
    (home / "answers.txt").write_text("the right values")
    monkeypatch.setenv("LIMETUTOR_SECRET", "SECRET")
    mark = uuid.uuid4().hex  # by which our sandboxes are known among those of other tests
    monkeypatch.setitem(ENVIRONMENT, "MARK", mark)
    with socket.create_server(("127.0.0.1", 0)) as server:
        places = [str(tmp_path), str(submissions), str(home), str(Path(main.__code__.co_filename))]
        handed = handed_in(places, server.getsockname()[1], USUAL | {"MARK"})
        if not verifying:
            handed = [h for k, h in enumerate(handed) if k % 2 == 0 or h.name in NAMED]
        for one in handed:
            write(one, submissions)
        for name, version in (("solved", solved), ("released", lambda n, _: released(n))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                write_versions(str(submissions / name), version)
        (submissions / "missing" / "progress.txt").write_text(progress_code() + "\n")
        before = digests(tmp_path)
        how = ["--seconds", "5", "--memory", "700", "--jobs", "2"]
        seen: list[str] = []
        watch = threading.Timer(5, lambda: seen.extend(processes(mark)))
        watch.start()
        assert main(["class", "grade", str(submissions), "--out", str(out), *how]) == 0
        watch.join()
    rows = grades(out)
    assert seen, "while they are graded"
    assert {key: value for key, value in digests(tmp_path).items() if "graded" not in key} == before
    assert processes(mark) == []
    assert len(rows) == 3 * (len(handed) + 2) + 1  # and the progress that one of them reports
    whole = {name: [r for r in rows if r["student"] == name] for name in ("solved", "released")}
    assert [r["points"] for r in whole["solved"]] == [r["max_points"] for r in whole["solved"]]
    assert [int(r["points"]) for r in whole["released"]] == [0, 0, 0]
    assert {r["status"] for r in (*whole["solved"], *whole["released"])} == {"graded"}
    rows = [r for r in rows if r["student"] not in whole]
    got = {r["student"]: (int(r["points"]), r["status"]) for r in rows if r["assignment"] == NAME}
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
    assert said["raises"] == "It raises an error, Exception.", (
        "no hidden input leaves by an exception"
    )
    assert said["tells"] == "It raises an error, Exception.", "nor by a forged one"
    assert said["loops when called"] == "It took too long."
    assert said["other name"].startswith("There is no score in the notebook")
    assert "lines (" in capsys.readouterr().out


def test_a_grader_without_a_sandbox_says_so_and_asks(tmp_path, monkeypatch, capsys):
    (tmp_path / "ada").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["class", "grade", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "bubblewrap" in said and "--unsafe-no-sandbox" in said and said.count("\n") == 1


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
    asked = ["class", "grade", str(tmp_path / "handed in"), "--out", str(tmp_path / "out")]
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert "submissions must" in said and words in said and said.count("\n") == 1


@pytest.mark.parametrize("option", ["--jobs", "--seconds", "--memory"])
def test_limits_that_are_none_get_a_sentence(tmp_path, capsys, option):
    asked = ["class", "grade", str(tmp_path), "--out", str(tmp_path / "out"), option, "0"]
    assert main(asked) == 2
    assert f"{option} must be at least" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_place_of_the_output_gets_a_sentence(tmp_path, capsys):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "out").write_text("x")
    assert main(["class", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


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


def test_without_the_sources_nobody_is_graded(tmp_path, monkeypatch, capsys):
    """As in an installation from a wheel, which has no folder of assignments."""
    (tmp_path / "in" / "ada").mkdir(parents=True)
    monkeypatch.setattr(notebooks, "HERE", tmp_path)
    asked = ["class", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert "from a clone" in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_notebooks_in_no_folder_are_named(tmp_path, capsys):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "in" / "ben.ipynb").write_text("{}")
    assert main(["class", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]) in (0, 2)
    assert "not in the folder of a student: 'ben.ipynb'" in capsys.readouterr().err


@pytest.mark.slow
def test_stopped_half_way_it_ends_at_once_and_leaves_the_old_grades(tmp_path):
    if why := lacking():
        pytest.skip(why)
    for one in handed_in([], 1, USUAL):
        if one.name in ("loops in a cell", "loops when called"):
            write(one, tmp_path / "in")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "grades.csv").write_text("old")
    command = [sys.executable, "-m", "limetutor.cli", "class", "grade", str(tmp_path / "in")]
    started = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out"), "--seconds", "300"],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not processes("/inside/worker.py", of=started.pid):
        assert time.monotonic() < until
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does
    _, said = started.communicate(timeout=60)
    assert started.returncode == 2 and said.endswith("limetutor: stopped.\n")
    until = time.monotonic() + 30  # one that was just starting ends when it finds nobody to talk to
    while left := processes("/inside/worker.py", of=started.pid):
        assert time.monotonic() < until, left
        time.sleep(0.1)
    assert digests(tmp_path / "out") == {"grades.csv": sha256(b"old").hexdigest()}


def test_the_command_is_there_for_a_shell():
    done = subprocess.run(
        [sys.executable, "-m", "limetutor.cli", "class", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in ("release", "solution", "grade", "feedback"):
        assert name in done.stdout
