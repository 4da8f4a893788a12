"""What `lime` will print, without running it: :func:`predict_lime`.

An explanation by `lime` is random three times over: in its coefficients, in the features it chooses,
and, where the kernel is narrow, in whether any sample counts at all beside xi itself. All three follow
from the law of its samples, which :mod:`limetutor.lime.tabular`, :mod:`limetutor.lime.text` and
:mod:`limetutor.lime.images` read off the explainers; :mod:`limetutor.lime.runs` makes runs from it.
Chapters: the real lime, text, images.
"""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from .images import ImageKind
from .lime_prediction import LimePrediction
from .masks import MaskKind
from .runs import Request, one_label
from .tabular import TabularKind
from .text import TextKind

COMMON = tuple(part.name for part in fields(Request) if part.name not in ("label", "options"))
MASK_KINDS: tuple[MaskKind, ...] = (TextKind(), ImageKind())
KINDS: tuple[MaskKind | TabularKind, ...] = (*MASK_KINDS, TabularKind())  # the last refuses others


def predict_lime(
    explainer: Any, f: Any, instance: Any, label: Any = None, num_features: int | None = None,
    num_samples: int | None = None, *, model_regressor: Any = None, labels: Any = None,
    top_labels: int | None = None, calls: int | None = None, runs: int | None = None,
    seed: int | None = 0, **options: Any,
) -> LimePrediction:  # fmt: skip
    """What ``explainer.explain_instance`` will print for an instance, without running it.

    Parameters
    ----------
    explainer
        A ``LimeTabularExplainer``, ``LimeTextExplainer`` or ``LimeImageExplainer`` of `lime`; its
        discretizer, kernel, tokens and rule of feature selection are its own.
    f
        What `lime` gets (``model.predict_proba``, ``model.predict``, a function of an array, of a list of
        texts or of an array of images) or the fitted estimator. For texts and images one number each
        will do: a decision function, :func:`limetutor.margin`, ``limetutor.switches.score_of``.
    instance
        The row, the text or the image, as `lime` gets it; a row with names (a Series, a dict) goes by
        name, and categories may be given by the explainer's ``categorical_names``.
    label
        `lime`'s label: the column of the probabilities, or its class name; 1 if None, and the likeliest
        for images. A regression has none, and what is predicted is `lime`'s ``local_exp[1]``; of
        several outputs the label says which, the first if None, as `lime` takes it.
    num_features, num_samples, model_regressor
        As in ``explain_instance``; by default 10, 5000 (images: all of them, 1000) and Ridge(alpha=1).
    labels, top_labels
        `lime`'s own words for the label: ``labels`` with one entry, or ``top_labels=1`` for the likeliest
        class at the instance.
    calls
        How often the model is called. For a table 4096 times where it has a form
        (:func:`limetutor.limit` says which have) and the means are exact, 32768 times where they are
        not. For texts and images hardly at all where a sum, a tree or a forest on counts of words is
        recognised; as often as `lime` does otherwise, and more (up to 40,000 times) where that would
        leave errors that count beside the noise of runs.
    runs, seed
        How many runs are made of these calls (400, down to 50 for 400 features, 100 for a lasso path),
        and the seed.

    **options
        The other words of ``explain_instance``: ``distance_metric``, and for images ``hide_color``,
        ``segmentation_fn`` (or the labels of the pixels themselves), ``random_seed``, ``batch_size``.

    Returns
    -------
    LimePrediction
        Coefficients as `lime` prints them, how they differ from run to run, which sets are chosen.

    Examples
    --------
    >>> from lime.lime_tabular import LimeTabularExplainer
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> wine = load_wine()
    >>> forest = RandomForestClassifier(30, random_state=0).fit(wine.data, wine.target)
    >>> explainer = LimeTabularExplainer(
    ...     wine.data, feature_names=wine.feature_names, class_names=wine.target_names
    ... )
    >>> prediction = predict_lime(explainer, forest, wine.data[0], label="class_0", num_features=3)
    >>> for name, value in prediction.as_list():
    ...     print(f"{name:35} {value:.2f}")
    proline > 985.00                    0.17
    flavanoids > 2.88                   0.12
    alcohol > 13.68                     0.11
    >>> prediction.method
    'exact'

    The words of a text, of which the model here adds up counts:

    >>> from lime.lime_text import LimeTextExplainer
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["a good film", "good music", "bad plot", "a bad end"]
    >>> model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 1, 0, 0])
    >>> prediction = predict_lime(
    ...     LimeTextExplainer(), model.decision_function, "good film, bad end", num_features=2
    ... )
    >>> sorted((word, round(value, 1)) for word, value in prediction.as_list())
    [('bad', -0.6), ('good', 0.6)]
    """
    kind = next(kind for kind in KINDS if kind.reads(explainer))
    arguments = request(
        kind, label=label, labels=labels, top_labels=top_labels, num_features=num_features,
        num_samples=num_samples, model_regressor=model_regressor, calls=calls, runs=runs, seed=seed,
        **options,
    )  # fmt: skip
    return kind.predict(explainer, f, instance, arguments)


def request(kind: Any, label: Any = None, labels: Any = None, **words: Any) -> Request:
    """The arguments for a kind of explainer, by `lime`'s names; those it does not have are refused."""
    common = {name: words.pop(name) for name in COMMON if name in words}
    unknown = sorted(set(words) - set(kind.options))
    if unknown:
        known = ("label", "labels", *COMMON)
        near = get_close_matches(unknown[0], [*known, *kind.options], 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise TypeError(
            f"{unknown[0]} must be left out for a {kind.name.rpartition('.')[2]}, whose own words "
            f"beside {', '.join(known)} are {', '.join(kind.options)}{hint}."
        )
    return Request(one_label(label, labels), **common, options=words)
