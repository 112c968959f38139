"""Hypothesis strategies: random grammars, strings and vocabularies over tiny alphabets.

Grammars are drawn so that most examples say something: nearly every rule has a way out, a
complement seldom stands alone, members of lists consume.  Every shape of recursion is drawn on
purpose (direct, indirect and hidden left recursion, ambiguity, nullable cycles, nesting), because a
uniform choice would hardly ever meet them.  `shapes` says what an example has, for `event`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st
from support.reference_matcher import ReferenceMatcher, TokenTable

from structag.grammar.builder import CODECS, GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    Grammar,
    Mark,
    Ref,
    Repeat,
    Rule,
    Seq,
    Tally,
    Unordered,
    children,
)

ALPHABETS: tuple[tuple[str, ...], ...] = (
    ("a", "b"),
    ("a", "b"),
    ("a", "b", ","),
    ("a", "é"),
    ("a", '"', "\\"),
    ("a", "&", "l", "t", ";"),
)
COUNTS: tuple[tuple[int, int | None], ...] = (
    (0, None),
    (0, None),
    (1, None),
    (0, 1),
    (0, 2),
    (1, 3),
    (2, 2),
    (2, None),
    (3, 5),
    (0, 1_000_000),
    (2, 1_000_000),
)
ITEM_COUNTS: tuple[tuple[int, int | None], ...] = ((0, None), (0, 1), (1, 1), (1, None), (0, 2))


class VocabularySample(NamedTuple):
    """A random vocabulary as plain data.

    Attributes:
        contents: the bytes of every id; empty for an id that is no token.
        control: ids that never match text; the stop token is one of them.
        user_defined: added tokens that have bytes and an id.
        stop: the id of the stop token.
    """

    contents: tuple[bytes, ...]
    control: frozenset[int]
    user_defined: frozenset[int]
    stop: int

    def __repr__(self) -> str:
        """Without the 256 single bytes of a complete vocabulary."""
        contents: object = self.contents
        if len(self.contents) > 256:
            contents = {t: x for t, x in enumerate(self.contents) if len(x) != 1}
        added = f"control={set(self.control)}, user_defined={set(self.user_defined)}"
        return f"VocabularySample({contents}, {added}, stop={self.stop})"

    @property
    def table(self) -> TokenTable:
        return TokenTable(self.contents, self.control, frozenset({self.stop}))

    @property
    def ordinary(self) -> list[int]:
        """The ids that have bytes to match text with."""
        return [t for t, content in enumerate(self.contents) if content and t not in self.control]


class GrammarSample(NamedTuple):
    """A random grammar and the characters it is about."""

    grammar: Grammar
    alphabet: tuple[str, ...]

    @property
    def bytes(self) -> list[int]:
        """The bytes of the alphabet, each once."""
        return sorted(set("".join(self.alphabet).encode("utf-8")))


@st.composite
def grammars(
    draw: st.DrawFn,
    *,
    alphabet: tuple[str, ...] | None = None,
    rules: int = 3,
    regular: bool = False,
    vocabulary: VocabularySample | None = None,
) -> GrammarSample:
    """A grammar; `regular`: without what is no operand; `vocabulary`: with tokens and budgets."""
    chars = alphabet or draw(st.sampled_from(ALPHABETS))
    writer = _Writer(draw, chars, vocabulary)
    if regular:
        root = writer.regular(3)
    else:
        count = draw(st.integers(0, rules))
        root = writer.with_rules(count)
    return GrammarSample(writer.builder.build(root), chars)


@st.composite
def keyed_lists(draw: st.DrawFn, *, alphabet: tuple[str, ...] | None = None) -> GrammarSample:
    """A counted list whose items have keys, with or without a byte around it."""
    chars = alphabet or draw(st.sampled_from(ALPHABETS))
    writer = _Writer(draw, chars, None)
    b = writer.builder
    items = writer.tally(1, keyed=True)
    if draw(st.booleans()):
        items = b.seq(writer.leaf(), items, b.literal(writer.text(1, 1)))
    return GrammarSample(b.build(items), chars)


@st.composite
def vocabularies(
    draw: st.DrawFn, alphabet: Sequence[str], *, complete: bool = False, control: bool = False
) -> VocabularySample:
    """A vocabulary that can spell every byte of `alphabet`, or (`complete`) every byte."""
    data = "".join(alphabet).encode("utf-8")
    singles = list(range(256)) if complete else sorted(set(data))
    pieces: list[bytes] = [bytes([b]) for b in singles]
    pieces += draw(_longer_pieces(tuple(alphabet)))
    if draw(_FLAGS):
        pieces.insert(draw(_number(0, len(pieces))), b"")
    added = len(pieces)
    contents = [*pieces, b"<end>"]
    named: list[int] = []
    if control:
        contents += draw(_markers(tuple(alphabet)))
        named = list(range(added + 1, len(contents)))
    user_defined = frozenset(t for t in named if draw(_number(0, 3)) == 0)
    return VocabularySample(
        tuple(contents), frozenset({added, *named}) - user_defined, user_defined, added
    )


def texts(alphabet: Iterable[str], max_size: int = 8) -> st.SearchStrategy[bytes]:
    """Strings over `alphabet`, in UTF-8."""
    return st.lists(st.sampled_from(tuple(alphabet)), max_size=max_size).map(
        lambda chars: "".join(chars).encode("utf-8")
    )


def byte_strings(sample: GrammarSample, max_size: int = 8) -> st.SearchStrategy[bytes]:
    """Strings over the bytes of the alphabet, seldom others; not always UTF-8."""
    usual = st.sampled_from(sample.bytes)
    return st.lists(st.one_of(usual, usual, usual, st.integers(0, 255)), max_size=max_size).map(
        bytes
    )


# Hypothesis looks at every new strategy before it draws from it, which costs more than the draw.


@cache
def _one_of(options: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(options)


@cache
def _number(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


@cache
def _some_of(options: tuple[Any, ...], most: int | None = None) -> st.SearchStrategy[set[Any]]:
    return st.sets(st.sampled_from(options), min_size=1, max_size=most)


@cache
def _chars_of(alphabet: tuple[str, ...], low: int, high: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(alphabet), min_size=low, max_size=high)


@cache
def _longer_pieces(alphabet: tuple[str, ...]) -> st.SearchStrategy[list[bytes]]:
    data = "".join(alphabet).encode("utf-8")
    unit = st.sampled_from([*(bytes([b]) for b in sorted(set(data))), *_encode(alphabet)])
    return st.lists(st.lists(unit, min_size=2, max_size=4).map(b"".join), max_size=5)


@cache
def _markers(alphabet: tuple[str, ...]) -> st.SearchStrategy[list[bytes]]:
    text = st.lists(st.sampled_from(_encode(alphabet)), min_size=1, max_size=2).map(b"".join)
    return st.lists(text, min_size=1, max_size=2, unique=True)


_FLAGS = st.booleans()


class _Writer:
    """Draws expressions into one builder."""

    def __init__(
        self, draw: st.DrawFn, alphabet: tuple[str, ...], vocabulary: VocabularySample | None
    ) -> None:
        self.draw = draw
        self.alphabet = alphabet
        self.vocabulary = vocabulary
        self.builder = GrammarBuilder()
        self.rules: list[Ref] = []
        self.marks = 0  # how many assertion marks are in scope
        self.is_erasing = False  # no codec inside: front ends put `Erase` inside `Encoded`

    def pick(self, *names: str) -> str:
        return self.draw(_one_of(names))

    def size(self, low: int, high: int) -> int:
        return self.draw(_number(low, high))

    def text(self, low: int = 1, high: int = 2) -> bytes:
        return "".join(self.draw(_chars_of(self.alphabet, low, high))).encode("utf-8")

    # -- regular expressions

    def leaf(self) -> Ref:
        b = self.builder
        match self.pick("literal", "char", "char", "chars", "chars", "bytes", "epsilon"):
            case "literal":
                return b.literal(self.text(1, 3), marker=self.size(0, 3) == 0)
            case "char":
                return b.literal(self.text(1, 1))
            case "bytes":
                own = tuple(sorted(set("".join(self.alphabet).encode("utf-8"))))
                return b.bytes(self.draw(_some_of(own, 2)))
            case "chars":
                return self.chars()
            case _:
                return b.epsilon

    def chars(self) -> Ref:
        if self.size(0, 4) == 0:
            return self.builder.any_char
        picked = self.draw(_some_of(self.alphabet))
        return self.builder.chars([(ord(char), ord(char)) for char in picked])

    def regular(self, depth: int) -> Ref:
        """An expression that may be an operand."""
        b = self.builder
        if depth == 0 or self.size(0, 5) == 0:
            return self.leaf()
        kinds = ["seq", "seq", "alt", "alt", "repeat", "repeat", "and", "and", "not", "mark"]
        kinds += ["no-occurrence"] if self.is_erasing else ["no-occurrence", "encoded", "encoded"]
        kinds += ["assertion", "assertion", "transparent"] if self.marks else ["erase"]
        match self.pick(*kinds):
            case "seq":
                return b.seq(*(self.regular(depth - 1) for _ in range(self.size(2, 3))))
            case "alt":
                return b.alt(*(self.regular(depth - 1) for _ in range(self.size(2, 3))))
            case "repeat":
                # large counts as in patterns: of characters, and not where marks are counted
                low, high = self.draw(_one_of(COUNTS[:-2] if self.is_erasing else COUNTS))
                is_large = high is not None and high > 5
                return b.repeat(self.chars() if is_large else self.regular(depth - 1), low, high)
            case "and":
                return self.both(depth - 1)
            case "not":
                return b.complement(self.regular(depth - 1))
            case "mark":
                return b.mark("/m", self.regular(depth - 1))
            case "no-occurrence":
                return b.no_occurrence(self.text(1, 2) for _ in range(self.size(0, 2)))
            case "encoded":
                return b.encoded(self.pick(*CODECS), self.without_marks(depth - 1))
            case "assertion":
                return b.assertion(self.size(0, self.marks - 1))
            case "transparent":
                return b.transparent(self.without_marks(depth - 1))
            case _:
                return self.erase(depth - 1)

    def both(self, depth: int) -> Ref:
        b = self.builder
        one = self.regular(depth)
        match self.pick("but", "but", "neither", "bounded", "any"):
            case "but":
                return b.both(one, b.complement(self.regular(depth)))
            case "neither":
                return b.both(b.complement(one), b.complement(self.regular(depth)))
            case "bounded":
                low = self.size(0, 2)
                return b.both(
                    b.repeat(self.chars(), low, low + self.size(0, 3)), b.alt(one, b.any_text)
                )
            case _:
                return b.both(one, self.regular(depth))

    def without_marks(self, depth: int) -> Ref:
        marks, self.marks = self.marks, 0
        ref = self.regular(depth)
        self.marks = marks
        return ref

    def erase(self, depth: int) -> Ref:
        """Random marks, or an assertion as the front ends write it."""
        was_erasing, self.is_erasing = self.is_erasing, True
        ref = self.erased(depth)
        self.is_erasing = was_erasing
        return ref

    def erased(self, depth: int) -> Ref:
        b = self.builder
        count = self.size(1, 2)
        if self.pick("assert", "random") == "random":
            self.marks = count
            ref = self.regular(max(depth, 2))
            self.marks = 0
            return b.erase(count, ref)
        before, after = self.regular(depth), self.regular(depth)
        operand = b.seq(b.transparent(before), b.assertion(0), b.transparent(after))
        wanted = self.regular(max(depth - 1, 0))
        all_text = b.transparent(b.any_text)
        match self.pick("ahead", "not-ahead", "behind"):
            case "ahead":
                fails = b.complement(b.transparent(b.seq(wanted, b.any_text)))
                wrong = b.seq(all_text, b.assertion(0), fails)
            case "not-ahead":
                wrong = b.seq(all_text, b.assertion(0), b.transparent(b.seq(wanted, b.any_text)))
            case _:
                fails = b.complement(b.transparent(b.seq(b.any_text, wanted)))
                wrong = b.seq(fails, b.assertion(0), all_text)
        return b.erase(count, b.both(operand, b.complement(wrong)))

    # -- all expressions

    def expression(self, depth: int) -> Ref:
        """Any expression."""
        b = self.builder
        if depth == 0 or self.size(0, 7) == 0:
            return self.atom()
        kinds = ["seq", "seq", "alt", "alt", "repeat", "repeat", "regular", "regular", "mark"]
        kinds += ["scan", "unordered", "tally"]
        kinds += ["budget", "budget"] if self.vocabulary else []
        match self.pick(*kinds):
            case "seq":
                return b.seq(*(self.expression(depth - 1) for _ in range(self.size(2, 3))))
            case "alt":
                return b.alt(*(self.expression(depth - 1) for _ in range(self.size(2, 3))))
            case "repeat":
                low, high = self.draw(_one_of(COUNTS))
                return b.repeat(self.expression(depth - 1), low, high)
            case "regular":
                return self.regular(3)
            case "mark":
                return b.mark("/m", self.expression(depth - 1))
            case "scan":
                return self.scan(depth - 1)
            case "unordered":
                return self.unordered(depth - 1)
            case "tally":
                return self.tally(depth - 1)
            case "budget":
                return b.budget(self.closable(), self.size(0, 3))
            case _:
                return self.atom()

    def atom(self) -> Ref:
        kinds = ["leaf", "leaf", "rule"] if self.rules else ["leaf"]
        kinds += ["tokens"] if self.vocabulary else []
        match self.pick(*kinds):
            case "rule":
                return self.draw(_one_of(tuple(self.rules)))
            case "tokens":
                return self.tokens()
            case _:
                return self.leaf()

    def tokens(self) -> Ref:
        assert self.vocabulary is not None
        used = tuple(t for t, content in enumerate(self.vocabulary.contents) if content)[-8:]
        ids = self.draw(_some_of(used, 2))
        return self.builder.tokens(ids, negated=self.size(0, 3) == 0)

    def closable(self) -> Ref:
        b = self.builder
        match self.pick("no-occurrence", "no-occurrence", "chars", "bytes", "tokens"):
            case "no-occurrence":
                return b.no_occurrence(self.text(1, 2) for _ in range(self.size(0, 2)))
            case "chars":
                return b.repeat(self.chars(), 0, None)
            case "bytes":
                own = "".join(self.alphabet).encode("utf-8")
                return b.repeat(b.bytes(own[: self.size(1, len(own))]), 0, None)
            case _:
                return b.repeat(self.tokens(), 0, None)

    def scan(self, depth: int) -> Ref:
        cases = [(self.text(), self.expression(depth)) for _ in range(self.size(1, 2))]
        if self.vocabulary and any(self.vocabulary.control):
            # what a control token inside overlapping triggers means is not pinned down
            cases = cases[:1]
        excludes = [self.text()] if self.size(0, 2) == 0 else []
        return self.builder.scan(cases, excludes)

    def member(self, depth: int) -> Ref:
        """An expression that consumes something."""
        first = self.builder.literal(self.text(1, 2))
        return self.builder.seq(first, self.expression(depth)) if self.size(0, 1) else first

    def separator(self) -> Ref:
        match self.pick("literal", "literal", "epsilon", "repeat"):
            case "literal":
                return self.builder.literal(self.text(1, 1))
            case "epsilon":
                return self.builder.epsilon
            case _:
                return self.builder.repeat(self.builder.literal(self.text(1, 1)), 0, None)

    def unordered(self, depth: int) -> Ref:
        members = [(self.member(depth), self.size(0, 1) == 0) for _ in range(self.size(1, 3))]
        rest = self.member(depth) if self.size(0, 2) == 0 else None
        return self.builder.unordered(members, rest, self.separator())

    def keyed(self, depth: int) -> Ref:
        """Members with a key, or one that has none among them."""
        b = self.builder
        ways = []
        for _ in range(self.size(1, 2)):
            before = b.literal(self.text(1, 1)) if self.size(0, 2) else b.epsilon
            codec = self.pick("json", "xml", "plain")
            regular = self.draw(_FLAGS)
            text = self.regular(2) if regular else b.repeat(self.chars(), 0, self.size(1, 3))
            key = b.distinct(None if codec == "plain" else codec, text)
            after = self.expression(depth) if self.size(0, 2) == 0 else b.literal(self.text(0, 1))
            way = b.seq(before, key, after)
            ways.append(b.seq(b.literal(self.text(1, 1)), way) if b.is_nullable(way) else way)
        return b.alt(*ways, self.member(depth)) if self.size(0, 3) == 0 else b.alt(*ways)

    def tally(self, depth: int, keyed: bool | None = None) -> Ref:
        kinds = []
        keyed = self.draw(_FLAGS) if keyed is None else keyed
        for _ in range(self.size(1, 2)):
            low, high = self.draw(_one_of(ITEM_COUNTS))
            kinds.append((self.keyed(depth) if keyed else self.member(depth), low, high))
        low, high = self.draw(_one_of(((0, None), (0, 3), (1, None), (2, 2))))
        return self.builder.tally(kinds, low, high, self.separator())

    # -- rules

    def with_rules(self, count: int) -> Ref:
        b = self.builder
        self.rules = [b.rule(f"r{i}") for i in range(count)]
        for i in range(count):
            b.define(self.rules[i], self.body(i))
        if count and self.size(0, 2):
            return self.rules[0]
        return self.expression(3)

    def body(self, index: int) -> Ref:
        """A body for rule `index`: a shape of recursion, and nearly always a way out."""
        b = self.builder
        own = self.rules[index]
        other = self.draw(_one_of(tuple(self.rules)))
        nullable = b.optional(self.expression(1))
        x = self.expression(1)
        match self.pick(
            "plain", "left", "hidden", "mutual", "ambiguous", "nested", "cycle", "right", "double"
        ):
            case "plain":
                shape = self.expression(2)
            case "left":
                shape = b.seq(own, x)
            case "hidden":
                shape = b.seq(nullable, own, x)
            case "mutual":
                shape = b.seq(other, x)
            case "ambiguous":
                shape = b.seq(own, own)
            case "nested":
                shape = b.seq(self.leaf(), own, x)
            case "cycle":
                shape = b.alt(other, b.seq(nullable, own, nullable))
            case "right":
                shape = b.seq(x, own)
            case _:
                shape = b.seq(own, x, other)
        way_out = self.expression(1) if self.size(0, 9) == 0 else self.leaf()
        return b.alt(shape, way_out) if self.size(0, 11) else shape


def shapes(sample: GrammarSample) -> set[str]:
    """What the example has, for statistics: kinds of expressions and of recursion."""
    grammar = sample.grammar
    found = {type(grammar.nodes[ref]).__name__ for ref in reachable(grammar)}
    matcher = ReferenceMatcher(grammar)
    used = [
        node.index for ref in reachable(grammar) if isinstance(node := grammar.nodes[ref], Rule)
    ]
    edges = {index: _left_rules(matcher, grammar.rules[index][1]) for index in used}
    if any(index in _closure(edges, index) for index in edges):
        found.add("left recursion")
    if any(matcher.derives(grammar.rules[index][1], ()) for index in used):
        found.add("nullable rule")
    return found


def reachable(grammar: Grammar) -> set[Ref]:
    """The expressions that the root needs."""
    found: set[Ref] = set()
    queue = [grammar.root]
    while queue:
        ref = queue.pop()
        if ref not in found:
            found.add(ref)
            node = grammar.nodes[ref]
            queue.extend(
                (grammar.rules[node.index][1],) if isinstance(node, Rule) else children(node)
            )
    return found


def _left_rules(matcher: ReferenceMatcher, ref: Ref) -> set[int]:
    """The rules that can stand at the left edge of `ref`."""
    match node := matcher.nodes[ref]:
        case Rule(index):
            return {index}
        case Seq(parts):
            found: set[int] = set()
            for part in parts:
                found |= _left_rules(matcher, part)
                if not matcher.derives(part, ()):
                    break
            return found
        case Alt() | Repeat() | Mark() | Unordered() | Tally():
            return set().union(*(_left_rules(matcher, child) for child in children(node)))
        case _:
            return set()


def _closure(edges: dict[int, set[int]], start: int) -> set[int]:
    found: set[int] = set()
    queue = list(edges[start])
    while queue:
        index = queue.pop()
        if index not in found:
            found.add(index)
            queue.extend(edges[index])
    return found


def _encode(alphabet: Iterable[str]) -> list[bytes]:
    return [char.encode("utf-8") for char in alphabet]
