"""Regular expressions of the grammar as automata over characters, by derivatives.

The derivative of an expression by a character is what is left of it after that character (J.
Brzozowski, 1964); characters that no part tells apart are one class.  The automaton is made
minimal.  Look-around and escapes are not read here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from structag.errors import LimitError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    MAX_CODE_POINT,
    Alt,
    And,
    Bytes,
    Chars,
    Empty,
    Epsilon,
    Literal,
    Mark,
    Node,
    NoOccurrence,
    Not,
    Ref,
    Repeat,
    Seq,
    children,
)
from structag.grammar.transplant import rebuild
from structag.grammar.utf8 import byte_ranges
from structag.text import charset
from structag.text.charset import CharSet

MAX_STATES = 5_000
"""States of one automaton; more is refused."""

Refuse = Callable[[Node], Exception]
Edges = dict[int, CharSet]
Look = tuple[
    tuple[int, CharSet], ...
]  # what a state looks like: classes and the characters to them


class Automaton(NamedTuple):
    """Deterministic, minimal, every state leading to an end; state 0 is the start."""

    edges: list[Edges]  # by state: following state -> the characters that lead there
    ends: list[bool]


class Derivatives:
    """Derivatives by characters, of expressions in one builder."""

    def __init__(self, builder: GrammarBuilder, refuse: Refuse) -> None:
        self.builder = builder
        self.refuse = refuse
        self.cuts: dict[Ref, frozenset[int]] = {}
        self.known: dict[tuple[Ref, int], Ref] = {}

    def automaton(self, start: Ref) -> Automaton:
        """The minimal automaton of `start`."""
        start = self._plain_parts(start)
        numbers = {start: 0}
        order = [start]
        edges: list[Edges] = []
        for ref in order:  # grows while it is read
            found: dict[int, list[tuple[int, int]]] = {}
            bounds = sorted(self._cuts(ref) | {0, 0xD800, 0xE000})
            for low, following in zip(bounds, [*bounds[1:], MAX_CODE_POINT + 1], strict=True):
                if low == 0xD800 or low > MAX_CODE_POINT:
                    continue
                target = self._derive(ref, low)
                if target == self.builder.empty:
                    continue
                if target not in numbers:
                    numbers[target] = len(order)
                    order.append(target)
                    if len(order) > MAX_STATES:
                        raise too_large()
                found.setdefault(numbers[target], []).append((low, following - 1))
            edges.append({number: charset.union(pairs) for number, pairs in found.items()})
        return _minimal(edges, [bool(self.builder.is_nullable(ref)) for ref in order])

    def after(self, ref: Ref, chars: Iterable[int]) -> Ref:
        """What is left of `ref` after these characters."""
        ref = self._plain_parts(ref)
        for char in chars:
            ref = self._derive(ref, char)
        return ref

    def _plain_parts(self, ref: Ref) -> Ref:
        """`ref` without marks, and with searches as complements."""
        b = self.builder
        done: dict[Ref, Ref] = {}
        pending = [ref]
        while pending:
            at = pending[-1]
            node = b.node(at)
            missing = [part for part in children(node) if part not in done]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            parts = tuple(done[part] for part in children(node))
            if isinstance(node, Mark):
                done[at] = parts[0]
            elif isinstance(node, NoOccurrence):
                words = b.alt(*(b.literal(pattern) for pattern in node.patterns))
                done[at] = self._complement(b.seq(b.any_text, words, b.any_text))
            elif isinstance(node, Not):
                done[at] = self._complement(parts[0])
            elif isinstance(node, And):
                done[at] = self._both(parts)
            else:
                done[at] = rebuild(b, node, parts, [])
        return done[ref]

    def _cuts(self, ref: Ref) -> frozenset[int]:
        """Where the classes of characters begin that `ref` may tell apart at its start."""
        found = self.cuts.get(ref)
        if found is None:
            found = self.cuts[ref] = frozenset(self._new_cuts(ref))
        return found

    def _new_cuts(self, ref: Ref) -> Iterable[int]:
        b = self.builder
        match node := b.node(ref):
            case Literal():
                return _edges([(ord(self._text(node)[0]),) * 2])
            case Chars(ranges):
                return _edges(ranges)
            case Bytes():
                return _edges(self._byte_chars(node))
            case Seq(parts):
                cuts: set[int] = set()
                for part in parts:
                    cuts |= self._cuts(part)
                    if not b.is_nullable(part):
                        break
                return cuts
            case Alt() | And() | Not() | Repeat():
                return {cut for part in children(node) for cut in self._cuts(part)}
            case Empty() | Epsilon():
                return ()
            case _:
                raise self.refuse(node)

    def _derive(self, ref: Ref, char: int) -> Ref:
        key = (ref, char)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._new_derivative(ref, char)
        return found

    def _new_derivative(self, ref: Ref, char: int) -> Ref:
        b = self.builder
        match node := b.node(ref):
            case Literal():
                text = self._text(node)
                return b.literal(text[1:].encode()) if ord(text[0]) == char else b.empty
            case Chars(ranges):
                index = bisect_right(ranges, (char, MAX_CODE_POINT)) - 1
                return b.epsilon if index >= 0 and char <= ranges[index][1] else b.empty
            case Bytes(members):
                return b.epsilon if char < 128 and members >> char & 1 else b.empty
            case Seq(parts):
                options: list[Ref] = []
                for index, part in enumerate(parts):
                    options.append(self._seq(self._derive(part, char), parts[index + 1 :]))
                    if not b.is_nullable(part):
                        break
                return self._alt(options)
            case Alt(parts):
                return self._alt([self._derive(part, char) for part in parts])
            case Repeat(child, low, high):
                rest = b.repeat(child, max(low - 1, 0), None if high is None else high - 1)
                return self._seq(self._derive(child, char), (rest,))
            case And(parts):
                return self._both([self._derive(part, char) for part in parts])
            case Not(child):
                return self._complement(self._derive(child, char))
            case _:
                return b.empty

    # Constructors that fold what would make states that look different and are the same.

    def _seq(self, first: Ref, rest: Sequence[Ref]) -> Ref:
        b = self.builder
        if first == b.any_text and rest and rest[0] == first:
            rest = rest[1:]
        return b.seq(first, *rest)

    def _alt(self, parts: Sequence[Ref]) -> Ref:
        b = self.builder
        return b.any_text if b.any_text in parts else b.alt(*parts)

    def _both(self, parts: Iterable[Ref]) -> Ref:
        b = self.builder
        kept: set[Ref] = set()
        for part in parts:
            node = b.node(part)
            kept.update(node.parts if isinstance(node, And) else (part,))
        if b.empty in kept:
            return b.empty
        kept.discard(b.any_text)
        return b.both(*kept) if kept else b.any_text

    def _complement(self, child: Ref) -> Ref:
        node = self.builder.node(child)
        return node.child if isinstance(node, Not) else self.builder.complement(child)

    def character_sets(self, node: Chars | Bytes | Literal) -> list[CharSet]:
        """The characters that a leaf stands for, one set for each."""
        match node:
            case Chars(ranges):
                return [ranges]
            case Literal():
                return [((ord(char), ord(char)),) for char in self._text(node)]
            case Bytes():
                return [self._byte_chars(node)]

    def _text(self, node: Literal) -> str:
        try:
            return node.data.decode()
        except UnicodeDecodeError:
            raise self.refuse(node) from None

    def _byte_chars(self, node: Bytes) -> CharSet:
        if node.members >= 1 << 128:
            raise self.refuse(node)
        return tuple(byte_ranges(node.members))


def _edges(ranges: Iterable[tuple[int, ...]]) -> set[int]:
    return {edge for low, high in ranges for edge in (low, high + 1)}


def too_large(value: int = MAX_STATES, unit: str = "states") -> LimitError:
    """The refusal of an automaton that grows past a bound."""
    return LimitError(
        f"an operator that needs more than {value:,} {unit} when written out",
        limit=unit,
        value=value,
        setting=None,
    )


def _minimal(edges: list[Edges], ends: list[bool]) -> Automaton:
    """Without states that lead nowhere, and with equal states joined."""
    live = _leading_to_an_end(edges, ends)
    edges = [
        {target: chars for target, chars in found.items() if target in live} for found in edges
    ]
    classes = _equal_states(edges, ends)
    count = max(classes) + 1
    joined: list[Edges] = [{} for _ in range(count)]
    joined_ends = [False] * count
    for state, number in enumerate(classes):
        joined[number] = _by_class(edges[state], classes)
        joined_ends[number] = ends[state]
    return Automaton(joined, joined_ends)


def _equal_states(edges: list[Edges], ends: list[bool]) -> list[int]:
    """The class of each state, numbered as they come; what no text tells apart is one class.

    Classes are split until all states of one look alike.  Only states with an edge to what was
    split are looked at again, so that a long chain costs no more than its length.
    """
    before: list[list[int]] = [[] for _ in edges]
    for state, found in enumerate(edges):
        for target in found:
            before[target].append(state)
    classes = [int(end) for end in ends]
    sizes = [len(ends) - sum(ends), sum(ends)]
    looks: list[Look | None] = [None, None]  # of the states of a class that need not be looked at
    pending = set(range(len(edges)))
    while pending:
        groups: dict[int, dict[Look, list[int]]] = {}
        for state in pending:
            look = tuple(sorted(_by_class(edges[state], classes).items()))
            groups.setdefault(classes[state], {}).setdefault(look, []).append(state)
        split: list[int] = []
        for number, alike in groups.items():
            if sizes[number] == sum(map(len, alike.values())):
                looks[number] = max(alike, key=lambda look: len(alike[look]))
            for look, states in alike.items():
                if look != looks[number]:
                    for state in states:
                        classes[state] = len(sizes)
                    sizes[number] -= len(states)
                    sizes.append(len(states))
                    looks.append(look)
                    split += states
        pending = {state for target in split for state in before[target]}
    names: dict[int, int] = {}
    return [names.setdefault(number, len(names)) for number in classes]


def _by_class(found: Edges, classes: Sequence[int]) -> Edges:
    joined: Edges = {}
    for target, chars in found.items():
        number = classes[target]
        joined[number] = charset.union([*joined.get(number, ()), *chars])
    return joined


def _leading_to_an_end(edges: list[Edges], ends: list[bool]) -> set[int]:
    before: list[list[int]] = [[] for _ in edges]
    for state, found in enumerate(edges):
        for target in found:
            before[target].append(state)
    live = {state for state, end in enumerate(ends) if end}
    pending = list(live)
    while pending:
        for state in before[pending.pop()]:
            if state not in live:
                live.add(state)
                pending.append(state)
    return live
