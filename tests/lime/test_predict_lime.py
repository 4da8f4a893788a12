"""What :func:`predict_lime` refuses, in one sentence, for tables, texts and images."""

import numpy as np
import pytest
from lime.lime_image import LimeImageExplainer
from lime.lime_tabular import LimeTabularExplainer
from lime.lime_text import LimeTextExplainer
from passages import IMAGE, TEXT, bright, passage, probability, squares
from people import small_forest, table
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

import limetutor as lt

ROW = table("people")[0][0]
GAP = np.where(np.arange(8) == 0, np.nan, ROW)


def of_row(f=None, instance=ROW, **how):
    X, _, categorical = table("people")
    made = LimeTabularExplainer(X, categorical_features=categorical, random_state=0)
    return lt.predict_lime(made, small_forest() if f is None else f, instance, **how)


def of_text(f=probability, instance=TEXT, kernel_width=25, kernel=None, **how):
    made = LimeTextExplainer(kernel_width=kernel_width, kernel=kernel, random_state=0)
    return lt.predict_lime(made, f, instance, **how)


def of_image(instance=IMAGE, **how):
    made = LimeImageExplainer(random_state=0)
    return lt.predict_lime(made, bright, instance, **{"segmentation_fn": squares} | how)


def at_times(f):
    """What f says of one text, and another thing of several."""
    return lambda texts: probability(texts) if len(texts) == 1 else f(texts)


def by_number(a, b):
    return np.arange(len(a)) @ np.abs(a - b) / 1000


REFUSED = {
    of_row: [
        ({"label": 3}, "label must be a column from 0"),
        ({"label": -1}, "label must be a column from 0 to 2 or one of the classes"),
        ({"label": "x"}, "one of the classes"),
        ({"labels": (0, 1)}, "labels must hold one label"),
        ({"top_labels": 2}, "top_labels must be 1"),
        ({"num_features": 0}, "num_features must be 1"),
        ({"num_samples": 1}, "num_samples must be 2"),
        ({"instance": csr_matrix(ROW)}, "instance must be a dense row"),
        ({"instance": ROW[:3]}, "xi must have 8 entries"),
        ({"instance": GAP}, "xi must be finite"),
        ({"f": small_forest().predict}, "f must return a probability for each class"),
        ({"distance_metric": "miles", "calls": 64}, "distance_metric must be one that scikit"),
        ({"model_regressor": "ridge"}, "model_regressor must be a scikit-learn regressor"),
    ],
    of_text: [
        ({"instance": ""}, "instance must hold at least one word"),
        ({"instance": "  ...  "}, "instance must hold at least one word"),
        ({"instance": 7}, "instance must be a text"),
        ({"instance": ["a", "b"]}, "instance must be a text"),
        ({"instance": b"a b"}, "instance must be a text"),
        ({"instance": " ".join(f"w{i}" for i in range(10_000))}, "at most 2000 different words"),
        ({"label": 2}, "label must be a column from 0 to 1"),
        ({"label": -1}, "label must be a column from 0 to 1"),
        ({"label": "good"}, "label must be a column from 0 to 1"),
        ({"f": lambda t: probability(t)[:, 1:], "label": 1}, "label must be left out"),
        ({"labels": (0, 1)}, "labels must hold one label"),
        ({"num_features": 0}, "num_features must be 1 or more"),
        ({"num_features": 2.5}, "num_features must be a whole number"),
        ({"num_samples": 1}, "num_samples must be 2 or more"),
        ({"instance": passage(30), "calls": 50}, "calls must be 64 or more"),
        ({"kernel_width": 0}, "kernel_width must be above 0"),
        ({"kernel": lambda d, kernel_width: 1.0 * (d == 0)}, "must weigh some samples above 0"),
        ({"distance_metric": "nearest"}, "distance_metric must be one that"),
        ({"model_regressor": "ridge"}, "model_regressor must be a scikit-learn"),
        ({"hide_color": 0}, "hide_color must be left out for a LimeTextExplainer"),
        ({"f": "good"}, "f must be what lime gets"),
        ({"f": LogisticRegression}, "f must be what lime gets"),
        ({"f": lambda a, b: a}, "f must take one argument"),
        ({"f": lambda t: probability(t)[0]}, "one row for each text"),
        ({"f": lambda t: probability(t)[: len(t) // 2]}, "one row for each text"),
        ({"f": lambda t: np.zeros((len(t), 2, 2))}, "one row for each text"),
        ({"f": lambda t: ["good"] * len(t)}, "f must return numbers"),
        ({"f": lambda t: probability(t) * np.nan}, "f must return finite numbers"),
        ({"f": at_times(lambda t: probability(t) * np.nan)}, "f must return finite numbers"),
        ({"f": at_times(lambda t: np.zeros((len(t), 3)))}, r"f must return 2 column\(s\)"),
    ],
    of_image: [
        ({"distance_metric": by_number}, "which tells switches apart"),
        ({"segmentation": squares}, "segmentation must be left out for a LimeImage"),
        ({"instance": "a text"}, "instance must be an image"),
        ({"instance": [[1, 2], [3, 4]]}, "instance must be an image"),
        ({"instance": np.zeros((2, 2, 3, 1))}, "instance must be an image"),
        ({"instance": np.zeros((8, 8, 4))}, r"\(height, width, 3\)"),
        ({"instance": np.zeros((0, 8, 3))}, "instance must be an image"),
        ({"instance": np.full((8, 8, 3), np.nan)}, "instance must be finite"),
        ({"segmentation_fn": np.zeros((3, 3), int)}, "segmentation_fn must give"),
        ({"segmentation_fn": np.zeros((48, 48))}, "segmentation_fn must give"),
        ({"segmentation_fn": "slic"}, "segmentation_fn must give"),
        ({"hide_color": "white"}, "hide_color must be a number or three"),
        ({"hide_color": 300}, "hide_color must be a number or three"),
        ({"instance": IMAGE / 255, "hide_color": np.nan}, "hide_color must be finite"),
        ({"hide_color": (1, 2)}, "hide_color must be a number or three"),
        ({"batch_size": 0}, "batch_size must be 1 or more"),
        ({"top_labels": 0}, "top_labels must be 1 or more"),
        ({"label": 1, "top_labels": 1}, "label must be one of the 1 likeliest"),
    ],
}
CASES = [(call, *case) for call, cases in REFUSED.items() for case in cases]


@pytest.mark.parametrize(("call", "how", "words"), CASES, ids=range(len(CASES)))
def test_bad_input_gets_one_sentence(call, how, words):
    with pytest.raises((TypeError, ValueError), match=words) as refused:
        call(**how)
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")


@pytest.mark.parametrize("explainer", ["lime", small_forest()], ids=str)
def test_what_is_no_explainer(explainer):
    with pytest.raises((TypeError, ValueError), match=r"explainer must be a lime.*\.$"):
        lt.predict_lime(explainer, probability, TEXT)
