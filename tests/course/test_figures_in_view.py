"""Figures whose every bar and point can be seen."""

import numpy as np
from drawing import drawn

from limetutor.course.figures import ten_minutes, weights


def test_bars_of_runs_end_inside_the_axes():
    """A feature that is in the top three of every run has the longest bar."""
    runs = {100: np.tile([5.0, 4.0, 3.0, 1.0, 0.5], (30, 1))}
    _, fig = drawn(ten_minutes.run_again, run=4, n=100, runs=runs, names=list("abcde"), limit=6)
    right = fig.axes[1]
    assert max(bar.get_width() for bar in right.patches) == 30 < right.get_xlim()[1] < 33


def test_weights_are_drawn_from_the_heaviest_to_the_lightest():
    for kernel in ("gaussian", "mismatch"):
        ranks = weights._ranks() + 1
        assert ranks[0] == 1 and ranks[-1] == 5000 and np.all(np.diff(ranks) > 0)
        w = weights.sorted_weights(1.0, kernel)
        assert len(w) == 5000 and w[0] == 1
