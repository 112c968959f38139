"""Lists the texts of a regular expression of a grammar under construction, if they are few."""

from __future__ import annotations

from collections.abc import Iterable

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    And,
    Chars,
    Empty,
    Epsilon,
    Literal,
    Mark,
    Ref,
    Repeat,
    Seq,
)
from structag.text.membership import UndecidedError, belongs

MAX_DEPTH = 50


def few_texts(builder: GrammarBuilder, ref: Ref, most: int) -> frozenset[str] | None:
    """All texts of `ref`; None if they are over `most`, or if that is not easily seen.

    >>> b = GrammarBuilder()
    >>> sorted(few_texts(b, b.seq(b.chars([(97, 98)]), b.optional(b.literal(b"x"))), 9))
    ['a', 'ax', 'b', 'bx']
    """
    try:
        return _texts(builder, ref, most, 0)
    except (_TooManyError, UndecidedError):
        return None


class _TooManyError(Exception):
    pass


def _texts(builder: GrammarBuilder, ref: Ref, most: int, depth: int) -> frozenset[str]:
    def inner(part: Ref) -> frozenset[str]:
        return _texts(builder, part, most, depth + 1)

    if depth > MAX_DEPTH:
        raise _TooManyError
    match builder.node(ref):
        case Empty():
            return frozenset()
        case Epsilon():
            return frozenset(("",))
        case Literal(data):
            return frozenset((data.decode(),))
        case Chars(ranges):
            if sum(high - low + 1 for low, high in ranges) > most:
                raise _TooManyError
            return frozenset(chr(c) for low, high in ranges for c in range(low, high + 1))
        case Seq(parts):
            return _chained(map(inner, parts), most)
        case Alt(parts):
            return _limited(frozenset().union(*map(inner, parts)), most)
        case Repeat(child, low, high):
            if high is None or high > most:
                raise _TooManyError
            texts = inner(child)
            runs = (_chained([texts] * count, most) for count in range(low, high + 1))
            return _limited(frozenset().union(*runs), most)
        case Mark(_, child):
            return inner(child)
        case And(parts):
            for part in parts:
                found = few_texts(builder, part, most)
                if found is not None:
                    others = [other for other in parts if other != part]
                    return frozenset(
                        text for text in found if all(belongs(builder, x, text) for x in others)
                    )
    raise _TooManyError


def _chained(parts: Iterable[frozenset[str]], most: int) -> frozenset[str]:
    texts = frozenset(("",))
    for part in parts:
        if len(texts) * len(part) > most * most:
            raise _TooManyError
        texts = _limited(frozenset(left + right for left in texts for right in part), most)
    return texts


def _limited(texts: frozenset[str], most: int) -> frozenset[str]:
    if len(texts) > most:
        raise _TooManyError
    return texts
