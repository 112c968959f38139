"""Writes a `Grammar` as named definitions, in any notation with names.

What is used more than once, or long, gets a name of its own, so that the output stays linear in
the grammar at any depth.  Marks are not written.  A notation that is *exact* is read back by a
front end: then what the builder would merge (a sequence in a sequence, with a mark between) is
kept apart by a name, and recursive parts get names only where they must, so that the grammar read
back has the same structural hash.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias

from structag.errors import StructagError
from structag.grammar.expressions import (
    Alt,
    Grammar,
    Literal,
    Mark,
    Node,
    Ref,
    Repeat,
    Rule,
    Seq,
    children,
)
from structag.grammar.left_recursion import strongly_connected
from structag.grammar.properties import reachable_nodes

SHARED_LENGTH = 24  # characters from which on something used twice gets a name
LONG_LENGTH = 240  # characters from which on anything gets a name
HUGE_LENGTH = 10_000  # characters from which on recursive parts get one too
LINE_LENGTH = 88
_STARTS = ("root", "start")  # a rule called so is what its grammar starts with

# How tightly an expression binds; operands that bind less tightly get parentheses.
ALT, AND, SEQ, REPEAT, ATOM = range(5)
Operand: TypeAlias = Callable[[Ref, int], str]
"""An operand's text, for a place that binds so tightly."""


class Notation(ABC):
    """How expressions are written; see `Writer`."""

    is_exact = False
    root = "root"
    part = "part-{}"

    def text(self, node: Node, operand: Operand) -> str:
        """`node` written out, given its operands."""
        match node:
            case Seq():
                return " ".join(self.sequence(node, operand))
            case Alt():
                return " | ".join(self.alternatives(node, operand))
            case Repeat(child, low, high):
                return operand(child, ATOM) + self.counts(low, high)
            case _:
                return self.other(node, operand)

    def sequence(self, node: Seq, operand: Operand) -> list[str]:
        """The parts of a sequence."""
        return [operand(ref, SEQ) for ref in node.parts]

    def alternatives(self, node: Alt, operand: Operand) -> list[str]:
        """The alternatives, each written out."""
        return [operand(ref, AND) for ref in node.parts]

    @abstractmethod
    def other(self, node: Node, operand: Operand) -> str:
        """Everything but `Seq`, `Alt` and `Repeat`."""

    def level(self, node: Node) -> int:
        """How tightly the text of `node` binds."""
        match node:
            case Alt():
                return ALT
            case Seq():
                return SEQ
            case Repeat():
                return REPEAT
            case _:
                return ATOM

    def counts(self, low: int, high: int | None) -> str:
        """The quantifier."""
        short = {(0, 1): "?", (0, None): "*", (1, None): "+"}
        return short.get((low, high)) or counted(low, high)

    @abstractmethod
    def name(self, label: str) -> str:
        """A name that the notation allows, as like `label` as can be."""

    def define(self, name: str, node: Node, alternatives: Sequence[str]) -> str:
        """The definition of `name`: `alternatives` of `node`, in one line if they fit."""
        line = f"{name} ::= {' | '.join(alternatives)}"
        if len(line) <= LINE_LENGTH:
            return line
        indent = "\n" + " " * (len(name) + 3) + "| "
        return f"{name} ::= {indent.join(alternatives)}"

    def need_names(self, grammar: Grammar) -> set[Ref]:
        """What can only be written as the body of a definition."""
        return set()


class Writer:
    """Renders expressions bottom up; long or shared ones are named and written as definitions."""

    def __init__(self, grammar: Grammar, notation: Notation) -> None:
        self.grammar = grammar
        self.notation = notation
        self.flags = reachable_nodes(grammar)
        self.texts: dict[Ref, tuple[str, int]] = {}  # text and how tightly it binds
        self.named: dict[Ref, str] = {}
        self.alternatives: dict[Ref, list[str]] = {}
        self.refused: dict[Ref, StructagError] = {}  # what the notation has no words for
        self.rule_names = self._name_rules()
        self.recursive = self._recursive_nodes() if notation.is_exact else frozenset()
        self.needed = {self._unmarked(ref) for ref in notation.need_names(grammar)}
        self.merged = self._merged_nodes() if notation.is_exact else frozenset()

    def write(self) -> str:
        """All definitions, the root first."""
        return "\n".join(self._definition(name, ref) for name, ref in self.definitions())

    def definitions(self) -> list[tuple[str, Ref]]:
        """The names and what they stand for, the root first.  Asked once."""
        grammar, start = self.grammar, self.notation.root
        use_counts = [0] * len(grammar.nodes)
        for ref, node in enumerate(grammar.nodes):
            if self.flags[ref]:
                for child in () if isinstance(node, Mark) else children(node):
                    use_counts[self._unmarked(child)] += 1
        for ref, node in enumerate(grammar.nodes):
            if self.flags[ref]:
                self._render(ref, node, use_counts[ref] > 1)
        definitions: list[tuple[str, Ref]] = []
        seen: set[str] = {start}
        root = grammar.nodes[grammar.root]
        first = grammar.root
        if isinstance(root, Rule) and self.rule_names[root.index] == start:
            first = grammar.rules[root.index][1]
        pending = [(start, first)]
        by_name = {name: ref for ref, name in self.named.items()}
        by_name |= {name: grammar.rules[i][1] for i, name in self.rule_names.items()}
        while pending:
            name, ref = pending.pop()
            definitions.append((name, ref))
            used = [word for word in self._names_in(ref) if word not in seen and word in by_name]
            for word in reversed(list(dict.fromkeys(used))):
                seen.add(word)
                pending.append((word, by_name[word]))
        return definitions

    def _name_rules(self) -> dict[int, str]:
        names: dict[int, str] = {}
        taken: set[str] = set()
        root = self.grammar.nodes[self.grammar.root]
        start = self.notation.root
        order = [node.index for node in self._reachable_rules()]
        if isinstance(root, Rule):
            order.sort(key=lambda index: index != root.index)
            if self.grammar.rules[root.index][0] in _STARTS:
                names[root.index] = start
                order.remove(root.index)
        taken.add(start)
        for index in order:
            wanted = self.notation.name(self.grammar.rules[index][0])
            name, number = wanted, 1
            while name in taken:
                number += 1
                name = self.notation.name(f"{wanted}-{number}")
            taken.add(name)
            names[index] = name
        self.taken = taken
        return names

    def _reachable_rules(self) -> list[Rule]:
        nodes = zip(self.grammar.nodes, self.flags, strict=True)
        return [node for node, flag in nodes if flag and isinstance(node, Rule)]

    def _recursive_nodes(self) -> frozenset[Ref]:
        nodes, rules = self.grammar.nodes, self.grammar.rules

        def successors(ref: Ref) -> Sequence[Ref]:
            node = nodes[ref]
            return (rules[node.index][1],) if isinstance(node, Rule) else children(node)

        groups = strongly_connected([self.grammar.root], successors)
        return frozenset(ref for group in groups if len(group) > 1 for ref in group)

    def _merged_nodes(self) -> frozenset[Ref]:
        """What the builder would make part of what surrounds it, but for a mark in between."""
        found: set[Ref] = set()
        nodes = self.grammar.nodes
        for ref, node in enumerate(nodes):
            if self.flags[ref] and isinstance(node, Seq | Alt | Repeat):
                for child in children(node):
                    inner = nodes[self._unmarked(child)]
                    same = type(inner) is type(node)
                    literal = isinstance(node, Seq) and isinstance(inner, Literal)
                    if isinstance(nodes[child], Mark) and (same or literal):
                        found.add(self._unmarked(child))
        return frozenset(found)

    def _render(self, ref: Ref, node: Node, is_shared: bool) -> None:
        if isinstance(node, Mark):
            return
        if isinstance(node, Rule):
            self.texts[ref] = (self.rule_names[node.index], ATOM)
            return
        notation = self.notation
        try:
            if isinstance(node, Alt):
                self.alternatives[ref] = notation.alternatives(node, self._operand)
            text = notation.text(node, self._operand)
        except StructagError as error:  # whatever it is part of may have words for the whole
            self.refused[ref] = error
            return
        self.texts[ref] = (text, notation.level(node))
        if ref in self.recursive:
            is_named = len(text) > HUGE_LENGTH
        else:
            is_long = len(text) > LONG_LENGTH or (is_shared and len(text) > SHARED_LENGTH)
            is_named = bool(children(node)) and is_long
        if is_named or ref in self.merged or ref in self.needed:
            self.named[ref] = self._new_name()

    def _new_name(self) -> str:
        number = len(self.named) + 1
        while (name := self.notation.part.format(number)) in self.taken:
            number += 1
        self.taken.add(name)
        return name

    def _operand(self, ref: Ref, level: int) -> str:
        ref = self._unmarked(ref)
        if ref in self.refused:
            raise self.refused[ref]
        if ref in self.named:
            return self.named[ref]
        text, own = self.texts[ref]
        return text if own >= level else f"({text})"

    def _unmarked(self, ref: Ref) -> Ref:
        return unmarked(self.grammar, ref)

    def _definition(self, name: str, ref: Ref) -> str:
        ref = self._unmarked(ref)
        if ref in self.refused:
            raise self.refused[ref]
        node = self.grammar.nodes[ref]
        if ref in self.named and self.named[ref] != name:
            return self.notation.define(name, Rule(0), [self.named[ref]])
        return self.notation.define(name, node, self.alternatives.get(ref) or [self.texts[ref][0]])

    def _names_in(self, ref: Ref) -> list[str]:
        """The names that the definition of `ref` refers to, left to right."""
        found: list[str] = []
        pending = [ref]
        is_top = True
        while pending:
            part = pending.pop()
            node = self.grammar.nodes[part]
            if isinstance(node, Rule):
                found.append(self.rule_names[node.index])
            elif part in self.named and not is_top:
                found.append(self.named[part])
            else:
                pending.extend(reversed(children(node)))
                is_top = is_top and isinstance(node, Mark)
        if ref in self.named:
            found.append(self.named[ref])
        return found


def unmarked(grammar: Grammar, ref: Ref) -> Ref:
    """What a mark, or several, is about."""
    while isinstance(node := grammar.nodes[ref], Mark):
        ref = node.child
    return ref


def counted(low: int, high: int | None) -> str:
    """A count in braces.

    >>> counted(2, 2), counted(1, None)
    ('{2}', '{1,}')
    """
    if low == high:
        return f"{{{low}}}"
    return f"{{{low},{'' if high is None else high}}}"


def gaps(ranges: Sequence[tuple[int, int]], last: int) -> list[tuple[int, int]]:
    """What lies between the ranges up to `last`; surrogates are in no gap of their own."""
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in [*ranges, (last + 1, last + 1)]:
        if start < low and (start, low - 1) != (0xD800, 0xDFFF):
            found.append((start, low - 1))
        start = high + 1
    return found
