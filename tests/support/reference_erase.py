"""`Erase`, the slow way; part of the reference matcher.

A sequence belongs to ``Erase(count, child)`` if marks can be put between its bytes so that the
result belongs to `child`.  The parts of an `And` must agree on the marks, so ends alone are not
enough: this module takes Brzozowski derivatives of `child` by bytes and marks, and keeps the set of
all derivatives that some placement of the marks leads to.  That set is finite, because unions and
intersections are kept as sets.

Residuals (what is left of an expression after some symbols) are tuples: ``("ref", ref)`` untouched;
``("part", ref, symbols)`` an expression without marks of which `symbols` have been read (whether it
is complete is asked of the matcher); ``("cat", a, b)``; ``("or", set)``; ``("and", set)``;
``("not", residual, pending bytes of a character)``; ``("repeat", ref, min, max)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from support.reference_codecs import decode_utf8

from structag.grammar.expressions import (
    Alt,
    And,
    Assertion,
    Empty,
    Epsilon,
    Mark,
    Node,
    Not,
    Ref,
    Repeat,
    Seq,
    Transparent,
)

Residual: TypeAlias = tuple[Any, ...]
NOTHING: Residual = ("or", frozenset())
DONE: Residual = ("done",)
MARK = 1 << 16
"""Mark *i* is the symbol ``MARK + i`` here."""


class Eraser:
    """One ``Erase(count, child)``; `derives` decides about parts without marks."""

    def __init__(
        self,
        nodes: Sequence[Node],
        child: Ref,
        count: int,
        derives: Callable[[Ref, tuple[int, ...]], bool],
    ) -> None:
        self.nodes = nodes
        self.derives = derives
        self.marks = range(MARK, MARK + count)
        self.known: dict[tuple[Residual, int], Residual] = {}
        # What is left after some bytes, and whether it may end there: words share beginnings.
        start = self.closure({("ref", child)})
        self.reached: dict[tuple[int, ...], tuple[set[Residual], bool]] = {
            (): (start, any(map(self.is_complete, start)))
        }

    def ends(self, symbols: tuple[int, ...]) -> Iterator[int]:
        """The lengths of the prefixes of `symbols` that belong to the expression."""
        for length in range(len(symbols) + 1):
            _, is_end = self.states_after(symbols[:length])
            if is_end:
                yield length

    def states_after(self, symbols: tuple[int, ...]) -> tuple[set[Residual], bool]:
        """What is left after `symbols`, with any marks between them; whether it may end there."""
        if symbols not in self.reached:
            before, _ = self.states_after(symbols[:-1])
            states = self.closure({self.after(state, symbols[-1]) for state in before})
            self.reached[symbols] = (states, any(map(self.is_complete, states)))
        return self.reached[symbols]

    def closure(self, states: set[Residual]) -> set[Residual]:
        """`states` and all that marks lead to from them."""
        found = states - {NOTHING}
        queue = list(found)
        while queue:
            state = queue.pop()
            more = {self.after(state, mark) for mark in self.marks} - found - {NOTHING}
            found |= more
            queue.extend(more)
        return found

    def unfold(self, state: Residual) -> Residual:
        """A ``ref`` to an expression with parts, as a residual of its parts; others unchanged."""
        if state[0] != "ref":
            return state
        match self.nodes[state[1]]:
            case Empty():
                return NOTHING
            case Epsilon():
                return DONE
            case Seq(parts):
                whole = DONE
                for part in reversed(parts):
                    whole = cat(("ref", part), whole)
                return whole
            case Alt(parts):
                return ("or", frozenset(("ref", part) for part in parts))
            case And(parts):
                return ("and", frozenset(("ref", part) for part in parts))
            case Not(child):
                return ("not", ("ref", child), b"")
            case Repeat(child, low, high):
                return ("repeat", child, low, high)
            case Mark(_, child):
                return self.unfold(("ref", child))
            case Assertion():
                return state
            case _:
                return ("part", state[1], ())

    def is_complete(self, state: Residual) -> bool:
        match self.unfold(state):
            case ("done",):
                return True
            case ("ref", _):
                return False
            case ("part", ref, symbols):
                return self.derives(ref, symbols)
            case ("cat", first, second):
                return self.is_complete(first) and self.is_complete(second)
            case ("or", members):
                return any(self.is_complete(member) for member in members)
            case ("and", members):
                return all(self.is_complete(member) for member in members)
            case ("not", inner, pending):
                return not pending and not self.is_complete(inner)
            case ("repeat", child, low, _):
                return low == 0 or self.is_complete(("ref", child))
        raise AssertionError(state)

    def after(self, state: Residual, symbol: int) -> Residual:
        """What is left of `state` after `symbol`."""
        found = self.known.get((state, symbol))
        if found is None:
            found = self.known[state, symbol] = self.step(state, symbol)
        return found

    def step(self, state: Residual, symbol: int) -> Residual:
        """`after`, not yet known."""
        is_mark = symbol >= MARK
        match self.unfold(state):
            case ("done",):
                return NOTHING
            case ("ref", ref):
                node = self.nodes[ref]
                assert isinstance(node, Assertion)
                return DONE if symbol == MARK + node.index else NOTHING
            case ("part", ref, symbols):
                if is_mark:
                    return state if isinstance(self.nodes[ref], Transparent) else NOTHING
                return ("part", ref, (*symbols, symbol))
            case ("cat", first, second):
                split = cat(self.after(first, symbol), second)
                if not self.is_complete(first):
                    return split
                return either({split, self.after(second, symbol)})
            case ("or", members):
                return either({self.after(member, symbol) for member in members})
            case ("and", members):
                left = frozenset(self.after(member, symbol) for member in members)
                return NOTHING if NOTHING in left else ("and", left)
            case ("not", inner, pending):
                return self.after_in_not(inner, pending, symbol)
            case ("repeat", child, low, high):
                if high == 0:
                    return NOTHING
                more = ("repeat", child, max(low - 1, 0), None if high is None else high - 1)
                return cat(self.after(("ref", child), symbol), more)
        raise AssertionError(state)

    def after_in_not(self, inner: Residual, pending: bytes, symbol: int) -> Residual:
        if symbol >= MARK:
            return NOTHING if pending else ("not", self.after(inner, symbol), b"")
        if symbol < 0:
            return NOTHING
        pending += bytes([symbol & 255])
        whole = decode_utf8(pending) is not None
        return ("not", self.after(inner, symbol), b"" if whole else pending)


def cat(first: Residual, second: Residual) -> Residual:
    """Concatenation, nested to the right."""
    if NOTHING in (first, second):
        return NOTHING
    if first == DONE:
        return second
    if second == DONE:
        return first
    if first[0] == "cat":
        return ("cat", first[1], cat(first[2], second))
    return ("cat", first, second)


def either(members: Iterable[Residual]) -> Residual:
    """Union, as one flat set."""
    flat: set[Residual] = set()
    for member in members:
        flat |= member[1] if member[0] == "or" else {member}
    return flat.pop() if len(flat) == 1 else ("or", frozenset(flat))
