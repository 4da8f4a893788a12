"""Errors are one sentence each."""

import re
from typing import Any

import pytest


def one_sentence(call: Any, *parts: str, error: Any = (ValueError, TypeError)) -> str:
    """The error is one line that ends with a full stop and holds the parts; its message."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message and len(message) < 300, message
    # no second traceback above the sentence
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    for part in parts:
        assert part in message, message
    return message


def says(call: Any, error: Any, argument: str, *parts: str) -> None:
    """The error is one short sentence about the argument, and holds the parts."""
    message = one_sentence(call, *parts, error=error)
    assert re.match(rf"{re.escape(argument)}(?!\w)", message), message  # the argument comes first
    assert not re.search(r"[.!?] [A-Z]", message), message  # one sentence
    assert len(message) <= 190, message
