"""The engine agrees: whole texts, byte by byte, over the byte-level vocabulary."""

from __future__ import annotations

from typing import Any

import pytest
from support.tag_cases import TAG_CASES, TagCase

structag = pytest.importorskip("structag")
COMPILER = structag.Compiler(structag.Vocabulary.byte_level())


def matcher_of(format: Any) -> Any:
    tag = {"type": "structural_tag", "format": format}
    return structag.Matcher(COMPILER.compile_structural_tag(tag))


def accepts(format: Any, text: str) -> bool:
    matcher = matcher_of(format)
    return matcher.accept_string(text) and matcher.is_completed()


@pytest.mark.parametrize("case", TAG_CASES, ids=lambda case: case.name)
def test_table(case: TagCase) -> None:
    assert [t for t in case.accept if not accepts(case.format, t)] == []
    assert [t for t in case.reject if accepts(case.format, t)] == []


@pytest.mark.parametrize("case", TAG_CASES, ids=lambda case: case.name)
def test_token_by_token(case: TagCase) -> None:
    for text in case.accept:
        matcher = matcher_of(case.format)
        taken = [matcher.accept_token(token) for token in text.encode()]

        assert all(taken), text
        assert matcher.accept_token(256), text
