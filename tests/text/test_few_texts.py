"""The texts of a regular expression, where they are few."""

from __future__ import annotations

import re
from itertools import product

import pytest

from structag.grammar.builder import GrammarBuilder
from structag.text.few_texts import few_texts
from structag.text.regex import lower_regex


@pytest.mark.parametrize(
    "pattern",
    ["a|b", "(a|b)c?", "[ab]{2}", "", "a{0,2}b", "(?:a|ab)(?:b|)", "[^\\x00-ac-\\u{10FFFF}]"],
)
def test_all_texts_are_listed(pattern: str) -> None:
    words = ["".join(word) for n in range(5) for word in product("abc", repeat=n)]
    plain = re.compile(pattern.replace("\\u{10FFFF}", "\U0010ffff"))
    b = GrammarBuilder()

    assert few_texts(b, lower_regex(pattern, b), 9) == {w for w in words if plain.fullmatch(w)}


@pytest.mark.parametrize(
    "pattern", ["a*", "[a-z]", "[ab]{4}", "a{10}", "(?:a|b)(?:a|b)(?:a|b)(?:a|b)"]
)
def test_many_texts_are_not_listed(pattern: str) -> None:
    b = GrammarBuilder()

    assert few_texts(b, lower_regex(pattern, b), 9) is None


def test_an_intersection_is_listed_by_its_smaller_operand() -> None:
    b = GrammarBuilder()
    ref = b.both(lower_regex("[ab]c?", b), b.complement(b.literal(b"b")), b.any_text)

    assert few_texts(b, ref, 9) == {"a", "ac", "bc"}
