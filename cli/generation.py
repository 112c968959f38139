"""Generates an output under random logits: what `structag demo` does in a model's place.

The logits are noise.  Noise never ends a text by itself, so after a while the generation is
*steered*: whatever continues one chosen text gets a large bonus.  The mask still decides what is
possible; steering only says where to go among the possible.  The chosen text is a marker that
leads somewhere else from here, or the stop token, or, inside a narrow pattern, the byte after
which the fewest bytes may follow.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import structag

READABLE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
READABLE_BONUS, STEERING_BONUS = 6.0, 60.0


class Generation(NamedTuple):
    """One generated output.

    Attributes:
        data: its bytes.
        token_count: the tokens it took, the stop token included.
        mask_us: how long each mask took, in microseconds.
        finished: whether a stop token ended it.
    """

    data: bytes
    token_count: int
    mask_us: list[float]
    finished: bool


class RandomModel:
    """Draws tokens from noise over one vocabulary."""

    def __init__(
        self, vocabulary: structag.Vocabulary, markers: Sequence[bytes], seed: int
    ) -> None:
        self._vocabulary = vocabulary
        self._random = np.random.default_rng(seed)
        self._bytes = [vocabulary.token_bytes(token) for token in range(vocabulary.size)]
        self._spellings: dict[bytes, list[int]] = {}
        for token, text in enumerate(self._bytes):
            self._spellings.setdefault(text, []).append(token)
        self._markers = [self._cut(marker) for marker in markers]
        self._readable = np.array(
            [READABLE_BONUS if text and READABLE.issuperset(text) else 0 for text in self._bytes],
            dtype=np.float32,
        )

    def generate(self, grammar: Any, patience: int = 24, longest: int = 2000) -> Generation:
        """One output; steered after `patience` tokens in which more than one was possible."""
        matcher = structag.Matcher(grammar)
        bitmask = structag.allocate_token_bitmask(1, self._vocabulary.size)
        data, mask_us = bytearray(), []
        wanted: list[int] | None = []  # [] = nothing in particular, None = the stop token
        free_count, is_marker = 0, False
        for count in range(1, longest + 1):
            start = time.perf_counter_ns()
            matcher.fill_next_token_bitmask(bitmask)
            mask_us.append((time.perf_counter_ns() - start) / 1000)
            if free_count >= patience and wanted == []:
                wanted = self._choose(matcher)
                is_marker = wanted in self._markers
            token = self._draw(bitmask, wanted)
            if token in self._vocabulary.stop_token_ids:
                return Generation(bytes(data), count, mask_us, matcher.accept_token(token))
            if not matcher.accept_token(token):
                break
            data += self._bytes[token]
            if wanted and token == wanted[0]:
                wanted = wanted[1:]
                free_count = 0 if is_marker else patience
            else:
                wanted = []
                free_count = free_count + 1 if _count(bitmask) > 1 else 0
        return Generation(bytes(data), len(mask_us), mask_us, False)

    def _cut(self, text: bytes) -> list[int]:
        """The tokens of a marker: added ones first, as nothing else may stand for them."""
        added = {name.encode(): token for name, token in self._vocabulary.added_tokens.items()}
        names = [name for name in added if name in text]
        if names:
            name = max(names, key=len)
            before, _, after = text.partition(name)
            return [*self._cut(before), added[name], *self._cut(after)]
        found: list[int] = []
        while text:
            length = max(n for n in range(1, len(text) + 1) if text[:n] in self._spellings)
            found.append(self._spellings[text[:length]][0])
            text = text[length:]
        return found

    def _draw(self, bitmask: Any, wanted: list[int] | None) -> int:
        logits = self._random.uniform(-5, 5, self._vocabulary.size).astype(np.float32)
        logits += self._readable
        if wanted is None:
            logits[list(self._vocabulary.stop_token_ids)] += STEERING_BONUS
        elif wanted:
            logits[wanted[0]] += STEERING_BONUS
        structag.apply_token_bitmask_inplace(logits, bitmask[0])
        return int(np.argmax(logits - np.log(-np.log(self._random.random(logits.shape)))))

    def _choose(self, matcher: Any) -> list[int] | None:
        """Tokens that lead out of where the matcher is; None = the stop token."""
        here = matcher.allowed_bytes(), matcher.is_completed()
        ways: list[list[int] | None] = []
        for marker in self._markers:
            after = matcher.fork()
            if all(map(after.accept_token, marker)) and here != (
                after.allowed_bytes(),
                after.is_completed(),
            ):
                ways.append(marker)
        if matcher.is_completed():
            ways = [*ways, *ways, None]  # calls are more interesting than the end
        if ways:
            return ways[int(self._random.integers(len(ways)))]
        step = min(
            (bytes([byte]) for byte in sorted(matcher.allowed_bytes())),
            key=lambda step: _width_after(matcher, step),
            default=b"",
        )
        return self._spellings.get(step, [])[:1]


def _width_after(matcher: Any, step: bytes) -> int:
    after = matcher.fork()
    after.accept_bytes(step)
    return len(after.allowed_bytes())


def _count(bitmask: Any) -> int:
    return int(np.unpackbits(bitmask[0].view(np.uint8)).sum())
