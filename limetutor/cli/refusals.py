"""Refusals of input that the command cannot work with."""

from typing import NoReturn


class RefusedError(Exception):
    """Input that the command cannot work with."""


def refuse(sentence: str) -> NoReturn:
    """Refuse the input."""
    raise RefusedError(sentence) from None
