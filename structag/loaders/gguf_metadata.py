"""The tokenizer in a GGUF file (llama.cpp) -> token table, without the `gguf` package.

The file is mapped, and only its metadata is read: a header, then key-value pairs whose arrays of
strings have to be walked to get past them.  What a token spells follows llama.cpp, which shows
user-defined tokens as they are stored, and which ends generation at some tokens by name.

Source: ``docs/gguf.md`` of ggml-org/ggml; ``llama-vocab.cpp`` of ggml-org/llama.cpp.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from structag.errors import VocabularyError
from structag.loaders.byte_alphabet import bytes_of_alphabet
from structag.loaders.files import FilePath, damaged
from structag.loaders.piece_decoder import byte_of_piece, sentencepiece_bytes
from structag.loaders.token_table import TokenTable

_EXPECTED = "a GGUF file, version 2 or 3, with a tokenizer"
_PREFIX = "tokenizer.ggml."
_WANTED = ("model", "pre", "tokens", "token_type", "eos_token_id", "eot_token_id", "eom_token_id")

# Byte-level models, and the pre-tokenizers that make one of them write spaces as ``▁`` instead.
_BYTE_LEVEL = ("gpt2", "hybriddna", "whitespace")
_WITH_SPACE_SIGN = ("gemma4", "granite-embed-multi-311m", "sarvam-moe")
_SENTENCEPIECE = ("llama", "t5", "gemma4")

_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)

# Tokens that llama.cpp takes for the end of generation by their name.
_END_OF_GENERATION = frozenset(
    [
        "<|eot_id|>",
        "<|im_end|>",
        "<|end|>",
        "<|return|>",
        "<|call|>",
        "<|flush|>",
        "<|calls|>",
        "<end_of_turn>",
        "<|endoftext|>",
        "</s>",
        "<|eom_id|>",
        "<EOT>",
        "_<EOT>",
        "[EOT]",
        "[EOS]",
        "<|end_of_text|>",
        "<end_of_utterance>",
        "<eos>",
        "<turn|>",
        "<|tool_response>",
        "<｜end▁of▁sentence｜>",
        "[e~[",
    ]
)

_SCALARS = dict(enumerate(["B", "b", "H", "h", "I", "i", "f", "?", "_", "_", "Q", "q", "d"]))
_STRING, _ARRAY = 8, 9


def read_gguf(path: FilePath) -> TokenTable:
    """The table of the tokenizer in a GGUF file.

    Raises:
        VocabularyError: the file is missing or damaged (``vocabulary-file``), or its tokenizer is
            of a kind whose tokens spell no exact bytes (``vocabulary-kind``).
    """
    try:
        with (
            Path(path).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            metadata = _Reader(data).metadata()
    except OSError as error:
        raise VocabularyError(
            f"cannot read `{Path(path)}`: {error.strerror}",
            code="vocabulary-file",
            expected=_EXPECTED,
            hint="pass the path of a local file; nothing is downloaded",
        ) from None
    except (ValueError, struct.error, KeyError) as error:
        raise damaged(path, f"cannot be read ({str(error)[:60]})", expected=_EXPECTED) from None
    tokens, types = metadata.get("tokens"), metadata.get("token_type")
    if not isinstance(tokens, list) or not isinstance(types, list) or len(tokens) != len(types):
        raise damaged(
            path,
            "holds no tokens with their types",
            expected=_EXPECTED,
            hint="of a split model, pass the first part",
        )
    bytes_of = _decoder(metadata)
    try:
        pieces = [token.decode() for token in tokens]
    except (UnicodeDecodeError, AttributeError):
        raise damaged(path, "holds tokens that are not UTF-8", expected=_EXPECTED) from None
    table = _table_of_pieces(pieces, types, bytes_of)
    table.stop_token_ids = _stop_tokens(metadata, table)
    return table


def _decoder(metadata: dict[str, Any]) -> Callable[[str], bytes]:
    model, pre = (_text(metadata.get(key)) for key in ("model", "pre"))
    if model in _SENTENCEPIECE or (model in _BYTE_LEVEL and pre in _WITH_SPACE_SIGN):
        return sentencepiece_bytes
    if model in _BYTE_LEVEL:
        return bytes_of_alphabet
    raise VocabularyError(
        f"tokenizer.ggml.model is {model!r}"
        + (": a WordPiece tokenizer, whose tokens spell no exact text" if model == "bert" else ""),
        code="vocabulary-kind",
        expected=f"one of {', '.join((*_BYTE_LEVEL, *_SENTENCEPIECE))}",
        hint="if you know the bytes of each token, use `Vocabulary.from_token_bytes`",
    )


def _table_of_pieces(
    pieces: list[str], types: list[int], bytes_of: Callable[[str], bytes]
) -> TokenTable:
    ordinary: dict[int, bytes] = {}
    for token_id, kind in enumerate(types):
        if kind == _NORMAL:
            ordinary[token_id] = bytes_of(pieces[token_id])
        elif kind == _BYTE:
            ordinary[token_id] = byte_of_piece(pieces[token_id]) or b""
    table = TokenTable.of_ordinary(ordinary)
    table.pad_to(len(pieces))
    for token_id, kind in enumerate(types):
        if kind in (_CONTROL, _UNKNOWN, _USER_DEFINED):
            table.add_token(token_id, pieces[token_id], special=kind != _USER_DEFINED)
    return table


def _stop_tokens(metadata: dict[str, Any], table: TokenTable) -> list[int]:
    """The declared ids, then those known by name, which become control tokens as in llama.cpp."""
    keys = ("eos_token_id", "eot_token_id", "eom_token_id")
    declared = [metadata[key] for key in keys if isinstance(metadata.get(key), int)]
    names = set(_END_OF_GENERATION)
    if "<|return|>" in table.contents.values():
        names.discard("<|end|>")  # In the harmony format it ends a message, not the turn.
    named = [token_id for token_id, content in table.contents.items() if content in names]
    for token_id in named:
        table.add_token(token_id, table.contents[token_id], special=True)
    return declared + named


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


class _Reader:
    """A cursor over the metadata; every read beyond the file's end is an error."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._offset = 4
        if data[:4] != b"GGUF":
            raise ValueError("it does not begin with `GGUF`")
        self._order = "<"
        version = self._scalar("I")
        if version & 0xFFFF == 0:
            self._order, self._offset = ">", 4
            version = self._scalar("I")
        if version not in (2, 3):
            raise ValueError(f"version {version}")

    def metadata(self) -> dict[str, Any]:
        """The wanted values, by the end of their keys; strings stay bytes."""
        self._scalar("Q")
        count = self._scalar("Q")
        found: dict[str, Any] = {}
        for _ in range(count):
            key = self._string().decode(errors="replace")
            kind = self._scalar("I")
            name = key.removeprefix(_PREFIX)
            is_wanted = key.startswith(_PREFIX) and name in _WANTED
            value = self._value(kind, is_wanted)
            if is_wanted:
                found[name] = value
        return found

    def _value(self, kind: int, is_wanted: bool) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array(is_wanted)
        return self._scalar(_SCALARS[kind])

    def _array(self, is_wanted: bool) -> list[Any]:
        kind, count = self._scalar("I"), self._scalar("Q")
        if kind == _STRING:
            return self._strings(count)
        if kind == _ARRAY:
            raise ValueError("it holds an array of arrays")
        code = _SCALARS[kind]
        start = self._skip(count * struct.calcsize(self._order + code))
        if not is_wanted:
            return []
        return list(struct.unpack_from(f"{self._order}{count}{code}", self._data, start))

    def _strings(self, count: int) -> list[bytes]:
        length_at = struct.Struct(self._order + "Q").unpack_from
        data, offset, strings = self._data, self._offset, []
        for _ in range(count):
            if offset > len(data):
                raise ValueError("it is cut short")
            (length,) = length_at(data, offset)
            offset += 8
            strings.append(data[offset : offset + length])
            offset += length
        self._skip(offset - self._offset)
        return strings

    def _string(self) -> bytes:
        length = self._scalar("Q")
        start = self._skip(length)
        return self._data[start : start + length]

    def _scalar(self, code: str) -> Any:
        layout = self._order + code
        start = self._skip(struct.calcsize(layout))
        return struct.unpack_from(layout, self._data, start)[0]

    def _skip(self, length: int) -> int:
        start = self._offset
        if length > len(self._data) - start:
            raise ValueError("it is cut short")
        self._offset = start + length
        return start
