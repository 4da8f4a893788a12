"""Switches that are on or off: what LIME computes for text and images."""

from .estimators import presence, score_of
from .fits import SwitchFit, fit_form
from .forms import Enumerated, additive, polynomial, rule
from .limits import contrasts, long_text, mean_differences, norm_factors, switch_limit, tilted
from .switches import (
    Switches,
    all_masks,
    coin_flips,
    counted_switches,
    image_switches,
    text_switches,
)

__all__ = [
    "Enumerated", "SwitchFit", "Switches", "additive", "all_masks", "coin_flips", "contrasts",
    "counted_switches", "fit_form", "image_switches", "long_text", "mean_differences",
    "norm_factors", "polynomial", "presence", "rule", "score_of", "switch_limit", "text_switches",
    "tilted",
]  # fmt: skip
