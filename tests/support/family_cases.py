"""Runs outputs through the formats of model families, by text and token by token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import structag
from structag.families.family import Family, Sample
from structag.families.sample_tools import SAMPLE_TOOLS

PIECES = (b"the", b"ation", b'": "', b'{"', b'"}', b"name", b"get_", b"\n\n", b">\n", b"</", b"Par")
"""Ordinary tokens of several bytes, some of which cross what markers are next to."""


def sample_tag(family: Family, sample: Sample) -> structag.StructuralTag:
    """The tag that a sample is about."""
    return structag.model_format(
        family,
        tools=[*SAMPLE_TOOLS, *({"type": kind} for kind in sample.builtin_tools)],
        tool_choice=sample.tool_choice,
        reasoning=sample.reasoning,
        parallel_tool_calls=sample.parallel_tool_calls,
        prompt_tail=sample.prompt_tail,
    )


def takes_text(grammar: structag.CompiledGrammar, text: str) -> bool:
    """Whether `text` is an output of `grammar`, given as text."""
    matcher = structag.Matcher(grammar)
    return matcher.accept_string(text) and matcher.is_completed()


@cache
def small_vocabulary(
    tokens: tuple[str, ...], stop: tuple[str, ...], is_special: bool
) -> structag.Vocabulary:
    """All bytes, some pieces, and a family's tokens: control or user-defined; stop is control."""
    ordinary = [bytes([byte]) for byte in range(256)] + list(PIECES)
    names = list(dict.fromkeys([*tokens, *stop]))
    ids = {len(ordinary) + index: name for index, name in enumerate(names)}
    special = {i: name for i, name in ids.items() if is_special or name in stop}
    own = {i: name for i, name in ids.items() if i not in special}
    stops = [i for i, name in ids.items() if name in stop]
    return structag.Vocabulary.from_token_bytes(
        ordinary, special=special, user_defined=own, stop_token_ids=stops
    )


class Tokenizer:
    """Cuts text into tokens: markers first, then the longest ordinary token at each place."""

    def __init__(self, vocabulary: structag.Vocabulary, markers: Iterable[str]) -> None:
        self.vocabulary = vocabulary
        known: Mapping[str, int | None] = {m: vocabulary.token_id(m) for m in markers}
        self.markers = {name: token for name, token in known.items() if token is not None}
        self._ordinary: dict[bytes, int] = {}
        added = set(vocabulary.added_tokens.values())
        for token in range(vocabulary.size):
            data = vocabulary.token_bytes(token)
            if data and token not in added:
                self._ordinary.setdefault(data, token)
        self._longest = min(max(map(len, self._ordinary)), 24)

    def encode(self, text: str) -> list[int]:
        """The tokens of `text`."""
        if not self.markers:
            return self.spell(text)
        longest_first = sorted(self.markers, key=len, reverse=True)
        found: list[int] = []
        for part in re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text):
            found += [self.markers[part]] if part in self.markers else self.spell(part)
        return found

    def spell(self, text: str) -> list[int]:
        """The tokens of `text`, none of them a marker."""
        data, found, place = text.encode(), [], 0
        while place < len(data):
            for length in range(min(self._longest, len(data) - place), 0, -1):
                token = self._ordinary.get(data[place : place + length])
                if token is not None:
                    found.append(token)
                    place += length
                    break
            else:
                raise AssertionError(f"no token for {data[place : place + 1]!r}")
        return found


def takes_tokens(grammar: structag.CompiledGrammar, tokens: Sequence[int]) -> bool:
    """Whether `tokens` are an output of `grammar`; each must be in the mask if it is taken."""
    matcher = structag.Matcher(grammar)
    mask: Any = np.zeros((1, (grammar.vocabulary.size + 31) // 32), dtype=np.int32)
    for token in tokens:
        mask[:] = -1
        matcher.fill_next_token_bitmask(mask)
        is_allowed = bool(mask[0, token // 32] >> (token % 32) & 1)
        assert matcher.accept_token(token) == is_allowed, grammar.vocabulary.token_name(token)
        if not is_allowed:
            return False
    return matcher.is_terminated() or matcher.is_completed()
