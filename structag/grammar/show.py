"""A `Grammar` as text to read: EBNF, or a tree for the terminal.

`show_ebnf` writes strings quoted, characters as classes, ``? * + {m,n}`` for repeats, ``&`` and
``~`` for intersection and complement, and the rest in functional notation.  The text is for people:
no front end reads it back; see `structag.text.notation` for those that do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from structag.grammar.expressions import (
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
    Rule,
    Scan,
    Seq,
    Tally,
    Tokens,
    Transparent,
    Unordered,
    children,
)
from structag.grammar.utf8 import byte_ranges
from structag.grammar.write import ALT, AND, REPEAT, SEQ, Notation, Operand, Writer, counted, gaps

if TYPE_CHECKING:
    from rich.tree import Tree

TREE_DEPTH = 40
TREE_SIZE = 2_000
_ELLIPSIS = "…"

_Show: TypeAlias = Callable[[int], str]
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def show_ebnf(grammar: Grammar) -> str:
    """`grammar` in EBNF, the root first.

    >>> from structag.grammar.builder import GrammarBuilder
    >>> b = GrammarBuilder()
    >>> print(show_ebnf(b.build(b.seq(b.literal(b"a"), b.repeat(b.chars([(48, 57)]), 1, 3)))))
    root ::= "a" [0-9]{1,3}
    """
    return shown_writer(grammar).write()


def shown_writer(grammar: Grammar) -> Writer:
    """Writes `grammar` in the notation for people."""
    return Writer(grammar, _Shown())


def show_tree(grammar: Grammar) -> Tree:
    """`grammar` as a tree; a rule is opened where it comes first, depth and size are capped."""
    from rich.text import Text
    from rich.tree import Tree

    root = Tree(Text(node_label(grammar, grammar.root)))
    opened: set[int] = set()
    size = 1
    pending = [(root, grammar.root, 1)]
    while pending:
        branch, ref, depth = pending.pop(0) if len(pending) < 64 else pending.pop()
        parts = _tree_children(grammar, ref, opened)
        if parts and (depth >= TREE_DEPTH or size + len(parts) > TREE_SIZE):
            branch.add(Text(_ELLIPSIS))
            continue
        for part in parts:
            size += 1
            pending.append((branch.add(Text(node_label(grammar, part))), part, depth + 1))
    return root


def _tree_children(grammar: Grammar, ref: Ref, opened: set[int]) -> Sequence[Ref]:
    node = grammar.nodes[ref]
    if not isinstance(node, Rule):
        return children(node)
    if node.index in opened:
        return ()
    opened.add(node.index)
    return (grammar.rules[node.index][1],)


def node_label(grammar: Grammar, ref: Ref) -> str:
    match node := grammar.nodes[ref]:
        case Rule(index):
            return f"rule {grammar.rules[index][0]}"
        case Mark(label):
            return f"mark {label}"
        case Seq() | Alt() | And() | Not() | Erase() | Transparent():
            return type(node).__name__.lower()
        case Repeat(_, low, high):
            return f"repeat {_Shown().counts(low, high)}"
        case Encoded(codec):
            return f"{codec} spelling"
        case Distinct(codec):
            return "distinct text" if codec is None else f"{codec} spelling of a distinct text"
        case Scan(cases):
            return "scan " + ", ".join(quote(trigger) for trigger, _ in cases)
        case Budget(_, max_tokens):
            return f"budget of {max_tokens} tokens"
        case Unordered(members, rest):
            required = sum(need for _, need in members)
            return f"unordered, {required} required" + (", rest" if rest is not None else "")
        case Tally(_, low, high):
            return f"tally {_Shown().counts(low, high)}"
        case _:
            return _Shown().text(node, lambda _ref, _level: "")


def quote(data: bytes) -> str:
    """`data` as a string in double quotes; what does not print is escaped.

    >>> print(quote(b'a"\\n\\xff'))
    "a\\"\\n\\xFF"
    """
    text = data.decode("utf-8", "surrogateescape")
    return '"' + "".join('\\"' if char == '"' else _escaped(char) for char in text) + '"'


class _Shown(Notation):
    """The notation for people: everything has one, and nothing reads it back."""

    def other(self, node: Node, operand: Operand) -> str:
        match node:
            case And(parts):
                return " & ".join(operand(ref, SEQ) for ref in parts)
            case Not(child):
                text = operand(child, REPEAT)
                return "any_text()" if text == "nothing()" else f"~{text}"
            case Empty():
                return "nothing()"
            case Epsilon():
                return '""'
            case Literal(data, marker):
                return f"marker({quote(data)})" if marker else quote(data)
            case Bytes(members):
                return _class(byte_ranges(members), 255, _byte)
            case Chars(ranges):
                if ranges == UNICODE_SCALARS:
                    return "any_char()"
                return _class(ranges, 0x10FFFF, _code_point)
            case _:
                return _call(node, operand)

    def level(self, node: Node) -> int:
        match node:
            case And():
                return AND
            case Not():
                return REPEAT
            case _:
                return super().level(node)

    def name(self, label: str) -> str:
        return re.sub(r"[^A-Za-z0-9_'-]+", "-", label) or "rule"


_CODEC_NAMES = {
    "json": "json_string",
    "xml": "xml_text",
    "python_double": "python_string",
    "python_single": "python_single_quoted_string",
}


def _call(node: Node, operand: Operand) -> str:
    """The functional notation of what EBNF has no operator for."""

    def show(ref: Ref) -> str:
        return operand(ref, ALT)

    match node:
        case Encoded(codec, child):
            return f"{_CODEC_NAMES[codec]}({show(child)})"
        case Distinct(codec, child):
            text = show(child) if codec is None else f"{_CODEC_NAMES[codec]}({show(child)})"
            return f"distinct({text})"
        case NoOccurrence(patterns):
            return f"text_without({', '.join(map(quote, patterns))})" if patterns else "any_text()"
        case Scan(cases, excludes):
            items = [f"{quote(trigger)} => {show(ref)}" for trigger, ref in cases]
            return f"scan({', '.join(items + [f'without {quote(text)}' for text in excludes])})"
        case Erase(count, child):
            return f"erase({count}, {show(child)})"
        case Assertion(index):
            return f"assertion({index})"
        case Transparent(child):
            return f"transparent({show(child)})"
        case Tokens(ids, negated):
            return f"{'other_tokens' if negated else 'tokens'}({', '.join(map(str, ids))})"
        case Budget(child, max_tokens):
            return f"budget({show(child)}, {max_tokens})"
        case Unordered(members, rest, separator):
            items = [f"{show(ref)}{'' if need else ' optional'}" for ref, need in members]
            items += [] if rest is None else [f"rest {show(rest)}"]
            return f"unordered({', '.join([*items, f'separator {show(separator)}'])})"
        case Tally(kinds, low, high, separator):
            items = [f"{show(ref)} {counted(least, most)}" for ref, least, most in kinds]
            items += [f"all {counted(low, high)}", f"separator {show(separator)}"]
            return f"tally({', '.join(items)})"
        case _:
            raise AssertionError(node)


def _class(ranges: Iterable[tuple[int, int]], last: int, show: _Show) -> str:
    """A character class; negated if it holds more than half of what there is."""
    plain = [*ranges]
    missing = gaps(plain, last)
    size = sum(high - low + 1 for low, high in plain)
    negated = missing != [] and size > last // 2
    shown = [
        show(low) if low == high else f"{show(low)}{'-' if high > low + 1 else ''}{show(high)}"
        for low, high in (missing if negated else plain)
    ]
    return f"[{'^' if negated else ''}{''.join(shown)}]"


def _byte(value: int) -> str:
    return _code_point(value) if value < 0x80 else f"\\x{value:02X}"


def _code_point(code: int) -> str:
    return f"\\{chr(code)}" if chr(code) in "[]^-" else _escaped(chr(code))


def _escaped(char: str) -> str:
    code = ord(char)
    if char in _ESCAPES:
        return _ESCAPES[char]
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02X}"
    if char.isprintable():
        return char
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
