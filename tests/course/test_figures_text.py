"""What the pictures of the chapter on text claim."""

import numpy as np
from drawing import drawn, in_colour, said, xy

from limetutor import switches
from limetutor.course.figures import text as figures
from limetutor.plotting.style import color


def test_the_sentence_is_english_and_one_word_of_it_is_not():
    names, a = figures.tokens().names, figures.linear(False).a
    assert names[int(np.argmax(a))] == "die" and a.max() > 0.5
    unknown = [name for name, weight in zip(names, a, strict=True) if weight == 0]
    assert unknown == ["Old", "C", "t", "void"]
    assert figures.probability()(np.ones((1, 12), bool))[0] < 0.2


def test_a_linear_score_is_its_weights_at_every_width():
    a, _, form = figures.linear(False)
    for nu in (0.05, 0.25, 3.0):
        found = switches.fit_form(form, switches.text_switches(12, nu))
        np.testing.assert_allclose(found.coef, a, atol=1e-9)
    assert "LIME reverses the sign of no word" in said(figures.normalising, 0.25, "word counts")


def test_normalising_turns_two_signs():
    text = said(figures.normalising, 0.25, "normalised TF-IDF")
    assert "LIME reverses the sign of “re” and “cast”" in text
    a, h, form = figures.linear(True)
    found = switches.fit_form(form, switches.text_switches(12)).coef
    rough = switches.long_text(a, h, switches.text_switches(12))
    assert np.abs(found - rough).max() < 0.02
    np.testing.assert_array_equal(np.sign(found[h > 0]), np.sign(rough[h > 0]))


def test_small_bandwidths_favour_long_texts():
    wide, narrow = (said(figures.contrast_mixture, nu, "text") for nu in (3.0, 0.05))
    assert "mean at 6.0 of 12 words" in wide and "mean at 10.5 of 12 words" in narrow
    _, fig = drawn(figures.contrast_mixture, 0.25, "text")
    contrast = xy(in_colour(fig.axes[1], color.surrogate, "o")[0])[:, 1]
    assert np.all(np.diff(contrast) < 0)  # “die” matters less, the more words remain
    void = xy(in_colour(fig.axes[1], color.muted, "^")[0])[:, 1]
    assert np.all(void > 0)  # ... and an unknown word has a contrast
    unknown = figures.tokens().names.index("void")
    found = switches.contrasts(figures.probability(), switches.text_switches(12))
    # ... that the slope cancels, as far as the probability is a sum
    assert abs(found.coef[unknown]) < 1e-5 < void.min()


def test_the_others_of_a_rule_are_below_zero_in_short_texts_and_above_in_images():
    text = said(figures.rule_by_width, 0.25, 2)
    assert "gets 0.65 and each other word −0.0050" in text
    assert "gets 0.56 and each other one 0.0008" in text
    assert figures.shares("text", 12, 2, 0.25).other < 0 < figures.shares("text", 60, 2, 0.25).other
    long = said(figures.rule_by_length, 12, 2)
    assert "all others together −0.050" in long and "all others together 0.008" in long


def test_what_lime_prints_is_drawn_beside_it():
    prediction = type("Said", (), {"coef": np.array([0.2, -0.1]), "names": ("a", "b")})()
    fig = figures.beside_lime(prediction, np.array([[0.21, -0.1], [0.19, -0.12]]))
    ticks = xy(in_colour(fig.axes[0], color.lime, "|")[0])
    np.testing.assert_allclose(ticks, [[-0.1, 0], [0.21, 1], [-0.12, 0], [0.19, 1]])
