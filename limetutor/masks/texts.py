"""A text as `lime` takes it apart, and what a scikit-learn pipeline makes of its words.

`lime` splits a text into tokens, each a switch (with ``bow=True`` one switch for all occurrences of a
token), and a switch that is off takes the token out, or puts a placeholder in its place. A vectoriser
that counts words sees sums over switches: column c holds sum_j size_jc z_j, where size_jc is how often
switch j brings the word of column c. From there a linear model is a sum of switches, and a tree is a
set of rules: :mod:`limetutor.masks.estimators` writes both down. Chapter: text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import arguments as arg
from .estimators import Reading
from .sampling import draw
from .switches import text_switches

CHARACTERS = 2**24  # in one batch of texts
PROBES = 64  # random masks on which the counts of a text must be the sums over its switches


@dataclass(frozen=True, eq=False)
class TextBoard:
    """The switches of a text: ``names`` are the tokens, in `lime`'s order."""

    indexed: Any  # lime's own IndexedString or IndexedCharacters
    word = "word"  # what a switch is called

    @property
    def d(self) -> int:
        """How many switches there are."""
        return int(self.indexed.num_words())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tokens."""
        return tuple(str(self.indexed.word(j)) for j in range(self.d))

    @property
    def batch(self) -> int:
        """How many texts to write at a time."""
        return max(CHARACTERS // (len(self.indexed.raw_string()) + 1), 1)

    def reading(self, model: Any) -> Reading | None:
        """What the last step of a pipeline reads; None where that is no sum over the switches."""
        steps = [step for _, step in getattr(model, "steps", [])]
        if len(steps) not in (2, 3):
            return None
        return reading_of(steps[0], steps[1] if len(steps) == 3 else None, self)

    def compose(self, z: np.ndarray) -> list[str]:
        """The texts that masks (n, d) stand for, as `lime` writes them."""
        return [self.indexed.inverse_removing(np.flatnonzero(~row)) for row in np.asarray(z, bool)]


def text_board(explainer: Any, text: Any) -> TextBoard:
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
            text,
            bow=explainer.bow,
            split_expression=explainer.split_expression,
            mask_string=explainer.mask_string,
        )
    if indexed.num_words() == 0:
        raise ValueError(
            f"instance must hold at least one word for lime to switch off, got {arg.shorten(text)}."
        )
    return TextBoard(indexed)


# --- what a pipeline reads ---------------------------------------------------------------------


def reading_of(vectoriser: Any, tfidf: Any, text: TextBoard) -> Reading | None:
    """How a vectoriser (and a TfidfTransformer behind it) reads a text; None where it is no sum.

    The counts are the vectoriser's own. They are taken to be sums over switches where that holds
    with no switch on, with each alone, with all, and on random masks; word pairs and characters
    around a gap, say, fail it. Rows that are normalised are no sums either.
    """
    weigh = _weighing(vectoriser, tfidf)
    if weigh is None:
        return None
    d = text.d
    probes = draw(text_switches(d, 1.0), PROBES, np.random.default_rng(0))
    masks = np.vstack(
        [np.zeros((1, d), bool), np.eye(d, dtype=bool), np.ones((1, d), bool), probes]
    )
    counts = _counts(vectoriser, text.compose(masks)).tocsr()
    always = np.asarray(counts[[0]].todense()).ravel()
    sizes = counts[1 : d + 1] - _repeated(counts[[0]], d)
    if sizes.nnz and sizes.data.min() < 0:
        return None
    from scipy.sparse import csr_matrix

    sums = csr_matrix(masks.astype(float)) @ sizes + _repeated(counts[[0]], len(masks))
    if abs(sums - counts).max() > 0:
        return None
    sizes.eliminate_zeros()
    return Reading(sizes, always, weigh)


def _repeated(row: Any, times: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(np.ones((times, 1))) @ row


def _counts(vectoriser: Any, texts: list[str]) -> Any:
    """Plain counts: what a CountVectorizer of the same words gives."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer.transform(_plain(vectoriser), texts)


def _plain(vectoriser: Any) -> Any:
    """The same vectoriser without ``binary``, which is applied to the sums."""
    from copy import copy

    plain = copy(vectoriser)
    plain.binary = False
    return plain


def _weighing(vectoriser: Any, tfidf: Any) -> Callable[[int, int], float] | None:
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
