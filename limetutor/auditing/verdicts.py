"""What an audit of one explanation says: its findings, most severe first, and the signs beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from .. import arguments as arg
from . import checks, data_checks, noise_checks  # noqa: F401  (to be registered)
from .findings import SEVERITIES, Finding, level, most_severe_first
from .registry import CHECKS
from .signs import Signs


@dataclass(frozen=True, eq=False)
class Audit:
    """What was found, most severe first."""

    findings: tuple[Finding, ...]
    case: Any = field(repr=False)  # a Case, or a MaskCase of a text or an image

    @classmethod
    def of(cls, case: Any, tried: Sequence[Callable[[Any], Iterator[Finding]]] = CHECKS) -> Audit:
        """Run every check."""
        return cls(most_severe_first([found for check in tried for found in check(case)]), case)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(finding.code for finding in self.findings)

    @property
    def severity(self) -> str:
        """How severe the worst finding is: "ok" without any, "note", "warning" or "serious"."""
        return level(self.findings)

    @property
    def ok(self) -> bool:
        """No finding beyond a note."""
        return self.severity in ("ok", "note")

    def __getitem__(self, code: str) -> Finding:
        for finding in self.findings:
            if finding.code == code:
                return finding
        raise KeyError(code)

    def __contains__(self, code: str) -> bool:
        return code in self.codes

    @cached_property
    def signs(self) -> Signs:
        """The signs of slopes and contrasts, feature by feature."""
        return Signs.of(self.case)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        case = self.case
        return {
            "ok": self.ok,
            "severity": self.severity,
            "findings": [asdict(finding) for finding in self.findings],
            "names": list(case.names),
            "coef": case.coef.tolist(),
            "stderr": None if case.stderr is None else case.stderr.tolist(),
            "prediction": case.prediction,
            "local_prediction": case.local_prediction,
            "nu": case.nu,
            "kernel": case.kernel,
            "n": case.n,
            "opposes_slope": self.signs.opposes.tolist(),
        }

    def to_frame(self) -> Any:
        """The findings as a DataFrame, the most severe first."""
        import pandas as pd

        parts = ("severity", "code", "features", "sentence", "remedy")
        rows = [{part: getattr(finding, part) for part in parts} for finding in self.findings]
        frame = pd.DataFrame(rows, columns=list(parts))
        return frame.assign(features=[", ".join(names) for names in frame["features"]])

    def to_html(self, path: Any = None, *, title: str | None = None) -> str | None:
        """A page that stands alone: the verdict, what was found, and the explanation itself."""
        from .. import report

        words = arg.text("title", title, "Can this explanation be trusted?")
        return report.written(report.page(words, *self.blocks(), lead=self.headline()), path)

    def blocks(self) -> list[Any]:
        """The parts of that page."""
        from .. import report

        rows = [
            (report.severity(f.severity), f.code, ", ".join(f.features), f.sentence, f.remedy)
            for f in self.findings
        ]
        columns = ["severity", "finding", "features", "what was found", "what to do"]
        found = [report.heading("What was found")]
        found += [report.table("Findings, the most severe first", columns, rows)] if rows else []
        found += [report.paragraph("Nothing to worry about.")] if not rows else []
        signs = str(self.signs)
        found += [report.paragraph(signs)] if signs else []
        if report.can_draw():
            drawn = [f"{f.code} ({', '.join(f.features) or 'as a whole'})" for f in self.findings]
            alt = f"Bars for the effects; in doubt: {'; '.join(drawn) or 'none'}."
            found.append(report.picture(self.plot(), alt))
        found.append(report.heading("The explanation"))
        return [*found, *self.case.subject.blocks(symbols=self.case.say.symbols, picture=False)]

    def __getstate__(self) -> dict[str, Any]:
        """What was found and of which explanation, without the model and the data."""
        return {"findings": self.findings, "case": self.case.light(), "signs": self.signs}

    def headline(self) -> str:
        """One line: what was looked at, and how it went."""
        case, say = self.case, self.case.say
        sampled = "the limit" if case.sampled is None else "the explanation"
        what = "lime" if case.is_lime else sampled
        samples = "" if case.n is None else f", {say.samples(case.n)}"
        if not self.findings:
            verdict = "nothing to worry about found"
        else:
            counts = [(s, sum(f.severity == s for f in self.findings)) for s in SEVERITIES[::-1]]
            verdict = ", ".join(f"{count} {_plural(s, count)}" for s, count in counts if count)
        where = f"{say.prediction(case.prediction)} ({say.at_width(case.nu)}{samples})"
        return f"Audit of {what} at {where}: {verdict}."

    def __str__(self) -> str:
        lines = [self.headline()]
        for finding in self.findings:
            lines += [f"  {finding.severity} · {finding.code}", f"    {finding.sentence}"]
            lines += [f"    → {finding.remedy}"]
        signs = str(self.signs)
        return "\n".join([*lines, f"  {signs}"] if signs else lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><strong>{escape(finding.severity)}</strong> <code>{escape(finding.code)}</code>: "
            f"{escape(finding.sentence)} <em>{escape(finding.remedy)}</em></li>"
            for finding in self.findings
        )
        signs = str(self.signs)
        return (
            f"<p>{escape(self.headline())}</p>"
            + (f"<ul>{items}</ul>" if items else "")
            + (f"<p>{escape(signs)}</p>" if signs else "")
        )

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """Coefficients with their intervals, the doubtful ones marked, as a matplotlib figure.

        The intervals hold together with 95%; a bar is solid where its interval does not hold 0 and
        nothing beyond a note was found about it. On ``ax`` where one is given; ``top`` is how many
        features are drawn, 12 if left out.
        """
        from ..plotting.audits import findings

        return findings(self, ax=ax, top=top, title=title)


def _plural(severity: str, count: int) -> str:
    if severity == "serious":
        return "serious finding" + "s" * (count > 1)
    return severity + "s" * (count > 1)
