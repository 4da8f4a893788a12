"""limetutor: what Tabular LIME computes, sampled and in closed form.

>>> import limetutor as lt
>>> world = lt.Gaussian(mu=0, sigma=1, p=4)
>>> f = lt.Linear([10, -10])
>>> lt.limit(f, [0.961, 0.432], world, nu=1.0).coef.round(2)
array([11.4 , -1.76])
"""

from importlib import import_module
from typing import Any

from .arguments import FitWarning, LimetutorWarning, PrecisionWarning
from .audit import Audit, audit
from .boxes import Empirical, Gaussian
from .explain import Explanation, explain
from .lime_bridge import from_lime
from .limits import Limit, limit
from .models import Linear, Quadratic
from .precision import samples_needed
from .risk import risk

__version__ = "0.1.0"

# what needs matplotlib, ipywidgets or scikit-learn is imported when it is first used
_LAZY = {
    "explore": "interactive",
    "Slider": "interactive",
    "Choice": "interactive",
    "show": "interactive",
    "check": "answers",
    "repeat": "experiments",
}

__all__ = [
    "Audit",
    "Choice",
    "Empirical",
    "Explanation",
    "FitWarning",
    "Gaussian",
    "LimetutorWarning",
    "Limit",
    "Linear",
    "PrecisionWarning",
    "Quadratic",
    "Slider",
    "audit",
    "check",
    "explain",
    "explore",
    "from_lime",
    "limit",
    "repeat",
    "risk",
    "samples_needed",
    "show",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
