"""From standard errors to intervals, by Student's quantiles. Chapter: how many samples."""

import numpy as np
import scipy

from ..inputs import arguments as arg


def student_reach(stderr: np.ndarray, freedom: np.ndarray, level: float) -> np.ndarray:
    """Half of the width of intervals that hold with probability ``level``: t stderr.

    t is Student's (1 + level) / 2 quantile with these degrees of freedom.
    """
    level = arg.probability("level", level)
    if level > 1 - 1e-12:
        raise ValueError(f"level must be at most 1 - 1e-12, got {level!r}.")
    return scipy.special.stdtrit(freedom, 0.5 + level / 2) * stderr
