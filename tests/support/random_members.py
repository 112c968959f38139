"""Random members of a grammar's language, drawn top down.

Every expression has a height, the least depth at which it ends; where little depth is left, only
what is low enough is chosen.  Regular operators are drawn by walking the engine's masks.
"""

from __future__ import annotations

import random

import numpy as np

from structag.bitmask import allocate_token_bitmask
from structag.compiler import Compiler
from structag.grammar.expressions import (
    Alt,
    And,
    Bytes,
    Chars,
    Epsilon,
    Grammar,
    Literal,
    Mark,
    Ref,
    Repeat,
    Rule,
    Seq,
)
from structag.grammar.utf8 import byte_ranges
from structag.matcher import Matcher
from structag.vocabulary import Vocabulary

INFINITE = 10**9


class Members:
    """Draws members of one grammar; `seed` decides which."""

    def __init__(self, grammar: Grammar, seed: int) -> None:
        self.grammar = grammar
        self.chance = random.Random(seed)
        self.heights = [INFINITE] * len(grammar.nodes)
        before: list[int] = []
        while before != self.heights:
            before = list(self.heights)
            for ref in range(len(grammar.nodes)):
                self.heights[ref] = self._height(ref)

    def draw(self, depth: int = 30) -> bytes:
        """One member; deeper ones are longer."""
        parts: list[bytes] = []
        pending = [(self.grammar.root, depth)]
        while pending:
            ref, left = pending.pop()
            match node := self.grammar.nodes[ref]:
                case Literal(data):
                    parts.append(data)
                case Epsilon():
                    pass
                case Bytes(members):
                    low, high = self.chance.choice(byte_ranges(members))
                    parts.append(bytes([self.chance.randint(low, high)]))
                case Chars(ranges):
                    parts.append(self._char(ranges).encode())
                case Seq(refs):
                    pending.extend((part, left - 1) for part in reversed(refs))
                case Alt(refs):
                    low_enough = [part for part in refs if self.heights[part] < left]
                    lowest = min(refs, key=self.heights.__getitem__)
                    pending.append((self.chance.choice(low_enough or [lowest]), left - 1))
                case Repeat(child, low, high):
                    most = low + 3 if high is None else min(high, low + 3)
                    count = self.chance.randint(low, most) if self.heights[child] < left else low
                    pending.extend([(child, left - 1)] * count)
                case Rule(index):
                    pending.append((self.grammar.rules[index][1], left - 1))
                case Mark(_, child):
                    pending.append((child, left))
                case And():
                    parts.append(self._walk(ref))
                case _:
                    raise AssertionError(node)
        return b"".join(parts)

    def _height(self, ref: Ref) -> int:
        node = self.grammar.nodes[ref]
        match node:
            case Rule(index):
                return min(INFINITE, self.heights[self.grammar.rules[index][1]] + 1)
            case Alt(refs):
                return min(self.heights[part] for part in refs) + 1
            case Seq(refs):
                return min(INFINITE, max(self.heights[part] for part in refs) + 1)
            case Repeat(child, low):
                return min(INFINITE, self.heights[child] + 1) if low else 1
            case Mark(_, child):
                return self.heights[child]
            case _:
                return 0

    def _char(self, ranges: tuple[tuple[int, int], ...]) -> str:
        few = [(low, min(high, low + 90)) for low, high in ranges if low < 0x3000] or ranges
        low, high = self.chance.choice(few)
        return chr(self.chance.randint(low, high))

    def _walk(self, ref: Ref) -> bytes:
        grammar = Grammar(self.grammar.nodes, self.grammar.rules, ref)
        vocabulary = Vocabulary.byte_level()
        matcher = Matcher(Compiler(vocabulary).compile_grammar(grammar))
        bitmask = allocate_token_bitmask(1, vocabulary.size)
        written = bytearray()
        while not matcher.is_completed() or self.chance.random() < 0.8:
            matcher.fill_next_token_bitmask(bitmask)
            bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:256]
            allowed = [byte for byte in np.flatnonzero(bits) if byte < 128] or [
                *np.flatnonzero(bits)
            ]
            if not allowed:
                break
            byte = int(self.chance.choice(allowed))
            assert matcher.accept_token(byte)
            written.append(byte)
        return bytes(written)
