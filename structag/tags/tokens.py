"""Resolves the tokens that a structural tag names, by id or by content, against a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Protocol

from structag.errors import FormatError
from structag.tags.model import TokenRef


class TokenTable(Protocol):
    """What is asked of a vocabulary; `structag.Vocabulary` is one."""

    @property
    def size(self) -> int: ...
    @property
    def added_tokens(self) -> Mapping[str, int]: ...
    @property
    def control_tokens(self) -> Mapping[str, int]: ...
    @property
    def stop_token_ids(self) -> tuple[int, ...]: ...
    def token_bytes(self, token_id: int, /) -> bytes: ...
    def token_name(self, token_id: int, /) -> str: ...


class TokenNames:
    """The tokens of one vocabulary, as structural tags name them."""

    def __init__(self, table: TokenTable) -> None:
        self._table = table
        self._ordinary: dict[bytes, int] | None = None

    def resolve(self, token: TokenRef, pointer: str) -> int:
        """The id of `token`, which stands at `pointer`.

        Raises:
            FormatError: `token-unknown`.
        """
        found = self.find(token)
        if isinstance(token, int):
            if found is None:
                raise FormatError(
                    f"the vocabulary has no token {token}",
                    code="token-unknown",
                    pointer=pointer,
                    expected=f"an id below {self._table.size} of a token that is in use",
                    hint="name the token by its content, which does not change with the model",
                )
            return token
        if found is None:
            close = get_close_matches(token[:60], list(self._table.added_tokens), n=1)
            raise FormatError(
                f"the vocabulary has no token `{token if len(token) <= 60 else token[:57] + '…'}`",
                code="token-unknown",
                pointer=pointer,
                expected="the content of one token",
                hint=f"did you mean `{close[0]}`?"
                if close
                else "write it as text, which any vocabulary can spell",
            )
        return found

    def find(self, token: TokenRef) -> int | None:
        """The id of the token with that id or content, added ones first; None if there is none."""
        if isinstance(token, int):
            return token if token < self._table.size and self._is_used(token) else None
        found = self._table.added_tokens.get(token)
        return self._ordinary_tokens().get(token.encode()) if found is None else found

    def resolve_all(self, tokens: Iterable[TokenRef], pointer: str) -> tuple[int, ...]:
        """The ids of a list of tokens that stands at `pointer`."""
        return tuple(self.resolve(t, f"{pointer}/{i}") for i, t in enumerate(tokens))

    def text(self, token_id: int, pointer: str) -> bytes:
        """What the token adds to a text; empty for a control token.

        Raises:
            FormatError: `tag-value`, it is a part of a character.
        """
        data = self._table.token_bytes(token_id)
        try:
            data.decode()
        except UnicodeDecodeError:
            raise FormatError(
                f"token {token_id} is a part of a character, which a text cannot be searched for",
                code="tag-value",
                pointer=pointer,
                expected="a token of whole characters",
            ) from None
        return data

    @property
    def inner_control_ids(self) -> tuple[int, ...]:
        """Every control token that does not end the output."""
        stops = set(self._table.stop_token_ids)
        return tuple(id_ for id_ in self._table.control_tokens.values() if id_ not in stops)

    def _is_used(self, token_id: int) -> bool:
        return bool(self._table.token_bytes(token_id)) or (
            self._table.added_tokens.get(self._table.token_name(token_id)) is not None
        )

    def _ordinary_tokens(self) -> dict[bytes, int]:
        if self._ordinary is None:
            table = self._table
            self._ordinary = {}
            for token_id in range(table.size):
                self._ordinary.setdefault(table.token_bytes(token_id), token_id)
            self._ordinary.pop(b"", None)
        return self._ordinary
