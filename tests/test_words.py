"""Bytes in words."""

from __future__ import annotations

import pytest

words = pytest.importorskip("structag.words")

ALL = set(range(256))
LETTERS = set(range(0x41, 0x5B)) | set(range(0x61, 0x7B))


@pytest.mark.parametrize(
    ("allowed", "may_end", "expected"),
    [
        ((), False, "nothing"),
        ((), True, "the end"),
        (b"}", False, "`}`"),
        (b"},", True, "`,`, `}` or the end"),
        (b'" \n\t\r', False, '`"` or whitespace'),
        (b"\t ", False, "a space or a tab"),
        (b"0123456789-", False, "a digit or `-`"),
        (b"0123456", False, "`0`–`6`"),
        (b"123", False, "`1`, `2` or `3`"),
        (LETTERS | set(b"_"), False, "a letter or `_`"),
        (set(range(0x61, 0x7B)), False, "`a`–`z`"),
        (ALL, False, "any character"),
        (ALL - set(b"<"), True, "any character but `<` or the end"),
        (range(0x80, 0xC0), False, "the rest of the character"),
        (range(0xC2, 0xF5), False, "a character beyond ASCII"),
        (b"\x00\x01", False, "a control character"),
    ],
)
def test_describe_bytes(allowed: bytes, may_end: bool, expected: str) -> None:
    assert words.describe_bytes(allowed, may_end) == expected
