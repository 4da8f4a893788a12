"""What the pictures of the welcome page claim."""

import numpy as np
import pytest
from drawing import drawn, said
from lime.lime_tabular import LimeTabularExplainer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

import limetutor as lt
from limetutor.course.datasets import diabetes
from limetutor.course.figures import welcome


def explainer(boxes, **how):
    X = welcome.patient().X
    how = {"mode": "regression", "discretizer": boxes, "feature_names": list(X.columns)} | how
    return LimeTabularExplainer(X.to_numpy(), **how)


def limits(model, rows, boxes):
    """What lime's coefficients tend to with its 5000 samples, from its explainer."""
    world = lt.from_lime(explainer(boxes))
    how = {"nu": world.nu, "kernel": world.kernel, "ridge": 1.0, "n": 5000}
    return lt.limits(model, rows, world, **how).coef


@pytest.mark.parametrize(
    ("boxes", "width"), [("quartile", None), ("decile", None), ("decile", 0.6)]
)
def test_the_list_is_what_lime_prints(boxes, width):
    model, xi, _ = welcome.patient()
    lime = explainer(boxes, random_state=3, kernel_width=width)
    printed = lime.explain_instance(xi, model.predict, num_features=5).as_list()
    found = welcome.reasons_for(3, boxes, width)
    assert [(reason.phrase, reason.coefficient) for reason in found] == printed
    assert all(reason.feature in reason.phrase.split() for reason in found)


def test_a_run_is_compared_with_the_first():
    first = "Run 1: the reasons are s5, bmi, sex, age and s6, in this order."
    assert said(welcome.run_again, 1) == first
    names = [{reason.feature for reason in welcome.reasons_for(run)} for run in (1, 3)]
    new, gone = names[1] - names[0], names[0] - names[1]
    text = said(welcome.run_again, 3)
    assert new and all(name in text.partition("in place of")[0] for name in new)
    assert all(name in text.partition("in place of")[2] for name in gone)


@pytest.mark.parametrize(("boxes", "sign"), [("quartile", "+"), ("decile", "−")])
def test_bmi_turns_with_the_boxes_and_its_box_is_shaded(boxes, sign):
    text, fig = drawn(welcome.other_boxes, boxes, 2)
    value = next(r.coefficient for r in welcome.reasons_for(2, boxes) if r.feature == "bmi")
    assert text.endswith(f"bmi is {sign}{abs(value):.1f}.")
    below = fig.axes[1]
    low, high = (25.70, 29.27) if boxes == "quartile" else (25.70, 26.86)
    box = below.patches[0].get_extents().transformed(below.transData.inverted())
    assert (box.x0, box.x1) == pytest.approx((low, high))
    assert np.all(np.diff(below.lines[0].get_ydata()[[20, 40, 60, 80]]) > 0)  # the model rises


def test_the_width_does_nothing_and_then_everything():
    shares = [welcome.reasons_for(1, "quartile", w)[0].coefficient for w in (10, 1.0, 0.6, 0.3)]
    assert shares[1] > 0.95 * shares[0] and shares[2] < 0.4 * shares[0] and shares[3] < 0.01
    assert "34% of the largest at the default" in said(welcome.other_width, 0.6)


def test_one_patient_in_six_and_other_models_turn_too():
    """What the page says of all patients, of a larger forest and of boosting, in the limit."""
    model, xi, X = welcome.patient()
    rows, y = X.to_numpy(), diabetes().y
    four, ten = (limits(model, rows, boxes) for boxes in ("quartile", "decile"))
    largest = np.argsort(-np.abs(four), axis=1)[:, :5]
    turned = np.sign(np.take_along_axis(four * ten, largest, axis=1)).min(axis=1) < 0
    assert 1 / 6.5 < turned.mean() < 1 / 5.5
    for other in (
        RandomForestRegressor(200, random_state=1),
        GradientBoostingRegressor(random_state=0),
    ):
        other.fit(rows, y)
        assert limits(other, [xi], "quartile")[0, 2] > 5
        assert limits(other, [xi], "decile")[0, 2] < -5


def test_the_cover_shows_the_second_reason_on_either_side():
    four, ten = welcome.cover().axes
    assert four.patches[1].get_width() > 9 and ten.patches[1].get_width() < -10
    phrases = [{text.get_text() for text in ax.texts} for ax in (four, ten)]
    assert "25.70 < bmi ≤ 29.27" in phrases[0] and "25.70 < bmi ≤ 26.86" in phrases[1]
