"""All strings of a grammar up to a length, over a tiny alphabet; and random grammars to try.

The sets are solved by iteration to the least fixpoint, so that left recursion, ambiguity and
nullable cycles need no thought.  Much faster than the reference matcher, and much narrower: no
tokens, codecs, scans or assertions.
"""

from __future__ import annotations

import itertools
import random

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    And,
    Bytes,
    Chars,
    Empty,
    Epsilon,
    Grammar,
    Literal,
    Mark,
    NoOccurrence,
    Not,
    Ref,
    Repeat,
    Rule,
    Seq,
    Tally,
    Unordered,
)

Words = frozenset[bytes]
EPSILON: Words = frozenset({b""})


def language(grammar: Grammar, alphabet: bytes, length: int) -> Words:
    """The strings over `alphabet` of at most `length` bytes that `grammar` derives."""
    letters = [bytes([letter]) for letter in alphabet]
    every = frozenset(
        b"".join(word) for n in range(length + 1) for word in itertools.product(letters, repeat=n)
    )
    values: list[Words] = [frozenset()] * len(grammar.nodes)
    changed = True
    while changed:
        changed = False
        for ref, node in enumerate(grammar.nodes):
            if isinstance(node, Rule):
                value = values[grammar.rules[node.index][1]]
            else:
                value = _words(grammar, ref, values, every, length)
            if value != values[ref]:
                values[ref] = value
                changed = True
    return values[grammar.root]


def _words(grammar: Grammar, ref: Ref, values: list[Words], every: Words, length: int) -> Words:
    match grammar.nodes[ref]:
        case Empty():
            return frozenset()
        case Epsilon():
            return EPSILON
        case Bytes(members):
            return frozenset(w for w in every if len(w) == 1 and members >> w[0] & 1)
        case Chars(ranges):
            return frozenset(
                w for w in every if len(w) == 1 and any(a <= w[0] <= b for a, b in ranges)
            )
        case Literal(data):
            return every & {data}
        case Seq(parts):
            return _chain([values[part] for part in parts], length)
        case Alt(parts):
            return frozenset().union(*(values[part] for part in parts))
        case And(parts):
            return every.intersection(*(values[part] for part in parts))
        case Not(child):
            return every - values[child]
        case Mark(_, child):
            return values[child]
        case NoOccurrence(patterns):
            return frozenset(w for w in every if not any(p in w for p in patterns))
        case Repeat(child, low, high):
            return _repeated(values[child], low, high, length)
        case Unordered(members, rest, separator):
            return _unordered(
                [(values[m], need) for m, need in members],
                None if rest is None else values[rest],
                values[separator],
                length,
            )
        case Tally(kinds, low, high, separator):
            return _tally(
                [(values[k], a, b) for k, a, b in kinds], low, high, values[separator], length
            )
        case node:
            raise NotImplementedError(node)


def _chain(parts: list[Words], length: int) -> Words:
    found = EPSILON
    for part in parts:
        found = frozenset(a + b for a in found for b in part if len(a) + len(b) <= length)
    return found


def _repeated(child: Words, low: int, high: int | None, length: int) -> Words:
    """A nullable child reaches every string with at most `length` + 1 rounds."""
    rounds = min(low, length + 1) if b"" in child else low
    if rounds > length + 1:
        return frozenset()
    found = _chain([child] * rounds, length)
    extra = length + 1 if high is None else min(high - low, length + 1)
    for _ in range(extra):
        found |= _chain([found, child], length)
    return found


def _unordered(
    members: list[tuple[Words, bool]], rest: Words | None, separator: Words, length: int
) -> Words:
    found: set[bytes] = set()
    start = (b"", frozenset(range(len(members))))
    seen = {start}
    pending = [start]
    while pending:
        word, left = pending.pop()
        if not any(members[i][1] for i in left):
            found.add(word)
        glue = separator if word else EPSILON
        items = [(members[i][0], left - {i}) for i in left]
        items += [] if rest is None else [(rest, left)]
        for item, remaining in items:
            for longer in _chain([frozenset({word}), glue, item], length):
                if (longer, remaining) not in seen:
                    seen.add((longer, remaining))
                    pending.append((longer, remaining))
    return frozenset(found)


def _tally(
    kinds: list[tuple[Words, int, int | None]],
    low: int,
    high: int | None,
    separator: Words,
    length: int,
) -> Words:
    found: set[bytes] = set()
    start = (b"", (0,) * len(kinds))
    seen = {start}
    pending = [start]
    while pending:
        word, counts = pending.pop()
        total = sum(counts)
        if total >= low and all(c >= k[1] for c, k in zip(counts, kinds, strict=True)):
            found.add(word)
        if high is not None and total >= high:
            continue
        for i, (item, _, most) in enumerate(kinds):
            if most is not None and counts[i] >= most:
                continue
            more = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
            glue = separator if total else EPSILON
            for longer in _chain([frozenset({word}), glue, item], length):
                if (longer, more) not in seen:
                    seen.add((longer, more))
                    pending.append((longer, more))
    return frozenset(found)


class RandomGrammar:
    """Draws a small grammar over ``ab``, with many left-recursive and nullable shapes."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.builder = GrammarBuilder()
        self.rules = [self.builder.rule(f"r{i}") for i in range(self.rng.randint(0, 3))]

    def draw(self) -> Grammar:
        for rule in self.rules:
            self.builder.define(rule, self.body())
        root = self.rng.choice(self.rules) if self.rules else self.expression(3)
        return self.builder.build(root)

    def body(self) -> Ref:
        b, rng = self.builder, self.rng
        parts = [self.expression(2) for _ in range(rng.randint(0, 2))]
        for _ in range(rng.randint(1, 2)):
            tail = [self.expression(1) for _ in range(rng.randint(0, 2))]
            prefix = [b.optional(self.atom())] if rng.random() < 0.3 else []
            parts.append(b.seq(*prefix, rng.choice(self.rules), *tail))
        if rng.random() < 0.9:
            parts.append(self.atom())
        return b.alt(*parts)

    def atom(self) -> Ref:
        b, rng = self.builder, self.rng
        if self.rules and rng.random() < 0.35:
            return rng.choice(self.rules)
        return rng.choice(
            [b.literal(b"a"), b.literal(b"b"), b.literal(b"ab"), b.epsilon, b.bytes(b"ab")]
        )

    def item(self, depth: int) -> Ref:
        return self.builder.seq(
            self.builder.literal(self.rng.choice([b"a", b"b"])), self.expression(depth)
        )

    def expression(self, depth: int) -> Ref:
        b, rng = self.builder, self.rng
        if depth == 0:
            return self.atom()
        kind = rng.choice(
            ["seq", "seq", "alt", "repeat", "repeat", "mark", "list", "tally", "set", "atom"]
        )
        if kind == "seq":
            return b.seq(*(self.expression(depth - 1) for _ in range(rng.randint(2, 3))))
        if kind == "alt":
            return b.alt(*(self.expression(depth - 1) for _ in range(rng.randint(2, 3))))
        if kind == "repeat":
            low = rng.randint(0, 2)
            high = rng.choice([None, low, low + 1, low + 2])
            return b.repeat(self.expression(depth - 1), low, high)
        if kind == "mark":
            return b.mark("m", self.expression(depth - 1))
        if kind == "set":
            part = b.alt(b.repeat(b.literal(b"ab"), 0), b.literal(b"b"), b.no_occurrence([b"ba"]))
            return rng.choice(
                [b.complement(part), b.both(part, b.complement(b.literal(b"b"))), part]
            )
        if kind == "list":
            members = [
                (self.consuming(depth), rng.random() < 0.4) for _ in range(rng.randint(1, 2))
            ]
            rest = self.consuming(depth) if rng.random() < 0.4 else None
            return b.unordered(members, rest, self.atom())
        if kind == "tally":
            kinds = [
                (self.consuming(depth), *rng.choice([(0, None), (0, 1), (1, 2), (1, 1)]))
                for _ in range(rng.randint(1, 2))
            ]
            return b.tally(kinds, *rng.choice([(0, None), (0, 2), (1, 2), (2, None)]), self.atom())
        return self.atom()

    def consuming(self, depth: int) -> Ref:
        """A list member; now and then a rule, which may be nullable or left-recursive."""
        if self.rules and self.rng.random() < 0.4:
            return self.builder.seq(self.rng.choice(self.rules), self.item(depth - 1))
        return self.item(depth - 1)
