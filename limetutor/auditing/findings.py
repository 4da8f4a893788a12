"""What an audit reports: findings with a code, words and numbers, and the audit of one explanation.

Words are for whoever has to decide on an explanation: what was found, what it means, what to do. The
symbols of the book (:class:`Terms`) appear only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from ..plotting import page as report
from ..results.result import BaseResult

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


def level(findings: Sequence[Finding]) -> str:
    """The severity of the worst finding; "ok" without any."""
    return LEVELS[max((LEVELS.index(finding.severity) for finding in findings), default=0)]


@dataclass(frozen=True)
class Terms:
    """The words for quantities that have a symbol in the book, or the symbols themselves."""

    symbols: bool = False

    def _either(self, words: str, symbols: str) -> str:
        return symbols if self.symbols else words

    @property
    def row(self) -> str:
        """The instance explained."""
        return self._either("this row", "ξ")

    @property
    def rows(self) -> str:
        """The same in the genitive."""
        return self._either("this row's", "ξ's")

    def at_width(self, nu: Any) -> str:
        """The bandwidth with its value."""
        return self._either(f"bandwidth {nu:.4g}", f"ν = {nu:.4g}")

    def samples(self, n: Any) -> str:
        """The number of samples."""
        return self._either(f"{n:,} samples", f"n = {n:,} samples")


PLAIN, SYMBOLS = Terms(), Terms(symbols=True)


Check = Callable[[Any], Iterator[Finding]]  # of a Case or a MaskCase
CHECKS: list[Check] = []  # of explanations of rows
MASK_CHECKS: list[Check] = []  # of explanations of texts and images


def check(function: Check) -> Check:
    """Register a check of explanations of rows."""
    CHECKS.append(function)
    return function


def mask_check(function: Check) -> Check:
    """Register a check of explanations of texts and images."""
    MASK_CHECKS.append(function)
    return function


class AuditCase:
    """What cases of rows, texts and images have in common: a subject with coefficients."""

    subject: Any
    is_lime: bool
    names: Any

    @property
    def coef(self) -> np.ndarray:
        """The coefficients, (d,)."""
        return self.subject.coef  # type: ignore[no-any-return]

    @property
    def prediction(self) -> float:
        """f(xi)."""
        return self.subject.prediction  # type: ignore[no-any-return]

    @property
    def top(self) -> float:
        """The largest absolute coefficient."""
        return float(np.max(np.abs(self.coef)))

    @property
    def n_name(self) -> str:
        """The argument that sets the number of samples."""
        return "num_samples" if self.is_lime else "n"

    def name(self, mask: np.ndarray) -> tuple[str, ...]:
        """Names of the features where mask is True."""
        return tuple(self.names[j] for j in np.flatnonzero(mask))

    def others_too(self, mask: np.ndarray, j: int) -> str:
        """A sentence about the features in ``mask`` that share a finding with feature j."""
        others = [self.names[k] for k in np.flatnonzero(mask) if k != j]
        return f" The same holds for {few(others)}." if others else ""


def numbers_at(mask: np.ndarray, **arrays: np.ndarray) -> dict[str, Any]:
    """The entries of arrays where mask is True, as lists: numbers of a finding."""
    return {name: array[mask].tolist() for name, array in arrays.items()}


def few(names: Sequence[str], most: int = 3) -> str:
    """List the first few names and count the others."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


@dataclass(frozen=True, eq=False)
class Audit(BaseResult):
    """The findings about one explanation, most severe first.

    Made by :func:`limetutor.audit`; ``case`` holds the explanation and what the checks computed of it.

    Examples
    --------
    >>> import limetutor as lt
    >>> found = lt.audit(lt.limit(lt.Linear([10, -10]), [0.961, 0.432], lt.Gaussian(), nu=0.53))
    >>> found.severity, found["critical-bandwidth"].features
    ('serious', ('x2',))
    """

    findings: tuple[Finding, ...]
    case: Any = field(repr=False)  # a Case, or a MaskCase of a text or an image

    problem_fields = ("case",)
    page_title = "Can this explanation be trusted?"

    @classmethod
    def of(cls, case: Any, checks: Iterable[Check] = CHECKS) -> Audit:
        """Run every check; findings of one severity stay in the order of the checks."""
        findings = [finding for check in checks for finding in check(case)]
        findings.sort(key=lambda finding: -SEVERITIES.index(finding.severity))
        return cls(tuple(findings), case)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(finding.code for finding in self.findings)

    @property
    def severity(self) -> str:
        """The severity of the worst finding: "ok" without any, "note", "warning" or "serious"."""
        return level(self.findings)

    @property
    def ok(self) -> bool:
        """Whether there is no finding beyond a note."""
        return self.severity in ("ok", "note")

    def __getitem__(self, code: str) -> Finding:
        for finding in self.findings:
            if finding.code == code:
                return finding
        raise KeyError(code)

    def __contains__(self, code: str) -> bool:
        return code in self.codes

    @cached_property
    def signs(self) -> Any:
        """The signs of slopes and contrasts, feature by feature."""
        return self.case.signs()

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

    def order(self) -> np.ndarray:
        """Features of the explanation, from the largest coefficient to the smallest."""
        return self.case.subject.order()  # type: ignore[no-any-return]

    def as_list(self) -> list[tuple[Any, float]]:
        """The explanation as `lime` lists it: pairs of name and coefficient, largest first."""
        return self.case.subject.as_list()  # type: ignore[no-any-return]

    def blocks(self) -> list[Any]:
        """The parts of its page: the verdict, the findings, and the explanation itself."""
        blocks = [report.heading("What was found")]
        if self.findings:
            rows = [
                (report.severity(f.severity), f.code, ", ".join(f.features), f.sentence, f.remedy)
                for f in self.findings
            ]
            columns = ["severity", "finding", "features", "what was found", "what to do"]
            blocks.append(report.table("Findings, the most severe first", columns, rows))
        else:
            blocks.append(report.paragraph("Nothing to worry about."))
        if str(self.signs):
            blocks.append(report.paragraph(str(self.signs)))
        if report.can_draw():
            listed = [f"{f.code} ({', '.join(f.features) or 'as a whole'})" for f in self.findings]
            alt = f"Bars for the effects; in doubt: {'; '.join(listed) or 'none'}."
            blocks.append(report.picture(self.plot(), alt))
        blocks.append(report.heading("The explanation"))
        symbols = self.case.terms.symbols
        return [*blocks, *self.case.subject.blocks(symbols=symbols, picture=False)]

    def __getstate__(self) -> dict[str, Any]:
        """The findings and the explanation, without the model and the data."""
        return {"findings": self.findings, "case": self.case.without_model(), "signs": self.signs}

    def headline(self) -> str:
        """One line: what was audited, and how many findings there are of each severity."""
        case, terms = self.case, self.case.terms
        subject = "the limit" if case.sampled is None else "the explanation"
        at = f"{'f(ξ) =' if terms.symbols else 'a prediction of'} {case.prediction:.4g}"
        samples = "" if case.n is None else f", {terms.samples(case.n)}"
        counts = [(s, sum(f.severity == s for f in self.findings)) for s in SEVERITIES[::-1]]
        nouns = {"serious": "serious finding"}
        verdict = ", ".join(f"{k} {nouns.get(s, s)}{'s' * (k > 1)}" for s, k in counts if k)
        return (
            f"Audit of {'lime' if case.is_lime else subject} at {at} "
            f"({terms.at_width(case.nu)}{samples}): {verdict or 'nothing to worry about found'}."
        )

    def __str__(self) -> str:
        lines = [self.headline()]
        for finding in self.findings:
            lines += [f"  {finding.severity} · {finding.code}", f"    {finding.sentence}"]
            lines += [f"    → {finding.remedy}"]
        return "\n".join([*lines, f"  {self.signs}"] if str(self.signs) else lines)

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
        """Draw the coefficients with their intervals and mark the doubtful ones; a matplotlib figure.

        The intervals hold together with 95%; a bar is solid where its interval does not hold 0 and
        nothing beyond a note was found about it. On ``ax`` where one is given; ``top`` is how many
        features are drawn, 12 if left out.
        """
        from ..plotting.audits import findings

        return findings(self, ax=ax, top=top, title=title)
