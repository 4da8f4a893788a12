"""What the pictures of the chapter on images claim."""

import numpy as np
import pytest
from drawing import drawn, said
from matplotlib.path import Path

from limetutor.course.colours import SIDE, astronaut, colour_classifier
from limetutor.course.figures import images as figures
from limetutor.plotting.style import new_figure
from limetutor.switches import fit_form, images, mean_differences, tilted

NAMES = colour_classifier().names


def part(method: str, row: int, column: int) -> int:
    """The superpixel at a place of the picture."""
    return int(figures.superpixels_of(method)[row, column])


def test_the_suit_speaks_for_the_flower_the_wall_for_the_temple_and_the_flag_for_the_rocket():
    places = {"flower": (85, 20), "temple": (30, 25), "rocket": (8, 5)}
    for method in ("quickshift", "slic"):
        for name, (row, column) in places.items():
            beta = figures.sums_of(NAMES.index(name), 0.5, method)
            rank = np.argsort(-beta).tolist().index(part(method, row, column))
            assert rank < 6, f"{name} by {method}: {rank}"
    shuttle = figures.sums_of(NAMES.index("rocket"), 0.5)[part("quickshift", 40, 108)]
    assert shuttle < 0  # the rocket in the picture does not speak for a rocket


def test_the_total_is_that_of_the_picture_however_it_is_cut():
    model, image = colour_classifier(), astronaut()
    grey = np.full_like(image, 0.5)
    scores = model.score(np.array([image, grey]))
    for label in range(5):
        for method in ("quickshift", "slic"):
            total = figures.sums_of(label, 0.5, method).sum()
            np.testing.assert_allclose(total, scores[0, label] - scores[1, label], atol=1e-9)


def test_a_black_reference_leaves_nothing_for_the_flower():
    grey, black = (figures.sums_of(NAMES.index("flower"), tone) for tone in (0.5, 0.0))
    assert grey.max() > 1 and black.max() < 0.2 and black.sum() < -5
    assert "scores 9.85 less for flower than a blank one" in said(
        figures.hidden_tone, 0.0, "flower"
    )
    assert "scores 7.14 more for flower than a blank one" in said(
        figures.hidden_tone, 0.5, "flower"
    )


def test_behind_its_own_mean_a_superpixel_has_less_to_say():
    for name in ("flower", "temple", "rocket"):
        label = NAMES.index(name)
        own, grey = (np.abs(figures.sums_of(label, fill)).sum() for fill in ("mean", 0.5))
        assert own < 0.7 * grey


def test_every_pixel_is_in_the_outline_of_its_superpixel():
    labels = figures.superpixels_of("slic")
    rows, columns = np.mgrid[3:SIDE:17, 3:SIDE:17]
    for row, column in zip(rows.ravel(), columns.ravel(), strict=True):
        outline = figures._outlines("slic")[labels[row, column]]
        rings = [Path(polygon) for polygon in outline.to_polygons()]
        assert sum(ring.contains_point((column, row)) for ring in rings) % 2 == 1


def test_what_speaks_is_unveiled():
    _, fig = drawn(figures.hidden_tone, 0.5, "flower")
    veils = np.array([patch.get_alpha() for patch in fig.axes[1].patches or fig.axes[1].artists])
    beta = figures.sums_of(NAMES.index("flower"), 0.5)
    assert veils[np.argmax(beta)] < 0.15 and veils[np.argmin(beta)] == figures.VEIL


def test_stories_have_a_panel_for_each_class():
    fig = figures.story({name: figures.sums_of(2, 0.5) for name in ("a", "b", "c")})
    assert [ax.get_title() for ax in fig.axes] == ["the picture", "for a", "for b", "for c"]
    fig = figures.two_ways_to_cut(("flower",), 0.5)
    assert [ax.get_ylabel() for ax in fig.axes] == ["quickshift", "", "slic", ""]


def test_runs_are_drawn_against_the_prediction():
    prediction = type("Said", (), {"coef": np.array([0.2, -0.1])})()
    fig = figures.predicted_and_printed(prediction, np.array([[0.21, -0.1], [0.19, -0.12]]))
    dots = fig.axes[0].lines[1]
    np.testing.assert_allclose(dots.get_xdata(), [0.2, -0.1, 0.2, -0.1])
    np.testing.assert_allclose(dots.get_ydata(), [0.21, -0.1, 0.19, -0.12])


def test_superpixels_are_as_opaque_as_their_coefficients_are_large():
    fig, labels = new_figure((2, 2)), np.array([[0, 0, 1], [2, 2, 3]])
    ax = fig.subplots()
    coef = np.array([0.1, -0.2, 0.0, 0.9])
    figures.draw_coefficients(ax, np.ones((2, 3)), labels, coef, 0.4)
    patches = ax.patches or ax.artists
    assert [patch.get_alpha() for patch in patches[:4]] == [0.25, 0.5, 0, 1]
    signs = [patch.get_facecolor()[:3] for patch in patches[:4]]
    assert signs[0] == signs[3] != signs[1]


def test_the_bandwidth_leads_from_occlusion_to_banzhaf_values():
    form, (model, image) = figures.probabilities(), figures.example()
    shown, hidden = form(np.stack([np.ones(16, bool), np.zeros(16, bool)]))
    ends = model.predict_proba(np.stack([image.ravel(), np.zeros(64)]))[:, 5]  # a five, a black one
    assert [shown, hidden] == pytest.approx(list(ends))

    def beta(nu, kernel):
        return fit_form(form, images.kernel_switches(16, nu, kernel)).coef

    narrow, wide = (beta(nu, "mismatch") for nu in (0.1, 100.0))
    np.testing.assert_allclose(narrow, mean_differences(form, np.arange(16) == 15), atol=1e-12)
    np.testing.assert_allclose(wide, tilted(form, 0.5), atol=1e-4)
    lime = beta(0.25, "cosine")
    assert np.abs(lime - wide).max() < 0.03  # lime's setting is close to equal weights
    assert "probability 0.62" in said(figures.bandwidths, 1.0, "mismatch")
    assert "probability" not in said(figures.bandwidths, 1.0, "cosine")
