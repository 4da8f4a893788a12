"""Pages that stand alone: nothing in a name runs, hides or asks for anything outside."""

import re

import numpy as np
import pytest
from hostile import HOSTILE, read
from hypothesis import given, settings
from hypothesis import strategies as st
from standins import result

from limetutor.plotting import page as report
from limetutor.plotting.results import coefficients


def a_page(names=HOSTILE) -> str:
    rows = [(name, -1.5 * k, k, report.severity("serious")) for k, name in enumerate(names)]
    return report.page(
        names[0],
        report.heading("Names"),
        report.paragraph(*names),
        report.items(names),
        report.facts((name, name) for name in names),
        report.table(names[1], [*names[:3], "how bad"], rows),
        lead=names[2],
    )


def test_whatever_a_name_holds_is_text_on_the_page():
    page = a_page()
    plain, tags = "".join(read(page).words), read(page).tags
    for name in HOSTILE:
        assert report.visible(name) in plain
    assert not {"script", "img", "link", "iframe", "object", "a"} & set(tags)
    assert tags.count("style") == 1
    assert set(tags) == set(read(a_page(("plain",) * 12)).tags) | {"bdi"}
    page.encode("utf-8")


def test_a_page_has_no_address_and_no_handler():
    attributes = read(a_page()).attributes
    assert not [name for name in attributes if name.startswith("on")]
    assert not {"src", "href", "action"} & set(attributes)
    assert "url(" not in re.sub(r"(?s)<body>.*", "", a_page())


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(), max_size=12))
def test_any_text_comes_back_as_it_was_but_for_what_cannot_be_seen(words):
    found = read(str(report.paragraph(words)))
    assert set(found.tags) <= {"p", "bdi"}
    shown = report.visible(words).replace("\r\n", "\n").replace("\r", "\n")
    assert "".join(found.words).replace("\r\n", "\n").replace("\r", "\n") == shown
    assert not any(report._hidden(c) for c in shown)


@pytest.mark.parametrize(
    ("value", "words"),
    [(-1.25, "−1.25"), (0, "0"), (np.float64(1e-9), "1e−09"), (np.nan, "unknown"),
     (np.inf, "beyond all bounds"), (-np.inf, "below all bounds"), (123456.0, "1.235e+05")],
)  # fmt: skip
def test_numbers_are_readable(value, words):
    assert report.number(value) == words


def test_a_table_says_what_its_cells_belong_to():
    page = report.table("Effects", ["feature", "effect", "rows"], [("age", -0.5, 12_000)])
    assert "<caption>Effects</caption>" in page
    assert page.count('scope="col"') == 3 and page.count('scope="row"') == 1
    assert '<td class="number">−0.5</td><td class="number">12,000</td>' in page


def test_text_is_not_taken_for_markup():
    with pytest.raises(TypeError, match="blocks must come from"):
        report.page("A title", "<b>text</b>")  # type: ignore[arg-type]


def test_a_page_can_be_put_into_a_file(tmp_path):
    path = tmp_path / "report.html"
    assert report.written(a_page(), path) is None
    assert path.read_text(encoding="utf-8") == a_page() == report.written(a_page())


def test_pictures_bear_hostile_names():
    coef = np.arange(len(HOSTILE), 0, -1.0)
    names = result(coef, coef / 9, HOSTILE)
    drawn = report.picture(coefficients(names), HOSTILE[0], HOSTILE[1])
    found = read(drawn)
    assert not {"script", "img", "image", "style", "a"} & set(found.tags)
    assert found.attributes["aria-label"] == [HOSTILE[0]]
    assert not [v for v in found.attributes.get("href", []) if not v.startswith("#")]
    twice = drawn + report.picture(coefficients(names), "another", "")
    assert "a$$" in "".join(found.words) and twice.count("<svg") == 2
