"""The path of an explanation over the bandwidth: zeros, ranges, a recommendation that keeps its word."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lime.lime_tabular import LimeTabularExplainer
from matplotlib.figure import Figure
from scipy import optimize
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge

import limetutor as lt
from limetutor.normal_limit import effective_sample_size
from limetutor.paths import _suspects

X, Y = load_diabetes(return_X_y=True)
X = X[:, [0, 2, 3, 8]] / X.std(axis=0)[[0, 2, 3, 8]]
XI = np.array([0.5, 0.45, -0.5, 0.6])  # in the halves of their boxes where features switch off
MODELS = {
    "linear": lt.Linear([10.0, -10.0, 3.0, 5.0]),
    "forest": RandomForestRegressor(6, max_leaf_nodes=12, random_state=0).fit(X, Y),
    "kernel": KernelRidge(kernel="rbf", gamma=0.3, alpha=0.5).fit(X[:40], (Y - Y.mean())[:40]),
}
WORLDS = {"gaussian": lt.Gaussian(), "empirical": lt.Empirical(X)}


def roots_of_the_limit(f, xi, world, lo, hi, points=60, **how):
    """The zeros of each coefficient of lt.limit, by scipy on a grid of its own."""
    grid = np.geomspace(lo, hi, points)
    coef = np.array([lt.limit(f, xi, world, nu, **how).coef for nu in grid])
    found = []
    for j, column in enumerate(coef.T):
        turns = np.flatnonzero(np.sign(column[1:]) * np.sign(column[:-1]) < 0)
        at = lambda nu, j=j: lt.limit(f, xi, world, nu, **how).coef[j]  # noqa: E731
        found.append([optimize.brentq(at, grid[i], grid[i + 1], xtol=1e-14) for i in turns])
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("f", MODELS.values(), ids=MODELS)
def test_critical_bandwidths_are_the_zeros_of_the_limit(f, world):
    found = lt.path(f, XI, world, nu=np.geomspace(0.2, 4, 9))
    wanted = roots_of_the_limit(f, XI, world, 0.2, 4)
    assert found.method == "exact"
    for mine, theirs in zip(found.critical, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-8)


def test_there_are_zeros_to_be_found():
    every = [lt.path(f, XI, world).critical for f in MODELS.values() for world in WORLDS.values()]
    assert sum(len(zeros) > 0 for one in every for zeros in one) >= 6


def test_a_path_holds_the_limits():
    f, world = MODELS["forest"], WORLDS["empirical"]
    found = lt.path(f, XI, world, nu=[2.0, 0.5, 1.0])
    assert found.nu.tolist() == [0.5, 1.0, 2.0] and found.coef.shape == (3, 4)
    for k, nu in enumerate(found.nu):
        at = lt.limit(f, XI, world, nu)
        np.testing.assert_allclose(found.coef[k], at.coef, rtol=1e-9)
        assert found.local_error[k] == pytest.approx(at.local_error, rel=1e-9)
        assert found.ess[k] == pytest.approx(effective_sample_size(XI, world, nu, 5000), rel=1e-9)
    assert np.all(found.stderr == 0)


def test_the_paths_of_a_world_read_from_lime_are_its_own():
    explainer = LimeTabularExplainer(X, mode="regression", random_state=0)
    world, f = lt.from_lime(explainer), MODELS["forest"]
    how = {"kernel": "mismatch", "ridge": 1.0, "n": 5000}
    found = lt.path(f, XI, world, ridge=1.0, n=5000, nu=np.geomspace(0.3, 6, 12))
    assert found.kernel == "mismatch"
    for k in (0, 5, 11):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            at = lt.limit(f, XI, world, found.nu[k], **how)
        np.testing.assert_allclose(found.coef[k], at.coef, rtol=1e-9)
    wanted = roots_of_the_limit(f, XI, world, 0.6, 6, 40, **how)
    mine = [zeros[zeros > 0.6] for zeros in found.critical]
    for zeros, theirs in zip(mine, wanted, strict=True):
        np.testing.assert_allclose(zeros, theirs, rtol=0, atol=1e-8)
    assert f"{world.nu:.3g}" in found.recommend().reason


def test_a_coefficient_that_is_zero_throughout_has_no_critical_bandwidth_and_a_note():
    found = lt.path(lt.Linear([10.0, 0.0]), [0.9, 0.4], lt.Gaussian())
    assert len(found.critical[1]) == 0
    assert "'x2'" in found.notes[0] and "zero at every bandwidth" in found.notes[0]


def test_a_curve_that_barely_crosses_zero_is_not_missed():
    """Two zeros between neighbouring bandwidths of the grid."""
    grid = np.geomspace(0.1, 10, 121)
    bottom = np.log(grid[60] * 1.015)
    touch = (np.log(grid)[:, None] - bottom) ** 2 - 1e-5
    assert np.all(touch > 0)
    extra = _suspects(grid, touch)
    assert np.any((np.log(extra) - bottom) ** 2 < 1e-5)


def leaders(coef):
    order = np.argsort(-np.abs(coef))[:3]
    return order.tolist(), np.sign(coef[order]).tolist()


@pytest.mark.parametrize("f", MODELS.values(), ids=MODELS)
def test_signs_and_order_stay_in_the_stable_range_and_change_beyond(f):
    world = WORLDS["empirical"]
    found = lt.path(f, XI, world)
    lo, hi = found.stable
    inside = np.geomspace(lo * 1.0001, hi / 1.0001, 12)
    kinds = {str(leaders(lt.limit(f, XI, world, nu).coef)) for nu in inside}
    assert len(kinds) == 1
    if lo > found.nu[0]:
        assert str(leaders(lt.limit(f, XI, world, lo / 1.0001).coef)) not in kinds
    if hi < found.nu[-1]:
        assert str(leaders(lt.limit(f, XI, world, hi * 1.0001).coef)) not in kinds


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2, 3, 6]), st.sampled_from([3, 4, 8]))
def test_a_recommendation_is_never_within_5_percent_of_a_zero_of_a_leading_feature(seed, d, p):
    rng = np.random.default_rng(seed)
    f, xi = lt.Linear(rng.normal(size=d) * 10), rng.normal(size=d)
    found = lt.path(f, xi, lt.Gaussian(p=p))
    advice = found.recommend()
    assert advice.reason
    if advice.nu is None:
        assert "None is good" in advice.reason
        return
    at = lt.limit(f, xi, lt.Gaussian(p=p), advice.nu)
    critical = at.critical_nu[np.isfinite(at.critical_nu)]
    widest = np.max(np.abs(found.coef), axis=0)
    leading = np.argsort(-widest)[:3]
    zeros = [c for j in leading for c in found.critical[j]]
    assert all(abs(advice.nu / zero - 1) > 0.05 for zero in zeros)
    assert set(np.round(np.concatenate(found.critical), 9)) <= set(np.round(critical, 9))
    assert found.nu[0] <= advice.nu <= found.nu[-1]


@pytest.mark.parametrize("seed", range(6))
def test_a_path_that_ends_beside_a_zero_keeps_off_it(seed):
    """The zero lies outside the path, which does not list it; a recommendation knows."""
    rng, world = np.random.default_rng(seed), lt.Gaussian()
    f, xi = lt.Linear([10.0, -10.0]), rng.uniform(0.35, 0.6, 2)
    critical = lt.limit(f, xi, world, 1.0).critical_nu
    assert np.all(np.isfinite(critical))
    for zero in critical:
        for nu in (np.geomspace(1.01 * zero, 10, 30), np.geomspace(0.1, zero / 1.01, 30)):
            found = lt.path(f, xi, world, nu=nu)
            best = found.recommend().nu
            assert not np.any(np.isclose(np.concatenate(found.critical), zero, rtol=5e-3))
            assert best is None or nu[0] * 0.995 <= best <= nu[-1] * 1.005
            assert best is None or np.all(np.abs(best / critical - 1) > 0.05), (best, critical)


def test_where_none_is_good_it_says_so():
    f, xi, world = lt.Linear([10.0, -10.0]), [0.961, 0.432], lt.Gaussian()
    near = lt.path(f, xi, world, nu=np.geomspace(0.515, 0.545, 20)).recommend()
    assert near.nu is None and near.reason.startswith("None is good")
    few = lt.path(f, xi, world, n=20).recommend()
    assert few.nu is None and "draw more samples" in few.reason
    flat = lt.path(lt.Linear([0.0, 0.0]), xi, world).recommend()
    assert flat.nu is None and "No effect" in flat.reason


def test_over_the_number_of_boxes():
    f, world = MODELS["forest"], WORLDS["empirical"]
    found = lt.path(f, XI, world, nu=2.0, boxes=[8, 2, 4, 3])
    assert found.boxes.tolist() == [2, 3, 4, 8] and np.all(found.nu == 2.0)
    np.testing.assert_allclose(found.coef[2], lt.limit(f, XI, world, 2.0).coef, rtol=1e-9)
    np.testing.assert_allclose(
        found.coef[3], lt.limit(f, XI, lt.Empirical(X, p=8), 2.0).coef, rtol=1e-9
    )
    for j, zeros in enumerate(found.critical):
        signs = np.sign(found.coef[:, j])
        assert zeros.tolist() == [found.boxes[k] for k in (1, 2, 3) if signs[k] != signs[k - 1]]
    advice = found.recommend()
    assert advice.boxes is None or found.stable[0] <= advice.boxes <= found.stable[1]
    assert "boxes" in advice.reason


def test_one_number_of_boxes_is_no_range():
    found = lt.path(MODELS["linear"], XI, lt.Gaussian(), nu=1.0, boxes=[4])
    assert found.recommend().nu is None and "None is good" in found.recommend().reason


def test_a_class_of_a_classifier():
    f = RandomForestClassifier(10, random_state=0).fit(X, np.digitize(Y, [100, 200]))
    found = lt.path(f, XI, WORLDS["empirical"], "mismatch", [1.0, 1.5], output=2)
    at = lt.limit(f, XI, WORLDS["empirical"], 1.5, "mismatch", output=2)
    np.testing.assert_allclose(found.coef[1], at.coef, rtol=1e-9)


def test_labels_are_those_of_lime():
    """Of classes called 1, 2, 3 `lime` explains the second, and so do audits; ``output`` is a class."""
    f = RandomForestClassifier(10, random_state=0).fit(X, 1 + np.digitize(Y, [100, 200]))
    explainer = LimeTabularExplainer(X, class_names=["low", "middle", "high"])
    world, nameless = lt.from_lime(explainer), lt.from_lime(LimeTabularExplainer(X))
    chance = f.predict_proba(XI[None])[0]
    assert len(set(chance)) == 3
    for model in (f, f.predict_proba, lambda x: f.predict_proba(x)):
        for asked, column in [({}, 1), ({"label": 0}, 0), ({"label": "high"}, 2)]:
            found = lt.path(model, XI, world, nu=[1.0, 2.0], samples=100, **asked)
            assert found.prediction == chance[column]
    assert lt.path(f, XI, nameless, nu=[1.0, 2.0]).prediction == chance[1]
    assert lt.path(f, XI, world, nu=[1.0, 2.0], output=1).prediction == chance[0]
    assert lt.audit(explainer, f, XI).case.prediction == chance[1]
    assert lt.path(lambda x: x[:, 0], XI, world, nu=[1.0, 2.0], samples=100).prediction == XI[0]
    with pytest.raises(ValueError, match="label and output must not both be given"):
        lt.path(f, XI, world, label=1, output=2)
    with pytest.raises(
        ValueError, match="label must be a column from 0 to 2 or one of the classes"
    ):
        lt.path(f, XI, world, label="medium")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nu": []}, "nu must be one row of numbers"),
        ({"nu": [1.0, -1.0]}, "nu must be above 0"),
        ({"nu": [1.0, np.nan]}, "nu must be finite"),
        ({"nu": "wide"}, "nu must hold numbers only"),
        ({"ridge": 1.0}, "n must be 1 or more with ridge"),
        ({"ridge": -1.0}, "ridge must be 0 or above"),
        ({"boxes": [3, 4]}, "nu must be one bandwidth with boxes="),
        ({"boxes": [3, 4], "nu": [1.0, 2.0]}, "nu must be one bandwidth with boxes="),
        ({"boxes": [1], "nu": 1.0}, "boxes must be 2 or more"),
        ({"boxes": [5000], "nu": 1.0}, "boxes must be at most"),
        ({"kernel": "triangle"}, "kernel must be one of"),
        ({"samples": 3}, "samples must be"),
        ({"seed": -1}, "seed must be"),
        ({"xi": [1.0]}, "xi must have 4 entries"),
        ({"world": X}, "world must be"),
    ],
)
def test_bad_input_gets_one_sentence(change, words):
    given = {"f": MODELS["linear"], "xi": XI, "world": WORLDS["empirical"]} | change
    with pytest.raises((ValueError, TypeError), match=words) as error:
        lt.path(**given)
    assert "\n" not in str(error.value)


def test_boxes_of_an_explainer_stay_as_they_are():
    world = lt.from_lime(LimeTabularExplainer(X, mode="regression"))
    with pytest.raises(ValueError, match="make the explainer anew"):
        lt.path(MODELS["linear"], XI, world, nu=1.0, boxes=[3, 4])


def test_nothing_of_its_picture_is_cut_off():
    """Names as long as they come and numbers with many digits; on the axes of others the legend too."""
    names = ["a name of eighteen", "Quarterly_TURNOVER", "c", "d"]
    world = lt.Empirical(pd.DataFrame(X, columns=names))
    found = lt.path(lt.Linear([1e-3, -2e-3, 3e-3, 1e-4]), XI, world, nu=np.geomspace(0.3, 4, 9))
    fig = found.plot(title="which?")
    (ax,) = fig.axes
    seen = ax.get_tightbbox()
    assert seen.x0 >= 0 and seen.x1 <= fig.bbox.width and ax.bbox.width > 0.3 * fig.bbox.width
    theirs = Figure().subplots()
    found.plot(ax=theirs)
    legend = theirs.get_legend().get_window_extent()
    assert theirs.bbox.x0 <= legend.x0 and legend.x1 <= theirs.bbox.x1


def test_a_path_prints_itself_in_words():
    text = repr(lt.path(lt.Linear([10, -10]), [0.961, 0.432], lt.Gaussian()))
    assert "x2 turns at 0.5301" in text and "recommended: Bandwidth" in text


@pytest.mark.parametrize("kernel", ["gaussian", "cosine"])
def test_a_coefficient_that_rests_on_a_handful_of_samples_has_no_standard_error(kernel):
    """A fit to as many samples as it has coefficients passes through all, and shows no noise."""
    world, xi = lt.Gaussian(), [0.3, 0.4, -0.3]
    found = lt.path(
        lambda x: x @ [1.0, 1.0, 0.0], xi, world, kernel, np.geomspace(0.02, 2, 9), samples=500
    )
    known = np.isfinite(found.stderr)
    assert 0 < known.sum() < known.size and np.all(found.stderr[known] > 1e-4)
    assert any("given as infinite" in text for text in found.notes)
    wide = lt.path(lambda x: x @ [1.0, 1.0, 0.0], xi, world, kernel, [2.0, 3.0], samples=500)
    assert np.all(np.isfinite(wide.stderr)) and not any("infinite" in text for text in wide.notes)
