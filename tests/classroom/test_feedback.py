"""Pages of feedback: all points, nothing hidden, and nothing of a student's that runs or is fetched."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import nbformat
import pandas as pd
import pytest
from browser import running_browser
from submissions import NAME, cell, solution

from limetutor.classroom.assignments import assignments
from limetutor.classroom.feedback import _exporter, page
from limetutor.classroom.texts import cleaned, in_html, mathml
from limetutor.cli import main

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


def told(**marks) -> dict:
    """Marks of one student, as grade writes them."""
    questions = {
        q.name: {"points": 0, "words": marks.get(q.answer, "")} for q in assignments()[NAME].judged
    }
    return {
        "student": "<b>Ada</b>", "assignment": NAME, "status": "altered", "points": 0,
        "max_points": 16, "notes": ["cell fit is missing"], "questions": questions,
    }  # fmt: skip


# --- texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b & <script>x</script>", "<p>a &lt; b &amp; &lt;script&gt;x&lt;/script&gt;</p>"),
        ("`a < b`", "<p><code>a &lt; b</code></p>"),
        ("[x](javascript:alert)", "<p>[x](javascript:alert)</p>"),
        ("![p](https://a.org/b.png)", "<p>[p https://a.org/b.png]</p>"),
        ('![p"><b>](attachment:b.png)', "<p>[p&quot;&gt;&lt;b&gt; attachment:b.png]</p>"),
        ("![p](attachment:a.png)", f'<p><img src="data:image/png;base64,{PIXEL}" alt="p"></p>'),
        ("![p](data:image/png;base64,AA)", "<p>[p data:image/png;base64,AA]</p>"),
    ],
)
def test_markdown_is_text(text, shown):
    attached = {"a.png": {"image/png": PIXEL}, "b.png": {"image/png": '"><script>'}}
    assert in_html(text, attached).strip() == shown


def test_formulas_are_mathml_and_stay_tex_where_they_cannot_be_read():
    assert "<msup>" in in_html("If $a^2 < b$, …") and "<code>" not in in_html("$a^2 < b$")
    assert 'display="block"' in in_html("$$a$$") and "<mtable" in in_html(
        "\\begin{align}a &= b\\end{align}"
    )
    assert mathml("\\frac{1", False) == "<code>\\frac{1</code>"
    assert mathml("\\href{javascript:alert(1)}{x}", False).count("href=") == 0
    assert mathml("x" * 3000, False).startswith("<code>")
    assert mathml(r"\def\a{\a\a}\a", True).startswith("<code>")


def test_tables_stay_tables():
    """... as pandas writes them, without its styles."""
    table = pd.DataFrame({"a": [1], "b": ["<i>"]})._repr_html_()
    found = cleaned(table)
    assert (
        all(f"<{tag}>" in found for tag in ("thead", "tbody", "th"))
        and "vertical-align" not in found
    )
    assert "&lt;i&gt;" in found and "&lt;th" not in found


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<a href='javascript:alert(1)'>x</a>",
        "<style>@import 'https://a.org'", "<iframe src='https://a.org'></iframe>", "<base href='https://a.org'>",
        "<meta http-equiv=refresh content='0;url=https://a.org'>", "<svg><script>alert(1)</script></svg>",
        "<p style='background: url(https://a.org)' onclick='alert(1)'>x</p>", "<form action='https://a.org'>",
    ],
)  # fmt: skip
def test_other_tags_and_attributes_go(html):
    assert not any(
        word in cleaned(html) for word in ("<script", "http", "javascript", "onerror", "on")
    )


# --- pages -----------------------------------------------------------------------------------


@pytest.fixture
def tracker():
    """A server that nobody should ask for anything, and what it was asked for."""
    asked: list[str] = []

    class Noted(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Noted) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()


def hostile(away: str = "https://tracker.example/"):
    """A notebook that tries, by each way into a page, to run something or to ask for something."""
    notebook = solution()
    script = f"<script>document.title = 'taken'; new Image().src = '{away}'</script>"
    svg = f'<svg xmlns="http://www.w3.org/2000/svg"><image href="{away}s.svg"/>{script}</svg>'
    datas = [
        {
            "text/html": f"{script}<b>mine</b><img src={away}1.png onerror=\"document.title='taken'\">"
        },
        {
            "text/html": f"<style>@import '{away}a.css'; body {{background: url({away}2.png)}}</style>"
        },
        {"text/html": f"<iframe src='{away}'></iframe><link rel=stylesheet href='{away}b.css'>"},
        {"text/html": f"<meta http-equiv=refresh content='0;url={away}'><base href='{away}'>"},
        {"image/svg+xml": svg},
        {"text/javascript": "document.title = 'taken'"},
        {"application/javascript": "document.title = 'taken'"},
        {"text/markdown": f"![x]({away}3.png) {script} $x^2$"},
        {"text/latex": script},
        {"text/plain": script},
        {"application/vnd.jupyter.widget-view+json": {"model_id": script}},
        {"image/png": f'"><img src={away}5.png>'},
    ]
    outputs = [nbformat.v4.new_output("display_data", data=data) for data in datas]
    named = {"filenames": {"image/png": f"{away}4.png"}, "image/png": {"width": f"1 {script}"}}
    outputs.append(
        nbformat.v4.new_output("display_data", data={"image/png": PIXEL}, metadata=named)
    )
    isolated = {"text/html": {"isolated": True}}
    outputs.append(nbformat.v4.new_output("display_data", data=datas[0], metadata=isolated))
    outputs.append(nbformat.v4.new_output("stream", text=f"\x1b[31m{script}"))
    outputs.append(nbformat.v4.new_output("error", ename=script, evalue=script, traceback=[script]))
    notebook.cells.insert(0, nbformat.v4.new_code_cell(script, outputs=outputs))
    text = f"{script}\n\n![x]({away}6.png) <img src='{away}7.png'> [here](javascript:alert)"
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell(text))
    notebook.cells.insert(0, nbformat.v4.new_raw_cell(script))
    state = {"application/vnd.jupyter.widget-state+json": {"state": script}}
    notebook.metadata.update(title=script, widgets=state, language_info={"name": script})
    return notebook


def test_a_page_shows_points_words_and_no_tag_of_a_student():
    notebook = hostile()
    notebook.cells.remove(cell(notebook, "fit"))
    text = page(notebook, told(edges="Count *again* <i>now</i>."), _exporter())
    assert "<script" not in text.lower()
    assert "<b>mine</b>" in text
    assert "<b>Ada</b>" not in text and "&lt;b&gt;Ada" in text
    assert "Count *again* &lt;i&gt;now" in text
    assert "0 of 16 points" in text and "cell fit is missing" in text and "fit: 0 of 3" in text
    assert "<math" in text, "formulas are there without MathJax"


def test_a_browser_runs_nothing_and_asks_for_nothing(tmp_path, tracker):
    """Nor would it if a tag of a student had come through: the policy of the page holds alone."""
    away, asked = tracker
    text = page(hostile(away), told(), _exporter())
    evil = f"<body><script>document.title = 'taken'</script><img src='{away}9.png'>"
    pages = {"page": text, "broken": text.replace("<body>", evil)}
    pages["open"] = pages["broken"].replace("Content-Security-Policy", "nothing")
    seen = {}
    with running_browser() as browser:
        for name, content in pages.items():
            path = tmp_path / f"{name}.html"
            path.write_text(content, encoding="utf-8")
            tab = browser.new_page()
            tab.goto(path.as_uri())
            for _ in range(100 if name == "open" else 3):
                if not asked:
                    tab.wait_for_timeout(100)
            assert tab.url == path.as_uri() and tab.locator("math").count() > 10
            seen[name] = tab.title(), sorted(set(asked))  # a browser may ask twice
    quiet = (f"{assignments()[NAME].title}: <b>Ada</b>", [])
    assert seen == {"page": quiet, "broken": quiet, "open": ("taken", ["/9.png"])}


def test_feedback_needs_a_graded_folder(tmp_path, capsys):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    asked = ["class", "feedback", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert main(asked) == 2
    assert "limetutor class grade" in capsys.readouterr().err


def test_there_is_a_page_for_whatever_was_handed_in(tmp_path):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    marks = [told() | {"student": "ada", "status": "missing"}]
    (tmp_path / "marks.json").write_text(json.dumps(marks))
    assert main(["class", "feedback", str(tmp_path / "in"), "--out", str(tmp_path)]) == 0
    text = (tmp_path / "feedback" / "ada" / f"{NAME}.html").read_text()
    assert "status: missing" in text
