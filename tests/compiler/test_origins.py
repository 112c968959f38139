"""`Compiler(origins=True)`: the same language, and a matcher that says where it stands."""

from __future__ import annotations

from typing import Any

import pytest
from support.tag_cases import TAG_CASES, TagCase

structag = pytest.importorskip("structag")

COMPILER = structag.Compiler(structag.Vocabulary.byte_level(), origins=True)
LIST = {"type": "array", "items": {"type": "integer"}}
OBJECT = {"type": "object", "properties": {"a": LIST}, "required": ["a"]}
SUMS = 'root ::= expr ";"\nexpr ::= expr "+" term | term\nterm ::= [0-9]+ | "(" expr ")"'
TAG = {
    "type": "tag",
    "begin": "<a>",
    "content": {"type": "json_schema", "json_schema": OBJECT},
    "end": "</a>",
}


def trails_after(grammar: Any, text: str) -> set[tuple[str, ...]]:
    matcher = structag.Matcher(grammar)
    assert matcher.accept_string(text)
    expectations = matcher.expectations()
    assert frozenset().union(*(e.bytes for e in expectations)) == matcher.allowed_bytes()
    return {trail for e in expectations for trail in e.trails}


@pytest.mark.parametrize("case", TAG_CASES, ids=lambda case: case.name)
def test_the_language_is_the_same(case: TagCase) -> None:
    grammar = COMPILER.compile_structural_tag({"type": "structural_tag", "format": case.format})
    for texts, expected in ((case.accept, True), (case.reject, False)):
        for text in texts:
            matcher = structag.Matcher(grammar)
            accepted = matcher.accept_string(text) and matcher.is_completed()

            assert accepted == expected, text


@pytest.mark.parametrize(
    ("text", "trails"),
    [
        ("", {("#",)}),
        ('{"a":', {("#",), ("#", "#/properties/a")}),
        ('{"a":[1', {("#", "#/properties/a"), ("#", "#/properties/a", "#/properties/a/items")}),
        ('{"a":[1]', {("#",)}),
    ],
)
def test_trails_through_a_schema(text: str, trails: set[tuple[str, ...]]) -> None:
    assert trails_after(COMPILER.compile_json_schema(OBJECT), text) == trails


@pytest.mark.parametrize(
    ("text", "trails"),
    [
        ("", {("root", "expr", "term")}),
        ("1", {("root",), ("root", "expr"), ("root", "expr", "term")}),
        ("(1+", {("root", "expr", "term", "expr", "term")}),
        ("1;", set()),
    ],
)
def test_trails_through_rules(text: str, trails: set[tuple[str, ...]]) -> None:
    assert trails_after(COMPILER.compile_ebnf(SUMS), text) == trails


@pytest.mark.parametrize(
    ("text", "trail"),
    [
        ("<", ("/format", "/format/begin")),
        ("<a>", ("/format", "/format/content", "#")),
        ('<a>{"a":[]}<', ("/format", "/format/end")),
    ],
)
def test_trails_through_a_tag(text: str, trail: tuple[str, ...]) -> None:
    grammar = COMPILER.compile_structural_tag({"type": "structural_tag", "format": TAG})

    assert trails_after(grammar, text) == {trail}


def test_a_rule_that_ends_with_itself_does_not_pile_up() -> None:
    grammar = COMPILER.compile_ebnf('root ::= "a" root | "b"')

    assert trails_after(grammar, "a" * 50) == {("root",)}
    assert grammar.stats["states"] < 10


def test_deep_nesting_has_a_long_trail() -> None:
    grammar = COMPILER.compile_ebnf('root ::= "(" root ")" | "x"')
    (trail,) = trails_after(grammar, "(" * 20_000)

    assert trail == ("root",) * 20_001


def test_what_is_left_of_a_fixed_string() -> None:
    matcher = structag.Matcher(COMPILER.compile_ebnf('root ::= "abc" | [x]'))
    assert {e.rest for e in matcher.expectations()} == {b"abc", b""}
    assert matcher.accept_string("a")
    assert [e.rest for e in matcher.expectations()] == [b"bc"]


def test_tokens_that_are_read_by_their_id() -> None:
    vocabulary = structag.Vocabulary.from_token_bytes(
        [b"a", b"b"], special={2: "<t>", 3: "<eos>"}, stop_token_ids=3
    )
    compiler = structag.Compiler(vocabulary, origins=True)
    tag = {"type": "token", "token": "<t>"}
    grammar = compiler.compile_structural_tag({"type": "structural_tag", "format": tag})
    matcher = structag.Matcher(grammar)

    assert matcher.expectations() == [(frozenset(), b"", (2,), (("/format",),))]
    assert matcher.accept_token(2)
    assert matcher.accept_token(3)
    assert matcher.expectations() == []


def test_without_origins_there_are_no_trails() -> None:
    grammar = structag.Compiler(structag.Vocabulary.byte_level()).compile_ebnf(SUMS)

    assert trails_after(grammar, "1") == {()}


def test_marks_inside_of_what_is_matched_as_a_whole_are_left_out() -> None:
    text = 'start: A\nA: B & /../\nB: C "b"\nC: "a" | "c"\n'
    grammar = COMPILER.compile_lark(text)

    assert trails_after(grammar, "a") == {("start", "A")}
