"""Texts as a terminal shows them."""

from __future__ import annotations

import unicodedata

import pytest

from structag import terminal


def test_visible_text_has_no_control_characters() -> None:
    shown = terminal.visible("".join(map(chr, range(0x100))))

    assert len(shown) == 0x100
    assert not any(unicodedata.category(char) == "Cc" for char in shown)


def test_visible_text_neither_ends_lines_nor_turns_around() -> None:
    text = "a\u2028b\u2029c\u202ed\ufeff"

    assert terminal.visible(text) == "a�b�c�d�"
    assert terminal.visible("👩\u200d🚀 日本\u00a0é") == "👩\u200d🚀 日本\u00a0é"


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [("abc", 2, "ab"), ("日本", 3, "日"), ("e\u0301e", 1, "e\u0301"), ("", 0, ""), ("ab", 9, "ab")],
)
def test_texts_are_cut_by_columns(text: str, most: int, cut: str) -> None:
    assert terminal.cut_to_columns(text, most) == cut
    assert terminal.columns(cut) <= most
