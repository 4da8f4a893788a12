"""scipy.special, imported when first used: it costs more than twice the rest of the package."""

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    globals()[name] = getattr(special, name)
    return globals()[name]
