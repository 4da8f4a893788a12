"""The small data sets: what they are, and that standardising standardises."""

import numpy as np
import pytest

from limetutor.course import datasets


@pytest.mark.parametrize(("name", "shape"), [("diabetes", (442, 10)), ("boston", (506, 13))])
def test_a_table_has_its_rows_and_names(name, shape):
    X, y = getattr(datasets, name)()
    assert X.shape == shape and len(y) == shape[0]
    assert len(set(X.columns)) == shape[1]
    assert np.all(np.isfinite(X.to_numpy())) and np.all(np.isfinite(y))
    scaled, same = getattr(datasets, name)(standardize=True)
    np.testing.assert_allclose(scaled.mean(), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(ddof=0), 1, rtol=1e-12)
    np.testing.assert_array_equal(y, same)


def test_boston_is_the_table_of_the_paper():
    X, y = datasets.boston()
    assert tuple(X.columns) == datasets.BOSTON_NAMES
    # in thousands of dollars, Harrison and Rubinfeld
    assert y.mean() == pytest.approx(22.53, abs=0.01)


def test_jokes_come_in_two_languages_and_one_can_be_left_out():
    texts, german = datasets.jokes()
    assert len(texts) == len(german) > 300 and set(german) == {0, 1}
    assert any("nicht" in text.split() for text, k in zip(texts, german, strict=True) if k)
    assert not any("nicht" in text.split() for text, k in zip(texts, german, strict=True) if not k)
    rest = datasets.jokes(without=texts[5])
    assert texts[5] not in rest.texts and len(rest.texts) == len(rest.german) == len(texts) - 1


def test_aboard_the_titanic_were_so_many():
    """Totals by class, of women and of children, and of those saved, as other tables have them."""
    X, saved = datasets.titanic()
    assert np.bincount(X["class"]).tolist() == [325, 285, 706, 885]
    assert np.bincount(X["class"], saved).tolist() == [203, 118, 178, 212]
    assert [(X[who].sum(), saved[X[who] == 1].sum()) for who in ("sex", "age")] == [
        (470, 344), (109, 57),
    ]  # fmt: skip
    assert list(X) == ["class", "sex", "age"]
    assert [len(names) for names in datasets.ABOARD_NAMES.values()] == (X.max() + 1).tolist()
