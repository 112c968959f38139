"""The table every loader fills: token id -> bytes, kind and content, plus the stop tokens.

A table is mutable while a loader works on it; `finish` pads it, checks it, and leaves it in the
state `structag.Vocabulary` takes over.  Invariant after `finish`: ordinary and user-defined
tokens have bytes, control and unused tokens have none, and at least one stop token exists.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from structag.errors import VocabularyError

MAX_VOCABULARY_SIZE = 1 << 22
"""More tokens than any model has; a damaged file must not make us allocate without end."""

StopTokens = int | Iterable[int] | None


class TokenKind(IntEnum):
    """What a token id stands for."""

    ORDINARY = 0
    """Text: its bytes."""
    USER_DEFINED = 1
    """An added token that is part of the text: its bytes, and its id by name."""
    CONTROL = 2
    """A special token: its id only; it never matches text."""
    UNUSED = 3
    """Padding, a hole, or a token without bytes: never allowed."""


@dataclass
class TokenTable:
    """Token ids with what is known of each; lists are indexed by token id.

    Attributes:
        token_bytes: the text of each token, ``b""`` for control and unused tokens.
        kinds: one `TokenKind` per token.
        contents: id -> content of user-defined and control tokens; of the former, their text.
        stop_token_ids: those the source itself names; empty when it names none.
        stop_hint: how to find the stop tokens of this kind of source, for the error.
    """

    token_bytes: list[bytes] = field(default_factory=list)
    kinds: bytearray = field(default_factory=bytearray)
    contents: dict[int, str] = field(default_factory=dict)
    stop_token_ids: list[int] = field(default_factory=list)
    stop_hint: str = "pass stop_token_ids"

    @classmethod
    def of_ordinary(cls, tokens: Mapping[int, bytes]) -> TokenTable:
        """The table of these ordinary tokens; ids that are missing in between are unused.

        Raises:
            VocabularyError: an id is negative or absurdly large (``vocabulary-value``).
        """
        size = 0
        if tokens:
            check_token_id(min(tokens))
            size = check_token_id(max(tokens)) + 1
        token_bytes = [b""] * size
        for token_id, text in tokens.items():
            token_bytes[token_id] = text
        return cls(token_bytes, bytearray(map(_kind_by_bytes, token_bytes)))

    def add_token(
        self, token_id: int, content: str, *, special: bool, text: bytes | None = None
    ) -> None:
        """Names a token, special or user-defined, in place of what the id was before.

        `text` is the token's bytes where they differ from the content's UTF-8; the content is
        then what these bytes spell, so that a marker ``▁▁`` is not taken for two spaces.

        Raises:
            VocabularyError: the id is out of range (``vocabulary-value``), or the content holds
                a lone surrogate (``vocabulary-file``).
        """
        token_id = check_token_id(token_id)
        if not isinstance(content, str):
            raise VocabularyError(
                f"the content of token {token_id} is {type(content).__name__}",
                code="vocabulary-value",
                expected="a string",
            )
        kind = TokenKind.CONTROL
        if special:
            text = b""
        else:
            if text is None:
                text = encode_text(content)
            else:
                content = text.decode(errors="replace")
            kind = TokenKind.USER_DEFINED if text else TokenKind.UNUSED
        self.pad_to(token_id + 1)
        self.token_bytes[token_id] = text
        self.kinds[token_id] = kind
        self.contents.pop(token_id, None)
        if content:
            self.contents[token_id] = content

    def pad_to(self, size: int) -> None:
        """Adds unused tokens until there are `size`; does nothing when there are as many."""
        missing = size - len(self.token_bytes)
        if missing > 0:
            self.token_bytes.extend([b""] * missing)
            self.kinds.extend(bytes([TokenKind.UNUSED]) * missing)

    def finish(self, vocab_size: int | None, stop_token_ids: StopTokens) -> TokenTable:
        """This table, padded to `vocab_size` and with its stop tokens settled.

        Stop tokens given by the caller replace those of the source.  One that had no bytes (a
        hole, padding, an empty string) becomes a control token: the caller says it exists.

        Raises:
            VocabularyError: a size or id is out of range, or no stop token is known
                (``vocabulary-value``).
        """
        if vocab_size is not None:
            self._fit(vocab_size)
        if not self.token_bytes:
            raise VocabularyError(
                "the vocabulary has no tokens",
                code="vocabulary-value",
                expected="at least one token",
            )
        stops = self.stop_token_ids if stop_token_ids is None else stop_list(stop_token_ids)
        if not stops:
            raise VocabularyError(
                "no stop token is known, so generation could never end",
                code="vocabulary-value",
                expected="at least one stop token",
                hint=self.stop_hint,
            )
        self.stop_token_ids = list(dict.fromkeys(stops))
        for token_id in self.stop_token_ids:
            if not 0 <= token_id < len(self.token_bytes):
                raise VocabularyError(
                    f"stop token {token_id} is not in the vocabulary",
                    code="vocabulary-value",
                    expected=f"ids from 0 to {len(self.token_bytes) - 1}",
                    hint="pass stop_token_ids, and the model's logits width as vocab_size",
                )
            if self.kinds[token_id] == TokenKind.UNUSED:
                self.kinds[token_id] = TokenKind.CONTROL
        return self

    def _fit(self, vocab_size: int) -> None:
        size = check_size(vocab_size)
        if size < len(self.token_bytes):
            raise VocabularyError(
                f"vocab_size {size} is smaller than the tokenizer, which has"
                f" {len(self.token_bytes)} token ids",
                code="vocabulary-value",
                expected="the width of the model's logits",
                hint="a tokenizer's own `vocab_size` often leaves out the added tokens; to cut"
                " off ids on purpose, leave vocab_size out and call `Vocabulary.resized`",
            )
        self.pad_to(size)


def _kind_by_bytes(text: bytes) -> TokenKind:
    return TokenKind.ORDINARY if text else TokenKind.UNUSED


def check_token_id(value: object) -> int:
    """`value` as a token id.

    Raises:
        VocabularyError: it is no integer, or out of range (``vocabulary-value``).
    """
    number = _integer(value, "a token id")
    if not 0 <= number < MAX_VOCABULARY_SIZE:
        raise VocabularyError(
            f"token id {number} is out of range",
            code="vocabulary-value",
            expected=f"an id from 0 to {MAX_VOCABULARY_SIZE - 1}",
        )
    return number


def check_size(value: object) -> int:
    """`value` as a vocabulary size.

    Raises:
        VocabularyError: it is no integer, or out of range (``vocabulary-value``).
    """
    number = _integer(value, "vocab_size")
    if not 0 < number <= MAX_VOCABULARY_SIZE:
        raise VocabularyError(
            f"vocab_size {number} is out of range",
            code="vocabulary-value",
            expected=f"a size from 1 to {MAX_VOCABULARY_SIZE}",
        )
    return number


def stop_list(value: int | Iterable[int]) -> list[int]:
    """Stop tokens given as one id or several, as a list of integers.

    Raises:
        VocabularyError: something in it is no integer (``vocabulary-value``).
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return [_integer(value, "a stop token")]
    return [_integer(item, "a stop token") for item in value]


def encode_text(text: str) -> bytes:
    """The UTF-8 of `text`.

    Raises:
        VocabularyError: `text` holds a lone surrogate (``vocabulary-file``).
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise VocabularyError(
            f"token {text[:60]!r} holds a lone surrogate",
            code="vocabulary-file",
            expected="tokens that are valid Unicode",
        ) from None


def _integer(value: object, what: str) -> int:
    if not isinstance(value, bool):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise VocabularyError(
        f"got {type(value).__name__} {str(value)[:60]!r} as {what}",
        code="vocabulary-value",
        expected="an integer",
    )
