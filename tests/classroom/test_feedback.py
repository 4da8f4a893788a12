"""Pages of feedback: all points, nothing hidden, and nothing of a student's that runs or is fetched."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import nbformat
import pytest
from browser import running_browser
from submissions import NAME, cell, solution

from limetutor.classroom.assignments import assignments
from limetutor.classroom.feedback import _exporter, page
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
    image = f"<img src={away}1.png onerror=\"document.title='taken'\">"
    imports = f"@import '{away}a.css'; body {{background: url({away}2.png)}}"
    datas = [
        {"text/html": f"{script}<b>mine</b>{image}"},
        {"text/html": f"<style>{imports}</style>"},
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
    new = nbformat.v4.new_output
    named = {"filenames": {"image/png": f"{away}4.png"}, "image/png": {"width": f"1 {script}"}}
    outputs = [
        *(new("display_data", data=data) for data in datas),
        new("display_data", data={"image/png": PIXEL}, metadata=named),
        new("display_data", data=datas[0], metadata={"text/html": {"isolated": True}}),
        new("stream", text=f"\x1b[31m{script}"),
        new("error", ename=script, evalue=script, traceback=[script]),
    ]
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


PAYLOADS = ["1 onerror=alert(1) x", '"><img src=x onerror=alert(1)>', "'onload='alert(1)", "</style><svg onload=x>"]  # fmt: skip
ODD = [None, 5, [], [5], {"a": 1}, [[]]]


def spoilt(part, payload, keys=("cell_type", "output_type", "source")):
    """A notebook with the payload in the place of each value, but for these keys, and in each name."""
    if isinstance(part, dict):
        kept = {k: v if k in keys else spoilt(v, payload) for k, v in part.items()}
        return kept | {"alt": payload, str(payload): payload}
    return [spoilt(value, payload) for value in part] if isinstance(part, list) else payload


@pytest.mark.parametrize("payload", [*PAYLOADS, *ODD], ids=repr)
def test_no_part_of_a_notebook_becomes_a_tag_or_an_attribute(payload):
    """Neither metadata, from which templates take the size of a picture, nor anything else."""
    notebook = spoilt(json.loads(json.dumps(hostile())), payload)
    for output in (output for one in notebook["cells"] for output in one.get("outputs", [])):
        output["data"] = {"image/png": PIXEL}
        output["metadata"] = {"image/png": {"width": payload, "height": 200, "alt": payload}}
    notebook["cells"].append(notebook["cells"][2] | {"outputs": payload, "source": payload})
    text = page(notebook, told(edges=str(payload)), _exporter())
    assert text.count(PIXEL) > 5 and 'height="200"' in text
    assert not re.search(r"<[^>]*[\s\"']on\w+=|<svg|<img src=.x", text)


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


@pytest.mark.parametrize(
    "change",
    [
        {"student": "../../outside"}, {"student": ".."}, {"student": "a\0"}, {"student": 5}, {"notes": 7},
        {"points": "1"}, {"max_points": 10**400}, {"questions": []}, {"status": None},
    ],
)  # fmt: skip
def test_marks_that_were_changed_are_refused_and_nothing_is_written(tmp_path, capsys, change):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    asked = ["class", "feedback", str(tmp_path / "in"), "--out", str(tmp_path)]
    for text in (json.dumps([told() | change]), "[" * 10**5, "null", ""):
        (tmp_path / "marks.json").write_text(text)
        assert main(asked) == 2
        said = capsys.readouterr().err
        assert "its marks.json is not as that wrote it" in said and said.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "marks.json"]
