"""Exercises of the chapter *LIME for text*."""

import numpy as np

from ... import switches
from ..judging.kinds import Function, Given, Value, between, one_of, with_hints


def _weight(kept: int, d: int, nu: float) -> float:
    return float(np.exp(switches.text_switches(d, nu).log_weight[kept]))


def _rule(d: int, nu: float = 1e6) -> float:
    rule, world = switches.rule(d, on=[0, 1]), switches.text_switches(d, nu)
    return float(switches.fit_form(rule, world).coef[0])


def _sampled(values: np.ndarray, m: np.ndarray) -> np.ndarray:
    """LIME's coefficients from a model's answers on all masks, and the measure of the counts."""
    values, m = np.asarray(values, float), np.asarray(m, float)
    with np.errstate(divide="ignore"):
        world = switches.counted_switches(np.full(len(m), 1 / len(m)), log_weight=np.log(m))
    return switches.fit_form(switches.Enumerated(lambda _: values, world.d), world).coef


def _each_mask_alike(values: np.ndarray, m: np.ndarray) -> np.ndarray:
    """... with m_k given to each mask of k switches, not shared among them."""
    masks = np.bincount(switches.all_masks(len(m) - 1).sum(axis=1))
    return _sampled(values, np.asarray(m) * masks)


def _inputs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    d = int(rng.integers(2, 6))
    return rng.normal(size=2**d).round(2), rng.uniform(0.1, 1, d + 1).round(2)


EXERCISES = (
    Value(
        given={
            "d": Given(16, "the number of words", one_of(20, 25, 36)),
            "kept": Given(9, "the words that remain", between(5, 16)),
            "nu": Given(0.25, "the bandwidth", one_of(0.2, 0.3, 0.4)),
        },
        asks="a weight",
        right=lambda d, kept, nu: _weight(kept, d, nu),
        mistakes=with_hints(
            lambda d, kept, nu: _weight(d - kept, d, nu),
            "You counted the words that are removed. The cosine is about those that remain.",
            lambda d, kept, nu: np.exp(-((1 - kept / d) ** 2) / (2 * nu**2)),
            "The cosine is the square root of the share of the words that remain.",
            lambda d, kept, nu: np.exp(-((1 - np.sqrt(kept / d)) ** 2) / nu**2),
            "A factor of 2 is missing from the exponent.",
            lambda d, kept, nu: np.exp(-(1 - np.sqrt(kept / d)) / (2 * nu**2)),
            "The distance in the exponent is squared.",
        ),
        nudge="How far is the sample from the whole text? Begin with the share of the words that remain.",
        formula="D is 1 − √(k/d), and the weight is exp(−D²/(2ν²)).",
        step="k/d is {kept}/{d}. Take the square root, subtract it from 1, divide by ν = {nu}, square, halve, and "
        "take exp of minus that.",
    ),
    Value(
        given={"d": Given(4, "the number of words", lambda rng: 3)},
        asks="the coefficient",
        right=_rule,
        mistakes=with_hints(
            lambda d: 0.5,
            "That is right for fair coins, as lime draws them for images. Here all numbers of words "
            "are equally likely.",
            lambda d: 0.5 - 1 / d,
            "You have the contrasts at equal length. What does the slope add?",
            lambda d: _rule(d, 1e-3),
            "That is for a very small bandwidth, where nearly all words remain.",
            lambda d: -1 / (d * (d - 1)),
            "That is what each of the other words gets.",
        ),
        nudge="How many words can remain, and how likely is each number? The whole text is not among them.",
        formula="Use the proposition about a rule: a slope, plus (1 − 1/d) times A. The slope of k² over "
        "0, …, d − 1 is d − 1.",
        step="The slope is (d − 2)/(d(d − 1)). A is the mean of (k − 1)/(d − 1) with shares proportional to k(d − k), "
        "which have mean d/2; and d is {d}.",
    ),
    Value(
        given={
            "score": Given(-0.5, "the score", one_of(-0.8, -0.6, -0.4), "= {:g}".format),
            "h": Given(0.4, "the entry of the word", one_of(0.3, 0.5, 0.6)),
            "a": Given(-0.05, "its weight", one_of(-0.08, -0.04, -0.02), "= {:g}".format),
            "kappa": Given(1.3, "κ", one_of(1.1, 1.2, 1.4)),
        },
        asks="the coefficient",
        right=lambda score, h, a, kappa: kappa * (a * h - score * h**2 / 2),
        mistakes=with_hints(
            lambda score, h, a, kappa: kappa * a * h,
            "That is the word's own part, magnified. What does the word take from the others?",
            lambda score, h, a, kappa: kappa * (a * h - score * h**2),
            "Only half of the prediction is taken away.",
            lambda score, h, a, kappa: kappa * (a * h + score * h**2 / 2),
            "What is taken away is subtracted, and here the prediction is negative.",
            lambda score, h, a, kappa: kappa * (a * h - score * h / 2),
            "A word takes from the others in proportion to the square of its entry.",
        ),
        nudge="Two things: what the word adds to the score, and what it takes from the others by taking up length.",
        formula="Use κ(a h − ½ f h²), where f is the score.",
        step="The word's own part is {a} · {h}; half of the score times h² is {score}/2 · {h}². Subtract the "
        "second from the first, and multiply by κ = {kappa}.",
    ),
    Function(
        reference=_sampled,
        inputs=_inputs,
        mistakes=with_hints(
            _each_mask_alike,
            "Each mask got the whole of m_k. The masks with k switches on share it.",
            lambda values, m: _sampled(values, np.ones(len(m))),
            "You have not used the numbers m.",
            lambda values, m: _sampled(values, np.asarray(m)[::-1]),
            "Entry k is for k switches on, not off.",
            lambda values, m: -_sampled(values, m),
            "The contrast is on minus off.",
        ),
        nudge="How much does one mask count, if all masks with the same number of switches on count equally?",
        formula="A mask with k switches on has m_k divided by the number of such masks. Then fit by weighted "
        "least squares, with a column of ones, and leave out the intercept.",
        step="k = z.sum(axis=1) and np.bincount(k)[k] give each mask's k and how many share it. Multiply "
        "the design and the values by the square roots of the weights for np.linalg.lstsq.",
    ),
)
