"""What is special to `lime`'s explainer of texts, and what a scikit-learn pipeline makes of words.

`lime` splits a text into tokens, each a switch (with ``bow=True`` one switch for all occurrences of a
token), and a switch that is off removes the token, or puts a placeholder in its place. How many are
off is uniform, and so is which. A vectoriser that counts words returns sums over switches: column c
holds sum_j size_jc z_j, where size_jc is how often switch j brings the word of column c. From there a
linear model is a sum of switches, and a tree is a set of rules
(:mod:`limetutor.switches.estimators`). Chapter: text.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs import arguments as arg
from ..inputs.lime_defaults import NUM_SAMPLES
from ..switches.estimators import Reading
from ..switches.sampler import draw
from ..switches.switches import text_switches
from .masks import MaskedInstance, MaskKind
from .runs import NUM_FEATURES

CHARACTERS_PER_BATCH = 2**24
CHECKED_MASKS = 64  # random ones, at which the counts of a text must be the sums over its switches


class TextKind(MaskKind):
    """``LimeTextExplainer``: words of a text are removed."""

    name = "lime.lime_text.LimeTextExplainer"
    options = ("distance_metric",)
    num_samples, num_features, default_label, scale = NUM_SAMPLES, NUM_FEATURES, 1, 100.0
    world = staticmethod(text_switches)

    def masked(self, explainer: Any, instance: Any, options: dict[str, Any]) -> MaskedText:
        """The words of a text."""
        return masked_text(explainer, instance)

    def distances(self, rows: np.ndarray, metric: Any) -> Any:
        """Distances of sparse rows, times 100."""
        from scipy.sparse import csr_matrix

        return super().distances(csr_matrix(rows), metric)


@dataclass(frozen=True, eq=False)
class MaskedText(MaskedInstance):
    """The switches of a text: ``names`` are the tokens, in `lime`'s order."""

    indexed: Any  # lime's own IndexedString or IndexedCharacters
    word = "word"

    def parts(self, effects: np.ndarray) -> list[tuple[str, float]]:
        """The text cut into words and what is between them, each with its effect, 0 for none."""
        raw, cuts = str(self.indexed.raw_string()), []
        for j in np.flatnonzero(effects):
            word = str(self.indexed.word(j))
            starts = np.ravel(self.indexed.string_position(j))
            cuts += [(int(start), int(start) + len(word), float(effects[j])) for start in starts]
        pieces, at = [], 0
        for start, stop, effect in sorted(cuts):
            pieces += [(raw[at:start], 0.0), (raw[start:stop], effect)]
            at = stop
        return [*pieces, (raw[at:], 0.0)]

    def reading(self, model: Any) -> Reading | None:
        """What the last step of a pipeline reads; None where that is no sum over the switches."""
        steps = [step for _, step in getattr(model, "steps", [])]
        if len(steps) not in (2, 3):
            return None
        return reading_of(steps[0], steps[1] if len(steps) == 3 else None, self)

    def compose(self, z: np.ndarray) -> list[str]:
        """The texts that masks (n, d) stand for, as `lime` composes them."""
        return [self.indexed.inverse_removing(np.flatnonzero(~row)) for row in np.asarray(z, bool)]


def masked_text(explainer: Any, text: Any) -> MaskedText:
    """The switches that a ``lime.lime_text.LimeTextExplainer`` makes of a text."""
    from lime.lime_text import IndexedCharacters, IndexedString

    if not isinstance(text, str):
        raise TypeError(
            f"instance must be a text for a LimeTextExplainer, got {arg.shorten(text)}."
        )
    if explainer.char_level:
        indexed = IndexedCharacters(text, bow=explainer.bow, mask_string=explainer.mask_string)
    else:
        indexed = IndexedString(
            text, bow=explainer.bow, split_expression=explainer.split_expression,
            mask_string=explainer.mask_string,
        )  # fmt: skip
    names = tuple(str(indexed.word(j)) for j in range(indexed.num_words()))
    if not names:
        raise ValueError(
            f"instance must hold at least one word for lime to switch off, got {arg.shorten(text)}."
        )
    return MaskedText(names, max(CHARACTERS_PER_BATCH // (len(text) + 1), 1), indexed)


def reading_of(vectoriser: Any, tfidf: Any, text: MaskedText) -> Reading | None:
    """How a vectoriser (and a TfidfTransformer behind it) reads a text; None where it is no sum.

    The counts are the vectoriser's own. They are taken to be sums over switches where that holds
    with no switch on, with each alone, with all, and on random masks; word pairs and characters
    around a gap, say, fail it. Rows that are normalised are no sums either.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import CountVectorizer

    value = _value_of_count(vectoriser, tfidf)
    if value is None:
        return None
    d = text.d
    drawn = draw(text_switches(d, 1.0), CHECKED_MASKS, np.random.default_rng(0))
    masks = np.vstack([np.zeros((1, d), bool), np.eye(d, dtype=bool), np.ones((1, d), bool), drawn])
    plain = copy(vectoriser)
    plain.binary = False  # applied to the sums instead
    counts = CountVectorizer.transform(plain, text.compose(masks)).tocsr()
    always = csr_matrix(np.ones((len(masks), 1))) @ counts[[0]]
    sizes = counts[1 : d + 1] - always[:d]
    if sizes.nnz and sizes.data.min() < 0:
        return None
    sums = csr_matrix(masks.astype(float)) @ sizes + always
    if abs(sums - counts).max() > 0:
        return None
    sizes.eliminate_zeros()
    return Reading(sizes, np.asarray(counts[[0]].todense()).ravel(), value)


def _value_of_count(vectoriser: Any, tfidf: Any) -> Callable[[int, int], float] | None:
    """From a count to the number that the model gets, for vectorisers that only count and scale."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

    if type(vectoriser) is TfidfVectorizer and tfidf is None:
        scale = vectoriser._tfidf if hasattr(vectoriser, "_tfidf") else None
    elif type(vectoriser) is CountVectorizer and (tfidf is None or type(tfidf) is TfidfTransformer):
        scale = tfidf
    else:
        return None
    if scale is not None and scale.norm is not None:
        return None
    idf = getattr(scale, "idf_", None) if scale is not None and scale.use_idf else None

    def value(column: int, count: int) -> float:
        number = float(count > 0) if vectoriser.binary else float(count)
        if scale is not None and scale.sublinear_tf and number:
            number = 1 + np.log(number)
        return float(number * idf[column]) if idf is not None else number

    return value
