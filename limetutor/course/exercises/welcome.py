"""Exercises of the page *How LIME really behaves*."""

from scipy.optimize import brentq

from ...core.theory import limit
from ..experiments import running_example
from ..judging.kinds import Given, Paragraph, Value, between, with_hints


def _bar(nu: float, feature: int = 0) -> float:
    """The height of a bar of the first figure."""
    return float(limit(*running_example(), nu).coef[feature])


EXERCISES = (
    Value(
        given={"slope": Given(10, "the slope of feature 1", between(30, 61, per=4))},
        asks="a bandwidth",
        # the first bar grows with the bandwidth
        right=lambda slope: brentq(lambda nu: _bar(nu) - slope, 0.2, 5.0),
        digits=2,
        rtol=0.015,
        reason="the page's slider stops at 0.81, and a live one at 0.80",
        mistakes=with_hints(
            lambda slope: 0.53,
            "There the bar of feature 2 vanishes. Look at the bar of feature 1.",
            lambda slope: 1.0,
            "That is where the slider starts. Compare the bar of feature 1 with its dash there.",
            lambda slope: 5.0,
            "Wide open, the bar of feature 1 is far above its dash.",
        ),
        nudge="The dash of feature 1 is its slope. Move the slider until the bar just reaches it.",
        formula="The sentence below the figure has the height of the bar; you want it nearest to {slope}.",
        step="The bar grows as the slider goes to the right. Go towards {slope}, and stop where one more step "
        "would take the bar farther from it.",
    ),
    Value(
        given={
            "narrow": Given(0.2, "the smallest bandwidth", between(20, 40, per=100)),
            "wide": Given(5, "the largest bandwidth"),
        },
        asks="a ratio of two bars",
        right=lambda narrow, wide: _bar(wide) / _bar(narrow),
        mistakes=with_hints(
            lambda narrow, wide: wide / narrow,
            "By that much the bandwidth grows. The bar grows less.",
            lambda narrow, wide: _bar(wide) - _bar(narrow),
            "That is the difference of the two bars; by which factor does it grow?",
            lambda narrow, wide: _bar(wide) / 10,
            "That compares the bar with the slope. Compare it with the bar at the other end.",
            lambda narrow, wide: _bar(wide, 1) / _bar(narrow, 1),
            "That is feature 2; take feature 1.",
        ),
        nudge="Read the bar of feature 1 at both ends of the slider: the sentence below the figure has it.",
        formula="Divide the bar at ν = {wide} by the bar at ν = {narrow}.",
        step="At ν = {wide} the bar is 16.55. Move the slider to its other end, read the bar there, and divide.",
    ),
    Paragraph(
        rubric=[
            "It does not follow: a coefficient of zero can come from the bandwidth alone.",
            "The example of this page: feature 2 has the slope −10 and gets nothing at ν = 0.53.",
            "It is no noise, so that more samples would not help.",
            "A way to find out: look at other bandwidths, or at the instance's neighbours.",
        ],
    ),
)
