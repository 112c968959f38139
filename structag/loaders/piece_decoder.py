"""Which bytes a Hugging Face token spells, read from what its tokenizer.json says.

The `decoder` section decides (ByteLevel; or Replace / Metaspace with ByteFallback); where there
is none, the `pre_tokenizer` and `normalizer` sections do.  Spellings of tokens are never guessed
at.  Some decoders also strip one space at the start of the whole text; a mask works on tokens,
so that is left aside here: ``▁Hello`` is ``b" Hello"`` wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from structag.errors import VocabularyError
from structag.loaders.byte_alphabet import bytes_of_alphabet
from structag.loaders.token_table import encode_text

_BYTE_PIECE = re.compile("<0x([0-9A-Fa-f]{2})>")
_BYTE_PIECE_LENGTH = 6

_CANNOT_MASK = {
    "WordPiece": "its tokens leave out the spaces between words, so they spell no exact text",
    "WordLevel": "its tokens leave out the spaces between words, so they spell no exact text",
    "BPEDecoder": "the bytes of its tokens depend on which token comes last",
    "CTC": "it drops repeated tokens, so tokens spell no exact text",
}


@dataclass(frozen=True)
class PieceDecoder:
    """How a tokenizer's tokens, as stored, become bytes of text.

    Attributes:
        ordinary: for the tokens of the model's vocabulary.
        added: for the contents of added tokens; in byte-level tokenizers they are plain text.
    """

    ordinary: Callable[[str], bytes]
    added: Callable[[str], bytes]


def piece_decoder(sections: Mapping[str, Any]) -> PieceDecoder:
    """What the top-level sections of a tokenizer.json say about the bytes of its tokens.

    Of `model` only the settings are read, never the vocabulary.

    Raises:
        VocabularyError: the sections do not tell the bytes (``vocabulary-kind``).
    """
    model = sections.get("model") or {}
    _refuse_word_models(model)
    byte_fallback = bool(model.get("byte_fallback"))
    steps = list(_flatten(sections.get("decoder"), "decoders"))
    if not steps:
        return _without_decoder(sections, byte_fallback)
    replacements: list[tuple[str, str]] = []
    for step in steps:
        kind = step.get("type")
        if kind == "ByteLevel":
            return PieceDecoder(_after(replacements, bytes_of_alphabet), encode_text)
        if kind == "Fuse":
            break
        if kind == "ByteFallback":
            byte_fallback = True
        elif kind in ("Replace", "Metaspace"):
            replacements.append(_replacement(step))
        else:
            raise _unknown_kind(f"decoder {kind}", _CANNOT_MASK.get(str(kind)))
    return _spelled(replacements, byte_fallback)


def byte_of_piece(piece: str) -> bytes | None:
    """The byte that a byte-fallback piece stands for: ``<0x0A>`` -> ``b"\\n"``, else ``None``."""
    match = _BYTE_PIECE.fullmatch(piece)
    return bytes([int(match[1], 16)]) if match else None


def sentencepiece_bytes(piece: str) -> bytes:
    """A SentencePiece piece as text: every ``▁`` is a space."""
    return encode_text(piece.replace("▁", " "))


def _refuse_word_models(model: Mapping[str, Any]) -> None:
    kind = model.get("type")
    if kind in ("WordPiece", "WordLevel"):
        raise _unknown_kind(f"model {kind}", _CANNOT_MASK[kind])
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(affix):
            raise _unknown_kind(
                f"model {kind} with {affix} {str(model[affix])[:60]!r}",
                _CANNOT_MASK["WordPiece"],
            )


def _flatten(section: Any, members: str) -> Iterator[Mapping[str, Any]]:
    if not isinstance(section, Mapping):
        return
    if section.get("type") == "Sequence":
        for member in section.get(members) or ():
            yield from _flatten(member, members)
    else:
        yield section


def _replacement(step: Mapping[str, Any]) -> tuple[str, str]:
    if step.get("type") == "Metaspace":
        return str(step.get("replacement", "▁")), " "
    pattern = step.get("pattern")
    text = pattern.get("String") if isinstance(pattern, Mapping) else None
    if not isinstance(text, str) or not text:
        raise _unknown_kind("decoder Replace with a regular expression", None)
    return text, str(step.get("content", ""))


def _without_decoder(sections: Mapping[str, Any], byte_fallback: bool) -> PieceDecoder:
    before = [
        *_flatten(sections.get("pre_tokenizer"), "pretokenizers"),
        *_flatten(sections.get("normalizer"), "normalizers"),
    ]
    for step in before:
        if step.get("type") == "ByteLevel":
            return PieceDecoder(bytes_of_alphabet, encode_text)
        if step.get("type") == "Metaspace":
            return _spelled([_replacement(step)], byte_fallback)
        if step.get("type") == "Replace" and step.get("pattern") == {"String": " "}:
            return _spelled([(str(step.get("content")), " ")], byte_fallback)
    raise _unknown_kind("the tokenizer has no decoder", None)


def _after(
    replacements: list[tuple[str, str]], decode: Callable[[str], bytes]
) -> Callable[[str], bytes]:
    if not replacements:
        return decode

    def bytes_of(token: str) -> bytes:
        for old, new in replacements:
            token = token.replace(old, new)
        return decode(token)

    return bytes_of


def _spelled(replacements: list[tuple[str, str]], byte_fallback: bool) -> PieceDecoder:
    spell = _after(replacements, encode_text)

    def bytes_of(token: str) -> bytes:
        if len(token) == _BYTE_PIECE_LENGTH and (byte := byte_of_piece(token)) is not None:
            return byte
        return spell(token)

    chosen = bytes_of if byte_fallback else spell
    return PieceDecoder(chosen, chosen)


def _unknown_kind(what: str, reason: str | None) -> VocabularyError:
    return VocabularyError(
        f"{what}: {reason or 'the bytes of its tokens cannot be told from this'}",
        code="vocabulary-kind",
        expected="a byte-level tokenizer, or a SentencePiece one (BPE or Unigram)",
        hint="if you know the bytes of each token, use `Vocabulary.from_token_bytes`",
    )
