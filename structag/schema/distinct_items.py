"""Lowers arrays whose items are pairwise different: `uniqueItems`.

Of a small finite set each value is an item of its own that comes at most once.  Otherwise strings
and numbers are told apart by their values while they are written (`Distinct`), numbers in one
spelling each.  Arrays and objects are not, unless they are constants.  In a tuple either the types
of all places are different, or the values are few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from structag.errors import UnsupportedError
from structag.grammar.builder import MAX_COUNT
from structag.grammar.expressions import Ref
from structag.schema.document import unsupported
from structag.schema.facts import (
    NONE,
    ArrayFacts,
    Contains,
    Forms,
    Goal,
    Members,
    NumberFacts,
    ObjectFacts,
    StringFacts,
    item_goal,
    joined,
    kinds,
)
from structag.schema.strings import decoded

if TYPE_CHECKING:
    from structag.schema.lower import Lowering

MAX_VALUES = 500
MAX_CHOICES = 500
"""Of values for the places of a tuple."""
Key: TypeAlias = tuple[str, object]
"""A value, such that equal ones are equal: its type and what it is."""
Kind: TypeAlias = tuple[Ref, int, int | None]
"""A kind of item and how many of them there may be, as for a `Tally`."""


def lower_distinct_items(lowering: Lowering, facts: ArrayFacts) -> Ref:
    """The arrays of `facts`, which asks that no two items are equal.

    Raises:
        UnsupportedError: `schema-keyword`, items are possible that cannot be told apart here.
    """
    counted = tuple(c for c in facts.contains if c.low or c.high is not None)
    if counted and (len(counted) > 1 or facts.prefix):
        raise _refused(facts, "beside `contains` only without a tuple, and beside one of them")
    if facts.high is not None and facts.high <= len(facts.prefix):
        facts = facts._replace(prefix=facts.prefix[: facts.high])
    if not facts.prefix:
        inner = _list(lowering, facts, counted, facts.low, facts.high)
    elif _have_different_types(lowering, facts):
        inner = _tuple_of_types(lowering, facts)
    else:
        inner = _TupleOfValues(lowering, facts).lower()
    return lowering.notation.array(inner)


def _refused(facts: ArrayFacts, reason: str) -> UnsupportedError:
    assert facts.unique is not None
    return unsupported(facts.unique, "uniqueItems", reason)


def _list(
    lowering: Lowering,
    facts: ArrayFacts,
    counted: tuple[Contains, ...],
    low: int,
    high: int | None,
) -> Ref:
    """`low` to `high` different items, the commas between them."""
    found: list[Kind] = []
    if counted:
        (contains,) = counted
        if contains.low > MAX_COUNT:
            return lowering.builder.empty
        found += _kinds(lowering, facts, joined(facts.items, contains.goal), contains)
        if contains.goal:
            negation = tuple(inner.negation for inner in contains.goal)
            found += _kinds(lowering, facts, joined(facts.items, negation))
    else:
        found += _kinds(lowering, facts, facts.items)
    most = None if high is None else min(high, MAX_COUNT)
    return lowering.builder.tally(found, low, most, lowering.comma)


def _kinds(
    lowering: Lowering, facts: ArrayFacts, goal: Goal, contains: Contains | None = None
) -> list[Kind]:
    """The items that satisfy `goal`: a kind for each value, or one for all of them."""
    low, high = (contains.low, contains.high) if contains else (0, None)
    forms = lowering.expander.goal(goal)
    values = values_of(lowering, forms)
    if values is not None and len(values) == 1 and (high is None or high > 0):
        return [(_item(lowering, forms), low, 1) for forms in values.values()]
    if values is not None and low == 0 and high is None:
        return [(_item(lowering, forms), 0, 1) for forms in values.values()]
    return [(lowering.builder.alt(*_ways(lowering, facts, forms, goal)), low, high)]


def _item(lowering: Lowering, forms: Forms) -> Ref:
    return lowering.notation.item(lowering.inner.forms(forms))


def _ways(lowering: Lowering, facts: ArrayFacts, forms: Forms, goal: Goal) -> list[Ref]:
    """The items of a form, with keys: one way to write each type."""
    builder, notation = lowering.builder, lowering.notation
    if forms.arrays or forms.objects:
        raise _refused(facts, "arrays and objects are compared only if they are constants")
    constants = [notation.null] if forms.null else []
    constants += [notation.false] if forms.booleans & 1 else []
    constants += [notation.true] if forms.booleans & 2 else []
    ways = [builder.distinct(None, ref) for ref in constants]
    if forms.numbers:
        texts = builder.alt(*(lowering.number_text(fact, goal) for fact in forms.numbers))
        if not builder.is_regular(texts):
            raise _refused(facts, "multiples with many remainders are not compared")
        shortest = builder.both(texts, lowering.numbers.shortest)
        ways.append(notation.number(builder.distinct(None, shortest)))
        if any(fact.is_integer is not True for fact in forms.numbers) or (
            lowering.options.integer_decimals
        ):
            assert facts.unique is not None
            what = "numbers in another spelling than the shortest one without an exponent"
            lowering.expander.leave_out(facts.unique, "uniqueItems", what)
    if forms.strings:
        texts = builder.alt(*(decoded(builder, fact) for fact in forms.strings))
        way = notation.distinct_string(texts)
        if way is None:
            raise _refused(
                facts, "only items with few possible values can be compared in this style"
            )
        ways.append(way)
    return [notation.item(way) for way in ways if way != builder.empty]


# -- tuples


def _have_different_types(lowering: Lowering, facts: ArrayFacts) -> bool:
    """Whether all places of the tuple, and the items behind it, have types of their own."""
    seen = 0
    for place in range(len(facts.prefix) + 1):
        if facts.high is not None and place >= facts.high:
            break
        forms = lowering.expander.goal(item_goal(facts, place))
        if seen & kinds(forms):
            return False
        seen |= kinds(forms)
    return True


def _tuple_of_types(lowering: Lowering, facts: ArrayFacts) -> Ref:
    """Different items in the places, whatever they are, and a list of others behind them."""
    builder = lowering.builder
    size = len(facts.prefix)
    rest = _behind(lowering, facts, size, frozenset())
    for place in reversed(range(size)):
        item = lowering.item(facts.prefix[place])
        some = builder.seq(lowering.comma, item, rest) if place else builder.seq(item, rest)
        rest = some if place < facts.low else builder.optional(some)
    return rest


def _behind(lowering: Lowering, facts: ArrayFacts, place: int, used: frozenset[Key]) -> Ref:
    """What may follow the whole tuple: nothing, or a comma and different items not yet `used`."""
    builder = lowering.builder
    may_end = place >= facts.low
    if facts.high is not None and place >= facts.high:
        return builder.epsilon if may_end else builder.empty
    high = None if facts.high is None else min(facts.high, MAX_COUNT) - place
    low = max(facts.low - place, 1)
    if used:
        values = values_of(lowering, lowering.expander.goal(facts.items))
        assert values is not None
        left = [(_item(lowering, forms), 0, 1) for key, forms in values.items() if key not in used]
        some = builder.tally(left, low, high, lowering.comma)
    else:
        some = _list(lowering, facts, (), low, high)
    some = builder.seq(lowering.comma, some)
    return builder.optional(some) if may_end else some


class _TupleOfValues:
    """A tuple out of few values: one way for every choice of them."""

    def __init__(self, lowering: Lowering, facts: ArrayFacts) -> None:
        self.lowering = lowering
        self.facts = facts
        self.values: list[dict[Key, Forms]] = []
        for place in range(len(facts.prefix) + 1):
            if facts.high is not None and place >= facts.high:
                break
            values = values_of(lowering, lowering.expander.goal(item_goal(facts, place)))
            if values is None:
                raise _refused(facts, "items of a tuple are compared only if their types differ, "
                               "or if few values are possible")  # fmt: skip
            self.values.append(values)
        self._known: dict[tuple[int, frozenset[Key]], Ref] = {}

    def lower(self) -> Ref:
        return self._from(0, frozenset())

    def _from(self, place: int, used: frozenset[Key]) -> Ref:
        lowering, builder = self.lowering, self.lowering.builder
        if place == len(self.facts.prefix):
            return _behind(lowering, self.facts, place, used)
        known = self._known.get((place, used))
        if known is not None:
            return known
        if len(self._known) >= MAX_CHOICES:
            raise _refused(self.facts, "the values in the places of the tuple are too many")
        ways = [builder.epsilon] if place >= self.facts.low else []
        for key, forms in self.values[place].items():
            if key not in used:
                rest = self._from(place + 1, used | {key})
                item = _item(lowering, forms)
                ways.append(builder.seq(lowering.comma if place else builder.epsilon, item, rest))
        ref = self._known[place, used] = builder.alt(*ways)
        return ref


# -- values


def values_of(lowering: Lowering, forms: Forms) -> dict[Key, Forms] | None:
    """The forms cut into one for each value; None if they are not a small finite set."""
    found: dict[Key, Forms] = {}
    sizes = [len(fact.values or ()) for fact in forms.strings]
    sizes += [len(fact.values or ()) for fact in forms.numbers]
    if max(sizes, default=0) > MAX_VALUES:
        return None
    for fact in forms.strings:
        if fact.values is None or fact.patterns:
            return None
        for text in fact.values - fact.banned:
            if fact.low <= len(text) and (fact.high is None or len(text) <= fact.high):
                one = StringFacts(values=frozenset((text,)))
                found["string", text] = NONE._replace(strings=(one,))
    in_digits: dict[Key, bool] = {}
    for number in forms.numbers:
        if number.values is None:
            return None
        for value in number.values:
            key: Key = ("number", value)
            in_digits[key] = in_digits.get(key, True) and number.is_integer is True
            values = NumberFacts(values=frozenset((value,)), is_integer=in_digits[key] or None)
            found[key] = NONE._replace(numbers=(values,))
    if forms.null:
        found["null", None] = NONE._replace(null=True)
    for bit in (1, 2):
        if forms.booleans & bit:
            found["boolean", bit] = NONE._replace(booleans=bit)
    for array in forms.arrays:
        array_key = _constant_array(lowering, array)
        if array_key is None:
            return None
        found[array_key] = NONE._replace(arrays=(array,))
    for members in forms.objects:
        object_key = _constant_object(lowering, members)
        if object_key is None:
            return None
        found[object_key] = NONE._replace(objects=(members,))
    return found if len(found) <= MAX_VALUES else None


def _only_value(lowering: Lowering, goal: Goal) -> Key | None:
    values = values_of(lowering, lowering.expander.goal(goal)) if goal else None
    return next(iter(values)) if values is not None and len(values) == 1 else None


def _constant_array(lowering: Lowering, facts: ArrayFacts) -> Key | None:
    """The array, if `facts` are those of a constant."""
    size = len(facts.prefix)
    if facts.low != size or facts.high != size or facts.contains or facts.unique:
        return None
    keys = [_only_value(lowering, goal) for goal in facts.prefix]
    return None if None in keys else ("array", tuple(keys))


def _constant_object(lowering: Lowering, facts: ObjectFacts) -> Key | None:
    """The object, if `facts` are those of a constant."""
    if len(facts.members) != 1 or facts != ObjectFacts(facts.members, facts.required):
        return None
    members: Members = facts.members[0]
    is_closed = any(node.value is node.negative for node in members.additional)
    if members.patterns or not is_closed or set(facts.required) != set(members.properties):
        return None
    keys = {name: _only_value(lowering, goal) for name, goal in members.properties.items()}
    return None if None in keys.values() else ("object", frozenset(keys.items()))
