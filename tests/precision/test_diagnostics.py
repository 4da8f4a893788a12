"""What an explanation warns of: too few samples, or none on one side."""

import numpy as np
import pytest

import limetutor as lt
from limetutor.many.explain_many import explain_quietly

WORLD = lt.Gaussian()


def test_few_effective_samples_are_said():
    e = explain_quietly(lt.Linear([1.0, 1.0]), [0.3, 0.3], WORLD, 0.1, n=300, seed=0)
    assert e.ess < 15
    assert any("effective sample size" in text for text in e.warnings)
    e = explain_quietly(lt.Linear([1.0]), [0.337], WORLD, 0.15, n=40, seed=0, sampler="tilted")
    assert any("one side of xi's box" in text or "singular" in text for text in e.warnings)


def warned(call):
    with pytest.warns(lt.FitWarning) as caught:
        result = call()
    assert all(w.filename == __file__ for w in caught)  # it points at the caller's line
    messages = [str(w.message) for w in caught]
    assert tuple(messages) == result.warnings
    for message in messages:
        assert message.endswith(".") and "\n" not in message
        assert message in repr(result)
    return result, messages


def test_few_effective_samples_warn_with_the_number_and_the_remedy():
    f, xi = lt.Linear([1, 2, 3]), [2.0, 2.0, -2.0]
    e, messages = warned(lambda: lt.explain(f, xi, WORLD, 0.25, n=400, seed=0))
    assert e.ess < 20
    assert messages[0] == (
        f"The effective sample size is {e.ess:.1f} of n=400, and 4 coefficients want at least 20: "
        "raise nu or n, or use sampler='tilted'."
    )


def test_five_effective_samples_for_each_coefficient_are_enough():
    f, xi, halves = lt.Linear([1, 2, 3]), [0.1, 0.1, 0.1], lt.Gaussian(p=2)
    kernel = lambda x, z, xi, nu: np.arange(len(x)) < 20  # noqa: E731
    assert lt.explain(f, xi, halves, 1, seed=3, kernel=kernel).ess == pytest.approx(20)
    kernel = lambda x, z, xi, nu: np.arange(len(x)) < 19  # noqa: E731
    _, messages = warned(lambda: lt.explain(f, xi, halves, 1, seed=3, kernel=kernel))
    assert "size is 19.0 of n=5000" in messages[0]
    assert "tilted" not in messages[0]  # a kernel of one's own cannot be tilted


def test_a_singular_fit_warns_with_the_features():
    """With nu = 0.05 around the middle of a box no sample leaves it."""
    world, f, xi = lt.Gaussian(0, 1, 3), lt.Linear([1, 1]), [0.0, 0.43]
    e, messages = warned(lambda: lt.explain(f, xi, world, 0.05, n=20_000, seed=0, sampler="tilted"))
    assert messages == [
        "The fit is singular in 1 feature(s) ['x1']: among the weighted samples their indicators "
        "do not vary, or not apart from others; raise nu or n."
    ]
    assert e.coef[0] == 0 and e.stderr[0] == 0 and e.coef[1] != 0
    assert [j for j, _ in e.as_map()[1]] == [1]


def test_ridge_makes_a_singular_fit_unique_and_quiet():
    world, f, xi = lt.Gaussian(0, 1, 3), lt.Linear([1, 1]), [0.0, 0.43]
    e = lt.explain(f, xi, world, 0.05, n=20_000, seed=0, sampler="tilted", ridge=1e-3)
    assert e.warnings == ()


def test_a_good_fit_says_nothing():
    assert lt.explain(lt.Linear([1, 2]), [0.3, 0.3], WORLD, 1.0, seed=0).warnings == ()
