"""Builds a `Grammar`: interns expressions, and keeps the promises that `expressions` makes.

Equal expressions get the same `Ref`.  The constructors simplify what is free to simplify (nested
sequences, empty parts, adjacent literals) and refuse what has no meaning (a recursive operand
under `And`), so that every later step may rely on it.  What needs the whole grammar (left
recursion, nullable loops, unproductive rules) is `structag.grammar.simplify`'s.

A builder is used by one thread; the grammar it makes is immutable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from structag.errors import GrammarError
from structag.grammar.expressions import (
    MAX_CODE_POINT,
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
)

ByteString: TypeAlias = bytes  # `bytes` is a method of the builder
CODECS = ("json", "xml")
MAX_COUNT = 2**31 - 1
ASCII = (1 << 128) - 1


class GrammarBuilder:
    """Makes expressions and, at the end, a `Grammar`.

    >>> b = GrammarBuilder()
    >>> greeting = b.seq(b.literal(b"hello "), b.alt(b.literal(b"world"), b.literal(b"moon")))
    >>> b.build(greeting).nodes[greeting]
    Seq(parts=(2, 5))
    """

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._interned: dict[type, dict[Node, Ref]] = {}
        self._regular: list[bool] = []
        self._nullable: list[bool | None] = []  # None: depends on a rule
        self._text: list[bool] = []  # certainly only valid UTF-8
        self._rule_names: list[str] = []
        self._rule_bodies: list[Ref | None] = []
        self.empty: Ref = self._intern(Empty(), True, False, True)
        self.epsilon: Ref = self._intern(Epsilon(), True, True, True)

    # -- atoms

    def bytes(self, values: Iterable[int]) -> Ref:
        """One byte out of `values` (0–255)."""
        members = 0
        for value in values:
            if not 0 <= value <= 255:
                raise GrammarError(f"{value} is not a byte", code="grammar-operand")
            members |= 1 << value
        if not members:
            return self.empty
        return self._intern(Bytes(members), True, False, members & ~ASCII == 0)

    def literal(self, data: ByteString, *, marker: bool = False) -> Ref:
        """The byte string `data`; see `Literal` for `marker`."""
        if not data:
            return self.epsilon
        return self._intern(Literal(data, marker), True, False, _is_utf8(data))

    def chars(self, ranges: Iterable[tuple[int, int]]) -> Ref:
        """One character out of `ranges` of code points (inclusive; surrogates drop out)."""
        normal = normalize_ranges(ranges)
        if not normal:
            return self.empty
        return self._intern(Chars(normal), True, False, True)

    @property
    def any_char(self) -> Ref:
        """Any one Unicode scalar value."""
        return self._intern(Chars(UNICODE_SCALARS), True, False, True)

    @property
    def any_text(self) -> Ref:
        """Any valid UTF-8, the empty string included."""
        return self.complement(self.empty)

    def tokens(self, ids: Iterable[int], *, negated: bool = False) -> Ref:
        """One whole token by id; `negated`: any other usable token."""
        members = tuple(sorted(set(ids)))
        if members and members[0] < 0:
            raise GrammarError(f"{members[0]} is not a token id", code="grammar-operand")
        if not members and not negated:
            return self.empty
        return self._intern(Tokens(members, negated), False, False, False)

    # -- composition

    def seq(self, *parts: Ref) -> Ref:
        """The parts one after the other."""
        flat: list[Ref] = []
        for part in parts:
            node = self._nodes[part]
            for item in node.parts if isinstance(node, Seq) else (part,):
                if item == self.empty:
                    return self.empty
                if item == self.epsilon:
                    continue
                if flat and (merged := self._join_literals(flat[-1], item)) is not None:
                    flat[-1] = merged
                else:
                    flat.append(item)
        if len(flat) < 2:
            return flat[0] if flat else self.epsilon
        return self._intern(
            Seq(tuple(flat)),
            all(self._regular[i] for i in flat),
            _all(self._nullable[i] for i in flat),
            all(self._text[i] for i in flat),
        )

    def alt(self, *parts: Ref) -> Ref:
        """Any of the parts."""
        members: set[Ref] = set()
        for part in parts:
            node = self._nodes[part]
            members.update(node.parts if isinstance(node, Alt) else (part,))
        members.discard(self.empty)
        if len(members) < 2:
            return members.pop() if members else self.empty
        flat = tuple(sorted(members))
        return self._intern(
            Alt(flat),
            all(self._regular[i] for i in flat),
            _any(self._nullable[i] for i in flat),
            all(self._text[i] for i in flat),
        )

    def repeat(self, child: Ref, min: int, max: int | None = None) -> Ref:
        """`child` from `min` to `max` times (None: without bound); both up to 2^31 - 1."""
        if min < 0 or (max is not None and max < min):
            raise GrammarError(f"a repeat from {min} to {max}", code="grammar-operand")
        if min > MAX_COUNT or (max is not None and max > MAX_COUNT):
            raise GrammarError(
                f"a repeat count over {MAX_COUNT:,}",
                code="grammar-operand",
                expected="at most 2^31 - 1",
            )
        if max == 0 or child == self.epsilon:
            return self.epsilon
        if child == self.empty:
            return self.epsilon if min == 0 else self.empty
        if min == max == 1:
            return child
        node = self._nodes[child]
        if isinstance(node, Repeat) and node.min <= 1 and node.max is None and max is None:
            child, min = node.child, min if node.min else 0  # (x+){m,} is x{m,}; (x*){m,} is x*
        nullable = True if min == 0 else self._nullable[child]
        return self._intern(
            Repeat(child, min, max), self._regular[child], nullable, self._text[child]
        )

    def optional(self, child: Ref) -> Ref:
        """`child` or nothing."""
        return self.repeat(child, 0, 1)

    def rule(self, name: str) -> Ref:
        """A new rule; give it a body with `define` before `build`."""
        self._rule_names.append(name)
        self._rule_bodies.append(None)
        return self._intern(Rule(len(self._rule_names) - 1), False, None, False)

    def define(self, rule: Ref, body: Ref) -> None:
        """Give `rule` its body, once."""
        node = self._nodes[rule]
        if not isinstance(node, Rule) or self._rule_bodies[node.index] is not None:
            raise GrammarError("a rule is defined once", code="grammar-operand")
        self._rule_bodies[node.index] = body

    # -- regular operators

    def both(self, *parts: Ref) -> Ref:
        """What belongs to every part (`And`); regular operands only."""
        self._require_regular(parts, "And")
        members = set(parts)
        if self.empty in members:
            return self.empty
        if len(members) == 1:
            return members.pop()
        flat = tuple(sorted(members))
        if not flat:
            raise GrammarError("an intersection of nothing", code="grammar-operand")
        return self._intern(
            And(flat),
            True,
            _all(self._nullable[i] for i in flat),
            any(self._text[i] for i in flat),
        )

    def complement(self, child: Ref) -> Ref:
        """The texts that are not in `child` (`Not`); a regular operand only."""
        self._require_regular((child,), "Not")
        nullable = self._nullable[child]
        return self._intern(Not(child), True, None if nullable is None else not nullable, True)

    def encoded(self, codec: str, child: Ref) -> Ref:
        """The spellings of the texts of `child` under `codec`; what is no text drops out."""
        if codec not in CODECS:
            raise GrammarError(f"codec {codec!r}", code="grammar-operand", expected="json or xml")
        self._require_regular((child,), "Encoded")
        if child in (self.empty, self.epsilon):
            return child
        if not self._text[child]:
            child = self.both(self.any_text, child)
        return self._intern(Encoded(codec, child), True, self._nullable[child], True)

    def no_occurrence(self, patterns: Iterable[ByteString] = ()) -> Ref:
        """Text in which none of `patterns` occurs."""
        unique = tuple(sorted(set(patterns)))
        for pattern in unique:
            _require_pattern(pattern)
        if not unique:
            return self.any_text
        return self._intern(NoOccurrence(unique), True, True, True)

    def erase(self, count: int, child: Ref) -> Ref:
        """`child` with its assertion marks 0 … `count`-1 left out."""
        self._require_regular((child,), "Erase")
        return self._intern(Erase(count, child), True, None, False)

    def assertion(self, index: int) -> Ref:
        """Assertion mark `index`; only inside `erase`."""
        return self._intern(Assertion(index), True, False, False)

    def transparent(self, child: Ref) -> Ref:
        """`child` with marks anywhere in between; only inside `erase`."""
        self._require_regular((child,), "Transparent")
        return self._intern(Transparent(child), True, self._nullable[child], False)

    # -- context

    def scan(
        self, cases: Iterable[tuple[ByteString, Ref]], excludes: Iterable[ByteString] = ()
    ) -> Ref:
        """Free text until a trigger completes, then its expression; equal triggers are joined."""
        joined: dict[bytes, Ref] = {}
        for trigger, ref in cases:
            _require_pattern(trigger)
            joined[trigger] = self.alt(joined[trigger], ref) if trigger in joined else ref
        banned = tuple(sorted(set(excludes)))
        for exclude in banned:
            _require_pattern(exclude)
        if not joined:
            return self.empty
        return self._intern(Scan(tuple(sorted(joined.items())), banned), False, False, False)

    def budget(self, child: Ref, max_tokens: int) -> Ref:
        """`child`, at most `max_tokens` tokens of it; see `Budget` for the operands allowed."""
        if not 0 <= max_tokens <= MAX_COUNT:
            raise GrammarError(f"a budget of {max_tokens} tokens", code="grammar-operand")
        if child in (self.epsilon, self.empty):
            return child
        if not self._can_close_anywhere(child):
            raise GrammarError(
                "a token budget over an expression that cannot end after every character",
                code="grammar-operand",
                expected="free text, or a repeat from 0 of one character or token",
            )
        return self._intern(Budget(child, max_tokens), False, True, self._text[child])

    def unordered(
        self, members: Sequence[tuple[Ref, bool]], rest: Ref | None, separator: Ref
    ) -> Ref:
        """Members in any order; see `Unordered`."""
        kept = tuple((ref, need) for ref, need in members if ref != self.empty or need)
        if any(ref == self.empty for ref, _ in kept):
            return self.empty
        rest = None if rest == self.empty else rest
        self._require_consuming([ref for ref, _ in kept] + ([] if rest is None else [rest]))
        if not kept and rest is None:
            return self.epsilon
        nullable = not any(need for _, need in kept)
        return self._intern(Unordered(kept, rest, separator), False, nullable, False)

    def tally(
        self,
        kinds: Sequence[tuple[Ref, int, int | None]],
        min: int,
        max: int | None,
        separator: Ref,
    ) -> Ref:
        """A list counted by kinds; see `Tally`.  Counts that cannot be met give `empty`."""
        for _, low, high in (*kinds, (0, min, max)):
            if low < 0 or low > MAX_COUNT or (high is not None and high > MAX_COUNT):
                raise GrammarError(f"a count from {low} to {high}", code="grammar-operand")
        if (max is not None and max < min) or any(h is not None and h < n for _, n, h in kinds):
            return self.empty
        if any(ref == self.empty and low > 0 for ref, low, _ in kinds):
            return self.empty
        kept = tuple(k for k in kinds if k[0] != self.empty and k[2] != 0)
        self._require_consuming([ref for ref, _, _ in kept])
        least = sum(low for _, low, _ in kept)
        most = None if any(h is None for _, _, h in kept) else sum(h or 0 for _, _, h in kept)
        if (max is not None and least > max) or (most is not None and most < min):
            return self.empty
        if not kept or max == 0:
            return self.epsilon
        nullable = least == 0 and min == 0
        return self._intern(Tally(kept, min, max, separator), False, nullable, False)

    def mark(self, label: str, child: Ref) -> Ref:
        """`child`, labelled with where it comes from."""
        if child in (self.epsilon, self.empty):
            return child
        return self._intern(
            Mark(label, child), self._regular[child], self._nullable[child], self._text[child]
        )

    # -- the whole

    def node(self, ref: Ref) -> Node:
        """The expression behind a `Ref`."""
        return self._nodes[ref]

    def is_regular(self, ref: Ref) -> bool:
        """Whether `ref` may be an operand of `And`, `Not`, `Encoded` and `Erase`."""
        return self._regular[ref]

    def is_nullable(self, ref: Ref) -> bool | None:
        """Whether `ref` derives the empty sequence; None if a rule or an `Erase` decides."""
        return self._nullable[ref]

    def build(self, root: Ref) -> Grammar:
        """The grammar that starts at `root`.

        Raises:
            GrammarError: `grammar-undefined`, a rule without a body.
        """
        rules: list[tuple[str, Ref]] = []
        for name, body in zip(self._rule_names, self._rule_bodies, strict=True):
            if body is None:
                raise GrammarError(
                    f"rule `{name}` is used but not defined",
                    code="grammar-undefined",
                    hint=f"add a definition of `{name}`",
                )
            rules.append((name, body))
        return Grammar(tuple(self._nodes), tuple(rules), root)

    def _intern(self, node: Node, regular: bool, nullable: bool | None, text: bool) -> Ref:
        table = self._interned.setdefault(type(node), {})
        ref = table.get(node)
        if ref is None:
            ref = table[node] = len(self._nodes)
            self._nodes.append(node)
            self._regular.append(regular)
            self._nullable.append(nullable)
            self._text.append(text)
        return ref

    def _join_literals(self, left: Ref, right: Ref) -> Ref | None:
        a, b = self._nodes[left], self._nodes[right]
        if isinstance(a, Literal) and isinstance(b, Literal) and a.marker == b.marker:
            return self.literal(a.data + b.data, marker=a.marker)
        return None

    def _require_regular(self, refs: Iterable[Ref], operator: str) -> None:
        for ref in refs:
            if not self._regular[ref]:
                raise GrammarError(
                    f"an operand of {operator} is not regular",
                    code="grammar-operand",
                    expected="an expression without rules, tokens, triggers, budgets or counts",
                )

    def _require_consuming(self, refs: Iterable[Ref]) -> None:
        for ref in refs:
            if self._nullable[ref]:
                raise GrammarError(
                    "a member of an unordered or counted list derives the empty string",
                    code="grammar-operand",
                    expected="members of at least one byte or token",
                )

    def _can_close_anywhere(self, ref: Ref) -> bool:
        node = self._nodes[ref]
        while isinstance(node, Mark):
            node = self._nodes[node.child]
        if isinstance(node, NoOccurrence) or node == Not(self.empty):
            return True
        return (
            isinstance(node, Repeat)
            and node.min == 0
            and isinstance(self._nodes[node.child], Bytes | Chars | Tokens)
        )


def normalize_ranges(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sorted, disjoint, non-adjacent ranges of Unicode scalar values.

    >>> normalize_ranges([(0x61, 0x7A), (0x30, 0x39), (0x62, 0x7B), (0xD7FF, 0xE000)])
    ((48, 57), (97, 123), (55295, 55295), (57344, 57344))
    """
    pieces: list[tuple[int, int]] = []
    for low, high in ranges:
        low, high = max(low, 0), min(high, MAX_CODE_POINT)
        for base, top in UNICODE_SCALARS:
            if max(low, base) <= min(high, top):
                pieces.append((max(low, base), min(high, top)))
    pieces.sort()
    merged: list[tuple[int, int]] = []
    for low, high in pieces:
        if merged and low <= merged[-1][1] + 1 and not (merged[-1][1] == 0xD7FF and low == 0xE000):
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def _require_pattern(pattern: bytes) -> None:
    if not pattern or not _is_utf8(pattern):
        raise GrammarError(
            f"{pattern!r} is no search pattern",
            code="grammar-operand",
            expected="a non-empty UTF-8 string",
        )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _all(values: Iterable[bool | None]) -> bool | None:
    seen = set(values)
    return False if False in seen else None if None in seen else True


def _any(values: Iterable[bool | None]) -> bool | None:
    seen = set(values)
    return True if True in seen else None if None in seen else False
