"""Markers may be spelled by the model's special tokens; free text and patterns may not."""

from __future__ import annotations

from typing import Any

import pytest
from support.tag_cases import const, seq, tag, text, triggered

structag = pytest.importorskip("structag")

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
    assert not accepts({"type": "regex", "pattern": "<tool>"}, [TOOL])
