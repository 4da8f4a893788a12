"""Pictures of results: they show the numbers, and bear whatever names and numbers come."""

from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from standins import audited, labels, result

import limetutor as lt
from limetutor.plotting.audits import findings
from limetutor.plotting.results import boxplots, coefficients, risk
from limetutor.plotting.style import color, new_figure, styled

PICTURES = {"coefficients": coefficients, "findings": lambda subject: findings(audited(subject))}
both = pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)


def rendered(fig: Figure) -> str:
    """The picture as SVG with its text as text; whatever warns on the way is an error."""
    page = BytesIO()
    styled(fig.savefig)(page, format="svg")
    return page.getvalue().decode()


def ends(fig: Figure) -> np.ndarray:
    """The drawn intervals from the bottom up, (rows, 2)."""
    (lines,) = fig.axes[0].collections
    return np.array(lines.get_segments())[:, :, 0]


@both
def test_error_bars_are_95_percent_normal_intervals_where_there_is_no_other(draw):
    fig = draw(result([1.0, -3.0, 2.0], [0.1, 0.2, 0.3]))
    from_the_bottom = [[1 - 0.196, 1 + 0.196], [2 - 0.588, 2 + 0.588], [-3 - 0.392, -3 + 0.392]]
    np.testing.assert_allclose(ends(fig), from_the_bottom, rtol=1e-12)
    assert "95% interval" in fig.axes[0].get_xlabel()


@both
def test_error_bars_are_the_intervals_a_result_gives_itself(draw):
    subject = result([1.0, -3.0], [0.1, 0.2])
    given = {0.95: np.array([[0.2, 1.1], [-5.0, -2.9]])}
    subject.interval = given.__getitem__
    np.testing.assert_array_equal(ends(draw(subject)), [[0.2, 1.1], [-5.0, -2.9]])


@both
def test_without_noise_there_are_no_error_bars_and_none_is_announced(draw):
    silent, exact = result([1.0, -3.0]), result([1.0, -3.0])
    exact.stderr = None
    for subject in (silent, exact):
        fig = draw(subject)
        assert not fig.axes[0].collections
        assert fig.axes[0].get_xlabel() == "coefficient"


@both
def test_an_interval_without_end_reaches_the_frame_and_hides_no_other_bar(draw):
    fig = draw(result([1.0, -3.0], [np.inf, 0.5]))
    rendered(fig)
    low, high = fig.axes[0].get_xlim()
    first, second = ends(fig)
    assert first[0] <= low and first[1] >= high
    assert low < second[0] < second[1] < high < 10


@both
def test_an_interval_that_is_not_known_is_not_drawn(draw):
    fig = draw(result([1.0, -3.0], [np.nan, 0.5]))
    rendered(fig)
    low, high = fig.axes[0].get_xlim()
    assert -10 < low < -3.98 and 1 < high < 10


@both
@pytest.mark.parametrize("coef", [[np.inf, 1.0, -2.0], [np.nan, 1.0, -2.0], [np.nan], [-np.inf]])
@pytest.mark.parametrize("stderr", [0.0, 0.1, np.nan])
def test_coefficients_that_are_no_numbers_leave_the_others_to_be_read(draw, coef, stderr):
    fig = draw(result(coef, np.full(len(coef), stderr)))
    rendered(fig)
    low, high = fig.axes[0].get_xlim()
    assert -4 < low <= 0 <= high < 4
    if np.any(np.isinf(coef)):
        longest = max((bar.get_width() for bar in fig.axes[0].patches), key=abs)
        assert not low < longest < high


def test_a_limit_shows_no_noise_and_a_sampled_one_does():
    at = ([0.9, 0.4], lt.Gaussian(), 1.0)
    assert lt.limit(lt.Linear([1, 2]), *at).plot().axes[0].get_xlabel() == "coefficient"
    sampled = lt.limit(lambda x: np.sin(x[:, 0] * x[:, 1]), *at, samples=1000)
    assert "95% interval" in sampled.plot().axes[0].get_xlabel()


@both
@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300, 5e-324, 1e-120])
def test_numbers_beyond_any_axis_are_scaled_by_a_power_of_ten(draw, size):
    fig = draw(result([size, -size / 2], [size / 10, size / 10]))
    rendered(fig)
    label = fig.axes[0].get_xlabel().split(",")[0]
    power = int(label.removeprefix("coefficient in 10").translate(LOWERED))
    longest = max(bar.get_width() for bar in fig.axes[0].patches)
    assert 1 <= longest < 10
    # 5e-324 is the smallest double and has one digit
    assert np.log10(longest) + power == pytest.approx(np.log10(size), abs=1e-9)
    assert len([t for t in fig.axes[0].get_xticks() if -10 < t < 10]) >= 3


LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@both
@pytest.mark.parametrize("coef", [[0.0, 0.0], [1e300, 1.0], [1e-9, 2e9], [1.0]])
def test_zeros_and_mixed_sizes_can_be_drawn(draw, coef):
    fig = draw(result(coef))
    rendered(fig)
    assert len(fig.axes[0].patches) == len(coef)


@both
def test_usual_numbers_are_not_scaled(draw):
    for size in (4e12, 4e-12):
        fig = draw(result([size, -2 * size]))
        assert sorted(bar.get_width() for bar in fig.axes[0].patches) == [-2 * size, size]


def test_colours_say_the_sign():
    fig = coefficients(result([3.0, -2.0, 0.0]))
    hues = [bar.get_facecolor() for bar in fig.axes[0].patches]
    same = coefficients(result([1.0])).axes[0].patches[0].get_facecolor()
    assert hues[0] == hues[2] == same != hues[1]


HOSTILE = ["cost ($) / b ($)", "a$$", "x_{", "\\frac{", "<b>&amp;</b>", "two\nlines", "", "$"]


@both
def test_names_are_printed_letter_for_letter(draw):
    page = rendered(draw(result(np.arange(8.0) + 1, names=HOSTILE)))
    for text in ("cost ($) / b ($)", "a$$", "x_{", "\\frac{", "&lt;b&gt;&amp;amp;", "two lines"):
        assert f">{text}" in page


def test_boxplots_print_names_letter_for_letter_and_number_what_has_none():
    fig = new_figure()
    axes = fig.subplots(2, 1)
    runs = np.random.default_rng(0).normal(size=(20, 2))
    boxplots(axes[0], runs, None, ["$a$", "b" * 99])
    boxplots(axes[1], runs, np.zeros(2))
    assert ">$a$<" in rendered(fig)
    assert [t.get_text() for t in axes[1].get_xticklabels()] == ["1", "2"]
    assert len(axes[0].get_xticklabels()[1].get_text()) <= 32
    assert sum(line.get_color() == color.truth for line in axes[1].lines) == 1


@both
def test_a_long_name_keeps_both_of_its_ends_and_leaves_room_for_the_bars(draw):
    name = "a very long name of a column that somebody thought " * 9 + "<= 12.5"
    fig = draw(result([1.0, 2.0], names=[name, "b"]))
    label = labels(fig)[0]
    assert label.startswith("a very") and "…" in label and label.endswith("<= 12.5")
    assert fig.axes[0].get_position().width > 0.38
    fig.canvas.draw()
    box = fig.axes[0].get_yticklabels()[0].get_window_extent()
    assert box.x0 >= 0


@both
def test_no_feature_makes_an_empty_picture(draw):
    fig = draw(result([]))
    rendered(fig)
    assert labels(fig) == []


@both
@pytest.mark.parametrize("d", [20, 21, 200])
def test_only_the_largest_are_drawn_and_the_rest_are_counted(draw, d):
    coef = np.random.default_rng(d).permutation(np.arange(1.0, d + 1))
    fig = draw(result(coef, np.ones(d)))
    bars = [bar.get_width() for bar in fig.axes[0].patches]
    most = 20 if draw is coefficients else 12
    assert bars == list(np.arange(d - most + 1.0, d + 1))
    assert labels(fig)[-1] == f"x{np.argmax(coef) + 1}"
    more = [f"and {d - most} more"] if d > most else []
    assert [label for label in labels(fig) if "more" in label] == more == labels(fig)[: len(more)]
    assert len(ends(fig)) == most
    assert fig.get_figheight() < 9


def test_the_risk_of_a_single_bandwidth_can_be_seen():
    X = np.random.default_rng(0).normal(size=(50, 2))
    for nus, mark in (([0.3], "o"), ([0.3, 1.0], "")):
        fig = lt.risk(X, lt.Gaussian(), nus).plot()
        rendered(fig)
        assert {line.get_marker() for line in fig.axes[0].lines} == {mark}
    first = fig.axes[0].lines[0]
    assert (first.get_label(), first.get_color()) == ("sign depends on ν", color.alarm)


def test_nothing_at_risk_still_has_an_axis():
    none = dict.fromkeys(("at_risk", "turned", "opposed", "near"), np.zeros(3))
    fig = risk(SimpleNamespace(nus=np.array([0.1, 1, 10]), tolerance=0.1, **none))
    rendered(fig)
    assert fig.axes[0].get_ylim() == (0, 1)


def test_a_path_marks_the_zeros_of_each_line_in_its_colour():
    found = lt.path(lt.Linear([10.0, -10.0]), [0.961, 0.432], lt.Gaussian())
    ax = found.plot().axes[0]
    marks = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]
    zeros = [critical for critical in found.critical if len(critical)]
    assert len(marks) == len(zeros) > 0
    for mark in marks:
        assert any(np.array_equal(mark.get_xdata(), critical) for critical in zeros)
        assert np.all(np.asarray(mark.get_ydata()) == 0)
