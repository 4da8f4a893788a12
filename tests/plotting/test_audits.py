"""Pictures of audits: what is doubted is hollow and says why, and intervals hold together."""

import pickle
import re

import numpy as np
import pytest
from lime.lime_image import LimeImageExplainer
from lime.lime_text import LimeTextExplainer
from standins import audited, labels, result

import limetutor as lt
from limetutor.plotting.audits import findings
from limetutor.plotting.style import color


def test_a_doubted_feature_is_hollow_says_why_and_is_never_left_out():
    case = result(np.arange(40.0, 0, -1), np.ones(40))
    fig = findings(audited(case, [("sign-flips", "x39"), ("noise", "x2")], ["few-samples"]))
    ax = fig.axes[0]
    # the two doubted ones, and the largest of the others
    assert labels(fig) == ["and 28 more", "x39", *(f"x{j}" for j in range(11, 0, -1))]
    hollow = [j for j, bar in enumerate(ax.patches) if bar.get_facecolor()[3] == 0]
    assert hollow == [0, 10]
    notes = {round(text.xy[1]): text.get_text() for text in ax.texts if text.get_text()}
    assert notes == {0: "sign flips", 10: "noise", 12: "few samples"}
    assert {text.get_color() for text in ax.texts} == {color.alarm}


def test_reasons_stay_inside_the_picture():
    codes = ["noise", "critical-bandwidth", "near-singular", "order", "local-error"]
    case = result([3.0, 2.0, 1.0], [0.1, 0.1, 0.1])
    fig = findings(audited(case, [(code, name) for code in codes for name in case.names], codes))
    fig.canvas.draw()
    for text in fig.axes[0].texts:
        box = text.get_window_extent()
        assert box.x1 <= fig.bbox.width and box.y1 <= fig.bbox.height
        assert text.get_text().endswith("…")


@pytest.mark.parametrize(
    ("codes", "shown"),
    [
        ("own-row local-error", "own row, local error"),
        ("own-row local-error no-fit", "own row, local\nerror, no fit"),
        ("own-row local-error no-fit near-singular", "own row, local\nerror, no fit, near, …"),
    ],
)
def test_reasons_take_two_lines_at_most(codes, shown):
    fig = findings(audited(result([3.0, 2.0]), [(code, "x1") for code in codes.split()]))
    assert [text.get_text() for text in fig.axes[0].texts if text.get_text()] == [shown]


def test_more_doubts_than_rows():
    case = result(np.arange(40.0, 0, -1))
    fig = findings(audited(case, [("noise", name) for name in case.names[5:]]))
    assert labels(fig)[:-4:-1] == ["x1", "x2", "x3"]  # the three largest stay
    assert len(fig.axes[0].patches) == 12


@pytest.mark.parametrize(("reach", "solid"), [(0.9, [True, True]), (1.1, [False, True])])
def test_a_bar_is_hollow_where_its_interval_holds_zero(reach, solid):
    fig = findings(audited(result([3.0, 1.0], [0.1, 0.1]), reach=np.full(2, reach)))
    ax = fig.axes[0]
    assert [bar.get_facecolor()[3] == 1 for bar in ax.patches] == solid
    (lines,) = ax.collections
    drawn = np.array(lines.get_segments())[:, :, 0]
    assert drawn == pytest.approx(np.array([[1 - reach, 1 + reach], [3 - reach, 3 + reach]]))
    assert "all hold together" in ax.get_xlabel()


def test_reports_show_the_text_and_the_image_that_were_explained():
    """Words and superpixels on display are marked by their sign, and nothing else is."""
    text = lt.audit(
        LimeTextExplainer(random_state=0), of_text, "bad film, good end", num_features=2
    )
    page = text.to_html()
    assert re.findall(r'<mark class="(\w+)">(\w+)</mark>', page) == [
        ("down", "bad"),
        ("up", "good"),
    ]
    assert "this text" in text.about
    segments = np.kron([[0, 1], [2, 3]], np.ones((4, 4), int))
    image = lt.audit(
        LimeImageExplainer(random_state=0), of_image, IMAGE, segmentation_fn=lambda x: segments,
        num_features=2, label=0, num_samples=400,
    )  # fmt: skip
    assert "superpixels outlined: 1, 2" in image.to_html() and "this image" in image.about
    again = pickle.loads(pickle.dumps(image))
    assert "superpixels outlined" not in again.to_html()


IMAGE = np.random.default_rng(0).random((8, 8, 3))


def of_text(texts):
    value = np.array([0.5 + 0.3 * ("good" in t) - 0.4 * ("bad" in t) for t in texts])
    return np.column_stack([1 - value, value])


def of_image(images):
    value = 2 * images[:, :4, 4:].std(axis=(1, 2, 3)) - images[:, 4:, :4].std(axis=(1, 2, 3))
    return np.column_stack([value, 1 - value])
