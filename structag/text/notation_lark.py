"""Writes a grammar in Lark's notation; see `structag.text.lark` for the way back.

Everything is written as rules, characters as one-character regular expressions, so that nothing
depends on how terminals are found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from structag.grammar.expressions import (
    UNICODE_SCALARS,
    Empty,
    Epsilon,
    Grammar,
    Node,
    Not,
    Ref,
    Repeat,
    Tokens,
)
from structag.grammar.write import ALT, ATOM, LINE_LENGTH, Operand
from structag.text.notation import Ebnf, cannot_write
from structag.text.write_regex import character_class, escaped


class LarkNotation(Ebnf):
    """Lark.  A count without a maximum, from two on, is written in two parts."""

    syntax = "Lark"
    has_macros = False
    root = "start"
    part = "part_{}"

    def text(self, node: Node, operand: Operand) -> str:
        if isinstance(node, Repeat) and node.min > 1 and node.max is None:
            child = operand(node.child, ATOM)
            return f"{child}~{node.min} {child}*"
        return super().text(node, operand)

    def level(self, node: Node) -> int:
        if isinstance(node, Repeat) and node.min > 1 and node.max is None:
            return ALT
        return super().level(node)

    def counts(self, low: int, high: int | None) -> str:
        if low == high:
            return f"~{low}"
        short = {(0, 1): "?", (0, None): "*", (1, None): "+"}
        return short.get((low, high)) or f"~{low}..{high}"

    def extra(self, node: Node, operand: Operand) -> str:
        match node:
            case Tokens(ids, False):
                return f"<[{','.join(map(str, ids))}]>"
            case Not(child) if isinstance(self.nodes[child], Empty):
                return "(/./s*)"
            case _:
                raise cannot_write(node, self.syntax)

    def other(self, node: Node, operand: Operand) -> str:
        return "()" if isinstance(node, Epsilon) else super().other(node, operand)

    def need_names(self, grammar: Grammar) -> set[Ref]:
        return set()

    def define(self, name: str, node: Node, alternatives: Sequence[str]) -> str:
        line = f"{name}: {' | '.join(alternatives)}"
        if len(line) <= LINE_LENGTH:
            return line
        indent = "\n" + " " * len(name) + "| "
        return f"{name}: {indent.join(alternatives)}"

    def name(self, label: str) -> str:
        cleaned = re.sub(r"[^a-z0-9_]+", "_", label.lower()).strip("_")
        return cleaned if re.match("[a-z]", cleaned) else f"rule_{cleaned}"

    def _class(self, ranges: Sequence[tuple[int, int]]) -> str:
        if tuple(ranges) == UNICODE_SCALARS:
            return "/./s"
        return f"/{character_class(ranges, _escaped)}/"


def _escaped(char: str) -> str:
    """`char` in a class; what Lark unescapes before it reads the class is no operator there."""
    if char == "-":
        return "\\-"
    if char > "\uffff" and not char.isprintable():
        return f"\\U{ord(char):08X}"
    return escaped(char)
