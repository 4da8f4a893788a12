"""An audit of one explanation: its forms, its words, its picture."""

import json
import re
import warnings

import numpy as np
import planted
import pytest
from audited_rows import HEALTHY, WORLD

import limetutor as lt
from limetutor.auditing.findings import LEVELS, MEANING, Finding, not_checked, passed
from limetutor.auditing.verdicts import verdict_of


def critical(**options):
    ex = lt.explain(lt.Linear([10.0, -10.0]), [0.961, 0.432], WORLD, 0.53, n=5000, seed=0)
    return lt.audit(ex, **options)


def test_forms_of_the_answer():
    found = critical()
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["ok"] is False and len(plain["findings"]) == len(found.findings)
    assert plain["findings"][0]["code"] == "critical-bandwidth"
    assert plain["coef"] == found.case.coef.tolist() and plain["kernel"] == "gaussian"
    text, html = str(found), found._repr_html_()
    for finding in found.findings:
        assert finding.sentence in text and finding.remedy in text
        assert f"<code>{finding.code}</code>" in html
    assert "critical-bandwidth" in found and "ridge" not in found
    with pytest.raises(KeyError):
        found["ridge"]
    limit = lt.audit(lt.limit(*HEALTHY))
    assert limit.to_dict()["stderr"] is None and "<ul>" not in limit._repr_html_()


def test_the_most_severe_come_first():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.FitWarning)
        ex = lt.explain(lt.Linear([10.0, -10.0, 3.0]), [0.9, 0.432, 0.1], WORLD, 0.53, n=40, seed=0)
    found = lt.audit(ex)
    assert len(found.findings) >= 3
    ranks = [LEVELS[::-1].index(finding.severity) for finding in found.findings]
    assert ranks == sorted(ranks)
    assert not re.search(r"nan|\binf\b", " ".join(map(str, found.findings)))


def test_the_picture_marks_what_is_doubted():
    texts = [text.get_text() for text in critical().plot().axes[0].texts]
    assert any("critical bandwidth" in text for text in texts)
    healthy = lt.audit(lt.limit(*HEALTHY)).plot().axes[0]
    assert not any(text.get_text() for text in healthy.texts)
    assert [label.get_text() for label in healthy.get_yticklabels()] == ["x4", "x3", "x2", "x1"]


GREEK = re.compile(r"[Ͱ-Ͽ²±≤≥√∑→`]")


@pytest.mark.parametrize("name", planted.KINDS)
def test_nobody_needs_symbols_to_read_a_finding(name):
    twins = planted.KINDS[name](np.random.default_rng(0))
    for row in (*twins.planted().rows, *twins.clean().rows):
        for finding in row.findings:
            assert not GREEK.search(finding.words), finding.words
            assert finding.sentence.endswith(".") and finding.remedy.endswith(".")
            assert "nan" not in finding.words.split()


def test_symbols_on_request():
    assert "ν = 0.53" in str(critical(symbols=True))
    assert not GREEK.search(re.sub("[→±]", "", str(critical())))


def test_every_level_has_a_meaning():
    assert tuple(MEANING) == LEVELS == ("ok", "note", "warning", "serious")


def test_a_verdict_follows_from_what_was_found_and_what_was_not_checked():
    """limetutor.auditing.verdicts: serious stops; what is missing is worse to show than a remark."""
    found = {word: (Finding("a", word, (), {}, f"{word}.", "b."),) for word in LEVELS[1:]}
    missing, idle = not_checked("no data.", "data"), not_checked("does not apply.")
    for findings, checked, key in (
        ((), (passed("fine."), idle), "show"),
        (found["note"], (idle,), "show"),
        (found["warning"], (idle,), "remark"),
        (found["warning"], (missing,), "unknown"),
        ((), (missing,), "unknown"),
        (found["serious"], (missing,), "stop"),
    ):
        assert verdict_of(findings, checked)[0] == key
