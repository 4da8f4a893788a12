"""What the picture of the welcome page claims."""

import numpy as np
import pytest
from boxed_means import Q, contrast
from drawing import drawn, said

from limetutor.course.figures import welcome


@pytest.mark.parametrize("nu", [0.3, 1.0, 5.0])
def test_the_bars_are_the_limits_and_eight_of_them_are_zero(nu):
    text, fig = drawn(welcome.story, nu)
    bars = [bar.get_height() for bar in fig.axes[0].patches]
    first, second = 10 * contrast(0.961, nu), -10 * contrast(0.432, nu)
    assert bars == pytest.approx([first, second, *[0] * 8], abs=1e-5)
    beside = "agrees with" if second < 0 else "opposes"
    gets = f"{second:+.2f}".replace("-", "−")
    assert f"{first:+.2f}; feature 2 gets {gets}, whose sign {beside} that of its slope" in text


def test_the_critical_bandwidth_switches_the_second_feature_off():
    assert "feature 2 is switched off" in said(welcome.story, np.sqrt((2 * 0.432 - Q) / Q))


def test_the_cover_shows_it_before_and_after():
    left, right = welcome.cover().axes
    assert [ax.get_title() for ax in (left, right)] == ["bandwidth ν = 1", "bandwidth ν = 0.53"]
    assert left.patches[1].get_height() < -1.5
    assert abs(right.patches[1].get_height()) < 0.02
    assert [text.get_text() for text in right.texts] == ["feature 2 is gone"]
