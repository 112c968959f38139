"""`structag/loaders/token_table.py`: what loaders build on; its errors are in test_vocabulary."""

from __future__ import annotations

import pytest

from structag.errors import VocabularyError
from structag.loaders.token_table import TokenKind, TokenTable


def test_missing_ids_and_empty_tokens_are_unused() -> None:
    table = TokenTable.of_ordinary({2: b"c", 0: b"a", 3: b""})

    assert table.token_bytes == [b"a", b"", b"c", b""]
    assert list(table.kinds) == [
        TokenKind.ORDINARY,
        TokenKind.UNUSED,
        TokenKind.ORDINARY,
        TokenKind.UNUSED,
    ]


def test_no_tokens_are_an_empty_table() -> None:
    assert TokenTable.of_ordinary({}).token_bytes == []


def test_added_token_takes_the_place_of_another() -> None:
    table = TokenTable.of_ordinary({0: b"x"})
    table.add_token(0, "<a>", special=False)
    table.add_token(2, "<b>", special=True)

    assert table.token_bytes == [b"<a>", b"", b""]
    assert list(table.kinds) == [TokenKind.USER_DEFINED, TokenKind.UNUSED, TokenKind.CONTROL]
    assert table.contents == {0: "<a>", 2: "<b>"}


def test_content_of_a_user_defined_token_is_what_it_spells() -> None:
    table = TokenTable()
    table.add_token(0, "▁▁", special=False, text=b"  ")

    assert table.contents == {0: "  "}


def test_added_token_without_text_is_unused() -> None:
    table = TokenTable()
    table.add_token(0, "<a>", special=True)
    table.add_token(0, "", special=False)

    assert (list(table.kinds), table.contents) == ([TokenKind.UNUSED], {})


def test_lone_surrogate_is_an_error_that_changes_nothing() -> None:
    table = TokenTable.of_ordinary({0: b"x"})

    with pytest.raises(VocabularyError) as caught:
        table.add_token(5, "\udc00", special=False)
    assert str(caught.value) == (
        "token '\\udc00' holds a lone surrogate, expected tokens that are valid Unicode"
    )
    assert table == TokenTable.of_ordinary({0: b"x"})


def test_own_stop_tokens_give_way_to_the_callers() -> None:
    table = TokenTable.of_ordinary({0: b"x", 1: b"y"})
    table.stop_token_ids = [0]

    assert table.finish(None, None).stop_token_ids == [0]
    assert table.finish(4, [1, 3]).stop_token_ids == [1, 3]
    assert list(table.kinds[2:]) == [TokenKind.UNUSED, TokenKind.CONTROL]
