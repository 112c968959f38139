"""The normal form: what a schema allows, type by type, as a union of plain conjunctions.

`Forms` has one list of alternatives per JSON type.  Types are disjoint, so two forms intersect type
by type, and a union is a concatenation.  Inside, values of members and items are *goals*: tuples of
schema nodes that all must hold, not looked into before they are lowered; ``()`` is any value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple, TypeAlias, TypeVar

from structag.grammar.expressions import Ref
from structag.schema.document import Node

Goal: TypeAlias = tuple[Node, ...]
MAX_ALTERNATIVES = 256
MAX_PRODUCTS = 4096
"""Pairs of alternatives that one intersection looks at."""
SHORTENED_FROM = 8
"""Alternatives from which on it pays to look for some that others include."""
Fact = TypeVar("Fact", bound=NamedTuple)


class StringFacts(NamedTuple):
    """A string of `low` to `high` characters in every one of `patterns` (decoded text)."""

    low: int = 0
    high: int | None = None
    patterns: tuple[Ref, ...] = ()
    values: frozenset[str] | None = None
    banned: frozenset[str] = frozenset()


class NumberFacts(NamedTuple):
    """A number in an interval; `is_integer` None = either.

    All of `factors` must divide it, and none of `not_factors`.
    """

    low: Decimal | None = None
    low_open: bool = False
    high: Decimal | None = None
    high_open: bool = False
    is_integer: bool | None = None
    factors: tuple[Decimal, ...] = ()
    values: frozenset[Decimal] | None = None
    banned: frozenset[Decimal] = frozenset()
    not_factors: tuple[Decimal, ...] = ()


class Contains(NamedTuple):
    """`low` to `high` items that satisfy `goal`, and count as evaluated if it `evaluates`."""

    goal: Goal
    low: int
    high: int | None
    node: Node
    evaluates: bool = False


class ArrayFacts(NamedTuple):
    """An array: the first items as `prefix`, all others as `items`.

    `evaluated` is the number of items that `unevaluatedItems` leaves alone, None = all.
    """

    prefix: tuple[Goal, ...] = ()
    items: Goal = ()
    low: int = 0
    high: int | None = None
    contains: tuple[Contains, ...] = ()
    unique: Node | None = None
    evaluated: int | None = 0


class Members(NamedTuple):
    """What one schema says of the members of an object.

    A name in `properties` has that goal; one that is in patterns has theirs too; any other has
    `additional`.  `evaluates` is ``all``, ``named`` (the names and patterns) or ``none``, for
    `unevaluatedProperties`.
    """

    properties: Mapping[str, Goal]
    patterns: tuple[tuple[Ref, Goal], ...]
    additional: Goal
    node: Node
    evaluates: str = "none"


class Witness(NamedTuple):
    """At least one member whose name is in `names` and whose value satisfies `goal`.

    It fails what `node` has under `keyword`.  `is_named`: its name is one of the declared ones.
    """

    names: Ref
    goal: Goal
    node: Node
    keyword: str
    is_named: bool = False


class ObjectFacts(NamedTuple):
    """An object that satisfies every one of `members`.

    `forbidden` names have no member; `demands` are what the values of some of the `required`
    members must satisfy as well, without counting as evaluated.
    """

    members: tuple[Members, ...] = ()
    required: tuple[str, ...] = ()
    low: int = 0
    high: int | None = None
    names: tuple[Goal, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    forbidden: tuple[str, ...] = ()
    demands: tuple[tuple[str, Goal], ...] = ()


NUMBERS, STRINGS, ARRAYS, OBJECTS, OTHERS = 1, 2, 4, 8, 16
ALL_TYPES = 31


class Forms(NamedTuple):
    """The alternatives of each type; `booleans` holds bit 0 for false and bit 1 for true.

    `partial` has the bits of the types that lack some of the values that the schema allows.  That
    is sound for what is generated; but nothing follows from such a form being empty.
    """

    null: bool
    booleans: int
    numbers: tuple[NumberFacts, ...]
    strings: tuple[StringFacts, ...]
    arrays: tuple[ArrayFacts, ...]
    objects: tuple[ObjectFacts, ...]
    partial: int = 0


ANY = Forms(True, 3, (NumberFacts(),), (StringFacts(),), (ArrayFacts(),), (ObjectFacts(),))
NONE = Forms(False, 0, (), (), (), ())


def unite(parts: Iterable[Forms]) -> Forms:
    """The values that any of the parts allows."""
    null, booleans, partial = False, 0, 0
    numbers: dict[NumberFacts, None] = {}
    strings: dict[StringFacts, None] = {}
    arrays: dict[int, ArrayFacts] = {}
    objects: dict[int, ObjectFacts] = {}
    for part in parts:
        null |= part.null
        booleans |= part.booleans
        partial |= part.partial
        numbers.update(dict.fromkeys(part.numbers))
        strings.update(dict.fromkeys(part.strings))
        arrays.update((id(fact), fact) for fact in part.arrays)
        objects.update((id(fact), fact) for fact in part.objects)
    return Forms(
        null,
        booleans,
        tuple(numbers),
        tuple(strings),
        tuple(arrays.values()),
        tuple(objects.values()),
        partial,
    )


def intersect(
    left: Forms,
    right: Forms,
    dropped: Callable[[], None] | None = None,
    shortened: Callable[[list[ObjectFacts], int], list[ObjectFacts]] | None = None,
    limit: int = MAX_ALTERNATIVES,
) -> Forms:
    """The values that both allow.

    If a type has over `limit` alternatives, those above are left out, the type becomes partial, and
    `dropped` is called.  `shortened` may make fewer out of many alternatives before that.
    """
    if left is ANY:
        return right
    if right is ANY:
        return left
    cut = _Cut(limit)
    both = Forms(
        left.null and right.null,
        left.booleans & right.booleans,
        _pairs(left.numbers, right.numbers, ANY.numbers, both_numbers, NUMBERS, cut),
        _pairs(left.strings, right.strings, ANY.strings, both_strings, STRINGS, cut),
        _pairs(left.arrays, right.arrays, ANY.arrays, both_arrays, ARRAYS, cut),
        _pairs(left.objects, right.objects, ANY.objects, both_objects, OBJECTS, cut, shortened),
    )
    if cut.kinds and dropped is not None:
        dropped()
    partial = cut.kinds
    if left.partial or right.partial:
        partial |= left.partial & kinds(right) | right.partial & kinds(left)
    return both._replace(partial=partial) if partial else both


class _Cut:
    """Limits the alternatives of an intersection; `kinds` has the types that were cut."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.kinds = 0


def kinds(forms: Forms) -> int:
    """The types of which a form has some values, or lacks some."""
    kinds = NUMBERS * bool(forms.numbers) | STRINGS * bool(forms.strings)
    kinds |= OTHERS * bool(forms.null or forms.booleans)
    return kinds | ARRAYS * bool(forms.arrays) | OBJECTS * bool(forms.objects) | forms.partial


def _pairs(
    left: tuple[Fact, ...],
    right: tuple[Fact, ...],
    free: tuple[Fact, ...],
    both: Callable[[Fact, Fact], Fact | None],
    kind: int,
    cut: _Cut,
    shortened: Callable[[list[Fact], int], list[Fact]] | None = None,
) -> tuple[Fact, ...]:
    if left is free or left == right:
        return right
    if right is free:
        return left
    found: list[Fact] = []
    is_cut = False
    try:
        for fact in pairs(left, right, free, both):
            found.append(fact)
    except TooManyPairsError:
        is_cut = True
    if shortened is not None and len(found) >= SHORTENED_FROM:
        found = shortened(found, cut.limit)
    if is_cut or len(found) > cut.limit:
        cut.kinds |= kind
        del found[cut.limit :]
    return tuple(found)


class TooManyPairsError(Exception):
    """There are over `MAX_PRODUCTS` pairs of alternatives."""


def pairs(
    left: tuple[Fact, ...],
    right: tuple[Fact, ...],
    free: tuple[Fact, ...],
    both: Callable[[Fact, Fact], Fact | None],
) -> Iterator[Fact]:
    """What every pair of alternatives has in common, where that is something.

    Raises:
        TooManyPairsError: in the end, if there are too many.
    """
    if left is free or right is free or left == right:
        yield from right if left is free else left
        return
    tries = 0
    for a in left:
        for b in right:
            tries += 1
            if tries > MAX_PRODUCTS:
                raise TooManyPairsError
            fact = both(a, b)
            if fact is not None:
                yield fact


def least(left: int | None, right: int | None) -> int | None:
    """The smaller upper bound; None is no bound."""
    return right if left is None else left if right is None else min(left, right)


def both_strings(a: StringFacts, b: StringFacts) -> StringFacts | None:
    """The strings that both allow; None if there are none."""
    low, high = max(a.low, b.low), least(a.high, b.high)
    banned = a.banned | b.banned
    values = _common(a.values, b.values)
    if values is not None:
        values = frozenset(v for v in values - banned if low <= len(v) and _within(len(v), high))
        if not values:
            return None
    if high is not None and low > high:
        return None
    return StringFacts(low, high, joined(a.patterns, b.patterns), values, banned)


def _within(value: int, high: int | None) -> bool:
    return high is None or value <= high


T = TypeVar("T")


def _common(left: frozenset[T] | None, right: frozenset[T] | None) -> frozenset[T] | None:
    return right if left is None else left if right is None else left & right


def joined(left: tuple[T, ...], right: tuple[T, ...]) -> tuple[T, ...]:
    """The items of both, each once, in order."""
    if not right:
        return left
    return tuple(dict.fromkeys(left + right)) if left else right


def both_numbers(a: NumberFacts, b: NumberFacts) -> NumberFacts | None:
    """The numbers that both allow; None if there are none."""
    if a.is_integer is not None and b.is_integer is not None and a.is_integer != b.is_integer:
        return None
    factors, not_factors = joined(a.factors, b.factors), joined(a.not_factors, b.not_factors)
    if any(divides(other, factor) for other in not_factors for factor in factors):
        return None
    low, low_open = _higher(a.low, a.low_open, b.low, b.low_open, 1)
    high, high_open = _higher(a.high, a.high_open, b.high, b.high_open, -1)
    both = NumberFacts(
        low,
        low_open,
        high,
        high_open,
        b.is_integer if a.is_integer is None else a.is_integer,
        _without_implied(factors, False),
        _common(a.values, b.values),
        a.banned | b.banned,
        _without_implied(not_factors, True),
    )
    if both.values is not None:
        kept = frozenset(value for value in both.values if number_fits(value, both))
        return both._replace(values=kept) if kept else None
    if low is None or high is None or low < high:
        return both
    return None if low > high or low_open or high_open else both


def _without_implied(factors: tuple[Decimal, ...], negated: bool) -> tuple[Decimal, ...]:
    """Only the factors that say something: 15 says 3, and not 3 says not 15."""
    if len(factors) < 2:
        return factors
    return tuple(
        one
        for one in factors
        if not any(
            other != one and (divides(other, one) if negated else divides(one, other))
            for other in factors
        )
    )


def _higher(
    a: Decimal | None, a_open: bool, b: Decimal | None, b_open: bool, sign: int
) -> tuple[Decimal | None, bool]:
    if a is None or (b is not None and (b > a if sign > 0 else b < a)):
        return b, b_open
    if b is None or a != b:
        return a, a_open
    return a, a_open or b_open


def number_fits(value: Decimal, facts: NumberFacts) -> bool:
    """Whether a number satisfies everything but `values`."""
    if facts.low is not None and (value < facts.low or (facts.low_open and value == facts.low)):
        return False
    if facts.high is not None and (value > facts.high or (facts.high_open and value == facts.high)):
        return False
    if facts.is_integer is not None and (value == value.to_integral_value()) != facts.is_integer:
        return False
    if value in facts.banned or any(divides(factor, value) for factor in facts.not_factors):
        return False
    return all(divides(factor, value) for factor in facts.factors)


def divides(factor: Decimal, value: Decimal) -> bool:
    """Whether `value` is a multiple of `factor`, exactly."""
    numerator, denominator = value.as_integer_ratio()
    top, bottom = factor.as_integer_ratio()
    return numerator * bottom % (denominator * top) == 0


def both_arrays(a: ArrayFacts, b: ArrayFacts) -> ArrayFacts | None:
    """The arrays that both allow; None if there certainly are none."""
    low, high = max(a.low, b.low), least(a.high, b.high)
    if high is not None and low > high:
        return None
    size = max(len(a.prefix), len(b.prefix))
    prefix = tuple(joined(item_goal(a, i), item_goal(b, i)) for i in range(size))
    return ArrayFacts(
        prefix,
        joined(a.items, b.items),
        low,
        high,
        joined(a.contains, b.contains),
        a.unique or b.unique,
        None if a.evaluated is None or b.evaluated is None else max(a.evaluated, b.evaluated),
    )


def item_goal(facts: ArrayFacts, index: int) -> Goal:
    """The goal of the item at `index`."""
    return facts.prefix[index] if index < len(facts.prefix) else facts.items


def both_objects(a: ObjectFacts, b: ObjectFacts) -> ObjectFacts | None:
    """The objects that both allow; None if there certainly are none."""
    low, high = max(a.low, b.low), least(a.high, b.high)
    if high is not None and low > high:
        return None
    required = joined(a.required, b.required)
    forbidden = joined(a.forbidden, b.forbidden)
    if forbidden and not set(forbidden).isdisjoint(required):
        return None
    return ObjectFacts(
        _all_members(a.members, b.members),
        required,
        low,
        high,
        joined(a.names, b.names),
        joined(a.witnesses, b.witnesses),
        forbidden,
        joined(a.demands, b.demands),
    )


def _all_members(left: tuple[Members, ...], right: tuple[Members, ...]) -> tuple[Members, ...]:
    """The members of both, each once by identity: what they hold cannot be hashed."""
    if not right or left is right:
        return left
    known = set(map(id, left))
    more = [members for members in right if id(members) not in known]
    return (*left, *more) if more else left


Container = TypeVar("Container", ArrayFacts, ObjectFacts)


def none_or_some(alternatives: tuple[Container, ...]) -> tuple[Container, ...]:
    """The same containers, each alternative either without members or items, or with some."""
    found: list[Container] = []
    for fact in alternatives:
        if fact.low == 0:
            found.append(fact._replace(high=0))
            fact = fact._replace(low=1)
        if fact.high != 0:
            found.append(fact)
    return tuple(found)
