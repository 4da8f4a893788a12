"""What may be done with an explanation: its audit, with the verdict in words for whoever decides.

An :class:`Audit` says first whether the explanation can be shown and the one reason for it, then what was
explained, then everything that was found and what was not checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from ..bandwidth.recommend import Recommendation
from ..cubes.shapley_table import shapley_table
from ..plotting import page as report
from ..results.result import BaseResult
from .case import Case
from .findings import (
    CHECKS,
    LEVELS,
    SEVERITIES,
    STATES,
    VERDICTS,
    Check,
    Checked,
    Finding,
    Try,
    few,
    level,
)
from .trials import levels_at, settled

WIDTHS = np.array([1.0, 1.25, 0.8, 1.5, 0.65, 2.0, 0.5, 4.0])  # times the one in use
LISTED = 10  # of the coefficients in the printed form


def run_checks(
    case: Any, checks: Iterable[Check], is_trial: bool = False
) -> tuple[tuple[Finding, ...], tuple[Checked, ...]]:
    """The findings, the most severe first, and what became of each check.

    Findings of one severity stay in the order of the checks. A model that is constant, or answers anew
    each time, leaves the others nothing to check. Remedies are tried, but in a trial of one.
    """
    findings: list[Finding] = []
    tries: dict[int, list[Try]] = {}
    checked, checks = [], tuple(checks)
    for check in checks:
        name = check.__name__.replace("_", "-")
        question = (check.__doc__ or "").strip().partition("\n")[0]
        hopeless = next(
            (f for f in findings if f.code in ("constant-model", "not-deterministic")), None
        )
        if hopeless is not None:
            ended = Checked("not checked", f"There is nothing to check: {hopeless.code}.")
        else:
            ended, before = Checked("passed"), len(findings)
            for result in check(case):
                if isinstance(result, Finding):
                    findings.append(result)
                elif isinstance(result, Try):
                    tries.setdefault(len(findings) - 1, []).append(result)
                else:
                    ended = result
            if found := findings[before:]:
                ended = Checked("found", ", ".join(finding.code for finding in found))
        checked.append(replace(ended, name=name, question=question))
    if not is_trial:
        for i, some in tries.items():
            findings[i] = settled(
                findings[i], some, findings, lambda other: run_checks(other, checks, True)[0]
            )
    findings.sort(key=lambda finding: -SEVERITIES.index(finding.severity))
    return tuple(findings), tuple(checked)


def verdict_of(findings: Iterable[Finding], checked: Iterable[Checked]) -> tuple[str, str]:
    """The verdict, a key of :data:`VERDICTS`, and the one reason for it."""
    worst = next(iter(findings), None)
    if worst is not None and worst.severity == "serious":
        return "stop", worst.sentence
    unknown = next((c for c in checked if c.state == "not checked" and c.needs), None)
    if unknown is not None:
        return "unknown", unknown.reason
    if worst is not None and worst.severity == "warning":
        return "remark", worst.sentence
    return "show", "Its reasons hold in every check that was made."


def verdict_in_words(key: str, checked: Iterable[Checked]) -> str:
    """The verdict as a sentence, with what is missing where it cannot be judged."""
    needs = [c.needs for c in checked if c.state == "not checked" and c.needs]
    return (
        f"{VERDICTS[key]} {few(list(dict.fromkeys(needs)))}." if key == "unknown" else VERDICTS[key]
    )


@dataclass(frozen=True, eq=False)
class Audit(BaseResult):
    """The verdict on one explanation, and the findings it rests on, most severe first.

    Made by :func:`limetutor.audit`; ``checked`` says what became of every check, ``case`` holds the
    explanation and what the checks computed of it.

    Examples
    --------
    >>> import limetutor as lt
    >>> found = lt.audit(lt.limit(lt.Linear([10, -10]), [0.961, 0.432], lt.Gaussian(), nu=0.53))
    >>> found.verdict, found["critical-bandwidth"].features
    ('Do not show it.', ('x2',))
    """

    findings: tuple[Finding, ...]
    checked: tuple[Checked, ...]
    case: Any = field(repr=False)  # a Case, or a MaskCase of a text or an image

    problem_fields = ("case",)
    page_title = "Can this explanation be shown?"

    @classmethod
    def of(cls, case: Any, checks: Iterable[Check] = CHECKS) -> Audit:
        """Run every check."""
        return cls(*run_checks(case, checks), case)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(finding.code for finding in self.findings)

    @property
    def severity(self) -> str:
        """That of the worst finding; "ok" without any."""
        return level(self.findings)

    @property
    def verdict(self) -> str:
        """Whether it can be shown, as a sentence."""
        return verdict_in_words(verdict_of(self.findings, self.checked)[0], self.checked)

    @property
    def reason(self) -> str:
        """The one reason for the verdict."""
        return verdict_of(self.findings, self.checked)[1]

    @property
    def ok(self) -> bool:
        """Whether it can be shown as it is: nothing beyond a note was found, and nothing left unchecked."""
        return verdict_of(self.findings, self.checked)[0] == "show"

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

    @cached_property
    def about(self) -> str:
        """What was explained: the prediction, the model, the settings."""
        return self.case.about()  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        case = self.case
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "ok": self.ok,
            "severity": self.severity,
            "about": self.about,
            "findings": [asdict(finding) for finding in self.findings],
            "checked": [asdict(checked) for checked in self.checked],
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

    def recommend(self) -> Recommendation:
        """The bandwidth whose audit finds least, of some from half to four times the one in use; None without."""
        if not isinstance(self.case, Case):
            return Recommendation(None, "A text or an image is audited at its own width alone.")
        widths = self.case.nu * WIDTHS
        levels = levels_at(self.case, widths, lambda case: run_checks(case, CHECKS, True)[0])
        best = int(np.argmin(levels))  # the first is the one in use
        if (word := LEVELS[min(levels[best], len(LEVELS) - 1)]) == "serious":
            return Recommendation(None, "At every width tried something serious is found.")
        kept = "Another width finds no less" if best == 0 else f"Here the worst is: {self.severity}"
        reason = f"At {self.case.terms.at_width(widths[best])} the worst that is found is: {word}. {kept}."
        return Recommendation(float(widths[best]), reason)

    def order(self) -> np.ndarray:
        """Features of the explanation, from the largest coefficient to the smallest."""
        return self.case.subject.order()  # type: ignore[no-any-return]

    def as_list(self) -> list[tuple[Any, float]]:
        """The explanation as `lime` lists it: pairs of name and coefficient, largest first."""
        return self.case.subject.as_list()  # type: ignore[no-any-return]

    def blocks(self) -> list[Any]:
        """The parts of its page: the verdict, the explanation, the findings, what was checked."""
        today = f"{date.today():%d %B %Y}"
        blocks = [
            report.heading("The explanation"),
            report.paragraph(f"{self.about} {today}."),
            *self.case.picture(),
        ]
        if report.can_draw():
            listed = [f"{f.code} ({', '.join(f.features) or 'as a whole'})" for f in self.findings]
            alt = f"Bars for the effects; in doubt: {'; '.join(listed) or 'none'}."
            blocks.append(report.picture(self.plot(), alt))
        symbols = self.case.terms.symbols
        blocks += self.case.subject.blocks(symbols=symbols, picture=False)
        if str(self.signs):
            blocks.append(report.paragraph(str(self.signs)))
        shown = self.order()[: min(LISTED, self.case.shown)]
        blocks += shapley_table(self.case.problem, self.case.coef, shown)
        blocks.append(report.heading("What was found"))
        if self.findings:
            rows = [
                (report.severity(f.severity), f.code, ", ".join(f.features), f.sentence, f.remedy)
                for f in self.findings
            ]
            columns = ["severity", "finding", "features", "what was found", "what to do"]
            blocks.append(report.table("Findings, the most severe first", columns, rows))
        else:
            blocks.append(report.paragraph("Nothing."))
        made = [(c.question, c.state, f"{c.reason} {_missing(c)}") for c in self._by_state()]
        if "other-boxes" in self and report.can_draw():
            from ..plotting.audits import other_boxes

            finding = self["other-boxes"]
            blocks.append(report.picture(other_boxes(finding), finding.sentence))
        columns = ["question", "outcome", "what was seen"]
        return [*blocks, report.heading("What was checked"), report.table("Checks", columns, made)]

    def _by_state(self) -> list[Checked]:
        """The checks: what was found first, then what was not checked."""
        return sorted(self.checked, key=lambda c: ("found", "not checked", "passed").index(c.state))

    def __getstate__(self) -> dict[str, Any]:
        """The findings and the explanation, without the model and the data."""
        state = {"findings": self.findings, "checked": self.checked}
        light = {"case": self.case.without_model(), "signs": self.signs, "about": self.about}
        return state | light

    def headline(self) -> str:
        """One line: the verdict, the reason for it, and where there are more remarks."""
        more = [f for f in self.findings[1:] if f.severity != "note"] if not self.ok else []
        named = (f"{f.code}{f' ({few(f.features)})' if f.features else ''}" for f in more)
        others = f" More remarks below: {', '.join(named)}." if more else ""
        return f"{self.verdict} {self.reason}{others}"

    def __str__(self) -> str:
        lines = [self.headline(), f"  {self.about}", *self._listed()]
        for finding in self.findings:
            lines += [f"  {finding.severity} · {finding.code}", f"    {finding.sentence}"]
            lines += [f"    → {finding.remedy}"]
        for state in STATES[::2]:
            some = [c for c in self.checked if c.state == state and (state != "passed" or c.reason)]
            lines += [f"  {state}: {c.name}. {c.reason} {_missing(c)}".rstrip() for c in some]
        return "\n".join([*lines, f"  {self.signs}"] if str(self.signs) else lines)

    def _listed(self) -> list[str]:
        """The largest coefficients, line by line."""
        case, order = self.case, self.order()[: min(LISTED, self.case.shown)]
        texts = self.as_list()[: len(order)]
        noise = [f" ± {case.stderr[j]:.2g}" if case.stderr is not None else "" for j in order]
        return [f"    {v:+.3g}{pm}  {name}" for (name, v), pm in zip(texts, noise, strict=True)]

    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><strong>{escape(finding.severity)}</strong> <code>{escape(finding.code)}</code>: "
            f"{escape(finding.sentence)} <em>{escape(finding.remedy)}</em></li>"
            for finding in self.findings
        )
        notes = [*self._listed(), *filter(None, [str(self.signs)])]
        return (
            f"<p><strong>{escape(self.verdict)}</strong> "
            f"{escape(self.headline().removeprefix(self.verdict))}</p>"
            f"<p>{escape(self.about)}</p>"
            + (f"<ul>{items}</ul>" if items else "")
            + "".join(f"<p>{escape(note)}</p>" for note in notes)
        )

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """Draw the coefficients with their intervals and mark the doubtful ones; a matplotlib figure.

        The intervals hold together with 95%; a bar is solid where its interval does not hold 0 and
        nothing beyond a note was found about it. On ``ax`` where one is given; ``top`` is how many
        features are drawn, 12 if left out.
        """
        from ..plotting.audits import findings

        return findings(self, ax=ax, top=top, title=title)


def _missing(checked: Checked) -> str:
    """What a check needs, in brackets."""
    return f"(needs {checked.needs})" if checked.needs else ""
