"""The command: files in, an answer and an exit code out, and one sentence where something is wrong."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from cases import cases
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from skops import io

import limetutor as lt
from limetutor import cli
from limetutor.cli import files as files_of
from limetutor.cli.options import OPTIONS

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(200, 3)), columns=["age", "income", "<script>"])
FRAME["colour"] = RNG.choice(["red", "green", "blue"], 200)
FRAME["y"] = FRAME["age"] * 3 - FRAME["income"] + (FRAME["colour"] == "red")
FEATURES = ["age", "income", "<script>", "colour"]


def columns():
    return make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a table and models that were fitted on it."""
    folder = tmp_path_factory.mktemp("files")
    FRAME.to_csv(folder / "data.csv", index=False)
    table, y = FRAME[FEATURES], FRAME["y"]
    numbers = FRAME[FEATURES[:3]].to_numpy()
    models = {
        "pipeline": make_pipeline(columns(), LinearRegression()).fit(table, y),
        "classes": make_pipeline(columns(), LogisticRegression()).fit(
            table, np.where(y > 0, "high", "low")
        ),
        "forest": RandomForestRegressor(10, random_state=0).fit(numbers, y),
        "long": LinearRegression().fit(numbers, y),
    }
    models["long"].n_features_in_ = 10**4000
    for name, model in models.items():
        io.dump(model, folder / f"{name}.skops")
    joblib.dump(models["forest"], folder / "forest.joblib")
    (folder / "forest.pkl").write_bytes(pickle.dumps(models["forest"]))
    FRAME.drop(columns=["colour", "y"]).to_csv(folder / "numbers.csv", index=False)
    return folder


def run(files, command, *rest, model="pipeline.skops", data="data.csv"):
    return cli.main([command, str(files / model), str(files / data), *rest])


def refused(capsys, files, *rest, row="1", **which):
    """The one sentence on the error stream where a row cannot be explained, without a traceback."""
    assert run(files, "explain", *(["--row", row] if row else []), *rest, **which) == 2
    said = capsys.readouterr().err
    assert said.startswith("limetutor: ") and said.count("\n") == 1 and "Traceback" not in said
    return said


def test_explain_says_what_lime_would(files, capsys, tmp_path):
    page, numbers = tmp_path / "r.html", tmp_path / "r.json"
    assert run(files, "explain", "--row", "7", "--html", str(page), "--json", str(numbers)) == 0
    said = capsys.readouterr().out
    assert "colour = " in said and str(page) in said
    found = json.loads(numbers.read_text())
    world = lt.Empirical(FRAME[FEATURES], categorical=["colour"])
    model = io.load(files / "pipeline.skops")
    ex = lt.explain(
        model, FRAME[FEATURES].iloc[7], world, 0.75 * 2, 5000, 0, kernel="mismatch", ridge=1.0
    )
    np.testing.assert_allclose(found["coef"], ex.coef)
    assert "<script>" not in page.read_text() and "&lt;script&gt;" in page.read_text()
    assert "Row 7" in page.read_text()


def test_audit_of_a_row_and_of_all_rows(files, capsys, tmp_path):
    page = tmp_path / "r.html"
    code = run(files, "audit", "--row", "7", "--html", str(page), "--samples", "1000")
    assert code in (0, 1) and "Show it" in capsys.readouterr().out and page.exists()
    small = tmp_path / "small.csv"
    FRAME.head(12).to_csv(small, index=False)
    code = cli.main(["audit", str(files / "pipeline.skops"), str(small), "--samples", "500"])
    assert code in (0, 1) and "12 rows" in capsys.readouterr().out


def test_path_recommends(files, capsys, tmp_path):
    page = tmp_path / "p.html"
    call = ("path", "--row", "3", "--html", str(page))
    assert run(files, *call, model="forest.skops", data="numbers.csv") == 0
    assert "recommended:" in capsys.readouterr().out and "<svg" in page.read_text()


def test_classes_by_name_and_the_second_one_as_in_lime(files, tmp_path):
    found, classes = {}, {"low": ("--output", "low"), "high": ("--output", "high")}
    for name, extra in {"default": (), **classes}.items():
        path = tmp_path / f"{name}.json"
        call = ("explain", "--row", "0", "--samples", "400", "--json", str(path), *extra)
        assert run(files, *call, model="classes.skops") == 0
        found[name] = np.array(json.loads(path.read_text())["coef"])
    np.testing.assert_allclose(found["default"], found["low"])
    np.testing.assert_allclose(found["high"], -found["low"], atol=1e-12)


def test_it_is_a_program(files, tmp_path):
    names = [str(files / "forest.skops"), str(files / "numbers.csv")]
    call = [sys.executable, "-m", "limetutor.cli", "explain", *names, "--row", "1"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Explanation of f(xi)" in done.stdout


def test_help_tells_commands_options_and_exit_codes(capsys):
    for call in (["--help"], ["audit", "--help"]):
        with pytest.raises(SystemExit) as end:
            cli.main(call)
        assert end.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(name in said for name in (*cli.COMMANDS, *OPTIONS.values()))
    assert "1 when an audit found something serious" in said
    assert "RUN WHATEVER CODE THEY HOLD" in said


def test_a_command_can_be_added(monkeypatch, capsys):
    monkeypatch.setitem(cli.COMMANDS, "hello", None)  # is taken back afterwards

    @cli.command("hello", "Says hello.", lambda parser: parser.add_argument("name"))
    def hello(asked):
        print("hello", asked.name)
        return 0

    assert cli.main(["hello", "you"]) == 0 and capsys.readouterr().out == "hello you\n"


class Bomb:
    """What a pickle can do to whoever opens it."""

    def __reduce__(self):
        return print, ("BOOM",)


@pytest.mark.parametrize("name", ["forest.pkl", "forest.joblib"])
def test_pickles_are_opened_only_with_a_flag_that_says_what_that_means(files, capsys, name):
    said = refused(capsys, files, model=name, data="numbers.csv")
    assert "skops file" in said and "--unsafe-pickle" in said and "RUN WHATEVER CODE" in said
    call = ("explain", "--row", "1", "--unsafe-pickle")
    assert run(files, *call, model=name, data="numbers.csv") == 0


def test_a_pickle_in_disguise_is_not_opened(files, capsys):
    (files / "bomb.skops").write_bytes(pickle.dumps(Bomb()))
    said = refused(capsys, files, model="bomb.skops")
    assert "BOOM" not in said


@pytest.mark.parametrize(
    ("call", "words"), cases(Path(__file__).parent / "support" / "refused.txt")
)
def test_bad_input_is_one_sentence_and_exit_code_2(files, capsys, call, words):
    which = {name: value for name, value in call.items() if name != "rest"}
    assert words in refused(capsys, files, *call.get("rest", ()), **which)


def test_an_unknown_command_or_option_is_bad_input(files):
    for call in (["sing"], ["explain", "a", "b", "--loud"], []):
        with pytest.raises(SystemExit) as end:
            cli.main(call)
        assert end.value.code == 2


def table(files, name, frame):
    frame.to_csv(files / name, index=False)
    return name


def with_holes(files):
    frame = FRAME.copy()
    frame.loc[3::5, "income"] = np.nan
    frame.loc[4::25, "colour"] = None
    return table(files, "holes.csv", frame)


def test_missing_values_are_a_box_of_their_own_where_the_model_takes_them(files, capsys, tmp_path):
    name, numbers = with_holes(files), tmp_path / "r.json"
    frame = pd.read_csv(files / name)
    labels = OneHotEncoder(handle_unknown="ignore")
    takes = make_column_transformer((labels, ["colour"]), remainder="passthrough")
    model = make_pipeline(takes, HistGradientBoostingRegressor(max_iter=20))
    io.dump(model.fit(frame[FEATURES], frame["y"]), files / "takes.skops")
    call = ("explain", "--row", "3", "--samples", "400", "--json", str(numbers))
    assert run(files, *call, model="takes.skops", data=name) == 0
    assert "income is missing" in capsys.readouterr().out
    found = json.loads(numbers.read_text())
    world = lt.Empirical(frame[FEATURES], categorical=["colour"])
    how = {"kernel": "mismatch", "ridge": 1.0}
    ex = lt.explain(model, frame[FEATURES].iloc[3], world, 1.5, 400, 0, **how)
    np.testing.assert_allclose(found["coef"], ex.coef)
    assert found["values"]["income"] is None
    call = ("audit", "--row", "4", "--samples", "400")
    assert run(files, *call, model="takes.skops", data=name) in (0, 1)
    capsys.readouterr()
    assert (
        run(files, "explain", "--row", "4", "--samples", "400", model="takes.skops", data=name) == 0
    )
    assert "colour is missing" in capsys.readouterr().out
    small = table(files, "few_holes.csv", frame.head(12))
    assert run(files, "audit", "--samples", "400", model="takes.skops", data=small) in (0, 1)
    assert "12 rows" in capsys.readouterr().out


def test_missing_values_are_refused_where_it_does_not_or_left_out(files, capsys):
    name = with_holes(files)
    said = refused(capsys, files, data=name)
    assert "missing values in 48 of 200 rows, most in column 'income'" in said
    assert "the model does not take them" in said and "--drop-missing" in said
    assert run(files, "explain", "--row", "5", "--drop-missing", "--samples", "200", data=name) == 0
    capsys.readouterr()
    said = refused(capsys, files, "--drop-missing", row="3", data=name)
    assert "row 3 has missing values" in said
    nothing = table(files, "empty.csv", FRAME.assign(age=np.nan))
    for more in ((), ("--drop-missing",)):
        said = refused(capsys, files, *more, row="3", data=nothing)
        assert "'age' is all missing" in said
    never = FRAME.assign(age=FRAME["age"].where(FRAME.index % 2 == 0))
    never["income"] = FRAME["income"].where(FRAME.index % 2 == 1)
    both = table(files, "both.csv", never)
    said = refused(capsys, files, "--drop-missing", row="3", data=both)
    assert "a row without missing values" in said


def test_texts_that_are_no_labels_are_refused(files, capsys):
    many = pd.concat([FRAME] * 3, ignore_index=True)
    frame = many.assign(colour=[f"name {i}" for i in range(600)])
    said = refused(capsys, files, data=table(files, "names.csv", frame))
    assert "600 different texts" in said and "--drop 'colour'" in said
    frame = FRAME.assign(age=["twelve", *FRAME["age"].astype(str)[1:]])
    said = refused(capsys, files, data=table(files, "text.csv", frame))
    assert "in column 'age', as in most rows, got 'twelve' in row 0; if it holds labels" in said
    frame = many.assign(age=[*np.arange(400) / 7, "?", *np.arange(199) / 3 + 1000])
    frame.loc[500, "age"] = "none of these"
    said = refused(capsys, files, data=table(files, "stray.csv", frame))
    assert "in column 'age', as in most rows, got '?' in row 400 and texts in 1 more rows" in said


def test_codes_of_which_some_are_words_are_labels_where_the_option_says_so(files, capsys):
    frame = FRAME.assign(colour=np.resize(["1", "2", "3", "none left"], 200))
    model = make_pipeline(columns(), LinearRegression()).fit(frame[FEATURES], frame["y"])
    io.dump(model, files / "codes.skops")
    name = table(files, "codes.csv", frame)
    assert "name it with --text 'colour'" in refused(capsys, files, model="codes.skops", data=name)
    named = ("--row", "3", "--text", "colour")
    assert run(files, "explain", *named, model="codes.skops", data=name) == 0
    assert "colour = none left" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "age,income\n", '"a\n1,2\n3', "\x00\x01\xff\xfe"])
def test_what_is_no_table_is_refused(files, capsys, content):
    (files / "odd.csv").write_bytes(content.encode("latin-1"))
    refused(capsys, files, row="0", data="odd.csv")


def test_the_model_may_fail_in_its_own_way(files, capsys, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(files_of, "read_model", lambda *options: broken)
    said = refused(capsys, files, "--target", "y", row="0")
    assert "ZeroDivisionError" in said
    assert run(files, "explain", "--row", "0", "--target", "y", "--traceback") == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_million_rows(files, capsys, tmp_path):
    """One row of them is explained; all of them are not audited by accident."""
    path = tmp_path / "million.csv"
    values = RNG.integers(-300, 300, size=(1_000_000, 3))
    header = ",".join(FRAME.columns[:3])
    np.savetxt(path, values, fmt="%d", delimiter=",", header=header, comments="")
    model = str(files / "forest.skops")
    assert cli.main(["explain", model, str(path), "--row", "999999", "--samples", "300"]) == 0
    capsys.readouterr()
    assert cli.main(["audit", model, str(path)]) == 2
    assert "1,000,000 rows" in capsys.readouterr().err
