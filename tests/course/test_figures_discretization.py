"""What the figures of the chapter discretization claim, against the real `lime` and the table."""

import numpy as np
import pytest
from drawing import drawn, in_colour, said, xy
from lime.lime_tabular import LimeTabularExplainer

from limetutor.course.experiments import patient_13
from limetutor.course.figures import discretization as figures
from limetutor.plotting.style import color

X = patient_13().X


def lime_discretizer(name):
    return LimeTabularExplainer(
        X.to_numpy(), mode="regression", feature_names=list(X.columns), discretizer=name
    ).discretizer


@pytest.mark.parametrize(("p", "name"), [(4, "quartile"), (10, "decile")])
@pytest.mark.parametrize("patient", [18.2, 25.4, 26.2, 29.0, 41.8])
def test_boxes_and_their_phrases_are_those_of_lime(p, name, patient):
    discretizer = lime_discretizer(name)
    box = int(discretizer.lambdas[2](patient))
    phrase = discretizer.names[2][box].replace("<=", "≤")
    inside = np.sum(discretizer.lambdas[2](X["bmi"].to_numpy()) == box)
    sentence = said(figures.body_mass, p=p, patient=patient)
    assert f"“{phrase}”, box {box + 1} of {p}, which holds {inside} of the 442" in sentence


@pytest.mark.parametrize("p", [2, 7, 20])
def test_boxes_have_equal_shares_up_to_ties(p):
    counts = np.bincount(figures.box_numbers("bmi", X["bmi"].to_numpy(), p), minlength=p)
    assert len(counts) == p and np.all(np.abs(counts - 442 / p) < 8)


def test_samples_are_those_of_lime():
    """Shares, means and standard deviations in the boxes; the indicators are those of patient 13."""
    x, z = figures.samples(40_000)
    discretizer = lime_discretizer("quartile")
    boxes, own = discretizer.discretize(x), discretizer.discretize(patient_13().xi)
    np.testing.assert_array_equal(z, boxes == own)
    real = discretizer.undiscretize(boxes.copy())  # the same boxes, values drawn by lime
    for j in (2, 3, 4, 5):
        share = np.mean(discretizer.lambdas[j](X.iloc[:, j].to_numpy()) == own[j])
        assert abs(z[:, j].mean() - share) < 4 * np.sqrt(share * (1 - share) / len(z))
        error = np.sqrt((x[:, j].var() + real[:, j].var()) / len(x))
        assert abs(x[:, j].mean() - real[:, j].mean()) < 4 * error
        assert x[:, j].std() == pytest.approx(real[:, j].std(), rel=0.02)


@pytest.mark.parametrize(("bmi", "bp"), [(26.2, 97), (18.4, 65), (41.8, 129)])
def test_bars_mark_the_column_and_the_row_of_the_patient(bmi, bp):
    text, fig = drawn(figures.same_box, bmi=bmi, bp=bp)
    discretizer = lime_discretizer("quartile")
    points = np.column_stack([figures.sampled("bmi"), figures.sampled("bp")])
    same = np.column_stack(
        [discretizer.lambdas[j](v) == discretizer.lambdas[j](at)
         for j, v, at in zip((2, 3), points.T, (bmi, bp), strict=True)]
    )  # fmt: skip
    (ax,) = fig.axes
    for bars, column in zip(in_colour(ax, color.sample, "None"), same.T, strict=True):
        middles = xy(bars).reshape(-1, 2, 2).mean(axis=1)
        np.testing.assert_allclose(middles, points[column])
    shared = np.bincount(same.sum(axis=1), minlength=3)
    assert f"{shared[2]} share both" in text and f"{shared[1]} share one" in text
    assert f"{shared[0]} share neither" in text


def test_impossible_samples_are_crosses_and_there_is_no_such_patient():
    sentences = [said(figures.made_up, sample=k) for k in range(1, figures.SAMPLES + 1)]
    _, fig = drawn(figures.made_up, sample=1)
    (ax,) = fig.axes
    (crosses,) = in_colour(ax, color.alarm, "X")
    assert np.all(xy(crosses)[:, 1] > xy(crosses)[:, 0])
    assert sum("impossible" in s for s in sentences) == len(xy(crosses)) > 0
    assert not np.any(X["s2"] > X["s1"])
    dots = in_colour(ax, color.sample, "o")[0]
    assert len(xy(dots)) + len(xy(crosses)) == figures.SAMPLES
    (patients,) = in_colour(ax, color.muted, "o")
    np.testing.assert_array_equal(xy(patients), X[["s1", "s2"]].to_numpy())


def test_a_sample_is_told_as_it_is():
    x, z = figures.samples(figures.SAMPLES)
    sentence = said(figures.made_up, sample=34)
    assert f"total cholesterol {x[33, 4]:.0f}, LDL {x[33, 5]:.0f}, which is impossible" in sentence
    assert f"{x[33, 0]:.0f} years old, body mass index {x[33, 2]:.1f}" in sentence
    assert f"shares {z[33].sum():.0f} of ten boxes" in sentence
