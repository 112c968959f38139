"""Random members of a format: what a `Sampler` draws is accepted, and is no longer than asked.

An output is drawn top down through the unified grammar.  Every expression has a least length; what
the bound leaves beyond the least length of the whole is spent on choices that cost more than the
cheapest, and never more than is left, so that nothing is drawn in vain.  Where regular operators
make such lengths unknown (an intersection, a complement), the expression is intersected with "at
most n bytes" and its matcher walked: matchers have no dead ends, so that this ends in time, too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from structag.compiled import CompiledGrammar
from structag.errors import GrammarError, LimitError
from structag.grammar.bind import bind_vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    Budget,
    Bytes,
    Chars,
    Literal,
    Mark,
    Node,
    Ref,
    Repeat,
    Rule,
    Scan,
    Seq,
    Tally,
    Tokens,
    Unordered,
)
from structag.grammar.least_lengths import (
    LEAVES,
    NEVER,
    Item,
    has_keys,
    least_items,
    least_lengths,
    least_of_way,
    live_cases,
    parts_of_way,
    ways_of,
)
from structag.grammar.plain_spelling import spell_plainly
from structag.grammar.write import unmarked
from structag.matcher import Matcher
from structag.regular_members import PRINTABLE, READABLE, RegularMembers
from structag.vocabulary import TokenKind

Piece: TypeAlias = bytes | int
"""Text, or the id of a token that is read by its id."""

MAX_BYTES = 400
_ROOM = (0, 4, 16, 64)  # bytes that a regular expression may take beyond its least length
_MANY = 4  # weight of a class of characters, and of text with triggers, beside alternatives
_RUNS = (0.8, 0.4, 0.1)  # chances that a repetition ends after each round
_BLANKS = sum(1 << byte for byte in b" \t\r\n")
_TEXT = (
    'the quick brown fox jumps over lazy dogs at 12:30, in Oslo; it\'s "fine" <b>1 & 2</b> '
    "C:\\temp naïve Grüße 東京 🙂 a/b (c) [d] {e} $5 100 % x=1 #tag\n - one\n"
)
_WORDS = _TEXT.split(" ")


class Sample(NamedTuple):
    """One member: its pieces in order, as small as they were drawn."""

    pieces: tuple[Piece, ...]

    @property
    def data(self) -> bytes | None:
        """The text, if no token is read by its id."""
        texts = [piece for piece in self.pieces if isinstance(piece, bytes)]
        return b"".join(texts) if len(texts) == len(self.pieces) else None


class Sampler:
    """Draws members of one compiled grammar; equal seeds draw equal members.

    Raises:
        LimitError: what a regular operator leaves costs more to find out than the limits allow.
    """

    def __init__(self, compiled: CompiledGrammar, seed: int = 0) -> None:
        self.compiled = compiled
        self.chance = random.Random(seed)
        vocabulary = compiled.vocabulary
        bound = bind_vocabulary(
            compiled.grammar, vocabulary.control_tokens, vocabulary.added_tokens
        )
        builder = GrammarBuilder()
        self._grammar = spell_plainly(builder, bound)
        self._usable: tuple[int, ...] = ()
        self._leaves = RegularMembers(builder)
        self._least = least_lengths(self._grammar, self._leaves.least, self._token_ids)

    @property
    def least_bytes(self) -> int:
        """The length of the shortest member that is drawn; a token read by its id counts as one."""
        return self._least[self._grammar.root][0]

    def draw(self, max_bytes: int = MAX_BYTES) -> Sample:
        """A random member of at most `max_bytes` bytes.

        Raises:
            GrammarError: `sample-length`, no member is that short.
        """
        room = max_bytes - self.least_bytes
        if room < 0:
            raise GrammarError(
                f"the shortest output has {self.least_bytes:,} bytes",
                code="sample-length",
                expected=f"at most {max_bytes:,}",
                hint="allow longer outputs",
            )
        pieces = _Drawing(self, int(room * self.chance.random())).pieces()
        return Sample(self._until_terminated(pieces))

    def accepts(self, pieces: Sequence[Piece]) -> bool:
        """Whether the matcher of the grammar takes `pieces` as a whole output."""
        matcher = Matcher(self.compiled)
        return all(take(matcher, piece) for piece in pieces) and is_whole(matcher)

    def _until_terminated(self, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """A stop token that the grammar itself names ends the output where it may end."""
        stops = self.compiled.vocabulary.stop_token_ids
        if any(piece in stops for piece in pieces):
            matcher = Matcher(self.compiled)
            for place, piece in enumerate(pieces):
                if take(matcher, piece) and matcher.is_terminated():
                    return pieces[: place + 1]
        return pieces

    def _token_ids(self, tokens: Tokens) -> Sequence[int]:
        vocabulary = self.compiled.vocabulary
        if not tokens.negated:
            known = (token for token in tokens.ids if token < vocabulary.size)
            return [t for t in known if vocabulary.token_kind(t) != TokenKind.UNUSED]
        if not self._usable:
            stops = frozenset(vocabulary.stop_token_ids)
            self._usable = tuple(
                token
                for token in range(vocabulary.size)
                if token not in stops and vocabulary.token_kind(token) != TokenKind.UNUSED
            )
        named = frozenset(tokens.ids)
        return [token for token in self._usable if token not in named]


def take(matcher: Matcher, piece: Piece) -> bool:
    """Advance by a piece."""
    if isinstance(piece, int):
        return matcher.accept_token(piece)
    return matcher.accept_bytes(piece)


def is_whole(matcher: Matcher) -> bool:
    """Whether what a matcher has taken is a whole output, ended or not."""
    return matcher.is_completed() or matcher.is_terminated()


class _Key(NamedTuple):
    """A key to be written, which is none of the texts in `used`, and is added to them."""

    ref: Ref
    used: list[bytes]


class _Cut(NamedTuple):
    """The pieces from `start` on are written: what comes after so many tokens is left out."""

    start: int
    max_tokens: int


_Task: TypeAlias = Ref | _Key | _Cut


class _Drawing:
    """One member in the making; `room` is how much longer than the shortest it may still get."""

    def __init__(self, sampler: Sampler, room: int) -> None:
        self._sampler = sampler
        self._grammar = sampler._grammar
        self._least = sampler._least
        self._chance = sampler.chance
        self._room = room
        self._steps = 1_000 + 20 * room  # then only the shortest is drawn, which ends
        self._pieces: list[Piece] = []

    def pieces(self) -> tuple[Piece, ...]:
        pending: list[_Task] = [self._grammar.root]
        while pending:
            task = pending.pop()
            if isinstance(task, _Cut):
                self._cut(task)
                continue
            if isinstance(task, _Key):
                self._write_key(task)
                continue
            self._steps -= 1
            if self._steps < 0 and self._least[task][0] == 0:
                continue
            node = self._grammar.nodes[task]
            if isinstance(node, Budget):
                pending += [_Cut(len(self._pieces), node.max_tokens), node.child]
            else:
                pending += reversed(self._expand(task, node))
        return tuple(self._pieces)

    def _expand(self, ref: Ref, node: Node) -> Sequence[_Task]:
        """Writes what needs no further choice, and returns the parts to go on with."""
        match node:
            case Literal(data):
                self._pieces.append(data)
            case Bytes(members):
                self._pieces.append(bytes([self._pick_byte(_members(members))]))
            case Chars(ranges):
                self._pieces.append(self._pick_char(ranges).encode())
            case Tokens():
                self._pieces.append(self._chance.choice(self._sampler._token_ids(node)))
            case Seq(parts):
                return parts
            case Alt(parts):
                weights = [
                    _MANY if isinstance(self._node(part), Chars | Scan) else 1 for part in parts
                ]
                return (parts[self._choose([self._least[part] for part in parts], weights)],)
            case Repeat(child, low, high):
                if self._is_blank(child) and self._chance.random() < 0.8:
                    return [child] * low
                return [child] * (low + self._more(self._least[child][0], low, high))
            case Rule(index):
                return (self._grammar.rules[index][1],)
            case Mark(_, child):
                return (child,)
            case Scan():
                return (self._scan(node),)
            case Unordered():
                return self._unordered(node)
            case Tally():
                return self._tally(node)
            case _ if isinstance(node, LEAVES):
                self._write_leaf(ref)
        return ()

    def _spend(self, cost: int) -> None:
        assert cost <= self._room
        self._room -= cost

    def _choose(self, least: Sequence[tuple[int, int]], weights: Sequence[int]) -> int:
        """The index of one of the alternatives with these least lengths and heights."""
        cheapest = min(range(len(least)), key=least.__getitem__)
        if self._steps < 0:
            return cheapest
        floor = least[cheapest][0]
        options = [i for i, (length, _) in enumerate(least) if length - floor <= self._room]
        (index,) = self._chance.choices(options, [weights[i] for i in options])
        self._spend(least[index][0] - floor)
        return index

    def _more(self, length: int, low: int, high: int | None) -> int:
        """How many rounds beyond `low`."""
        if self._steps < 0 or length >= NEVER:
            return 0
        most = self._room // max(1, length)
        most = most if high is None else min(most, high - low)
        end = self._chance.choice(_RUNS)
        count = 0
        while count < most and self._chance.random() > end:
            count += 1
        self._spend(count * length)
        return count

    def _node(self, ref: Ref) -> Node:
        """What a mark, or several, is about."""
        return self._grammar.nodes[unmarked(self._grammar, ref)]

    def _is_blank(self, ref: Ref) -> bool:
        """Whether it is one character of white space, which outputs are rarely made of."""
        match self._node(ref):
            case Bytes(members):
                return members & ~_BLANKS == 0
            case Chars(ranges):
                return all(high <= 0x20 for _, high in ranges)
            case _:
                return False

    def _scan(self, scan: Scan) -> Ref:
        cases = [(t, ref) for t, ref in live_cases(scan) if self._least[ref][0] < NEVER]
        least = [(len(t) + self._least[ref][0], self._least[ref][1]) for t, ref in cases]
        trigger, ref = cases[self._choose(least, [1] * len(cases))]
        text = self._text()
        while not _is_free(text, trigger, scan):
            text = text[:-1]
        before = text.encode()
        self._spend(len(before))
        self._pieces += [before, trigger] if before else [trigger]
        return ref

    def _unordered(self, node: Unordered) -> list[_Task]:
        least = self._least
        chosen = [ref for ref, need in node.members if need]
        glue = least[node.separator][0]
        if self._steps >= 0:
            others: list[Ref] = []
            if node.rest is not None:
                others = [node.rest] * self._more(least[node.rest][0] + glue, 0, None)
            for ref in (ref for ref, need in node.members if not need):
                cost = least[ref][0] + glue
                if cost <= self._room and self._chance.random() < 0.5:
                    self._spend(cost)
                    chosen.append(ref)
            chosen += others
        self._chance.shuffle(chosen)
        return _joined([[ref] for ref in chosen], node.separator)

    def _tally(self, node: Tally) -> list[_Task]:
        if has_keys(self._grammar, node):
            return self._tally_of_keys(node)
        chosen = [item.way for item in self._least_items(node)]
        glue = self._least[node.separator][0]
        for ref, _, high in node.kinds if self._steps >= 0 else ():
            used = chosen.count(ref)
            left = None if high is None else high - used
            if node.max is not None:
                over = node.max - len(chosen)
                left = over if left is None else min(left, over)
            if left is None or left > 0:
                chosen += [ref] * self._more(self._least[ref][0] + glue, 0, left)
        self._chance.shuffle(chosen)
        return _joined([[ref] for ref in chosen], node.separator)

    def _least_items(self, node: Tally) -> list[Item]:
        items = least_items(self._grammar, node, self._least, self._sampler._leaves.least)
        assert items is not None
        return items

    def _tally_of_keys(self, node: Tally) -> list[_Task]:
        """As many items as there have to be, of any alternatives that the room is enough for."""
        least_length = self._sampler._leaves.least
        items = self._least_items(node)
        counts = Counter((item.kind, item.way) for item in items)
        used: dict[tuple[int, Ref], list[bytes]] = {}
        chosen: list[list[_Task]] = []
        for item in items:
            options = [(item.way, item.key, item.least)]
            for way, key in ways_of(self._grammar, node.kinds[item.kind][0]):
                if way != item.way:
                    place = counts[item.kind, way]
                    least = least_of_way(self._least, way, key, place, least_length)
                    options.append((way, key, least))
            index = self._choose([least for *_, least in options], [1] * len(options))
            way, key, _ = options[index]
            counts[item.kind, way] += index > 0
            parts: list[_Task] = [*parts_of_way(self._grammar, way)]
            if key is not None:
                parts[parts.index(key)] = _Key(key, used.setdefault((item.kind, way), []))
            chosen.append(parts)
        self._chance.shuffle(chosen)
        return _joined(chosen, node.separator)

    def _write_leaf(self, ref: Ref) -> None:
        leaves = self._sampler._leaves
        least = leaves.least(ref)
        if least == 0 and self._chance.random() < 0.8:
            text = self._words(leaves.whole(ref))
        else:
            room = self._chance.choice([size for size in _ROOM if size <= self._room])
            text = self._walk(ref, least + room)
        data = leaves.spell(ref, text)
        if len(data) - least > self._room:
            data = leaves.spell(ref, leaves.shortest(ref))
        self._spend(max(0, len(data) - least))
        if data:
            self._pieces.append(data)

    def _write_key(self, key: _Key) -> None:
        """A text that no other item has; so long, at most, as was reckoned with."""
        leaves, (ref, used) = self._sampler._leaves, key
        reserved = leaves.least(ref, len(used))
        text = self._walk(ref, reserved + min(self._room, 8), used)
        data = leaves.spell(ref, text)
        if len(data) - reserved > self._room:
            text = leaves.shortest(ref, used)
            data = leaves.spell(ref, text)
        self._spend(max(0, len(data) - reserved))
        used.append(text)
        self._pieces.append(data)

    def _words(self, compiled: CompiledGrammar) -> bytes:
        """The longest beginning of some random text that belongs to a nullable expression."""
        matcher = Matcher(compiled)
        data = self._text().encode()
        length = 0
        for place in range(len(data)):
            if not matcher.accept_bytes(data[place : place + 1]):
                break
            if matcher.is_completed():
                length = place + 1
        return data[:length]

    def _walk(self, ref: Ref, max_bytes: int, used: Sequence[bytes] = ()) -> bytes:
        """A random member; the shortest, if it takes much work to see what is within the bound."""
        leaves = self._sampler._leaves
        written = bytearray()
        try:
            within = leaves.within(ref, max_bytes, used)
            assert within is not None
            matcher = Matcher(within)
            while allowed := matcher.allowed_bytes():
                if matcher.is_completed() and (self._steps < 0 or self._chance.random() < 0.2):
                    break
                written.append(self._pick_byte(allowed))
                matcher.accept_bytes(bytes(written[-1:]))
        except LimitError:
            return leaves.shortest(ref, used)
        return bytes(written)

    def _text(self) -> str:
        """Words that the room is enough for."""
        if self._steps < 0:
            return ""
        text = " ".join(self._chance.choices(_WORDS, k=self._chance.choice((0, 1, 1, 1, 3, 8))))
        while len(text.encode()) > self._room:
            text = text[: max(0, len(text) - 8)]
        return text

    def _pick_byte(self, allowed: frozenset[int]) -> int:
        sets = (READABLE, PRINTABLE) if self._chance.random() < 0.9 else (PRINTABLE,)
        found = next((allowed & each for each in sets if allowed & each), allowed)
        return self._chance.choice(sorted(found))

    def _pick_char(self, ranges: tuple[tuple[int, int], ...]) -> str:
        """A character, of ASCII nearly always; the first one, which is the shortest, in need."""
        least = len(chr(ranges[0][0]).encode())
        near = [(low, min(high, 0x7E)) for low, high in ranges if low <= 0x7E and high >= 0x20]
        pool = near if near and self._chance.random() < 0.9 else ranges
        low, high = self._chance.choice(pool)
        char = chr(self._chance.randint(max(low, min(high, 0x20)), high))
        if len(char.encode()) - least > self._room:
            return chr(ranges[0][0])
        self._spend(len(char.encode()) - least)
        return char

    def _cut(self, cut: _Cut) -> None:
        """Ends what a budget is about before the first token that is too many."""
        start, max_tokens = cut
        for place in range(start, len(self._pieces)):
            if isinstance(self._pieces[place], int):
                if max_tokens == 0:
                    del self._pieces[place:]
                    return
                max_tokens -= 1


def _is_free(text: str, trigger: bytes, scan: Scan) -> bool:
    """Whether `trigger` is the first thing that occurs in `text` and itself."""
    whole = text.encode() + trigger
    if any(exclude in whole for exclude in scan.excludes):
        return False
    return not any(other in whole[:-1] for other, _ in scan.cases)


def _joined(items: Sequence[Sequence[_Task]], separator: Ref) -> list[_Task]:
    return [part for item in items for part in (separator, *item)][1:]


def _members(bits: int) -> frozenset[int]:
    return frozenset(byte for byte in range(256) if bits >> byte & 1)
