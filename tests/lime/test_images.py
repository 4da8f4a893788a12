"""What `lime` will print for images, against what it prints."""

from functools import partial

import numpy as np
import pytest
from lime.lime_image import LimeImageExplainer
from lime.wrappers.scikit_image import SegmentationAlgorithm
from lime_runs import FEW, RUNS, in_runs, judge, of_all, verify_all
from passages import IMAGE, bright, colours, crop, painters, squares

import limetutor as lt
from limetutor.lime.images import masked_image


def segmentation(place):
    """Squares, slic and lime's own quickshift by turns."""
    slic = SegmentationAlgorithm("slic", n_segments=25, compactness=10, start_label=0)
    return (squares, slic, None)[place % 3]


@pytest.mark.verify
@pytest.mark.timeout(3600)
def test_what_lime_prints_for_images_is_predicted(verified, verifying):
    """Three classifiers, five images, 20 runs; a sample in `make test`."""
    made, scored, ratios = painters(), [], []

    def all_three(images):
        x = colours(images)
        return np.column_stack([m.predict_proba(x)[:, 1] for m in made.values()])

    for place in range(5 if verifying else 1):
        image, how = crop(3 + 11 * place), {"segmentation_fn": segmentation(place)}
        how |= {"hide_color": (None, 0)[place % 2]}
        explainer = LimeImageExplainer(random_state=place)
        d = masked_image(image, **how).d
        runs = in_runs(
            explainer, all_three, image, d, RUNS if verifying else FEW, 3, batch_size=200, **how
        )
        found = [
            lt.predict_lime(
                explainer, lambda x, m=m: m.predict_proba(colours(x)), image, label=1, **how
            )
            for m in made.values()
        ]
        for kept, part in zip((scored, ratios), of_all(runs, found), strict=True):
            kept.append(part)
    what = f"predict_lime, three classifiers, {len(scored)} images"
    verify_all(verified, what, scored, ratios)


SMALL = crop(5, 24)  # what is in a picture does not depend on how many points it has
small_squares = partial(squares, side=4)
IMAGE_OPTIONS = {
    "mean": {},
    "black": {"hide_color": 0},
    "a colour": {"hide_color": (250, 10, 128)},
    "slic from one": {"segmentation_fn": SegmentationAlgorithm("slic", n_segments=12)},
    "five": {"num_features": 5},
    "metric": {"distance_metric": "euclidean"},
    "few samples": {"num_samples": 200, "batch_size": 7, "random_seed": 3},
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("option", IMAGE_OPTIONS)
def test_options_of_limes_explainer_of_images(option):
    how = {"segmentation_fn": small_squares} | IMAGE_OPTIONS[option]
    image, net = SMALL, painters()["net"]
    f = lambda x: net.predict_proba(colours(x))  # noqa: E731
    explainer = LimeImageExplainer(random_state=1)
    found = lt.predict_lime(explainer, f, image, label=1, calls=8000, **how)
    runs = in_runs(explainer, f, image, len(found.coef), 8, **{"batch_size": 100} | how)[:, 0, 1:]
    judge(runs, found)
    assert found.names == tuple(range(len(found.coef)))


def test_a_grey_image_and_one_of_floats():
    explainer, net = LimeImageExplainer(random_state=0), painters()["net"]
    predict = partial(lt.predict_lime, explainer, calls=1000)
    f = lambda x: net.predict_proba(colours(x))  # noqa: E731
    grey = SMALL[..., 0]
    found = predict(f, grey, segmentation_fn=small_squares)
    thrice = predict(f, np.dstack([grey] * 3), segmentation_fn=small_squares)
    assert np.array_equal(found.coef, thrice.coef)
    scaled = SMALL / 255.0
    found = predict(
        lambda x: f(255 * x), scaled, segmentation_fn=small_squares(scaled), hide_color=0.0
    )
    whole = predict(f, SMALL, segmentation_fn=small_squares, hide_color=0)
    assert np.allclose(found.coef, whole.coef, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("labels", "d"),
    [(np.zeros((48, 48), int), 1), (squares(IMAGE, 24), 4), (squares(IMAGE) + 5, 36)],
)
def test_odd_segmentations(labels, d):
    explainer = LimeImageExplainer(random_state=0)
    how = {"hide_color": 0, "calls": 4000}
    found = lt.predict_lime(explainer, bright, IMAGE, label=1, segmentation_fn=labels, **how)
    how = {"segmentation_fn": lambda _: labels, "hide_color": 0}
    runs = in_runs(explainer, bright, IMAGE, d, 8, batch_size=100, **how)[:, 0]
    error = np.hypot(runs.std(axis=0, ddof=1), 1e-5)
    assert np.all(np.abs(runs.mean(axis=0) - np.append(found.intercept, found.coef)) < 4 * error)
