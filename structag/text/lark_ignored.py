"""What ``%ignore`` means: before a terminal, pieces of ignored text, each taken as a whole.

Lark takes a piece where it begins, and goes on behind it; a shorter part of it is no piece.  So
what comes after a piece must not begin with what would have made it longer.  Mostly it cannot (a
name does not begin with a space); otherwise an intersection says so; and where that depends on
more than the terminal that follows, the grammar is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from structag.errors import UnsupportedError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    And,
    Assertion,
    Bytes,
    Chars,
    Epsilon,
    Literal,
    Mark,
    Node,
    Not,
    Ref,
    Repeat,
    Seq,
    Tokens,
    children,
)
from structag.grammar.utf8 import byte_ranges
from structag.text import charset
from structag.text.automaton import Automaton, Derivatives
from structag.text.charset import CharSet
from structag.text.lark_taken import SHORTEST
from structag.text.rules import Span

_JSON_FIRST: CharSet = tuple((ord(char), ord(char)) for char in '"-0123456789[fnt{')


class Piece(NamedTuple):
    """One ``%ignore``: its texts, and what they begin with.

    `more`: the characters with which something may begin that makes a text longer, and `surely`
    those that do alone; `rest`: what may make it longer, if that is the same for all texts, as an
    expression and as a state.
    """

    ref: Ref
    first: CharSet
    more: CharSet
    surely: CharSet
    rest: tuple[Ref, int] | None
    automaton: Automaton
    span: Span


class Skip:
    """`combine` of a terminal with the ignored text before it.

    Its operands are the terminal, and all ignored terminals.

    Args:
        taken: for each of these, how much of a text it takes: see `lark_taken`.
        spans: where they stand.
    """

    def __init__(self, taken: Sequence[str | None], spans: Sequence[Span]) -> None:
        self.taken = taken
        self.spans = spans
        self._lowering: _Lowering | None = None

    def __call__(self, b: GrammarBuilder, refs: Sequence[Ref]) -> Ref:
        terminal, *ignored = refs
        if self._lowering is None or self._lowering.b is not b:
            pieces = map(_piece, [b] * len(ignored), ignored, self.taken, self.spans)
            self._lowering = _Lowering(b, list(pieces))
        return self._lowering.before(terminal)


class _Lowering:
    def __init__(self, b: GrammarBuilder, pieces: list[Piece]) -> None:
        self.b = b
        self.pieces = pieces
        # Pieces that the same makes longer are one group; nothing makes those of the first longer.
        self.groups: dict[object, Piece | None] = {None: None}
        self.group_of = [
            None if not piece.more else piece.rest or index for index, piece in enumerate(pieces)
        ]
        self.groups.update(zip(self.group_of, pieces, strict=True))
        self.groups[None] = None
        self.known: dict[Ref, Ref] = {}

    def before(self, terminal: Ref) -> Ref:
        """`terminal` with ignored text before it."""
        b = self.b
        if len(self.groups) > 1 and terminal != b.epsilon and _may_be_empty(b, terminal):
            raise UnsupportedError(
                "a terminal that may be empty is not supported with this ignored text",
                code="grammar-feature",
                hint="make it optional where it is used",
            )
        first = _first(b, terminal)
        if any(charset.intersect(first, piece.more) for piece in self.pieces):
            return self._run(terminal, first)
        return b.seq(self._run(b.epsilon, ()), terminal)

    def _run(self, terminal: Ref, first: CharSet) -> Ref:
        """Any number of pieces, then `terminal`, which may begin with `first`."""
        found = self.known.get(terminal)
        if found is not None:
            return found
        b = self.b
        has_rules = len(self.groups) > 2
        runs = {group: b.rule("ignored") if has_rules else b.empty for group in self.groups}
        for group in reversed(self.groups):
            longer = self.groups[group]
            again: list[Ref] = []
            options = [self._after(longer, terminal, first)]
            for piece, target in zip(self.pieces, self.group_of, strict=True):
                ref = self._after(longer, piece.ref, piece.first)
                if target == group:
                    again.append(ref)
                else:
                    options.append(b.seq(ref, runs[target]))
            body = b.seq(b.repeat(b.alt(*again), 0), b.alt(*options))
            if has_rules:
                b.define(runs[group], body)
            else:
                runs[group] = body
        found = self.known[terminal] = runs[None]
        return found

    def _after(self, piece: Piece | None, ref: Ref, first: CharSet) -> Ref:
        """`ref`, which begins with `first`, without what makes `piece` before it longer."""
        b = self.b
        if piece is None or not charset.intersect(first, piece.more):
            return ref
        if piece.rest is None or not b.is_regular(ref):
            raise _refusal("what follows may make it longer", piece.span)
        rest, state = piece.rest
        if not charset.subtract(first, piece.surely):
            return b.empty
        kept = b.both(ref, b.complement(b.seq(rest, b.any_text)))
        automaton = Derivatives(b, _looks_around(piece.span)).automaton(kept)
        if not any(automaton.ends):
            return b.empty
        if _begins(automaton, piece.automaton, state):
            raise _refusal(
                "whether what follows makes it longer depends on more than that", piece.span
            )
        return kept


def _begins(shorter: Automaton, longer: Automaton, state: int) -> bool:
    """Whether a text of `shorter` may begin one of `longer`, which is in `state`."""
    pending = [(0, state)]
    seen = set(pending)
    for left, right in pending:  # grows while it is read
        if shorter.ends[left]:
            return True
        for one, left_chars in shorter.edges[left].items():
            for other, right_chars in longer.edges[right].items():
                pair = (one, other)
                if pair not in seen and charset.intersect(left_chars, right_chars):
                    seen.add(pair)
                    pending.append(pair)
    return False


def _piece(b: GrammarBuilder, ref: Ref, taken: str | None, span: Span) -> Piece:
    if _may_be_empty(b, ref):
        ref = b.both(ref, b.repeat(b.any_char, 1))
    derivatives = Derivatives(b, _looks_around(span))
    automaton = derivatives.automaton(ref)
    ends = [state for state, is_end in enumerate(automaton.ends) if is_end]
    more = _chars(automaton, ends)
    if more and taken is None:
        raise _refusal("how much of a text it takes depends on the order of its parts", span)
    if more and taken == SHORTEST:
        ref, more = b.both(ref, b.complement(b.seq(ref, b.repeat(b.any_char, 1)))), ()
    rest = None
    surely: list[tuple[int, int]] = []
    if more and len(ends) == 1:
        surely.extend(automaton.edges[ends[0]].get(ends[0], ()))
        left = derivatives.after(ref, _way(automaton, ends[0]))
        rest = b.both(left, b.repeat(b.any_char, 1)), ends[0]
    first = _chars(automaton, [0])
    return Piece(ref, first, more, tuple(surely), rest, automaton, span)


def _chars(automaton: Automaton, states: Sequence[int]) -> CharSet:
    """The characters that lead on from `states`."""
    edges = (chars for state in states for chars in automaton.edges[state].values())
    return charset.union(pair for chars in edges for pair in chars)


def _way(automaton: Automaton, end: int) -> list[int]:
    """Characters that lead from the start to `end`."""
    ways: dict[int, list[int]] = {0: []}
    pending = [0]
    for state in pending:  # grows while it is read
        for target, chars in automaton.edges[state].items():
            if target not in ways:
                ways[target] = [*ways[state], chars[0][0]]
                pending.append(target)
    return ways[end]


def _looks_around(span: Span) -> Callable[[Node], Exception]:
    return lambda node: _refusal("look-around stands in it, or in what follows it", span)


def _first(b: GrammarBuilder, ref: Ref) -> CharSet:
    """The characters that the texts of `ref` may begin with, or more."""
    if not b.is_regular(ref):
        return () if isinstance(b.node(ref), Tokens) else _JSON_FIRST
    found: list[tuple[int, int]] = []
    pending = [ref]
    while pending:
        match b.node(pending.pop()):
            case Epsilon():
                pass
            case Literal(data):
                code = ord(data.decode()[0])
                found.append((code, code))
            case Chars(ranges):
                found.extend(ranges)
            case Bytes(members) if members < 1 << 128:
                found.extend(byte_ranges(members))
            case Seq(parts):
                for part in parts:
                    pending.append(part)
                    if b.is_nullable(part) is False:
                        break
            case Alt(parts):
                pending.extend(parts)
            case Repeat(child) | Mark(_, child):
                pending.append(child)
            case And(parts):
                plain = [part for part in parts if not isinstance(b.node(part), Not)]
                pending.append((plain or parts)[0])
            case _:
                return charset.ALL
    return charset.union(found)


def _may_be_empty(b: GrammarBuilder, top: Ref) -> bool:
    """Whether the empty text belongs to `top`; what looks around itself counts as if it need not.

    Tokens and schemas are never empty.
    """
    if not b.is_regular(top):
        return False
    known: dict[Ref, bool] = {}
    pending = [top]
    while pending:
        ref = pending[-1]
        node = b.node(ref)
        parts = () if isinstance(node, Not) else children(node)
        missing = [part for part in parts if part not in known]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        values = [known[part] for part in parts]
        match node:
            case Assertion():
                known[ref] = True
            case Alt():
                known[ref] = any(values)
            case Repeat(_, low, _):
                known[ref] = low == 0 or values[0]
            case _:
                known[ref] = all(values) if parts else b.is_nullable(ref) is not False
    return known[top]


def _refusal(why: str, span: Span) -> UnsupportedError:
    return UnsupportedError(
        f"this ignored text is not supported here: {why}",
        code="grammar-feature",
        span=span,
        hint="let it end with what cannot be part of it, such as a line break",
    )
