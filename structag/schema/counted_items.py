"""Lowers arrays whose items are counted by `contains`.

Every item is told by which of the schemas in `contains` it satisfies.  If there is only one of
them, only the places of a tuple are told apart, and a `Tally` counts the items behind it.  With
several, a state is the number of items and of hits so far, each up to where more makes no
difference; from a state the array goes on with an item of one kind.  No path comes back to a state
but by repeating it, so the states, the last ones first, become plain expressions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from structag.grammar.builder import MAX_COUNT
from structag.grammar.expressions import Ref
from structag.schema.document import unsupported
from structag.schema.facts import ArrayFacts, Contains, item_goal, joined, least
from structag.schema.overlap import goal_is_empty

if TYPE_CHECKING:
    from structag.schema.expand import Expander
    from structag.schema.lower import Lowering

MAX_STEPS = 30_000
"""From a state to the next, by an item of one kind."""
State = tuple[int, ...]
"""The number of items, then the hits of each `contains`."""


class _Kind(NamedTuple):
    """An item at a place, by the `contains` that it satisfies."""

    hits: tuple[int, ...]
    ref: Ref


def settle_contains(expander: Expander, facts: ArrayFacts) -> ArrayFacts | None:
    """`facts` without any `contains` that all items satisfy, or none; None if that is one too few.

    The refusals of lists with different items say that some item is not one of those.
    """
    goals = (facts.items, *facts.prefix)
    left: list[Contains] = []
    for contains in facts.contains:
        if contains.low == 0 and contains.high is None:
            continue
        negation = tuple(node.negation for node in contains.goal)
        if not negation or all(goal_is_empty(expander, joined(g, negation)) for g in goals):
            low, high = max(facts.low, contains.low), least(facts.high, contains.high)
            facts = facts._replace(low=low, high=high)
        elif all(goal_is_empty(expander, joined(g, contains.goal)) for g in goals):
            if contains.low:
                return None
        else:
            left.append(contains)
    return facts._replace(contains=tuple(left))


def lower_counted_tuple(lowering: Lowering, facts: ArrayFacts) -> Ref:
    """What stands between the brackets of the arrays of `facts`, which has one `contains`."""
    builder, size = lowering.builder, len(facts.prefix)
    (contains,) = facts.contains
    most = size if contains.high is None else min(size, contains.high)
    rest = {hits: _behind_tuple(lowering, facts, hits) for hits in range(most + 1)}
    for place in reversed(range(size)):
        kinds = _kinds(lowering, facts, [contains], place)
        if facts.high is not None and place >= facts.high:
            kinds = []
        now: dict[int, Ref] = {}
        for hits in range(min(place, most) + 1):
            ways = [builder.epsilon] if place >= facts.low and hits >= contains.low else []
            for kind in kinds:
                following = rest.get(hits + kind.hits[0], builder.empty)
                comma = lowering.comma if place else builder.epsilon
                ways.append(builder.seq(comma, kind.ref, following))
            now[hits] = builder.alt(*ways)
        rest = now
    return rest[0]


def _behind_tuple(lowering: Lowering, facts: ArrayFacts, hits: int) -> Ref:
    """What may follow the whole tuple that has so many hits, with the comma before it."""
    builder, size = lowering.builder, len(facts.prefix)
    (contains,) = facts.contains
    low = max(facts.low - size, 0)
    high = None if facts.high is None else min(max(facts.high - size, 0), MAX_COUNT)
    most_hits = None if contains.high is None else min(contains.high - hits, MAX_COUNT)
    counts = {1: (max(contains.low - hits, 0), most_hits), 0: (0, None)}
    kinds = [
        (kind.ref, *counts[kind.hits[0]]) for kind in _kinds(lowering, facts, [contains], size)
    ]
    if counts[1][0] and not any(kind[1] for kind in kinds):
        return builder.empty
    if not size:
        return builder.tally(kinds, low, high, lowering.comma)
    some = builder.tally(kinds, max(low, 1), high, lowering.comma)
    some = builder.seq(lowering.comma, some)
    return some if low or counts[1][0] else builder.optional(some)


def lower_counted_items(lowering: Lowering, facts: ArrayFacts) -> Ref:
    """What stands between the brackets of the arrays that satisfy `facts`.

    Raises:
        UnsupportedError: `schema-keyword`, the counts are too large or too many.
    """
    builder = lowering.builder
    counted = [c for c in facts.contains if c.low or c.high is not None]
    last = max(len(facts.prefix), facts.low, facts.high or 0, 1)
    caps = [max(c.low, -1 if c.high is None else c.high) for c in counted]
    size = last + 1
    for cap in caps:
        size *= cap + 1
    if size << len(counted) > MAX_STEPS:
        raise unsupported(
            facts.contains[0].node, "contains", "with so many counts it is not supported"
        )
    kinds = [_kinds(lowering, facts, counted, place) for place in range(len(facts.prefix) + 1)]
    start: State = (0,) * (len(counted) + 1)
    refs: dict[State, Ref] = {}
    for state in sorted(_reachable(start, facts, counted, caps, last, kinds), reverse=True):
        loops: list[Ref] = []
        ways: list[Ref] = []
        count = state[0]
        if count >= facts.low and all(
            hits >= c.low for hits, c in zip(state[1:], counted, strict=True)
        ):
            ways.append(builder.epsilon)
        for kind in kinds[min(count, len(facts.prefix))]:
            following = _next(state, kind.hits, facts, counted, caps, last)
            if following is None:
                continue
            item = builder.seq(lowering.comma, kind.ref) if count else kind.ref
            if following == state:
                loops.append(item)
            else:
                ways.append(builder.seq(item, refs[following]))
        rest = builder.alt(*ways)
        if loops:
            rest = builder.seq(builder.repeat(builder.alt(*loops), 0), rest)
        refs[state] = rest
    return refs[start]


def _kinds(
    lowering: Lowering, facts: ArrayFacts, counted: list[Contains], place: int
) -> list[_Kind]:
    found: list[_Kind] = []
    for choice in range(1 << len(counted)):
        hits = tuple(choice >> index & 1 for index in range(len(counted)))
        goal = item_goal(facts, place)
        is_possible = True
        for hit, contains in zip(hits, counted, strict=True):
            if hit:
                goal = joined(goal, contains.goal)
            elif contains.goal:
                goal = joined(goal, (contains.goal[0].negation,))
            else:
                is_possible = False  # every item satisfies it
        if is_possible and (ref := lowering.item(goal)) != lowering.builder.empty:
            found.append(_Kind(hits, ref))
    return found


def _next(
    state: State,
    hits: tuple[int, ...],
    facts: ArrayFacts,
    counted: list[Contains],
    caps: list[int],
    last: int,
) -> State | None:
    """The state after one more item; None if that is one too many."""
    if facts.high is not None and state[0] >= facts.high:
        return None
    counts = [min(state[0] + 1, last)]
    for before, hit, contains, cap in zip(state[1:], hits, counted, caps, strict=True):
        if hit and contains.high is not None and before >= contains.high:
            return None
        counts.append(min(before + hit, cap))
    return tuple(counts)


def _reachable(
    start: State,
    facts: ArrayFacts,
    counted: list[Contains],
    caps: list[int],
    last: int,
    kinds: list[list[_Kind]],
) -> set[State]:
    found = {start}
    todo = [start]
    while todo:
        state = todo.pop()
        for kind in kinds[min(state[0], len(facts.prefix))]:
            following = _next(state, kind.hits, facts, counted, caps, last)
            if following is not None and following not in found:
                found.add(following)
                todo.append(following)
    return found
