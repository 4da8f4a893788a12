"""How long a page takes: what is counted, and that the rates fit those who read it."""

import nbformat
import pytest
from browser import ROOT
from minutes import EXERCISES, RATES, Minutes, count, in_prose, minutes

# Counted on pages as they were when they were read, in the order of RATES; the minutes that the reading
# took, and with the exercises.
ESTIMATED = {
    "welcome": ((1233, 0, 5, 0, 7, 2, 2, 2, 1, 0, 2), (10, 22)),
    "ten_minutes": ((1491, 0, 18, 0, 40, 3, 4, 2, 1, 0, 3), (19, 33)),
    "discretization": ((2447, 4, 90, 2, 52, 5, 6, 3, 0, 1, 3), (40, 63)),
    "sampling": ((2028, 1, 63, 2, 60, 4, 7, 3, 0, 1, 3), (37, 58)),
    "weights": ((2354, 6, 100, 2, 54, 6, 6, 3, 0, 1, 3), (49, 74)),
    "surrogate": ((2311, 4, 102, 1, 83, 5, 5, 3, 0, 1, 3), (49, 72)),
}

# Another reader, of Part I: the story around patient 13.
STORY = {
    "welcome": ((1058, 0, 0, 0, 0, 3, 5, 1, 1, 0, 2), (11, 18)),
    "ten_minutes": ((781, 0, 9, 0, 10, 2, 3, 1, 1, 0, 3), (11, 20)),
    "discretization": ((1156, 0, 29, 0, 13, 3, 5, 1, 1, 0, 3), (15, 24)),
    "weights": ((1149, 2, 40, 0, 6, 4, 6, 1, 1, 0, 2), (20, 29)),
    "surrogate": ((1089, 1, 25, 0, 18, 3, 2, 1, 0, 1, 3), (19, 34)),
    "theorem": ((1053, 2, 25, 0, 14, 3, 3, 2, 1, 0, 3), (20, 34)),
    "switch_off": ((1126, 1, 31, 0, 13, 1, 3, 2, 1, 0, 3), (19, 33)),
    "real_lime": ((1170, 1, 24, 0, 11, 3, 4, 3, 1, 0, 2), (19, 38)),
    "local_error": ((838, 1, 7, 0, 11, 4, 4, 2, 1, 0, 2), (16, 26)),
    "trust": ((1042, 0, 4, 0, 18, 4, 2, 1, 1, 0, 3), (14, 23)),
}

# Three more, of the same pages: a student, a data scientist and a lecturer. They differ by 40 per cent, so
# what is stated lies between them.
THREE = {
    "welcome": ((1064, 0, 0, 0, 0, 3, 4, 1, 1, 0, 2), ((11, 20), (9, 16), (13, 20))),
    "ten_minutes": ((816, 0, 9, 0, 10, 2, 3, 1, 1, 0, 3), ((12, 24), (10, 18), (11, 21))),
    "discretization": ((1178, 0, 29, 0, 13, 3, 5, 1, 1, 0, 3), ((19, 30), (15, 25), (19, 30))),
    "weights": ((1189, 2, 40, 0, 6, 4, 6, 1, 1, 0, 2), ((26, 36), (18, 27), (24, 34))),
    "surrogate": ((1128, 1, 26, 0, 18, 3, 2, 1, 0, 1, 3), ((22, 44), (17, 32), (20, 42))),
    "theorem": ((1102, 2, 27, 0, 14, 3, 3, 2, 1, 0, 3), ((28, 43), (18, 33), (22, 38))),
    "switch_off": ((1222, 1, 32, 0, 14, 1, 3, 2, 1, 0, 3), ((22, 37), (15, 30), (18, 36))),
    "real_lime": ((1278, 1, 24, 0, 4, 3, 3, 3, 1, 0, 2), ((23, 47), (15, 34), (20, 48))),
    "local_error": ((863, 1, 8, 0, 11, 4, 3, 2, 1, 0, 2), ((18, 32), (13, 25), (18, 36))),
    "trust": ((1194, 0, 4, 0, 12, 4, 2, 1, 1, 0, 3), ((16, 29), (12, 24), (16, 30))),
}

# Three others, of Part I as it is now, in the same order.
AGAIN = {
    "welcome": ((12.5, 19.7), (10, 19), (12, 20)),
    "ten_minutes": ((10.9, 20.3), (10, 20), (11, 22)),
    "discretization": ((15.0, 24.9), (13, 23), (16.5, 27)),
    "weights": ((21.8, 31.2), (17, 26), (22.5, 32)),
    "surrogate": ((16.4, 35.2), (15, 29), (16, 35)),
    "theorem": ((19.4, 33.8), (16, 30), (17.5, 31)),
    "switch_off": ((14.8, 31.2), (14, 28), (14.5, 28)),
    "real_lime": ((17.7, 34.6), (15, 29), (17, 32)),
    "local_error": ((15.0, 24.1), (13, 22), (14, 24)),
    "trust": ((14.0, 24.4), (12, 22), (12.5, 24)),
}


def predicted(counts, without=frozenset()):
    parts = zip(RATES.items(), counts, strict=True)
    return sum(rate * number for (what, rate), number in parts if what not in without)


@pytest.mark.parametrize(("readings", "within"), [(ESTIMATED, 0.15), (STORY, 0.2)])
def test_the_rates_come_near_to_what_readers_said(readings, within):
    for counts, (reading, everything) in readings.values():
        assert predicted(counts, EXERCISES) == pytest.approx(reading, rel=within)
        assert predicted(counts) == pytest.approx(everything, rel=within)


def test_three_readers_took_about_what_is_stated():
    stated = {page: (predicted(c, EXERCISES), predicted(c)) for page, (c, _) in THREE.items()}
    for page, (_, taken) in THREE.items():
        for one, each in zip(stated[page], zip(*taken, strict=True), strict=True):
            assert one == pytest.approx(sum(each) / 3, rel=0.2), page
    for which, each in enumerate(zip(*(taken for _, taken in THREE.values()), strict=True)):
        for k in range(2):
            said = sum(both[k] for both in stated.values())
            assert said == pytest.approx(sum(pair[k] for pair in each), rel=0.2), which


def test_pages_state_what_readers_took():
    for page, taken in AGAIN.items():
        stated = minutes(ROOT / "book" / f"{page}.ipynb")
        for one, each in zip(stated, zip(*taken, strict=True), strict=True):
            assert one == pytest.approx(sum(each) / 3, rel=0.1), page


def test_part_one_takes_an_afternoon():
    stated = [minutes(ROOT / "book" / f"{page}.ipynb") for page in STORY]
    assert sum(page.reading for page in stated) <= 150 and sum(page.all for page in stated) <= 270


def test_the_rates_are_neither_high_nor_low_on_the_whole():
    readings = (*ESTIMATED.values(), *STORY.values())
    pages = [(counts, everything) for counts, (_, everything) in readings]
    pages += [(counts, both[1]) for counts, taken in THREE.values() for both in taken]
    stated = sum(predicted(counts) for counts, _ in pages)
    assert stated == pytest.approx(sum(taken for _, taken in pages), rel=0.05)


def test_what_is_counted():
    text = (
        "Three small words, $x$ and {ref}`ch-weights`.\n\n$$\ny\n$$\n\n"
        "```{prf:proof}\nClear.\n```\n<!-- number: 1 = not read -->\n"
        '<details class="proof">\n\n```{prf:proof}\nFolded: $x$.\n```\n\n</details>\n'
        "```{exercise} Much to read\n:label: ex-1\nThese words are not counted.\n```\n"
        '<div class="quiz">\n\n**1. Nor these?**\n\n**2. Nor those?**\n'
    )
    assert in_prose(text) == {
        "word": 8,  # and the name of the directive
        "formula in a line": 1,
        "formula on its own line": 1,
        "proof": 1,
        "exercise": 1,
        "quiz question": 2,
    }


def test_code_that_is_shown_and_figures_that_are_moved(tmp_path):
    code = nbformat.v4.new_code_cell
    figure = "lt.explore(\n    f,\n    nu=lt.Slider(1, 2),\n    xi=lt.Choice([1, 2]),\n)"
    cells = [
        code("import sys", metadata={"tags": ["remove-cell"]}),
        code("x = 1\n\nprint(x)"),
        code(figure, metadata={"tags": ["hide-input"]}),
        code('lt.check("mine/1", answer)'),
        code("import limetutor as lt", metadata={"tags": ["hide-input"]}),
        code("lt.explore(f, **machine.controls(1))", metadata={"tags": ["remove-input"]}),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "page.ipynb")
    assert count(tmp_path / "page.ipynb") == {"line of code": 2, "figure": 2, "control": 3}
    assert minutes(tmp_path / "page.ipynb") == (5, 5)


def test_how_minutes_read():
    assert str(Minutes(25, 40)) == "25 minutes, 40 with the exercises."
    assert str(Minutes(25, 25)) == "25 minutes."
    assert set(RATES) > EXERCISES
