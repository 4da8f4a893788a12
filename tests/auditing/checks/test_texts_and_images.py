"""Audits of texts and images find what was planted, and are quiet without it."""

import pickle

import numpy as np
import pytest
from lime.lime_image import LimeImageExplainer
from lime.lime_text import LimeTextExplainer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import limetutor as lt

WORDS = "good bad fine poor film plot actor music story end start scene".split()
NAMES = ["no", "yes"]


def both(p):
    p = np.asarray(p, float)
    return np.column_stack([1 - p, p])


def adds(texts):
    """A sum of words, all of which count."""
    size = {word: 0.02 * (j + 1) for j, word in enumerate(WORDS)}
    return both([sum(size.get(w, 0.0) for w in set(t.lower().split())) for t in texts])


def has(*words):
    return lambda texts: both([all(w in t.split() for w in words) for t in texts])


def pipeline(model, **how):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(200)]
    labels = [("good" in t.split()) for t in texts]
    return make_pipeline(CountVectorizer(**how), model).fit(texts, labels)


def text_audit(f, text, how=None, **options):
    explainer = LimeTextExplainer(class_names=NAMES, random_state=0, **how or {})
    return lambda: lt.audit(explainer, f, text, **{"num_features": 30} | options)


def parity(texts):
    """What no sum of words comes near."""
    return both([len(t.split()) % 2 for t in texts])


def lengths(texts):
    return both([len(t.split()) / 20 + 0.2 * (len(t) % 3) for t in texts])


TEXT = " ".join(WORDS)
FOUR = has("good", "bad", "fine", "poor")
TREE = pipeline(DecisionTreeClassifier(random_state=0), binary=True)
SCORE = pipeline(LogisticRegression()).decision_function
HALF = " ".join(WORDS[:6])


PLANTED_IN_TEXTS = {
    "noise": (text_audit(parity, TEXT, n=200), text_audit(adds, TEXT)),
    "unstable-set": (
        text_audit(lengths, TEXT, num_features=4), text_audit(has("good"), TEXT, num_features=1),
    ),
    "own-row": (text_audit(adds, TEXT, {"kernel_width": 0.5}), text_audit(adds, TEXT)),
    "few-samples": (text_audit(adds, TEXT, n=100), text_audit(adds, TEXT)),
    "cannot-matter": (text_audit(SCORE, HALF + " zebra a"), text_audit(SCORE, HALF)),
    "cannot-matter ": (text_audit(adds, HALF + " zebra"), text_audit(adds, HALF)),
    "repeated-words": (text_audit(TREE, "Good " + HALF), text_audit(TREE, HALF)),
    "repeated-words ": (
        text_audit(SCORE, HALF + " good", {"bow": False}), text_audit(SCORE, HALF + " good"),
    ),
    "hidden-rule": (text_audit(FOUR, TEXT), text_audit(FOUR, TEXT, {"kernel_width": 3})),
    "hidden-rule ": (text_audit(FOUR, TEXT), text_audit(has("good"), TEXT)),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("code", PLANTED_IN_TEXTS)
def test_what_is_planted_in_a_text_is_found(code):
    planted, clean = (call() for call in PLANTED_IN_TEXTS[code])
    assert code.strip() in planted.codes and code.strip() not in clean.codes
    finding = planted[code.strip()]
    assert finding.sentence.endswith(".") and finding.remedy.endswith(".")


def test_a_clean_text_has_nothing_to_say():
    assert text_audit(adds, TEXT)().codes == ()


def test_the_width_it_recommends_shows_the_rule():
    """Of a tree, whose form says what each width would show."""
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.permutation(WORDS)[: rng.integers(3, 12)]) for _ in range(600)]
    tree = make_pipeline(CountVectorizer(), DecisionTreeClassifier(random_state=0))
    tree.fit(texts, FOUR(texts)[:, 1])
    found = text_audit(tree, TEXT)()["hidden-rule"]
    width = found.numbers["kernel_width"]
    narrow = lt.predict_lime(LimeTextExplainer(kernel_width=width), tree, TEXT, num_features=30)
    shows = narrow.coef[[narrow.names.index(w) for w in found.features]]
    assert 0 < width < 25 and np.max(np.abs(shows)) >= 0.45
    assert set(found.features) == {"good", "bad", "fine", "poor"}


def test_the_samples_it_asks_for_are_enough():
    noisy = text_audit(adds, TEXT, n=60)()["noise"]
    more = text_audit(adds, TEXT, n=noisy.numbers["advised"]["num_samples"])()
    assert "noise" not in more.codes


RNG = np.random.default_rng(2)
NOISE = RNG.integers(0, 255, (24, 24, 3)).astype(np.uint8)
FLAT = np.where(np.arange(24)[:, None, None] < 6, np.uint8(90), NOISE)  # the first row of squares
SQUARES = np.arange(24)[:, None] // 6 * 4 + np.arange(24) // 6


def bright(images):
    x = np.asarray(images, float) / 255
    return both(np.tanh(x.mean(axis=(1, 2, 3)) + x[:, 6:12, 6:12].mean(axis=(1, 2, 3))))


def image_audit(image, labels=SQUARES, f=bright, **how):
    explainer = LimeImageExplainer(random_state=0)
    return lambda: lt.audit(explainer, f, image, label=1, segmentation_fn=labels, **how)


def odd(images):
    """What no sum of superpixels comes near."""
    return both(np.round(255 * bright(images)[:, 1]) % 2)


def a_dozen(images):
    """Whether the first twelve corners of squares are all there."""
    shown = np.asarray(images)[:, ::6, ::6].reshape(len(images), -1)[:, :12]
    return both(np.all(shown == NOISE[::6, ::6].ravel()[:12], axis=1))


PLANTED_IN_IMAGES = {
    "same-as-fill": (image_audit(FLAT), image_audit(FLAT, hide_color=0)),
    "shifted-labels": (image_audit(NOISE, SQUARES + 1), image_audit(NOISE, SQUARES)),
    "few-samples": (image_audit(NOISE, n=60), image_audit(NOISE)),
    "noise": (image_audit(NOISE, f=odd, hide_color=0), image_audit(NOISE, hide_color=0, num_features=1)),
    "unstable-set": (
        image_audit(NOISE, f=odd, num_features=4, hide_color=0),
        image_audit(NOISE, num_features=1, hide_color=0),
    ),
    "hidden-rule": (
        image_audit(NOISE, f=a_dozen, hide_color=0, n=5000), image_audit(NOISE, hide_color=0),
    ),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("code", PLANTED_IN_IMAGES)
def test_what_is_planted_in_an_image_is_found(code):
    planted, clean = (call() for call in PLANTED_IN_IMAGES[code])
    assert code in planted.codes and code not in clean.codes


def test_which_superpixels():
    found = image_audit(FLAT)()
    assert found["same-as-fill"].features == ("0", "1", "2", "3")
    shifted = image_audit(NOISE, SQUARES + 1)()["shifted-labels"]
    assert shifted.numbers == {"never_hidden": (16,), "empty": (0,)}


def test_an_audit_travels():
    found = image_audit(FLAT)()
    back = pickle.loads(pickle.dumps(found))
    assert str(back) == str(found) and back.to_dict()["nu"] == found.to_dict()["nu"] == 0.25
    assert "same-as-fill" in found.to_html() and found.plot().axes
    assert len(found.to_frame()) == len(found.findings) and "superpixels" in found._repr_html_()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: text_audit(None, TEXT)(), "f and xi must be given"),
        (lambda: text_audit(adds, TEXT, nu=0.3)(), "nu must be left out"),
        (lambda: text_audit(adds, TEXT, output="yes")(), "output must be left out"),
        (lambda: text_audit(adds, TEXT, hide_color=0)(), "hide_color must be left out"),
        (lambda: text_audit(adds, "")(), "at least one word"),
        (lambda: image_audit(NOISE, np.zeros((2, 2), int))(), "segmentation_fn must give"),
        (lambda: lt.audit(lt.Gaussian(), lt.Linear([1]), [0], nu=1, hide_color=0), "left out"),
    ],
)
def test_what_makes_no_sense_is_refused(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()
