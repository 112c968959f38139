"""tiktoken -> token table: an `Encoding`, or a rank file with one "base64 rank" a line.

Special tokens are control tokens.  A rank file holds none, so they are passed beside it; ranks
that are missing are holes, hence unused.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from structag.errors import VocabularyError
from structag.loaders.files import FilePath, damaged, read_file
from structag.loaders.token_table import TokenTable, check_token_id

_EXPECTED = "a tiktoken rank file: base64 of a token's bytes, a space, its id"
_END_OF_TEXT = "<|endoftext|>"


def is_encoding(value: Any) -> bool:
    """Whether this offers the tables of a `tiktoken.Encoding`."""
    return isinstance(getattr(value, "_mergeable_ranks", None), Mapping)


def table_of_encoding(encoding: Any, special_tokens: Mapping[str, int] | None = None) -> TokenTable:
    """The table of a `tiktoken.Encoding`; `special_tokens` come on top of its own.

    Raises:
        VocabularyError: it is no encoding (``vocabulary-kind``).
    """
    if not is_encoding(encoding):
        raise VocabularyError(
            f"got {type(encoding).__name__}",
            code="vocabulary-kind",
            expected="a `tiktoken.Encoding` or the path of a rank file",
        )
    ranks = {token_id: text for text, token_id in encoding._mergeable_ranks.items()}
    return _table_of_ranks(ranks, {**encoding._special_tokens, **(special_tokens or {})})


def read_rank_file(path: FilePath, special_tokens: Mapping[str, int] | None = None) -> TokenTable:
    """The table of a ``.tiktoken`` file and the special tokens its model uses (content -> id).

    Raises:
        VocabularyError: the file is missing or damaged (``vocabulary-file``).
    """
    ranks = {}
    for number, line in enumerate(read_file(path, expected=_EXPECTED).splitlines(), 1):
        if not line:
            continue
        try:
            encoded, rank = line.split()
            text = base64.b64decode(encoded, validate=True)
            ranks[int(rank)] = text
        except (ValueError, binascii.Error):
            raise damaged(path, f"cannot be read at line {number}", expected=_EXPECTED) from None
    if not ranks:
        raise damaged(path, "is empty", expected=_EXPECTED)
    return _table_of_ranks(ranks, special_tokens or {})


def _table_of_ranks(ranks: Mapping[int, bytes], special_tokens: Mapping[str, int]) -> TokenTable:
    table = TokenTable.of_ordinary(ranks)
    for content, token_id in special_tokens.items():
        table.add_token(check_token_id(token_id), content, special=True)
    if _END_OF_TEXT in special_tokens:
        table.stop_token_ids = [special_tokens[_END_OF_TEXT]]
    table.stop_hint = (
        "pass stop_token_ids, and special_tokens for those that the rank file leaves out"
    )
    return table
