"""What an explanation warns of: too few samples, or none on one side."""

import warnings

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from scipy import optimize
from scipy.special import ndtri

import limetutor as lt

WORLD = lt.Gaussian()


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
        "raise nu, or ask lt.limit what the coefficients tend to."
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
        "The fit is singular in 1 feature(s) ['x1']: all samples that weigh more than rounding lie "
        "on one side of xi's box; their coefficients, and those that depend on them, are no estimates; raise "
        "nu, or ask lt.limit what the coefficients tend to."
    ]
    assert e.coef[0] == 0 and e.stderr[0] == 0 and e.coef[1] != 0
    assert [j for j, _ in e.as_map()[1]] == [1]


def test_a_feature_all_of_whose_values_lie_in_the_box_of_xi_is_named():
    table = np.column_stack([np.arange(40.0), np.ones(40)])
    with pytest.warns(
        lt.FitWarning, match=r"all its values of 1 feature\(s\) \['x2'\] in xi's box"
    ):
        assert lt.limit(lt.Linear([1, 2]), table[3], lt.Empirical(table), 9.0).coef[1] == 0


def test_few_effective_samples_on_one_side_of_a_box_are_said():
    """In the middle of a box, which few samples leave: four of 100, and enough of 300."""
    f, how = lt.Linear([1.0]), {"seed": 0, "sampler": "tilted"}
    _, messages = warned(lambda: lt.explain(f, [0.337], WORLD, 0.15, n=100, **how))
    assert "Fewer than 5 effective samples lie on one side of xi's box for 1 feature" in messages[0]
    assert "too narrow (a standard error of 0 may rest on a single sample); raise" in messages[0]
    assert lt.explain(f, [0.337], WORLD, 0.15, n=300, **how).warnings == ()


@pytest.mark.parametrize(
    ("nu", "sampler", "n", "advised"),
    [
        (0.02, "bins", 5000, ("nu", "limit")),  # outside of the box the tilted law has 1e-17
        (0.07, "bins", 5000, ("nu", "limit")),  # 1e-5
        (0.07, "tilted", 5000, ("nu", "limit")),
        (0.085, "bins", 5000, ("nu", "n")),  # 2e-4
        (0.11, "bins", 2000, ("nu", "n", "tilted")),
        (0.13, "tilted", 200, ("nu", "n")),
    ],
)
@pytest.mark.filterwarnings("ignore::limetutor.FitWarning")
def test_what_a_warning_advises_helps(nu, sampler, n, advised):
    """Each remedy is tried on x^2 at 0.3, and its coefficient held against quadrature."""

    def exact(nu):
        x = np.linspace(-6, 6, 2_000_001)
        weight = np.exp(-(x**2) / 2 - (x - 0.3) ** 2 / (2 * nu**2))
        inside = (x >= 0) & (x < ndtri(0.75))
        means = [np.average(x[side] ** 2, weights=weight[side]) for side in (inside, ~inside)]
        return means[0] - means[1]

    how = {"f": lambda x: x[:, 0] ** 2, "xi": [0.3], "world": WORLD, "seed": 1}
    (message,) = lt.explain(**how, nu=nu, sampler=sampler, n=n).warnings
    words = {"nu": "raise nu", "n": "nu or n", "tilted": "sampler='tilted'", "limit": "lt.limit"}
    assert {name for name, text in words.items() if text in message} == set(advised)
    for name in advised:
        wider = 0.3 if name == "nu" else nu
        if name == "limit":
            found = lt.limit(**how, nu=nu)
        else:
            how_many = 100 * n if name == "n" else n
            way = "tilted" if name == "tilted" else sampler
            found = lt.explain(**how, nu=wider, sampler=way, n=how_many)
        assert not found.warnings and abs(found.coef[0] - exact(wider)) < 4 * found.stderr[0]


def test_ridge_makes_a_singular_fit_unique_and_quiet():
    world, f, xi = lt.Gaussian(0, 1, 3), lt.Linear([1, 1]), [0.0, 0.43]
    e = lt.explain(f, xi, world, 0.05, n=20_000, seed=0, sampler="tilted", ridge=1e-3)
    assert e.warnings == ()


def test_a_good_fit_says_nothing():
    assert lt.explain(lt.Linear([1, 2]), [0.3, 0.3], WORLD, 1.0, seed=0).warnings == ()


@pytest.mark.parametrize(("weight", "decides"), [(0.98, True), (1.02, False)])
def test_the_own_row_of_xi_decides_where_all_others_weigh_less_than_it(weight, decides):
    """The nine others of ten rows, by lime's kernel: nine times the product of p + (1 - p) exp(-1 / 2 nu^2)."""
    X = np.random.default_rng(0).normal(size=(200, 2))
    world = lt.from_lime(LimeTabularExplainer(X, mode="regression"))
    boxes = world.boxes()
    p = boxes.law.prob[np.arange(2), boxes.discretize(X[0])]
    total = lambda nu: 9 * np.prod(p + (1 - p) * np.exp(-1 / (2 * nu**2))) - weight  # noqa: E731
    nu = optimize.brentq(total, 0.05, 50)
    for limit, xi in ((lt.limit, X[0]), (lt.limits, X[:1])):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            found = limit(lt.Linear([1.0, 2.0]), xi, world, nu, "mismatch", n=10)
        assert any("own row decides" in str(w.message) for w in heard) == decides
        if limit is lt.limit:
            assert any("own row decides" in note for note in found.warnings) == decides
