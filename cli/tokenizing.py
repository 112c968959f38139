"""Tokens of a text, without the model's own tokenizer: which one is meant, and where to cut.

A text is cut greedily, the longest token first.  A tokenizer may cut elsewhere: where that
matters, give ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import structag
from structag.cli.rendering import InputError
from structag.words import quoted

_SINGLE = [bytes([byte]) for byte in range(256)]


class Spellings:
    """The tokens of a vocabulary by what they spell; added tokens also by their content."""

    def __init__(self, vocabulary: structag.Vocabulary) -> None:
        self._ids: dict[bytes, list[int]] = {}
        for content, token in vocabulary.added_tokens.items():
            self._ids.setdefault(content.encode(), []).append(token)
        for token in range(vocabulary.size):
            text = vocabulary.token_bytes(token)
            if text and token not in self._ids.get(text, ()):
                self._ids.setdefault(text, []).append(token)
        self._longest = max(map(len, self._ids), default=0)
        added = sorted((c.encode() for c in vocabulary.added_tokens if c), key=len, reverse=True)
        self._added = re.compile(b"|".join(map(re.escape, added))) if added else None

    def find(self, text: bytes) -> int:
        """The token that spells `text`, an added one if there is one."""
        found = self._ids.get(text)
        if found is None:
            raise InputError(
                f"no token spells {quoted(text)}", hint="name one by its id: `--token-id`"
            )
        return found[0]

    def prefixes(self, data: bytes, start: int) -> Iterator[int]:
        """The tokens that `data` may go on with at `start`, the longest first.

        As tokenizers do, none goes into an added token.
        """
        added = self._added.search(data, start) if self._added else None
        end = (
            len(data) if added is None else added.end() if added.start() == start else added.start()
        )
        for size in range(min(self._longest, end - start), 0, -1):
            yield from self._ids.get(data[start : start + size], ())


def with_token(vocabulary: structag.Vocabulary, text: bytes) -> structag.Vocabulary:
    """The byte-level vocabulary with one token more: `text`, where no model is involved."""
    if len(text) < 2:
        return vocabulary
    return structag.Vocabulary.from_token_bytes(
        [*_SINGLE, text], special={257: "<eos>"}, stop_token_ids=257
    )
