"""The code in which a page hands over what a reader has done."""

import pytest

from limetutor.course.progress import Item, checksum, read

BODY = "LT1~switch-off.350.3~images..v"
CODE = f"{BODY}~{checksum(BODY)}"


def test_a_code_is_read_by_exercise_and_question():
    assert read(CODE) == {
        "switch-off/1": Item(1, True),
        "switch-off/2": Item(2, True),
        "switch-off/3": Item(0, False),
        "switch-off/quiz-1": Item(1, True),
        "images/quiz-1": Item(15, True),
    }


def test_the_checksum_is_the_published_one():
    """Fowler, Noll, Vo: three of their test vectors."""
    assert [checksum(text) for text in ("", "a", "foobar")] == ["811c9dc5", "e40c292c", "bf9cf968"]


def test_blanks_that_a_mail_put_in_do_no_harm():
    assert read(f" {CODE[:12]}\n {CODE[12:]}\n") == read(CODE)


@pytest.mark.parametrize(
    "code", ["", "~", "LT1", "hello", BODY, f"{BODY}~00000000", f"LT2~a.3.~{checksum('LT2~a.3.')}"]
)
def test_a_code_with_a_slip_is_refused_in_one_sentence(code: str):
    with pytest.raises(ValueError, match=r"^code must be what .* gave.*\.$"):
        read(code)


@pytest.mark.parametrize("part", ["switch-off", "Switch.3.", "a.w.", "a.1.2.3"])
def test_parts_that_no_page_writes_are_refused(part: str):
    body = f"LT1~{part}"
    with pytest.raises(ValueError, match="code holds a part that cannot be read"):
        read(f"{body}~{checksum(body)}")


def test_what_is_no_text_is_refused():
    for code in (None, 3, b"LT1"):
        with pytest.raises(TypeError, match="code must be a text"):
            read(code)
