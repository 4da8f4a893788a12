"""Switches that are on or off: what LIME computes for text and images."""

from .classifiers import score_of
from .draws import draw
from .estimators import presence
from .fits import SwitchFit, SwitchRows, fit_form
from .forms import Enumerated, Group, Rule, Switched, additive, polynomial, rule
from .limits import Contrasts, contrasts, switch_limit, tilted
from .normalised import NormFactors, long_text, norm_factors
from .pictures import image_board
from .sampling import fit_sampled
from .switches import (
    Switches,
    all_masks,
    coin_flips,
    counted_switches,
    image_switches,
    text_switches,
)
from .texts import text_board

__all__ = [
    "Contrasts",
    "Enumerated",
    "Group",
    "NormFactors",
    "Rule",
    "SwitchFit",
    "SwitchRows",
    "Switched",
    "Switches",
    "additive",
    "all_masks",
    "coin_flips",
    "contrasts",
    "counted_switches",
    "draw",
    "fit_form",
    "fit_sampled",
    "image_board",
    "image_switches",
    "long_text",
    "norm_factors",
    "polynomial",
    "presence",
    "rule",
    "score_of",
    "switch_limit",
    "text_board",
    "text_switches",
    "tilted",
]
