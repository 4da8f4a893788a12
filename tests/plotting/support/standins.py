"""As much of explanations and audits as their pictures need, with numbers and names of any kind."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from matplotlib.figure import Figure


def result(coef: Any, stderr: Any = None, names: Any = None) -> SimpleNamespace:
    """As much of an explanation as its pictures need."""
    coef = np.asarray(coef, float)
    names = tuple(f"x{j + 1}" for j in range(len(coef))) if names is None else tuple(names)
    return SimpleNamespace(
        coef=coef,
        stderr=np.zeros(len(coef)) if stderr is None else np.asarray(stderr, float),
        names=names,
        box_names=names,
        order=lambda: np.argsort(-np.abs(coef), kind="stable"),
    )


def audited(
    subject: SimpleNamespace, doubted: Any = (), whole: Any = (), reach: Any = None
) -> SimpleNamespace:
    """An audit with one finding for each (code, name), and some of the explanation as a whole."""
    found = [SimpleNamespace(code=c, features=(name,), severity="warning") for c, name in doubted]
    found += [SimpleNamespace(code=code, features=(), severity="serious") for code in whole]
    return SimpleNamespace(
        case=SimpleNamespace(subject=subject, half_width=reach), findings=tuple(found)
    )


def labels(fig: Figure) -> list[str]:
    """What stands beside the bars, from the bottom up."""
    return [text.get_text() for text in fig.axes[0].get_yticklabels()]
