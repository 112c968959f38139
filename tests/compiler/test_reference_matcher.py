"""Proves the oracle itself: hand tables for every definition, and Python's own `re`, `json` and
`html` where they know the answer."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.reference_codecs import decode_json, decode_xml
from support.reference_matcher import (
    STARTS,
    ReferenceMatcher,
    TokenTable,
    accepts,
    accepts_tokens,
    count_starts,
)

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Ref

Write = Callable[[GrammarBuilder], Ref]


def grammar_of(write: Write) -> Grammar:
    builder = GrammarBuilder()
    return builder.build(write(builder))


def language(grammar: Grammar, alphabet: bytes, length: int) -> set[bytes]:
    """All strings over `alphabet` up to `length` that belong to `grammar`."""
    matcher = ReferenceMatcher(grammar)
    words = (bytes(w) for n in range(length + 1) for w in itertools.product(alphabet, repeat=n))
    return {word for word in words if matcher.accepts(word)}


def words(text: str) -> set[bytes]:
    """The words of `text`; ``-`` is the empty string."""
    return {b"" if word == "-" else word.encode("utf-8") for word in text.split()}


def self_list(b: GrammarBuilder) -> Ref:
    """``S → S S | a``."""
    s = b.rule("S")
    b.define(s, b.alt(b.seq(s, s), b.literal(b"a")))
    return s


def hidden_left(b: GrammarBuilder) -> Ref:
    """``S → b? S a | a``."""
    s = b.rule("S")
    b.define(s, b.alt(b.seq(b.optional(b.literal(b"b")), s, b.literal(b"a")), b.literal(b"a")))
    return s


def mutual_left(b: GrammarBuilder) -> Ref:
    """``S → T a | a``, ``T → S b | b``."""
    s, t = b.rule("S"), b.rule("T")
    b.define(s, b.alt(b.seq(t, b.literal(b"a")), b.literal(b"a")))
    b.define(t, b.alt(b.seq(s, b.literal(b"b")), b.literal(b"b")))
    return s


def nullable_cycle(b: GrammarBuilder) -> Ref:
    """``S → T S T | a | ε``, ``T → S``."""
    s, t = b.rule("S"), b.rule("T")
    b.define(s, b.alt(b.seq(t, s, t), b.literal(b"a"), b.epsilon))
    b.define(t, s)
    return s


def nested(b: GrammarBuilder) -> Ref:
    """``S → a S b | ε``."""
    s = b.rule("S")
    b.define(s, b.alt(b.seq(b.literal(b"a"), s, b.literal(b"b")), b.epsilon))
    return s


def no_way_out(b: GrammarBuilder) -> Ref:
    s = b.rule("S")
    b.define(s, b.seq(b.literal(b"a"), s))
    return s


def maybe_a(b: GrammarBuilder) -> Ref:
    return b.optional(b.literal(b"a"))


LANGUAGES: list[tuple[str, Write, bytes, int, str]] = [
    ("empty", lambda b: b.empty, b"ab", 2, ""),
    ("epsilon", lambda b: b.epsilon, b"ab", 2, "-"),
    ("bytes", lambda b: b.bytes(b"b"), b"ab", 2, "b"),
    ("repeat-counts", lambda b: b.repeat(b.literal(b"a"), 2, 3), b"ab", 4, "aa aaa"),
    ("repeat-open", lambda b: b.repeat(b.literal(b"a"), 2), b"a", 4, "aa aaa aaaa"),
    ("repeat-nullable", lambda b: b.repeat(maybe_a(b), 3, 3), b"a", 4, "- a aa aaa"),
    ("repeat-huge", lambda b: b.repeat(b.literal(b"a"), 1_000_000), b"a", 4, ""),
    ("repeat-huge-nullable", lambda b: b.repeat(maybe_a(b), 10**6), b"a", 2, "- a aa"),
    ("ambiguous", self_list, b"ab", 3, "a aa aaa"),
    ("hidden-left", hidden_left, b"ab", 3, "a aa aaa baa"),
    ("mutual-left", mutual_left, b"ab", 4, "a ba aba baba"),
    ("nullable-cycle", nullable_cycle, b"ab", 3, "- a aa aaa"),
    ("nested", nested, b"ab", 4, "- ab aabb"),
    ("no-way-out", no_way_out, b"a", 4, ""),
    ("and", lambda b: b.both(b.repeat(maybe_a(b), 1, 3), b.literal(b"aa")), b"a", 4, "aa"),
    ("not", lambda b: b.complement(b.repeat(b.literal(b"a"), 0)), b"ab", 2, "b ab ba bb"),
    ("not-empty", lambda b: b.any_text, b"a", 2, "- a aa"),
    ("not-not", lambda b: b.complement(b.complement(b.literal(b"a"))), b"ab", 2, "a"),
    ("no-occurrence", lambda b: b.no_occurrence([b"aa", b"b"]), b"ab", 3, "- a"),
    ("no-occurrence-none", lambda b: b.no_occurrence(), b"a", 2, "- a aa"),
    ("mark", lambda b: b.mark("/x", b.literal(b"a")), b"ab", 2, "a"),
    ("scan", lambda b: b.scan([(b"aa", b.literal(b"b"))]), b"ab", 4, "aab baab"),
    ("scan-exclude", lambda b: b.scan([(b"ab", b.epsilon)], [b"aa"]), b"ab", 3, "ab bab"),
    ("scan-dead-exclude", lambda b: b.scan([(b"ab", b.epsilon)], [b"b"]), b"ab", 3, ""),
    (
        "scan-both-complete",
        lambda b: b.scan([(b"ab", b.literal(b"a")), (b"b", b.literal(b"b"))]),
        b"ab",
        3,
        "aba abb bb",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("write", "alphabet", "length", "expected"),
    [row[1:] for row in LANGUAGES],
    ids=[row[0] for row in LANGUAGES],
)
def test_language_is_exactly_the_table(
    write: Write, alphabet: bytes, length: int, expected: str
) -> None:
    assert language(grammar_of(write), alphabet, length) == words(expected)


def test_scan_stops_at_the_earliest_trigger() -> None:
    """`abc` never completes, because `b` completes inside of it."""
    grammar = grammar_of(lambda b: b.scan([(b"abc", b.literal(b"!")), (b"b", b.literal(b"?"))]))

    assert accepts(grammar, b"ab?")
    assert not accepts(grammar, b"abc!")


def test_scan_of_nothing_after_a_trigger_reads_text_only() -> None:
    grammar = grammar_of(lambda b: b.scan([(b"<", b.epsilon)]))

    assert accepts(grammar, "é<".encode())
    assert not accepts(grammar, b"\xc3<")
    assert not accepts(grammar, b"a<b")


def test_chars_and_text_are_valid_utf8() -> None:
    one = ReferenceMatcher(grammar_of(lambda b: b.any_char))
    text = ReferenceMatcher(grammar_of(lambda b: b.any_text))
    table = {"é": True, "\U0010ffff": True, "aé": False, "": False}

    assert {char: one.accepts(char.encode()) for char in table} == table
    for wrong in (b"\xc3", b"\xa9", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xff"):
        assert not one.accepts(wrong)
        assert not text.accepts(wrong)


def test_not_leaves_out_what_is_no_text() -> None:
    grammar = grammar_of(lambda b: b.complement(b.bytes([0xC3])))

    assert language(grammar, b"\xc3\xa9", 2) == {b"", b"\xc3\xa9"}


UNORDERED: list[tuple[str, str, str | None, str, str]] = [
    # members (capital: required), rest, separator, all strings over "abc," up to length 3
    ("optional", "a b", None, "", "- a b ab ba"),
    ("required", "A b", None, "", "a ab ba"),
    ("separator", "A b", None, ",", "a a,b b,a"),
    ("rest", "A", "c", "", "a ac ca acc cac cca"),
    ("only-rest", "", "c", ",", "- c c,c"),
    ("member-again-as-rest", "a", "a", "", "- a aa aaa"),
]


@pytest.mark.parametrize(
    ("members", "rest", "separator", "expected"),
    [row[1:] for row in UNORDERED],
    ids=[row[0] for row in UNORDERED],
)
def test_unordered_is_exactly_the_table(
    members: str, rest: str | None, separator: str, expected: str
) -> None:
    def write(b: GrammarBuilder) -> Ref:
        pairs = [(b.literal(m.lower().encode()), m.isupper()) for m in members.split()]
        other = b.literal(rest.encode()) if rest else None
        return b.unordered(pairs, other, b.literal(separator.encode()))

    assert language(grammar_of(write), b"abc,", 3) == words(expected)


@pytest.mark.parametrize(
    ("kinds", "low", "high", "separator", "expected"),
    [
        ([("a", 1, 1), ("b", 0, None)], 0, 3, "", "a ab ba abb bab bba"),
        ([("a", 0, 2)], 0, None, ",", "- a a,a"),
        ([("a", 0, None), ("b", 1, 1)], 2, 2, "", "ab ba"),
        ([("a", 1, 1), ("a", 1, 1)], 0, None, "", "aa"),
        ([("a", 0, 1), ("aa", 0, 1)], 0, None, "", "- a aa aaa"),
    ],
)
def test_tally_is_exactly_the_table(
    kinds: list[tuple[str, int, int | None]],
    low: int,
    high: int | None,
    separator: str,
    expected: str,
) -> None:
    def write(b: GrammarBuilder) -> Ref:
        counted = [(b.literal(text.encode()), least, most) for text, least, most in kinds]
        return b.tally(counted, low, high, b.literal(separator.encode()))

    assert language(grammar_of(write), b"ab,", 3) == words(expected)


def test_no_two_items_of_a_way_have_the_same_key() -> None:
    def write(b: GrammarBuilder) -> Ref:
        letter = b.distinct(None, b.alt(b.literal(b"a"), b.literal(b"b")))
        other = b.seq(letter, b.literal(b"c"))
        return b.tally([(b.alt(letter, other), 0, None)], 0, None, b.epsilon)

    expected = "- a b ac bc ab ba aac bbc aca bcb abc bac acb bca"

    assert language(grammar_of(write), b"abc", 3) == words(expected)


def test_keys_are_compared_as_what_they_spell() -> None:
    def write(b: GrammarBuilder) -> Ref:
        key = b.seq(b.distinct("json", b.any_char), b.literal(b";"))
        return b.tally([(key, 2, 2)], 0, None, b.epsilon)

    reference = ReferenceMatcher(grammar_of(write))

    assert reference.accepts(b"a;b;")
    assert reference.accepts(rb"\u0061;b;")
    assert not reference.accepts(rb"\u0061;a;")


# -- codecs


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        (r"a\"\\\/\b\f\n\r\t", 'a"\\/\b\f\n\r\t'),
        (r"\u00e9\u00E9\u0000", "éé\0"),
        (r"\ud83d\ude00", "😀"),
        (r"\ud83d", None),
        (r"\ude00", None),
        (r"\ud83d\ud83d", None),
        (r"\ud83dx", None),
        (r"\ud83d\u0061", None),
        (r"\u00e", None),
        (r"\x41", None),
        ("\\", None),
        ('"', None),
        ("\x1f", None),
        ("\x7f", "\x7f"),
        (r"\U0061", None),
    ],
)
def test_json_decoder(spelling: str, text: str | None) -> None:
    assert decode_json(spelling) == text
    if text is not None:
        assert json.loads(f'"{spelling}"') == text


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"),
        ("&#65;&#0065;&#x41;&#x00041;&#xe9;&#xE9;", "AAAAéé"),
        ("&#x10FFFF;", "\U0010ffff"),
        ("&#0;", None),
        ("&#xD800;", None),
        ("&#1114112;", None),
        ("&#;", None),
        ("&#x;", None),
        ("&#X41;", None),
        ("&lt", None),
        ("&", None),
        ("<", None),
        ("&nbsp;", None),
        (">]]>\0", ">]]>\0"),
    ],
)
def test_xml_decoder(spelling: str, text: str | None) -> None:
    assert decode_xml(spelling) == text
    if text is not None and text.isprintable():
        assert html.unescape(spelling) == text


@given(st.text(alphabet='"\\/ub0d8cef\x1f\n', max_size=12))
@settings(max_examples=2000, deadline=None)
def test_json_decoder_agrees_with_the_json_module(spelling: str) -> None:
    try:
        expected = json.loads(f'"{spelling}"')
        expected.encode("utf-8")  # the module lets lone surrogates pass
    except ValueError:
        expected = None

    assert decode_json(spelling) == expected


def test_encoded_matches_the_spellings_of_its_operand() -> None:
    grammar = grammar_of(lambda b: b.encoded("json", b.complement(b.literal(b"n"))))
    table = {b"": True, b"\\n": True, b"n": False, b"\\u006e": False, b"nn": True, b"\\": False}

    assert {spelling: accepts(grammar, spelling) for spelling in table} == table


def test_encoded_drops_what_is_no_text() -> None:
    grammar = grammar_of(lambda b: b.encoded("xml", b.bytes([0x3C, 0xC3])))

    assert language(grammar, b"&lt;<\xc3", 4) == {b"&lt;"}


# -- Erase: look-around as the front ends will write it, against `re`


def look(b: GrammarBuilder, before: Ref, kind: str, wanted: Ref, after: Ref) -> Ref:
    """``before (kind wanted) after``, for one look-around assertion."""
    text = b.transparent(b.any_text)
    if kind in ("?=", "?!"):
        condition = b.transparent(b.seq(wanted, b.any_text))
    else:
        condition = b.transparent(b.seq(b.any_text, wanted))
    wrong = condition if kind in ("?!", "?<!") else b.complement(condition)
    sides = (wrong, text) if kind.startswith("?<") else (text, wrong)
    operand = b.seq(b.transparent(before), b.assertion(0), b.transparent(after))
    violated = b.seq(sides[0], b.assertion(0), sides[1])
    return b.erase(1, b.both(operand, b.complement(violated)))


@pytest.mark.parametrize("kind", ["?=", "?!", "?<=", "?<!"])
@pytest.mark.parametrize("wanted", ["a", "ab", "", "a*b"])
@pytest.mark.parametrize("before", ["(?:a|b)*", "a?", "b"])
def test_erase_is_look_around(kind: str, wanted: str, before: str) -> None:
    b = GrammarBuilder()
    a_or_b = b.repeat(b.bytes(b"ab"), 0)
    refs = {
        "": b.epsilon,
        "a": b.literal(b"a"),
        "b": b.literal(b"b"),
        "ab": b.literal(b"ab"),
        "a?": b.optional(b.literal(b"a")),
        "a*b": b.seq(b.repeat(b.literal(b"a"), 0), b.literal(b"b")),
        "(?:a|b)*": a_or_b,
    }
    grammar = b.build(look(b, refs[before], kind, refs[wanted], a_or_b))
    if kind.startswith("?<") and "*" in wanted:  # `re` wants a fixed width: a*b ends in b
        wanted = "b"
    pattern = re.compile(f"{before}({kind}{wanted})(?:a|b)*")
    every = (bytes(w) for n in range(6) for w in itertools.product(b"ab", repeat=n))

    assert language(grammar, b"ab", 5) == {w for w in every if pattern.fullmatch(w.decode())}


def test_operands_under_erase_agree_on_the_marks() -> None:
    """One mark cannot be at two places: before the `a` for one operand, after it for the other."""

    def write(b: GrammarBuilder) -> Ref:
        a, mark = b.literal(b"a"), b.assertion(0)
        return b.erase(1, b.both(b.seq(mark, a), b.seq(a, mark)))

    def twice(b: GrammarBuilder) -> Ref:
        a, mark = b.literal(b"a"), b.assertion(0)
        anywhere = b.repeat(b.alt(a, mark), 0)
        return b.erase(1, b.both(b.seq(mark, mark, anywhere), b.seq(anywhere, a, mark)))

    assert language(grammar_of(write), b"a", 3) == set()
    assert language(grammar_of(twice), b"a", 2) == {b"a", b"aa"}


def test_not_under_erase_allows_marks_between_characters_only() -> None:
    def write(b: GrammarBuilder) -> Ref:
        split = b.seq(b.bytes([0xC3]), b.assertion(0), b.bytes([0xA9]))
        return b.erase(1, b.both(split, b.any_text))

    def between(b: GrammarBuilder) -> Ref:
        return b.erase(1, b.both(b.seq(b.assertion(0), b.any_char, b.assertion(0)), b.any_text))

    assert language(grammar_of(write), b"\xc3\xa9", 2) == set()
    assert language(grammar_of(between), b"\xc3\xa9", 2) == {b"\xc3\xa9"}


def test_transparent_lets_marks_pass_anywhere() -> None:
    def write(b: GrammarBuilder) -> Ref:
        marked = b.seq(b.bytes([0xC3]), b.assertion(0), b.bytes([0xA9]))
        return b.erase(1, b.both(marked, b.transparent(b.any_char)))

    assert language(grammar_of(write), b"\xc3\xa9", 2) == {b"\xc3\xa9"}


# -- tokens: 0 "a", 1 "ab", 2 "b", 3 control "ab", 4 the stop token, 5 no token

TABLE = TokenTable((b"a", b"ab", b"b", b"ab", b"<end>", b""), frozenset({3, 4}), frozenset({4}))


def token_language(write: Write, length: int) -> set[tuple[int, ...]]:
    matcher = ReferenceMatcher(grammar_of(write), TABLE)
    every = (w for n in range(length + 1) for w in itertools.product(range(6), repeat=n))
    return {word for word in every if matcher.accepts_tokens(word)}


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda b: b.literal(b"ab"), {(0, 2), (1,)}),
        (lambda b: b.literal(b"ab", marker=True), {(0, 2), (1,), (3,)}),
        (lambda b: b.literal(b"b", marker=True), {(2,)}),
        (lambda b: b.literal(b"bab", marker=True), {(2, 0, 2), (2, 1), (2, 3)}),
        (lambda b: b.tokens([1, 3]), {(1,), (3,)}),
        (lambda b: b.tokens([4]), {(4,)}),
        (lambda b: b.tokens([1], negated=True), {(0,), (2,), (3,)}),
        (lambda b: b.tokens([], negated=True), {(0,), (1,), (2,), (3,)}),
        (lambda b: b.seq(b.tokens([0]), b.literal(b"b")), {(0, 2)}),
        (lambda b: b.alt(b.tokens([0]), b.literal(b"a")), {(0,)}),
        (lambda b: b.both(b.literal(b"ab", marker=True), b.any_text), {(0, 2), (1,)}),
        (lambda b: b.scan([(b"ab", b.literal(b"b"))]),
         {(0, 2, 2), (1, 2), (3, 2), (2, 3, 2), (0, 3, 2), (0, 1, 2), (2, 1, 2)}),
        (lambda b: b.no_occurrence([b"b"]), {(), (0,), (0, 0), (0, 0, 0)}),
    ],
)  # fmt: skip
def test_token_language_is_exactly_the_table(write: Write, expected: set[tuple[int, ...]]) -> None:
    assert token_language(write, 3) == expected


@pytest.mark.parametrize(
    ("token_ids", "limit", "expected"),
    [
        ((0, 0), 2, True),
        ((0, 0, 0), 2, False),
        ((1, 1), 2, True),
        ((1, 1), 1, False),  # the last `b` may lie outside, but its token begins inside
        ((1,), 1, True),
        ((1,), 0, False),
        ((0, 2), 1, True),
        ((2, 0), 1, False),
    ],
)
def test_budget_counts_the_tokens_that_begin_inside(
    token_ids: tuple[int, ...], limit: int, expected: bool
) -> None:
    def write(b: GrammarBuilder) -> Ref:
        return b.seq(b.budget(b.repeat(b.bytes(b"ab"), 0), limit), b.optional(b.literal(b"b")))

    assert accepts_tokens(grammar_of(write), TABLE, token_ids) is expected


def test_budget_does_not_count_a_token_that_begins_before_it() -> None:
    def write(b: GrammarBuilder) -> Ref:
        return b.seq(b.literal(b"a"), b.budget(b.no_occurrence([b"a"]), 0))

    assert accepts_tokens(grammar_of(write), TABLE, (1,))
    assert not accepts_tokens(grammar_of(write), TABLE, (0, 2))


def test_budget_counts_nothing_in_text() -> None:
    assert accepts(grammar_of(lambda b: b.budget(b.no_occurrence(), 0)), b"abc")


def test_marker_tokens_stand_only_for_what_they_contain() -> None:
    """A control token inside a longer trigger, and free text that is no place for it."""
    grammar = grammar_of(lambda b: b.scan([(b"abb", b.epsilon)]))

    assert accepts_tokens(grammar, TABLE, (0, 3, 2))
    assert not accepts_tokens(grammar, TABLE, (3, 0, 1, 2))


def test_count_starts() -> None:
    assert count_starts((97, 97 | STARTS, -1)) == 2


# -- random regular expressions against `re`

PATTERNS = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "ab", ""]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: f"(?:{p[0]})(?:{p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"(?:{p[0]}|{p[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}"])).map(
            lambda p: f"(?:{p[0]}){p[1]}"
        ),
    ),
    max_leaves=6,
)


class _Reader:
    """Reads the patterns above into a grammar; knows nothing else of regular expressions."""

    def __init__(self, builder: GrammarBuilder, pattern: str) -> None:
        self.builder, self.pattern, self.at = builder, pattern, 0

    def alternation(self) -> Ref:
        branches = [self.sequence()]
        while self.pattern[self.at : self.at + 1] == "|":
            self.at += 1
            branches.append(self.sequence())
        return self.builder.alt(*branches)

    def sequence(self) -> Ref:
        parts: list[Ref] = []
        while self.pattern[self.at : self.at + 1] not in ("", "|", ")"):
            parts.append(self.item())
        return self.builder.seq(*parts)

    def item(self) -> Ref:
        b = self.builder
        if self.pattern.startswith("(?:", self.at):
            self.at += 3
            ref = self.alternation()
            self.at += 1
        elif self.pattern.startswith("[ab]", self.at):
            self.at += 4
            ref = b.bytes(b"ab")
        else:
            ref = b.literal(self.pattern[self.at].encode())
            self.at += 1
        for sign, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1), ("{2}", 2, 2)):
            if self.pattern.startswith(sign, self.at):
                self.at += len(sign)
                return b.repeat(ref, low, high)
        if self.pattern.startswith("{1,3}", self.at):
            self.at += 5
            return b.repeat(ref, 1, 3)
        return ref


@given(PATTERNS, st.booleans(), PATTERNS)
@settings(max_examples=500, deadline=None)
def test_regular_expressions_agree_with_re(one: str, negated: bool, two: str) -> None:
    """`one` and (not) `two`, over all strings up to length 4."""
    b = GrammarBuilder()
    second = _Reader(b, two).alternation()
    grammar = b.build(
        b.both(_Reader(b, one).alternation(), b.complement(second) if negated else second)
    )
    expected = {
        w
        for n in range(5)
        for w in map(bytes, itertools.product(b"ab", repeat=n))
        if re.fullmatch(one, w.decode()) and bool(re.fullmatch(two, w.decode())) != negated
    }

    assert language(grammar, b"ab", 4) == expected
