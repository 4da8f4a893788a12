"""What LIME is asked, checked once at the door: the same question at another bandwidth or world."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import one_sentence
from sklearn.linear_model import LinearRegression

import limetutor as lt
from limetutor.core.kernels import KERNELS, ProductKernel, product_kernels
from limetutor.core.problem import Problem, boxes_for

F, XI, WORLD = lt.Linear([1.0, -2.0, 0.5], 0.3), [0.4, -0.9, 1.7], lt.Gaussian()
X = np.random.default_rng(4).gamma(2.0, size=(60, 3))


class Counting:
    """A model that counts how often it is asked, and how much."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def __call__(self, x):
        self.rows.append(len(x))
        return x.sum(axis=1)


def test_the_instance_becomes_numbers_of_its_own():
    xi = np.array(XI)
    setting = Problem.of(F, xi, WORLD, np.float32(0.5))
    xi += 1
    assert setting.xi.tolist() == XI and setting.d == 3
    assert type(setting.nu) is float
    with pytest.raises(FrozenInstanceError):
        setting.nu = 2.0  # type: ignore[misc]


def test_the_boxes_of_the_instance_in_numbers_and_words():
    setting = Problem.of(F, XI, WORLD, 1.0)
    assert setting.box_of_xi.tolist() == [2, 0, 3]
    assert setting.box_names == ("0 <= x1 < 0.674", "x2 < -0.674", "x3 >= 0.674")


def test_the_model_is_asked_once_for_its_prediction():
    f = Counting()
    setting = Problem.of(f, XI, WORLD, 1.0)
    assert setting.prediction == setting.prediction == pytest.approx(sum(XI))
    elsewhere = setting.at(nu=0.3).at(world=lt.Gaussian(p=2))
    assert elsewhere.prediction == setting.prediction
    assert f.rows == [1]
    assert elsewhere.predict is setting.predict


def test_forms():
    assert Problem.of(F, XI, WORLD, 1.0).form is F
    assert Problem.of(lambda x: x[:, 0], XI, WORLD, 1.0).form is None
    model = LinearRegression().fit(X, X @ [1.0, 2.0, 3.0])
    form = Problem.of(model, XI, WORLD, 1.0).form
    assert isinstance(form, lt.Linear)
    np.testing.assert_allclose(form.a, [1.0, 2.0, 3.0])
    model.coef_ = model.coef_ * 2  # of the formula and of predict alike
    assert Problem.of(model, XI, WORLD, 1.0).form.a.tolist() == model.coef_.tolist()
    one_sentence(lambda: Problem.of(F, XI, WORLD, 1.0, output=1).form, "output must be left out")
    one_sentence(lambda: Problem.of(F, XI[:2], WORLD, 1.0).form, "a must have 2 entries")


KERNEL = st.sampled_from(product_kernels())
NU = st.floats(0.2, 5.0)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(NU, NU, KERNEL, st.booleans())
def test_another_bandwidth_or_world_is_as_if_it_had_been_asked_first(nu, other, kernel, data):
    here, there = (lt.Empirical(X), lt.Empirical(X, p=3)) if data else (WORLD, lt.Gaussian(p=5))
    setting = Problem.of(F, XI, here, nu, kernel)
    setting.tilt, setting.form, setting.prediction, setting.box_of_xi  # all of it is known already
    fresh = Problem.of(F, XI, there, other, kernel)
    moved = setting.at(nu=other, world=there)
    assert moved.nu == other and moved.world is there
    assert moved.box_of_xi.tolist() == fresh.box_of_xi.tolist()
    np.testing.assert_array_equal(moved.tilt.alpha, fresh.tilt.alpha)
    np.testing.assert_array_equal(moved.tilt.gap, fresh.tilt.gap)
    assert moved.prediction == fresh.prediction and moved.form is fresh.form
    assert setting.at().nu == nu  # nothing changed is the same question
    np.testing.assert_array_equal(setting.at().tilt.alpha, setting.tilt.alpha)


@pytest.mark.parametrize("kernel", KERNELS)
def test_only_product_kernels_have_a_tilt(kernel):
    setting = Problem.of(F, XI, WORLD, 1.0, kernel)
    if isinstance(KERNELS[kernel], ProductKernel):
        assert setting.product is KERNELS[kernel] and np.all(setting.tilt.alpha > 0)
        return
    assert setting.product is None
    one_sentence(lambda: setting.tilt, "factor over the coordinates, for its tilted law")
    with pytest.raises(ValueError, match="for a reason of its own"):
        Problem.of(F, XI, WORLD, 1.0, kernel, purpose="a reason of its own")


@pytest.mark.parametrize("used", [False, True])
def test_settings_can_be_pickled_before_and_after_they_were_used(used):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=["u", "v"] * 30)
    for f, xi, world in (
        (F, XI, WORLD),
        (LinearRegression().fit(X, X[:, 0]), X[3], lt.Empirical(X)),
        (np.shape, frame.iloc[3], lt.Empirical(frame, categorical=["d"])),
    ):
        setting = Problem.of(f, xi, world, 0.7)
        if used:
            setting.tilt, setting.box_of_xi
            if f is not np.shape:
                setting.prediction, setting.form
        back = pickle.loads(pickle.dumps(setting))
        np.testing.assert_array_equal(back.xi, setting.xi)
        assert back.nu == setting.nu and back.box_names == setting.box_names
        np.testing.assert_array_equal(back.tilt.alpha, setting.tilt.alpha)


def test_a_world_without_a_dimension_takes_that_of_the_model_then_of_the_instance():
    model = LinearRegression().fit(X, X[:, 0])
    assert boxes_for(WORLD, XI).d == 3
    assert boxes_for(WORLD, [0.0], F).d == boxes_for(WORLD, [0.0], model).d == 3
    assert boxes_for(WORLD, {"a": 1.0, "b": 2.0}, lambda x: x).d == 2
    assert boxes_for(lt.Gaussian([0.0, 1.0]), XI, F).d == 2  # it has one of its own
    # so that the instance is at fault where it does not fit
    with pytest.raises(ValueError, match="xi must have 3 entries, one per feature"):
        Problem.of(F, [0.0], WORLD, 1.0, purpose="its limit")
