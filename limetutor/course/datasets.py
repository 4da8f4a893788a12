"""The small data sets of the book, as plain tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

BOSTON_NAMES = (
    "CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT",
)  # fmt: skip


class Table(NamedTuple):
    """Features (a DataFrame) and target of a data set."""

    X: Any
    y: np.ndarray


def diabetes(standardize: bool = False) -> Table:
    """442 patients, 10 measurements, disease progression a year later (scikit-learn)."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes(as_frame=True, scaled=False)
    return _table(data.data, data.target.to_numpy(dtype=float), standardize)


def boston(standardize: bool = False) -> Table:
    """506 census tracts around Boston, 13 features, median house value (Harrison and Rubinfeld).

    Only here to reproduce the paper's figures. scikit-learn withdrew the table: one column, ``B``,
    is built from the share of Black residents on the assumption that segregation raises prices.
    """
    import pandas as pd
    from mlxtend.data import boston_housing_data

    X, y = boston_housing_data()
    return _table(pd.DataFrame(X, columns=list(BOSTON_NAMES)), y, standardize)


class Sentences(NamedTuple):
    """Sentences and, for each, whether it is German (1) or English (0)."""

    texts: list[str]
    german: np.ndarray


def jokes(without: str = "") -> Sentences:
    """The English and German one-liners of the package pyjokes, but for the one to be explained."""
    import pyjokes

    english, german = (pyjokes.get_jokes(language, "all") for language in ("en", "de"))
    kept = [(text, k) for k, texts in enumerate((english, german)) for text in texts]
    kept = [(text, k) for text, k in kept if text != without]
    return Sentences([text for text, _ in kept], np.array([k for _, k in kept]))


def _table(X: Any, y: np.ndarray, standardize: bool) -> Table:
    X = X.astype(float)
    return Table((X - X.mean()) / X.std(ddof=0) if standardize else X, y)
