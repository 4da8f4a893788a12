"""What book/_ext does for a build, on a book of two pages."""

import subprocess
import sys
from pathlib import Path

import pytest
from browser import ROOT

CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
import limetutor_book

html_theme = "basic"

def setup(app):
    app.connect("html-collect-pages", limetutor_book.forget_old_words)
    app.connect("build-finished", limetutor_book.leave_stamp)
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "conf.py").write_text(CONF)
    (tmp_path / "index.rst").write_text("Welcome\n=======\n\n.. toctree::\n\n   other\n")
    (tmp_path / "other.rst").write_text("Other\n=====\n\nA page.\n")
    return tmp_path


def build(book: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", ".", "out"]
    return subprocess.run(command, cwd=book, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_build_leaves_no_words_of_the_one_before_and_a_stamp_only_if_it_is_good(book):
    page = book / "other.rst"
    index, stamp = (book / "out" / name for name in ("searchindex.js", ".built"))
    page.write_text("Zebras\n======\n\nQuaggas graze.\n")
    assert build(book).returncode == 0 and stamp.exists()
    assert "quagga" in index.read_text() and "zebra" in index.read_text()
    page.write_text("Other\n=====\n\nA :ref:`link-to-nowhere` of okapis.\n")
    done = build(book)
    assert done.returncode == 1 and "link-to-nowhere" in done.stderr
    assert not stamp.exists()
    page.write_text("Other\n=====\n\nGiraffes graze.\n")
    assert build(book).returncode == 0 and stamp.exists()
    words = index.read_text()
    assert "giraff" in words and "graze" in words and "welcom" in words
    assert not any(old in words for old in ("quagga", "zebra", "okapi"))
