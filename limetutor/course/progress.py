"""What a reader has done, as the short code that the page's *copy my results* gives.

``LT1~switch-off.350.3~images.3..~7c0ffee1``: for each chapter one letter for each exercise and one
for each question of the quiz, then a checksum. A letter stands for the number of tries (at most 15)
and for whether the right answer was among them. The checksum finds slips in copying. It proves
nothing: a code is what a reader says of himself, and book/_assets/progress.js writes it in the open.
"""

import re
from typing import NamedTuple

from ..inputs import arguments as arg

LETTERS = "0123456789abcdefghijklmnopqrstuv"  # 2 * tries + done
_CHAPTER = re.compile(r"([a-z][a-z-]*)\.([0-9a-v]*)\.([0-9a-v]*)")


class Item(NamedTuple):
    """An exercise or a question: how often it was tried, and whether it was solved."""

    tries: int
    done: bool


def read(code: str) -> dict[str, Item]:
    """What a code says, by the name of the exercise (``switch-off/1``) or question (``…/quiz-1``)."""
    if not isinstance(code, str):
        raise TypeError(f"code must be a text, got {arg.shorten(code)}.")
    body, _, check = "".join(code.split()).rpartition("~")
    begin, *chapters = body.split("~")
    if begin != "LT1" or check != checksum(body):
        raise ValueError(
            "code must be what the page's *copy my results* gave, whole and unchanged: LT1~…, "
            f"got {arg.shorten(code)}."
        )
    items: dict[str, Item] = {}
    for chapter in chapters:
        match = _CHAPTER.fullmatch(chapter)
        if match is None:
            raise ValueError(f"code holds a part that cannot be read, {arg.shorten(chapter)}.")
        name, exercises, quiz = match.groups()
        for part, letters in (("", exercises), ("quiz-", quiz)):
            for number, letter in enumerate(letters, 1):
                tries, done = divmod(LETTERS.index(letter), 2)
                items[f"{name}/{part}{number}"] = Item(tries, bool(done))
    return items


def checksum(text: str) -> str:
    """FNV-1a of 32 bits, in eight digits of 16."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"
