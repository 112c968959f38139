"""A `Grammar` → the flat program that the native core reads.

``pack_grammar`` gives two byte strings: the *program*, little-endian int32 words, and the *pool*,
the bytes that the program's ``(offset, length)`` pairs point into.

    program = version (1), node count, rule count, root node,
              then per node: kind, argument count, arguments…,
              then per rule: its body's node

Only what the root reaches is there, in the grammar's order; children are indexes smaller than
their node's own.  Characters are spelled out as byte structure, and marks leave no trace, so node
numbers of the program differ from the grammar's.  Kinds and arguments (`∞` is -1):

    0 Empty · 1 Epsilon · 2 Bytes 8 words of the set, low bytes first, low bit first
    3 Literal offset, length · 5 Seq children · 6 Alt children · 7 Repeat child, min, max|∞
    8 Rule index · 9 And children · 10 Not child · 11 Encoded codec (0 json, 1 xml), child
    12 NoOccurrence n, n × (offset, length)
    13 Scan cases, excludes, cases × (offset, length, child), excludes × (offset, length)
    14 Erase count, child · 15 Assertion index · 16 Transparent child
    17 Tokens negated (0/1), ids · 18 Budget child, max tokens
    19 Unordered members, rest|-1, separator, members × (child, required 0/1)
    20 Tally kinds, min, max|∞, separator, kinds × (child, min, max|∞)
"""

from __future__ import annotations

import sys
from array import array
from functools import lru_cache
from struct import unpack

from structag.grammar.builder import CODECS
from structag.grammar.expressions import (
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
    Repeat,
    Rule,
    Scan,
    Seq,
    Tally,
    Tokens,
    Transparent,
    Unordered,
)
from structag.grammar.properties import reachable_nodes
from structag.grammar.utf8 import CodePointRanges, Utf8Tree, utf8_tree

VERSION = 1

# The kind of each expression in the program.  4 is Chars, which is never written as such.
KINDS: dict[type, int] = {
    Empty: 0,
    Epsilon: 1,
    Bytes: 2,
    Literal: 3,
    Seq: 5,
    Alt: 6,
    Repeat: 7,
    Rule: 8,
    And: 9,
    Not: 10,
    Encoded: 11,
    NoOccurrence: 12,
    Scan: 13,
    Erase: 14,
    Assertion: 15,
    Transparent: 16,
    Tokens: 17,
    Budget: 18,
    Unordered: 19,
    Tally: 20,
}


def pack_grammar(grammar: Grammar) -> tuple[bytes, bytes]:
    """The program and the pool of `grammar`.  Linear; about a microsecond per expression."""
    flags = reachable_nodes(grammar)
    used = [
        n.index for n, flag in zip(grammar.nodes, flags, strict=True) if flag and type(n) is Rule
    ]
    rule_numbers = {index: number for number, index in enumerate(sorted(used))}
    writer = _Writer(rule_numbers)
    writer.write_nodes(grammar.nodes, flags)
    at = writer.at
    words = array("i", (VERSION, writer.count, len(rule_numbers), at[grammar.root]))
    words.extend(writer.words)
    words.extend([at[grammar.rules[index][1]] for index in rule_numbers])
    if sys.byteorder == "big":
        words.byteswap()
    return words.tobytes(), bytes(writer.pool)


class _Writer:
    """Writes nodes one after the other; `at[i]` is where expression *i* of the grammar went."""

    def __init__(self, rule_numbers: dict[int, int]) -> None:
        self.words: list[int] = []
        self.pool = bytearray()
        self.count = 0
        self.at: list[int] = []
        self._rule_numbers = rule_numbers
        self._texts: dict[bytes, int] = {}  # offset in the pool

    def write_nodes(self, nodes: tuple[Node, ...], flags: bytearray) -> None:
        words, at, pool, texts = self.words, self.at, self.pool, self._texts
        for i, node in enumerate(nodes):
            if not flags[i]:
                at.append(-1)
                continue
            if isinstance(node, Seq):
                words += (5, len(node.parts))
                words += [at[ref] for ref in node.parts]
            elif isinstance(node, Alt):
                words += (6, len(node.parts))
                words += [at[ref] for ref in node.parts]
            elif isinstance(node, Literal):
                data = node.data
                if data not in texts:
                    texts[data] = len(pool)
                    pool += data
                words += (3, 2, texts[data], len(data))
            elif isinstance(node, Chars):
                self._write_chars(node.ranges)
                continue
            elif isinstance(node, Repeat):
                high = -1 if node.max is None else node.max
                words += (7, 3, at[node.child], node.min, high)
            elif isinstance(node, Mark):
                at.append(at[node.child])
                continue
            else:
                arguments = self._arguments(node)
                words += (KINDS[type(node)], len(arguments))
                words += arguments
            at.append(self.count)
            self.count += 1

    def _arguments(self, node: Node) -> list[int]:
        at = self.at
        match node:
            case Bytes(members):
                return list(_set_words(members))
            case Rule(index):
                return [self._rule_numbers[index]]
            case And(parts):
                return [at[ref] for ref in parts]
            case Not(child) | Transparent(child):
                return [at[child]]
            case Encoded(codec, child):
                return [CODECS.index(codec), at[child]]
            case NoOccurrence(patterns):
                return [len(patterns), *self._all_texts(patterns)]
            case Scan(cases, excludes):
                arguments = [len(cases), len(excludes)]
                for trigger, ref in cases:
                    arguments += (*self._text(trigger), at[ref])
                return arguments + self._all_texts(excludes)
            case Erase(count, child):
                return [count, at[child]]
            case Assertion(index):
                return [index]
            case Tokens(ids, negated):
                return [int(negated), *ids]
            case Budget(child, max_tokens):
                return [at[child], max_tokens]
            case Unordered(members, rest, separator):
                arguments = [len(members), -1 if rest is None else at[rest], at[separator]]
                for ref, need in members:
                    arguments += (at[ref], int(need))
                return arguments
            case Tally(kinds, low, high, separator):
                arguments = [len(kinds), low, _count(high), at[separator]]
                for ref, least, most in kinds:
                    arguments += (at[ref], least, _count(most))
                return arguments
            case _:
                return []

    def _write_chars(self, ranges: CodePointRanges) -> None:
        """The byte structure of a set of characters; its last node stands for the whole."""
        base = self.count
        for kind, arguments in _char_nodes(ranges):
            if kind == 2:
                self.words += (2, 8, *arguments)
            else:
                self.words += (kind, len(arguments))
                self.words += [base + relative for relative in arguments]
            self.count += 1
        self.at.append(self.count - 1)

    def _all_texts(self, texts: tuple[bytes, ...]) -> list[int]:
        return [number for text in texts for number in self._text(text)]

    def _text(self, text: bytes) -> tuple[int, int]:
        if text not in self._texts:
            self._texts[text] = len(self.pool)
            self.pool += text
        return self._texts[text], len(text)


@lru_cache(maxsize=1024)
def _char_nodes(ranges: CodePointRanges) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The program nodes of a set of characters; children are relative to the first of them.

    >>> [kind for kind, _ in _char_nodes(((0xE9, 0xE9), (0x3B1, 0x3B1)))]
    [2, 2, 5, 2, 2, 5, 6]
    """
    nodes: list[tuple[int, tuple[int, ...]]] = []
    places: dict[tuple[int, tuple[int, ...]], int] = {}

    def add(kind: int, arguments: tuple[int, ...]) -> int:
        place = places.setdefault((kind, arguments), len(nodes))
        if place == len(nodes):
            nodes.append((kind, arguments))
        return place

    def add_tree(tree: Utf8Tree) -> int:  # at most four levels deep
        branches = []
        for members, rest in tree:
            lead = add(2, _set_words(members))
            branches.append(add(5, (lead, add_tree(rest))) if rest else lead)
        return add(6, tuple(branches)) if len(branches) > 1 else branches[0]

    add_tree(utf8_tree(ranges))
    return tuple(nodes)


@lru_cache(maxsize=1024)
def _set_words(members: int) -> tuple[int, ...]:
    return unpack("<8i", members.to_bytes(32, "little"))


def _count(value: int | None) -> int:
    return -1 if value is None else value
