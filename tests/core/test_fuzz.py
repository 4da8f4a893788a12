"""Odd calls of everything public: each returns numbers, or says in one sentence what is wrong.

What is asked of a call, whatever it is given: it returns, or raises a ValueError or a TypeError of
this package, one sentence that names an argument (or the caller's own error, as it was raised); a
number that is not finite comes with a warning of this package that says so; no other warning
escapes; and it takes neither long nor much memory.
"""

from __future__ import annotations

import inspect
import io
import json
import re
import resource
import time
import traceback
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import odd_calls as odd
import pytest
from sklearn.exceptions import NotFittedError

import limetutor as lt
from limetutor.auditing.audits import Audit
from limetutor.closed_forms import Limit
from limetutor.course.experiments import Runs
from limetutor.hiding import Risk
from limetutor.normal_limit import SampleSize

PACKAGE = str(Path(lt.__file__).parent)
SECONDS, MEGABYTES, LETTERS = 10.0, 1000.0, 400

# where the package calls what the caller passed: an error behind one of these is the caller's own
CALLER = {("arguments.py", "called"), ("explorer.py", "_frame")}

# what a result must hold in numbers
FINITE = {
    lt.Explanation: "coef intercept stderr local_prediction local_stderr score ess covariance",
    Limit: "coef intercept stderr local_prediction local_error alpha mu_tilde sigma_tilde log_C",
    SampleSize: "weighted",
    Risk: "near turned opposed at_risk by_feature",
    Runs: "coef coef_stderr intercept local_prediction ess",
    lt.Limits: "coef intercept prediction local_prediction stderr",
    lt.Explanations: "coef intercept prediction local_prediction stderr score ess",
    lt.Path: "nu coef stderr local_error ess",
    lt.SwitchFit: "coef intercept stderr intercept_stderr",
    lt.LimePrediction: "coef sd stderr intercept local_pred score",
}


# of explain_instance, and of what is asked of results
WORDS = {"segmentation_fn", "hide_color", "instance", "explainer", "title", "features", "position"}


def arguments() -> set[str]:
    """The names of all arguments of everything public."""
    public = [getattr(lt, name) for name in lt.__all__] + [lt.Gaussian.from_data]
    return (
        {
            parameter
            for function in public
            if callable(function) and not issubclass_of_warning(function)
            for parameter in inspect.signature(function).parameters
        }
        | {"level", "x", "keep", "d", "control", "slider", "choice", "Figure", "top", "symbols"}
        | WORDS
    )


def issubclass_of_warning(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, Warning)


ARGUMENTS = arguments()


def wrong_with(call: odd.OddCall) -> str | None:
    """What is wrong with the way a call ends, or None."""
    notes: list[str] = []
    escaped: list[str] = []

    def heard(message, category, filename, lineno, file=None, line=None):
        if issubclass(category, lt.LimetutorWarning):
            notes.append(str(message))
        elif not in_callers_code():
            escaped.append(f"{category.__name__}: {message} ({Path(filename).name}:{lineno})")

    start = time.process_time()
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        warnings.showwarning = heard
        try:
            found = call()
        except Exception as error:
            wrong = wrong_with_error(error)
        else:
            wrong = wrong_with_result(found, notes)
    took = time.process_time() - start
    if wrong is None and escaped:
        wrong = f"a warning escapes: {escaped[0]}"
    if wrong is None and took > SECONDS:
        wrong = f"it takes {took:.0f} s"
    return wrong


def in_callers_code() -> bool:
    """Whether what is running now was called by the package on behalf of the caller."""
    frames = traceback.extract_stack()
    return any((Path(frame.filename).name, frame.name) in CALLER for frame in frames)


def wrong_with_error(error: Exception) -> str | None:
    frames = traceback.extract_tb(error.__traceback__)
    places = [(Path(f.filename).name, f.name) for f in frames if f.filename.startswith(PACKAGE)]
    inside = frames[-1].filename.startswith(PACKAGE)
    told = f"{type(error).__name__} in {Path(frames[-1].filename).name}: {error}"
    if isinstance(error, odd.OwnError | NotFittedError):
        return None
    builtin = inside and not isinstance(error, TypeError)  # whose own frames Python does not show
    if places and places[-1] in CALLER and (not inside or builtin):
        return None  # the caller's own
    if not isinstance(error, ValueError | TypeError):
        return f"neither a ValueError nor a TypeError: {told}"
    if not inside:
        return f"it comes from somewhere else: {told}"
    message = str(error)
    if not message.endswith(".") or "\n" in message or len(message) > LETTERS:
        return f"not one sentence: {told}"
    first = re.match(r"\w*", message).group()
    if first not in ARGUMENTS and not set(re.findall(r"\w{2,}", message)) & ARGUMENTS:
        return f"it names no argument: {told}"
    return None


def wrong_with_result(found: Any, notes: list[str]) -> str | None:
    words = " ".join([*notes, *getattr(found, "notes", ())])
    for kind, names in FINITE.items():
        if isinstance(found, kind):
            for name in names.split():
                value = np.asarray(getattr(found, name), dtype=float)
                if not np.all(np.isfinite(value)) and not re.search("infinite|nan", words):
                    return f"{name} is {value} without a word"
            str(found), repr(found)
    if isinstance(found, Audit):
        json.dumps(found.to_dict(), allow_nan=False)
        odd_words = re.search(r"\b(nan|inf)\b", str(found))
        if odd_words:
            return f"an audit says {odd_words.group()}: {found}"
    for text in notes:
        if not text.rstrip(")").endswith(".") or "\n" in text or len(text) > LETTERS:
            return f"a warning that is not a sentence: {text}"
    return None


# calls that once ended badly, and no chance may forget
MENDED = (
    "lt.explain(f_sum, [0, 0, 0], lt.Gaussian(1e6, 1e-3), 0.3, ridge=1.0, n=500)",
    "lt.explain(f_large, X[0], lt.Empirical(X), 2, n=99, seed=0)",
    "lt.limit(f_sum, X[0], lt.Gaussian(), 1, ridge=5e-324, n=300)",
    "lt.explain(f_sum, X[0], lt.Empirical(CONSTANT), 1, n=99, seed=0).interval(1 - 1e-16)",
    "lt.repeat(f_sum, X[0], lt.Gaussian(), 1.0, seed=-1)",
    "lt.check([1.0], 1.0)",
    "lt.check('theorem/1', -(10**400))",
    "lt.Slider(Decimal('0.5'), 2, 1.5)",
    "lt.Slider(-1.0, 10**30, 2)",
    "lt.Slider(0, 1, 0.5, fmt='{:1000000000}')",
    "lt.switch_limit(lambda z: ['a'] * len(z), lt.text_switches(12))",
    "lt.switch_limit(f_complex, lt.text_switches(30))",
    "lt.switch_limit(g_large, lt.text_switches(30))",
    "lt.text_switches(10**9)",
    "lt.image_switches(12, 1e-3).inverse_covariance()",
    "lt.path(f_frame, MIXED.iloc[5], lt.Empirical(MIXED, categorical=['town']), samples=1000)",
    "lt.path(f_large, X[0], lt.Empirical(X), nu=[1.0, 2.0], samples=1000)",
    "lt.path(f_sum, X[0], lt.Empirical(X), kernel=k_zero, samples=1000)",
    "lt.limits(f_large, X[:3], lt.from_lime(lime('named')), 0.05, kernel='mismatch', samples=300)",
    "lt.audit(lt.Empirical(X), f_large, X[0], nu=0.5, ridge=0)",
    "lt.audit(lt.Empirical(X), f_sum, X[:2], nu=1, n_jobs=np.zeros(3))",
    "lt.explain(f_sum, X[0], lt.Empirical(X), 1, n=99, seed=0).to_html(top='a')",
    "lt.explain(f_sum, X[0], lt.Empirical(X), 1, n=np.float16(6e4), seed=np.longdouble('1e400'))",
    "lt.predict_lime(lime('no width'), f_sum, X[0])",
    "lt.predict_lime(lime('plain'), f_sum, X[0], model_regressor=sparse.eye(3))",
    "lt.audit(switched('images'), i_mean, np.ma.masked, segmentation_fn=SEGMENTS)",
    "lt.margin(model('boosting'))(X)",
    "lt.limits(OddModel(), FRAME.head(3), lt.from_lime(lime('tied')), 0.53, n=300, samples=500)",
    "lt.audit(lime('plain'), OddModel(), X[0])",
    "lt.predict_lime(lime('plain'), OddModel().predict, X[0])",
)


@pytest.mark.parametrize("source", MENDED)
def test_what_was_mended_stays_mended(source, monkeypatch):
    monkeypatch.setenv("LIMETUTOR_MODE", "static")
    assert wrong_with(odd.OddCall(0, 0, source)) is None


@pytest.mark.verify
def test_odd_calls_return_or_say_what_is_wrong(verified, verifying, monkeypatch):
    monkeypatch.setenv("LIMETUTOR_MODE", "static")
    count = 2000 if verifying else 300
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    failures = []
    for call in odd.odd_calls(seed=1, count=count):
        wrong = wrong_with(call)
        if wrong is not None:
            failures.append(f"odd_call({call.seed}, {call.index}): {call.source}\n    {wrong}")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert not failures, f"{len(failures)} of {count} calls\n" + "\n".join(failures)
    verified(f"odd calls of {count} that end badly", len(failures), 0)
    verified("memory that odd calls take, MB", grown, MEGABYTES)
