"""`structag.grammar.bind` against the reference, which knows markers natively."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.reference_matcher import TokenTable, accepts_tokens
from support.strategies import VocabularySample, grammars, vocabularies

from structag.grammar.bind import bind_vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Literal, Scan, children


def agree(grammar: Grammar, contents: list[bytes], control: dict[str, int], length: int) -> None:
    """The bound grammar, read without markers, takes what the reference takes with them."""
    bound = bind_vocabulary(grammar, control)
    for ref, node in enumerate(bound.nodes):
        assert all(child < ref for child in children(node))
    table = TokenTable(tuple(contents), frozenset(control.values()))
    ids = range(len(contents))
    for tokens in itertools.chain(*(itertools.product(ids, repeat=n) for n in range(length + 1))):
        expected = accepts_tokens(grammar, table, tokens)
        assert accepts_tokens(without_markers(bound), table, tokens) == expected, tokens


def without_markers(grammar: Grammar) -> Grammar:
    nodes = tuple(
        node._replace(marker=False) if isinstance(node, Literal) else node for node in grammar.nodes
    )
    return Grammar(nodes, grammar.rules, grammar.root)


def vocabulary(*control: str) -> tuple[list[bytes], dict[str, int]]:
    contents = [b"a", b"b", *(text.encode() for text in control)]
    return contents, {text: 2 + i for i, text in enumerate(control)}


@pytest.mark.parametrize(
    "marker, control",
    [
        (b"ab", ["ab"]),
        (b"abab", ["ab", "ba"]),
        (b"aaaa", ["a", "aa", "aaa"]),
        (b"babb", ["ab", "abb", "b"]),
        (b"ba", ["ab"]),
    ],
)
def test_a_marker_takes_every_spelling(marker: bytes, control: list[str]) -> None:
    b = GrammarBuilder()
    grammar = b.build(b.seq(b.literal(marker, marker=True), b.repeat(b.literal(b"b"), 0, 1)))

    agree(grammar, *vocabulary(*control), len(marker) + 1)


@pytest.mark.parametrize("control", [["ab"], ["b"], ["bb"], ["ab", "b"]])
@pytest.mark.parametrize("excludes", [[], [b"aa"], [b"ba"], [b"bbb"]])
@pytest.mark.parametrize("trigger", [b"ab", b"bb", b"abb"])
def test_a_trigger_takes_every_spelling(
    trigger: bytes, excludes: list[bytes], control: list[str]
) -> None:
    b = GrammarBuilder()
    case = b.seq(b.literal(b"a"), b.literal(b"b", marker=True))

    agree(b.build(b.scan([(trigger, case)], excludes)), *vocabulary(*control), 4)


def test_random_scans_with_several_triggers() -> None:
    rng = random.Random(5)
    words = [b"a", b"b", b"ab", b"ba", b"aab", b"bab"]
    for _ in range(40):
        b = GrammarBuilder()
        cases = [(rng.choice(words), rng.choice([b.epsilon, b.literal(b"a")])) for _ in range(2)]
        excludes = [rng.choice(words)] if rng.random() < 0.5 else []
        control = {rng.choice(["a", "b", "ab", "ba", "bab"]) for _ in range(2)}
        agree(b.build(b.scan(cases, excludes)), *vocabulary(*sorted(control)), 4)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_grammars_and_vocabularies(data: st.DataObject) -> None:
    sample: VocabularySample = data.draw(vocabularies("ab", control=True))
    grammar = data.draw(grammars(alphabet=("a", "b"), vocabulary=sample)).grammar
    control = {
        sample.contents[token].decode(): token
        for token in sorted(sample.control, reverse=True)
        if token != sample.stop
    }
    bound = bind_vocabulary(grammar, control)
    usual = st.sampled_from(range(len(sample.contents)))
    for tokens in data.draw(st.lists(st.lists(usual, max_size=5), max_size=10)):
        expected = accepts_tokens(grammar, sample.table, tokens)
        if len(set(control.values())) == len(sample.control) - 1:
            assert accepts_tokens(without_markers(bound), sample.table, tokens) == expected


def test_nothing_to_bind_is_the_same_object() -> None:
    b = GrammarBuilder()
    grammar = b.build(b.seq(b.literal(b"<x>", marker=True), b.scan([(b"<y>", b.epsilon)])))

    assert bind_vocabulary(grammar, {"<z>": 1}) is grammar
    assert bind_vocabulary(grammar, {}) is grammar
    assert bind_vocabulary(grammar, {"": 7}) is grammar


def test_overlapping_contents_make_no_more_than_a_few_expressions_per_byte() -> None:
    b = GrammarBuilder()
    grammar = b.build(b.literal(b"ab" * 500, marker=True))
    bound = bind_vocabulary(grammar, {"ab": 1, "ba": 2, "aba": 3, "b": 4})

    assert len(bound.nodes) < 8_000
    long = b.build(b.literal(b"a" * 100_000 + b"<x>", marker=True))
    assert (
        sum(len(n.data) for n in bind_vocabulary(long, {"<x>": 1}).nodes if isinstance(n, Literal))
        < 300_000
    )


def test_a_marker_inside_an_operand_is_its_bytes() -> None:
    b = GrammarBuilder()
    marker = b.literal(b"ab", marker=True)
    inside = b.both(b.seq(marker, b.any_char), b.complement(b.literal(b"abb")))
    grammar = b.build(b.seq(marker, inside))
    bound = bind_vocabulary(grammar, {"ab": 2})
    table = TokenTable((b"a", b"b", b"ab"), frozenset({2}))

    assert accepts_tokens(bound, table, [2, 0, 1, 0])
    assert accepts_tokens(bound, table, [0, 1, 0, 1, 0])
    assert not accepts_tokens(bound, table, [2, 2, 0])
    assert not any(isinstance(node, Literal) and node.marker for node in bound.nodes)
    assert not any(isinstance(node, Scan) for node in bound.nodes)
