"""How large an argument may be, on both sides of the limit, and how much is asked of a model by default."""

from pathlib import Path

import numpy as np
import pytest
from cases import cases

import limetutor as lt
from limetutor.interactive.explorer import _checked_size  # noqa: F401 - a case has it
from limetutor.switches import coin_flips  # noqa: F401 - a case has it

WORLD = lt.Gaussian()


def at(xi=0.3, nu=1.0, f=None):
    return lt.limit(f or lt.Linear([1.0]), [xi], WORLD, nu)


LIMITS = dict(cases(Path(__file__).parent / "support" / "limits.txt", globals()))


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.filterwarnings("ignore::limetutor.LimetutorWarning")
def test_an_argument_is_taken_up_to_its_limit(name):
    most, more, call = LIMITS[name]
    call(most)
    with pytest.raises(ValueError, match="must"):
        call(more)


@pytest.mark.parametrize(
    ("rows", "call"),
    [
        (5000, lambda f: lt.explain(f, [0.3, 0.9], WORLD, 1.0)),
        (100_000, lambda f: lt.limit(f, [0.3, 0.9], WORLD, 1.0)),
        (20_000, lambda f: lt.path(f, [0.3, 0.9], WORLD)),
        (40_000, lambda f: lt.samples_needed(f, [0.3, 0.9], WORLD, 1.0, 0.1)),
        (4096, lambda f: lt.switch_limit(f, lt.image_switches(20))),
        (20 * 302, lambda f: lt.switch_limit(f, lt.image_switches(300))),
    ],
)
def test_a_model_is_asked_about_so_many_rows_and_about_the_explained_one(rows, call):
    asked = []

    def f(x):
        asked.append(len(x))
        return np.sin(x[:, 0]) + x[:, 1]

    call(f)
    assert sum(asked) == rows + 1
