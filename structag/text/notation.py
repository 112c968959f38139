"""Writes a grammar as EBNF or GBNF: the way back from a `Grammar` to a text.

What is written is read back by `structag.text.ebnf` or `structag.text.gbnf` to a grammar of the
same language, and mostly of the same structural hash.  What the notation has no words for is
refused, never approximated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from structag.errors import UnsupportedError
from structag.grammar.builder import normalize_ranges
from structag.grammar.expressions import (
    MAX_CODE_POINT,
    UNICODE_SCALARS,
    Alt,
    And,
    Assertion,
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
    Scan,
    Seq,
    Tally,
    Tokens,
    Transparent,
    Unordered,
    children,
)
from structag.grammar.utf8 import byte_ranges
from structag.grammar.write import (
    ALT,
    AND,
    ATOM,
    LINE_LENGTH,
    SEQ,
    Notation,
    Operand,
    gaps,
    unmarked,
)
from structag.text.ebnf_macros import MACROS

_WORDS: dict[type[Node], str] = {
    And: "an intersection",
    Not: "a complement",
    Encoded: "escaped spellings of a text",
    NoOccurrence: "text without given strings",
    Erase: "look-around",
    Transparent: "look-around",
    Assertion: "look-around",
    Scan: "free text up to a trigger",
    Tokens: "tokens by id",
    Budget: "a token budget",
    Unordered: "members in any order",
    Tally: "items counted by kind",
    Distinct: "items that differ",
    Empty: "an expression that matches nothing",
    Bytes: "bytes that are no characters",
    Literal: "bytes that are no characters",
}


def cannot_write(node: Node, syntax: str) -> UnsupportedError:
    """The refusal of an expression that `syntax` has no words for."""
    is_marker = isinstance(node, Literal) and node.marker
    what = "a marker that control tokens may spell" if is_marker else _WORDS[type(node)]
    return UnsupportedError(
        f"{syntax} cannot say: {what}",
        code="notation",
        hint="write markers as plain text" if is_marker else None,
    )


class Ebnf(Notation):
    """EBNF with the macros of `structag.text.ebnf_macros`.

    Args:
        grammar: what will be written.
        plain_markers: write markers as strings, which only bytes spell then.
    """

    is_exact = True
    syntax = "EBNF"
    has_macros = True
    any_char = "[^]"

    def __init__(self, grammar: Grammar, plain_markers: bool = False) -> None:
        self.nodes = grammar.nodes
        self.plain_markers = plain_markers

    def other(self, node: Node, operand: Operand) -> str:
        match node:
            case Epsilon():
                return '""'
            case Literal(data, marker) if self.plain_markers or not marker:
                return self._quoted(data, node)
            case Chars(ranges):
                return self._class(ranges)
            case Bytes(members) if members < 1 << 128:
                return self._class(byte_ranges(members))
            case _:
                return self.extra(node, operand)

    def extra(self, node: Node, operand: Operand) -> str:
        """What GBNF does not have in this form."""
        match node:
            case Tokens(ids, negated) if ids:
                return f"{'ExcludeToken' if negated else 'Token'}({', '.join(map(str, ids))})"
            case Budget(child):
                return operand(child, ALT)
            case NoOccurrence(patterns):
                return self.dispatch([], patterns, operand)
            case Not(child) if isinstance(self.nodes[child], Empty):
                return "TagDispatch()"
            case _:
                raise cannot_write(node, self.syntax)

    def alternatives(self, node: Alt, operand: Operand) -> list[str]:
        by_patterns = {
            self.nodes[ref]: ref for ref in node.parts if isinstance(self.nodes[ref], NoOccurrence)
        }
        written: list[str] = []
        joined: set[Ref] = set()
        for ref in node.parts:
            scan = self.nodes[ref]
            text = by_patterns.get(_patterns_of(scan)) if isinstance(scan, Scan) else None
            if isinstance(scan, Scan) and text is not None:
                joined.add(text)
                written.append(self.dispatch(scan.cases, scan.excludes, operand, loops=False))
        rest = [ref for ref in node.parts if not isinstance(self.nodes[ref], Scan) or not written]
        return written + [operand(ref, AND) for ref in rest if ref not in joined]

    def sequence(self, node: Seq, operand: Operand) -> list[str]:
        written: list[str] = []
        at = 0
        while at < len(node.parts):
            scan = self._looped_scan(node.parts[at : at + 2])
            if scan is None:
                written.append(operand(node.parts[at], SEQ))
            else:
                written.append(self.dispatch(scan.cases, scan.excludes, operand))
            at += 1 if scan is None else 2
        return written

    def _looped_scan(self, parts: Sequence[Ref]) -> Scan | None:
        """The scan of a `TagDispatch`: any number of times, then text without its patterns."""
        if len(parts) < 2:
            return None
        loop, text = (self.nodes[ref] for ref in parts)
        if not isinstance(loop, Repeat) or loop.min or loop.max is not None:
            return None
        scan = self.nodes[loop.child]
        return scan if isinstance(scan, Scan) and _patterns_of(scan) == text else None

    def dispatch(
        self,
        cases: Sequence[tuple[bytes, Ref]],
        excludes: Sequence[bytes],
        operand: Operand,
        loops: bool = True,
    ) -> str:
        items = [f"({self._string(trigger)}, {operand(ref, ATOM)})" for trigger, ref in cases]
        if not loops:
            items.append("loop_after_dispatch=false")
        if excludes:
            items.append(f"excludes=({', '.join(map(self._string, excludes))},)")
        return f"TagDispatch({', '.join(items)})"

    def need_names(self, grammar: Grammar) -> set[Ref]:
        """Cases of a scan, since macros take names; budgets but for those with a name already."""
        found: set[Ref] = set()
        for node in grammar.nodes:
            if isinstance(node, Scan):
                found.update(case for _, case in node.cases)
            elif not isinstance(node, Mark):
                inner = [unmarked(grammar, ref) for ref in children(node)]
                found.update(ref for ref in inner if isinstance(grammar.nodes[ref], Budget))
        return found

    def define(self, name: str, node: Node, alternatives: Sequence[str]) -> str:
        if isinstance(node, Budget):
            name = f"{name}[max_tokens={node.max_tokens}]"
        return super().define(name, node, alternatives)

    def name(self, label: str) -> str:
        cleaned = re.sub(r"[^A-Za-z0-9_.-]+", "-", label)
        is_fine = re.match(r"[A-Za-z_]", cleaned) and cleaned not in MACROS
        return cleaned if is_fine else f"rule-{cleaned}"

    def _quoted(self, data: bytes, node: Node) -> str:
        try:
            return self._string(data)
        except UnicodeDecodeError:
            raise cannot_write(node, self.syntax) from None

    def _string(self, data: bytes) -> str:
        return '"' + "".join(_escaped(char, '"\\') for char in data.decode()) + '"'

    def _class(self, ranges: Sequence[tuple[int, int]]) -> str:
        if tuple(ranges) == UNICODE_SCALARS:
            return self.any_char
        missing = normalize_ranges(gaps(ranges, MAX_CODE_POINT))
        negated = sum(high - low + 1 for low, high in ranges) > MAX_CODE_POINT // 2
        text = ""
        for low, high in missing if negated else ranges:
            text += self._class_char(low)
            if high > low:
                text += ("-" if high > low + 1 else "") + self._class_char(high)
        return f"[{'^' if negated else ''}{text}]"

    def _class_char(self, code: int) -> str:
        return "\\u005E" if code == 0x5E else _escaped(chr(code), "[]\\-")


class Gbnf(Ebnf):
    """GBNF.  Tokens are written one by one; free text and budgets are not GBNF's."""

    syntax = "GBNF"
    has_macros = False
    any_char = "."

    def extra(self, node: Node, operand: Operand) -> str:
        match node:
            case Tokens(ids, negated) if len(ids) == 1 or (ids and not negated):
                texts = [f"{'!' if negated else ''}<[{token}]>" for token in ids]
                return texts[0] if len(ids) == 1 else f"({' | '.join(texts)})"
            case Not(child) if isinstance(self.nodes[child], Empty):
                return "(.*)"
            case _:
                raise cannot_write(node, self.syntax)

    def dispatch(
        self,
        cases: Sequence[tuple[bytes, Ref]],
        excludes: Sequence[bytes],
        operand: Operand,
        loops: bool = True,
    ) -> str:
        raise cannot_write(Scan((), ()), self.syntax)

    def define(self, name: str, node: Node, alternatives: Sequence[str]) -> str:
        line = f"{name} ::= {' | '.join(alternatives)}"
        if len(line) <= LINE_LENGTH:
            return line
        return f"{name} ::= " + f" |\n{' ' * (len(name) + 5)}".join(alternatives)

    def name(self, label: str) -> str:
        return re.sub(r"[^A-Za-z0-9-]+", "-", label).strip("-") or "rule"


def _patterns_of(scan: Scan) -> NoOccurrence:
    """The text in which nothing of `scan` occurs."""
    return NoOccurrence(tuple(sorted({trigger for trigger, _ in scan.cases} | {*scan.excludes})))


def _escaped(char: str, special: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if char in short:
        return short[char]
    if char in special:
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
