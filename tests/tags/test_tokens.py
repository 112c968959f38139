"""Tokens: those that formats name, and those that markers may or must be spelled with."""

from __future__ import annotations

from typing import Any

import pytest
from support.reference_tags import Tokens, tag_accepts_tokens
from support.tag_cases import (
    CONTROL,
    ORDINARY,
    TOKEN_CASES,
    TOKEN_TABLE,
    USER_DEFINED,
    TokenCase,
    const,
    seq,
    tag,
    text,
    triggered,
)

structag = pytest.importorskip("structag")

from structag.tags.parse import parse_format  # noqa: E402

# Ids of a small vocabulary: three letters, then user-defined and control tokens.
X, Y, OPEN_BRACKET, THINK, TOOL, END_TOOL, EOS = range(7)
VOCABULARY = structag.Vocabulary.from_token_bytes(
    [b"x", b"y", b"<"],
    user_defined={THINK: "</think>"},
    special={TOOL: "<tool>", END_TOOL: "</tool>", EOS: "<eos>"},
    stop_token_ids=EOS,
)
COMPILER = structag.Compiler(VOCABULARY)
LETTERS = {"type": "regex", "pattern": "[xy]+"}
CALL = tag("<tool>", LETTERS, "</tool>")


def accepts(format: Any, tokens: list[int]) -> bool:
    matcher = structag.Matcher(
        COMPILER.compile_structural_tag({"type": "structural_tag", "format": format})
    )
    bitmask = structag.allocate_token_bitmask(1, VOCABULARY.size)
    for token in tokens:
        matcher.fill_next_token_bitmask(bitmask)
        accepted = matcher.accept_token(token)

        assert accepted == bool(bitmask[0, 0] >> token & 1)
        if not accepted:
            return False
    return bool(matcher.is_completed())


def test_begin_and_end_are_control_tokens() -> None:
    assert accepts(CALL, [TOOL, X, Y, END_TOOL])
    assert not accepts(CALL, [TOOL, END_TOOL])
    assert not accepts(CALL, [TOOL, X, TOOL])


def test_constant_is_a_control_token() -> None:
    assert accepts(seq(const("<tool>"), LETTERS), [TOOL, X])
    assert accepts(const("x<tool>y"), [X, TOOL, Y])


def test_trigger_is_a_control_token() -> None:
    format = triggered(["<tool>"], [CALL])

    assert accepts(format, [X, TOOL, Y, END_TOOL, OPEN_BRACKET, TOOL, X, END_TOOL])
    assert not accepts(format, [X, TOOL, END_TOOL])
    assert not accepts(format, [END_TOOL])


def test_free_text_has_no_control_token() -> None:
    assert accepts(text(), [X, OPEN_BRACKET, Y])
    assert not accepts(text(), [X, TOOL])


def test_user_defined_token_is_text_and_marker() -> None:
    thinking = seq(tag("", text(), "</think>"), LETTERS)

    assert accepts(thinking, [X, OPEN_BRACKET, THINK, Y])
    assert not accepts(thinking, [X, Y])
    assert accepts(text(), [X, THINK])
    assert not accepts(text("</think>"), [X, THINK])


def test_pattern_is_never_a_control_token() -> None:
    assert not accepts({"type": "regex", "pattern": "<tool>|<"}, [TOOL])


def by_content(contents: tuple[str, ...], start: int) -> dict[int, str]:
    return dict(enumerate(contents, start))


STOP = len(TOKEN_TABLE) - 1
LARGER = structag.Vocabulary.from_token_bytes(
    [content.encode() for content in ORDINARY],
    user_defined=by_content(USER_DEFINED, len(ORDINARY)),
    special=by_content((*CONTROL, "<eos>"), len(ORDINARY) + len(USER_DEFINED)),
    stop_token_ids=STOP,
)
LARGER_COMPILER = structag.Compiler(LARGER)
FOR_REFERENCE = Tokens(
    TOKEN_TABLE,
    control=frozenset(range(STOP - len(CONTROL), STOP + 1)),
    stop=frozenset({STOP}),
    added=frozenset(range(len(ORDINARY), STOP)),
)


def document(case: TokenCase) -> dict[str, Any]:
    marker_tokens = list(case.marker_tokens)
    return {"type": "structural_tag", "format": case.format, "marker_tokens": marker_tokens}


def takes(matcher: Any, token_ids: list[int]) -> bool:
    """Whether the tokens are a whole output; at each place the mask must agree."""
    bitmask = structag.allocate_token_bitmask(1, LARGER.size)
    for token in token_ids:
        matcher.fill_next_token_bitmask(bitmask)
        accepted = matcher.accept_token(token)

        assert accepted == bool(bitmask[0, 0] >> token & 1)
        if not accepted:
            return False
    return bool(matcher.is_completed() and matcher.accept_token(STOP))


def ids(output: str) -> list[int]:
    return [TOKEN_TABLE.index(name) for name in output.split()]


@pytest.mark.parametrize("case", TOKEN_CASES, ids=lambda case: case.name)
def test_table(case: TokenCase) -> None:
    grammar = LARGER_COMPILER.compile_structural_tag(document(case))

    assert [o for o in case.accept if not takes(structag.Matcher(grammar), ids(o))] == []
    assert [o for o in case.reject if takes(structag.Matcher(grammar), ids(o))] == []


@pytest.mark.parametrize("case", TOKEN_CASES, ids=lambda case: case.name)
def test_the_reference_agrees_with_the_table(case: TokenCase) -> None:
    tag = parse_format(document(case))

    assert all(tag_accepts_tokens(tag, FOR_REFERENCE, ids(output)) for output in case.accept)
    assert not any(tag_accepts_tokens(tag, FOR_REFERENCE, ids(output)) for output in case.reject)


@pytest.mark.parametrize("case", TOKEN_CASES, ids=lambda case: case.name)
def test_stop_tokens_are_no_part_of_a_region(case: TokenCase) -> None:
    grammar = LARGER_COMPILER.compile_structural_tag(document(case))
    for output in case.accept:
        matcher = structag.Matcher(grammar)
        for token in ids(output):
            assert matcher.fork().accept_token(STOP) == matcher.is_completed()
            assert matcher.accept_token(token)

        assert matcher.accept_token(STOP)
        assert matcher.is_terminated()


def test_a_bound_of_any_size_is_refused_where_it_stands() -> None:
    with pytest.raises(structag.FormatError, match="a large integer") as caught:
        parse_format(
            {"type": "structural_tag", "format": {"type": "any_text", "max_chars": 10**5000}}
        )

    assert caught.value.pointer == "/format/max_chars"
