"""How the command ends: exit codes on both sides of each edge, Ctrl-C, full disks, paths."""

import argparse
import io as streams
import json
import os
import re
import resource
import signal
import sys

import numpy as np
import pandas as pd
import pytest
from crafted import Opened
from sklearn.ensemble import RandomForestRegressor
from skops import io

import limetutor as lt
from limetutor import cli
from limetutor.classroom import command as class_command
from limetutor.cli import commands

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(60, 3)), columns=["a", "b", "c"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model and a table."""
    made = tmp_path_factory.mktemp("files")
    FRAME.to_csv(made / "data.csv", index=False)
    FRAME.head(6).to_csv(made / "few.csv", index=False)
    model = RandomForestRegressor(10, random_state=0).fit(FRAME.to_numpy(), FRAME @ [4.0, 2.0, 1.0])
    io.dump(model, made / "model.skops")
    return made


def run(folder, name, *more, data="data.csv"):
    return cli.main([name, str(folder / "model.skops"), str(folder / data), *more])


@pytest.fixture
def audited(monkeypatch):
    """The results of audits that the command has made."""
    results, audit = [], lt.audit
    monkeypatch.setattr(lt, "audit", lambda *a, **k: results.append(audit(*a, **k)) or results[-1])
    return results


@pytest.mark.parametrize(
    ("bandwidth", "samples", "severity", "code"),
    [("0.2", "1000", "serious", 1), ("1.3", "60", "warning", 0), ("1.3", "5000", "ok", 0)],
)
def test_only_what_is_serious_is_exit_code_1(folder, audited, bandwidth, samples, severity, code):
    found = run(folder, "audit", "--row", "2", "--bandwidth", bandwidth, "--samples", samples)
    assert audited[0].severity == severity and found == code


def test_from_a_wheel_a_class_is_said_to_need_a_clone(monkeypatch, capsys):
    monkeypatch.setattr(commands, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        cli.main(["class", "grade", "in", "--out", "out"])
    assert ended.value.code == 2 and "needs a clone of limetutor" in capsys.readouterr().err


def test_of_a_table_one_serious_row_is_enough(folder, audited, monkeypatch):
    assert run(folder, "audit", "--samples", "300", "--bandwidth", "1.3", data="few.csv") == 0
    assert audited[0].counts["serious"] == 0 and audited[0].counts["warning"] > 0
    counts = {"ok": 5, "note": 0, "warning": 0, "serious": 1}
    monkeypatch.setattr(type(audited[0]), "counts", counts)
    assert run(folder, "audit", "--samples", "300", "--bandwidth", "1.3", data="few.csv") == 1


def test_all_rows_are_audited_up_to_the_limit(folder, monkeypatch, capsys):
    for limit, code in ((6, 0), (5, 2)):
        monkeypatch.setattr(commands, "MAX_ROWS", limit)
        assert (
            run(folder, "audit", "--samples", "300", "--bandwidth", "1.3", data="few.csv") == code
        )
    assert "data has 6 rows" in capsys.readouterr().err


def ends(monkeypatch, action):
    """The exit code of a command that does something."""
    monkeypatch.setitem(cli.COMMANDS, "odd", None)
    cli.command("odd", "Ends oddly.", lambda parser: None)(lambda options: action() or 0)
    return cli.main(["odd"])


def test_ctrl_c_is_one_word_and_the_code_of_shells(monkeypatch, capsys):
    assert ends(monkeypatch, lambda: signal.raise_signal(signal.SIGINT)) == 130
    assert capsys.readouterr().err == "limetutor: stopped.\n"


@pytest.mark.parametrize(
    "error", [MemoryError(), RecursionError("too deep"), OSError(28, "No space")]
)
def test_other_errors_are_one_sentence_and_2(monkeypatch, capsys, error):
    def fail():
        raise error

    assert ends(monkeypatch, fail) == 2
    said = capsys.readouterr().err
    assert said.startswith("limetutor: ") and said.count("\n") == 1 and "Traceback" not in said


def test_control_characters_are_shown_by_their_code(monkeypatch, capsys):
    def fail():
        raise ValueError("x\x1b[2J\ud800\u202e")

    assert ends(monkeypatch, fail) == 2
    assert "x[U+001B][2J[U+D800][U+202E]" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_error(monkeypatch, capsys):
    """`limetutor explain ... | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert ends(monkeypatch, lambda: print("answer")) == 130
        assert capsys.readouterr().err == ""


def test_an_answer_that_cannot_be_printed_is_one_sentence(monkeypatch, capsys):
    with open("/dev/full", "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert ends(monkeypatch, lambda: print("answer")) == 2
        assert capsys.readouterr().err == "limetutor: the answer: No space left on device.\n"


@pytest.mark.parametrize("option", ["--html", "--json"])
def test_a_full_disk_leaves_no_file_or_the_old_one(folder, capsys, tmp_path, option):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("before")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    for path in (old, new):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
        try:
            code = run(folder, "explain", "--row", "0", "--samples", "200", option, str(path))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert code == 2
        assert capsys.readouterr().err == f"limetutor: {path}: File too large.\n"
    assert os.listdir(tmp_path) == ["old"] and old.read_text() == "before"


def test_a_device_is_written_to_and_not_replaced(folder, capsys):
    call = ("explain", "--row", "0", "--samples", "200", "--json")
    assert run(folder, *call, "/dev/null") == 0
    assert not os.path.isfile("/dev/null") and os.path.exists("/dev/null")
    assert run(folder, *call, "/dev/full") == 2
    assert capsys.readouterr().err == "limetutor: /dev/full: No space left on device.\n"


def test_a_report_takes_the_place_of_no_input(folder, capsys, tmp_path):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    (tmp_path / "link").symlink_to(folder / "data.csv")
    same = str(tmp_path / "r")
    for more in (
        ("--html", str(folder / "data.csv")),
        ("--json", str(folder / "model.skops")),
        ("--json", str(folder / ".." / folder.name / "data.csv")),
        ("--html", str(tmp_path / "link")),
        ("--html", same, "--json", same),
    ):
        assert run(folder, "explain", "--row", "0", *more) == 2
        assert "must be a file of its own" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_links_that_lead_nowhere(folder, capsys, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "later").symlink_to(tmp_path / "made")
    call = ("explain", "--row", "0", "--samples", "200", "--json")
    assert run(folder, *call, str(tmp_path / "loop")) == 2
    assert "loop: Too many levels of symbolic links" in capsys.readouterr().err
    assert run(folder, *call, str(tmp_path / "later")) == 0
    assert json.loads((tmp_path / "made").read_text())["coef"]


def test_a_wave_is_the_home_folder_in_all_paths(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    call = ["explain", "~/model.skops", "~/data.csv", "--row", "0", "--samples", "200"]
    assert cli.main([*call, "--html", "~/r.html", "--json", "~/r.json"]) == 0
    assert "<svg" in (folder / "r.html").read_text() and json.loads((folder / "r.json").read_text())
    assert os.listdir(tmp_path) == []


def test_in_the_paths_of_a_class_too(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setitem(class_command.ACTIONS, "odd", ("", None, lambda options: options.out))
    options = argparse.Namespace(action="odd", out="~/to_students", submissions=None)
    assert class_command.run(options) == str(tmp_path / "to_students")
    with pytest.raises(ValueError, match="--out must be a path"):
        class_command.run(argparse.Namespace(action="odd", out="a\0b"))


def test_names_of_files_in_no_encoding(folder, capsys, tmp_path):
    """Bytes that are no UTF-8 reach Python as halves of characters."""
    data, page = tmp_path / os.fsdecode(b"\xff.csv"), tmp_path / os.fsdecode(b"\xfe.html")
    data.write_bytes((folder / "data.csv").read_bytes())
    call = ["explain", str(folder / "model.skops"), str(data), "--row", "0", "--samples", "200"]
    assert cli.main([*call, "--html", str(page)]) == 0
    assert "[U+DCFE].html" in capsys.readouterr().out and "<svg" in page.read_text()
    data.unlink()
    assert cli.main(call) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "path",
    ["a/" * 2000 + "r", "x" * 300, "a\0b", "~nobody-of-that-name/r", "\ud800", "/dev/null/r"],
)
@pytest.mark.parametrize("option", ["--html", "model", "data"])
def test_paths_that_cannot_be_are_one_sentence(folder, capsys, path, option):
    files = {"model": str(folder / "model.skops"), "data": str(folder / "data.csv")}
    more = {} if option in files else {option: path}
    files |= {option: path} if option in files else {}
    call = [
        "explain",
        *files.values(),
        "--row",
        "0",
        *(word for pair in more.items() for word in pair),
    ]
    assert cli.main(call) == 2
    said = capsys.readouterr().err
    assert re.match(f"limetutor: {option} must be ", said) and said.count("\n") == 1
    assert len(said) < 6000


def test_a_model_of_another_version_is_told(folder, capsys, tmp_path):
    """scikit-learn's own warning is for those who call it from Python."""
    content = (folder / "model.skops").read_bytes()
    opened = Opened(io.load(streams.BytesIO(content), trusted=["sklearn.tree._tree.Tree"]))
    opened.edit("_sklearn_version", lambda version: "1.2.0")
    opened.write(tmp_path / "old.skops")
    files = [str(tmp_path / "old.skops"), str(folder / "data.csv")]
    assert cli.main(["explain", *files, "--row", "0", "--samples", "200"]) == 0
    said = capsys.readouterr().err
    assert said.count("saved by scikit-learn 1.2.0 and is read by") == 1
