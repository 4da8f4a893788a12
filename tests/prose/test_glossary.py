"""The glossary: every word has an explanation, and a page explains the first use of each."""

import re
from types import SimpleNamespace

import glossary
import pytest
from docutils import nodes
from docutils.utils import new_document

TERMS = glossary.terms()


def test_the_page_is_read():
    text = glossary.PAGE.read_text(encoding="utf-8")
    assert len(TERMS) == text.count("\n: ") > 30, "an entry that the pattern does not read"
    assert [t.name.lower() for t in TERMS] == sorted(t.name.lower() for t in TERMS)
    forms = [form.lower() for t in TERMS for form in t.forms]
    assert len(set(forms)) == len(forms), "a form of two words"
    assert len({t.anchor for t in TERMS}) == len(TERMS)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_an_explanation_is_short_and_can_be_shown_as_it_is(term):
    assert 30 < len(term.text) < 330
    assert not re.search(r"[$`*{}\\]", term.text), "no markup and no formula in a small note"
    assert term.met_in.startswith("ch-")


def paragraph(*children):
    found = nodes.paragraph()
    found += [nodes.Text(c) if isinstance(c, str) else c for c in children]
    return found


def raw(text):
    return nodes.raw("", text, format="html")


@pytest.fixture
def page():
    """A chapter: opening box, heading, folded answer, and text with links and formulas."""
    box, section = nodes.admonition(), nodes.section()
    box += paragraph("You need the tilted law.")
    link = nodes.reference("", "", nodes.Text("the contrast"))
    section += [
        nodes.title("", "Boxes of a world"),
        box,
        raw('<details class="answer">'),
        paragraph("A surrogate is folded away."),
        raw("</details>"),
        paragraph("Boxes hold ", link, " of the tilted law, and a law; the Tilted law of boxes."),
        paragraph("A surrogate, boxplots, a by-law and a ", nodes.literal("", "world"), "."),
    ]
    document = new_document("chapter")
    document += section
    return document


def test_the_first_use_in_running_text_is_explained(page):
    glossary.mark_first_uses(page, "glossary.html")
    links = [n.astext() for n in page.findall(nodes.raw) if "lt-term" in n.astext()]
    shown = [re.search(r">([^<]+)</a>", link)[1] for link in links]
    assert shown == ["Boxes", "tilted law", "law", "surrogate"]
    assert (
        'href="glossary.html#term-tilted-law" aria-describedby="note-term-tilted-law"' in links[1]
    )
    assert (
        'id="note-term-tilted-law" role="tooltip" hidden>The distribution that samples follow'
        in links[1]
    )
    assert page.astext().count("boxplots") == 1  # nothing of the text is lost


def test_only_pages_with_running_text_are_marked(page, monkeypatch):
    app = SimpleNamespace(
        env=SimpleNamespace(doc2path=lambda name: f"{name}.ipynb"),
        builder=SimpleNamespace(format="html", get_relative_uri=lambda here, there: "g.html"),
    )
    glossary.explain_terms(app, page, "book/weights")
    assert "g.html#term-law" in page.pformat()
    entries = new_document("glossary")
    entries += nodes.definition_list("", nodes.term("", "law"))
    glossary.explain_terms(app, entries, "book/glossary")
    assert next(entries.findall(nodes.term))["ids"] == ["term-law"]
