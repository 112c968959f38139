"""`structag.grammar.builder`: what the constructors simplify, keep and refuse."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.reference_matcher import accepts
from support.strategies import GrammarSample, byte_strings, grammars

from structag.errors import GrammarError
from structag.grammar.builder import MAX_COUNT, GrammarBuilder, normalize_ranges
from structag.grammar.expressions import (
    Alt,
    And,
    Encoded,
    Grammar,
    Literal,
    Ref,
    Repeat,
    Seq,
    Tally,
    Unordered,
    children,
    with_children,
)
from structag.grammar.fingerprint import fingerprint
from structag.grammar.transplant import extend


def test_equal_expressions_are_one() -> None:
    b = GrammarBuilder()

    assert b.seq(b.literal(b"a"), b.any_char) == b.seq(b.literal(b"a"), b.chars([(0, 0x10FFFF)]))
    assert b.alt(b.literal(b"a"), b.literal(b"b")) == b.alt(b.literal(b"b"), b.literal(b"a"))
    assert b.literal(b"a") != b.literal(b"a", marker=True)


def test_sequences_are_flat_and_join_literals() -> None:
    b = GrammarBuilder()
    c = b.any_char
    ref = b.seq(b.literal(b"a"), b.seq(b.literal(b"b"), c), b.epsilon, b.seq(c, b.literal(b"d")))

    assert b.node(ref) == Seq((b.literal(b"ab"), c, c, b.literal(b"d")))
    assert b.seq() == b.seq(b.epsilon) == b.epsilon
    assert b.seq(c, b.empty) == b.empty
    assert b.seq(c) == c


def test_neighbouring_repeats_of_one_thing_are_one() -> None:
    b = GrammarBuilder()
    a, c = b.literal(b"a"), b.any_char

    assert b.seq(b.repeat(c, 1, 2), b.repeat(c, 0, 3), b.repeat(c, 2, 2)) == b.repeat(c, 3, 7)
    assert b.seq(b.repeat(c, 1), b.repeat(c, 0, 3), b.repeat(c, 4)) == b.repeat(c, 5)
    assert b.seq(*[b.repeat(a, 0)] * 1000) == b.repeat(a, 0)
    assert len(b.node(b.seq(b.repeat(a, 0), b.repeat(c, 0), b.repeat(a, 0))).parts) == 3
    most = b.repeat(c, 2, 2**31 - 1)
    assert b.node(b.seq(most, most)) == Seq((most, most))


def test_unions_are_flat_sorted_sets_without_the_empty_language() -> None:
    b = GrammarBuilder()
    x, y, z = b.literal(b"x"), b.literal(b"y"), b.literal(b"z")

    assert b.node(b.alt(z, b.alt(x, y), b.empty, x)) == Alt((x, y, z))
    assert b.alt() == b.empty
    assert b.alt(b.empty, x) == x


def test_repeats_simplify() -> None:
    b = GrammarBuilder()
    x = b.literal(b"x")

    assert b.repeat(x, 1, 1) == x
    assert b.repeat(x, 0, 0) == b.repeat(b.epsilon, 2, 5) == b.repeat(b.empty, 0) == b.epsilon
    assert b.repeat(b.empty, 1) == b.empty
    assert b.node(b.repeat(b.repeat(x, 1), 3)) == Repeat(x, 3, None)
    assert b.node(b.repeat(b.repeat(x, 0), 3)) == Repeat(x, 0, None)
    assert b.node(b.repeat(b.repeat(x, 1), 0)) == Repeat(x, 0, None)
    assert b.node(b.repeat(b.repeat(x, 2), 3)) == Repeat(b.repeat(x, 2), 3, None)


def test_lists_keep_their_promises() -> None:
    b = GrammarBuilder()
    x, y, comma = b.literal(b"x"), b.literal(b"y"), b.literal(b",")

    assert b.unordered([(b.empty, True)], None, comma) == b.empty
    assert b.unordered([(b.empty, False)], None, comma) == b.epsilon
    assert b.node(b.unordered([(x, True), (b.empty, False)], b.empty, comma)) == Unordered(
        ((x, True),), None, comma
    )
    assert b.tally([(x, 2, 1)], 0, None, comma) == b.empty
    assert b.tally([(x, 0, 1)], 2, None, comma) == b.empty
    assert b.tally([(x, 2, None)], 0, 1, comma) == b.empty
    assert b.tally([(x, 0, 0)], 0, None, comma) == b.epsilon
    assert b.node(b.tally([(x, 0, 1), (y, 0, 0)], 0, None, comma)) == Tally(
        ((x, 0, 1),), 0, None, comma
    )


def test_equal_triggers_are_joined() -> None:
    b = GrammarBuilder()
    x, y = b.literal(b"x"), b.literal(b"y")
    once = b.scan([(b"<", b.alt(x, y))])

    assert b.scan([(b"<", x), (b"<", y)]) == once
    assert b.scan([]) == b.empty


def test_an_operand_of_a_codec_is_text() -> None:
    b = GrammarBuilder()
    raw = b.bytes([0xFF, 0x61])
    node = b.node(b.encoded("json", raw))

    assert isinstance(node, Encoded)
    assert isinstance(b.node(node.child), And)
    assert b.node(b.encoded("json", b.any_char)) == Encoded("json", b.any_char)


def rule_of(b: GrammarBuilder) -> Ref:
    rule = b.rule("r")
    b.define(rule, b.literal(b"x"))
    return rule


REFUSED: dict[str, Callable[[GrammarBuilder], object]] = {
    "a byte over 255": lambda b: b.bytes([256]),
    "a negative token": lambda b: b.tokens([-1]),
    "a repeat from more to less": lambda b: b.repeat(b.any_char, 3, 2),
    "a count over the limit": lambda b: b.repeat(b.any_char, 0, MAX_COUNT + 1),
    "a rule under And": lambda b: b.both(rule_of(b), b.any_text),
    "a rule under Not": lambda b: b.complement(rule_of(b)),
    "a rule under a codec": lambda b: b.encoded("json", rule_of(b)),
    "a token under Erase": lambda b: b.erase(1, b.tokens([1])),
    "an unknown codec": lambda b: b.encoded("yaml", b.any_text),
    "no intersection": lambda b: b.both(),
    "an empty pattern": lambda b: b.no_occurrence([b""]),
    "a trigger that is no text": lambda b: b.scan([(b"\xff", b.epsilon)]),
    "a budget that cannot end": lambda b: b.budget(b.literal(b"ab"), 3),
    "a nullable member": lambda b: b.unordered([(b.optional(b.any_char), True)], None, b.epsilon),
    "a nullable kind": lambda b: b.tally([(b.any_text, 0, 1)], 0, None, b.epsilon),
    "a key with a rule in it": lambda b: b.distinct("json", rule_of(b)),
    "a key in an unknown codec": lambda b: b.distinct("yaml", b.any_text),
    "two bodies": lambda b: b.define(rule_of(b), b.epsilon) or b.define(2, b.epsilon),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_meaning_is_refused(case: str) -> None:
    with pytest.raises(GrammarError) as caught:
        REFUSED[case](GrammarBuilder())

    assert caught.value.code == "grammar-operand"


def test_a_rule_without_a_body_is_named() -> None:
    b = GrammarBuilder()
    text = "rule `item` is used but not defined; add a definition of `item`"
    with pytest.raises(GrammarError, match=f"^{text}$") as caught:
        b.build(b.rule("item"))

    assert caught.value.code == "grammar-undefined"


def test_normalize_ranges_sorts_merges_and_drops_surrogates() -> None:
    assert normalize_ranges([(5, 9), (0, 4), (20, 30), (25, 40)]) == ((0, 9), (20, 40))
    assert normalize_ranges([(0xD800, 0xDFFF)]) == ()
    assert normalize_ranges([(-5, 0), (0x10FFFF, 0x200000)]) == ((0, 0), (0x10FFFF, 0x10FFFF))
    assert normalize_ranges([(9, 3)]) == ()


def copied(grammar: Grammar) -> Grammar:
    b = GrammarBuilder()
    b.literal(b"something that moves the numbers")
    return b.build(extend(b, grammar))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_copy_is_the_same_grammar(data: st.DataObject) -> None:
    sample: GrammarSample = data.draw(grammars())
    copy = copied(sample.grammar)

    assert fingerprint(copy) == fingerprint(sample.grammar)
    text = data.draw(byte_strings(sample, 5))
    assert accepts(copy, text) == accepts(sample.grammar, text)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(grammars())
def test_children_come_first_and_can_be_put_back(sample: GrammarSample) -> None:
    for ref, node in enumerate(sample.grammar.nodes):
        refs = children(node)
        assert all(child < ref for child in refs)
        assert with_children(node, refs) == node
        if isinstance(node, Seq):
            inside = [sample.grammar.nodes[child] for child in refs]
            assert not any(isinstance(part, Seq) for part in inside)
            pairs = pairwise(inside)
            assert not any(
                isinstance(x, Literal) and isinstance(y, Literal) and x.marker == y.marker
                for x, y in pairs
            )
