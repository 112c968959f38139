"""Writes a regular grammar as an ECMA-262 pattern; see `structag.text.regex` for the way back.

What derives nothing is left out.  Rules are written out where they are used, so a recursive one is
refused, and a pattern may be much longer than its grammar: `MAX_LENGTH` bounds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from structag.errors import LimitError, UnsupportedError
from structag.grammar.builder import normalize_ranges
from structag.grammar.expressions import (
    MAX_CODE_POINT,
    UNICODE_SCALARS,
    Alt,
    Bytes,
    Chars,
    Empty,
    Epsilon,
    Grammar,
    Literal,
    Mark,
    Node,
    Not,
    Ref,
    Repeat,
    Rule,
    Seq,
    children,
)
from structag.grammar.left_recursion import strongly_connected
from structag.grammar.properties import productive_nodes
from structag.grammar.utf8 import byte_ranges
from structag.grammar.write import ALT, ATOM, REPEAT, SEQ, counted, gaps
from structag.text.notation import cannot_write

MAX_LENGTH = 1_000_000
"""Characters of a pattern."""

_SYNTAX = "a regular expression"
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_QUANTIFIERS = {(0, 1): "?", (0, None): "*", (1, None): "+"}


def write_regex(grammar: Grammar, plain_markers: bool = False) -> str:
    """A pattern whose full matches are the texts of `grammar`.

    Raises:
        UnsupportedError: `notation`, something that is recursive or that no pattern says.
        LimitError: `limit`, a pattern of more than `MAX_LENGTH` characters.
    """
    nodes, rules = grammar.nodes, grammar.rules
    texts: dict[Ref, tuple[str, int]] = {}
    productive = productive_nodes(grammar)

    def successors(ref: Ref) -> Sequence[Ref]:
        node = nodes[ref]
        if isinstance(node, Not) and isinstance(nodes[node.child], Empty):
            return ()
        parts = (rules[node.index][1],) if isinstance(node, Rule) else children(node)
        return [part for part in parts if productive[part]]

    def operand(ref: Ref, level: int) -> str:
        text, own = texts[ref]
        return text if own >= level else f"(?:{text})"

    for group in strongly_connected([grammar.root], successors):
        ref = group[0]
        node = nodes[ref]
        if len(group) > 1:
            names = [
                rules[n.index][0] for n in map(nodes.__getitem__, group) if isinstance(n, Rule)
            ]
            raise UnsupportedError(
                f"{_SYNTAX} cannot say: the recursive rule `{min(names)}`", code="notation"
            )
        match node:
            case Mark(_, child):
                texts[ref] = texts[child]
            case Rule():
                texts[ref] = texts[rules[node.index][1]]
            case Seq(parts):
                texts[ref] = "".join(operand(part, SEQ) for part in parts), SEQ
            case Alt(parts):
                written = [operand(part, SEQ) for part in parts if productive[part]]
                texts[ref] = "|".join(written), ALT
            case Repeat(child) if not productive[child]:
                texts[ref] = "(?:)", ATOM
            case Repeat(child, low, high):
                counts = _QUANTIFIERS.get((low, high)) or counted(low, high)
                texts[ref] = operand(child, ATOM) + counts, REPEAT
            case Not(child) if isinstance(nodes[child], Empty):
                texts[ref] = "[^]*", REPEAT
            case _:
                texts[ref] = _leaf(node, plain_markers)
        if len(texts[ref][0]) > MAX_LENGTH:
            raise LimitError(
                f"a pattern of more than {MAX_LENGTH:,} characters",
                limit="pattern length",
                value=MAX_LENGTH,
                setting=None,
            )
    return texts[grammar.root][0]


def _leaf(node: Node, plain_markers: bool) -> tuple[str, int]:
    match node:
        case Epsilon():
            return "(?:)", ATOM
        case Literal(data, marker) if plain_markers or not marker:
            try:
                text = data.decode()
            except UnicodeDecodeError:
                raise cannot_write(node, _SYNTAX) from None
            return "".join(map(escaped, text)), ATOM if len(text) == 1 else SEQ
        case Chars(ranges):
            return character_class(ranges), ATOM
        case Bytes(members) if members < 1 << 128:
            return character_class(byte_ranges(members)), ATOM
        case _:
            raise cannot_write(node, _SYNTAX)


def escaped(char: str) -> str:
    """`char` as itself, inside or outside a class, under the `u` flag."""
    if char in _SHORT:
        return _SHORT[char]
    if char in "^$\\.*+?()[]{}|/":
        return f"\\{char}"
    if char == "-":
        return "\\x2D"
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\u{{{code:X}}}"


def character_class(
    ranges: Sequence[tuple[int, int]], escape: Callable[[str], str] = escaped
) -> str:
    """A class in brackets."""
    if tuple(ranges) == UNICODE_SCALARS:
        return "[^]"
    negated = sum(high - low + 1 for low, high in ranges) > MAX_CODE_POINT // 2
    text = ""
    for low, high in normalize_ranges(gaps(ranges, MAX_CODE_POINT)) if negated else ranges:
        text += escape(chr(low))
        if high > low:
            text += ("-" if high > low + 1 else "") + escape(chr(high))
    return f"[{'^' if negated else ''}{text}]"
