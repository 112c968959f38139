"""Splits the names of members into regions: which patterns match a name, and which do not.

Patterns that certainly have no name in common never meet in a region, so that many patterns make
few regions.  That they have none is shown by listing the words of one of them, or by the fixed
texts that both begin with.
"""

from __future__ import annotations

from typing import NamedTuple

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Literal, Ref, Seq
from structag.text.few_texts import few_texts
from structag.text.membership import UndecidedError, belongs

MAX_REGIONS = 64
_MAX_WORDS = 48


class Region(NamedTuple):
    """The names (decoded) that all patterns in `matched` match, and no other pattern does."""

    matched: frozenset[Ref]
    names: Ref


def split_names(builder: GrammarBuilder, patterns: list[Ref]) -> list[Region] | None:
    """The regions of some distinct patterns; None if they are over `MAX_REGIONS`.

    >>> b = GrammarBuilder()
    >>> words = [b.literal(b"a"), b.literal(b"b")]
    >>> [len(region.matched) for region in split_names(b, words)]
    [0, 1, 1]
    """
    if len(patterns) >= MAX_REGIONS:
        return None
    apart: dict[Ref, set[Ref]] = {pattern: set() for pattern in patterns}
    for index, one in enumerate(patterns):
        for other in patterns[:index]:
            if _are_disjoint(builder, one, other):
                apart[one].add(other)
                apart[other].add(one)
    choices: list[frozenset[Ref]] = [frozenset()]
    for pattern in patterns:
        choices += [c | {pattern} for c in choices if c.isdisjoint(apart[pattern])]
        if len(choices) > MAX_REGIONS:
            return None
    regions: list[Region] = []
    for matched in choices:
        others = [p for p in patterns if p not in matched and matched.isdisjoint(apart[p])]
        parts = [p for p in patterns if p in matched]
        if others:
            parts.append(builder.complement(builder.alt(*others)))
        regions.append(Region(matched, builder.both(*parts) if parts else builder.any_text))
    return regions


def _are_disjoint(builder: GrammarBuilder, one: Ref, other: Ref) -> bool:
    """Whether it is certain that no text belongs to both."""
    first, second = _beginning(builder, one), _beginning(builder, other)
    if not (first.startswith(second) or second.startswith(first)):
        return True
    for finite, any_pattern in ((one, other), (other, one)):
        words = few_texts(builder, finite, _MAX_WORDS)
        if words is not None:
            try:
                return not any(belongs(builder, any_pattern, word) for word in words)
            except UndecidedError:
                return False
    return False


def _beginning(builder: GrammarBuilder, ref: Ref) -> bytes:
    """A fixed text that all texts of an expression begin with."""
    node = builder.node(ref)
    if isinstance(node, Seq):
        node = builder.node(node.parts[0])
    return node.data if isinstance(node, Literal) else b""
