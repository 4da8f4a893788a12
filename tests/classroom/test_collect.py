"""Exports of learning platforms, collected: everything in its place, nothing lost, nothing anywhere else."""

import io
import json
import os
import struct
import zipfile
from pathlib import Path

import platforms
import pytest
from platforms import (
    Person,
    contents,
    moodle_export,
    own_roster,
    people,
    worksheet,
    written,
    zipped,
)

from limetutor.classroom import collect, unpack
from limetutor.classroom.roster import read, spellings
from limetutor.cli import main

NAME = "lime_from_scratch"
MARK = "_assignsubmission_file_"
CLASS = people(200)
EVE, ADA = CLASS[4], CLASS[2]


def notebook(p: Person, remark: str = "") -> bytes:
    """One that its questions tell, whatever it is called."""
    source = f'hint("{NAME}/edges", edges)  # {p.id} {remark}'
    cell = {"cell_type": "code", "metadata": {}, "source": [source], "outputs": []}
    whole = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole).encode()


def collected(tmp_path: Path, roster: str, *exports: Path) -> tuple[dict[str, bytes], int]:
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    out = tmp_path / "submissions"
    asked = [*map(str, exports), "--roster", str(tmp_path / "roster.csv"), "--out", str(out)]
    code = main(["class", "collect", *asked])
    return contents(out), code


LAYOUTS = {
    "moodle": (lambda t: zipped(t / "m.zip", moodle_export(CLASS, notebook, NAME)), own_roster(CLASS, "moodle")),
    "moodle, its worksheet": (
        lambda t: zipped(t / "m.zip", moodle_export(CLASS, notebook, NAME)), worksheet(CLASS),
    ),
    "moodle, unpacked": (
        lambda t: written(t / "m", moodle_export(CLASS, notebook, NAME)), own_roster(CLASS, "moodle"),
    ),
    "canvas": (lambda t: zipped(t / "c.zip", platforms.canvas_export(CLASS, notebook, NAME)), own_roster(CLASS, "canvas")),
    "canvas, its gradebook": (
        lambda t: written(t / "c", platforms.canvas_export(CLASS, notebook, NAME)), platforms.canvas_gradebook(CLASS, "LIME"),
    ),
    "folders": (
        lambda t: written(t / "f", {f"{p.id}/{NAME}.ipynb": notebook(p) for p in CLASS}), own_roster(CLASS),
    ),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_200_of_200_are_in_place_and_stay_there(tmp_path, layout, capsys):
    """... and every file of the export is somewhere, and a second run changes nothing."""
    make, roster = LAYOUTS[layout]
    export = make(tmp_path)
    found, code = collected(tmp_path, roster, export)
    assert code == 0 and "200 of 200" in capsys.readouterr().out
    for p in CLASS:
        assert found[f"{p.id}/{NAME}.ipynb"] == notebook(p), p
    kept = [data for name, data in found.items() if name != collect.RECORD]
    others = (b"%PDF notes", b"<p>Here it is.</p>", b"<p>text</p>")
    assert sum(data in others for data in kept) == len(kept) - 200
    assert collected(tmp_path, roster, export) == (found, 0)
    platform = layout.partition(",")[0]
    if platform in ("moodle", "canvas"):
        numbers = {(p.id, NAME): str(getattr(p, platform)) for p in CLASS}
        assert collect.numbers(tmp_path / "submissions", platform) == numbers


def test_who_cannot_be_placed_is_said_and_kept(tmp_path, capsys):
    """Strangers, two of one name without their numbers, an anonymous export of numbers that nobody has."""
    # the number is somebody's, elsewhere
    stranger = Person("x", "Sam", "Stranger", CLASS[5].moodle, 1)
    files = moodle_export([*CLASS[:8], stranger], notebook, NAME)
    found, code = collected(tmp_path, own_roster(CLASS[:8]), zipped(tmp_path / "m.zip", files))
    said = capsys.readouterr().out
    assert code == 0 and "'Ada Lovelace' may be 's1000', 's1007'" in said
    assert "nobody in the list is 'Sam Stranger'" in said and "6 of 8" in said
    lost = [data for name, data in found.items() if name.startswith(collect.UNPLACED)]
    assert {notebook(p) for p in (*CLASS[:2], stranger)} <= set(lost)
    others = zipped(tmp_path / "o.zip", moodle_export([*CLASS[2:8], stranger], notebook, NAME))
    found, _ = collected(tmp_path / "o", own_roster(CLASS[2:8], "moodle"), others)
    assert all(found[f"{p.id}/{NAME}.ipynb"] == notebook(p) for p in CLASS[2:8])
    assert notebook(stranger) in [found[k] for k in found if k.startswith(collect.UNPLACED)]
    blind = {f"Participant_{p.moodle}{MARK}/a.ipynb": notebook(p) for p in CLASS[:8]}
    found, _ = collected(tmp_path / "..", worksheet(CLASS[:8]), zipped(tmp_path / "b.zip", blind))
    assert all(found[f"{p.id}/{NAME}.ipynb"] == notebook(p) for p in CLASS[:8])


def test_of_several_files_the_latest_counts_and_all_are_kept(tmp_path, capsys):
    ada = CLASS[2]
    first, second = notebook(ada, "first"), notebook(ada, "second")
    files = {f"{ada.id}/{NAME}.ipynb": first, f"{ada.id}/{NAME} (1).ipynb": second}
    files[f"{ada.id}/.ipynb_checkpoints/{NAME}-checkpoint.ipynb"] = notebook(ada, "checkpoint")
    roster = own_roster([ada])
    found, _ = collected(tmp_path, roster, zipped(tmp_path / "a.zip", files))
    assert found[f"{ada.id}/{NAME}.ipynb"] == second and first in found.values()
    assert notebook(ada, "checkpoint") in found.values()
    assert f"{NAME} (1).ipynb" in capsys.readouterr().out
    third = {f"{ada.id}/{NAME}.ipynb": notebook(ada, "third")}
    later, _ = collected(tmp_path, roster, zipped(tmp_path / "b.zip", third))
    assert later[f"{ada.id}/{NAME}.ipynb"] == notebook(ada, "third")
    assert {first, second, notebook(ada, "checkpoint")} <= set(later.values())


def test_an_untouched_copy_of_the_same_date_does_not_count(tmp_path):
    done, untouched = (notebook(ADA, f'student = "{x}"') for x in (ADA.id, "your id"))
    files = {f"{ADA.id}/{NAME}.ipynb": done, f"{ADA.id}/{NAME} (1).ipynb": untouched}
    found, _ = collected(tmp_path, own_roster([ADA]), zipped(tmp_path / "a.zip", files))
    assert found[f"{ADA.id}/{NAME}.ipynb"] == done and untouched in found.values()


# --- archives that mean harm -------------------------------------------------------------------------


def entry(name: str, mode: int = 0, **fields) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def made(*members: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as target:
        for info, data in members:
            target.writestr(info, data)
    return held.getvalue()


def nested(depth: int) -> bytes:
    data = b"deep inside"
    for _ in range(depth):
        data = made((entry("inner.zip"), data))
    return data


def many(count: int) -> bytes:
    return made(*((entry(f"{k}.txt"), b"") for k in range(count)))


def overlapping() -> bytes:
    """All entries of the directory share the bytes of one file."""
    data = made((entry("a.txt"), b"0" * 4_000_000))
    end = data.rindex(b"PK\x05\x06")
    start = struct.unpack("<L", data[end + 16 : end + 20])[0]
    one, count = data[start:end], 400
    tail = struct.pack("<HHLL", count, count, len(one) * count, start)
    return data[:start] + one * count + data[end : end + 8] + tail + data[end + 20 :]


def encrypted() -> bytes:
    data = bytearray(made((entry("a.txt"), b"secret")))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    return bytes(data)


ZEROS = made(
    *((entry(f"{k}"), bytes(4_900_000)) for k in range(2))
)  # each alone may be packed so well
HOSTILE = {
    "up": made((entry("../../../up.txt"), b"x"), (entry("..\\..\\up2.txt"), b"x")),
    "absolute": made((entry("/tmp/up3.txt"), b"x"), (entry("C:\\up4.txt"), b"x")),
    "link": made((entry("link.ipynb", 0o120777), b"/etc/passwd")),
    "device": made((entry("pipe", 0o010644), b"")),
    "link, then through it": made((entry("d", 0o120777), b"/tmp"), (entry("d/up5.txt"), b"x")),
    "bomb": made((entry("zeros.bin"), b"\0" * 60_000_000)),
    "deep": nested(12),
    "many": many(unpack.MAX_FILES // 8),
    "overlapping": overlapping(),
    "encrypted": encrypted(),
    "odd names": made((entry("a\nb\x1b[31m.txt"), b"x"), (entry("CON"), b"x"), (entry("." * 300), b"x")),
    "long names": made(*((entry(f"{letter * 80}{k}.{letter * 80}"), b"%d" % k) for letter in "a文𝓐" for k in range(2))),
    "together": made(*((entry(f"{k}.zip"), ZEROS) for k in range(9))),
    "other student": made((entry(f"../{CLASS[1].id}/{NAME}.ipynb"), b"stolen")),
    "not one": b"PK\x03\x04 and nothing else",
    "cut": platforms.archive({"a.txt": bytes(range(256)) * 400})[:500],
    "lzma": made((entry("a.txt", compress_type=zipfile.ZIP_LZMA), b"x" * 1000)),
    "doubled": made((entry("a.txt"), b"one"), (entry("A.TXT"), b"two")),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_mean_harm_cost_only_themselves(tmp_path, capsys):
    """All that is written is below the student's own folder, of bounded size; the others are collected."""
    eve, ben = CLASS[2], CLASS[3]
    files = {f"{eve.id}/{name}.zip": data for name, data in HOSTILE.items()}
    files |= {f"{p.id}/{NAME}.ipynb": notebook(p) for p in (CLASS[1], ben)}
    before = set(tmp_path.parent.rglob("*")) | set(Path("/tmp").glob("up*"))
    found, code = collected(tmp_path, own_roster(CLASS[1:4]), zipped(tmp_path / "all.zip", files))
    said = capsys.readouterr().out
    assert code == 0 and found[f"{CLASS[1].id}/{NAME}.ipynb"] == notebook(CLASS[1])
    assert found[f"{ben.id}/{NAME}.ipynb"] == notebook(ben)
    hers = {name: data for name, data in found.items() if name.startswith(f"{eve.id}/")}
    theirs = {f"{p.id}/{NAME}.ipynb" for p in (CLASS[1], ben)}
    assert set(found) - set(hers) == theirs | {collect.RECORD}
    assert sum(map(len, hers.values())) < 70_000_000 and not any(os.sep == name[0] for name in hers)
    for name in (
        "link",
        "device",
        "bomb",
        "encrypted",
        "not one",
        "cut",
        "lzma",
        "many",
        "deep",
        "together",
    ):
        assert 1 <= said.count(f"{name}.zip") <= 4, name
    new = set(tmp_path.parent.rglob("*")) | set(Path("/tmp").glob("up*"))
    assert all(tmp_path in p.parents or p == tmp_path for p in new - before)
    assert not any(p.is_symlink() for p in (tmp_path / "submissions").rglob("*"))
    assert not any("\n" in name or "\x1b" in name for name in found)


def test_links_in_a_folder_are_not_followed(tmp_path, capsys):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / f"{NAME}.ipynb").write_text("secret")
    export = written(tmp_path / "in", {f"{CLASS[3].id}/{NAME}.ipynb": notebook(CLASS[3])})
    (export / CLASS[2].id).symlink_to(tmp_path / "secret")
    (export / CLASS[3].id / "more.ipynb").symlink_to(tmp_path / "secret" / f"{NAME}.ipynb")
    found, _ = collected(tmp_path, own_roster(CLASS[2:4]), export)
    assert b"secret" not in found.values() and "it is a link" in capsys.readouterr().out
    (tmp_path / "submissions" / CLASS[3].id / collect.OTHER).symlink_to(tmp_path / "secret")
    assert collected(tmp_path, own_roster(CLASS[2:4]), export)[1] == 2


HERS = f"{ADA.name}_{ADA.moodle}{MARK}/{NAME}.ipynb"
REPLACING = {
    "canvas": ("ngeve_504_7_hw.zip", HERS), "folder": (f"{EVE.id}/hw.zip", HERS), "a zip": (f"{EVE.id}.zip", HERS),
    "stranger, canvas": ("nobody_9_7_hw.zip", HERS), "stranger, folder": ("x9/hw.zip", HERS),
    "canvas, to Moodle": (f"ngeve_504_7_{ADA.name}_{ADA.moodle}{MARK}{NAME}.ipynb", ""),
    "blind, flat": (f"Participant_{EVE.moodle}{MARK}Participant_{ADA.moodle}{MARK}{NAME}.ipynb", ""),
    "blind": (f"Participant_{EVE.moodle}{MARK}/hw.zip", f"x_1{MARK}/{NAME}.ipynb"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("years", "kept", "words"),
    [
        ((2026, 2025), 0, "of 2026-01-01 00:00:00 is kept, that of 2025-01-01 00:00:00 is older"),
        ((2025, 2026), 1, "of 2025-01-01 00:00:00 is replaced by that of 2026-01-01 00:00:00"),
        ((2026, 1980), 1, "of 2026-01-01 00:00:00 is replaced by that of an unknown date"),
    ],
)  # fmt: skip
def test_of_several_runs_the_newer_counts(tmp_path, capsys, years, kept, words):
    """... by the date in the platform's archive; and it is said, also the second time; all are kept."""
    given = [notebook(ADA, f"{k}") for k in range(2)]
    for k in (0, 1, 1) if kept == 0 else (0, 1):
        inner = made((zipfile.ZipInfo(f"{NAME}.ipynb", (2030 - k, 1, 1, 0, 0, 0)), given[k]))
        outer = zipfile.ZipInfo(f"{ADA.id}/hw.zip", (years[k], 1, 1, 0, 0, 0))
        (tmp_path / "m.zip").write_bytes(made((outer, inner)))
        capsys.readouterr()
        found, _ = collected(tmp_path, own_roster([ADA]), tmp_path / "m.zip")
    assert found[f"{ADA.id}/{NAME}.ipynb"] == given[kept] and given[1 - kept] in found.values()
    said = capsys.readouterr().out
    assert f"{ADA.id}: {NAME} {words}." in said and "1 of 1" in said
    (row,) = [r for r in collect.recorded(tmp_path / "submissions") if r["assignment"]]
    assert f"of {row['date'] or 'an unknown date'}" in said and "hw.zip" in row["from"]


@pytest.mark.parametrize("name", ["\x1b[2J\nGone", "Ada\rBen", "\u202eada"])
def test_a_name_controls_no_terminal(tmp_path, capsys, name):
    export = zipped(tmp_path / "m.zip", {f"{name}_1{MARK}/a.ipynb": notebook(ADA)})
    collected(tmp_path, own_roster([ADA]), export)
    said = capsys.readouterr().out
    assert "Not placed" in said and ascii(name)[1:-1] in said
    assert all(line.isprintable() for line in said.split("\n")) and name not in said


@pytest.mark.parametrize("case", REPLACING)
def test_nobody_hands_in_for_another(tmp_path, case):
    """... and nobody switches off the placing of others: the outermost name decides."""
    outer, inner = REPLACING[case]
    late = zipfile.ZipInfo(inner, (2030, 1, 1, 0, 0, 0))
    theirs = notebook(EVE) if not inner else made((late, notebook(EVE)))
    blind = {f"Participant_{p.moodle}{MARK}/{NAME}.ipynb": notebook(p) for p in (ADA, CLASS[3])}
    own = blind if case.startswith("blind") else {f"{ADA.id}/{NAME}.ipynb": notebook(ADA)}
    export = zipped(tmp_path / "all.zip", {**own, outer: theirs})
    roster = own_roster(CLASS[2:5], "canvas" if "canvas" in case else "moodle")
    found, _ = collected(tmp_path, roster, export)
    assert found[f"{ADA.id}/{NAME}.ipynb"] == notebook(ADA)
    if not case.startswith("stranger"):
        assert found[f"{EVE.id}/{NAME}.ipynb"] == notebook(EVE)
    assert not [name for name in found if name.startswith(f"{ADA.id}/{collect.OTHER}")]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "are none"), ("id,name\n", "lists none"), ("name\nAda", "a column for the id"),
        ("id\n1", "a column for the name"), ("id,name\n../up,Ada", "got '../up'"),
        ("id,name\nada,Ada\n Ada ,Ben", "repeats 'Ada'"), ("id,name\n=1,Ada", "no sign"),
        ("id,name\nunplaced,Ada", "got 'unplaced'"), (f"id,name\n{'x' * 101},Ada", "of at most 100"),
    ],
)  # fmt: skip
def test_a_list_that_is_none_gets_a_sentence(tmp_path, capsys, table, words):
    (tmp_path / "in").mkdir()
    assert collected(tmp_path, table, tmp_path / "in")[1] == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "--roster" in said and words in said


@pytest.mark.parametrize(
    ("table", "column", "blank"),
    [
        ("Full name,ID number,Email address\nAda,1,a@x\nBen,2,b@x", "ID number", ()),
        ("Full name,Email address\nAda,a@x\nBen,b@x", "Email address", ()),
        ("Full name,ID number,Email address\nAda,1,a@x\nBen,,b@x", "ID number", (("Ben", "b@x"),)),
        ("Full name,ID number,Email address\nAda,,a@x\nBen,,b@x", "Email address", ()),
        ("id,id,name\n1,,Ada", "id", ()),
        ("name,id,number\nAda,,1\nBen,,2", "number", ()),
    ],
)  # fmt: skip
def test_where_ids_come_from_is_said(tmp_path, capsys, table, column, blank):
    (tmp_path / "in").mkdir()
    assert collected(tmp_path, table, tmp_path / "in")[1] == 0
    said = capsys.readouterr().out
    assert f"the column {column!r}" in said and said.count("Warning") == len(blank)
    assert all(f"{name!r} has no id there; {taken!r} is taken" in said for name, taken in blank)


def test_lists_as_spreadsheets_write_them(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes("id;name;e-mail\n1;Müller, Eva;e@x\n".encode("cp1252"))
    (eva,) = read(path).students
    assert (eva.id, eva.name, eva.email) == ("1", "Müller, Eva", "e@x")
    assert spellings("Eva Müller") & spellings("Müller, Eva")
    assert "evamuller" in spellings("MÜLLER EVA")
