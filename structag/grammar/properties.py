"""What holds of every expression of a grammar: is it reachable, nullable, productive.

The last two are least fixpoints through the rules.  A first pass in the grammar's order (children
come first) decides every expression that hangs on no rule; the rest waits on its children and is
settled by propagation, so that the whole is linear and recurses nowhere.

An expression counts as productive if nothing but the native core could find it empty: whether an
`And`, a `Not` or an `Encoded` is empty is not asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from structag.grammar.erased_marks import is_erase_nullable
from structag.grammar.expressions import (
    Alt,
    And,
    Budget,
    Bytes,
    Chars,
    Distinct,
    Empty,
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
    Transparent,
    Unordered,
    children,
)

NO, YES, UNSETTLED = 0, 1, 2

_ATOMS = (Literal, Chars, Bytes)
_GROUPS = (Seq, Alt)


def reachable_nodes(grammar: Grammar) -> bytearray:
    """1 for every expression that the root refers to, directly or through rules; else 0."""
    nodes = grammar.nodes
    flags = bytearray(len(nodes))
    flags[grammar.root] = 1
    pending = [grammar.root]
    refs: Sequence[Ref]
    while pending:
        node = nodes[pending.pop()]
        if isinstance(node, _ATOMS):
            continue
        if isinstance(node, _GROUPS):
            refs = node.parts
        elif isinstance(node, Rule):
            refs = (grammar.rules[node.index][1],)
        else:
            refs = children(node)
        for ref in refs:
            if not flags[ref]:
                flags[ref] = 1
                pending.append(ref)
    return flags


def count_nodes(grammar: Grammar) -> dict[str, int]:
    """What there is: rules, expressions, those that are used in several places, and how many
    expressions there would be if each place had its own (recursive rules opened nowhere).
    """
    flags = reachable_nodes(grammar)
    uses = [0] * len(flags)
    sizes = [0] * len(flags)
    for ref, node in enumerate(grammar.nodes):
        if flags[ref]:
            parts = children(node)
            for part in parts:
                uses[part] += 1
            sizes[ref] = 1 + sum(sizes[part] for part in parts)
    rules = [body for _, body in grammar.rules if flags[body]]
    return {
        "rules": len(rules),
        "expressions": sum(flags),
        "shared": sum(count > 1 for count in uses),
        "unshared": sizes[grammar.root] + sum(sizes[body] for body in set(rules)),
    }


def nullable_nodes(grammar: Grammar) -> bytearray:
    """For every expression, 1 if it derives the empty sequence, else 0."""
    nodes = grammar.nodes
    values = bytearray(len(nodes))
    waiting = _Waiting(grammar, values)
    for i, node in enumerate(nodes):
        if isinstance(node, _ATOMS):
            continue
        if isinstance(node, Seq):  # the common case; `nullability` says the same
            for ref in node.parts:
                if not values[ref]:
                    break
            else:
                values[i] = max([values[ref] for ref in node.parts])
        else:
            values[i] = nullability(nodes, node, values)
        if values[i] == UNSETTLED:
            waiting.add(i, children(node), all_needed=isinstance(node, Seq))
    return waiting.settle()


def nullability(nodes: Sequence[Node], node: Node, values: Sequence[int]) -> int:
    """Whether `node` is nullable, given its children's `values`; a rule is UNSETTLED."""
    match node:
        case Seq(parts) | And(parts):
            value = YES
            for ref in parts:
                if not values[ref]:
                    return NO
                value = max(value, values[ref])
            return value
        case Alt(parts):
            return _any(values[ref] for ref in parts)
        case Repeat(child, low):
            return YES if low == 0 else values[child]
        case Rule():
            return UNSETTLED
        case (
            Mark(_, child) | Encoded(_, child) | Distinct(_, child) | Transparent(child)
            | Budget(child)
        ):  # fmt: skip
            return values[child]
        case Not(child):
            return NO if values[child] else YES
        case Erase(count, child):
            return YES if values[child] or is_erase_nullable(nodes, values, count, child) else NO
        case Unordered(members):
            return NO if any(need for _, need in members) else YES
        case Tally(kinds, low):
            return NO if low or any(least for _, least, _ in kinds) else YES
        case Epsilon() | NoOccurrence():
            return YES
        case _:
            return NO


def productive_nodes(grammar: Grammar) -> bytearray:
    """For every expression, 1 if it derives something, as far as can be told here; else 0."""
    nodes = grammar.nodes
    values = bytearray(b"\1" * len(nodes))
    waiting = _Waiting(grammar, values)
    for i, node in enumerate(nodes):
        if isinstance(node, _ATOMS):
            continue
        if isinstance(node, Seq):  # the common case
            value = YES
            for ref in node.parts:
                if values[ref] != YES:
                    value = UNSETTLED if value and values[ref] else NO
        else:
            value = _productivity(node, values)
        if value != YES:
            values[i] = value
            if value == UNSETTLED:
                if isinstance(node, Unordered | Tally):
                    waiting.add_test(i, children(node), node)
                else:
                    waiting.add(i, children(node), all_needed=isinstance(node, Seq))
    return waiting.settle()


def _productivity(node: Node, values: Sequence[int]) -> int:
    match node:
        case Alt(parts):
            return _any(values[ref] for ref in parts)
        case Scan(cases):
            return _any(values[ref] for _, ref in cases)
        case Repeat(child, low):
            return YES if low == 0 else values[child]
        case Rule():
            return UNSETTLED
        case Mark(_, child) | Budget(child):
            return values[child]
        case Unordered() | Tally():
            if _list_is_productive(node, values, (YES,)):
                return YES
            return UNSETTLED if _list_is_productive(node, values, (YES, UNSETTLED)) else NO
        case Empty():
            return NO
        case _:
            return YES


def _list_is_productive(node: Unordered | Tally, values: Sequence[int], yes: Iterable[int]) -> bool:
    """Whether the list has a member sequence whose parts all have a value in `yes`."""
    separated = values[node.separator] in yes
    if isinstance(node, Unordered):
        required = [values[ref] in yes for ref, need in node.members if need]
        return all(required) and (separated or len(required) < 2)
    least = sum(low for _, low, _ in node.kinds)
    if any(low and values[ref] not in yes for ref, low, _ in node.kinds):
        return False
    most: int | None = 0
    for ref, _, high in node.kinds:
        if values[ref] in yes and most is not None:
            most = None if high is None else most + high
    if (most is not None and most < node.min) or (node.max is not None and node.max < least):
        return False
    return separated or max(least, node.min) < 2


def _any(found: Iterable[int]) -> int:
    value = NO
    for each in found:
        if each == YES:
            return YES
        value = value or each
    return value


class _Waiting:
    """Expressions whose value hangs on rules; `settle` gives each the least value."""

    def __init__(self, grammar: Grammar, values: bytearray) -> None:
        self._grammar = grammar
        self._values = values
        self._dependents: dict[Ref, list[Ref]] = {}
        self._missing: dict[Ref, int] = {}
        self._tests: dict[Ref, Callable[[], bool]] = {}
        self._rules: list[Ref] = []

    def add(self, ref: Ref, parts: Iterable[Ref], *, all_needed: bool) -> None:
        """`ref` becomes true with one, or with all, of its unsettled `parts`."""
        open_parts = [part for part in parts if self._values[part] == UNSETTLED]
        if not open_parts:
            self._rules.append(ref)
            return
        self._missing[ref] = len(open_parts) if all_needed else 1
        for part in open_parts:
            self._dependents.setdefault(part, []).append(ref)

    def add_test(self, ref: Ref, parts: Iterable[Ref], node: Unordered | Tally) -> None:
        """`ref` becomes true when enough of its parts are."""
        self._tests[ref] = lambda: _list_is_productive(node, self._values, (YES,))
        for part in set(parts):
            if self._values[part] == UNSETTLED:
                self._dependents.setdefault(part, []).append(ref)

    def settle(self) -> bytearray:
        values, rules = self._values, self._grammar.rules
        ready: list[Ref] = []
        for ref in self._rules:
            node = self._grammar.nodes[ref]
            assert isinstance(node, Rule)
            body = rules[node.index][1]
            if values[body] == YES:
                ready.append(ref)
            elif values[body] == UNSETTLED:
                self._missing[ref] = 1
                self._dependents.setdefault(body, []).append(ref)
        while ready:
            ref = ready.pop()
            if values[ref] == YES:
                continue
            values[ref] = YES
            for parent in self._dependents.get(ref, ()):
                if parent in self._tests:
                    if self._tests[parent]():
                        ready.append(parent)
                    continue
                self._missing[parent] -= 1
                if self._missing[parent] == 0:
                    ready.append(parent)
        for i in self._missing:
            if values[i] == UNSETTLED:
                values[i] = NO
        for i in (*self._tests, *self._rules):
            if values[i] == UNSETTLED:
                values[i] = NO
        return values
