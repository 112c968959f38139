"""A `Grammar` as text to read: EBNF, or a tree for the terminal.

`show_ebnf` writes strings quoted, characters as classes, ``? * + {m,n}`` for repeats, ``&`` and
``~`` for intersection and complement, and the rest in functional notation.  What is used more than
once, or long, gets a name of its own, so that the output stays linear in the grammar at any depth.
Marks are not shown.  The text is for people: no front end reads it back.
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
from structag.grammar.properties import reachable_nodes
from structag.grammar.utf8 import byte_ranges

if TYPE_CHECKING:
    from rich.tree import Tree

SHARED_LENGTH = 24  # characters from which on something used twice gets a name
LONG_LENGTH = 240  # characters from which on anything gets a name
LINE_LENGTH = 88
TREE_DEPTH = 40
TREE_SIZE = 2_000
_ELLIPSIS = "…"

# How tightly an expression binds; operands that bind less tightly get parentheses.
_ALT, _AND, _SEQ, _REPEAT, _ATOM = range(5)
_Operand: TypeAlias = Callable[[Ref, int], str]  # an operand's text, for a place that binds so
_Show: TypeAlias = Callable[[int], str]
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def show_ebnf(grammar: Grammar) -> str:
    """`grammar` in EBNF, the root first.

    >>> from structag.grammar.builder import GrammarBuilder
    >>> b = GrammarBuilder()
    >>> print(show_ebnf(b.build(b.seq(b.literal(b"a"), b.repeat(b.chars([(48, 57)]), 1, 3)))))
    root ::= "a" [0-9]{1,3}
    """
    return _Writer(grammar).write()


def show_tree(grammar: Grammar) -> Tree:
    """`grammar` as a tree; a rule is opened where it comes first, depth and size are capped."""
    from rich.text import Text
    from rich.tree import Tree

    root = Tree(Text(_tree_label(grammar, grammar.root)))
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
            pending.append((branch.add(Text(_tree_label(grammar, part))), part, depth + 1))
    return root


def _tree_children(grammar: Grammar, ref: Ref, opened: set[int]) -> Sequence[Ref]:
    node = grammar.nodes[ref]
    if not isinstance(node, Rule):
        return children(node)
    if node.index in opened:
        return ()
    opened.add(node.index)
    return (grammar.rules[node.index][1],)


def _tree_label(grammar: Grammar, ref: Ref) -> str:
    match node := grammar.nodes[ref]:
        case Rule(index):
            return f"rule {grammar.rules[index][0]}"
        case Mark(label):
            return f"mark {label}"
        case Seq() | Alt() | And() | Not() | Erase() | Transparent():
            return type(node).__name__.lower()
        case Repeat(_, low, high):
            return f"repeat {_counts(low, high)}"
        case Encoded(codec):
            return f"{codec} spelling"
        case Scan(cases):
            return "scan " + ", ".join(quote(trigger) for trigger, _ in cases)
        case Budget(_, max_tokens):
            return f"budget of {max_tokens} tokens"
        case Unordered(members, rest):
            required = sum(need for _, need in members)
            return f"unordered, {required} required" + (", rest" if rest is not None else "")
        case Tally(_, low, high):
            return f"tally {_counts(low, high)}"
        case _:
            return _text_of(node, lambda _ref, _level: "")


class _Writer:
    """Renders expressions bottom up; long or shared ones are named and written as definitions."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.flags = reachable_nodes(grammar)
        self.texts: dict[Ref, tuple[str, int]] = {}  # text and how tightly it binds
        self.named: dict[Ref, str] = {}
        self.alternatives: dict[Ref, list[str]] = {}
        self.rule_names = self._name_rules()

    def write(self) -> str:
        grammar = self.grammar
        use_counts = [0] * len(grammar.nodes)
        for ref, node in enumerate(grammar.nodes):
            if self.flags[ref]:
                for child in () if isinstance(node, Mark) else children(node):
                    use_counts[self._unmarked(child)] += 1
        for ref, node in enumerate(grammar.nodes):
            if self.flags[ref]:
                self._render(ref, node, use_counts[ref] > 1)
        definitions: list[str] = []
        seen: set[str] = {"root"}
        root = grammar.nodes[grammar.root]
        first = grammar.root
        if isinstance(root, Rule) and self.rule_names[root.index] == "root":
            first = grammar.rules[root.index][1]
        pending = [("root", first)]
        by_name = {name: ref for ref, name in self.named.items()}
        by_name |= {name: grammar.rules[i][1] for i, name in self.rule_names.items()}
        while pending:
            name, ref = pending.pop()
            definition = self._definition(name, ref)
            definitions.append(definition)
            used = [word for word in self._names_in(ref) if word not in seen and word in by_name]
            for word in reversed(list(dict.fromkeys(used))):
                seen.add(word)
                pending.append((word, by_name[word]))
        return "\n".join(definitions)

    def _name_rules(self) -> dict[int, str]:
        names: dict[int, str] = {}
        taken: set[str] = set()
        root = self.grammar.nodes[self.grammar.root]
        order = [node.index for node in self._reachable_rules()]
        if isinstance(root, Rule):
            order.sort(key=lambda index: index != root.index)
            if self.grammar.rules[root.index][0] != "root":
                taken.add("root")
        else:
            taken.add("root")
        for index in order:
            wanted = re.sub(r"[^A-Za-z0-9_'-]+", "-", self.grammar.rules[index][0]) or "rule"
            name, number = wanted, 1
            while name in taken:
                number += 1
                name = f"{wanted}-{number}"
            taken.add(name)
            names[index] = name
        self.taken = taken
        return names

    def _reachable_rules(self) -> list[Rule]:
        nodes = zip(self.grammar.nodes, self.flags, strict=True)
        return [node for node, flag in nodes if flag and isinstance(node, Rule)]

    def _render(self, ref: Ref, node: Node, is_shared: bool) -> None:
        if isinstance(node, Mark):
            self.texts[ref] = self.texts[node.child]
            return
        if isinstance(node, Rule):
            self.texts[ref] = (self.rule_names[node.index], _ATOM)
            return
        if isinstance(node, Alt):
            self.alternatives[ref] = [self._operand(part, _AND) for part in node.parts]
        text = _text_of(node, self._operand)
        self.texts[ref] = (text, _level(node))
        if children(node) and (
            len(text) > LONG_LENGTH or (is_shared and len(text) > SHARED_LENGTH)
        ):
            self.named[ref] = self._new_name()

    def _new_name(self) -> str:
        number = len(self.named) + 1
        while f"part-{number}" in self.taken:
            number += 1
        self.taken.add(f"part-{number}")
        return f"part-{number}"

    def _operand(self, ref: Ref, level: int) -> str:
        ref = self._unmarked(ref)
        if ref in self.named:
            return self.named[ref]
        text, own = self.texts[ref]
        return text if own >= level else f"({text})"

    def _unmarked(self, ref: Ref) -> Ref:
        while isinstance(node := self.grammar.nodes[ref], Mark):
            ref = node.child
        return ref

    def _definition(self, name: str, ref: Ref) -> str:
        ref = self._unmarked(ref)
        if ref in self.named and self.named[ref] != name:
            return f"{name} ::= {self.named[ref]}"
        text = self.texts[ref][0]
        if len(name) + len(text) + 5 > LINE_LENGTH and ref in self.alternatives:
            indent = "\n" + " " * (len(name) + 3) + "| "
            text = indent.join(self.alternatives[ref])
        return f"{name} ::= {text}"

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


def quote(data: bytes) -> str:
    """`data` as a string in double quotes; what does not print is escaped.

    >>> print(quote(b'a"\\n\\xff'))
    "a\\"\\n\\xFF"
    """
    text = data.decode("utf-8", "surrogateescape")
    return '"' + "".join('\\"' if char == '"' else _escaped(char) for char in text) + '"'


def _text_of(node: Node, operand: _Operand) -> str:
    match node:
        case Seq(parts):
            return " ".join(operand(ref, _SEQ) for ref in parts)
        case Alt(parts):
            return " | ".join(operand(ref, _AND) for ref in parts)
        case And(parts):
            return " & ".join(operand(ref, _SEQ) for ref in parts)
        case Not(child):
            text = operand(child, _REPEAT)
            return "any_text()" if text == "nothing()" else f"~{text}"
        case Repeat(child, low, high):
            return operand(child, _ATOM) + _counts(low, high)
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


_CODEC_NAMES = {
    "json": "json_string",
    "xml": "xml_text",
    "python_double": "python_string",
    "python_single": "python_single_quoted_string",
}


def _call(node: Node, operand: _Operand) -> str:
    """The functional notation of what EBNF has no operator for."""

    def show(ref: Ref) -> str:
        return operand(ref, _ALT)

    match node:
        case Encoded(codec, child):
            return f"{_CODEC_NAMES[codec]}({show(child)})"
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
            items = [f"{show(ref)} {_range(least, most)}" for ref, least, most in kinds]
            items += [f"all {_range(low, high)}", f"separator {show(separator)}"]
            return f"tally({', '.join(items)})"
        case _:
            raise AssertionError(node)


def _level(node: Node) -> int:
    match node:
        case Alt():
            return _ALT
        case And():
            return _AND
        case Seq():
            return _SEQ
        case Repeat() | Not():
            return _REPEAT
        case _:
            return _ATOM


def _counts(low: int, high: int | None) -> str:
    short = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    return short.get((low, high)) or _range(low, high)


def _range(low: int, high: int | None) -> str:
    if low == high:
        return f"{{{low}}}"
    return f"{{{low},{'' if high is None else high}}}"


def _class(ranges: Iterable[tuple[int, int]], last: int, show: _Show) -> str:
    """A character class; negated if it holds more than half of what there is."""
    plain = [*ranges]
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in [*plain, (last + 1, last + 1)]:
        if start < low and (start, low - 1) != (0xD800, 0xDFFF):
            gaps.append((start, low - 1))
        start = high + 1
    size = sum(high - low + 1 for low, high in plain)
    negated = gaps != [] and size > last // 2
    shown = [
        show(low) if low == high else f"{show(low)}{'-' if high > low + 1 else ''}{show(high)}"
        for low, high in (gaps if negated else plain)
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
