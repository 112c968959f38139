"""How long, at least, what an expression derives is: the way out of every recursion.

A length counts bytes, and one for each token that is read by its id.  With it comes a height, the
least depth of a derivation of that length; a walk that always takes the least of both ends.  What
derives nothing has the length `NEVER`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple, TypeAlias

from structag.grammar.expressions import (
    Alt,
    And,
    Budget,
    Bytes,
    Chars,
    Distinct,
    Encoded,
    Epsilon,
    Erase,
    Grammar,
    Literal,
    Mark,
    Node,
    NoOccurrence,
    Not,
    Ref,
    Repeat,
    Rule,
    Scan,
    Seq,
    Tally,
    Tokens,
    Unordered,
    children,
)
from structag.grammar.write import unmarked

NEVER = 2**40
Least: TypeAlias = tuple[int, int]
"""Length and height."""
LeafLength: TypeAlias = Callable[[Ref, int], int]
"""The length of a leaf's shortest text but so many, or `NEVER`; the more, the longer."""
LEAVES = (And, Not, Encoded, NoOccurrence, Erase, Distinct)
"""What no part of it decides: regular operators; `least_lengths` asks for their lengths."""


def least_lengths(
    grammar: Grammar,
    leaf_length: LeafLength,
    token_ids: Callable[[Tokens], Sequence[int]],
) -> dict[Ref, Least]:
    """The least length and height of every expression that takes part in a derivation.

    Args:
        grammar: the grammar.
        leaf_length: asked for each leaf, and for more than the shortest text of keys.
        token_ids: the tokens that a `Tokens` stands for.
    """
    order = sorted(_taking_part(grammar))
    found: dict[Ref, Least] = {}
    for ref in order:
        node = grammar.nodes[ref]
        if isinstance(node, LEAVES):
            found[ref] = (leaf_length(ref, 0), 0)
        elif isinstance(node, Tokens):
            found[ref] = (1 if token_ids(node) else NEVER, 0)
        else:
            found[ref] = (NEVER, 0)
    order = [ref for ref in order if not isinstance(grammar.nodes[ref], (*LEAVES, Tokens))]
    changed = True
    while changed:  # as often as rules are nested in the shortest derivation
        changed = False
        for ref in order:
            value = _least(grammar, grammar.nodes[ref], found, leaf_length)
            if value < found[ref]:
                found[ref] = value
                changed = True
    return found


def _taking_part(grammar: Grammar) -> set[Ref]:
    seen = {grammar.root}
    pending = [grammar.root]
    while pending:
        node = grammar.nodes[pending.pop()]
        if isinstance(node, LEAVES):
            continue
        parts = (grammar.rules[node.index][1],) if isinstance(node, Rule) else children(node)
        fresh = [part for part in parts if part not in seen]
        seen.update(fresh)
        pending += fresh
    return seen


def _least(grammar: Grammar, node: Node, found: dict[Ref, Least], leaf_length: LeafLength) -> Least:
    match node:
        case Epsilon():
            return 0, 0
        case Literal(data):
            return len(data), 0
        case Bytes(members):
            return (1, 0) if members else (NEVER, 0)
        case Chars(ranges):
            return (len(chr(ranges[0][0]).encode()), 0) if ranges else (NEVER, 0)
        case Seq(parts):
            length = sum(found[part][0] for part in parts)
            return _deeper(length, [found[part] for part in parts])
        case Alt(parts):
            length, height = min(found[part] for part in parts)
            return length, height + 1
        case Repeat(child, low):
            return _deeper(low * found[child][0], [found[child]]) if low else (0, 0)
        case Rule(index):
            length, height = found[grammar.rules[index][1]]
            return length, height + 1
        case Mark(_, child) | Budget(child):
            return found[child]
        case Scan():
            options = [(len(text) + found[ref][0], found[ref][1]) for text, ref in live_cases(node)]
            length, height = min(options, default=(NEVER, 0))
            return length, height + 1
        case Unordered(members, _, separator):
            needed = [found[ref] for ref, need in members if need]
            glue = max(0, len(needed) - 1) * found[separator][0]
            return _deeper(sum(length for length, _ in needed) + glue, needed)
        case Tally():
            items = least_items(grammar, node, found, leaf_length)
            if items is None:
                return NEVER, 0
            glue = max(0, len(items) - 1) * found[node.separator][0]
            return _deeper(sum(item.least[0] for item in items) + glue, [i.least for i in items])
        case _:
            return NEVER, 0


def _deeper(length: int, parts: Sequence[Least]) -> Least:
    return min(length, NEVER), max((height for _, height in parts), default=0) + 1


def live_cases(scan: Scan) -> list[tuple[bytes, Ref]]:
    """The cases whose trigger can complete first: no other ends inside of it, nor an exclude."""
    return [
        (trigger, ref)
        for trigger, ref in scan.cases
        if not any(other in trigger[:-1] for other, _ in scan.cases)
        and not any(exclude in trigger for exclude in scan.excludes)
    ]


class Item(NamedTuple):
    """An item of a counted list: its kind by number, its alternative, and how long that is.

    `place` is how many items with another key of the same alternative come before it; 0 if it has
    none.
    """

    kind: int
    way: Ref
    key: Ref | None
    place: int
    least: Least


def least_items(
    grammar: Grammar, tally: Tally, found: dict[Ref, Least], leaf_length: LeafLength
) -> list[Item] | None:
    """The shortest items that a counted list may consist of; None if there are none."""
    picked: list[Item] = []
    spare: list[tuple[Least, int, int, _Offers]] = []
    for kind, (ref, low, high) in enumerate(tally.kinds):
        offers = _Offers(grammar, kind, ref, found, leaf_length)
        picked += offers.take(low)
        spare.append((offers.next, kind, NEVER if high is None else high - low, offers))
    if len(picked) < sum(low for _, low, _ in tally.kinds):
        return None
    heapify(spare)
    while len(picked) < tally.min and spare:
        least, kind, left, offers = spare[0]
        if least[0] >= NEVER or left == 0:
            heappop(spare)
            continue
        taken = offers.take(min(left, tally.min - len(picked)) if offers.is_endless else 1)
        picked += taken
        heapreplace(spare, (offers.next, kind, left - len(taken), offers))
    is_over = tally.max is not None and len(picked) > tally.max
    return None if is_over or len(picked) < tally.min else picked


class _Offers:
    """The items of one kind, short ones first; of an alternative with a key no text comes again."""

    def __init__(
        self,
        grammar: Grammar,
        kind: int,
        ref: Ref,
        found: dict[Ref, Least],
        leaf_length: LeafLength,
    ) -> None:
        self._kind = kind
        self._ways = ways_of(grammar, ref)
        self._found = found
        self._leaf_length = leaf_length
        self._heap = [(self.least(number, 0), number, 0) for number in range(len(self._ways))]
        heapify(self._heap)

    @property
    def next(self) -> Least:
        """How long the next one is."""
        return self._heap[0][0]

    @property
    def is_endless(self) -> bool:
        """Whether all that follow are like the next one."""
        return self._ways[self._heap[0][1]][1] is None

    def take(self, count: int) -> list[Item]:
        """So many, or fewer if there are no more."""
        items: list[Item] = []
        while len(items) < count and self.next[0] < NEVER:
            least, number, place = self._heap[0]
            item = Item(self._kind, *self._ways[number], place, least)
            if item.key is None:
                return items + [item] * (count - len(items))
            items.append(item)
            heapreplace(self._heap, (self.least(number, place + 1), number, place + 1))
        return items

    def least(self, number: int, place: int) -> Least:
        way, key = self._ways[number]
        return least_of_way(self._found, way, key, place, self._leaf_length)


def least_of_way(
    found: dict[Ref, Least], way: Ref, key: Ref | None, place: int, leaf_length: LeafLength
) -> Least:
    """The least length and height of an item whose key is none of `place` other ones."""
    length, height = found[way]
    if key is not None and length < NEVER:
        length += leaf_length(key, place) - leaf_length(key, 0)
    return min(length, NEVER), height


def ways_of(grammar: Grammar, item: Ref) -> list[tuple[Ref, Ref | None]]:
    """The alternatives of an item of a counted list, with what of each is its key.

    Where none has a key, which of them is taken matters to nobody: then it is `item` as a whole.
    """
    ways: list[tuple[Ref, Ref | None]] = []
    pending = [item]
    while pending:
        way = pending.pop()
        node = grammar.nodes[unmarked(grammar, way)]
        if isinstance(node, Alt):
            pending += reversed(node.parts)
        else:
            parts = parts_of_way(grammar, way)
            keys = (part for part in parts if isinstance(grammar.nodes[part], Distinct))
            ways.append((way, next(keys, None)))
    return ways if any(key is not None for _, key in ways) else [(item, None)]


def has_keys(grammar: Grammar, tally: Tally) -> bool:
    """Whether items of a counted list have to differ."""
    return any(key is not None for ref, _, _ in tally.kinds for _, key in ways_of(grammar, ref))


def parts_of_way(grammar: Grammar, way: Ref) -> list[Ref]:
    """The parts of an alternative, among which is its key."""
    node = grammar.nodes[unmarked(grammar, way)]
    return [unmarked(grammar, part) for part in (node.parts if isinstance(node, Seq) else (way,))]
