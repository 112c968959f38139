"""Lowers array facts: a tuple of first items, then all others, with counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from structag.grammar.builder import MAX_COUNT
from structag.grammar.expressions import Ref
from structag.schema.counted_items import (
    lower_counted_items,
    lower_counted_tuple,
    settle_contains,
)
from structag.schema.distinct_items import lower_distinct_items
from structag.schema.facts import ArrayFacts, item_goal

if TYPE_CHECKING:
    from structag.schema.lower import Lowering


def lower_array(lowering: Lowering, facts: ArrayFacts) -> Ref:
    """The texts of the arrays that satisfy `facts`."""
    builder = lowering.builder
    if facts.contains:
        settled = settle_contains(lowering.expander, facts)
        if settled is None:
            return builder.empty
        facts = settled
    if facts.low > MAX_COUNT or (facts.high is not None and facts.low > facts.high):
        return builder.empty
    if facts.unique is not None and (facts.high is None or facts.high > 1):
        return lower_distinct_items(lowering, facts)
    if facts.contains:
        return _containing(lowering, facts)
    prefix: list[Ref] = []
    high = facts.high
    for index in range(len(facts.prefix)):
        ref = lowering.item(item_goal(facts, index)) if high is None or index < high else None
        if ref is None or ref == builder.empty:
            high = index
            break
        prefix.append(ref)
    item = builder.empty
    if high is None or high > len(prefix):
        item = lowering.item(facts.items)
    return array_of(lowering, prefix, item, facts.low, high)


def array_of(lowering: Lowering, prefix: list[Ref], item: Ref, low: int, high: int | None) -> Ref:
    """Arrays of `low` to `high` items: those of `prefix`, then `item`, which may be empty."""
    builder = lowering.builder
    if item == builder.empty:
        high = len(prefix)
    if high is not None and low > high:
        return builder.empty
    return lowering.notation.array(_items(lowering, prefix, item, low, high))


def _items(lowering: Lowering, prefix: list[Ref], item: Ref, low: int, high: int | None) -> Ref:
    builder, comma = lowering.builder, lowering.comma
    if high == 0:
        return builder.epsilon
    size = len(prefix)
    if not prefix:
        most = None if high is None else min(high, MAX_COUNT) - 1
        more = builder.repeat(builder.seq(comma, item), max(low - 1, 0), most)
        some = builder.seq(item, more)
        return some if low else builder.optional(some)
    tail = builder.epsilon
    if item != builder.empty and (high is None or high > size):
        most = None if high is None else min(high, MAX_COUNT) - size
        tail = builder.repeat(builder.seq(comma, item), max(low - size, 0), most)
    first_optional = max(low, 1)
    for index in reversed(range(first_optional, size)):
        tail = builder.optional(builder.seq(comma, prefix[index], tail))
    parts: list[Ref] = [prefix[0]]
    for index in range(1, min(first_optional, size)):
        parts += (comma, prefix[index])
    some = builder.seq(*parts, tail)
    return some if low else builder.optional(some)


def _containing(lowering: Lowering, facts: ArrayFacts) -> Ref:
    """Items counted by whether they satisfy `contains`."""
    if len(facts.contains) > 1:
        return lowering.notation.array(lower_counted_items(lowering, facts))
    if facts.contains[0].low > MAX_COUNT:
        return lowering.builder.empty
    return lowering.notation.array(lower_counted_tuple(lowering, facts))
