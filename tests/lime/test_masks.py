"""What texts and images share: forms where they are true, and few calls elsewhere."""

import numpy as np
from lime.lime_text import LimeTextExplainer
from passages import TEXT, passage, pipelines, sentences
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import limetutor as lt


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
