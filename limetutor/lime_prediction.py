"""What `lime` will print, without running it: :func:`predict_lime`.

An explanation by `lime` is random three times over: in its coefficients, in the features it chooses,
and, where the kernel is narrow, in whether any sample counts at all beside xi itself. All three follow
from the law of its samples, which :mod:`limetutor.lime_tables` and :mod:`limetutor.masks.kinds` read off
the explainers; :mod:`limetutor.lime_runs` makes runs from it. Chapters: the real lime, text, images.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Protocol

from .lime_runs import LimePrediction, Request, one_label
from .lime_tables import Tables
from .masks.kinds import MASK_KINDS

COMMON = tuple(part.name for part in fields(Request) if part.name not in ("label", "options"))


class Kind(Protocol):
    """A kind of explainer; ``options`` are the words of its explain_instance that others lack."""

    @property
    def name(self) -> str:
        """What `lime` calls it."""

    @property
    def options(self) -> tuple[str, ...]:
        """Those words."""

    def reads(self, explainer: Any) -> bool:
        """Whether an explainer is of this kind."""

    def predict(self, explainer: Any, f: Any, instance: Any, asked: Request) -> LimePrediction:
        """What it will print."""


KINDS: tuple[Kind, ...] = (*MASK_KINDS, Tables())


def predict_lime(
    explainer: Any,
    f: Any,
    instance: Any,
    label: Any = None,
    num_features: int | None = None,
    num_samples: int | None = None,
    *,
    model_regressor: Any = None,
    labels: Any = None,
    top_labels: int | None = None,
    calls: int | None = None,
    runs: int | None = None,
    seed: int | None = 0,
    **options: Any,
) -> LimePrediction:
    """What ``explainer.explain_instance`` will print for an instance, without running it.

    Parameters
    ----------
    explainer
        A ``lime.lime_tabular.LimeTabularExplainer``; its discretizer, kernel, categories and rule
        of feature selection are its own.
    f
        What `lime` gets (``model.predict_proba``, ``model.predict``, a function of an array) or the
        fitted estimator.
    instance
        The row, as `lime` gets it; with names (a Series, a dict) it goes by name, and categories may
        be given by the explainer's ``categorical_names``.
    label
        `lime`'s label: the column of the probabilities, or its class name; 1 if None. A regression
        has none, and what is predicted is `lime`'s ``local_exp[1]``.
    num_features, num_samples, distance_metric, model_regressor
        As in ``explain_instance``; 10, 5000, "euclidean" and Ridge(alpha=1) by default.
    labels, top_labels
        `lime`'s own words for the label: ``labels`` with one entry, or ``top_labels=1`` for the likeliest
        class at the instance.
    calls
        How often the model is called: 16384 times where it has a form (:func:`limetutor.limit` says
        which have) and the means are exact, 32768 times where they are not.
    runs, seed
        How many runs are made of these calls (400, down to 100 for 200 features), and the seed.

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
    >>> found = predict_lime(explainer, forest, wine.data[0], label="class_0", num_features=3)
    >>> for name, value in found.as_list():
    ...     print(f"{name:35} {value:.2f}")
    proline > 985.00                    0.17
    flavanoids > 2.88                   0.12
    alcohol > 13.68                     0.11
    >>> found.method
    'exact'
    """
    kind = next(kind for kind in KINDS if kind.reads(explainer))
    asked = request(
        kind,
        label=label,
        labels=labels,
        top_labels=top_labels,
        num_features=num_features,
        num_samples=num_samples,
        model_regressor=model_regressor,
        calls=calls,
        runs=runs,
        seed=seed,
        **options,
    )
    return kind.predict(explainer, f, instance, asked)


def request(kind: Any, label: Any = None, labels: Any = None, **words: Any) -> Request:
    """What is asked of a kind of explainer, in `lime`'s words; those it does not know are refused."""
    common = {name: words.pop(name) for name in COMMON if name in words}
    unknown = sorted(set(words) - set(kind.options))
    if unknown:
        raise TypeError(
            f"{unknown[0]} must be left out for a {kind.name.rpartition('.')[2]}, whose own words "
            f"beside {', '.join(('label', 'labels', *COMMON))} are {', '.join(kind.options)}."
        )
    return Request(one_label(label, labels), **common, options=words)
