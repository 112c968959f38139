"""A `GrammarBuilder` with rules that get their bodies late, and that can take ε out of anything.

``nonempty(e)`` is *e* without the empty sequence, exactly.  It is built from the parts of *e*; for
a rule it is a new rule.  Bodies are made when `finish` finds that the root needs them, so what is
never used costs nothing.  The steps of `structag.grammar.simplify` are written with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from structag.errors import GrammarError, LimitError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    And,
    Budget,
    Chars,
    Encoded,
    Epsilon,
    Grammar,
    Mark,
    Node,
    NoOccurrence,
    Not,
    Ref,
    Repeat,
    Rule,
    Seq,
    Tally,
    Unordered,
    children,
    with_children,
)
from structag.grammar.properties import nullability, reachable_nodes

ANY_BYTE = range(256)
LONG = 32  # parts of a sequence or union from which on it is not copied, but named


class Rewriter:
    """Builds the grammar that a step of `simplify` makes; used once."""

    def __init__(self, max_expressions: int, assertion_count: int) -> None:
        self._limit = max_expressions
        self.builder = GrammarBuilder()
        self._assertion_count = assertion_count
        self._nodes: list[Node] = []  # as far as their nullability is known
        self._nullable = bytearray()
        self._rule_nullable: dict[Ref, bool] = {}
        self._makers: dict[Ref, Callable[[], Ref]] = {}  # of every rule
        self._names: dict[Ref, str] = {}
        self._bodies: dict[Ref, Ref] = {}
        self._nonempty: dict[Ref, Ref] = {}
        self._named: dict[Ref, Ref] = {}

    def rule(self, name: str, nullable: bool, body: Callable[[], Ref]) -> Ref:
        """A new rule; `body` is called at most once, when its body is needed."""
        rule = self.builder.rule(name)
        self._rule_nullable[rule] = nullable
        self._makers[rule] = body
        self._names[rule] = name
        return rule

    def set_nonempty(self, ref: Ref, nonempty: Ref) -> None:
        """Say what `ref` without the empty sequence is."""
        self._nonempty[ref] = nonempty

    def is_nullable(self, ref: Ref) -> bool:
        """Whether `ref` derives the empty sequence."""
        nodes, values = self._nodes, self._nullable
        for place in range(len(nodes), ref + 1):
            node = self.builder.node(place)
            nodes.append(node)
            if isinstance(node, Rule):
                values.append(self._rule_nullable[place])
            else:
                values.append(nullability(nodes, node, values))
        return bool(values[ref])

    def nonempty(self, ref: Ref) -> Ref:
        """`ref` without the empty sequence."""
        made = self._nonempty
        pending = [ref]
        while pending:
            top = pending[-1]
            if top in made:
                pending.pop()
                continue
            missing = [part for part in self._nonempty_parts(top) if part not in made]
            if missing:
                pending.extend(missing)
            else:
                made[top] = self._make_nonempty(top)
        return made[ref]

    def join(self, left: Ref, right: Ref) -> Ref:
        """`left` then `right`; long sequences are named, so that chains of joins stay linear."""
        if left == self.builder.epsilon:
            return right
        if right == self.builder.epsilon:
            return left
        return self.builder.seq(self.shorten(left), self.shorten(right))

    def shorten(self, ref: Ref) -> Ref:
        """`ref`, or a rule that stands for it if it is a long sequence or union."""
        node = self.builder.node(ref)
        if not isinstance(node, Seq | Alt) or len(node.parts) <= LONG:
            return ref
        if ref not in self._named:
            nullable = self.is_nullable(ref)
            self._named[ref] = self.rule(f"part-{len(self._named) + 1}", nullable, lambda: ref)
        return self._named[ref]

    def optional(self, ref: Ref) -> Ref:
        """`ref` or nothing; never a repeat of something nullable."""
        if self.is_nullable(ref):
            return ref
        return self.builder.repeat(ref, 0, 1)

    def finish(self, root: Ref) -> Grammar:
        """The grammar from `root`, with a body for every rule it needs."""
        limit = self._limit
        seen = {root}
        pending = [root]
        while pending:
            ref = pending.pop()
            node = self.builder.node(ref)
            refs: Sequence[Ref]
            if isinstance(node, Rule):
                refs = (self._body(ref),)
                self.builder.define(ref, refs[0])
            else:
                refs = children(node)
            for part in refs:
                if part not in seen:
                    seen.add(part)
                    pending.append(part)
            if len(seen) > limit:
                raise LimitError(
                    f"the grammar has over {limit:,} expressions once left recursion is removed",
                    limit="expressions",
                    value=limit,
                    setting="max_expressions",
                )
        for rule in self._makers:
            if rule not in seen:
                self.builder.define(rule, self.builder.empty)
        return compact(self.builder.build(root))

    def _body(self, rule: Ref) -> Ref:
        if rule not in self._bodies:
            self._bodies[rule] = self._makers[rule]()
        return self._bodies[rule]

    def _nonempty_parts(self, ref: Ref) -> tuple[Ref, ...]:
        """The parts whose non-empty form that of `ref` is made of."""
        if not self.is_nullable(ref):
            return ()
        match self.builder.node(ref):
            case Seq(parts) | Alt(parts):
                return parts
            case Repeat(child) | Mark(_, child):
                return (child,)
            case _:
                return ()

    def _make_nonempty(self, ref: Ref) -> Ref:
        b = self.builder
        if not self.is_nullable(ref):
            return ref
        match node := b.node(ref):
            case Seq(parts):
                return self._nonempty_seq(parts)
            case Alt(parts):
                return b.alt(*(self._nonempty[part] for part in parts))
            case Repeat(child, _, high):
                return b.repeat(self._nonempty[child], 1, high)
            case Rule():
                return self._nonempty_rule(ref)
            case Mark(label, child):
                return b.mark(label, self._nonempty[child])
            case And(parts):
                return b.both(*parts, self._something(parts))
            case Unordered():
                return self._nonempty_unordered(node)
            case Tally(kinds, _, high, separator):
                return b.tally(kinds, 1, high, separator)
            case Budget():
                raise GrammarError(
                    "a token budget inside a repeat or a left-recursive rule that can go round "
                    "without any text",
                    code="grammar-operand",
                    hint="give each round at least one byte or token outside the budget",
                )
            case Epsilon():
                return b.empty
            case _:
                return b.both(ref, self._something((ref,)))

    def _nonempty_seq(self, parts: Sequence[Ref]) -> Ref:
        """Of a sequence of nullable parts; halved, so that n parts make O(n log n)."""
        if len(parts) == 1:
            return self._nonempty[parts[0]]
        half = len(parts) // 2
        left, right = parts[:half], parts[half:]
        return self.builder.alt(
            self.builder.seq(self._nonempty_seq(left), *right), self._nonempty_seq(right)
        )

    def _nonempty_rule(self, rule: Ref) -> Ref:
        return self.rule(f"{self._names[rule]}'", False, lambda: self.nonempty(self._body(rule)))

    def _nonempty_unordered(self, node: Unordered) -> Ref:
        """Some member is there, or there are only others: one list per member, which it needs."""
        b = self.builder
        options = []
        for place, (member, _) in enumerate(node.members):
            needed = [(ref, i == place) for i, (ref, _) in enumerate(node.members)]
            if member != b.empty:
                options.append(b.unordered(needed, node.rest, node.separator))
        if node.rest is not None:
            more = b.repeat(b.seq(node.separator, node.rest), 0)
            options.append(b.seq(node.rest, more))
        return b.alt(*options)

    def _something(self, parts: Sequence[Ref]) -> Ref:
        """The sequences that are not empty, wide enough to intersect `parts` with."""
        b = self.builder
        if not self._assertion_count:
            for part in parts:
                if isinstance(b.node(part), Not | Encoded | NoOccurrence | Chars):
                    return b.complement(b.epsilon)
        marks = [b.assertion(i) for i in range(self._assertion_count)]
        symbol = b.alt(b.bytes(ANY_BYTE), *marks)
        return b.seq(symbol, b.repeat(symbol, 0))


def compact(grammar: Grammar) -> Grammar:
    """`grammar` with only what its root reaches, in the same order."""
    flags = reachable_nodes(grammar)
    used = {
        node.index
        for node, flag in zip(grammar.nodes, flags, strict=True)
        if flag and isinstance(node, Rule)
    }
    numbers = {index: number for number, index in enumerate(sorted(used))}
    places: list[Ref] = []
    nodes: list[Node] = []
    for node, flag in zip(grammar.nodes, flags, strict=True):
        places.append(len(nodes))
        if flag:
            if isinstance(node, Rule):
                nodes.append(Rule(numbers[node.index]))
            else:
                nodes.append(with_children(node, tuple(places[ref] for ref in children(node))))
    rules = tuple(
        (name, places[body]) for index, (name, body) in enumerate(grammar.rules) if index in numbers
    )
    return Grammar(tuple(nodes), rules, places[grammar.root])
