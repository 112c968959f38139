"""`structag.text.membership` against the reference matcher, and its refusals."""

from __future__ import annotations

import itertools

import pytest
from support.reference_matcher import accepts

from structag.grammar.builder import GrammarBuilder
from structag.text.membership import UndecidedError, belongs
from structag.text.regex import lower_regex

TEXTS = ["".join(t) for n in range(5) for t in itertools.product("aé", repeat=n)]


@pytest.mark.parametrize(
    "pattern", ["(a|é)*a", "a{2,3}", "(aé?){2,}", "(?:a*){3}é", "^(?!aa).*(?<!é)$", "[^a]?a?"]
)
def test_agrees_with_the_reference_matcher(pattern: str) -> None:
    builder = GrammarBuilder()
    ref = lower_regex(pattern, builder, search=True)
    grammar = builder.build(ref)

    for text in TEXTS:
        assert belongs(builder, ref, text) == accepts(grammar, text.encode()), text


def test_free_text_and_marks() -> None:
    b = GrammarBuilder()
    ref = b.seq(b.mark("x", b.no_occurrence([b"aa", "é".encode()])), b.literal(b"!"))

    assert belongs(b, ref, "aba!")
    assert not belongs(b, ref, "baa!")
    assert not belongs(b, ref, "é!")


def test_what_it_does_not_look_into_is_undecided() -> None:
    b = GrammarBuilder()
    for ref in (lower_regex("a\\bb*", b, search=True), b.rule("r"), b.encoded("json", b.any_char)):
        with pytest.raises(UndecidedError):
            belongs(b, b.seq(b.literal(b"a"), ref), "ab")


def test_large_counts_end_early() -> None:
    b = GrammarBuilder()

    assert belongs(b, b.repeat(b.optional(b.any_char), 1_000_000, 2_000_000), "abc")
    assert not belongs(b, b.repeat(b.any_char, 1_000_000, 2_000_000), "abc")
