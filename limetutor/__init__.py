"""limetutor: what Tabular LIME computes, sampled and in closed form.

>>> import limetutor as lt
>>> world = lt.Gaussian(mu=0, sigma=1, p=4)
>>> f = lt.Linear([10, -10])
>>> lt.limit(f, [0.961, 0.432], world, nu=1.0).coef.round(2)
array([11.4 , -1.76])
"""

from importlib import import_module
from typing import Any

from .algorithm import Explanation, explain
from .arguments import FitWarning, LimetutorWarning, PrecisionWarning
from .auditing.audits import audit
from .auditing.table import AuditTable
from .auditing.verdicts import Audit
from .boosters import margin
from .closed_forms import Limit, limit
from .hiding import risk
from .lime_bridge import from_lime
from .lime_prediction import predict_lime
from .lime_runs import LimePrediction
from .many import Explanations, Limits, explain_many, limits
from .masks import (
    Switches,
    SwitchFit,
    counted_switches,
    image_switches,
    switch_limit,
    text_switches,
)
from .models import Linear, Quadratic
from .normal_limit import samples_needed
from .paths import Path, path
from .worlds import Empirical, Gaussian

__version__ = "0.2.0"

# what needs matplotlib, ipywidgets or scikit-learn is imported when it is first used
_LAZY = {
    "explore": "interactive.explorer",
    "Slider": "interactive.explorer",
    "Choice": "interactive.explorer",
    "show": "interactive.explorer",
    "check": "course.exercises",
    "judge": "course.exercises",
    "repeat": "course.experiments",
}

__all__ = [
    "Audit",
    "AuditTable",
    "Choice",
    "Empirical",
    "Explanation",
    "Explanations",
    "FitWarning",
    "Gaussian",
    "LimePrediction",
    "LimetutorWarning",
    "Limit",
    "Limits",
    "Linear",
    "Path",
    "PrecisionWarning",
    "Quadratic",
    "Slider",
    "SwitchFit",
    "Switches",
    "audit",
    "check",
    "counted_switches",
    "explain",
    "explain_many",
    "explore",
    "from_lime",
    "image_switches",
    "judge",
    "limit",
    "limits",
    "margin",
    "path",
    "predict_lime",
    "repeat",
    "risk",
    "samples_needed",
    "show",
    "switch_limit",
    "text_switches",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
