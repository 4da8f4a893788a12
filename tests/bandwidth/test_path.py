"""The path of an explanation over the bandwidth or the number of boxes."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from diabetes_paths import MODELS, WORLDS, XI, X, Y
from lime.lime_tabular import LimeTabularExplainer
from matplotlib.figure import Figure
from sentences import one_sentence
from sklearn.ensemble import RandomForestClassifier

import limetutor as lt
from limetutor.precision.effective_samples import effective_sample_size


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


def test_a_coefficient_that_is_zero_throughout_has_no_critical_bandwidth_and_a_note():
    found = lt.path(lt.Linear([10.0, 0.0]), [0.9, 0.4], lt.Gaussian())
    assert len(found.critical[1]) == 0
    assert "'x2'" in found.notes[0] and "zero at every bandwidth" in found.notes[0]


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
    # as audits take them, and by the world's place
    for ways in ((explainer, f, XI), (f, XI, explainer)):
        found = lt.path(*ways, nu=[1.0, 2.0], num_samples=700, labels=(2,))
        assert found.n == 700 and found.prediction == chance[2]
    one_sentence(lambda: lt.path(explainer, f, XI, n=5, num_samples=9), "must not both be given")
    for call, words in (
        (lambda: lt.path(f, XI, world, num_samples=9), "num_samples is no argument of path"),
        (lambda: lt.path(f, XI, world, labl=1), "did you mean label?"),
        (lambda: lt.audit(explainer, f, XI, num_feature=3), "did you mean num_features?"),
        (lambda: lt.predict_lime(explainer, f, XI, num_feature=3), "did you mean num_features?"),
        (lambda: lt.path(f, XI, object()), "lt.from_lime"),
    ):
        one_sentence(call, words, error=TypeError)
    assert lt.audit(explainer, f, XI, num_samples=700).case.n == 700
    assert lt.audit(explainer, f, XI).case.prediction == chance[1]
    assert lt.path(lambda x: x[:, 0], XI, world, nu=[1.0, 2.0], samples=100).prediction == XI[0]
    one_sentence(lambda: lt.path(f, XI, world, label=1, output=2), "must not both be given")
    one_sentence(
        lambda: lt.path(f, XI, world, label="medium"), "label must be a column from 0 to 2"
    )


def test_given_edges_have_no_number_to_go_over():
    read, world = lt.from_lime(LimeTabularExplainer(X)), lt.Empirical(X, edges={2: [0.0]})
    go = partial(lt.path, MODELS["linear"], XI, nu=1.0, boxes=[3, 4])
    one_sentence(lambda: go(world=read), "make the explainer anew")
    one_sentence(lambda: go(world=world), "got one with edges for [2]; leave edges= out")
    assert lt.path(MODELS["linear"], XI, world, nu=[1.0, 2.0]).coef.shape == (2, 4)


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


def test_a_path_names_the_bandwidths_that_average_to_shapley_values():
    f, xi = lt.Quadratic([[0, 1], [1, 0]]), [1.0, 0.2]
    path, cube = lt.path(f, xi, lt.Gaussian(), "mismatch"), lt.cube(f, xi, lt.Gaussian())
    nu, weights, order = pickle.loads(pickle.dumps(path)).widths()
    assert order == 2 and f"At {nu[0]:.3g} the coefficients" in path.recommend().reason
    assert (weights * lt.limit(f, xi, lt.Gaussian(), nu[0], "mismatch").coef)[0] == pytest.approx(
        cube.coef
    )
    apart = lt.path(f, xi, lt.Gaussian(p=[2, 6]), "mismatch")
    assert "Shapley" not in apart.recommend().reason and apart.widths(3).order == 0
    with pytest.raises(ValueError, match="kernel must be 'mismatch'"):
        lt.path(f, xi, lt.Gaussian()).widths()
