"""Is an `Erase` nullable: does its operand hold a sequence of assertion marks and nothing else?

The operand is cut down to its sequences of marks (`_cut_down`): an expression over a handful of
symbols.  Brzozowski derivatives by those symbols are then searched, shortest first, for one that
is nullable.  `GrammarBuilder` serves as the algebra; it makes equal derivatives one.

Source: J. A. Brzozowski, "Derivatives of Regular Expressions", JACM 11 (1964).
"""

from __future__ import annotations

from collections.abc import Sequence

from structag.errors import LimitError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    And,
    Assertion,
    Distinct,
    Encoded,
    Epsilon,
    Erase,
    Mark,
    Node,
    NoOccurrence,
    Not,
    Ref,
    Repeat,
    Seq,
    Transparent,
    children,
)

MAX_STEPS = 4_000


def is_erase_nullable(
    nodes: Sequence[Node], nullable: Sequence[int], count: int, child: Ref
) -> bool:
    """Whether ``Erase(count, child)`` derives the empty sequence.

    `nullable` holds, for the expressions inside `child`, whether they derive the empty sequence
    with no mark in it.

    Raises:
        LimitError: too many combinations of assertions had to be tried.
    """
    if count == 0 or nullable[child]:
        return bool(nullable[child])
    algebra = GrammarBuilder()
    start = _cut_down(algebra, nodes, nullable, count, child)
    seen = {start}
    level = [start]
    while level:
        following: list[Ref] = []
        for state in level:
            if algebra.is_nullable(state):
                return True
            for index in range(count):
                target = _derivative(algebra, state, index)
                if target != algebra.empty and target not in seen:
                    seen.add(target)
                    following.append(target)
            if len(seen) > MAX_STEPS:
                raise LimitError(
                    "too many combinations of assertions in a repeated pattern",
                    limit="combinations of assertions",
                    value=MAX_STEPS,
                    setting=None,
                )
        level = following
    return False


def _cut_down(
    algebra: GrammarBuilder, nodes: Sequence[Node], nullable: Sequence[int], count: int, root: Ref
) -> Ref:
    """What is left of `root` when only sequences of marks are."""
    marks = algebra.repeat(algebra.alt(*(algebra.assertion(i) for i in range(count))), 0)
    kept: dict[Ref, Ref] = {}
    for ref in _within(nodes, root):
        match node := nodes[ref]:
            case Assertion(index):
                kept[ref] = algebra.assertion(index) if index < count else algebra.empty
            case Transparent(child):
                kept[ref] = marks if nullable[child] else algebra.empty
            case Encoded() | Distinct() | Erase() | NoOccurrence() | Epsilon():
                kept[ref] = algebra.epsilon if nullable[ref] else algebra.empty
            case Seq(parts):
                kept[ref] = algebra.seq(*(kept[part] for part in parts))
            case Alt(parts):
                kept[ref] = algebra.alt(*(kept[part] for part in parts))
            case And(parts):
                kept[ref] = algebra.both(*(kept[part] for part in parts))
            case Not(child):
                kept[ref] = algebra.complement(kept[child])
            case Mark(_, child):
                kept[ref] = kept[child]
            case Repeat(child, low, high):
                kept[ref] = algebra.repeat(kept[child], low, high)
            case _:
                kept[ref] = algebra.empty
                assert not children(node)
    return kept[root]


def _within(nodes: Sequence[Node], root: Ref) -> list[Ref]:
    """The expressions inside `root`, itself last; those whose marks are their own stay closed."""
    seen = {root}
    pending = [root]
    while pending:
        node = nodes[pending.pop()]
        if isinstance(node, Transparent | Encoded | Distinct | Erase):
            continue
        for ref in children(node):
            if ref not in seen:
                seen.add(ref)
                pending.append(ref)
    return sorted(seen)


def _derivative(algebra: GrammarBuilder, root: Ref, mark: int) -> Ref:
    """What may follow the mark `mark` in `root`."""
    after: dict[Ref, Ref] = {}
    symbol = Assertion(mark)
    for ref in _parts_within(algebra, root):
        match node := algebra.node(ref):
            case Assertion():
                after[ref] = algebra.epsilon if node == symbol else algebra.empty
            case Seq(parts):
                options = []
                for place, part in enumerate(parts):
                    options.append(algebra.seq(after[part], *parts[place + 1 :]))
                    if not algebra.is_nullable(part):
                        break
                after[ref] = algebra.alt(*options)
            case Alt(parts):
                after[ref] = algebra.alt(*(after[part] for part in parts))
            case And(parts):
                after[ref] = algebra.both(*(after[part] for part in parts))
            case Not(child):
                after[ref] = algebra.complement(after[child])
            case Repeat(child, low, high):
                rest = algebra.repeat(child, max(low - 1, 0), None if high is None else high - 1)
                after[ref] = algebra.seq(after[child], rest)
            case _:
                after[ref] = algebra.empty
    return after[root]


def _parts_within(algebra: GrammarBuilder, root: Ref) -> list[Ref]:
    seen = {root}
    pending = [root]
    while pending:
        for ref in children(algebra.node(pending.pop())):
            if ref not in seen:
                seen.add(ref)
                pending.append(ref)
    return sorted(seen)
