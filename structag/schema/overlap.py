"""Proves that forms are disjoint, where that is easy: types, constants, bounds, required members.

"May overlap" is the safe answer; a wrong "disjoint" would be unsound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from structag.errors import StructagError
from structag.schema.facts import (
    ANY,
    ArrayFacts,
    Forms,
    Goal,
    NumberFacts,
    ObjectFacts,
    StringFacts,
    TooManyPairsError,
    both_arrays,
    both_numbers,
    both_objects,
    both_strings,
    item_goal,
    kinds,
    pairs,
)
from structag.schema.objects import goal_of_name
from structag.text.membership import UndecidedError, belongs

if TYPE_CHECKING:
    from structag.schema.expand import Expander

MAX_DEPTH = 6


def overlaps(expander: Expander, forms: list[Forms]) -> Iterator[list[int]]:
    """For every form, which of the others may have a value in common with it."""
    by_value: dict[object, list[int]] = {}
    values = [_values(form) for form in forms]
    open_ = [index for index, found in enumerate(values) if found is None]
    for index, found in enumerate(values):
        for value in found or ():
            by_value.setdefault(value, []).append(index)
    met: list[set[int]] = [set() for _ in forms]
    for index, form in enumerate(forms):
        found = values[index]
        if found is None:
            near: Iterable[int] = range(index + 1, len(forms))
        else:
            some = {*open_, *(other for value in found for other in by_value[value])}
            near = [other for other in some if other > index]
        for other in near:
            expander.comparisons += 1
            if may_overlap(expander, form, forms[other]):
                met[index].add(other)
                met[other].add(index)
        yield sorted(met[index])


def _values(forms: Forms) -> list[object] | None:
    """The values of a form, if it has only a few scalars; None if not."""
    if forms.arrays or forms.objects or forms.partial:
        return None
    found: list[object] = [None] if forms.null else []
    found += [bool(bit - 1) for bit in (1, 2) if forms.booleans & bit]
    for number in forms.numbers:
        if number.values is None:
            return None
        found += number.values
    for text in forms.strings:
        if text.values is None:
            return None
        found += text.values
    return found


def may_overlap(expander: Expander, left: Forms, right: Forms, depth: int = 0) -> bool:
    """Whether some value may belong to both.

    Pairs of alternatives are looked at one by one, up to the first that may have a value.
    """
    if left is ANY or right is ANY:
        return not is_empty(expander, right if left is ANY else left, depth)
    if (left.null and right.null) or left.booleans & right.booleans:
        return True
    if left.partial & kinds(right) or right.partial & kinds(left):
        return True
    numbers = pairs(left.numbers, right.numbers, ANY.numbers, both_numbers)
    strings = pairs(left.strings, right.strings, ANY.strings, both_strings)
    arrays = pairs(left.arrays, right.arrays, ANY.arrays, both_arrays)
    objects = pairs(left.objects, right.objects, ANY.objects, both_objects)
    try:
        return (
            any(_number_may(fact) for fact in numbers)
            or any(_string_may(expander, fact) for fact in strings)
            or any(_array_may(expander, fact, depth) for fact in arrays)
            or any(_object_may(expander, fact, depth) for fact in objects)
        )
    except TooManyPairsError:
        return True


def is_empty(expander: Expander, forms: Forms, depth: int = 0) -> bool:
    """Whether it is certain that no value belongs to `forms`."""
    if forms.null or forms.booleans or forms.partial:
        return False
    return not (
        any(_number_may(fact) for fact in forms.numbers)
        or any(_string_may(expander, fact) for fact in forms.strings)
        or any(_array_may(expander, fact, depth) for fact in forms.arrays)
        or any(_object_may(expander, fact, depth) for fact in forms.objects)
    )


def goal_is_empty(expander: Expander, goal: Goal, depth: int = 0) -> bool:
    """Whether it is certain that no value satisfies every node of `goal`."""
    if any(node.value is (node.negative) for node in goal):
        return True
    if not goal or depth > MAX_DEPTH:
        return False
    known = expander.emptiness.get((goal, depth))
    if known is None:
        *others, last = goal
        try:
            before, after = expander.goal(tuple(others)), expander.node(last)
            known = not may_overlap(expander, before, after, depth + 1)
        except StructagError:
            known = False  # told when it is lowered
        expander.emptiness[goal, depth] = known
    return known


def _number_may(fact: NumberFacts) -> bool:
    if fact.values is not None:
        return bool(fact.values)
    if fact.low is None or fact.high is None:
        return True
    if fact.is_integer:
        low, high = _integers(fact.low, fact.low_open, 1), _integers(fact.high, fact.high_open, -1)
        return low <= high
    return fact.low < fact.high or (fact.low == fact.high and not (fact.low_open or fact.high_open))


def _integers(bound: Decimal, is_open: bool, step: int) -> int:
    whole = int(bound)
    if whole != bound and (bound > 0) == (step > 0):
        return whole + step
    return whole + step if is_open and whole == bound else whole


def _string_may(expander: Expander, fact: StringFacts) -> bool:
    if fact.values is None:
        return True
    if not fact.patterns or len(fact.values) * len(fact.patterns) > 200:
        return bool(fact.values)
    for value in fact.values:
        try:
            if all(belongs(expander.builder, ref, value) for ref in fact.patterns):
                return True
        except UndecidedError:
            return True
    return False


def _array_may(expander: Expander, fact: ArrayFacts, depth: int) -> bool:
    return not any(
        goal_is_empty(expander, item_goal(fact, index), depth)
        for index in range(min(fact.low, len(fact.prefix) + 1))
    )


def _object_may(expander: Expander, fact: ObjectFacts, depth: int) -> bool:
    if fact.high is not None and len(fact.required) > fact.high:
        return False
    return not any(
        goal_is_empty(expander, goal_of_name(expander, fact, name), depth) for name in fact.required
    )
