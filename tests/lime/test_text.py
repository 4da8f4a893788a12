"""What `lime` will print for texts, against what it prints."""

import warnings

import numpy as np
import pytest
from lime.lime_text import LimeTextExplainer
from lime_runs import FEW, RUNS, in_runs, judge, of_all, verify_all
from passages import SHORT, TEXT, passage, pipelines, probability, sentences
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import limetutor as lt
from limetutor.lime.text import masked_text
from limetutor.switches import score_of


def columns_of(texts):
    """What the three classifiers say, as columns: one neighbourhood serves all of them."""
    made = pipelines()
    chances = [made[name].predict_proba(texts)[:, 1] for name in ("tfidf", "forest")]
    return np.column_stack([made["linear"].decision_function(texts), *chances])


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
        assert found[0].names == tuple(masked_text(explainer, text).names)
    assert all(m[0] == m[2] == "exact" for m in methods)
    what = f"predict_lime, three classifiers, {len(scored)} texts of 5 to 150 words"
    verify_all(verified, what, scored, ratios)


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


SCORE = "decision_function"
EXACT = {
    "counts, logistic": (SCORE, CountVectorizer(), LogisticRegression()),
    "counts, svc": (SCORE, CountVectorizer(), LinearSVC()),
    "presence, sgd": (SCORE, CountVectorizer(binary=True), SGDClassifier(random_state=0)),
    "stop words": (SCORE, CountVectorizer(stop_words="english"), LogisticRegression()),
    "tfidf": (SCORE, TfidfVectorizer(norm=None, sublinear_tf=True), LogisticRegression()),
    "counts, tfidf": (SCORE, CountVectorizer(), TfidfTransformer(norm=None), LogisticRegression()),
    "tree": ("predict_proba", CountVectorizer(), DecisionTreeClassifier(random_state=0)),
    "naive bayes": ("predict_joint_log_proba", CountVectorizer(), MultinomialNB()),
    "bernoulli": ("predict_joint_log_proba", CountVectorizer(), BernoulliNB()),
    "regressor": ("predict", CountVectorizer(), Ridge()),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bow", [True, False])
@pytest.mark.parametrize("case", EXACT)
def test_pipelines_that_are_exact(case, bow):
    """The form says what the pipeline says at random masks, at counts above 1 and in two spellings."""
    method, *steps = EXACT[case]
    pipeline = make_pipeline(*steps).fit(*sentences())
    f = score_of(pipeline, method)
    explainer = LimeTextExplainer(bow=bow, random_state=0)
    found = lt.predict_lime(explainer, f, TEXT, label=None if method == "predict" else 1, runs=20)
    assert found.method == "exact" and found.calls <= 2**13 + 1
    # the same, of which nothing is known, with half of lime's calls
    how = {"label": 1 if np.ndim(f([TEXT])) == 2 else None, "runs": 20, "calls": 2500}
    plain = lt.predict_lime(explainer, lambda t: f(t), TEXT, **how)
    assert plain.method == "monte carlo"
    error = 5 * np.hypot(plain.stderr, found.stderr) + 1e-9
    chosen = (plain.selection > 0.99) & (found.selection > 0.99)
    assert np.all(np.abs(found.coef - plain.coef)[chosen] <= error[chosen] + 0.1 * found.sd[chosen])


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
    pipeline = make_pipeline(*EXACT["stop words"][1:]).fit(*sentences())
    explainer = LimeTextExplainer(random_state=0)
    found = lt.predict_lime(explainer, pipeline.decision_function, "and the of it")
    assert np.allclose(found.coef, 0, atol=1e-12) and found.method == "exact"
    assert lt.audit(explainer, pipeline, "and the of it")["cannot-matter"].severity == "warning"
