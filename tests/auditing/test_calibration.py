"""The page *What the audit checks*: every code, and counts that are those of the stored results."""

import re
import sys

from browser import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import calibrate
import harm

PAGE = (ROOT / "book/what_the_audit_checks.md").read_text(encoding="utf-8")
TWO_NAMES = {"off-data", "size", "ridge", "lasso"}  # codes that a check chooses as it goes


def test_the_page_has_every_code():
    files = (ROOT / "limetutor/auditing").rglob("*.py")
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    codes = set(re.findall(r'Finding\(\s*(?:#.*\s*)?"([a-z-]+)",', text)) | TWO_NAMES
    assert set(re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.M)) == codes


def test_the_tables_of_the_page_are_made_of_the_stored_results():
    stored = calibrate.MARKDOWN.read_text(encoding="utf-8")
    assert stored == calibrate.tables()
    held = [row for row in calibrate.judged() if row[0]["table"] in harm.held_out()]
    shown = [kinds for row, kinds in held if row["verdict"] == "show"]
    harmful = [(row, kinds) for row, kinds in held if kinds]
    assert len(held) >= 180 and len(shown) >= 40 and len(harmful) >= 80
    assert sum(map(bool, shown)) <= 0.02 * len(shown)
    assert sum(r["verdict"] in ("stop", "remark") for r, _ in harmful) >= 0.95 * len(harmful)
    assert sum(row["verdict"] == "unknown" for row, _ in held) <= 0.1 * len(held)
    simple = [row for row, _ in held if row["model"] in ("linear", "additive boosting")]
    assert sum(row["verdict"] in ("show", "remark") for row in simple) >= 0.4 * len(simple)
