"""Progress bars, for work that takes more than two seconds."""

import os
from typing import Any


def progress_bar(items: Any = None, **options: Any) -> Any:
    """A bar of tqdm for work of more than two seconds; None where tqdm is missing or not wanted.

    With the environment variable TQDM_DISABLE, which tqdm itself forgets in notebooks, there is none.
    """
    if os.environ.get("TQDM_DISABLE"):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(items, leave=False, **{"delay": 2, **options})


def batches_with_progress(batches: range) -> Any:
    """The batches, with a bar if there are several and they take long."""
    bar = progress_bar(batches, unit="batch") if len(batches) > 1 else None
    return batches if bar is None else bar
