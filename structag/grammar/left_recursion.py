"""Removes left recursion: a rule that can begin with itself cannot be matched from the left.

Left corners are the expressions that a sequence may begin with, also behind nullable ones.  The
rules of one strongly connected component of that relation are solved together; all others stay as
they are.  Each rule A of a component is first split into ε and A⁺, then written as

    A⁺ = base(A) ∪ ⋃ B⁺ · rest(A, B)      B in the component, no left corner of base(A) is

by splitting nullable prefixes (``N B γ`` is ``B γ ∪ N⁺ B γ``).  This system is left-linear:

    A⁺ = ⋃ base(B) · Tail(B, A)            Tail(A, A) ∋ ε
    Tail(B, A) = ⋃ rest(X, B) · Tail(X, A)

A rest that can be empty would make tails left-recursive; rules that lead to each other by empty
rests share their tails instead, and a cycle A → A adds nothing.  A tail that only leads to itself
becomes a repeat.  Marks around a left-recursive beginning stay on the base.

Source: the left-corner transform, D. J. Rosenkrantz and P. M. Lewis, "Deterministic left corner
parsing" (1970); Tail(B, A) is the inverse of its ``A-B`` categories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from structag.errors import GrammarError
from structag.grammar.expressions import (
    Alt,
    Distinct,
    Erase,
    Grammar,
    Mark,
    Node,
    Ref,
    Repeat,
    Rule,
    Seq,
    Tally,
    Unordered,
    children,
)
from structag.grammar.properties import nullable_nodes, reachable_nodes
from structag.grammar.rewriter import Rewriter
from structag.grammar.transplant import rebuild
from structag.limits import Limits

MAX_EXPRESSIONS = Limits().max_expressions


def remove_left_recursion(grammar: Grammar, max_expressions: int = MAX_EXPRESSIONS) -> Grammar:
    """The same language without left recursion; the same object if there is none.

    No repeat may have a nullable child.
    """
    if not grammar.rules:
        return grammar
    nullable = nullable_nodes(grammar)
    components = left_recursive_components(grammar, nullable)
    if not components:
        return grammar
    counts = [node.count for node in grammar.nodes if isinstance(node, Erase)]
    rewriter = Rewriter(max_expressions, max(counts, default=0))
    return _Solver(grammar, nullable, components, rewriter).solve()


def left_corners(grammar: Grammar, node: Node, nullable: Sequence[int]) -> tuple[Ref, ...]:
    """The expressions that a sequence of `node` may begin with, those with no rules left out."""
    match node:
        case Seq(parts):
            for place, ref in enumerate(parts):
                if not nullable[ref]:
                    return parts[: place + 1]
            return parts
        case Alt(parts):
            return parts
        case Repeat(child) | Mark(_, child):
            return (child,)
        case Rule(index):
            return (grammar.rules[index][1],)
        case Unordered(members, rest):
            return (*(ref for ref, _ in members), *(() if rest is None else (rest,)))
        case Tally(kinds):
            return tuple(ref for ref, _, _ in kinds)
        case _:
            return ()


def left_recursive_components(grammar: Grammar, nullable: Sequence[int]) -> list[list[Ref]]:
    """The expressions on left-recursive cycles, grouped by the cycles they share."""
    nodes = grammar.nodes
    hopeful = bytearray(len(nodes))  # may begin with a rule
    for ref, node in enumerate(nodes):
        if isinstance(node, Rule):
            hopeful[ref] = 1
        else:
            for corner in left_corners(grammar, node, nullable):
                if hopeful[corner]:
                    hopeful[ref] = 1
                    break
    bodies = [body for _, body in grammar.rules]
    if not any(hopeful[body] for body in bodies):
        return []
    flags = reachable_nodes(grammar)
    starts = [
        ref
        for ref, node in enumerate(nodes)
        if flags[ref] and isinstance(node, Rule) and hopeful[bodies[node.index]]
    ]

    def corners(ref: Ref) -> list[Ref]:
        found = left_corners(grammar, nodes[ref], nullable)
        return [corner for corner in found if hopeful[corner]]

    found = strongly_connected(starts, corners)
    return [sorted(group) for group in found if len(group) > 1 or group[0] in corners(group[0])]


def strongly_connected(
    starts: Iterable[Ref], successors: Callable[[Ref], Sequence[Ref]]
) -> list[list[Ref]]:
    """The strongly connected components of what `starts` reach, successors first.

    R. Tarjan's algorithm (1972), with a stack of its own.
    """
    order: dict[Ref, int] = {}  # when first seen
    low: dict[Ref, int] = {}  # the earliest that is known to be in the same component
    open_refs: list[Ref] = []
    is_open: set[Ref] = set()
    components: list[list[Ref]] = []
    for start in starts:
        if start in order:
            continue
        order[start] = low[start] = len(order)
        open_refs.append(start)
        is_open.add(start)
        work = [(start, iter(successors(start)))]
        while work:
            ref, following = work[-1]
            for target in following:
                if target not in order:
                    order[target] = low[target] = len(order)
                    open_refs.append(target)
                    is_open.add(target)
                    work.append((target, iter(successors(target))))
                    break
                if target in is_open:
                    low[ref] = min(low[ref], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[ref])
                if low[ref] == order[ref]:
                    components.append(_close(open_refs, is_open, ref))
    return components


def _close(open_refs: list[Ref], is_open: set[Ref], ref: Ref) -> list[Ref]:
    group: list[Ref] = []
    while not group or group[-1] != ref:
        group.append(open_refs.pop())
        is_open.discard(group[-1])
    return group


class _Split(NamedTuple):
    """What an expression derives but ε: `base`, or a rule of the component and then its rest."""

    base: Ref
    rests: dict[Ref, Ref]


class _Solver:
    """Rewrites one grammar.

    Keys, `old` and `parts` are expressions of the grammar; all else is the builder's.
    """

    def __init__(
        self,
        grammar: Grammar,
        nullable: Sequence[int],
        components: list[list[Ref]],
        rewriter: Rewriter,
    ) -> None:
        self.grammar = grammar
        self.nullable = nullable
        self.rewriter = rewriter
        self.component_of = {ref: members for members in components for ref in members}
        self.copies: list[Ref] = []
        self.members: list[Ref] = []  # of the component being split
        self.splits: dict[Ref, _Split] = {}
        self.positive: dict[Ref, Ref] = {}  # rule of a component -> A⁺
        self.systems: dict[Ref, _System] = {}  # by the component's first expression

    def solve(self) -> Grammar:
        grammar, rewriter = self.grammar, self.rewriter
        old_rules = {node.index: i for i, node in enumerate(grammar.nodes) if type(node) is Rule}
        rules = [
            self._new_rule(old_rules[index]) if index in old_rules else rewriter.builder.empty
            for index in range(len(grammar.rules))
        ]
        for node in grammar.nodes:
            refs = tuple(self.copies[ref] for ref in children(node))
            self.copies.append(rebuild(rewriter.builder, node, refs, rules))
        return rewriter.finish(self.copies[grammar.root])

    def _new_rule(self, old: Ref) -> Ref:
        name, body = self._rule(old)
        if old not in self.component_of:
            return self.rewriter.rule(name, bool(self.nullable[old]), lambda: self.copies[body])
        if not self.nullable[old]:
            self.positive[old] = self.rewriter.rule(name, False, lambda: self._solution(old))
            return self.positive[old]
        positive = self.rewriter.rule(f"{name}'", False, lambda: self._solution(old))
        self.positive[old] = positive
        whole = self.rewriter.rule(name, True, lambda: self.rewriter.optional(positive))
        self.rewriter.set_nonempty(whole, positive)
        return whole

    def _rule(self, old: Ref) -> tuple[str, Ref]:
        node = self.grammar.nodes[old]
        assert isinstance(node, Rule)
        return self.grammar.rules[node.index]

    def _solution(self, old: Ref) -> Ref:
        members = self.component_of[old]
        system = self.systems.get(members[0])
        if system is None:
            self.members = members
            for ref in members:
                if ref not in self.positive:
                    self.splits[ref] = self._split(ref)
            rules = [ref for ref in members if ref in self.positive]
            splits = {ref: self._split_of(self._rule(ref)[1]) for ref in rules}
            names = {ref: self._rule(ref)[0] for ref in rules}
            system = self.systems[members[0]] = _System(self.rewriter, splits, names)
        return system.solution(old)

    def _split_of(self, old: Ref) -> _Split:
        if self.component_of.get(old) is not self.members:
            return _Split(self.rewriter.nonempty(self.copies[old]), {})
        if old in self.positive:
            return _Split(self.rewriter.builder.empty, {old: self.rewriter.builder.epsilon})
        return self.splits[old]

    def _split(self, old: Ref) -> _Split:
        """The split of an expression on a cycle; those of its children are made."""
        b, copies = self.rewriter.builder, self.copies
        match node := self.grammar.nodes[old]:
            case Seq(parts):
                count = len(left_corners(self.grammar, node, self.nullable))
                following = b.seq(*(copies[ref] for ref in parts[count:]))
                return self._followed(self._split_prefix(parts[:count]), following)
            case Alt(parts):
                return self._union([self._split_of(part) for part in parts])
            case Repeat(child, low, high):
                more = b.repeat(copies[child], max(low - 1, 0), None if high is None else high - 1)
                return self._followed(self._split_of(child), more)
            case Mark(label, child):
                split = self._split_of(child)
                return _Split(b.mark(label, split.base), split.rests)
            case Unordered(members, rest, separator):
                new = [(copies[ref], need) for ref, need in members]
                rest_copy = None if rest is None else copies[rest]
                firsts = []
                for place, (member, _) in enumerate(members):
                    others = b.unordered(
                        new[:place] + new[place + 1 :], rest_copy, copies[separator]
                    )
                    firsts.append(self._first(member, others, copies[separator]))
                if rest is not None:
                    others = b.unordered(new, rest_copy, copies[separator])
                    firsts.append(self._first(rest, others, copies[separator]))
                return self._union(firsts)
            case Tally(kinds, low, high, separator):
                self._require_no_keys([ref for ref, _, _ in kinds])
                counts = [(copies[ref], least, most) for ref, least, most in kinds]
                firsts = []
                for place, (kind, least, most) in enumerate(kinds):
                    fewer = list(counts)
                    fewer[place] = (copies[kind], max(least - 1, 0), _less(most))
                    others = b.tally(fewer, max(low - 1, 0), _less(high), copies[separator])
                    firsts.append(self._first(kind, others, copies[separator]))
                return self._union(firsts)
            case _:
                raise AssertionError(f"{node} has no left corner")

    def _require_no_keys(self, kinds: list[Ref]) -> None:
        """A list loses its first item here, and who comes after would not know its key."""
        pending = kinds
        while pending:
            match node := self.grammar.nodes[pending.pop()]:
                case Distinct():
                    raise GrammarError(
                        "items that differ, in a list that a left-recursive rule begins with",
                        code="grammar-operand",
                        hint="let the list begin with a byte or token",
                    )
                case Seq() | Alt() | Mark():
                    pending += children(node)

    def _split_prefix(self, parts: Sequence[Ref]) -> _Split:
        """Of a sequence of which all parts but the last are nullable; halved as in `nonempty`."""
        if len(parts) == 1:
            return self._split_of(parts[0])
        half = len(parts) // 2
        following = self.rewriter.builder.seq(*(self.copies[ref] for ref in parts[half:]))
        left = self._followed(self._split_prefix(parts[:half]), following)
        return self._union([left, self._split_prefix(parts[half:])])

    def _first(self, item: Ref, others: Ref, separator: Ref) -> _Split:
        """Of a list that begins with `item`; the `others` follow, separated, if there are any."""
        b, rewriter = self.rewriter.builder, self.rewriter
        following = b.seq(separator, rewriter.nonempty(others))
        if rewriter.is_nullable(others):
            following = b.alt(b.epsilon, following)
        return self._followed(self._split_of(item), following)

    def _followed(self, split: _Split, following: Ref) -> _Split:
        join = self.rewriter.join
        rests = {rule: join(rest, following) for rule, rest in split.rests.items()}
        return _Split(join(split.base, following), rests)

    def _union(self, splits: Iterable[_Split]) -> _Split:
        b, shorten = self.rewriter.builder, self.rewriter.shorten
        bases: list[Ref] = []
        rests: dict[Ref, list[Ref]] = {}
        for split in splits:
            bases.append(shorten(split.base))
            for rule, rest in split.rests.items():
                rests.setdefault(rule, []).append(shorten(rest))
        return _Split(b.alt(*bases), {rule: b.alt(*found) for rule, found in rests.items()})


class _System:
    """The left-linear equations of one component; keys are its rules.

    Rules that lead to each other by empty rests form a class; a class is known by its first rule.
    """

    def __init__(
        self, rewriter: Rewriter, splits: dict[Ref, _Split], names: dict[Ref, str]
    ) -> None:
        self.rewriter = rewriter
        self.names = names
        # rule -> where it may be the beginning of: with an empty rest, and with another
        empty_up: dict[Ref, list[Ref]] = {rule: [] for rule in splits}
        up: dict[Ref, list[tuple[Ref, Ref]]] = {rule: [] for rule in splits}
        for rule, split in splits.items():
            for first, rest in split.rests.items():
                if rewriter.is_nullable(rest):
                    empty_up[first].append(rule)
                up[first].append((rule, rewriter.nonempty(rest)))
        groups = strongly_connected(splits, empty_up.__getitem__)
        self.class_of = {rule: group[0] for group in groups for rule in group}
        self.bases: dict[Ref, list[Ref]] = {group[0]: [] for group in groups}
        self.loops: dict[Ref, list[Ref]] = {group[0]: [] for group in groups}
        self.ways: dict[Ref, list[tuple[Ref, Ref]]] = {group[0]: [] for group in groups}
        self.empty_down: dict[Ref, list[Ref]] = {group[0]: [] for group in groups}
        epsilon, empty = rewriter.builder.epsilon, rewriter.builder.empty
        for rule, split in splits.items():
            here = self.class_of[rule]
            if split.base != empty:
                self.bases[here].append(rewriter.shorten(split.base))
            for target in {self.class_of[ref] for ref in empty_up[rule]} - {here}:
                self.ways[here].append((target, epsilon))
                self.empty_down[target].append(here)
            for ref, rest in up[rule]:
                if rest == empty:
                    continue
                if self.class_of[ref] == here:
                    self.loops[here].append(rest)
                else:
                    self.ways[here].append((self.class_of[ref], rest))
        self.nullable_tails: dict[Ref, set[Ref]] = {}
        self.tails: dict[tuple[Ref, Ref], Ref] = {}

    def solution(self, rule: Ref) -> Ref:
        """All that `rule` derives but ε."""
        b, goal = self.rewriter.builder, self.class_of[rule]
        return b.alt(
            *(
                self.rewriter.join(b.alt(*bases), self._tail(here, goal))
                for here, bases in self.bases.items()
                if bases
            )
        )

    def _tail(self, here: Ref, goal: Ref) -> Ref:
        """What leads from a whole of class `here` to a whole of class `goal`."""
        tail = self.tails.get((here, goal))
        if tail is None:
            if here == goal and not self.ways[here]:
                tail = self._tail_body(here, goal)
            else:
                tail = self.rewriter.rule(
                    f"{self.names[goal]}-after-{self.names[here]}",
                    here in self._classes_leading_to(goal),
                    lambda: self._tail_body(here, goal),
                )
            self.tails[here, goal] = tail
        return tail

    def _tail_body(self, here: Ref, goal: Ref) -> Ref:
        b, join = self.rewriter.builder, self.rewriter.join
        ends = [join(rest, self._tail(target, goal)) for target, rest in self.ways[here]]
        if here == goal:
            ends.append(b.epsilon)
        return join(b.repeat(b.alt(*self.loops[here]), 0), b.alt(*ends))

    def _classes_leading_to(self, goal: Ref) -> set[Ref]:
        """The classes from which `goal` is reached by empty rests alone."""
        found = self.nullable_tails.get(goal)
        if found is None:
            found = self.nullable_tails[goal] = {goal}
            pending = [goal]
            while pending:
                for source in self.empty_down[pending.pop()]:
                    if source not in found:
                        found.add(source)
                        pending.append(source)
        return found


def _less(count: int | None) -> int | None:
    return None if count is None else count - 1
