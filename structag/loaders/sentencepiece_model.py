"""A SentencePiece model (``tokenizer.model``) -> token table, without the `sentencepiece` package.

Only the piece table and the trainer's end-of-sentence id are read, from the protocol-buffer
bytes.  Every ``▁`` is a space, in each piece and in the first one of a text too (SentencePiece
drops the space it put before a whole text; tokens cannot know that).

Source: ``sentencepiece_model.proto`` of google/sentencepiece.
"""

from __future__ import annotations

from collections.abc import Iterator

from structag.loaders.files import FilePath, damaged, read_file
from structag.loaders.piece_decoder import byte_of_piece, sentencepiece_bytes
from structag.loaders.token_table import TokenTable

_EXPECTED = "a SentencePiece model"

# ModelProto, SentencePiece and TrainerSpec: field numbers.
_PIECES, _TRAINER = 1, 2
_PIECE_TEXT, _PIECE_TYPE = 1, 3
_TRAINER_EOS_ID = 42
_DEFAULT_EOS_ID = 2

# SentencePiece.Type
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _, _BYTE = range(1, 7)

# Wire types of protocol buffers.
_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5


def read_sentencepiece_model(path: FilePath) -> TokenTable:
    """The table of a SentencePiece model file; its `eos_id` is the stop token.

    Raises:
        VocabularyError: the file is missing or damaged (``vocabulary-file``).
    """
    return table_of_model(read_file(path, expected=_EXPECTED), path)


def table_of_model(data: bytes, path: FilePath) -> TokenTable:
    """The table of a serialised `ModelProto`; `path` names it in errors.

    Raises:
        VocabularyError: the bytes are no such message (``vocabulary-file``).
    """
    pieces: list[tuple[str, int]] = []
    eos_id = _DEFAULT_EOS_ID
    try:
        for number, value in _fields(data):
            if number == _PIECES and isinstance(value, bytes):
                pieces.append(_piece(value))
            elif number == _TRAINER and isinstance(value, bytes):
                eos_id = _signed_field(value, _TRAINER_EOS_ID, _DEFAULT_EOS_ID)
    except (IndexError, ValueError, TypeError):
        raise damaged(path, "is cut short or of another format", expected=_EXPECTED) from None
    if not pieces:
        raise damaged(path, "holds no pieces", expected=_EXPECTED)
    table = _table_of_pieces(pieces)
    if 0 <= eos_id < len(pieces) and pieces[eos_id][1] == _CONTROL:
        table.stop_token_ids = [eos_id]
    return table


def _table_of_pieces(pieces: list[tuple[str, int]]) -> TokenTable:
    ordinary: dict[int, bytes] = {}
    for token_id, (piece, kind) in enumerate(pieces):
        if kind == _NORMAL:
            ordinary[token_id] = sentencepiece_bytes(piece)
        elif kind == _BYTE:
            ordinary[token_id] = byte_of_piece(piece) or b""
    table = TokenTable.of_ordinary(ordinary)
    table.pad_to(len(pieces))
    for token_id, (piece, kind) in enumerate(pieces):
        if kind in (_CONTROL, _UNKNOWN):
            table.add_token(token_id, piece, special=True)
        elif kind == _USER_DEFINED:
            table.add_token(token_id, piece, special=False, text=sentencepiece_bytes(piece))
    return table


def _piece(message: bytes) -> tuple[str, int]:
    text, kind = b"", _NORMAL
    for number, value in _fields(message):
        if number == _PIECE_TEXT and isinstance(value, bytes):
            text = value
        elif number == _PIECE_TYPE and isinstance(value, int):
            kind = value
    return text.decode(), kind


def _signed_field(message: bytes, wanted: int, default: int) -> int:
    result = default
    for number, value in _fields(message):
        if number == wanted and isinstance(value, int):
            result = value - (1 << 64) if value >> 63 else value
    return result


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The (field number, value) pairs of a message: integers for varints, bytes for the rest."""
    offset, end = 0, len(message)
    while offset < end:
        key, offset = _varint(message, offset)
        wire_type = key & 7
        if wire_type == _VARINT:
            value, offset = _varint(message, offset)
            yield key >> 3, value
            continue
        if wire_type == _LENGTH:
            length, offset = _varint(message, offset)
        elif wire_type in (_FIXED_32, _FIXED_64):
            length = 4 if wire_type == _FIXED_32 else 8
        else:
            raise ValueError(f"wire type {wire_type}")
        if offset + length > end:
            raise ValueError("cut short")
        yield key >> 3, message[offset : offset + length]
        offset += length


def _varint(message: bytes, offset: int) -> tuple[int, int]:
    result = message[offset]
    if result < 0x80:
        return result, offset + 1
    result &= 0x7F
    for shift in range(7, 70, 7):
        offset += 1
        byte = message[offset]
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, offset + 1
    raise ValueError("a varint of more than ten bytes")
