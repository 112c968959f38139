"""Structural hashes: equal grammars hash equal, however they were built.

A hash depends on what expressions are made of, not on rule names, numbering or the order of
alternatives.  Expressions that hang on no rule are hashed bottom up.  Recursive rules are hashed
per strongly connected component, by refinement: all rules start equal, and every round hashes each
body with the previous round's hashes, until no round tells more rules apart.  What the rules are
told apart by is then part of the hash, so that equal hashes mean bisimilar rules; an expression
outside the component that is built like a rule in it gets that rule's hash.

Not detected: a recursive component that could be folded into another one it refers to; and, past
`MAX_WORK`, a component whose rules come in another order.  Then equal grammars hash differently;
different ones never hash equal.  Hashes are unkeyed BLAKE2b, the same in every process.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import blake2b

from structag.grammar.expressions import (
    Alt,
    And,
    Assertion,
    Budget,
    Bytes,
    Chars,
    Distinct,
    Encoded,
    Erase,
    Grammar,
    Literal,
    Mark,
    Node,
    NoOccurrence,
    Ref,
    Repeat,
    Rule,
    Scan,
    Seq,
    Tally,
    Tokens,
    Unordered,
    children,
)
from structag.grammar.left_recursion import strongly_connected
from structag.grammar.utf8 import byte_ranges

MAX_WORK = 500_000  # expressions hashed over all rounds of one component
HASH_BYTES = 16
_UNKNOWN = bytes(HASH_BYTES)
_ASCII = 1 << 128


def fingerprint(grammar: Grammar) -> str:
    """The hash of the language's structure, marks left out, in hexadecimal."""
    value = structural_hash(grammar)[grammar.root]
    if grammar.marker_tokens:
        value = blake2b(
            value + "\0".join(grammar.marker_tokens).encode(), digest_size=HASH_BYTES
        ).digest()
    return value.hex()


def structural_hash(grammar: Grammar, marks: bool = False) -> list[bytes]:
    """The hash of every expression; with `marks`, marks and their labels count."""
    hasher = _Hasher(grammar, marks)
    if grammar.rules:
        hasher.hash_recursive()
    else:
        for ref in range(len(grammar.nodes)):
            hasher.hash_node(ref)
    return hasher.values


class _Hasher:
    def __init__(self, grammar: Grammar, marks: bool) -> None:
        self.grammar = grammar
        self.marks = marks
        self.values = [_UNKNOWN] * len(grammar.nodes)
        # the hash of an expression built like a recursive rule's body -> that rule's hash
        self.rule_like: dict[bytes, bytes] = {}
        self.resolved: dict[Ref, Ref] = {}

    def hash_node(self, ref: Ref) -> None:
        """Hash an expression whose children are hashed."""
        node = self.grammar.nodes[ref]
        if isinstance(node, Rule):
            self.values[ref] = self.values[self.grammar.rules[node.index][1]]
        else:
            found = hash_from_children(node, self.values, self.marks)
            self.values[ref] = self.rule_like.get(found, found)

    def hash_recursive(self) -> None:
        nodes, rules = self.grammar.nodes, self.grammar.rules

        def successors(ref: Ref) -> Sequence[Ref]:
            node = nodes[ref]
            return (rules[node.index][1],) if isinstance(node, Rule) else children(node)

        for group in strongly_connected(range(len(nodes)), successors):
            if len(group) > 1 or group[0] in successors(group[0]):
                self._hash_component(sorted(group))
            else:
                self.hash_node(group[0])

    def _hash_component(self, members: list[Ref]) -> None:
        nodes, values = self.grammar.nodes, self.values
        bodies: dict[Ref, Ref] = {}
        others: list[Ref] = []
        for ref in members:
            node = nodes[ref]
            if isinstance(node, Rule):
                bodies[ref] = self._resolve(ref)
            else:
                others.append(ref)
        self._refine(bodies, others)
        final = {rule: values[rule] for rule in bodies}
        self._rehash(others)
        for rule, body in bodies.items():
            if body not in bodies:
                self.rule_like[values[body]] = final[rule]
        for ref in others:
            self.hash_node(ref)

    def _resolve(self, ref: Ref) -> Ref:
        """What `ref` is once rules and unseen marks are looked through; a rule if only they are."""
        path: list[Ref] = []
        seen: set[Ref] = set()
        while ref not in seen:
            seen.add(ref)
            node = self.grammar.nodes[ref]
            if ref in self.resolved:
                ref = self.resolved[ref]
                break
            if isinstance(node, Rule):
                path.append(ref)
                ref = self.grammar.rules[node.index][1]
            elif isinstance(node, Mark) and not self.marks:
                path.append(ref)
                ref = node.child
        self.resolved.update(dict.fromkeys(path, ref))
        return ref

    def _refine(self, bodies: dict[Ref, Ref], others: list[Ref]) -> None:
        """Give every rule its hash: that of its class, and of how the classes are told apart."""
        values = self.values
        work = class_count = 0
        while True:
            before = {rule: values[rule] for rule in bodies}
            self._rehash(others)
            after = {rule: _digest(b"rule", values[body]) for rule, body in bodies.items()}
            found_count = len(set(after.values()))
            if found_count == class_count:
                break
            class_count = found_count
            for rule, value in after.items():
                values[rule] = value
            work += len(others)
            if work > MAX_WORK:
                self._number(bodies, others)
                return
        pairs = sorted({before[rule] + after[rule] for rule in bodies})
        difference = _digest(b"classes", *pairs)
        for rule in bodies:
            values[rule] = _digest(b"recursive", before[rule], difference)

    def _number(self, bodies: dict[Ref, Ref], others: list[Ref]) -> None:
        """Give every rule a hash by its number and what all the bodies say with such numbers."""
        numbers = {rule: number.to_bytes(HASH_BYTES, "big") for number, rule in enumerate(bodies)}
        for rule, number in numbers.items():
            self.values[rule] = number
        self._rehash(others)
        whole = _digest(b"numbered", *(self.values[body] for body in bodies.values()))
        for rule, number in numbers.items():
            self.values[rule] = _digest(whole, number)

    def _rehash(self, refs: list[Ref]) -> None:
        for ref in refs:
            self.values[ref] = hash_from_children(self.grammar.nodes[ref], self.values, self.marks)


def hash_from_children(node: Node, values: Sequence[bytes], marks: bool) -> bytes:
    """The hash of `node`, no rule, given the hashes of its children."""
    match node:
        case Literal(data, marker):
            return _digest(b"marker" if marker else b"literal", data)
        case Seq(parts):
            return _digest(b"seq", *[values[ref] for ref in parts])
        case Alt(parts) | And(parts):
            members = sorted({values[ref] for ref in parts})
            if len(members) == 1:
                return members[0]
            return _digest(b"alt" if isinstance(node, Alt) else b"and", *members)
        case Repeat(child, low, high):
            return _digest(b"repeat", _numbers(low, high), values[child])
        case Mark(label, child):
            return _digest(b"mark", values[child], label.encode()) if marks else values[child]
        case Bytes(members) if members < _ASCII:  # the same as characters
            return _digest(b"chars", _numbers(*(x for pair in byte_ranges(members) for x in pair)))
        case Bytes(members):
            return _digest(b"bytes", members.to_bytes(32, "little"))
        case Chars(ranges):
            return _digest(b"chars", _numbers(*(edge for pair in ranges for edge in pair)))
        case Encoded(codec, child):
            return _digest(b"encoded", values[child], codec.encode())
        case Distinct(codec, child):
            return _digest(b"distinct", values[child], (codec or "").encode())
        case NoOccurrence(patterns):
            return _digest(b"no-occurrence", *map(_text, patterns))
        case Scan(cases, excludes):
            pairs = sorted(_text(trigger) + values[ref] for trigger, ref in cases)
            return _digest(b"scan", _numbers(len(pairs)), *pairs, *map(_text, excludes))
        case Erase(number, child) | Budget(child, number):
            name = b"erase" if isinstance(node, Erase) else b"budget"
            return _digest(name, _numbers(number), values[child])
        case Assertion(index):
            return _digest(b"assertion", _numbers(index))
        case Tokens(ids, negated):
            return _digest(b"other-tokens" if negated else b"tokens", _numbers(*ids))
        case Unordered() | Tally():
            return _list_hash(node, values)
        case _:
            return _digest(type(node).__name__.encode(), *[values[ref] for ref in children(node)])


def _list_hash(node: Unordered | Tally, values: Sequence[bytes]) -> bytes:
    if isinstance(node, Unordered):
        rest = b"" if node.rest is None else values[node.rest]
        members = sorted(values[ref] + _numbers(need) for ref, need in node.members)
        return _digest(b"unordered", values[node.separator], _text(rest), *members)
    kinds = sorted(values[ref] + _numbers(low, high) for ref, low, high in node.kinds)
    return _digest(b"tally", values[node.separator], _numbers(node.min, node.max), *kinds)


def _digest(name: bytes, *parts: bytes) -> bytes:
    return blake2b(b"%d:%s%s" % (len(name), name, b"".join(parts)), digest_size=HASH_BYTES).digest()


def _numbers(*values: int | None) -> bytes:
    return struct.pack(f"<{len(values)}q", *[-1 if value is None else value for value in values])


def _text(data: bytes) -> bytes:
    return b"%d:%s" % (len(data), data)
