"""Lowers array facts: a tuple of first items, then all others, with counts."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from structag.grammar.builder import MAX_COUNT
from structag.grammar.expressions import Ref
from structag.schema.counted_items import lower_counted_items
from structag.schema.document import unsupported
from structag.schema.facts import (
    NONE,
    ArrayFacts,
    Forms,
    NumberFacts,
    StringFacts,
    item_goal,
    joined,
)

if TYPE_CHECKING:
    from structag.schema.lower import Lowering

MAX_KINDS = 500


def lower_array(lowering: Lowering, facts: ArrayFacts) -> Ref:
    """The texts of the arrays that satisfy `facts`."""
    builder = lowering.builder
    if facts.low > MAX_COUNT:
        return builder.empty
    if facts.unique is not None and (facts.high is None or facts.high > 1):
        return _distinct(lowering, facts)
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
    if item == builder.empty:
        high = len(prefix)
    if high is not None and facts.low > high:
        return builder.empty
    inner = _items(lowering, prefix, item, facts.low, high)
    return lowering.notation.array(inner)


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
    builder = lowering.builder
    (contains, *others) = facts.contains
    if others or facts.prefix:
        return lowering.notation.array(lower_counted_items(lowering, facts))
    if contains.low == 0 and contains.high is None:
        return lower_array(lowering, facts._replace(contains=()))
    negation = tuple(inner.negation for inner in contains.goal)
    matching = lowering.item(joined(facts.items, contains.goal))
    other = lowering.item(joined(facts.items, negation)) if negation else builder.empty
    if contains.low > MAX_COUNT:
        return builder.empty
    kinds = [(matching, contains.low, contains.high), (other, 0, None)]
    inner = builder.tally(kinds, facts.low, facts.high, lowering.comma)
    return lowering.notation.array(inner)


def _distinct(lowering: Lowering, facts: ArrayFacts) -> Ref:
    """Distinct items out of a small finite set: each value at most once."""
    builder = lowering.builder
    assert facts.unique is not None
    if facts.prefix or facts.contains:
        raise unsupported(facts.unique, "uniqueItems", "beside a tuple or `contains`")
    kinds = _single_values(lowering.expander.goal(facts.items))
    if kinds is None:
        raise unsupported(
            facts.unique, "uniqueItems", "only items with few possible values are supported"
        )
    counted: list[tuple[Ref, int, int | None]] = []
    for kind in kinds:
        ref = lowering.notation.item(lowering.forms(kind))
        if ref != builder.empty:
            counted.append((ref, 0, 1))
    high = None if facts.high is None else min(facts.high, MAX_COUNT)
    inner = builder.tally(counted, facts.low, high, lowering.comma)
    return lowering.notation.array(inner)


def _single_values(forms: Forms) -> list[Forms] | None:
    """The forms cut into one for each value; None if they are not a small finite set."""
    if forms.arrays or forms.objects:
        return None
    texts: set[str] = set()
    for fact in forms.strings:
        if fact.values is None or fact.patterns:
            return None
        texts |= {text for text in fact.values - fact.banned if _fits(text, fact)}
    numbers: dict[Decimal, bool] = {}
    for number in forms.numbers:
        if number.values is None:
            return None
        for value in number.values:
            numbers[value] = numbers.get(value, True) and number.is_integer is True
    if len(texts) + len(numbers) > MAX_KINDS:
        return None
    kinds = [NONE._replace(strings=(StringFacts(values=frozenset((text,))),)) for text in texts]
    for value, is_integer in numbers.items():
        fact_of = NumberFacts(values=frozenset((value,)), is_integer=is_integer or None)
        kinds.append(NONE._replace(numbers=(fact_of,)))
    if forms.null:
        kinds.append(NONE._replace(null=True))
    kinds += [NONE._replace(booleans=bit) for bit in (1, 2) if forms.booleans & bit]
    return kinds


def _fits(text: str, fact: StringFacts) -> bool:
    return fact.low <= len(text) and (fact.high is None or len(text) <= fact.high)
