"""Resolves the markers of a grammar against the added tokens of one vocabulary.

A marker literal (`Literal.marker`) and a trigger of a `Scan` may be spelled with control tokens:
where the content of such a token occurs in it, the token's id can stand for those bytes.  Where the
content of one of `Grammar.marker_tokens` occurs, that token's id must stand for it, if there is
such a token.  Here that becomes plain grammar.  A marker turns into a right-linear expression over
its positions, as long as the marker has bytes however the contents overlap; a trigger gets, besides
the scan over bytes, one alternative per token it can have first:

    text that may stand before · bytes before the token · the token · spellings of the rest · case

A token may also begin inside a trigger and end beyond it, in the marker that the case begins with.
An exclude needs no such form: a control token is never text.  Inside a regular operand (`And`,
`Not`, `Encoded`, `Erase`) a marker is only its bytes, as a token is no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from structag._core import read_grammar
from structag.grammar.expressions import (
    Alt,
    And,
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
    Scan,
    Seq,
    Tokens,
    Transparent,
    children,
    with_children,
)

_NO_TEXT = b"\xff"  # in no marker, and in no content of a token
_OPERATORS = (And, Not, Encoded, Distinct, Erase, Transparent)


def bind_vocabulary(
    grammar: Grammar,
    control_tokens: Mapping[str, int],
    added_tokens: Mapping[str, int] | None = None,
) -> Grammar:
    """`grammar` with every marker spelled out; both mappings are ids by content.

    `added_tokens`, all of the vocabulary's, are where `Grammar.marker_tokens` are looked for.  The
    same object if no marker or trigger contains the content of a control token.  The mappings must
    not change afterwards: what is looked up in them is kept.
    """
    markers = grammar.native.markers
    if not markers:
        return grammar
    known = control_tokens if added_tokens is None else added_tokens
    required = frozenset(name for name in grammar.marker_tokens if name in known)
    finder = _finder(control_tokens, {name: known[name] for name in required})
    if finder.pattern is None:
        return grammar
    together = _NO_TEXT.join(markers)
    if not finder.touches(together):
        return grammar
    native = grammar.native  # modules hold no markers: they stay what they are
    modular = Grammar(native.nodes, native.rules, native.root)
    return _Binder(modular, finder).bind()


class Occurrence(NamedTuple):
    """Token `token` can stand for the bytes from `start` to `end` of a marker, or must."""

    start: int
    end: int
    token: int
    required: bool


class Crossing(NamedTuple):
    """Token `token` spells a trigger from `start` on, and then the bytes `rest`."""

    start: int
    rest: bytes
    token: int
    required: bool


class _Finder:
    """Finds the contents of control tokens and of required tokens in markers."""

    def __init__(self, control_tokens: Mapping[str, int], required: Mapping[str, int]) -> None:
        self.tokens = control_tokens
        self.count = len(control_tokens)
        self._ids = {text.encode(): token for text, token in control_tokens.items() if text}
        self._required = {text.encode() for text in required if text}
        self._ids |= {text.encode(): token for text, token in required.items() if text}
        self._prefixes: dict[bytes, list[bytes]] = {}  # the contents that a content begins with
        self.pattern = _any_of(self._ids)
        self._required_pattern = _any_of(self._required)
        self._first_bytes = _any_of({content[:1] for content in self._ids})

    def find(self, data: bytes) -> list[Occurrence]:
        """Every occurrence in `data`, overlapping ones too, by start; none over a required one."""
        if self.pattern is None:
            return []
        needed = self._find_required(data)
        found = list(needed)
        for match in self.pattern.finditer(data):
            start = match.start()
            for content in self._contents_in(match[1]):
                end = start + len(content)
                if all(end <= other.start or other.end <= start for other in needed):
                    found.append(Occurrence(start, end, self._ids[content], False))
        return sorted(found)

    def find_across(self, trigger: bytes) -> list[Crossing]:
        """The tokens that begin inside `trigger` and end beyond it."""
        found: list[Crossing] = []
        if self._first_bytes is None:
            return found
        for match in self._first_bytes.finditer(trigger):
            start = match.start()
            rest = trigger[start:]
            for content in self._longer.get(rest, ()):
                required = content in self._required
                found.append(Crossing(start, content[len(rest) :], self._ids[content], required))
        return found

    def touches(self, together: bytes) -> bool:
        """Whether a token's content begins in one of some markers, joined by `_NO_TEXT`."""
        if self.pattern is None or self._first_bytes is None:
            return False
        text = together + _NO_TEXT
        for found in self._first_bytes.finditer(text):
            start = found.start()
            if self.pattern.match(text, start):
                return True
            if text[start : text.index(_NO_TEXT, start)] in self._longer:
                return True
        return False

    @cached_property
    def _longer(self) -> dict[bytes, list[bytes]]:
        """The contents that go on after a prefix, by prefix."""
        found: dict[bytes, list[bytes]] = {}
        for content in sorted(self._ids):
            for length in range(1, len(content)):
                found.setdefault(content[:length], []).append(content)
        return found

    def _find_required(self, data: bytes) -> list[Occurrence]:
        """The places where a token is required: from the left, the longest, none over another."""
        found: list[Occurrence] = []
        if self._required_pattern is not None:
            for match in self._required_pattern.finditer(data):
                start, end = match.start(), match.start() + len(match[1])
                if not found or found[-1].end <= start:
                    found.append(Occurrence(start, end, self._ids[match[1]], True))
        return found

    def _contents_in(self, longest: bytes) -> list[bytes]:
        if longest not in self._prefixes:
            prefixes = (longest[:length] for length in range(1, len(longest) + 1))
            self._prefixes[longest] = [prefix for prefix in prefixes if prefix in self._ids]
        return self._prefixes[longest]


def _any_of(contents: Iterable[bytes]) -> re.Pattern[bytes] | None:
    """A pattern that finds the longest of `contents` at each place, overlapping ones too."""
    longest_first = sorted(contents, key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile(b"(?=(%s))" % b"|".join(map(re.escape, longest_first)))


_finders: dict[tuple[int, tuple[str, ...]], _Finder] = {}


def _finder(control_tokens: Mapping[str, int], required: Mapping[str, int]) -> _Finder:
    """The finder of a mapping, known by identity; it keeps the mapping alive."""
    key = (id(control_tokens), tuple(sorted(required)))
    finder = _finders.get(key)
    if finder is None or finder.tokens is not control_tokens or finder.count != len(control_tokens):
        if len(_finders) >= 16:
            _finders.clear()
        finder = _finders[key] = _Finder(control_tokens, required)
    return finder


class _Binder:
    """Copies one grammar; `places` and `plain` say where an expression went."""

    def __init__(self, grammar: Grammar, finder: _Finder) -> None:
        self.grammar = grammar
        self.finder = finder
        self.nodes: list[Node] = []
        self.made: dict[tuple[type, Node], Ref] = {}
        self.places: list[Ref] = []
        self.plain: dict[Ref, Ref] = {}  # as an operand, where that is something else

    def bind(self) -> Grammar:
        grammar, nodes, places = self.grammar, self.nodes, self.places
        needed = _operands(grammar)
        for ref, node in enumerate(grammar.nodes):
            if isinstance(node, Literal):
                place = self._literal(ref, node)
            elif isinstance(node, Scan):
                place = self._scan(node)
            elif isinstance(node, Seq):
                place = self._seq([places[part] for part in node.parts])
            elif isinstance(node, Alt):
                place = self._alt([places[part] for part in node.parts])
            else:
                refs = children(node)
                at = self._plain_place if isinstance(node, _OPERATORS) else places.__getitem__
                nodes.append(with_children(node, tuple([at(part) for part in refs])))
                place = len(nodes) - 1
            places.append(place)
            if ref in needed and not isinstance(node, _OPERATORS):
                self._copy_plain(ref, node)
        rules = tuple((name, places[body]) for name, body in grammar.rules)
        return Grammar.from_native(read_grammar(tuple(nodes), rules, places[grammar.root]))

    def _plain_place(self, ref: Ref) -> Ref:
        return self.plain.get(ref, self.places[ref])

    def _copy_plain(self, ref: Ref, node: Node) -> None:
        refs = children(node)
        if any(part in self.plain for part in refs):
            self.nodes.append(with_children(node, tuple(self._plain_place(part) for part in refs)))
            self.plain[ref] = len(self.nodes) - 1

    def _literal(self, ref: Ref, node: Literal) -> Ref:
        occurrences = self.finder.find(node.data) if node.marker else []
        if not occurrences:
            return self._add(Literal(node.data, False))
        self.plain[ref] = self._add(Literal(node.data, False))
        return self._spellings(node.data, occurrences)[0]

    def _scan(self, node: Scan) -> Ref:
        cases: list[tuple[bytes, Ref]] = []
        options: list[Ref] = []
        for trigger, original in node.cases:
            ref = self.places[original]
            if not _is_unreachable(trigger, node):
                for across in self.finder.find_across(trigger):
                    rest, others = self._split(original, across.rest)
                    if rest is not None:
                        before = self._text_before(trigger, across.start, node)
                        token = self._add(Tokens((across.token,), False))
                        options.append(self._seq([before, token, rest]))
                        if across.required:
                            ref = self._empty() if others is None else others
                occurrences = self.finder.find(trigger)
                tails = self._spellings(trigger, occurrences) if occurrences else {}
                needed = min((o.start for o in occurrences if o.required), default=len(trigger))
                for start, end, token_id, _ in occurrences:
                    if start <= needed:
                        before = self._text_before(trigger, start, node)
                        token = self._add(Tokens((token_id,), False))
                        options.append(self._seq([before, token, tails[end], ref]))
                if needed < len(trigger):
                    ref = self._empty()
            cases.append((trigger, ref))
        return self._alt([self._add(Scan(tuple(cases), node.excludes)), *options])

    def _split(self, ref: Ref, start: bytes) -> tuple[Ref | None, Ref | None]:
        """What is left of the cases in `ref` whose marker begins with `start`; the other cases.

        `ref` is of the grammar that is copied, the results are of the copy.
        """
        nodes = self.grammar.nodes
        left, others = [], []
        node = nodes[ref]
        for case in node.parts if isinstance(node, Alt) else (ref,):
            mark = nodes[case]
            inner = mark.child if isinstance(mark, Mark) else case
            whole = nodes[inner]
            parts = whole.parts if isinstance(whole, Seq) else (inner,)
            first = nodes[parts[0]]
            if isinstance(first, Literal) and first.marker and first.data.startswith(start):
                data = first.data[len(start) :]
                spelled = self._spellings(data, self.finder.find(data))[0]
                rest = self._seq([spelled, *(self.places[part] for part in parts[1:])])
                left.append(self._add(Mark(mark.label, rest)) if isinstance(mark, Mark) else rest)
            else:
                others.append(self.places[case])
        return self._alt(left) if left else None, self._alt(others) if others else None

    def _empty(self) -> Ref:
        return self._add(Empty())

    def _text_before(self, trigger: bytes, start: int, node: Scan) -> Ref:
        """The texts before a token at `start` of `trigger`, with the trigger's bytes up to there.

        No trigger is complete in them, nor is one that ends earlier than this by what the token
        spells; the same with excludes, which may not end with the trigger either.
        """
        patterns = {name for name, _ in node.cases} | set(node.excludes)
        text = self._add(NoOccurrence(tuple(sorted(patterns))))
        overlaps: set[bytes] = set()
        for pattern in patterns:
            for cut in range(1, len(pattern)):
                rest = pattern[cut:]
                whole = pattern in node.excludes or len(rest) < len(trigger)
                if len(rest) > start and whole and trigger.startswith(rest):
                    overlaps.add(pattern[:cut] + trigger[:start])
        parts = [text]
        any_text = self._add(Not(self._add(Empty())))
        if start:
            parts.append(self._seq([any_text, self._add(Literal(trigger[:start], False))]))
        if overlaps:
            ends = self._alt([self._add(Literal(end, False)) for end in sorted(overlaps)])
            parts.append(self._add(Not(self._seq([any_text, ends]))))
        return self._add(And(tuple(sorted(parts)))) if len(parts) > 1 else text

    def _spellings(self, data: bytes, occurrences: Iterable[Occurrence]) -> dict[int, Ref]:
        """The spellings of `data` from 0, and from wherever a token in it can start or end."""
        by_start: dict[int, list[Occurrence]] = {}
        for occurrence in occurrences:
            by_start.setdefault(occurrence.start, []).append(occurrence)
        tails = {len(data): self._add(Epsilon())}
        run_end = len(data)  # the nearest start of a token after the position
        stops = {0, *by_start, *(o.end for found in by_start.values() for o in found)}
        for position in sorted(stops - {len(data)}, reverse=True):
            literal = self._add(Literal(data[position:run_end], False))
            tails[position] = self._seq([literal, tails[run_end]])
            if position in by_start:
                found = by_start[position]
                options = [] if any(o.required for o in found) else [tails[position]]
                for occurrence in found:
                    token = self._add(Tokens((occurrence.token,), False))
                    options.append(self._seq([token, tails[occurrence.end]]))
                run_end = position
                tails[position] = self._alt(options)
        return tails

    def _seq(self, parts: list[Ref]) -> Ref:
        flat: list[Ref] = []
        for part in parts:
            node = self.nodes[part]
            if isinstance(node, Seq):
                flat.extend(node.parts)
            elif not isinstance(node, Epsilon):
                flat.append(part)
        if len(flat) < 2:
            return flat[0] if flat else self._add(Epsilon())
        return self._add(Seq(tuple(flat)))

    def _alt(self, parts: list[Ref]) -> Ref:
        members: set[Ref] = set()
        for part in parts:
            node = self.nodes[part]
            members.update(node.parts if isinstance(node, Alt) else (part,))
        if len(members) < 2:
            return members.pop()
        return self._add(Alt(tuple(sorted(members))))

    def _add(self, node: Node) -> Ref:
        key = (type(node), node)
        ref = self.made.get(key)
        if ref is None:
            ref = self.made[key] = len(self.nodes)
            self.nodes.append(node)
        return ref


def _is_unreachable(trigger: bytes, node: Scan) -> bool:
    """Whether another trigger or an exclude always occurs before `trigger` is complete."""
    return any(other in trigger[:-1] for other, _ in node.cases) or any(
        exclude in trigger for exclude in node.excludes
    )


def _operands(grammar: Grammar) -> set[Ref]:
    """The expressions inside regular operators."""
    found: set[Ref] = set()
    pending = [
        ref for node in grammar.nodes if isinstance(node, _OPERATORS) for ref in children(node)
    ]
    while pending:
        ref = pending.pop()
        if ref not in found:
            found.add(ref)
            pending.extend(children(grammar.nodes[ref]))
    return found
