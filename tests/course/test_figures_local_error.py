"""What the figures of the chapter on the local error show, recomputed another way."""

import numpy as np
import pytest
from drawing import drawn, in_colour, xy
from scipy import stats

import limetutor as lt
from limetutor.course.figures import local_error
from limetutor.course.figures.theorem import patient
from limetutor.plotting.style import color

Q = stats.norm.ppf(0.75)
BOXES = [(-np.inf, -Q), (-Q, 0), (0, Q), (Q, np.inf)]


@pytest.mark.parametrize("p", [4, 10])
def test_the_surrogate_of_patient_13_and_the_mean_over_their_boxes(p: int):
    """The first against a fit, the second against samples drawn in all ten boxes."""
    model, xi, X = patient()
    world = lt.Empirical(X, p=p)
    surrogate, together = local_error.answers(p)
    ex = lt.explain(model, xi, world, 2.3717, n=40_000, kernel="mismatch", seed=5)
    assert abs(surrogate - ex.local_prediction) < 4 * ex.local_stderr
    law, box = world.boxes().law, world.boxes().discretize(xi[None])[0]
    rng = np.random.default_rng(6)
    columns = []
    for j, k in enumerate(box):
        mean, sd, lo, hi = (part[j, k] for part in (law.mean, law.sd, law.lo, law.hi))
        cut = stats.truncnorm((lo - mean) / sd, (hi - mean) / sd, mean, sd) if sd else None
        columns.append(cut.rvs(4000, random_state=rng) if cut else np.full(4000, mean))
    values = model.predict(np.column_stack(columns))
    assert abs(values.mean() - together) < 4 * values.std() / np.sqrt(4000)


def test_the_picture_of_patient_13_has_model_surrogate_and_error():
    ax = local_error.patient_by_boxes().axes[0]
    (dots,) = in_colour(ax, color.surrogate, "o")
    (squares,) = in_colour(ax, color.sample, "s")
    expected = np.array([local_error.answers(p) for p in range(2, 13)])
    np.testing.assert_allclose(xy(dots), np.column_stack([range(2, 13), expected[:, 0]]))
    np.testing.assert_allclose(xy(squares)[:, 1], expected[:, 1])
    f = patient().model.predict(patient().xi[None])[0]
    ends = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(ends, np.column_stack([np.full(11, f), expected[:, 0]]))


def landed(xi: float, nu: float, lo: float, hi: float) -> float:
    """Mean of the tilted law within a box, by scipy's truncated normal."""
    mean, sd = xi / (1 + nu**2), nu / np.hypot(1, nu)
    return stats.truncnorm((lo - mean) / sd, (hi - mean) / sd, mean, sd).mean()


@pytest.mark.parametrize(("xi", "lo", "hi"), [(0.961, Q, np.inf), (0.6, 0, Q), (-1.5, -np.inf, -Q)])
def test_the_surrogate_lands_on_the_mean_of_its_box(xi, lo, hi):
    text, fig = drawn(local_error.landing, 1.0, xi)
    where = f"were at {landed(xi, 1.0, lo, hi):.3f} instead of {xi:.3f}"
    assert where.replace("-", "−") in text
    (cross,) = in_colour(fig.axes[0], color.truth, "X")
    assert xy(cross)[0, 0] == pytest.approx(landed(xi, 1.0, lo, hi), abs=1e-9)
    (dot,) = in_colour(fig.axes[1], color.truth, "o")
    assert xy(dot)[0] == pytest.approx([1.0, landed(xi, 1.0, lo, hi) - xi], abs=1e-9)


def test_the_saw_tooth_jumps_where_the_box_changes():
    jump = landed(Q, 1.0, Q, np.inf) - landed(Q, 1.0, 0, Q)
    text, fig = drawn(local_error.across_the_boxes, 1.0, 0.6)
    assert f"jumps by {jump:.2f}" in text
    thick = [xy(line) for line in in_colour(fig.axes[0], color.box) if line.get_linewidth() == 4]
    np.testing.assert_allclose([line[0, 0] for line in thick], [-Q, 0, Q], atol=1e-12)
    assert np.diff(thick[2][:, 1]) == pytest.approx(jump, abs=1e-9)


@pytest.mark.parametrize("nu", [0.1, 0.53, 1.0, 3.0])
def test_the_error_passes_through_zero_once_in_every_box(nu):
    """The mean of a box lies inside it: beyond ξ at its lower end, short of ξ at its upper one."""
    _, fig = drawn(local_error.across_the_boxes, nu, 0.6)
    drawn_lines = in_colour(fig.axes[0], color.truth)
    teeth = [line for line in drawn_lines if len(xy(line)) > 2]
    for (lo, hi), tooth in zip(BOXES, teeth, strict=True):
        xi = np.linspace(max(lo, -2.5), min(hi, 2.5), 30)
        error = np.array([landed(at, nu, lo, hi) for at in xi]) - xi
        assert np.count_nonzero(np.diff(np.sign(error))) == 1
        # the grids differ; the tooth is smooth
        np.testing.assert_allclose(np.interp(xi, *xy(tooth).T), error, atol=2e-3)


@pytest.mark.parametrize(("xi", "box"), [(0.6, 2), (-1.2, 0)])
def test_the_error_at_one_position_is_drawn_and_said(xi, box):
    text, fig = drawn(local_error.across_the_boxes, 1.0, xi)
    error = landed(xi, 1.0, *BOXES[box]) - xi
    (line,) = in_colour(fig.axes[0], color.alarm)
    np.testing.assert_allclose(xy(line), [[xi, 0], [xi, error]], atol=1e-9)
    assert f"is {error:.2f}. ".replace("-", "−") in text


def test_the_arrow_runs_from_zero_to_the_predicted_error():
    f, xi, world = lt.Linear([10.0, -10.0]), [0.961, 0.432], lt.Gaussian()
    runs = lt.repeat(f, xi, world, 1.0, n=500, runs=20)
    ax = local_error.histogram(runs, 3.5).axes[0]
    assert sum(bar.get_height() for bar in ax.patches) == 20
    name, arrow = ax.texts
    assert name.get_text() == "predicted" and (arrow.xy[0], arrow.xyann[0]) == (0, 3.5)
    assert [line.get_xdata()[0] for line in in_colour(ax, color.truth)] == [3.5]
