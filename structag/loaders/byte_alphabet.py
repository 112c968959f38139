"""The byte alphabet of GPT-2: each of the 256 bytes written as one printable character.

Byte-level tokenizers store tokens as text, so bytes that do not print (space, line feed, parts
of a character) stand under other characters: space is ``Ġ``, line feed ``Ċ``.

Source: ``bytes_to_unicode`` in the GPT-2 release, Radford et al., 2019.
"""

from __future__ import annotations

from structag.loaders.token_table import encode_text


def _alphabet() -> dict[int, str]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {byte: chr(byte) for byte in printable}
    others = (byte for byte in range(256) if byte not in alphabet)
    alphabet.update((byte, chr(256 + rank)) for rank, byte in enumerate(others))
    return alphabet


BYTE_TO_CHARACTER = _alphabet()

# Latin-1 characters that are not in the alphabet go to a character that Latin-1 lacks, so that
# encoding stops there instead of taking them for their own byte.
_TO_LATIN_1 = {code: "\uffff" for code in range(256) if chr(code) not in BYTE_TO_CHARACTER.values()}
_TO_LATIN_1.update((ord(character), chr(byte)) for byte, character in BYTE_TO_CHARACTER.items())


def bytes_of_alphabet(token: str) -> bytes:
    """The bytes that `token` spells in the alphabet, or its UTF-8 if it leaves the alphabet.

    The second case is what byte-level decoders do, with the token as a whole.

        >>> bytes_of_alphabet("Ġhi"), bytes_of_alphabet("a b")
        (b' hi', b'a b')
    """
    try:
        return token.translate(_TO_LATIN_1).encode("latin-1")
    except UnicodeEncodeError:
        return encode_text(token)
