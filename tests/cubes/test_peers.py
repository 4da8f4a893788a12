"""Other packages on the same game: shapiq, shap's KernelExplainer, and the real Anchors."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cubes import case
from sklearn.ensemble import RandomForestClassifier

import limetutor as lt

pytestmark = pytest.mark.verify
SAME_GAME = pytest.mark.parametrize("name", ["forest", "kernel_machine", "boosting_margin"])


def peer(name):
    """A package of the extra ``peers``, or a skipped test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, exc_type=ImportError)


def worth(cube):
    """v(S) of rows of 0 and 1."""

    def v(z):
        return cube.at(np.where(np.asarray(z) > 0, 1.0, cube.mass)).coef

    return v


@SAME_GAME
def test_interactions_are_those_of_shapiq(name, verified):
    shapiq = peer("shapiq")
    cube, *_ = case(name)
    d, found = len(cube.coef), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = shapiq.ExactComputer(worth(cube), n_players=d)
        for index, ours in (("SII", "shapley"), ("BII", "banzhaf")):
            theirs, mine = exact(index=index, order=2), cube.interactions(index=ours).coef
            found += [theirs[i, j] - mine[i, j] for i in range(d) for j in range(i)]
            found += [theirs[(j,)] - mine[j, j] for j in range(d)]
    error = np.max(np.abs(found)) / np.max(np.abs(cube.coef))
    verified(f"interactions of boxes against shapiq, {name}: relative error", error, 1e-9)


@SAME_GAME
def test_shapley_values_are_those_of_kernel_shap_on_the_same_game(name, verified):
    shap = peer("shap")
    cube, *_ = case(name)
    d = len(cube.coef)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shap.KernelExplainer(worth(cube), np.zeros((1, d)))
        theirs = explainer.shap_values(np.ones((1, d)), nsamples=2**d, l1_reg=False, silent=True)
    error = np.max(np.abs(theirs[0] - cube.coef)) / np.max(np.abs(cube.coef))
    verified(f"Shapley values of boxes against KernelExplainer, {name}: error", error, 1e-9)
    assert explainer.expected_value == pytest.approx(cube.intercept)


def test_precisions_are_those_of_the_real_anchors(verified):
    """On a table of all combinations, in which the columns, which Anchors overwrites, are independent."""
    tabular = peer("anchor.anchor_tabular")
    counts = [(3, 1), (1, 2, 1), (2, 2, 1), (1, 1, 1, 2)]  # how often each category occurs
    columns = [np.repeat(np.arange(len(c)), c) for c in counts]
    table = np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, len(counts))
    rng = np.random.default_rng(0)
    y = (table @ [1.0, -1, 0.5, 0.7] + table[:, 0] * table[:, 3] + rng.normal(size=len(table))) > 1
    f = RandomForestClassifier(20, max_depth=4, random_state=0).fit(table, y)
    world = lt.Empirical(pd.DataFrame(table, columns=list("abcd")), categorical=list("abcd"))
    names = {j: [str(v) for v in range(len(c))] for j, c in enumerate(counts)}
    explainer = tabular.AnchorTabularExplainer(["no", "yes"], list("abcd"), table, names)
    np.random.seed(5)  # noqa: NPY002 - which is what Anchors draws with
    z, draws = [], 20_000
    for row in (table[0], table[77], table[-1]):
        cube = lt.cube(lambda x: f.predict_proba(np.asarray(x, float)), row, world, output=1)
        sample, mapping = explainer.get_sample_fn(row, f.predict)
        assert [feature for feature, *_ in mapping.values()] == [0, 1, 2, 3]
        for rule in [(), (0,), (1,), (2,), (3,), (0, 1), (0, 3), (1, 2, 3)]:
            labels, ours = sample(list(rule), draws)[2], cube.rule(rule)
            assert ours.method == "exact"
            spread = np.sqrt(max(ours.precision * (1 - ours.precision), 1e-9) / draws)
            z.append((np.mean(labels) - ours.precision) / spread)
    verified("precisions of rules against AnchorTabular: largest |z|", np.max(np.abs(z)), 4)
    assert 0.4 < np.std(z) < 1.6
