"""Outputs of a format as tokens, for commands that measure what a generation would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import structag
from structag.cli.tokenizing import Spellings


def draw_tokens(grammar: Any, count: int, seed: int, max_bytes: int) -> Iterator[list[int]]:
    """`count` random outputs, each as the tokens that a greedy tokenizer might cut it into.

    Where the longest token would end in a spelling that the format refuses, a shorter one is taken.
    """
    sampler = structag.Sampler(grammar, seed)
    spellings = Spellings(grammar.vocabulary)
    bound = max(max_bytes, sampler.least_bytes)
    for _ in range(count):
        yield list(_tokens(sampler.draw(bound), structag.Matcher(grammar), spellings))


def _tokens(
    drawn: structag.Sample, matcher: structag.Matcher, spellings: Spellings
) -> Iterator[int]:
    text = b""
    for piece in (*drawn.pieces, -1):
        if isinstance(piece, bytes):
            text += piece
            continue
        start = 0
        while start < len(text):
            candidates = spellings.prefixes(text, start)
            token = next((each for each in candidates if matcher.accept_token(each)), None)
            if token is None:  # a byte that no token spells alone
                return
            yield token
            start += len(matcher.grammar.vocabulary.token_bytes(token)) or len(
                matcher.grammar.vocabulary.token_name(token).encode()
            )
        text = b""
        if piece >= 0 and matcher.accept_token(piece):
            yield piece
