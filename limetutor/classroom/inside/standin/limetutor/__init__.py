"""What a notebook imports as limetutor while it is graded: the names, and none of the answers."""

from typing import Any

from . import classroom as classroom


class Absent:
    """Anything of limetutor: it can be named, and refuses to be used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "Absent":
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}")

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Refuse."""
        raise RuntimeError(f"{self._name} is not here: functions are graded without limetutor.")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent(f"limetutor.{name}")
