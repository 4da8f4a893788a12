"""What an audit reports: findings with a code, words and numbers, and the audit of one explanation.

Every check ends in one of three ways (:class:`Checked`): passed, found, not checked. From them follows
the verdict. Words are for whoever has to decide on an explanation: what was found, what it means, what
to do. The symbols of the book (:class:`Terms`) appear only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy as np

from .reasons import REASONS, TRIED, SameReasons, same_reasons

SEVERITIES = ("note", "warning", "serious")
LEVELS = ("ok", *SEVERITIES)

#: What each level promises to whoever reads the explanation. Every check chooses by these.
MEANING = {
    "ok": "Nothing was found.",
    "note": "Good to know: the reasons on display, their signs and their sizes stand as they are.",
    "warning": (
        "Part of what is on display cannot be read as it stands. The finding says which part, and "
        "belongs beside it as a remark."
    ),
    "serious": (
        "The first reason on display, or most of them, do not hold, or it does not speak of this model "
        "at this row. Do not show it before it is mended."
    ),
}

STATES = ("passed", "found", "not checked")

#: What may be done with an explanation, by what was found; without a finding beyond a note it depends
#: on whether something was not checked.
VERDICTS = {
    "show": "Show it.",
    "remark": "Show it with this remark.",
    "stop": "Do not show it.",
    "unknown": "Cannot be judged without",
}
MIN_VISIBLE = 0.02  # of the largest coefficient: less is too small to see on display
DATA = "the training data (data=)"  # what most of what is not checked needs


@dataclass(frozen=True)
class Checked:
    """What became of a check: its ``state``, why, and what it ``needs`` if it was not checked.

    A check that does not apply needs nothing.
    """

    state: str
    reason: str = ""
    needs: str = ""
    name: str = ""
    question: str = ""


def passed(reason: str) -> Checked:
    """Looked at and in order, with what was seen."""
    return Checked("passed", reason)


def not_checked(reason: str, needs: str = "") -> Checked:
    """Not looked at: why, and what would make it possible."""
    return Checked("not checked", reason, needs)


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


@dataclass(frozen=True)
class Try:
    """A remedy of the finding that a check yielded before it, offered only if it works (``trials.py``).

    ``case`` makes the case with the remedy, or None where that cannot be done; ``advised`` is the change.
    """

    words: str
    advised: dict[str, Any]
    case: Callable[[], Any]


Check = Callable[[Any], Iterator[Finding | Checked | Try]]  # of a Case or a MaskCase
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
    covariance: Any  # the covariance of the coefficients over runs, (d, d); None without samples
    shown: Any  # how many features are on display
    terms: Terms
    row_name = ""  # what the row is called, where it has a name
    is_trial = False  # whether a remedy is tried: what chance decides must be clear of thresholds

    expected = property(attrgetter("coef"))  # what runs scatter around, as well as it is known

    def picture(self) -> list[Any]:
        """What was explained, for a page, where it can be shown: a text, an image."""
        return []

    @property
    def uncertainty(self) -> np.ndarray | None:
        """The covariance of another run from what is expected: more where that was seen in one run."""
        if self.covariance is None or self.expected is not self.coef or self.is_mean:
            return self.covariance
        return 2 * self.covariance

    @property
    def instance(self) -> str:
        """What was explained, in words."""
        return self.terms.row

    too_small = f"{MIN_VISIBLE:.0%} of the largest coefficient"  # to be seen on display
    coef, prediction = (
        property(attrgetter("subject.coef")),
        property(attrgetter("subject.prediction")),
    )
    is_mean = False  # whether the coefficients are means over runs, and not those of one

    @cached_property
    def same_reasons(self) -> SameReasons:
        """The reasons on display, and how surely other runs give them."""
        k, covariance = min(REASONS, self.shown, len(self.coef)), self.uncertainty
        if covariance is None:
            covariance = np.zeros((len(self.coef), len(self.coef)))
        return same_reasons(self.expected, covariance, k)

    @property
    def reasons(self) -> np.ndarray:
        """The features with the largest coefficients, at most three, that most runs would show.

        In a trial all that some of the runs that follow may show.
        """
        same = self.same_reasons
        if self.is_trial:
            some = np.flatnonzero(same.seen > 1 - TRIED)
            return some[np.argsort(-np.abs(self.expected[some]), kind="stable")]
        return same.features[same.each >= 0.5]

    def about(self) -> str:
        """What was explained, in a sentence: the prediction, its class, the model, the settings."""
        problem = getattr(self, "problem", None)
        model = "the model" if problem is None else model_name(problem)
        output = getattr(self.subject, "class_name", None) or class_name(problem)
        kind = "" if output is None else f" for class {output}"
        row = f" for row {self.row_name}" if self.row_name else f" for {self.instance}"
        n, nu = getattr(self, "n", None), getattr(self, "nu", float("nan"))
        how = [] if n is None else [self.terms.samples(n)]
        how += [self.terms.at_width(nu)] if np.isfinite(nu) else []
        subject = (
            "What lime says" if self.is_lime else "The limit" if n is None else "The explanation"
        )
        at = f"{'f(ξ) = ' if self.terms.symbols else 'the prediction '}{self.prediction:.4g}"
        return f"{subject} of {at}{kind} by {model}{row} ({', '.join(how)})."

    @property
    def top(self) -> float:
        """The largest absolute coefficient."""
        return float(np.max(np.abs(self.coef)))

    def visible(self, change: Any) -> Any:
        """Whether changes of coefficients can be seen beside the largest one; others are no finding."""
        return np.abs(change) > MIN_VISIBLE * self.top

    @property
    def n_name(self) -> str:
        """The argument that sets the number of samples."""
        return "num_samples" if self.is_lime else "n"

    @property
    def nu_name(self) -> str:
        """The argument that sets the bandwidth."""
        return "kernel_width" if self.is_lime else "nu"

    def name(self, mask: np.ndarray) -> tuple[str, ...]:
        """Names of the features where mask is True."""
        return tuple(self.names[j] for j in np.flatnonzero(mask))

    def others_too(self, mask: np.ndarray, j: int) -> str:
        """A sentence about the features in ``mask`` that share a finding with feature j."""
        others = [self.names[k] for k in np.flatnonzero(mask) if k != j]
        return f" The same holds for {few(others)}." if others else ""


def model_name(problem: Any) -> str:
    """What to call the model of a problem."""
    f = getattr(problem, "f", None)
    if f is None:
        f = problem.classifier.model or problem.classifier.call
    if isinstance(f, FunctionType):
        return "a function" if f.__name__ == "<lambda>" else f.__name__
    return type(f).__name__


def class_name(problem: Any) -> Any:
    """The class that a problem is about, by the explainer's name where it has one; None without."""
    output = getattr(problem, "output", None)
    names = getattr(getattr(problem, "world", None), "class_names", ())
    classes = list(getattr(problem.f, "classes_", range(len(names)))) if names else []
    return names[classes.index(output)] if output in classes[: len(names)] else output


def numbers_at(mask: np.ndarray, **arrays: np.ndarray) -> dict[str, Any]:
    """The entries of arrays where mask is True, as lists: numbers of a finding."""
    return {name: array[mask].tolist() for name, array in arrays.items()}


def few(names: Sequence[str], most: int = 3) -> str:
    """List the first few names and count the others."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
