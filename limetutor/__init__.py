"""limetutor: what Tabular LIME computes, sampled and in closed form.

>>> import limetutor as lt
>>> world = lt.Gaussian(mu=0, sigma=1, p=4)
>>> f = lt.Linear([10, -10])
>>> lt.limit(f, [0.961, 0.432], world, nu=1.0).coef.round(2)
array([11.4 , -1.76])
"""

from importlib import import_module
from typing import Any

from .auditing.audit_table import AuditTable
from .auditing.audits import audit
from .auditing.verdicts import Audit
from .bandwidth.path import Path, path
from .bandwidth.risk import risk
from .core.boxes import Gaussian
from .core.explainer import explain
from .core.models import Linear
from .core.theory import limit
from .cubes.cube import Cube, cube
from .exact.margins import margin
from .exact.quadratic import Quadratic
from .inputs.warning_classes import FitWarning, LimetutorWarning, PrecisionWarning
from .lime.empirical import Empirical
from .lime.lime_prediction import LimePrediction
from .lime.predict_lime import predict_lime
from .lime.read_explainer import from_lime
from .many.explain_many import Explanations, explain_many
from .many.limits import Limits, limits
from .precision.samples_needed import samples_needed
from .results.explanation import Explanation
from .results.limit import Limit
from .switches import (
    Switches,
    SwitchFit,
    counted_switches,
    image_switches,
    switch_limit,
    text_switches,
)

__version__ = "0.2.0"

# what needs matplotlib, ipywidgets or scikit-learn is imported when it is first used
_LAZY = {
    "explore": "interactive.explorer",
    "Slider": "interactive.explorer",
    "Choice": "interactive.explorer",
    "show": "interactive.explorer",
    "check": "course.check",
    "judge": "course.check",
    "repeat": "course.experiments",
}

__all__ = [
    "Audit", "AuditTable", "Choice", "Cube", "Empirical", "Explanation", "Explanations", "FitWarning",
    "Gaussian", "LimePrediction", "LimetutorWarning", "Limit", "Limits", "Linear", "Path",
    "PrecisionWarning", "Quadratic", "Slider", "SwitchFit", "Switches", "audit", "check",
    "counted_switches", "cube", "explain", "explain_many", "explore", "from_lime", "image_switches",
    "judge", "limit", "limits", "margin", "path", "predict_lime", "repeat", "risk",
    "samples_needed", "show", "switch_limit", "text_switches",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"Any", "import_module"})
