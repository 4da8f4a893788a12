"""Work on several processes or machines, by joblib."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..precision.progress import progress_bar


def unordered(
    function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Any]:
    """``function(*arguments)`` for all ``calls``, each result as soon as it is there.

    ``n_jobs`` is joblib's: None for what ``joblib.parallel_config`` says, one process by default.
    """
    try:
        from joblib import Parallel, delayed
    except ImportError:
        if n_jobs not in (None, 1):
            raise ImportError("n_jobs needs joblib; install it, or leave n_jobs out.") from None
        yield from (function(*arguments) for arguments in calls)
        return
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    yield from parallel(delayed(function)(*arguments) for arguments in calls)


def with_progress(items: Iterable[Any], total: int) -> Any:
    """The items, with a progress bar if they take long."""
    bar = progress_bar(items, total=total, unit="row")
    return items if bar is None else bar
