"""What a notebook imports as limetutor while it is graded: the names, and none of the answers."""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
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
    return Absent(f"{__name__}.{_public(name)}")


class Empty(MetaPathFinder, Loader):
    """Every module of limetutor can be imported, and has nothing in it that can be used."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Of any name that is not here."""
        return ModuleSpec(name, self, is_package=True) if name.startswith(f"{__name__}.") else None

    def exec_module(self, module: ModuleType) -> None:
        """Give it names that refuse to be used."""
        vars(module)["__getattr__"] = lambda name: Absent(f"{module.__name__}.{_public(name)}")


def _public(name: str) -> str:
    if name.startswith("__"):
        raise AttributeError(name)
    return name


sys.meta_path.append(Empty())
