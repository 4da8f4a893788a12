"""Linear algebra on one thread, for results that are bit-identical for a seed."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ..core.surrogate import one_thread

Function = TypeVar("Function", bound=Callable[..., Any])


def on_one_thread(function: Function) -> Function:
    """Run a function with :func:`limetutor.core.surrogate.one_thread`."""

    @wraps(function)
    def single_threaded(*args: Any, **kwargs: Any) -> Any:
        with one_thread():
            return function(*args, **kwargs)

    return single_threaded  # type: ignore[return-value]
