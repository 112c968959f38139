"""`structag/loaders/byte_alphabet.py`: the byte alphabet of GPT-2."""

from __future__ import annotations

import pytest

from structag.loaders.byte_alphabet import BYTE_TO_CHARACTER, bytes_of_alphabet


def test_every_byte_has_its_own_printable_character() -> None:
    characters = [BYTE_TO_CHARACTER[byte] for byte in range(256)]

    assert len(set(characters)) == 256
    assert all(character.isprintable() and character != " " for character in characters)


def test_writing_bytes_and_reading_them_back_changes_nothing() -> None:
    written = "".join(BYTE_TO_CHARACTER[byte] for byte in range(256))

    assert bytes_of_alphabet(written) == bytes(range(256))


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("", b""),
        ("Ġhello", b" hello"),
        ("Ċ", b"\n"),
        ("ä½łå¥½", "你好".encode()),
        ("Ã", b"\xc3"),
        ("你好", "你好".encode()),
        ("a b", b"a b"),
        ("é b", "é b".encode()),
        ("\u00a0", "\u00a0".encode()),
        ("\uffff", "\uffff".encode()),
    ],
)
def test_text_outside_the_alphabet_stands_for_itself(token: str, expected: bytes) -> None:
    assert bytes_of_alphabet(token) == expected


def test_alphabet_is_that_of_tokenizers() -> None:
    tokenizers = pytest.importorskip("tokenizers")

    assert set(BYTE_TO_CHARACTER.values()) == set(tokenizers.pre_tokenizers.ByteLevel.alphabet())
