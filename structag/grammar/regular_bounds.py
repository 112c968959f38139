"""A regular language inside of a grammar's, and one around it; often both are the language itself.

Rules that are not recursive are put in place of their names, free text with triggers and lists in
any order are said with sequences, unions and intersections.  Recursion is followed to a depth; what
lies deeper is left out from the inner bound, and anything at all in the outer one.  Only texts
count: a token that is read by its id is part of none, and token budgets count no text.
"""

from __future__ import annotations

from typing import NamedTuple

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Budget,
    Distinct,
    Grammar,
    Mark,
    Node,
    Ref,
    Rule,
    Scan,
    Tally,
    Tokens,
    Unordered,
    children,
)
from structag.grammar.least_lengths import has_keys
from structag.grammar.left_recursion import strongly_connected
from structag.grammar.transplant import rebuild

_MOST_MEMBERS = 6
"""Members of a list in any order that are followed through all orders."""


class Bounds(NamedTuple):
    """Two expressions of a builder.

    Attributes:
        inner: what certainly belongs to the language.
        outer: what perhaps belongs to it.
        is_exact: whether both are the language.
        reads_tokens: whether some outputs are no texts, and count in neither.
    """

    inner: Ref
    outer: Ref
    is_exact: bool
    reads_tokens: bool


def regular_bounds(builder: GrammarBuilder, grammar: Grammar, depth: int) -> Bounds:
    """The bounds of `grammar`, recursion followed to `depth`, in `builder`."""
    inner = _Bound(builder, grammar, depth, is_inner=True)
    outer = _Bound(builder, grammar, depth, is_inner=False)
    refs = inner.ref(), outer.ref()
    return Bounds(*refs, inner.is_exact, inner.reads_tokens)


class _Bound:
    """One of the two bounds of a grammar; used once."""

    def __init__(
        self, builder: GrammarBuilder, grammar: Grammar, depth: int, *, is_inner: bool
    ) -> None:
        self._builder = builder
        self._grammar = grammar
        self._is_inner = is_inner
        self.is_exact = True
        self.reads_tokens = False
        components = strongly_connected([grammar.root], self._parts)
        self._recursive = frozenset(ref for group in components for ref in group if len(group) > 1)
        self._order = [ref for group in components for ref in sorted(group)]
        self._levels: list[dict[Ref, Ref]] = []
        while len(self._levels) < (depth + 1 if self._recursive else 1):
            self._add_level()

    def ref(self) -> Ref:
        """The expression."""
        return self._levels[-1][self._grammar.root]

    def _parts(self, ref: Ref) -> tuple[Ref, ...]:
        node = self._grammar.nodes[ref]
        return (self._grammar.rules[node.index][1],) if isinstance(node, Rule) else children(node)

    def _add_level(self) -> None:
        """The expressions again, one round of recursion deeper."""
        places: dict[Ref, Ref] = {}
        deeper = self._levels[-1] if self._levels else None
        for ref in self._order:
            node = self._grammar.nodes[ref]
            if isinstance(node, Rule):
                body = self._grammar.rules[node.index][1]
                if ref not in self._recursive:
                    places[ref] = places[body]
                elif deeper is None:
                    places[ref] = self._unknown()
                else:
                    places[ref] = deeper[body]
            else:
                places[ref] = self._copy(node, tuple(places[part] for part in children(node)))
        self._levels.append(places)

    def _unknown(self) -> Ref:
        self.is_exact = False
        builder = self._builder
        return builder.empty if self._is_inner else builder.repeat(builder.bytes(range(256)), 0)

    def _copy(self, node: Node, refs: tuple[Ref, ...]) -> Ref:
        match node:
            case Mark() | Budget():
                return refs[0]
            case Tokens():
                self.reads_tokens = True
                return self._builder.empty
            case Scan():
                return self._scan(node, refs)
            case Unordered():
                return self._unordered(node, refs)
            case Tally():
                return self._tally(node, refs)
            case Distinct(codec):  # what it says of its list is no regular matter
                return refs[0] if codec is None else self._builder.encoded(codec, refs[0])
            case _:
                return rebuild(self._builder, node, refs, [])

    def _scan(self, node: Scan, refs: tuple[Ref, ...]) -> Ref:
        """Text that ends with a trigger and holds no other, nor an exclude; then its case."""
        builder = self._builder
        triggers = [trigger for trigger, _ in node.cases]
        before_end = builder.seq(builder.no_occurrence(triggers), builder.any_char)
        free = builder.both(before_end, builder.no_occurrence(node.excludes))
        options = []
        for trigger, ref in zip(triggers, refs, strict=True):
            ends = builder.seq(builder.any_text, builder.literal(trigger))
            options.append(builder.seq(builder.both(free, ends), ref))
        return builder.alt(*options)

    def _unordered(self, node: Unordered, refs: tuple[Ref, ...]) -> Ref:
        """All orders of few members, set by set; of many, the given one or any with repeats."""
        builder = self._builder
        separator, rest = refs[-1], None if node.rest is None else refs[-2]
        count = len(node.members)
        if count > _MOST_MEMBERS and not self._is_inner:
            self.is_exact = False
            item = builder.alt(*refs[:count], *([] if rest is None else [rest]))
            return builder.optional(_listed(builder, item, separator, 0, None))
        if count > _MOST_MEMBERS:
            self.is_exact = False
        tails: dict[frozenset[int], Ref] = {}

        def after(left: frozenset[int], is_start: bool) -> Ref:
            """What may follow while the members `left` are still to come."""
            nexts = sorted(left) if count <= _MOST_MEMBERS else _up_to_required(node, left)
            options = [
                builder.seq(refs[i], tail(frozenset(j for j in left if j != i) - _before(i)))
                for i in nexts
            ]
            if is_start and rest is not None:
                options.append(builder.seq(rest, tail(left)))
            return builder.alt(*options)

        def _before(i: int) -> frozenset[int]:
            return frozenset(range(i)) if count > _MOST_MEMBERS else frozenset()

        def tail(left: frozenset[int]) -> Ref:
            if left not in tails:
                more = after(left, False)
                ends = not any(node.members[i][1] for i in left)
                following = builder.seq(separator, more)
                body = builder.optional(following) if ends else following
                if rest is not None:
                    body = builder.seq(builder.repeat(builder.seq(separator, rest), 0), body)
                tails[left] = body
            return tails[left]

        whole = after(frozenset(range(count)), True)
        required = any(need for _, need in node.members)
        return whole if required else builder.optional(whole)

    def _tally(self, node: Tally, refs: tuple[Ref, ...]) -> Ref:
        builder = self._builder
        separator = refs[-1]
        if has_keys(self._grammar, node):
            return self._tally_with_keys(node, refs)
        if len(node.kinds) == 1:
            _, least, most = node.kinds[0]
            low = max(least, node.min)
            high = min((n for n in (most, node.max) if n is not None), default=None)
            return _listed(builder, refs[0], separator, low, high)
        fixed = [
            ref for ref, (_, least, _) in zip(refs, node.kinds, strict=False) for _ in range(least)
        ]
        if all(least == 0 and most is None for _, least, most in node.kinds):
            return _listed(builder, builder.alt(*refs[:-1]), separator, node.min, node.max)
        self.is_exact = False
        if not self._is_inner:
            low = max(node.min, len(fixed))
            return _listed(builder, builder.alt(*refs[:-1]), separator, low, node.max)
        if len(fixed) < node.min or (node.max is not None and len(fixed) > node.max):
            return builder.empty
        return builder.seq(*[part for ref in fixed for part in (separator, ref)][1:])

    def _tally_with_keys(self, node: Tally, refs: tuple[Ref, ...]) -> Ref:
        """Lists whose items differ: those of one item, or any."""
        builder = self._builder
        self.is_exact = False
        if not self._is_inner:
            item = builder.alt(*refs[:-1])
            return _listed(builder, item, refs[-1], node.min, node.max)
        least = sum(low for _, low, _ in node.kinds)
        if max(node.min, least) > 1:
            return builder.empty
        ones = [
            ref
            for ref, (_, low, high) in zip(refs, node.kinds, strict=False)
            if high != 0 and low == least
        ]
        one = builder.alt(*ones)
        return one if max(node.min, least) else builder.optional(one)


def _up_to_required(node: Unordered, left: frozenset[int]) -> list[int]:
    """In the given order: the members of `left` that may come next."""
    found = []
    for i in sorted(left):
        found.append(i)
        if node.members[i][1]:
            break
    return found


def _listed(builder: GrammarBuilder, item: Ref, separator: Ref, low: int, high: int | None) -> Ref:
    if high is not None and (high < low or high == 0):
        return builder.epsilon if low == 0 else builder.empty
    more = builder.repeat(
        builder.seq(separator, item), max(0, low - 1), None if high is None else high - 1
    )
    whole = builder.seq(item, more)
    return builder.optional(whole) if low == 0 else whole
