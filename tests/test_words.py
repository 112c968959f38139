"""Bytes in words."""

from __future__ import annotations

import unicodedata

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


def test_visible_text_has_no_control_characters() -> None:
    shown = words.visible("".join(map(chr, range(0x100))))

    assert len(shown) == 0x100
    assert not any(unicodedata.category(char) == "Cc" for char in shown)


def test_visible_text_neither_ends_lines_nor_turns_around() -> None:
    text = "a\u2028b\u2029c\u202ed\ufeff"

    assert words.visible(text) == "a�b�c�d�"
    assert words.visible("👩\u200d🚀 日本\u00a0é") == "👩\u200d🚀 日本\u00a0é"


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [("abc", 2, "ab"), ("日本", 3, "日"), ("e\u0301e", 1, "e\u0301"), ("", 0, ""), ("ab", 9, "ab")],
)
def test_texts_are_cut_by_columns(text: str, most: int, cut: str) -> None:
    assert words.cut_to_columns(text, most) == cut
    assert words.columns(cut) <= most
