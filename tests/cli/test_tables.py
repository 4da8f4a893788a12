"""Tables of the command: which row, which cells are missing, which columns are texts."""

import json
import os
import threading
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from skops import io

from limetutor import cli
from limetutor.cli import tables
from limetutor.cli.refusals import RefusedError

RNG = np.random.default_rng(0)
NUMBERS = pd.DataFrame(np.arange(80.0).reshape(40, 2) ** 1.5, columns=["age", "income"])
CODES = ["02139", "10001", "94110"]


@pytest.fixture
def saved(tmp_path):
    """Save a model of numbers and texts, fitted on a frame."""

    def save(frame, target=None, model=None):
        text = [name for name in frame.columns if frame[name].dtype.kind not in "fiub"]
        labels = make_column_transformer((OneHotEncoder(), text), remainder="passthrough")
        y = np.arange(len(frame)) if target is None else target
        io.dump(
            make_pipeline(labels, model or LinearRegression()).fit(frame, y), tmp_path / "m.skops"
        )

    return save


@pytest.fixture
def explained(tmp_path, capsys):
    """The values of the row that the command explains, and its notes, for a table in a text."""

    def explain(table, *more, row="1"):
        if isinstance(table, pd.DataFrame):
            table = table.to_csv(index=False)
        (tmp_path / "data.csv").write_text(table, encoding="utf-8")
        files = [str(tmp_path / name) for name in ("m.skops", "data.csv", "r.json")]
        call = ["explain", *files[:2], "--row", row, "--samples", "200", "--json", files[2], *more]
        code, said = cli.main(call), capsys.readouterr().err
        if code:
            assert code == 2 and said.startswith("limetutor: ") and said.count("\n") == 1, said
            return None, said
        return json.loads((tmp_path / "r.json").read_text())["values"], said

    return explain


# --- rows ----------------------------------------------------------------------------------------------


def test_rows_are_counted_from_0_whatever_the_file_calls_them(saved, explained):
    """R writes names of rows without a name for their column, or with an empty one."""
    saved(NUMBERS)
    plain = NUMBERS.to_csv(index=False)
    named = NUMBERS.set_axis(range(1, 41)).to_csv()
    unnamed = named.removeprefix(",")  # a header that is shorter than the rows
    assert unnamed.startswith("age,income\n1,")
    for i in (0, 1, 39):
        values, notes = explained(plain, row=str(i))
        assert values == NUMBERS.iloc[i].to_dict() and notes == ""
        for table in (named, unnamed):
            values, notes = explained(table, row=str(i))
            assert values == NUMBERS.iloc[i].to_dict()
            assert f"rows are counted from 0: row {i} is the one called '{i + 1}'" in notes
    assert "from 0 to 39; got 40" in explained(unnamed, row="40")[1]


def test_a_column_without_a_name_is_a_feature_where_the_model_was_fitted_on_it(saved, explained):
    frame = NUMBERS.rename(columns={"age": "Unnamed: 0"})
    saved(frame)
    values, notes = explained(frame.to_csv(index=False).removeprefix("Unnamed: 0"))
    assert values == frame.iloc[1].to_dict() and notes == ""


def test_rows_that_are_longer_than_the_header_for_another_reason_are_refused(saved, explained):
    saved(NUMBERS[["age"]])
    lines = NUMBERS.to_csv(index=False).splitlines()
    comma = "\n".join([lines[0], *(f"{line}," for line in lines[1:])])
    assert "rows that end with a comma" in explained(comma)[1]
    counted = "age,income\n" + "".join(f"{i},{i**2},\n" for i in range(9))  # names of rows?
    assert "rows that end with a comma" in explained(counted)[1]
    two = "\n".join([lines[0], *(f"{i},x,{line}" for i, line in enumerate(lines[1:]))])
    assert "longer by two or more" in explained(two)[1]


# --- missing values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["NA", "None", "nan", "null", "N/A", "<NA>", "NULL"])
def test_words_for_missing_are_texts_among_texts(saved, explained, word):
    """A label "None" was a missing value, and another one was explained."""
    frame = NUMBERS.assign(allergy=np.resize([word, "pollen"], 40))
    saved(frame)
    values, notes = explained(frame, row="2")
    assert values["allergy"] == word
    assert f"column 'allergy' holds texts, and {word!r} in 20 row(s) is taken for one" in notes
    assert f"pass --missing {word}" in notes
    values, notes = explained(frame, row="1")
    assert values["allergy"] == "pollen"


def test_a_column_of_nothing_else_is_of_texts(saved, explained):
    frame = NUMBERS.assign(allergy="None")
    saved(frame)
    assert explained(frame)[0]["allergy"] == "None"


@pytest.mark.parametrize("word", ["NA", "None", "nan", "null", "-NaN", "#N/A N/A", ""])
def test_they_are_missing_values_among_numbers(saved, explained, word):
    frame = NUMBERS.assign(age=NUMBERS["age"].where(NUMBERS.index % 5 > 0))
    frame["allergy"] = np.resize(["pollen", "dust"], 40)
    saved(frame, model=HistGradientBoostingRegressor(max_iter=2))
    table = frame.to_csv(index=False, na_rep=word)
    values, notes = explained(table, row="5")
    expected = {"age": None, "income": frame["income"][5], "allergy": "dust"}
    assert values == expected and notes == ""
    assert explained(table, row="6")[0]["age"] == frame["age"][6]


def test_an_empty_cell_and_the_words_of_the_option_are_missing_everywhere(saved, explained):
    frame = NUMBERS.assign(allergy=np.resize(["?", "pollen"], 40))
    known = frame.assign(allergy=frame["allergy"].where(frame["allergy"] != "?"))
    saved(known)
    for table, more in ((frame, ("--missing", "?")), (known, ())):
        values, notes = explained(table, *more, row="2")
        assert values["allergy"] is None and notes == ""
    values, notes = explained(frame, row="2")
    assert values is None  # the model does not know "?"


def test_truth_values_with_gaps_stay_truth_values(tmp_path, explained):
    frame = NUMBERS.assign(smokes=np.resize(np.array([True, False, None], object), 40))
    model = HistGradientBoostingRegressor(max_iter=2).fit(frame.astype(float), np.arange(40))
    io.dump(model, tmp_path / "m.skops")
    for word, row, value in (("", "1", 0), ("NA", "0", 1), ("NA", "1", 0), ("None", "2", None)):
        values, notes = explained(frame.to_csv(index=False, na_rep=word), row=row)
        assert values["smokes"] == value and notes == ""


def test_classes_called_none_and_na_can_be_asked_for(saved, explained, tmp_path):
    classes = np.resize(["None", "NA", "nan"], 40)
    saved(NUMBERS.assign(c="x"), classes, LogisticRegression(max_iter=5000))
    found = {}
    for name in ("None", "NA", "nan"):
        table = NUMBERS.assign(c="x", y=classes)
        assert explained(table, "--target", "y", "--output", name)[0] is not None
        found[name] = json.loads((tmp_path / "r.json").read_text())["coef"]
    total = np.sum(list(found.values()), axis=0)
    np.testing.assert_allclose(total, 0, atol=1e-9)  # probabilities add up to 1
    assert found["None"] != found["NA"]


# --- texts that look like numbers ----------------------------------------------------------------------


def test_zip_codes_are_texts_where_the_option_says_so(saved, explained):
    frame = NUMBERS.assign(code=np.resize(CODES, 40))
    saved(frame)
    values, said = explained(frame, row="0")
    assert values is None and "such as zip codes, name it with --text" in said
    values, notes = explained(frame, "--text", "code", row="0")
    assert values["code"] == "02139" and notes == ""
    assert "--text must name columns of the table" in explained(frame, "--text", "zip")[1]


@pytest.mark.parametrize(
    ("numbers", "words", "said"),
    [(2, 2, ""), (3, 2, "in most rows"), (0, 500, ""), (0, 501, "501 different texts")],
)
def test_texts_are_labels_if_they_fill_half_of_a_column_and_are_at_most_500(numbers, words, said):
    cells = [*map(str, range(numbers)), *(f"word {k}" for k in range(words))]
    with pytest.raises(RefusedError, match=said) if said else nullcontext():
        assert tables.labels_of(pd.DataFrame({"a": cells}), []) == ["a"]


@pytest.mark.parametrize("cell", ["1_000", "١٢", "１２", "\xa012", "0x10", "1,000"])
def test_what_pandas_reads_as_text_is_no_number(saved, explained, cell):
    saved(NUMBERS)
    said = explained(f'{NUMBERS.to_csv(index=False)}"{cell}",1\n')[1]
    assert f"as in most rows, got {cell!r} in row 40; if it holds labels" in said
    assert explained(NUMBERS.to_csv(index=False) + "9" * 30 + ",1\n", row="40")[0]["age"] == 1e30


def test_a_column_of_texts_keeps_words_for_missing(saved, explained):
    frame = NUMBERS.assign(code=np.resize([*CODES, "NA"], 40))
    saved(frame)
    values, notes = explained(frame, "--text", "code", row="3")
    assert values["code"] == "NA" and notes == ""


# --- odd files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        "age,income\n" + "1,2\n" * 5 + "3,4,5,6\n",
        "age,income\n1,2\x00\n3,4\n",
        "age;income\n1;2\n",
        "age,income\n1,two\x1b[2J\n3,4\n5,6\n",
        "age,income\n" + "9" * 400 + ",1\n2,3\n",
        "age,income\ninf,1\n2,3\n",
        "age,age\n1,2\n3,4\n",
        '"age\nincome"\n1\n',
        "\n\n\n",
        "age,income\n,\n,\n",
    ],
)
def test_odd_tables_are_one_sentence_without_control_characters(saved, explained, table):
    saved(NUMBERS.assign(c="x"))
    values, said = explained(table, row="0")
    assert values is None
    assert all(c.isprintable() for c in said.rstrip("\n"))


def test_compressed_tables_are_refused(saved, tmp_path, capsys):
    """A few kilobytes may unpack to any size."""
    saved(NUMBERS)
    NUMBERS.to_csv(tmp_path / "data.csv.gz", index=False)
    files = [str(tmp_path / name) for name in ("m.skops", "data.csv.gz")]
    assert cli.main(["explain", *files, "--row", "0"]) == 2
    assert "data must be a CSV file" in capsys.readouterr().err


def test_a_table_may_come_through_a_pipe(saved, tmp_path):
    saved(NUMBERS)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[NUMBERS.to_csv(index=False)])
    writer.start()
    files = [str(tmp_path / name) for name in ("m.skops", "pipe")]
    assert cli.main(["explain", *files, "--row", "0", "--samples", "200"]) == 0
    writer.join()


def test_wide_tables_endless_devices_and_addresses_are_refused(
    saved, tmp_path, capsys, monkeypatch
):
    saved(NUMBERS)
    NUMBERS.to_csv(tmp_path / "data.csv", index=False)
    model, table = str(tmp_path / "m.skops"), tmp_path / "wide.csv"
    table.write_text(",".join(f"x{i}" for i in range(20_001)) + "\n")
    monkeypatch.setattr(tables, "MAX_PIPE", 100)
    for data, words in (
        (table, "at most 20,000 columns, got 20,001"),
        ("/dev/zero", "where it has no size"),
        ("/proc/self/status", "where it has no size"),  # as /proc/self/pagemap, of terabytes
        ((tmp_path / "data.csv").as_uri(), "there is no file"),
    ):
        assert cli.main(["explain", model, str(data), "--row", "0"]) == 2
        assert words in capsys.readouterr().err


def test_names_that_occur_twice_are_refused_unless_the_model_knows_them(saved, explained):
    table = NUMBERS.to_csv(index=False).replace("income", "age", 1)
    saved(NUMBERS[["age"]])
    assert "different names of columns, got 'age' more than once" in explained(table)[1]
    frame = NUMBERS.set_axis(["age", "age.1"], axis=1)  # as pandas reads it
    saved(frame)
    values, notes = explained(table)
    assert values == frame.iloc[1].to_dict() and notes == ""


def test_a_name_or_a_label_cannot_look_like_another_line(saved, explained, capsys, tmp_path):
    name, label = "age\n     +99 ± 0.1      fake", "red\r\n     +88\x1b[2J"
    frame = NUMBERS.rename(columns={"age": name}).assign(colour=np.resize([label, "blue"], 40))
    saved(frame)
    frame.to_csv(tmp_path / "data.csv", index=False)
    files = [str(tmp_path / file) for file in ("m.skops", "data.csv")]
    assert cli.main(["explain", *files, "--row", "0", "--samples", "500"]) == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) == 5 and "\x1b" not in said
    assert "age +99 ± 0.1 fake" in said and "colour = red +88[U+001B][2J" in said


# --- other ways to write a table -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sep", "encoding"), [(";", "utf-8"), ("\t", "utf-8"), (",", "utf-16"), ("|", "latin-1")]
)
def test_other_separators_and_encodings(sep, encoding, saved, explained, tmp_path, capsys):
    frame = NUMBERS.assign(
        city=np.where(np.arange(40) % 2, "Köln", "Łódź" if encoding != "latin-1" else "Ulm")
    )
    saved(frame)
    expected, _ = explained(frame)
    (tmp_path / "data.csv").write_bytes(frame.to_csv(index=False, sep=sep).encode(encoding))
    files = [str(tmp_path / name) for name in ("m.skops", "data.csv", "r.json")]
    call = ["explain", *files[:2], "--row", "1", "--samples", "200", "--json", files[2]]
    more = ["--sep", "tab" if sep == "\t" else sep, "--encoding", encoding]
    assert cli.main([*call, *more]) == 0
    assert json.loads((tmp_path / "r.json").read_text())["values"] == expected
    capsys.readouterr()
    assert cli.main(call) == 2
    hint = "pass --sep" if encoding == "utf-8" else "--encoding" if sep == "," else ""
    assert hint in capsys.readouterr().err


def test_what_separates_nothing_is_refused(saved, explained):
    saved(NUMBERS)
    for sep in (";;", "", '"'):
        assert "--sep must be one character" in explained(NUMBERS, "--sep", sep)[1]
    for name in ("klingon", "base64"):
        assert "--encoding must be the name of one" in explained(NUMBERS, "--encoding", name)[1]


def test_a_model_of_catboost_that_skops_has_read(explained, tmp_path):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostRegressor(iterations=5, verbose=0, allow_writing_files=False)
    io.dump(model.fit(NUMBERS, np.arange(40)), tmp_path / "m.skops")
    trust = ["--trust", "catboost.core.CatBoostRegressor"]
    assert explained(NUMBERS, *trust)[0] == NUMBERS.iloc[1].to_dict()
