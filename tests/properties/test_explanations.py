"""`explain` agrees with the matcher on any format, prefix and token; what it expects is the mask.

Formats are random grammars, random schemas and the cases of the structural tag language; a triple
is one of them, a prefix that it takes, and a token.
"""

from __future__ import annotations

import os
import random
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine import LIMITS, compile_or_none, mask_of, properties, vocabulary_of
from support.random_schemas import random_schema
from support.strategies import ALPHABETS, GrammarSample, VocabularySample, grammars, vocabularies
from support.tag_cases import TAG_CASES

from structag.compiler import Compiler
from structag.errors import StructagError
from structag.explain import Reason, explain_place, explain_text, explain_token
from structag.grammar.expressions import Budget
from structag.matcher import Matcher
from structag.vocabulary import Vocabulary

STEPS = 5
PIECES = (b"true", b'{"', b'":', b"[[", b'"a"', b", ", b"}}", b"12", b"</", b"ab", b"<a", b"\xc3")
WORDS = Vocabulary.from_token_bytes(
    [*(bytes([byte]) for byte in range(256)), *PIECES],
    special={300: "<eos>", 301: "<t>"},
    stop_token_ids=300,
)
COMPILER = Compiler(WORDS, limits=LIMITS, origins=True)
EXAMPLES = max(1, int(os.environ.get("STRUCTAG_EXAMPLES", "100")) // 8)
"""A share of the usual number: each example looks at a dozen triples, 10,000 in the gate."""


def check_triples(matcher: Matcher, rng: random.Random) -> None:
    """Take random tokens, and explain one that is allowed and one that may not be at each step."""
    vocabulary, text = matcher.grammar.vocabulary, b""
    size, token_bytes = vocabulary.size, vocabulary.token_bytes
    has_budget = any(isinstance(node, Budget) for node in matcher.grammar.grammar.nodes)
    is_exact = not vocabulary.missing_bytes and not has_budget
    for _ in range(STEPS):
        allowed = mask_of(matcher, size)
        check_place(matcher, allowed, is_exact)
        tokens = [rng.randrange(-1, size + 1), *rng.sample(sorted(allowed), min(2, len(allowed)))]
        for token in tokens:
            check_verdict(matcher, token, text, allowed)
        if len(tokens) == 1 or not matcher.accept_token(tokens[-1]):
            break
        text += token_bytes(tokens[-1])


def check_place(matcher: Matcher, allowed: set[int], is_exact: bool) -> None:
    """What is expected is the mask, grouped by first byte.

    Not `is_exact`: a byte may be expected that no token spells, or that no budget is left for.
    """
    vocabulary = matcher.grammar.vocabulary
    place = explain_place(matcher)
    parts = frozenset[int]().union(*(part.bytes for part in place.parts))
    ids = {token for part in place.parts for token in part.token_ids}
    by_id = {byte for token in ids for byte in vocabulary.token_bytes(token)[:1]} - place.bytes
    by_bytes = {vocabulary.token_bytes(token)[:1] for token in allowed}
    firsts = {text[0] for text in by_bytes if text} - by_id
    assert parts == place.bytes == matcher.allowed_bytes()
    assert place.may_end == matcher.is_completed()
    assert firsts <= place.bytes
    if is_exact:
        assert firsts == place.bytes
    assert (place.words == "nothing") == (not place.bytes and not ids and not place.may_end)


def check_verdict(matcher: Matcher, token: int, text: bytes, allowed: set[int]) -> None:
    """The verdict is the matcher's, and its steps are what the matcher takes byte by byte."""
    before = matcher.history_size
    verdict = explain_token(matcher, token, text)
    assert matcher.history_size == before
    assert verdict.allowed == (token in allowed) == matcher.fork().accept_token(token)
    walker = matcher.fork()
    for index, step in enumerate(verdict.steps):
        assert step.value == verdict.data[index]
        assert step.fits == (step.value in step.place.bytes)
        assert step.fits == walker.accept_bytes(bytes([step.value]))
        assert step.fits or index == len(verdict.steps) - 1
    dies = bool(verdict.steps) and not verdict.steps[-1].fits
    assert (verdict.reason is Reason.DIES) <= dies
    if verdict.allowed:
        assert verdict.reason in (Reason.BYTES, Reason.ID, Reason.END)
    else:
        assert verdict.reason not in (Reason.BYTES, Reason.ID, Reason.END)
        assert verdict.after is None


@st.composite
def pairs(draw: st.DrawFn) -> tuple[GrammarSample, VocabularySample]:
    alphabet = draw(st.sampled_from(ALPHABETS))
    vocabulary = draw(vocabularies(alphabet, control=True))
    named = vocabulary if draw(st.booleans()) else None
    return draw(grammars(alphabet=alphabet, vocabulary=named)), vocabulary


@settings(properties(), max_examples=EXAMPLES)
@given(pairs(), st.integers(0, 2**32))
def test_random_grammars(pair: tuple[GrammarSample, VocabularySample], seed: int) -> None:
    sample, vocabulary = pair
    compiler = Compiler(vocabulary_of(vocabulary), limits=LIMITS, origins=True)
    grammar = compile_or_none(compiler, sample.grammar)
    if grammar is not None:
        check_triples(Matcher(grammar), random.Random(seed))


@settings(properties(), max_examples=EXAMPLES)
@given(st.integers(0, 2**32))
def test_random_schemas(seed: int) -> None:
    rng = random.Random(seed)
    try:
        grammar = COMPILER.compile_json_schema(random_schema(rng))
    except StructagError:
        return
    check_triples(Matcher(grammar), rng)


@cache
def tag_of(index: int) -> Any:
    return COMPILER.compile_structural_tag(
        {"type": "structural_tag", "format": TAG_CASES[index].format}
    )


@settings(properties(), max_examples=EXAMPLES)
@given(st.integers(0, len(TAG_CASES) - 1), st.integers(0, 2**32))
def test_structural_tags(index: int, seed: int) -> None:
    check_triples(Matcher(tag_of(index)), random.Random(seed))


@settings(properties(), max_examples=EXAMPLES)
@given(st.integers(0, len(TAG_CASES) - 1), st.integers(0, 2**32))
def test_texts_stop_where_the_matcher_does(index: int, seed: int) -> None:
    rng = random.Random(seed)
    case = TAG_CASES[index]
    text = bytearray(rng.choice((*case.accept, *case.reject)).encode())
    if text and rng.random() < 0.5:
        text[rng.randrange(len(text))] = rng.choice(b"ab<>/x{")
    stop = explain_text(tag_of(index), bytes(text))
    matcher = Matcher(tag_of(index))
    matched = 0
    while matched < len(text) and matcher.accept_bytes(bytes(text[matched : matched + 1])):
        matched += 1
    assert stop.matched == matched
    assert stop.place.bytes == matcher.allowed_bytes()
    assert stop.accepted == (matched == len(text) and matcher.is_completed())
