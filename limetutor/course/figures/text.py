"""Chapter *LIME for text*: one sentence, a rule, and what normalised vectors do."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from ... import switches
from ...lime.text import MaskedText, masked_text
from ...plotting.results import by_sign, stroke
from ...plotting.style import color, plain, styled
from ..datasets import jokes
from .parts import log_axes, named_at_ends, panel, signed, stacked

SENTENCE = "Old C programmers don't die, they're just cast into void."
WIDTHS = np.geomspace(0.05, 3, 49)
LENGTHS = np.unique(np.geomspace(5, 200, 60).round().astype(int))
WORLDS = {"text": switches.text_switches, "images": switches.image_switches}

# --- a classifier of sentences ---------------------------------------------------------------


def classifier(vectoriser: Any) -> Any:
    """Logistic regression on what a vectoriser makes of the jokes, English 0 and German 1."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, german = jokes(without=SENTENCE)
    # Newton's method to convergence: an earlier stop gives digits that depend on the processor.
    regression = LogisticRegression(solver="newton-cg", tol=1e-8)
    return make_pipeline(vectoriser, regression).fit(texts, german)


@cache
def tokens() -> MaskedText:
    """The sentence as `lime` takes it apart."""
    from lime.lime_text import LimeTextExplainer

    return masked_text(LimeTextExplainer(), SENTENCE)


@cache
def probability() -> switches.Enumerated:
    """The probability of German on all 4096 texts that can remain."""
    from sklearn.feature_extraction.text import CountVectorizer

    model = classifier(CountVectorizer(binary=True))
    words = tokens()
    return switches.Enumerated(lambda z: model.predict_proba(words.compose(z))[:, 1], words.d)


class LinearScore(NamedTuple):
    """A linear score of the sentence: weights a, vector h (d,), and the score of every mask."""

    a: np.ndarray
    h: np.ndarray
    score: switches.Enumerated


@cache
def linear(normalised: bool) -> LinearScore:
    """The log odds of German from word counts, or from a normalised TF-IDF vector."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    model = classifier(TfidfVectorizer() if normalised else CountVectorizer(binary=True))
    vectoriser, regression = model[0], model[-1]
    row = vectoriser.transform([SENTENCE]).toarray()[0]
    words, vocabulary = tokens(), vectoriser.vocabulary_
    places = [vocabulary.get(name.lower(), -1) for name in words.names]
    a, h = (
        np.array([numbers[i] if i >= 0 else 0.0 for i in places])
        for numbers in (regression.coef_[0], row)
    )
    score = switches.Enumerated(lambda z: model.decision_function(words.compose(z)), words.d)
    return LinearScore(a, h, score)


# --- what lime prints ------------------------------------------------------------------------


@styled
def beside_lime(prediction: Any, runs: np.ndarray) -> Figure:
    """Predicted coefficients as bars, and runs (runs, d) of the real `lime` as ticks."""
    order = np.argsort(prediction.coef)
    fig, ax = panel((6.4, 1.3 + 0.3 * len(order)), left=0.22, bottom=0.13, top=0.97)
    rows = np.arange(len(order))
    ax.axvline(0, color=color.muted, lw=1)
    ax.barh(rows, prediction.coef[order], color=by_sign(prediction.coef[order]), height=0.62)
    dots = runs[:, order]
    ax.plot(dots.ravel(), np.tile(rows, len(dots)), "|", color=color.lime, ms=9, mew=1.4)
    ax.set_yticks(rows, [plain(prediction.names[j]) for j in order])
    ax.set(ylim=(-0.7, len(order) - 0.3), xlabel="coefficient for German")
    ax.locator_params(axis="x", nbins=5)
    return fig


# --- contrasts at equal length ---------------------------------------------------------------


def contrast_mixture(fig: Figure, nu: float, world: str) -> str:
    """Above: the share of each number of words. Below: the contrasts of three words there."""
    form, names = probability(), tokens().names
    at = switches.contrasts(form, WORLDS[world](form.d, nu))
    k = np.arange(1, form.d)
    top, below = stacked(fig, (1, 1.5), shared=True, right=0.92)
    top.bar(k, at.share[1:-1], color=color.sample, width=0.7)
    top.set(ylim=(0, 0.9), yticks=[0, 0.4, 0.8], ylabel="share")
    below.axhline(0, color=color.muted, lw=1)
    words = {"die": "o", "they": "s", "void": "^"}
    ends = {}
    for n, (word, mark) in enumerate(words.items()):
        hue, _ = stroke(n)
        difference = at.difference[names.index(word), 1:-1]
        below.plot(k, difference, color=hue, marker=mark, ms=5, lw=1.4)
        below.plot(12.2, at.coef[names.index(word)], mark, color=hue, ms=8, mfc="none", mew=1.8)
        ends[word] = float(at.coef[names.index(word)]), hue
    below.set(xlim=(0.3, 12.9), xticks=k, xlabel="words that remain")
    below.set(ylim=(-0.14, 0.34), yticks=[-0.1, 0, 0.1, 0.2, 0.3], ylabel="contrast")
    named_at_ends(below, 12.6, ends)
    die, they = (at.coef[names.index(word)] for word in ("die", "they"))
    return (
        f"With switches drawn as for {world} and ν = {nu:.2f}, the shares have their mean at "
        f"{k @ at.share[1:-1]:.1f} of 12 words; the coefficients are {signed(die, 3)} for “die” and "
        f"{signed(they, 3)} for “they”."
    )


# --- a rule ----------------------------------------------------------------------------------


class RuleShares(NamedTuple):
    """The coefficient of each switch of a rule, and of each other switch."""

    own: float
    other: float


@cache
def shares(kind: str, d: int, size: int, nu: float) -> RuleShares:
    """The coefficients of a rule that asks for ``size`` of d switches."""
    fit = switches.fit_form(switches.rule(d, on=range(size)), WORLDS[kind](d, nu))
    return RuleShares(float(fit.coef[0]), float(fit.coef[-1]))


_LOOKS = {"text": (color.surrogate, "-"), "images": (color.ink, "--")}


def _rule_panels(
    fig: Figure,
    places: np.ndarray,
    place: float,
    shares_at: Callable[[str, Any], RuleShares],
    ticks: Sequence[float],
    across: Mapping[str, Any],
    others: Mapping[str, Any],
) -> None:
    """Both coefficients of a rule as curves, for texts and for images, and as dots at one place."""
    axes = top, below = stacked(fig, shared=True, left=0.165, right=0.87)
    ends = {}
    for kind, (hue, line) in _LOOKS.items():
        curves = np.array([shares_at(kind, at) for at in places]).T
        for ax, curve, value in zip(axes, curves, shares_at(kind, place), strict=True):
            ax.plot(places, curve, line, color=hue)
            ax.plot(place, value, "o", color=hue, ms=8)
        ends[kind] = float(curves[1, -1]), hue
    top.set(ylim=(0, 1.03), yticks=[0, 0.5, 1], ylabel="each in the rule")
    below.set(**others)
    for ax in axes:
        ax.axhline(0, color=color.muted, lw=1)
    log_axes(below, x=ticks)
    below.set(**across)
    named_at_ends(below, places[-1], ends)


def rule_by_width(fig: Figure, nu: float, words: int) -> str:
    """Twelve switches: the coefficients of the rule's and of the others, over the bandwidth."""

    def shares_at(kind: str, nu: float) -> RuleShares:
        return shares(kind, 12, words, nu)

    across = {"xlim": (0.045, 3.3), "xlabel": "bandwidth ν"}
    others = {"ylim": (-0.068, 0.012), "yticks": [-0.06, -0.03, 0], "ylabel": "each of the others"}
    _rule_panels(fig, WIDTHS, nu, shares_at, [0.05, 0.25, 1, 3], across, others)
    text, picture = (shares_at(kind, nu) for kind in ("text", "images"))
    return (
        f"A rule on {words} of 12 at ν = {nu:.2f}: in a text, each of its words gets "
        f"{signed(text.own)} and each other word {signed(text.other, 4)}; in an image, each of its "
        f"superpixels gets {signed(picture.own)} and each other one {signed(picture.other, 4)}."
    )


def rule_by_length(fig: Figure, d: int, words: int) -> str:
    """The bandwidth of `lime`: the coefficients of the rule's words, and the sum of the others, over d."""

    def shares_at(kind: str, d: int) -> RuleShares:
        each, other = shares(kind, int(d), words, 0.25)
        return RuleShares(each, other * (d - words))

    d = int(d)
    across = {"xlim": (4.6, 215), "xlabel": "length d"}
    others = {"ylim": (-0.3, 0.06), "yticks": [-0.2, -0.1, 0], "ylabel": "all others together"}
    _rule_panels(fig, LENGTHS[words < LENGTHS], d, shares_at, [5, 20, 100], across, others)
    text, picture = (shares_at(kind, d) for kind in ("text", "images"))
    return (
        f"A rule on {words} of {d}: in a text, each of its words gets {signed(text.own)} and all others "
        f"together {signed(text.other, 3)}; in an image, each of its superpixels gets "
        f"{signed(picture.own)} and all others together {signed(picture.other, 3)}."
    )


# --- a vector of length one ------------------------------------------------------------------


def normalising(fig: Figure, nu: float, vector: str) -> str:
    """Each word's part of the log odds, and its coefficient: equal unless vectors are normalised."""
    scaled = vector == "normalised TF-IDF"
    a, h, form = linear(scaled)
    world = switches.text_switches(form.d, nu)
    beta, part = switches.fit_form(form, world).coef, a * h
    names = tokens().names
    order = np.argsort(linear(True).a * linear(True).h, kind="stable")
    rows = np.arange(form.d)
    fig.subplots_adjust(left=0.24, right=0.98)
    ax = fig.subplots()
    ax.axvline(0, color=color.muted, lw=1)
    ax.barh(rows, beta[order], color=by_sign(beta[order]), height=0.62)
    ax.plot(part[order], rows, "D", color=color.ink, ms=6, mfc="none", label="part of the log odds")
    guess = switches.long_text(a, h, world) if scaled else np.full(form.d, 99.0)
    ax.plot(guess[order], rows, "x", color=color.truth, ms=7, mew=1.8, label="long-text formula")
    ax.set_yticks(rows, [plain(names[j]) for j in order])
    ax.set(xlim=(-0.72, 1.05), ylim=(-0.7, 11.7), xticks=[-0.5, 0, 0.5, 1], xlabel="coefficient")
    ax.legend(loc="lower right", borderaxespad=2.2)
    changed = [names[j] for j in np.flatnonzero(part * beta < -1e-9)]
    which = " and ".join(f"“{name}”" for name in changed) or "no word"
    die = names.index("die")
    return (
        f"With {vector} at ν = {nu:.2f}, “die” adds {signed(part[die])} to the log odds and has "
        f"coefficient {signed(beta[die])}; LIME reverses the sign of {which}."
    )
