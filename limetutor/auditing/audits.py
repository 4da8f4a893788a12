"""Is this explanation to be trusted? One call, answers in words with numbers.

:func:`audit` takes an :class:`Explanation`, a :class:`Limit`, or a `lime` explainer with a model
and an instance, and returns an :class:`Audit`: a list of findings, each with a code for machines, a
sentence for people, the numbers behind it and what to change. No finding means that none of the
checks in :mod:`limetutor.auditing.checks` found anything. Chapter: the real lime.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from ..algorithm import Explanation, explain_quietly
from ..closed_forms import Limit
from ..lime_bridge import RIDGE, SAMPLES, from_lime
from .case import Case
from .checks import CHECKS
from .findings import SEVERITIES, Finding
from .signs import Signs


@dataclass(frozen=True, eq=False)
class Audit:
    """What was found, most severe first."""

    findings: tuple[Finding, ...]
    case: Case = field(repr=False)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(finding.code for finding in self.findings)

    @property
    def ok(self) -> bool:
        """No finding beyond a note."""
        return all(finding.severity == "note" for finding in self.findings)

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

    def headline(self) -> str:
        """One line: what was looked at, and how it went."""
        case = self.case
        sampled = "the limit" if case.sampled is None else "the explanation"
        what = "`lime`" if case.is_lime else sampled
        samples = "" if case.n is None else f", n = {case.n:,}"
        if not self.findings:
            verdict = "nothing to worry about found"
        else:
            counts = [(s, sum(f.severity == s for f in self.findings)) for s in SEVERITIES[::-1]]
            verdict = ", ".join(f"{count} {_plural(s, count)}" for s, count in counts if count)
        return f"Audit of {what} at f(ξ) = {case.prediction:.4g} (ν = {case.nu:.4g}{samples}): {verdict}."

    def __str__(self) -> str:
        lines = [self.headline()]
        for finding in self.findings:
            lines += [f"  {finding.severity} · {finding.code}", f"    {finding.sentence}"]
            lines += [f"    → {finding.remedy}"]
        signs = str(self.signs)
        return "\n".join([*lines, f"  {signs}"] if signs else lines)

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

        On ``ax`` where one is given; ``top`` is how many features are drawn, 12 if left out.
        """
        from ..plotting.results import findings

        return findings(self, ax=ax, top=top, title=title)


def _plural(severity: str, count: int) -> str:
    if severity == "serious":
        return "serious finding" + "s" * (count > 1)
    return severity + "s" * (count > 1)


def audit(
    subject: Any,
    f: Any = None,
    xi: Any = None,
    *,
    n: int = SAMPLES,
    output: Any = None,
    seed: int | None = 0,
) -> Audit:
    """Look for what makes an explanation untrustworthy.

    Parameters
    ----------
    subject
        An :class:`Explanation`, a :class:`Limit`, or a ``LimeTabularExplainer``.
    f, xi
        The model and the instance, for a `lime` explainer only.
    n, output
        For a `lime` explainer: its ``num_samples``, and the class or column to explain (1 for
        classifiers unless told otherwise, as in `lime`).
    seed
        Of the run that measures the sampling noise of a `lime` explainer.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear, explain
    >>> ex = explain(Linear([10, -10]), [0.961, 0.432], Gaussian(), nu=0.53, n=20_000, seed=0)
    >>> audit(ex).codes
    ('critical-bandwidth',)
    """
    if isinstance(subject, Explanation | Limit):
        if f is not None or xi is not None:
            raise ValueError("f and xi must be left out: an explanation knows its own.")
        case = Case(subject)
    else:
        if f is None or xi is None:
            raise ValueError(
                "f and xi must be given with a lime explainer: audit(explainer, model, instance)."
            )
        case = _of_lime(subject, f, xi, n, output, seed)
    findings = [finding for check in CHECKS for finding in check(case)]
    findings.sort(key=lambda finding: -SEVERITIES.index(finding.severity))
    return Audit(tuple(findings), case)


def _of_lime(explainer: Any, f: Any, xi: Any, n: int, output: Any, seed: int | None) -> Case:
    """What `lime` would do, by the same law: its bins, kernel, ridge and number of samples."""
    world = from_lime(explainer)
    if output is None and explainer.mode == "classification":
        output = 1
    # what a run warns of, the findings say
    ex = explain_quietly(
        f, xi, world, world.nu, n, seed, kernel="mismatch", ridge=RIDGE, output=output
    )
    return Case(ex, is_lime=True)
