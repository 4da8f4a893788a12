"""What the figures of the chapter on the real lime claim."""

import numpy as np
import pytest
from drawing import drawn, in_colour, xy
from lime.lime_tabular import LimeTabularExplainer
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt
from limetutor.course.datasets import diabetes
from limetutor.course.experiments import repeat_lime
from limetutor.course.figures import real_lime
from limetutor.lime.read_explainer import repaired
from limetutor.plotting.style import color

TABLE, Y = diabetes()
X = TABLE.to_numpy()
XI = X[13]
MODELS = {
    "linear model": LinearRegression().fit(X, Y),
    "tree": DecisionTreeRegressor(min_samples_leaf=20, random_state=0).fit(X, Y),
}


@pytest.fixture(scope="module")
def explainer() -> LimeTabularExplainer:
    options = {"mode": "regression", "feature_selection": "none", "random_state": 0}
    return LimeTabularExplainer(X, feature_names=list(TABLE.columns), **options)


def test_crosses_lie_within_four_standard_errors_of_lime(explainer) -> None:
    world = lt.from_lime(explainer)
    limits = {name: real_lime.at_width(m, XI, world, world.nu) for name, m in MODELS.items()}
    runs = {name: repeat_lime(explainer, XI, m.predict, runs=12) for name, m in MODELS.items()}
    for name, found in runs.items():
        error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        assert np.all(np.abs(found.mean(axis=0) - limits[name].coef) < 4 * error + 0.1)
    fig = real_lime.predicted(runs, limits)
    assert [ax.get_title(loc="left") for ax in fig.axes] == list(MODELS)


def test_the_width_moves_no_linear_coefficient_and_ridge_shrinks_all_together(explainer) -> None:
    world = lt.from_lime(explainer)
    narrow, wide = (real_lime.at_width(MODELS["linear model"], XI, world, w) for w in (0.5, 10))
    assert narrow.surrogate.beta == pytest.approx(wide.surrogate.beta, rel=1e-9)
    assert narrow.shrinkage.max() < 0.05 and wide.shrinkage.min() > 0.99
    half = real_lime.at_width(MODELS["linear model"], XI, world, 0.75).shrinkage
    assert half.max() - half.min() < 0.05
    trees = [real_lime.at_width(MODELS["tree"], XI, world, w).surrogate.beta for w in (0.5, 10)]
    assert np.max(np.abs(trees[0] - trees[1])) > 1


@pytest.mark.parametrize("width", [0.3, 0.65, 10.0])
def test_the_slider_of_the_width_says_who_decides(explainer, width: float) -> None:
    world = lt.from_lime(explainer)
    at = real_lime.at_width(MODELS["linear model"], XI, world, width)
    case = {"model": "linear model", "models": MODELS, "xi": XI, "world": world}
    text, fig = drawn(real_lime.width_slider, width=width, **case)
    C = np.exp(at.log_C)
    assert f"total weight of the samples is {real_lime.short(4999 * C)}, " in text
    assert f"leaves {np.median(at.shrinkage):.0%}" in text
    limit = lt.limit(MODELS["linear model"], XI, world, width, "mismatch", n=np.inf)
    turned = [n for n, a, b in zip(at.names, at.coef, limit.coef, strict=True) if a * b < 0]
    assert ("no sign has changed" in text) == (not turned) and all(n in text for n in turned[:3])
    dots = [line for line in fig.axes[1].lines if line.get_marker() == "o"]
    assert dots[1].get_ydata()[0] == pytest.approx(1 / (1 + 4999 * C))


def test_the_staircase_is_the_limit_at_any_bandwidth() -> None:
    for p, xi in [(4, 0.1), (5, 0.5), (9, -1.5)]:
        step = real_lime.coefficient_by_position(p, np.array([xi]))[0]
        for nu in (0.4, 3.0):
            at = lt.limit(lt.Linear([1]), [xi], lt.Gaussian(p=p), nu, "mismatch")
            assert step == pytest.approx(at.coef[0], abs=1e-9)


@pytest.mark.parametrize("p", [2, 3, 4, 5, 12, 31])
def test_only_an_odd_number_of_boxes_hides_the_middle(p: int) -> None:
    height = real_lime.coefficient_by_position(p, np.array([1e-3]))[0]
    assert (abs(height) < 1e-9) == (p % 2 == 1)
    text, fig = drawn(real_lime.boxes_decide, p=p, xi=1e-3)
    assert ("hides" in text) == (p % 2 == 1)
    (stairs,) = in_colour(fig.axes[0], color.truth)
    (left, height), (right, same) = xy(stairs).reshape(-1, 2, 2)[p // 4]  # one box
    at = real_lime.coefficient_by_position(p, np.array([0.9 * left + 0.1 * right]))[0]
    assert height == same == pytest.approx(at, abs=1e-12)


def test_quartiles_hide_no_patient_and_quintiles_do() -> None:
    assert real_lime.hidden_share(lt.Empirical(TABLE, p=4), X) == 0
    assert 0.05 < real_lime.hidden_share(lt.Empirical(TABLE, p=5), X) < 0.15


def test_the_collapsed_column_is_twice_as_large_and_mended_as_our_world_has_it(explainer) -> None:
    world = lt.from_lime(explainer)
    assert [(bin_.feature, bin_.fed, bin_.value) for bin_ in world.collapsed] == [(1, 0.0, 1.0)]
    f, worlds = MODELS["linear model"], (world, repaired(world), lt.Empirical(TABLE))
    wrong, right, ours = (real_lime.at_width(f, XI, w, world.nu).coef[1] for w in worlds)
    # to within what ξ's own row adds in the two worlds read from lime
    assert wrong == pytest.approx(2 * right, rel=3e-3)
    assert right == pytest.approx(ours, rel=3e-3)
