"""Bad input: one sentence that names the argument, what came and what is allowed, before any work.

Tables of calls and what their sentence must hold (``support/refused.txt``), and odd calls of everything
public, drawn by chance (``support/odd_calls.py``). What is asked of a call, whatever it is given: it
returns, or raises a ValueError or a TypeError of this package, one sentence that names an argument (or
the caller's own error, as it was raised); a number that is not finite comes with a warning of this package
that says so; no other warning escapes; and it takes neither long nor much memory.
"""

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
import pandas as pd
import pytest
from sentences import says
from sklearn.exceptions import NotFittedError

import limetutor as lt
from limetutor.auditing.findings import Audit
from limetutor.bandwidth.risk import Risk
from limetutor.course.experiments import Runs
from limetutor.inputs.warning_classes import LimetutorWarning
from limetutor.precision.samples_needed import SampleSize
from limetutor.results.limit import Limit

NAN, INF = np.nan, np.inf
GAUSSIAN = lt.Gaussian()
TABLE = np.random.default_rng(0).normal(size=(40, 3))
FRAME = pd.DataFrame(
    {"size": TABLE[:, 0], "town": ["Rome", "Paris"] * 20, "rooms": [1, 2, 3, 5] * 10}
)
EMPIRICAL = lt.Empirical(TABLE)
MIXED = lt.Empirical(FRAME, categorical=["town", "rooms"])
CLASSIFIER = odd.RandomForestClassifier(3, random_state=0).fit(TABLE, ["a", "b", "c", "a"] * 10)
UNFIT_COLUMNS = odd.LinearRegression().fit(FRAME[["size", "rooms"]], TABLE[:, 1])


def each_of(title):
    """The lines of one table of refused.txt."""
    text = Path(odd.__file__).with_name("refused.txt").read_text(encoding="utf-8")
    table = re.search(rf"(?ms)^== {title}\n(.*?)(?:\n\n|\Z)", text)
    return pytest.mark.parametrize("case", table[1].strip().splitlines())


def evaluated(source):
    return eval(source, {**vars(odd), **globals()})


def changed(source, **working):
    return {
        "xi": [0.1, 0.2, 0.3],
        "world": GAUSSIAN,
        "nu": 1.0,
        **working,
        **evaluated(f"dict({source})"),
    }


@each_of("explain, before it calls the model")
def test_explain_refuses_before_it_calls_the_model(case):
    source, *said = case.split(" | ")
    calls = []

    def f(x):
        calls.append(x)
        return np.zeros(len(x))

    says(lambda: lt.explain(f, **changed(source)), (ValueError, TypeError), *said)
    assert calls == []


def test_the_call_that_these_cases_change_works():
    lt.explain(lambda x: np.zeros(len(x)), **changed("n=100"))


@each_of("explain, what a model or a kernel returns")
def test_explain_refuses_what_a_model_or_a_kernel_returns(case):
    source, *said = case.split(" | ")
    error = ValueError if source.startswith("kernel") else (ValueError, TypeError)
    says(lambda: lt.explain(**changed(source, f=lt.Linear([1, 2, 3]))), error, *said)


@each_of("limit")
def test_limit_refuses(case):
    source, *said = case.split(" | ")
    asked = changed(source, f=lt.Linear([1, 2, 3]), xi=[0, 0, 0])
    says(lambda: lt.limit(**asked), (ValueError, TypeError), *said)


@each_of("worlds and models")
def test_worlds_and_models_refuse(case):
    source, *said = case.split(" | ")
    says(lambda: evaluated(source), ValueError, *said)


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


# the names of all arguments of everything public; of explain_instance, and of what is asked of results
PUBLIC = [getattr(lt, name) for name in lt.__all__ if not name.endswith("Warning")]
ARGUMENTS = {
    name for f in [*PUBLIC, lt.Gaussian.from_data] for name in inspect.signature(f).parameters
}
ARGUMENTS |= set("segmentation_fn hide_color instance explainer title features position".split())
ARGUMENTS |= set("level x keep d control slider choice Figure top symbols".split())


def wrong_with(call: odd.OddCall) -> str | None:
    """What is wrong with the way a call ends, or None."""
    notes: list[str] = []
    escaped: list[str] = []

    def heard(message, category, filename, lineno, file=None, line=None):
        if issubclass(category, LimetutorWarning):
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


@each_of("calls that once ended badly, and no chance may forget")
def test_what_was_mended_stays_mended(case, monkeypatch):
    monkeypatch.setenv("LIMETUTOR_MODE", "static")
    assert wrong_with(odd.OddCall(0, 0, case)) is None


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


def test_whole_numbers_may_come_as_floats_and_numpy_numbers():
    f, xi = lt.Linear([1, 2, 3]), [0, 0, 0]
    for n in (100, 100.0, np.int32(100), np.float64(100)):
        assert lt.explain(f, xi, lt.Gaussian(p=np.int64(4)), 1.0, n=n).n == 100
    assert lt.Gaussian(p=4.0).boxes(1).law.prob.shape == (1, 4)


def test_a_seed_may_be_a_numpy_number_or_a_generator():
    f, xi = lt.Linear([1, 2, 3]), [0, 0, 0]
    one = lt.explain(f, xi, GAUSSIAN, 1.0, seed=7).coef
    np.testing.assert_array_equal(lt.explain(f, xi, GAUSSIAN, 1.0, seed=np.int64(7)).coef, one)
    rng = np.random.default_rng(7)
    np.testing.assert_array_equal(lt.explain(f, xi, GAUSSIAN, 1.0, seed=rng).coef, one)
    assert not np.array_equal(lt.explain(f, xi, GAUSSIAN, 1.0, seed=rng).coef, one)  # it moved on
