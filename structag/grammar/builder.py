"""Builds a `Grammar`: interns expressions, and keeps the promises that `expressions` makes.

Equal expressions get the same `Ref`.  The constructors simplify what is free to simplify (nested
sequences, empty parts, adjacent literals) and refuse what has no meaning (a recursive operand
under `And`), so that every later step may rely on it.  What needs the whole grammar (left
recursion, nullable loops, unproductive rules) is `structag.grammar.simplify`'s.

The table of expressions lies in the core (`core/grammar/grammar.h`), and with it the constructors
that every front end calls all the time; this module adds the others.  A builder is used by one
thread; the grammar it makes is immutable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial

from structag._core import GrammarTable
from structag.cache import Cache
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
    Distinct,
    Epsilon,
    Erase,
    Grammar,
    Mark,
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
)
from structag.grammar.fragments import Fragment, Note, Parts

CODECS = ("json", "xml", "python_double", "python_single")
MAX_COUNT = 2**31 - 1


class GrammarBuilder(GrammarTable):
    """Makes expressions and, at the end, a `Grammar`.

    Args:
        fragments: where `fragment` finds what other builders made.
        origins: mark everything with where it comes from, not only what lowering itself needs; see
            `origin`.

    From the table come, besides what is defined here:

    - ``empty``, ``epsilon``, ``any_char``, ``any_text``;
    - ``bytes(values)``, one byte (0–255) out of some; ``literal(data, marker=False)``;
      ``chars(ranges)``, one character out of inclusive ranges (surrogates drop out);
    - ``seq(*parts)``, ``alt(*parts)``, ``optional(child)``;
    - ``repeat(child, min, max=None)``, counts up to 2^31 - 1, None is without bound;
    - ``words(texts)``, any of some fixed texts; ``in_order(members, separator)``, members that are
      ``(expression, required)`` in that order, the others left out or not, separated;
    - ``rule(name)``, a new rule, and ``define(rule, body)``, once for each;
    - ``both(*parts)`` (`And`), ``complement(child)`` (`Not`), ``encoded(codec, child)`` (what is no
      text drops out of `child`), for regular operands;
    - ``mark(label, child)``;
    - ``node(ref)``, the expression behind a `Ref`, and ``intern(node)``, the `Ref` of an expression
      as it stands; cheaper than `node`: ``literal_data(ref)`` (None if it is no literal),
      ``sequence_length(ref)`` (1 if it is no sequence), ``alternatives(ref)`` (itself if it is no
      union);
    - ``is_regular(ref)``, ``is_nullable(ref)`` (None: a rule or an `Erase` decides),
      ``is_text(ref)`` (certainly only valid UTF-8).

    Each refuses operands without a meaning with a `GrammarError`, `grammar-operand`.

    >>> b = GrammarBuilder()
    >>> greeting = b.seq(b.literal(b"hello "), b.alt(b.literal(b"world"), b.literal(b"moon")))
    >>> b.build(greeting).nodes[greeting]
    Seq(parts=(2, 5))
    """

    def __init__(self, fragments: Cache[Fragment] | None = None, *, origins: bool = False) -> None:
        super().__init__()
        self.origins = origins
        self.notes: list[Note] = []
        """What front ends have to say about their sources."""
        self.marker_tokens: set[str] = set()
        """See `Grammar.marker_tokens`."""
        self.parts = Parts(0, 0)
        """The fragments that were put together so far."""
        self._fragments = fragments

    def fragment(
        self,
        key: Hashable | None,
        make: Callable[[GrammarBuilder], Ref],
        pointer: str = "",
        *,
        is_operand: bool = True,
        owner: object = None,
    ) -> Ref:
        """What `make` builds, in this builder; taken from the builder's fragments if it is there.

        Args:
            key: says everything that `make` depends on but the builder; None: it is not kept.
            make: builds it.
            pointer: the place that its notes are put at.
            is_operand: it may become an operand of something that takes regular expressions only;
                otherwise it is referred to, if it can be and the builder has fragments.
            owner: what `key` has only the identity of; kept alive with the fragment.  The labels of
                marks then are pointers that `pointer` is put before.
        """
        fragments = None if key is None else self._fragments
        fragment = None if fragments is None else fragments.get(key)
        if fragment is None or fragment.owner is not owner:
            fragment = self._make_fragment(key, make, is_operand, owner)
        else:
            self._count(fragment.size, fragment.size)
        self._note(fragment, pointer)
        if fragment.module is not None:
            return self.refer(fragment.module)
        return self.extend(fragment.grammar.native, "" if owner is None else pointer)

    def owned_fragments(
        self,
        keys: Sequence[Hashable],
        owners: Sequence[object],
        make: Callable[[int, GrammarBuilder], Ref],
        pointers: Sequence[str],
    ) -> list[Ref]:
        """`fragment` of each of many that have owners; `make` is told which one to build."""
        known = [None] * len(keys) if self._fragments is None else self._fragments.get_all(keys)
        fragments: list[Fragment] = []
        size = 0
        for index, (fragment, owner) in enumerate(zip(known, owners, strict=True)):
            if fragment is None or fragment.owner is not owner:
                fragment = self._make_fragment(keys[index], partial(make, index), True, owner)
            else:
                size += fragment.size
            fragments.append(fragment)
            if fragment.notes or fragment.grammar.marker_tokens:
                self._note(fragment, pointers[index])
        self._count(size, size)
        return self.extend_each([f.grammar.native for f in fragments], pointers)

    def _make_fragment(
        self,
        key: Hashable | None,
        make: Callable[[GrammarBuilder], Ref],
        is_operand: bool,
        owner: object,
    ) -> Fragment:
        builder = GrammarBuilder(self._fragments, origins=self.origins)
        grammar = builder.build(make(builder))
        is_copied = is_operand or self.origins or self._fragments is None
        module = None if is_copied else grammar.native.as_module()
        size = grammar.native.node_count + builder.parts.met
        fragment = Fragment(grammar, tuple(builder.notes), module, size, owner)
        if key is not None and self._fragments is not None:
            self._fragments.put(key, fragment)
        self._count(size, builder.parts.found)
        return fragment

    def _count(self, met: int, found: int) -> None:
        self.parts = Parts(self.parts.met + met, self.parts.found + found)

    def _note(self, fragment: Fragment, pointer: str) -> None:
        for place, content in fragment.notes:
            self.notes.append(Note(pointer + place, content))
        if fragment.grammar.marker_tokens:
            self.marker_tokens.update(fragment.grammar.marker_tokens)

    @property
    def shares(self) -> bool:
        """Whether fragments are kept, and are the same wherever they are used."""
        return self._fragments is not None and not self.origins

    def origin(self, label: str, child: Ref) -> Ref:
        """`child`, marked with where it comes from if this builder keeps origins.

        Labels of formats are JSON pointers (``/format``), those of schemas such pointers behind a
        ``#``, those of rules their names.
        """
        return self.mark(label, child) if self.origins else child

    def tokens(self, ids: Iterable[int], *, negated: bool = False) -> Ref:
        """One whole token by id; `negated`: any other usable token."""
        members = tuple(sorted(set(ids)))
        if members and members[0] < 0:
            raise GrammarError(f"{members[0]} is not a token id", code="grammar-operand")
        if not members and not negated:
            return self.empty
        return self.intern(Tokens(members, negated))

    def no_occurrence(self, patterns: Iterable[bytes] = ()) -> Ref:
        """Text in which none of `patterns` occurs."""
        unique = tuple(sorted(set(patterns)))
        for pattern in unique:
            _require_pattern(pattern)
        if not unique:
            return self.any_text
        return self.intern(NoOccurrence(unique))

    def erase(self, count: int, child: Ref) -> Ref:
        """`child` with its assertion marks 0 … `count`-1 left out."""
        self._require_regular((child,), "Erase")
        return self.intern(Erase(count, child))

    def assertion(self, index: int) -> Ref:
        """Assertion mark `index`; only inside `erase`."""
        return self.intern(Assertion(index))

    def transparent(self, child: Ref) -> Ref:
        """`child` with marks anywhere in between; only inside `erase`."""
        self._require_regular((child,), "Transparent")
        return self.intern(Transparent(child))

    def scan(self, cases: Iterable[tuple[bytes, Ref]], excludes: Iterable[bytes] = ()) -> Ref:
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
        return self.intern(Scan(tuple(sorted(joined.items())), banned))

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
        return self.intern(Budget(child, max_tokens))

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
        return self.intern(Unordered(kept, rest, separator))

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
        return self.intern(Tally(kept, min, max, separator))

    def distinct(self, codec: str | None, child: Ref) -> Ref:
        """The key of an item of a counted list; see `Distinct`."""
        self._require_regular((child,), "Distinct")
        return child if child == self.empty else self.intern(Distinct(codec, child))

    def build(self, root: Ref) -> Grammar:
        """The grammar that starts at `root`; it shares this table.

        Raises:
            GrammarError: `grammar-undefined`, a rule without a body.
        """
        name = self.undefined_rule
        if name is not None:
            raise GrammarError(
                f"rule `{name}` is used but not defined",
                code="grammar-undefined",
                hint=f"add a definition of `{name}`",
            )
        return Grammar.from_native(self.snapshot(root), tuple(sorted(self.marker_tokens)))

    def _require_regular(self, refs: Iterable[Ref], operator: str) -> None:
        for ref in refs:
            if not self.is_regular(ref):
                raise GrammarError(
                    f"an operand of {operator} is not regular",
                    code="grammar-operand",
                    expected="an expression without rules, tokens, triggers, budgets or counts",
                )

    def _require_consuming(self, refs: Iterable[Ref]) -> None:
        for ref in refs:
            if self.is_nullable(ref):
                raise GrammarError(
                    "a member of an unordered or counted list derives the empty string",
                    code="grammar-operand",
                    expected="members of at least one byte or token",
                )

    def _can_close_anywhere(self, ref: Ref) -> bool:
        """Whether what `ref` derives may be cut off after every character or token."""
        pending = [ref]
        while pending:
            ref = pending.pop()
            match self.node(ref):
                case NoOccurrence() | Epsilon():
                    pass
                case Not(child) if child == self.empty:
                    pass
                case Repeat(child, 0, _):  # the first step of a round may be left out
                    node = self.node(child)
                    first, *rest = node.parts if isinstance(node, Seq) else (child,)
                    if not isinstance(self.node(first), Bytes | Chars | Tokens):
                        rest = [child]
                    pending.extend(rest)
                case Mark(_, child):
                    pending.append(child)
                case Seq(parts) | And(parts) | Alt(parts):
                    pending.extend(parts)
                case _:
                    return False
        return True


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
