"""What callers pass to make a world: numbers for each feature, boxes, edges."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes

import limetutor as lt
from limetutor.inputs.arguments import shorten

DATA = load_diabetes(as_frame=True).data


def test_scalars_stretch_to_the_instance():
    world = lt.Gaussian(1.0, 2.0, 3)
    assert world.d is None
    scalar, vector = world.boxes(4), lt.Gaussian([1.0] * 4, [2.0] * 4, [3] * 4).boxes()
    assert scalar.d == vector.d == 4
    for name in ("log_prob", "mean", "sd", "lo", "hi"):
        np.testing.assert_array_equal(getattr(scalar.law, name), getattr(vector.law, name))


def test_one_value_per_feature_and_scalars_mix():
    boxes = lt.Gaussian(0.0, [1.0, 5.0], [2, 4]).boxes()
    np.testing.assert_array_equal(boxes.edges[0], [0.0])
    np.testing.assert_allclose(boxes.edges[1], 5 * stats.norm.ppf([0.25, 0.5, 0.75]), atol=1e-14)
    assert boxes.law.prob[0].tolist() == [0.5, 0.5, 0, 0]


def test_p_may_differ_by_column():
    boxes = lt.Empirical(DATA.iloc[:, [0, 2]], p=[2, 7]).boxes()
    assert [len(e) for e in boxes.edges] == [1, 6]


@pytest.mark.parametrize("column", ["bmi", 2])
def test_edges_can_be_given_by_name_or_position(column):
    frame = DATA
    boxes = lt.Empirical(frame, edges={column: [-0.05, 0.0, 0.05]}).boxes()
    np.testing.assert_array_equal(boxes.edges[2], [-0.05, 0.0, 0.05])
    bmi = frame["bmi"].to_numpy()
    assert boxes.law.prob[2, 0] == pytest.approx(np.mean(bmi <= -0.05))
    assert boxes.law.prob[2, 2] == pytest.approx(np.mean((bmi > 0) & (bmi <= 0.05)))
    assert boxes.law.mean[2, 3] == pytest.approx(bmi[bmi > 0.05].mean())
    # the others keep their quartiles
    np.testing.assert_array_equal(boxes.edges[0], lt.Empirical(frame).boxes().edges[0])


def test_given_edges_may_leave_boxes_empty():
    X = np.linspace(0, 1, 50)[:, None]
    world = lt.Empirical(X, edges={0: [-5.0, 0.5, 7.0]})
    assert world.boxes().law.prob[0].tolist() == [0.0, 0.5, 0.5, 0.0]
    e = lt.explain(lambda x: x[:, 0], [0.2], world, 1.0, seed=0, keep=True)
    assert e.x.min() > -5 and e.x.max() <= 7  # boxes with values reach to the edges given
    with pytest.warns(lt.FitWarning, match=r"all or none of its values in xi's box"):
        e = lt.explain(lambda x: x[:, 0], [9.0], world, 1.0, seed=0)
    assert e.coef.tolist() == [0.0] and e.as_list() == []


def test_a_world_does_not_change_with_the_arrays_it_was_made_from():
    mu, X = np.zeros(2), np.random.default_rng(0).normal(size=(30, 2))
    gaussian, empirical = lt.Gaussian(mu, 1), lt.Empirical(X)
    mu += 5
    X += 5
    assert gaussian.mu.tolist() == [0, 0]
    assert empirical.boxes().mu.max() < 1


def test_a_feature_has_at_most_ten_thousand_boxes_and_a_message_sixty_characters():
    assert len(lt.Gaussian(p=10_000).boxes(1).edges[0]) == 9_999
    with pytest.raises(ValueError, match="p must be at most 10,000, got 10001"):
        lt.Gaussian(p=10_001)
    for length, text in ((58, f"'{'x' * 58}'"), (59, f"'{'x' * 56}...")):
        assert shorten("x" * length) == text and len(text) == 60
