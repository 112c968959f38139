"""Every short cut leads to the same masks, bit for bit, as doing without all of them.

Small vocabularies need few summaries, so the thresholds are forced: every unit gets one below every
node of the trie, its exits are merged, or followed one by one, and it is made of a loop of one
character and what leaves it, or of none.  And each short cut is switched off in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from support.engine import LIMITS, compile_or_none, compiler_of, properties, vocabulary_of
from support.strategies import (
    GrammarSample,
    VocabularySample,
    grammars,
    keyed_lists,
    vocabularies,
)

from structag._core import SHORT_CUTS, Engine, Matcher, make_engine
from structag.compiler import Compiler
from structag.grammar.bind import bind_vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Ref
from structag.grammar.pack import pack_grammar
from structag.grammar.simplify import simplify_grammar
from structag.vocabulary import Vocabulary

STEPS = 6
THRESHOLDS = ((0, 0, 1), (0, 1 << 20, 1), (3, 2, 2), (0, 1 << 20, 128))
SLOW: dict[str, Any] = {"without": SHORT_CUTS}
FAST: list[dict[str, Any]] = [{"forced": forced} for forced in THRESHOLDS]


@st.composite
def samples(draw: st.DrawFn) -> tuple[GrammarSample, VocabularySample]:
    alphabet = draw(st.sampled_from([("a", "b"), ("a", '"', "\\"), ("a", "é")]))
    return draw(grammars(alphabet=alphabet)), draw(vocabularies(alphabet, complete=True))


@st.composite
def samples_with_token_rules(draw: st.DrawFn) -> tuple[GrammarSample, VocabularySample]:
    alphabet = draw(st.sampled_from([("a", '"', "\\"), ("a", "é")]))
    vocabulary = draw(vocabularies(alphabet, complete=True, control=True))
    return draw(grammars(alphabet=alphabet, vocabulary=vocabulary)), vocabulary


def engines(
    make: Callable[[], Vocabulary], grammar: Grammar, options: Sequence[dict[str, Any]]
) -> list[Engine]:
    """One without short cuts, and one with each of `options`; each has its own vocabulary."""
    bound = bind_vocabulary(grammar, make().control_tokens)
    program, text = pack_grammar(simplify_grammar(bound))
    limits = (LIMITS.max_work, LIMITS.max_memory_bytes, LIMITS.max_expressions)
    return [
        make_engine(make().native, program, text, *limits, **chosen) for chosen in (SLOW, *options)
    ]


def one_off(data: st.DataObject) -> dict[str, Any]:
    """All short cuts but one."""
    name, forced = data.draw(st.tuples(st.sampled_from(SHORT_CUTS), st.sampled_from(THRESHOLDS)))
    return {"without": [name], "forced": forced}


def check(data: st.DataObject, make: Callable[[], Vocabulary], grammar: Grammar) -> int:
    """Walk all engines along one random path; how many summaries they asked for."""
    vocabulary = make()
    stops = list(vocabulary.stop_token_ids)
    made = engines(make, grammar, [*FAST, one_off(data)])
    matchers = [Matcher(engine, stops) for engine in made]
    for _ in range(STEPS):
        rows = np.zeros((len(matchers), (vocabulary.size + 31) // 32), dtype=np.int32)
        for index, matcher in enumerate(matchers):
            matcher.fill_mask(rows, index)

        assert (rows == rows[0]).all()
        bits = np.unpackbits(rows[0].view(np.uint8), bitorder="little")
        tokens = sorted(set(np.flatnonzero(bits).tolist()) - set(stops))
        if not tokens:
            break
        token = data.draw(st.sampled_from(tokens))
        assert all(matcher.accept_token(token) for matcher in matchers)
    return sum(engine.stats()["summaries"] for engine in made[1 : 1 + len(FAST)])


@properties()
@given(st.data(), samples_with_token_rules())
def test_random_grammars_with_token_rules(
    data: st.DataObject, sample: tuple[GrammarSample, VocabularySample]
) -> None:
    grammar, tokens = sample
    if compile_or_none(compiler_of(tokens), grammar.grammar) is None:
        return
    check(data, lambda: vocabulary_of(tokens), grammar.grammar)


JSON_PIECES = [
    *"ab\\", '"', "aa", "ab", "aba", "bb\\", "abab", 'a"', 'ab"a', "\\n", "\\u00", "61", "aéb",
    "baaaa", "é", "éa", "aaaaaaaa", "bab\\n", 'bb"aa',
]  # fmt: skip


def json_vocabulary() -> Vocabulary:
    return Vocabulary.from_token_bytes(
        [piece.encode() for piece in JSON_PIECES] + [bytes([i]) for i in range(256)] + [b""],
        special=[len(JSON_PIECES) + 256],
        stop_token_ids=[len(JSON_PIECES) + 256],
    )


def test_items_that_begin_others_are_not_counted_by_their_text() -> None:
    b = GrammarBuilder()
    item = b.alt(b.literal(b"a"), b.literal(b"ab"))
    pair = b.seq(b.repeat(item, 2, 2), b.literal(b"c"))

    def make() -> Vocabulary:
        pieces = [bytes([i]) for i in range(256)] + [b"aa", b"aba", b"aaa", b"<end>"]
        return Vocabulary.from_token_bytes(pieces, special=[259], stop_token_ids=[259])

    for grammar in (b.build(b.optional(item)), b.build(pair)):
        rows = np.zeros((1 + len(FAST), 9), dtype=np.int32)
        for index, engine in enumerate(engines(make, grammar, FAST)):
            Matcher(engine, [259]).fill_mask(rows, index)
        assert (rows == rows[0]).all()


@pytest.mark.parametrize("budget", [0, 1, 3])
def test_a_token_that_enters_a_budget_does_not_end_inside_a_character(budget: int) -> None:
    b = GrammarBuilder()
    grammar = b.build(b.seq(b.literal(b"a"), b.budget(b.any_text, budget)))

    def make() -> Vocabulary:
        pieces = [bytes([i]) for i in range(256)] + [b"a\xf0", b"a\xf0\x9f\x98", b"<end>"]
        return Vocabulary.from_token_bytes(pieces, special=[258], stop_token_ids=[258])

    every = [*FAST, *({"without": [name]} for name in SHORT_CUTS)]
    rows = np.zeros((1 + len(every), 9), dtype=np.int32)
    for index, engine in enumerate(engines(make, grammar, every)):
        Matcher(engine, [258]).fill_mask(rows, index)

    assert (rows == rows[0]).all()
    assert rows[0, 8] & 3 == {0: 0, 1: 2, 3: 3}[budget]


def test_triggers_are_not_read_behind_bytes_that_begin_no_character() -> None:
    b = GrammarBuilder()
    grammar = b.build(b.scan([("é".encode(), b.literal(b"aa"))], [b"a"]))

    def make() -> Vocabulary:
        pieces = [bytes([i]) for i in range(256)] + ["é".encode()[1:] + b"aa\xc3\xa9", b"<end>"]
        return Vocabulary.from_token_bytes(pieces, special=[257], stop_token_ids=[257])

    rows = np.zeros((1 + len(FAST), 9), dtype=np.int32)
    for index, engine in enumerate(engines(make, grammar, FAST)):
        Matcher(engine, [257]).fill_mask(rows, index)
    assert (rows == rows[0]).all()
    assert not rows[0, 8] & 1


@properties()
@given(st.data(), samples())
def test_random_grammars(
    data: st.DataObject, sample: tuple[GrammarSample, VocabularySample]
) -> None:
    grammar, tokens = sample
    if compile_or_none(compiler_of(tokens), grammar.grammar) is None:
        return
    built = check(data, lambda: vocabulary_of(tokens), grammar.grammar)

    event("summaries" if built else "no summary")


@st.composite
def list_samples(draw: st.DrawFn) -> tuple[GrammarSample, VocabularySample]:
    alphabet = draw(st.sampled_from([("a", "b"), ("a", '"', "\\"), ("a", ","), ("a", "&", ";")]))
    return draw(keyed_lists(alphabet=alphabet)), draw(vocabularies(alphabet, complete=True))


@properties()
@given(st.data(), list_samples())
def test_lists_of_items_that_differ(
    data: st.DataObject, sample: tuple[GrammarSample, VocabularySample]
) -> None:
    grammar, tokens = sample
    if compile_or_none(compiler_of(tokens), grammar.grammar) is not None:
        check(data, lambda: vocabulary_of(tokens), grammar.grammar)


@properties()
@given(st.data(), st.integers(0, 3), st.integers(0, 6), st.lists(st.text("ab", max_size=3)))
def test_strings_with_counts_and_exclusions(
    data: st.DataObject, low: int, more: int, names: list[str]
) -> None:
    b = GrammarBuilder()
    string = b.encoded("json", _counted(b, low, more, names))
    grammar = b.build(b.seq(string, b.literal(b'"'), b.repeat(b.literal(b"a"), 0)))
    assert check(data, json_vocabulary, grammar) > 0


@properties()
@given(st.data(), st.lists(st.text('ab"é', max_size=4), min_size=1), st.booleans())
def test_text_but_some_words(data: st.DataObject, words: list[str], is_encoded: bool) -> None:
    b = GrammarBuilder()
    text = b.complement(b.alt(*(b.literal(word.encode()) for word in words)))
    string = b.encoded("json", text) if is_encoded else text
    grammar = b.build(b.seq(string, b.literal(b'"'), b.repeat(b.literal(b"a"), 0)))
    assert check(data, json_vocabulary, grammar) > 0


def _counted(b: GrammarBuilder, low: int, more: int, names: list[str]) -> Ref:
    parts = [b.repeat(b.any_char, low, low + more + 1)]
    if names:
        parts.append(b.complement(b.alt(*(b.literal(name.encode()) for name in names))))
    return b.both(*parts)


GAPS = [*"abc", "aa", "aaa", "aaaa", "aaaaa", "a" * 8, "ab", "aab", "aaab", "ba", "aca", "aaabaa"]


def gap_vocabulary() -> Vocabulary:
    pieces = [piece.encode() for piece in GAPS] + [b"<end>"]
    return Vocabulary.from_token_bytes(pieces, special=[len(GAPS)], stop_token_ids=[len(GAPS)])


@properties()
@given(st.data(), st.lists(st.tuples(st.sampled_from(["a", "ab", "abc"]), st.integers(0, 2),
                                     st.integers(0, 5)), min_size=2, max_size=4))  # fmt: skip
def test_runs_that_follow_one_another(
    data: st.DataObject, runs: list[tuple[str, int, int]]
) -> None:
    b = GrammarBuilder()
    parts = [b.repeat(b.chars((ord(c), ord(c)) for c in chars), low, low + more)
             for chars, low, more in runs]  # fmt: skip
    check(data, gap_vocabulary, b.build(b.seq(*parts, b.literal(b"c"))))


@st.composite
def patterns(draw: st.DrawFn, b: GrammarBuilder, depth: int = 2) -> Ref:
    """Of the shapes that patterns have: runs of a class, words that are searched for, counts."""
    kinds = ["run", "word", "search", "count", "syllables"] + ["seq", "alt"] * (depth > 0)
    match draw(st.sampled_from(kinds)):
        case "run":
            members = draw(st.sampled_from(["a", "ab", "a\n", "abé", "b0169"]))
            return b.repeat(b.chars((ord(c), ord(c)) for c in members), draw(st.integers(0, 2)))
        case "word":
            return b.literal(draw(st.text("ab", min_size=1, max_size=3)).encode())
        case "search":
            anything = b.repeat(b.any_char, 0)
            return b.seq(anything, draw(patterns(b, depth - 1)), anything)
        case "count":
            low = draw(st.integers(0, 3))
            return b.repeat(b.any_char, low, low + draw(st.integers(0, 9)))
        case "syllables":
            items = draw(st.lists(st.text("ab", min_size=1, max_size=2), min_size=1, max_size=3))
            item = b.alt(*(b.literal(text.encode()) for text in items))
            low = draw(st.integers(0, 2))
            return b.repeat(item, low, low + draw(st.integers(0, 3)))
        case "seq":
            return b.seq(draw(patterns(b, depth - 1)), draw(patterns(b, depth - 1)))
        case _:
            return b.alt(draw(patterns(b, depth - 1)), draw(patterns(b, depth - 1)))


@properties()
@given(st.data(), st.integers(0, 3), st.integers(0, 9))
def test_patterns_beside_counts_and_exclusions(data: st.DataObject, low: int, more: int) -> None:
    b = GrammarBuilder()
    parts = [data.draw(patterns(b))]
    if data.draw(st.booleans()):
        parts.append(b.repeat(b.any_char, low, low + more))
    if data.draw(st.booleans()):
        parts.append(b.complement(b.literal(b"ab")))
    string = b.encoded("json", b.both(*parts))
    grammar = b.build(b.alt(b.seq(string, b.literal(b'"a')), b.literal(b"\\")))
    if compile_or_none(Compiler(json_vocabulary(), limits=LIMITS), grammar) is None:
        return

    event("summaries" if check(data, json_vocabulary, grammar) else "no summary")
