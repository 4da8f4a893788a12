"""The limetutor that a notebook imports while it is graded: the names without the answers."""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import classroom as classroom


class AbsentError(RuntimeError):
    """Something of limetutor was called."""


class Absent:
    """Anything of limetutor: it can be named and raises when called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "Absent":
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}")

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Raise."""
        raise AbsentError(f"{self._name} is not here: functions are graded without limetutor.")


def __getattr__(name: str) -> Any:
    return Absent(f"{__name__}.{_public(name)}")


class EmptyModules(MetaPathFinder, Loader):
    """Finds every module of limetutor, with names that raise when called."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find any module of limetutor that is not in this folder."""
        return ModuleSpec(name, self, is_package=True) if name.startswith(f"{__name__}.") else None

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names."""
        vars(module)["__getattr__"] = lambda name: Absent(f"{module.__name__}.{_public(name)}")


def _public(name: str) -> str:
    if name.startswith("__"):
        raise AttributeError(name)
    return name


sys.meta_path.append(EmptyModules())
