"""Tells whether one text belongs to a regular expression of a grammar under construction.

For the few places where lowering needs the answer now: does this property name match that pattern?
Works on end positions: for a start, the set of places where a match may end, remembered per
expression and start; so it is polynomial in the text whatever the expression.
"""

from __future__ import annotations

from bisect import bisect_right

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    And,
    Bytes,
    Chars,
    Empty,
    Epsilon,
    Literal,
    Mark,
    NoOccurrence,
    Not,
    Ref,
    Repeat,
    Seq,
)


class UndecidedError(Exception):
    """The expression holds something that this module does not look into."""


def belongs(builder: GrammarBuilder, ref: Ref, text: str) -> bool:
    """Whether `text` is in the language of the regular expression `ref`.

    >>> b = GrammarBuilder()
    >>> belongs(b, b.repeat(b.chars([(97, 99)]), 2, 3), "abc")
    True

    Raises:
        UndecidedError: `ref` holds look-around that needs `Erase`, or is encoded or recursive.
    """
    return len(text) in _Search(builder, text).ends(ref, 0)


class _Search:
    def __init__(self, builder: GrammarBuilder, text: str) -> None:
        self.builder = builder
        self.text = text
        self.found: dict[tuple[Ref, int], frozenset[int]] = {}

    def ends(self, ref: Ref, start: int) -> frozenset[int]:
        key = (ref, start)
        known = self.found.get(key)
        if known is None:
            known = self.found[key] = frozenset(self._ends(ref, start))
        return known

    def _ends(self, ref: Ref, start: int) -> set[int] | frozenset[int]:
        node = self.builder.node(ref)
        text = self.text
        match node:
            case Empty():
                return set()
            case Epsilon():
                return {start}
            case Literal(data):
                word = data.decode()
                return {start + len(word)} if text.startswith(word, start) else set()
            case Chars(ranges):
                code = ord(text[start]) if start < len(text) else -1
                index = bisect_right(ranges, (code, 0x110000)) - 1
                inside = index >= 0 and ranges[index][0] <= code <= ranges[index][1]
                return {start + 1} if inside else set()
            case Bytes(members):
                code = ord(text[start]) if start < len(text) else 128
                return {start + 1} if code < 128 and members >> code & 1 else set()
            case Seq(parts):
                reached = {start}
                for part in parts:
                    reached = self._step(part, reached)
                return reached
            case Alt(parts):
                return {end for part in parts for end in self.ends(part, start)}
            case And(parts):
                return frozenset.intersection(*(self.ends(part, start) for part in parts))
            case Not(child):
                return set(range(start, len(text) + 1)) - self.ends(child, start)
            case Repeat(child, low, high):
                return self._repeat(child, low, high, start)
            case NoOccurrence(patterns):
                words = [pattern.decode() for pattern in patterns]
                hits = [
                    text.find(word, start) + len(word) for word in words if word in text[start:]
                ]
                return set(range(start, min(hits, default=len(text) + 1)))
            case Mark(_, child):
                return self.ends(child, start)
            case _:
                raise UndecidedError(type(node).__name__)

    def _step(self, child: Ref, places: set[int]) -> set[int]:
        return {end for place in places for end in self.ends(child, place)}

    def _repeat(self, child: Ref, low: int, high: int | None, start: int) -> set[int]:
        places = {start}
        for _ in range(low):
            following = self._step(child, places)
            if following == places or not following:
                places = following
                break
            places = following
        reached = set(places)
        rest = None if high is None else high - low
        while places and (rest is None or rest > 0):
            places = self._step(child, places) - reached
            reached |= places
            rest = None if rest is None else rest - 1
        return reached
