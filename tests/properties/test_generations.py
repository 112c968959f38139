"""Forgetting changes nothing: a grammar that starts a new generation at every chance.

With no bytes to grow by, an engine is full after the first thing it finds out, so that matchers
move on with nearly every call, and far rollbacks go through what was accepted once more.
"""

from __future__ import annotations

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st
from support.engine import LIMITS, compile_or_none, compiler_of, properties, vocabulary_of
from support.strategies import ALPHABETS, GrammarSample, VocabularySample, grammars, vocabularies

from structag._core import Engine, Matcher, make_engine
from structag.grammar.bind import bind_vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.grammar.pack import pack_grammar, pack_modular
from structag.grammar.simplify import simplify_grammar
from structag.vocabulary import Vocabulary


@st.composite
def samples(draw: st.DrawFn) -> tuple[GrammarSample, VocabularySample]:
    alphabet = draw(st.sampled_from(ALPHABETS))
    tokens = draw(vocabularies(alphabet, complete=draw(st.booleans()), control=True))
    named = tokens if draw(st.booleans()) else None
    return draw(grammars(alphabet=alphabet, vocabulary=named)), tokens


def engines(grammar: GrammarSample, tokens: VocabularySample) -> tuple[Engine, Engine]:
    """One that forgets at every chance, and one that never does."""
    vocabulary = vocabulary_of(tokens)
    bound = bind_vocabulary(grammar.grammar, vocabulary.control_tokens, vocabulary.added_tokens)
    program, text = pack_grammar(simplify_grammar(bound))
    limits = (LIMITS.max_work, LIMITS.max_memory_bytes, LIMITS.max_expressions)
    return (
        make_engine(vocabulary.native, program, text, *limits, max_generation_bytes=0),
        make_engine(vocabulary.native, program, text, *limits, max_generation_bytes=1 << 62),
    )


def masks(matchers: list[Matcher], size: int) -> set[int]:
    rows = np.zeros((len(matchers), (size + 31) // 32), dtype=np.int32)
    for index, matcher in enumerate(matchers):
        matcher.fill_mask(rows, index)

    assert (rows == rows[0]).all()
    bits = np.unpackbits(rows[0].view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits).tolist())


@properties()
@given(st.data(), samples())
def test_every_generation_allows_the_same(
    data: st.DataObject, sample: tuple[GrammarSample, VocabularySample]
) -> None:
    grammar, tokens = sample
    if compile_or_none(compiler_of(tokens), grammar.grammar) is None:
        return
    check(data, engines(grammar, tokens), tokens)


def check(
    data: st.DataObject, made: tuple[Engine, Engine], tokens: VocabularySample, steps: int = 6
) -> None:
    """Take both along one random path."""
    forgetful, faithful = made
    stops = [tokens.stop]
    matchers = [Matcher(forgetful, stops), Matcher(faithful, stops)]
    for _ in range(steps):
        allowed = sorted(masks(matchers, len(tokens.contents)))
        match data.draw(st.integers(0, 5)):
            case 0:
                count = data.draw(st.integers(0, matchers[0].history_size()))
                for matcher in matchers:
                    matcher.rollback(count)
            case 1:
                matchers = [matcher.fork() for matcher in matchers]
            case 2:
                matchers.append(Matcher(forgetful, stops))
                matchers.pop()
            case _ if allowed:
                token = data.draw(st.sampled_from(allowed))
                assert all(matcher.accept_token(token) for matcher in matchers)
        assert len({matcher.is_complete() for matcher in matchers}) == 1
        assert len({matcher.allowed_bytes() for matcher in matchers}) == 1
        assert len({matcher.find_jump_forward() for matcher in matchers}) == 1
    started = forgetful.stats()["generations"]

    event("generations" if started > 1 else "one generation")
    assert faithful.stats()["generations"] == 1


CONTENTS = (*(bytes([i]) for i in range(256)), b"ab", b"21", b"")
BYTES = VocabularySample(CONTENTS, frozenset({258}), frozenset(), 258)


@properties(share=8)
@given(st.data(), grammars(), grammars())
def test_generations_read_modules_in_any_order(
    data: st.DataObject, one: GrammarSample, other: GrammarSample
) -> None:
    if any(compile_or_none(compiler_of(BYTES), sample.grammar) is None for sample in (one, other)):
        return
    simple = [simplify_grammar(bind_vocabulary(sample.grammar, {})) for sample in (one, other)]
    modules = [grammar.native.as_module() for grammar in simple]
    if None in modules:
        return
    b = GrammarBuilder()
    first, second = map(b.refer, modules)
    grammar = b.build(
        b.repeat(
            b.alt(
                b.seq(b.literal(b"1"), first),
                b.seq(b.literal(b"2"), second),
                b.seq(b.literal(b"21"), second, first, second),
            ),
            1,
        )
    )
    if compile_or_none(compiler_of(BYTES), grammar) is None:
        return
    program, text, imports = pack_modular(grammar)
    vocabulary = vocabulary_of(BYTES)
    limits = (LIMITS.max_work, LIMITS.max_memory_bytes, LIMITS.max_expressions)
    forgetful, faithful = (
        make_engine(vocabulary.native, program, text, *limits, modules=imports, **cap)
        for cap in ({"max_generation_bytes": 0}, {})
    )
    check(data, (forgetful, faithful), BYTES, steps=12)


def test_a_far_rollback_accepts_once_more() -> None:
    b = GrammarBuilder()
    item = b.seq(b.literal(b"a"), b.optional(b.literal(b"b")))
    program, text = pack_grammar(simplify_grammar(b.build(b.repeat(item, 0, 5000))))
    vocabulary = Vocabulary.byte_level()
    limits = (LIMITS.max_work, LIMITS.max_memory_bytes, LIMITS.max_expressions)
    engine = make_engine(vocabulary.native, program, text, *limits, max_generation_bytes=64 * 1024)
    matcher = Matcher(engine, [])
    assert matcher.accept_bytes(b"a" * 10)
    for _ in range(2000):
        assert matcher.accept_token(ord("a"))
        assert matcher.accept_token(ord("b"))
    assert engine.stats()["generations"] > 2
    matcher.rollback(4000)

    assert matcher.history_size() == 1
    assert matcher.accept_bytes(b"ab" * 4990)
    assert matcher.allowed_bytes() == b""
    assert matcher.is_complete()
