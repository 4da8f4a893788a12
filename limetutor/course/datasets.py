"""The small data sets of the book, as plain tables."""

from typing import Any, NamedTuple

import numpy as np

BOSTON_NAMES = (
    "CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT",
)  # fmt: skip


#: The people aboard the Titanic: lost, then saved; adults, then children; men, then women; first, second and
#: third class and crew (Dawson, Journal of Statistics Education 3, 1995).
ABOARD = (
    118, 154, 387, 670, 4, 13, 89, 3, 0, 0, 35, 0, 0, 0, 17, 0,
    57, 14, 75, 192, 140, 80, 76, 20, 5, 11, 13, 0, 1, 13, 14, 0,
)  # fmt: skip
ABOARD_NAMES = {
    0: ["first", "second", "third", "crew"], 1: ["man", "woman"], 2: ["adult", "child"],
}  # fmt: skip


class Dataset(NamedTuple):
    """Features (a DataFrame) and target of a data set."""

    X: Any
    y: np.ndarray


def diabetes(standardize: bool = False) -> Dataset:
    """442 patients, 10 measurements, disease progression a year later (scikit-learn)."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes(as_frame=True, scaled=False)
    return _table(data.data, data.target.to_numpy(dtype=float), standardize)


def boston(standardize: bool = False) -> Dataset:
    """506 census tracts around Boston, 13 features, median house value (Harrison and Rubinfeld).

    Only here to reproduce the paper's figures. scikit-learn withdrew the table: one column, ``B``,
    is built from the share of Black residents on the assumption that segregation raises prices.
    """
    import pandas as pd
    from mlxtend.data import boston_housing_data

    X, y = boston_housing_data()
    return _table(pd.DataFrame(X, columns=list(BOSTON_NAMES)), y, standardize)


def titanic() -> Dataset:
    """2,201 people aboard the Titanic: class, sex and age as places in ``ABOARD_NAMES``, and who was saved."""
    import pandas as pd

    saved, age, sex, klass = (
        np.repeat(place.ravel(), ABOARD) for place in np.indices((2, 2, 2, 4))
    )
    return Dataset(pd.DataFrame({"class": klass, "sex": sex, "age": age}), saved)


class Sentences(NamedTuple):
    """Sentences and, for each, whether it is German (1) or English (0)."""

    texts: list[str]
    german: np.ndarray


def jokes(without: str = "") -> Sentences:
    """The English and German one-liners of the package pyjokes, but for the one to be explained."""
    import pyjokes

    english, german = (pyjokes.get_jokes(language, "all") for language in ("en", "de"))
    pairs = [(text, k) for k, texts in enumerate((english, german)) for text in texts]
    texts, labels = zip(*(pair for pair in pairs if pair[0] != without), strict=True)
    return Sentences(list(texts), np.array(labels))


def _table(X: Any, y: np.ndarray, standardize: bool) -> Dataset:
    X = X.astype(float)
    return Dataset((X - X.mean()) / X.std(ddof=0) if standardize else X, y)
