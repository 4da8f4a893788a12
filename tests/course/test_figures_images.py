"""What the pictures of the chapter on images claim."""

from __future__ import annotations

import numpy as np
from drawing import said

from limetutor import images
from limetutor.course.figures import images as figures


def test_empty_superpixels_are_seen_only_against_a_grey_reference():
    model, image = figures.example()
    labels = images.superpixels(image)
    empty = np.bincount(labels.ravel(), image.ravel()) == 0
    assert empty.sum() >= 3
    five = figures.score(model, 5)
    paper, grey = (images.image_limit(five, image, labels, reference=tone).coef for tone in (0, 8))
    np.testing.assert_array_equal(paper[empty], 0)
    assert np.abs(grey[empty]).max() > 1
    text = said(figures.hidden_tone, 8.0, 5)
    assert "0 of 16 superpixels" in text
    assert "in row 2, column 3" in text


def test_superpixels_that_follow_the_tones_leave_less_to_explain():
    model, image = figures.example()
    totals = [
        np.abs(images.image_limit(figures.score(model, 5), image, patches).coef).sum()
        for patches in (images.superpixels(image), images.superpixels(image, tone=0.3))
    ]
    assert totals[1] < 0.75 * totals[0]


def test_the_bandwidth_leads_from_occlusion_to_banzhaf_values():
    sums = figures.probabilities()
    narrow, wide = (images.weighted_fit(sums, nu, "mismatch")[1:] for nu in (0.1, 100.0))
    np.testing.assert_allclose(narrow, images.difference_of_means(sums, 1.0), atol=1e-12)
    np.testing.assert_allclose(wide, images.difference_of_means(sums, 0.5), atol=1e-4)
    lime = images.weighted_fit(sums, 0.25, "cosine")[1:]
    assert np.abs(lime - wide).max() < 0.03  # lime's setting is close to equal weights
    assert "probability 0.62" in said(figures.bandwidths, 1.0, "mismatch")
    assert "probability" not in said(figures.bandwidths, 1.0, "cosine")


def test_the_whole_story_has_four_panels():
    model, image = figures.example()
    fig = figures.whole_story(model, image, images.superpixels(image), (5, 6))
    assert [ax.get_title() for ax in fig.axes] == ["image", "a sample", "for 5", "for 6"]
    assert np.argmax(model.predict_proba(image.reshape(1, -1))) == 5
