"""What an audit reports: a code for machines, words for people, the numbers behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SEVERITIES = ("note", "warning", "serious")
LEVELS = ("ok", *SEVERITIES)

#: What each level promises to whoever reads the explanation. Every check chooses by these.
MEANING = {
    "ok": "Nothing was found.",
    "note": "Good to know: all numbers, signs and names on display stand as they are.",
    "warning": (
        "Part of what is on display cannot be read as it stands: an amount, a sign, a feature. The "
        "finding says which; the rest stands."
    ),
    "serious": (
        "What is on display is wrong, or does not speak of this model at this row. Do not show it "
        "before it is mended."
    ),
}


@dataclass(frozen=True)
class Finding:
    """One thing to know: a ``code``, how severe, which features, the numbers, the words."""

    code: str
    severity: str
    features: tuple[str, ...]
    numbers: dict[str, Any]
    sentence: str
    remedy: str

    @property
    def words(self) -> str:
        """What it means, and what to do."""
        return f"{self.sentence} {self.remedy}"

    def __str__(self) -> str:
        return f"[{self.severity}] {self.words}"


def most_severe_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The same findings, those of one severity in their order."""
    return tuple(sorted(findings, key=lambda finding: -SEVERITIES.index(finding.severity)))


def level(findings: Sequence[Finding]) -> str:
    """How severe the worst of them is; "ok" without any."""
    return LEVELS[max((LEVELS.index(finding.severity) for finding in findings), default=0)]
