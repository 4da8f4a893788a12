"""What `lime` will print for texts and images, against what it prints."""

import warnings
from functools import partial

import numpy as np
import pytest
from lime.lime_image import LimeImageExplainer
from lime.lime_text import LimeTextExplainer
from lime.wrappers.scikit_image import SegmentationAlgorithm
from passages import colours, crop, painters, passage, pipelines, sentences, squares
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import limetutor as lt
from limetutor import masks

RUNS = 20
FEW = 10  # in `make test`


def in_runs(explainer, f, instance, d, runs=RUNS, columns=1, **how):
    """Intercepts and coefficients that `lime` prints, (runs, columns, 1 + d); nan: not chosen."""
    found = np.full((runs, columns, 1 + d), np.nan)
    labels = range(columns) if columns > 1 else (1,)
    how = {"labels": labels, "top_labels": None} | how
    for r in range(runs):
        explanation = explainer.explain_instance(instance, f, **how)
        for c, label in enumerate(labels):
            found[r, c, 0] = explanation.intercept[label]
            for j, value in explanation.local_exp[label]:
                found[r, c, 1 + j] = value
    return found


def scores(runs, found):
    """How far means of runs are from the prediction, in their own standard errors."""
    expected = np.append(found.intercept, found.coef)
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    return (runs.mean(axis=0) - expected) / np.maximum(error, 1e-9)


def of_all(runs, found):
    """Shares within 4 standard errors and ratios of deviations."""
    scored, ratio = zip(
        *[
            (
                scores(runs[:, c], prediction),
                np.median(prediction.sd / runs[:, c, 1:].std(0, ddof=1)),
            )
            for c, prediction in enumerate(found)
        ],
        strict=True,
    )
    return np.concatenate(scored), np.array(ratio)


# --- the real thing ---------------------------------------------------------------------------------


def columns_of(texts):
    """What the three classifiers say, as columns: one neighbourhood serves all of them."""
    made = pipelines()
    return np.column_stack(
        [
            made["linear"].decision_function(texts),
            made["tfidf"].predict_proba(texts)[:, 1],
            made["forest"].predict_proba(texts)[:, 1],
        ]
    )


SIZES = (5, 8, 12, 20, 30, 45, 60, 80, 110, 150)


@pytest.mark.verify
@pytest.mark.timeout(3600)
def test_what_lime_prints_for_texts_is_predicted(verified, verifying):
    """Three classifiers, ten texts of 5 to 150 distinct words, 20 runs; a sample in `make test`."""
    made, scored, ratios, methods = pipelines(), [], [], []
    for place, d in enumerate(SIZES if verifying else (30,)):
        text, explainer = passage(d, 15 * place), LimeTextExplainer(random_state=place)
        runs = in_runs(
            explainer, columns_of, text, d, RUNS if verifying else FEW, 3, num_features=d
        )
        asked = [made["linear"].decision_function, made["tfidf"], made["forest"]]
        found = [lt.predict_lime(explainer, f, text, num_features=d) for f in asked]
        methods.append([p.method for p in found])
        for kept, part in zip((scored, ratios), of_all(runs, found), strict=True):
            kept.append(part)
        assert found[0].names == tuple(masks.text_board(explainer, text).names)
    assert all(m[0] == m[2] == "exact" for m in methods)
    within = np.concatenate(scored)
    what = f"predict_lime, three classifiers, {len(scored)} texts of 5 to 150 words"
    share = float(np.mean(np.abs(within) <= 4))
    verified(f"{what}: share of {len(within)} coefficients within 4", share, (0.95, None))
    verified(f"{what}: mean square score (1.12 by chance)", np.mean(within**2), "noted")
    verified(f"{what}: median ratio of sd", np.median(ratios), (0.85, 1.15))


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
        d = masks.image_board(image, **how).d
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
    within = np.concatenate(scored)
    what = f"predict_lime, three classifiers, {len(scored)} images"
    share = float(np.mean(np.abs(within) <= 4))
    verified(f"{what}: share of {len(within)} coefficients within 4", share, (0.95, None))
    verified(f"{what}: mean square score (1.12 by chance)", np.mean(within**2), "noted")
    verified(f"{what}: median ratio of sd", np.median(ratios), (0.85, 1.15))


# --- options of lime ----------------------------------------------------------------------------------

TEXT = (
    "Mean radius of the cell nuclei, mean texture; the Radius was computed for each image of a mass"
)
SHORT = "Mean radius of nuclei; the Radius was for each image"
TEXT_OPTIONS = {
    "positions": ({"bow": False}, {}),
    "positions with a mask": ({"bow": False, "mask_string": ""}, {}),
    "characters": ({"char_level": True, "bow": False}, {}),
    "letters": ({"char_level": True}, {}),
    "split": ({"split_expression": r"[\s,;]+"}, {}),
    "split by a function": ({"split_expression": str.split}, {}),
    "narrow": ({"kernel_width": 4}, {}),
    "wide": ({"kernel_width": 500}, {}),
    "kernel": ({"kernel": lambda d, kernel_width: 2.0 / (1 + d / kernel_width)}, {}),
    "three": ({}, {"num_features": 3}),
    "seven": ({}, {"num_features": 7}),
    "path": ({"feature_selection": "lasso_path"}, {"num_features": 4}),
    "metric": ({}, {"distance_metric": "euclidean"}),
    "few samples": ({}, {"num_samples": 100}),
    "regressor": ({}, {"model_regressor": Ridge(alpha=50.0)}),
    "no penalty": ({}, {"model_regressor": LinearRegression()}),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("option", TEXT_OPTIONS)
def test_options_of_limes_explainer_of_texts(option):
    """Means of runs within 6 of their standard errors (8 know their spread badly)."""
    made, how = TEXT_OPTIONS[option]
    text = SHORT if "char_level" in made else TEXT
    explainer, f = LimeTextExplainer(random_state=1, **made), pipelines()["tfidf"].predict_proba
    how = {"num_features": 100, "num_samples": 1000} | how
    found = lt.predict_lime(explainer, f, text, **how)
    judge(in_runs(explainer, f, text, len(found.coef), 8, **how)[:, 0, 1:], found)


def judge(runs, found):
    """Means of the coefficients, and how often they are chosen."""
    often = np.sum(~np.isnan(runs), axis=0)
    seen = often >= 6
    spread = np.nanstd(runs[:, seen], axis=0, ddof=1) / np.sqrt(often[seen])
    off = np.abs(np.nanmean(runs[:, seen], axis=0) - found.coef[seen])
    assert np.mean(off <= 6 * np.hypot(spread, found.stderr[seen]) + 1e-9) >= 0.95
    # 4 standard deviations and one run
    chance = np.sqrt(found.selection * (1 - found.selection) / len(runs))
    assert np.all(np.abs(often / len(runs) - found.selection) <= 4 * chance + 1 / len(runs))


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
        lambda x: f(255 * x),
        scaled,
        segmentation_fn=small_squares(scaled),
        hide_color=0.0,
    )
    whole = predict(f, SMALL, segmentation_fn=small_squares, hide_color=0)
    assert np.allclose(found.coef, whole.coef, rtol=0, atol=1e-9)


# --- exact ----------------------------------------------------------------------------------------------


EXACT = {
    "counts, logistic": (
        make_pipeline(CountVectorizer(), LogisticRegression()),
        "decision_function",
    ),
    "counts, svc": (make_pipeline(CountVectorizer(), LinearSVC()), "decision_function"),
    "presence, sgd": (
        make_pipeline(CountVectorizer(binary=True), SGDClassifier(random_state=0)),
        "decision_function",
    ),
    "stop words": (
        make_pipeline(CountVectorizer(stop_words="english"), LogisticRegression()),
        "decision_function",
    ),
    "tfidf": (
        make_pipeline(TfidfVectorizer(norm=None, sublinear_tf=True), LogisticRegression()),
        "decision_function",
    ),
    "counts, tfidf": (
        make_pipeline(CountVectorizer(), TfidfTransformer(norm=None), LogisticRegression()),
        "decision_function",
    ),
    "tree": (
        make_pipeline(CountVectorizer(), DecisionTreeClassifier(random_state=0)),
        "predict_proba",
    ),
    "naive bayes": (make_pipeline(CountVectorizer(), MultinomialNB()), "predict_joint_log_proba"),
    "bernoulli": (make_pipeline(CountVectorizer(), BernoulliNB()), "predict_joint_log_proba"),
    "regressor": (make_pipeline(CountVectorizer(), Ridge()), "predict"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bow", [True, False])
@pytest.mark.parametrize("case", EXACT)
def test_pipelines_that_are_exact(case, bow):
    """The form says what the pipeline says at random masks, at counts above 1 and in two spellings."""
    pipeline, method = EXACT[case]
    texts, labels = sentences()
    pipeline.fit(texts, labels)
    f = masks.score_of(pipeline, method)
    explainer = LimeTextExplainer(bow=bow, random_state=0)
    found = lt.predict_lime(explainer, f, TEXT, label=None if method == "predict" else 1, runs=20)
    assert found.method == "exact" and found.calls <= 2**13 + 1
    plain = lt.predict_lime(  # the same, of which nothing is known, with half of lime's calls
        explainer,
        lambda t: f(t),
        TEXT,
        label=1 if np.ndim(f([TEXT])) == 2 else None,
        runs=20,
        calls=2500,
    )
    assert plain.method == "monte carlo"
    error = 5 * np.hypot(plain.stderr, found.stderr) + 1e-9
    chosen = (plain.selection > 0.99) & (found.selection > 0.99)
    assert np.all(np.abs(found.coef - plain.coef)[chosen] <= error[chosen] + 0.1 * found.sd[chosen])


def test_what_only_looks_like_a_known_pipeline_is_sampled():
    """Word pairs, normalised rows, a model that changed after it was read."""
    texts, labels = sentences()
    explainer = LimeTextExplainer(random_state=0)
    for vectoriser in (CountVectorizer(ngram_range=(1, 2)), TfidfVectorizer()):
        pipeline = make_pipeline(vectoriser, LogisticRegression()).fit(texts, labels)
        found = lt.predict_lime(explainer, pipeline.decision_function, TEXT, runs=20)
        assert found.method == "monte carlo"

    class Doubled(LogisticRegression):
        def decision_function(self, X):
            return 2 * super().decision_function(X)

    pipeline = make_pipeline(CountVectorizer(), Doubled()).fit(texts, labels)
    assert lt.predict_lime(explainer, pipeline.decision_function, TEXT, runs=20).method != "exact"


def test_a_classifier_may_come_in_many_ways():
    explainer = LimeTextExplainer(class_names=["other", "medical"], random_state=0)
    forest, linear = pipelines()["forest"], pipelines()["linear"]
    same = [
        lt.predict_lime(explainer, f, SHORT, calls=500, **how).coef
        for f in (forest, forest.predict_proba)
        for how in ({}, {"label": 1}, {"label": "medical"}, {"labels": (1,)}, {"labels": [1]})
    ]
    assert all(np.array_equal(coef, same[0]) for coef in same)
    score = lt.predict_lime(explainer, linear.decision_function, SHORT, label=1)
    other = lt.predict_lime(explainer, linear.decision_function, SHORT, label=0)
    margin = lt.predict_lime(explainer, lt.margin(linear, True), SHORT)
    assert np.allclose(score.coef, -other.coef) and np.allclose(score.coef, margin.coef)
    assert score.method == margin.method == "exact" and margin.label is None
    top = lt.predict_lime(explainer, forest, SHORT, top_labels=1)
    assert top.label == int(np.argmax(forest.predict_proba([SHORT])[0]))
    assert lt.predict_lime(explainer, forest, SHORT, label=0, top_labels=2).label == 0


def test_calls_are_few():
    """No more than `lime` makes where the classifier is smooth; none beyond a few for a form."""
    asked = []

    def counted(texts):
        asked.append(len(texts))
        return pipelines()["linear"].predict_proba(texts)

    found = lt.predict_lime(
        LimeTextExplainer(random_state=0), counted, passage(40), num_features=40
    )
    assert sum(asked) <= 5001 == found.calls
    assert np.median(found.stderr / found.sd) < 0.15
    score = pipelines()["linear"].decision_function
    assert lt.predict_lime(LimeTextExplainer(random_state=0), score, passage(40)).calls <= 50


# --- odd and bad -----------------------------------------------------------------------------------------


def probability(texts):
    """Of being long."""
    p = np.array([np.tanh(len(t) / 40) for t in texts])
    return np.column_stack([1 - p, p])


ODD_TEXTS = {
    "one word": "word",
    "emoji": "I ❤️ this 😀 film 👍🏽 so much",
    "html": "<p class='x'>Good &amp; <b>bad</b></p><script>alert(1)</script>",
    "other letters": "Das schöne Größe 電影 很好 хорошо",
    "stop words": "the of and",
    "many words": "word " * 10_000,
    "lines": "one\n\ntwo\tthree\r\nfour",
}


@pytest.mark.parametrize("case", ODD_TEXTS)
def test_odd_texts(case):
    """Right, against `lime` itself."""
    text, explainer = ODD_TEXTS[case], LimeTextExplainer(random_state=0)
    how = {"num_features": 50, "num_samples": 300}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lt.predict_lime(explainer, probability, text, **how)
    runs = in_runs(explainer, probability, text, len(found.coef), 6, **how)[:, 0]
    error = np.hypot(runs.std(axis=0, ddof=1), 0.01)  # of a run
    assert np.all(np.abs(runs.mean(axis=0) - np.append(found.intercept, found.coef)) < 3 * error)
    assert np.all(np.isfinite(found.coef)) and np.isfinite(found.score)


def test_only_stop_words():
    """Nothing that the model reads: zeros, and the audit says why."""
    texts, labels = sentences()
    pipeline = make_pipeline(CountVectorizer(stop_words="english"), LogisticRegression())
    pipeline.fit(texts, labels)
    explainer = LimeTextExplainer(random_state=0)
    found = lt.predict_lime(explainer, pipeline.decision_function, "and the of it")
    assert np.allclose(found.coef, 0, atol=1e-12) and found.method == "exact"
    assert lt.audit(explainer, pipeline, "and the of it")["cannot-matter"].severity == "warning"


def one_column(texts):
    return probability(texts)[:, 1:]


def test_one_column():
    explainer = LimeTextExplainer(random_state=0)
    expected = lt.predict_lime(explainer, probability, SHORT, label=1, num_features=20)
    for f in (one_column, lambda t: one_column(t)[:, 0], lambda t: list(one_column(t)[:, 0])):
        found = lt.predict_lime(explainer, f, SHORT, num_features=20)
        assert np.allclose(found.coef, expected.coef) and found.label is None


IMAGE = crop(5)


def bright(images):
    p = np.asarray(images, float).mean(axis=(1, 2, 3)) / 255
    return np.column_stack([1 - p, p])


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


TEXTS, IMAGES = LimeTextExplainer(random_state=0), LimeImageExplainer(random_state=0)


def of_text(f=probability, text=TEXT, **how):
    return lambda: lt.predict_lime(TEXTS, f, text, **how)


def of_image(f=bright, image=IMAGE, **how):
    return lambda: lt.predict_lime(IMAGES, f, image, **{"segmentation_fn": squares} | how)


REFUSED = {
    "empty": (of_text(text=""), "instance must hold at least one word"),
    "blank": (of_text(text="  ...  "), "instance must hold at least one word"),
    "no text": (of_text(text=7), "instance must be a text"),
    "a list": (of_text(text=["a", "b"]), "instance must be a text"),
    "bytes": (of_text(text=b"a b"), "instance must be a text"),
    "too many": (
        of_text(text=" ".join(f"w{i}" for i in range(10_000))),
        "at most 2000 different words",
    ),
    "label beyond": (of_text(label=2), "label must be a column from 0 to 1"),
    "label below": (of_text(label=-1), "label must be a column from 0 to 1"),
    "label unknown": (of_text(label="good"), "label must be a column from 0 to 1"),
    "label of one": (of_text(one_column, label=1), "label must be left out"),
    "two labels": (of_text(labels=(0, 1)), "labels must hold one label"),
    "no features": (of_text(num_features=0), "num_features must be 1 or more"),
    "half a feature": (of_text(num_features=2.5), "num_features must be a whole number"),
    "one sample": (of_text(num_samples=1), "num_samples must be 2 or more"),
    "too few calls": (of_text(text=passage(30), calls=50), "calls must be 64 or more"),
    "no width": (
        lambda: lt.predict_lime(LimeTextExplainer(kernel_width=0), probability, TEXT),
        "kernel_width must be above 0",
    ),
    "no weights": (
        lambda: lt.predict_lime(
            LimeTextExplainer(kernel=lambda d, kernel_width: 1.0 * (d == 0)), probability, TEXT
        ),
        "must weigh some samples above 0",
    ),
    "a metric that tells": (
        of_image(distance_metric=lambda a, b: np.arange(len(a)) @ np.abs(a - b) / 1000),
        "which tells switches apart",
    ),
    "a metric": (of_text(distance_metric="nearest"), "distance_metric must be one that"),
    "a regressor": (of_text(model_regressor="ridge"), "model_regressor must be a scikit-learn"),
    "an option": (of_text(hide_color=0), "hide_color must be left out for a LimeTextExplainer"),
    "a misspelling": (
        of_image(segmentation=squares),
        "segmentation must be left out for a LimeImage",
    ),
    "no classifier": (of_text("good"), "f must be what lime gets"),
    "a class": (of_text(LogisticRegression), "f must be what lime gets"),
    "two arguments": (of_text(lambda a, b: a), "f must take one argument"),
    "one row only": (of_text(lambda t: probability(t)[0]), "one row for each text"),
    "too few rows": (of_text(lambda t: probability(t)[: len(t) // 2]), "one row for each text"),
    "three axes": (of_text(lambda t: np.zeros((len(t), 2, 2))), "one row for each text"),
    "words": (of_text(lambda t: ["good"] * len(t)), "f must return numbers"),
    "nan": (of_text(lambda t: probability(t) * np.nan), "f must return finite numbers"),
    "nan at times": (
        of_text(lambda t: np.where(len(t) > 1, np.nan, 1.0) * probability(t)),
        "f must return finite numbers",
    ),
    "more columns at times": (
        of_text(lambda t: np.zeros((len(t), 2 if len(t) == 1 else 3))),
        r"f must return 2 column\(s\)",
    ),
    "a text": (of_image(image=TEXT), "instance must be an image"),
    "a list of lists": (of_image(image=[[1, 2], [3, 4]]), "instance must be an image"),
    "five axes": (of_image(image=np.zeros((2, 2, 3, 1))), "instance must be an image"),
    "four channels": (of_image(image=np.zeros((8, 8, 4))), r"\(height, width, 3\)"),
    "no pixels": (of_image(image=np.zeros((0, 8, 3))), "instance must be an image"),
    "nan pixels": (of_image(image=np.full((8, 8, 3), np.nan)), "instance must be finite"),
    "segments too small": (
        of_image(segmentation_fn=np.zeros((3, 3), int)),
        "segmentation_fn must give",
    ),
    "segments of floats": (
        of_image(segmentation_fn=np.zeros((48, 48))),
        "segmentation_fn must give",
    ),
    "segments by name": (of_image(segmentation_fn="slic"), "segmentation_fn must give"),
    "a colour": (of_image(hide_color="white"), "hide_color must be a number or three"),
    "a large colour": (of_image(hide_color=300), "hide_color must be a number or three"),
    "a colour of nan": (
        of_image(image=IMAGE / 255, hide_color=np.nan),
        "hide_color must be finite",
    ),
    "two colours": (of_image(hide_color=(1, 2)), "hide_color must be a number or three"),
    "a batch of none": (of_image(batch_size=0), "batch_size must be 1 or more"),
    "top of none": (of_image(top_labels=0), "top_labels must be 1 or more"),
    "not at the top": (of_image(label=1, top_labels=1), "label must be one of the 1 likeliest"),
    "no explainer": (lambda: lt.predict_lime("lime", bright, IMAGE), "explainer must be a lime"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_gets_one_sentence(case):
    call, words = REFUSED[case]
    with pytest.raises((TypeError, ValueError), match=words) as refused:
        call()
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")
