"""A slow, obvious matcher: the definitions of `structag.grammar.expressions`, once more.

It is the oracle of the property tests and must never be used for anything else.  For every suffix
of the input, from the shortest to the whole, it says which prefixes of that suffix belong to which
expression (`ReferenceMatcher.ends`).  Rules are solved by iterating to the least fixpoint, which
takes left recursion and nullable loops in its stride.  `Not` is a set difference, `Encoded` decodes
every prefix with the decoders of `support.reference_codecs`, `Scan` and `NoOccurrence` search.
Only `Erase` needs more than prefixes, because its operands must agree on one placement of the
marks: `support.reference_erase` steps them through the bytes with every placement at once.

Symbols are integers: a byte ``b`` is ``b``, or ``b | STARTS`` where it is the first of a token;
token id ``t`` is ``-1 - t``.  Text input has no token starts, so that no `Budget` counts it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from support.reference_codecs import CODECS, decode_utf8
from support.reference_erase import Eraser

from structag.grammar.expressions import (
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

STARTS = 1 << 8
Symbols = tuple[int, ...]
Ends = frozenset[int]
NOWHERE: Ends = frozenset()


class TokenTable(NamedTuple):
    """What the oracle knows of a vocabulary.

    Attributes:
        contents: the content of every token by id; empty for ids that are no token.
        control: ids that never match text.
        stop: ids that end the output.
    """

    contents: tuple[bytes, ...] = ()
    control: frozenset[int] = frozenset()
    stop: frozenset[int] = frozenset()

    def is_usable(self, token: int) -> bool:
        """Whether `token` is in the universe of negated `Tokens`."""
        known = 0 <= token < len(self.contents)
        return (
            known and token not in self.stop and (bool(self.contents[token]) or self.is_id(token))
        )

    def is_id(self, token: int) -> bool:
        """Whether `token` is a control token."""
        return token in self.control

    def readings(self, token: int) -> list[Symbols]:
        """The ways to read `token`: its bytes, unless it is a control token; its id."""
        content = self.contents[token]
        if self.is_id(token):
            return [(-1 - token,)]
        return [(content[0] | STARTS, *content[1:]), (-1 - token,)] if content else []


class Suffix:
    """The rest of an input from some place on, with what is already known about it."""

    def __init__(self, symbols: Symbols, rest: Suffix | None) -> None:
        self.symbols = symbols
        self.tails: list[Suffix] = [self, *(rest.tails if rest else ())]
        self.rules: dict[int, Ends] = {}
        self.is_asked = False  # whether one of them is needed to solve them
        self.memo: dict[Ref, Ends] = {}
        self.lasting: dict[Ref, Ends] = {}
        stop = next((k for k, x in enumerate(symbols) if x < 0), len(symbols))
        self.bytes = bytes(x & 255 for x in symbols[:stop])

    @cached_property
    def text_lengths(self) -> Ends:
        """The lengths of the prefixes that are valid UTF-8."""
        lengths = range(len(self.bytes) + 1)
        return frozenset(k for k in lengths if decode_utf8(self.bytes[:k]) is not None)


MOST_QUESTIONS = 400_000
"""So many spans are looked up by one matcher, memoised or not."""


class TooHardError(Exception):
    """The slow way would take too long here; a property then has no example."""


class ReferenceMatcher:
    """Decides membership in the language of one grammar, by the definitions."""

    def __init__(self, grammar: Grammar, tokens: TokenTable | None = None) -> None:
        self.grammar = grammar
        self.nodes = grammar.nodes
        self.token_table = tokens or TokenTable()
        self._suffixes: dict[Symbols, Suffix] = {}
        self._erasers: dict[Ref, Eraser] = {}
        self._depends = _rule_dependent(grammar)
        self._bodies = _rules_of(grammar)
        self._named: set[int] = set()
        self._questions = 0
        for node in self.nodes:
            if isinstance(node, Tokens):
                every = range(len(self.token_table.contents))
                self._named.update(every if node.negated else node.ids)

    def accepts(self, data: bytes) -> bool:
        """Whether the text input `data` belongs to the language."""
        return self.derives(self.grammar.root, tuple(data))

    def accepted_prefixes(self, data: Symbols) -> list[Symbols]:
        """The prefixes of `data` that belong to the language."""
        return [data[:end] for end in self.ends(self.grammar.root, self.suffix(data))]

    def accepts_tokens(self, token_ids: Sequence[int]) -> bool:
        """Whether some reading of the tokens belongs to the language."""
        choices = [self._useful_readings(token) for token in token_ids]
        return any(
            self.derives(self.grammar.root, tuple(itertools.chain(*reading)))
            for reading in itertools.product(*choices)
        )

    def _useful_readings(self, token: int) -> list[Symbols]:
        """The readings of `token`, without an id that no expression names and no marker holds."""
        readings = self.token_table.readings(token)
        by_id = token in self._named or self.token_table.is_id(token)
        return readings if by_id else readings[:1]

    def derives(self, ref: Ref, symbols: Symbols) -> bool:
        """Whether exactly `symbols` belongs to expression `ref`."""
        return len(symbols) in self.ends(ref, self.suffix(symbols))

    def suffix(self, symbols: Symbols) -> Suffix:
        """`symbols` with the rules solved at each of its places."""
        found = self._suffixes.get(symbols)
        if found is None:
            rest = self.suffix(symbols[1:]) if symbols else None
            found = self._suffixes[symbols] = Suffix(symbols, rest)
            self._solve_rules(found)
        return found

    def _solve_rules(self, place: Suffix) -> None:
        place.rules = dict.fromkeys(self._bodies, NOWHERE)
        while True:
            place.memo = {}
            place.is_asked = False
            solved = {index: self.ends(body, place) for index, body in self._bodies.items()}
            is_settled = not place.is_asked or solved == place.rules
            place.rules = solved
            if is_settled:
                return

    def ends(self, ref: Ref, place: Suffix) -> Ends:
        """The lengths of the prefixes of `place` that belong to expression `ref`."""
        self._questions += 1
        if self._questions > MOST_QUESTIONS:
            raise TooHardError
        memo = place.memo if ref in self._depends else place.lasting
        found = memo.get(ref)
        if found is None:
            found = memo[ref] = frozenset(self._ends(ref, place))
        return found

    def _ends(self, ref: Ref, place: Suffix) -> Iterable[int]:
        match self.nodes[ref]:
            case Empty() | Assertion():
                return ()
            case Epsilon():
                return (0,)
            case Bytes(members):
                return (1,) if place.bytes and members >> place.bytes[0] & 1 else ()
            case Literal(data, marker):
                return self._spelled(data, place.symbols, marker)
            case Chars(ranges):
                return self._char_ends(ranges, place)
            case Seq(parts):
                ends: Iterable[int] = (0,)
                for part in parts:
                    ends = self._after(part, place, ends)
                return ends
            case Alt(parts):
                return NOWHERE.union(*(self.ends(part, place) for part in parts))
            case And(parts):
                ends = frozenset.intersection(*(self.ends(part, place) for part in parts))
                return (k for k in ends if k <= len(place.bytes))  # a token is no text
            case Not(child):
                return place.text_lengths - self.ends(child, place)
            case Repeat(child, low, high):
                return self._repeat_ends(child, low, high, place)
            case Rule(index):
                place.is_asked = True
                return place.rules[index]
            case Mark(_, child) | Transparent(child):
                return self.ends(child, place)
            case Encoded(codec, child):
                return self._encoded_ends(CODECS[codec], child, place)
            case Distinct(codec, child):
                return {end for end, _ in self._keys(codec, child, place)}
            case NoOccurrence(patterns):
                lengths = place.text_lengths
                return (k for k in lengths if not any(p in place.bytes[:k] for p in patterns))
            case Scan() as node:
                return self._scan_ends(node, place)
            case Erase(count, child):
                return self._eraser(ref, child, count).ends(tuple(place.bytes))
            case Tokens(ids, negated):
                return self._token_ends(ids, negated, place)
            case Budget(child, max_tokens):
                ends = self.ends(child, place)
                return (k for k in ends if count_starts(place.symbols[:k]) <= max_tokens)
            case Unordered() as node:
                return self._unordered_ends(node, place)
            case Tally() as node:
                return self._tally_ends(node, place)

    def _after(self, ref: Ref, place: Suffix, starts: Iterable[int]) -> set[int]:
        """Where `ref` can end when it begins at any of `starts`."""
        return {start + k for start in starts for k in self.ends(ref, place.tails[start])}

    def _char_ends(self, ranges: Sequence[tuple[int, int]], place: Suffix) -> Iterator[int]:
        for length in range(1, 5):
            text = decode_utf8(place.bytes[:length]) if length <= len(place.bytes) else None
            if text is not None and len(text) == 1:
                if any(low <= ord(text) <= high for low, high in ranges):
                    yield length
                return

    def _repeat_ends(self, child: Ref, low: int, high: int | None, place: Suffix) -> set[int]:
        reached: set[int] = {0}
        found: set[int] = {0} if low == 0 else set()
        for count in itertools.count(1):
            previous = reached
            if high is not None and count > high:
                break
            reached = self._after(child, place, reached)
            if reached == previous:  # and so it stays, at any higher count
                return found | reached
            if count >= low:
                found |= reached
        return found

    def _encoded_ends(
        self, decode: Callable[[str], str | None], child: Ref, place: Suffix
    ) -> Iterator[int]:
        return (end for end, _ in self._decoded(decode, child, place))

    def _decoded(
        self, decode: Callable[[str], str | None], child: Ref, place: Suffix
    ) -> Iterator[tuple[int, str]]:
        for length in place.text_lengths:
            text = decode(place.bytes[:length].decode("utf-8"))
            if text is not None and self.derives(child, tuple(text.encode("utf-8"))):
                yield length, text

    def _keys(self, codec: str | None, child: Ref, place: Suffix) -> Iterator[tuple[int, str]]:
        return self._decoded(str if codec is None else CODECS[codec], child, place)

    def _eraser(self, ref: Ref, child: Ref, count: int) -> Eraser:
        if ref not in self._erasers:
            self._erasers[ref] = Eraser(self.nodes, child, count, self.derives)
        return self._erasers[ref]

    def _token_ends(self, ids: tuple[int, ...], negated: bool, place: Suffix) -> tuple[int, ...]:
        if not place.symbols or place.symbols[0] >= 0:
            return ()
        token = -1 - place.symbols[0]
        fits = self.token_table.is_usable(token) and token not in ids if negated else token in ids
        return (1,) if fits else ()

    def _spelled(self, data: bytes, symbols: Symbols, marker: bool) -> set[int]:
        """The lengths of the prefixes of `symbols` that spell `data`."""
        places = {(0, 0)}  # (of data spelled, symbols used)
        found: set[int] = set()
        while places:
            done, used = places.pop()
            if done == len(data):
                found.add(used)
            elif used < len(symbols):
                symbol = symbols[used]
                content = bytes([symbol & 255])
                if symbol < 0:
                    content = self._marker_content(symbol) if marker else b""
                if content and data.startswith(content, done):
                    places.add((done + len(content), used + 1))
        return found

    def _marker_content(self, symbol: int) -> bytes:
        token = -1 - symbol
        return self.token_table.contents[token] if self.token_table.is_id(token) else b""

    def _scan_ends(self, node: Scan, place: Suffix) -> Iterator[int]:
        yield from self._crossing_ends(node, place)
        for length in range(1, len(place.symbols) + 1):
            symbols = place.symbols[:length]
            searched = b"".join(
                bytes([x & 255]) if x >= 0 else self._marker_content(x) for x in symbols
            )
            if not self._may_end_in_trigger(node, searched):
                continue
            for trigger, ref in node.cases:
                if self._has_suffix(symbols, trigger):
                    yield from (length + k for k in self.ends(ref, place.tails[length]))

    def _may_end_in_trigger(self, node: Scan, searched: bytes) -> bool:
        """Whether nothing is found in `searched` before its end, and no exclude at all."""
        if decode_utf8(searched) is None or any(x in searched for x in node.excludes):
            return False
        return not any(trigger in searched[:-1] for trigger, _ in node.cases)

    def _crossing_ends(self, node: Scan, place: Suffix) -> Iterator[int]:
        """With a control token that begins in a trigger and ends in the marker of its case."""
        at = next((i for i, symbol in enumerate(place.symbols) if symbol < 0), None)
        if at is None:
            return
        before = bytes(symbol & 255 for symbol in place.symbols[:at])
        content = self._marker_content(place.symbols[at])
        for trigger, ref in node.cases:
            for start in range(len(trigger)):
                inside, beyond = trigger[start:], content[len(trigger) - start :]
                if not (beyond and content.startswith(inside) and before.endswith(trigger[:start])):
                    continue
                if not self._may_end_in_trigger(node, before + inside):
                    continue
                for marker, parts in self._marked_cases(ref):
                    if not marker.startswith(beyond):
                        continue
                    rest, symbols = marker[len(beyond) :], place.symbols[at + 1 :]
                    ends = {at + 1 + used for used in self._spelled(rest, symbols, True)}
                    for part in parts:
                        ends = self._after(part, place, ends)
                    yield from ends

    def _marked_cases(self, ref: Ref) -> Iterator[tuple[bytes, tuple[Ref, ...]]]:
        """The alternatives of a case that begin with a marker: that, and what follows it."""
        node = self.nodes[ref]
        for way in node.parts if isinstance(node, Alt) else (ref,):
            whole = self._unmarked(way)
            first = self.nodes[whole.parts[0]] if isinstance(whole, Seq) else whole
            if isinstance(first, Literal) and first.marker:
                yield first.data, whole.parts[1:] if isinstance(whole, Seq) else ()

    def _has_suffix(self, symbols: Symbols, trigger: bytes) -> bool:
        """Whether `symbols` is bytes and then a spelling of `trigger`."""
        return any(
            len(symbols) - start in self._spelled(trigger, symbols[start:], True)
            for start in range(len(symbols))
            if min(symbols[:start], default=0) >= 0
        )

    def _unordered_ends(self, node: Unordered, place: Suffix) -> Iterator[int]:
        required = {i for i, (_, need) in enumerate(node.members) if need}
        queue: list[tuple[Ends, bool, int]] = [(NOWHERE, False, 0)]  # members seen, any item, place
        for seen, any_item, at in queue:  # the queue grows while it is read
            if required <= seen:
                yield at
            starts = self._after(node.separator, place, {at}) if any_item else {at}
            found = {
                (seen | {i}, True, end)
                for i, (ref, _) in enumerate(node.members)
                if i not in seen
                for end in self._after(ref, place, starts)
            }
            if node.rest is not None:
                found |= {(seen, True, end) for end in self._after(node.rest, place, starts)}
            queue.extend(found.difference(queue))

    def _tally_ends(self, node: Tally, place: Suffix) -> Iterator[int]:
        none: frozenset[tuple[int, Ref, str]] = frozenset()
        queue = [((0,) * len(node.kinds), none, 0)]
        for counts, keys, at in queue:
            total = sum(counts)
            counted = zip(counts, node.kinds, strict=True)
            if total >= node.min and all(have >= low for have, (_, low, _) in counted):
                yield at
            if node.max is not None and total == node.max:
                continue
            starts = self._after(node.separator, place, {at}) if total else {at}
            found = {
                ((*counts[:i], counts[i] + 1, *counts[i + 1 :]), keys | key, end)
                for i, (ref, _, high) in enumerate(node.kinds)
                if high is None or counts[i] < high
                for start in starts
                for end, key in self._item_ends(i, ref, place, start)
                if not key & keys
            }
            queue.extend(found.difference(queue))

    def _item_ends(
        self, kind: int, ref: Ref, place: Suffix, start: int
    ) -> Iterator[tuple[int, frozenset[tuple[int, Ref, str]]]]:
        """Where an item can end, each with its key (by kind and alternative), if it has one."""
        node = self._unmarked(ref)
        if isinstance(node, Alt):
            for way in node.parts:
                yield from self._item_ends(kind, way, place, start)
            return
        parts = node.parts if isinstance(node, Seq) else (ref,)
        plain = itertools.takewhile(
            lambda part: not isinstance(self._unmarked(part), Distinct), parts
        )
        at = len(list(plain))
        before: set[int] = {start}
        for part in parts[:at]:
            before = self._after(part, place, before)
        if at == len(parts):
            yield from ((end, frozenset()) for end in before)
            return
        key = self._unmarked(parts[at])
        assert isinstance(key, Distinct)
        for middle in before:
            for length, text in self._keys(key.codec, key.child, place.tails[middle]):
                after = {middle + length}
                for part in parts[at + 1 :]:
                    after = self._after(part, place, after)
                for end in after:
                    yield end, frozenset([(kind, ref, text)])

    def _unmarked(self, ref: Ref) -> Node:
        while isinstance(node := self.nodes[ref], Mark):
            ref = node.child
        return node


def count_starts(symbols: Iterable[int]) -> int:
    """How many of `symbols` are the first of a token.

    >>> count_starts((97 | STARTS, 98, -5))
    2
    """
    return sum(1 for symbol in symbols if symbol < 0 or symbol & STARTS)


def accepts(grammar: Grammar, data: bytes) -> bool:
    """Whether the text input `data` belongs to `grammar`."""
    return ReferenceMatcher(grammar).accepts(data)


def accepts_tokens(grammar: Grammar, tokens: TokenTable, token_ids: Sequence[int]) -> bool:
    """Whether some reading of `token_ids` belongs to `grammar`."""
    return ReferenceMatcher(grammar, tokens).accepts_tokens(token_ids)


def _rules_of(grammar: Grammar) -> dict[int, Ref]:
    """The bodies of the rules that the root needs."""
    found: dict[int, Ref] = {}
    seen = {grammar.root}
    queue = [grammar.root]
    for ref in queue:  # the queue grows while it is read
        node = grammar.nodes[ref]
        if isinstance(node, Rule):
            found[node.index] = grammar.rules[node.index][1]
        parts = (found[node.index],) if isinstance(node, Rule) else children(node)
        queue += [part for part in dict.fromkeys(parts) if part not in seen]
        seen.update(parts)
    return found


def _rule_dependent(grammar: Grammar) -> set[Ref]:
    """The expressions that contain a `Rule`, whose ends change while the rules are being solved."""
    found: set[Ref] = set()
    for ref, node in enumerate(grammar.nodes):  # children come before parents
        if isinstance(node, Rule) or any(child in found for child in children(node)):
            found.add(ref)
    return found
