"""What an audit reports: a code for machines, words for people, the numbers behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SEVERITIES = ("note", "warning", "serious")


@dataclass(frozen=True)
class Finding:
    """One thing to know: a ``code``, how severe, which features, the numbers, the words."""

    code: str
    severity: str
    features: tuple[str, ...]
    numbers: dict[str, Any]
    sentence: str
    remedy: str

    def __str__(self) -> str:
        return f"[{self.severity}] {self.sentence} {self.remedy}"
