"""Rows, models and explainers that audits are tested with, and the numbers that sentences state."""

import re

import numpy as np
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import limetutor as lt

WORLD = lt.Gaussian()


HEALTHY = (lt.Linear([5.0, -3.0, 2.0, 1.0]), [1.1, -1.2, 1.0, -0.9], WORLD, 1.5)


def numbers_in(sentence, names=()):
    """The numbers a sentence states, each with half a unit of its last digit; names left out."""
    for name in sorted(names, key=len, reverse=True):
        sentence = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "", sentence)
    for words in ("lime 0.2.0.1", "indistinguishable from 0", "95%"):
        sentence = sentence.replace(words, "")
    found = []
    for digits, decimals, power, percent in re.findall(
        r"([-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?)(%?)", sentence
    ):
        unit = 0.01 if percent else 1.0
        last = 10.0 ** (-max(len(decimals) - 1, 0)) * (10.0 ** int(power[1:]) if power else 1.0)
        found.append((float(digits.replace(",", "")) * unit, 0.5001 * last * unit))
    return found


def assert_states(finding, names, *values):
    """Every number in the sentence is one of ``values``, given or as (value, relative tolerance).

    Whole numbers above 100 may be rounded to three or four digits (``:.3g``).
    """
    values = [value if isinstance(value, tuple) else (value, 0.0) for value in values]
    for stated, half in numbers_in(finding.sentence, names):
        assert any(abs(stated - v) <= half + tolerance * abs(v) for v, tolerance in values), (
            stated,
            values,
            finding.sentence,
        )


X = np.random.default_rng(7).standard_normal((400, 4))


LINEAR = lt.Linear([2.0, -1.0, 0.5, 1.5])


def explainer(table, **options):
    """That of `lime`, for regression."""
    return LimeTabularExplainer(table, mode="regression", random_state=0, **options)


EXPLAINER = explainer(X)


def severity_of(table, code):
    """How severe a finding is in each row, "ok" where it is not."""
    found = [{f.code: f.severity for f in row.findings} for row in table.rows]
    return [codes.get(code, "ok") for codes in found]


def severity_in(audit, code):
    """How severe a finding is, "ok" where there is none."""
    return audit[code].severity if code in audit else "ok"


def wide(d, seed=0, n=5000):
    """d features, of which two have an effect."""
    rng = np.random.default_rng(seed)
    a = np.zeros(d)
    a[:2] = 3.0, 2.0
    return lt.explain(lt.Linear(a), rng.choice([-1.2, 1.2], d), lt.Gaussian(), 3.0, n, seed=seed,
                      kernel="mismatch")  # fmt: skip


def small_width(width, model=LinearRegression()):  # noqa: B008
    """Diabetes by a linear model, with this kernel width."""
    data = load_diabetes(scaled=False)
    X = np.delete(data.data, 1, axis=1)  # without sex, whose box collapses
    names = [name for name in data.feature_names if name != "sex"]
    lime = explainer(X, feature_names=names, kernel_width=width)
    return lime, model.fit(X, data.target), X[13]
