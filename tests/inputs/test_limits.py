"""How large an argument may be, on both sides of the limit, and how much is asked of a model by default."""

import numpy as np
import pytest

import limetutor as lt
from limetutor.interactive.explorer import _checked_size
from limetutor.switches import coin_flips

WORLD = lt.Gaussian()


def at(xi=0.3, nu=1.0, f=None):
    return lt.limit(f or lt.Linear([1.0]), [xi], WORLD, nu)


LIMITS = {
    "a mean": (1e100, 1.01e100, lambda v: lt.Gaussian(v, v)),
    "a value": (
        1e100,
        1.01e100,
        lambda v: lt.Empirical(np.array([[0.0, 0.2, 0.4, 1.0]]).T * v),
    ),
    "a range": (1e-100, 0.99e-100, lambda v: lt.Empirical(np.array([[0.0, 1, 2, 4]]).T * v / 4)),
    "a bandwidth": (1e100, 1.01e100, lambda v: at(nu=v)),
    "a small bandwidth": (1e-100, 0.99e-100, lambda v: at(nu=v)),
    "a coefficient": (1e190, 1.01e190, lambda v: lt.Linear([v])),
    "a constant": (1e190, 1.01e190, lambda v: lt.Linear([1.0], v)),
    "a response": (1e300, 1.01e300, lambda v: at(f=lambda x: np.full(len(x), v))),
    "a position": (1e10, 1.01e10, at),
    "a tolerance": (100, 100.5, lambda v: lt.risk([[0.3]], WORLD, [1.0], tolerance=v)),
    "boxes": (10_000, 10_001, lambda v: lt.Gaussian(p=v)),
    "boxes of a path": (
        1000,
        1001,
        lambda v: lt.path(lt.Linear([1.0]), [0.3], WORLD, nu=1.0, boxes=[v]),
    ),
    "switches": (100_000, 100_001, coin_flips),
    "stops": (10_000, 10_001, lambda v: lt.Slider(0, 1, 0.5, fmt="{:.6f}", stops=v)),
    "inches": (50, 50.1, lambda v: _checked_size((v, v))),
}


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
