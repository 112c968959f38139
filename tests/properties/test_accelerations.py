"""Every short cut leads to the same masks, bit for bit, as walking the whole trie.

Small vocabularies need few summaries, so the thresholds are forced: every unit gets one below every
node of the trie, and its exits are merged, or followed one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
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

from structag._core import Engine, Matcher, make_engine
from structag.grammar.bind import bind_vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Ref
from structag.grammar.pack import pack_grammar
from structag.grammar.simplify import simplify_grammar
from structag.vocabulary import Vocabulary

STEPS = 6
SHORT_CUTS = ((0, 0), (0, 1 << 20), (3, 2))


@st.composite
def samples(draw: st.DrawFn) -> tuple[GrammarSample, VocabularySample]:
    alphabet = draw(st.sampled_from([("a", "b"), ("a", '"', "\\"), ("a", "é")]))
    return draw(grammars(alphabet=alphabet)), draw(vocabularies(alphabet, complete=True))


def engines(make: Callable[[], Vocabulary], grammar: Grammar) -> list[Engine]:
    """One that walks, and one for each pair of thresholds; each with a vocabulary of its own."""
    bound = bind_vocabulary(grammar, make().control_tokens)
    program, text = pack_grammar(simplify_grammar(bound))
    limits = (LIMITS.max_work, LIMITS.max_memory_bytes, LIMITS.max_expressions)
    walker = make_engine(make().native, program, text, *limits, is_accelerated=False)
    return [walker] + [
        make_engine(make().native, program, text, *limits, forced=forced) for forced in SHORT_CUTS
    ]


def check(data: st.DataObject, make: Callable[[], Vocabulary], grammar: Grammar) -> int:
    """Walk all engines along one random path; how many summaries they asked for."""
    vocabulary = make()
    stops = list(vocabulary.stop_token_ids)
    made = engines(make, grammar)
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
    return sum(engine.stats()["summaries"] for engine in made[1:])


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
    pieces = [*"ab\\", '"', "aa", "ab", "aba", "bb\\", "abab", 'a"', 'ab"a', "\\n", "\\u00", "61"]

    def make() -> Vocabulary:
        return Vocabulary.from_token_bytes(
            [piece.encode() for piece in pieces] + [bytes([i]) for i in range(256)] + [b""],
            special=[len(pieces) + 256],
            stop_token_ids=[len(pieces) + 256],
        )

    assert check(data, make, grammar) > 0


def _counted(b: GrammarBuilder, low: int, more: int, names: list[str]) -> Ref:
    parts = [b.repeat(b.any_char, low, low + more + 1)]
    if names:
        parts.append(b.complement(b.alt(*(b.literal(name.encode()) for name in names))))
    return b.both(*parts)
