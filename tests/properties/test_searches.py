"""Free text with triggers and excludes: masks are what single tokens are accepted as.

Patterns overlap themselves and each other, and characters are cut by tokens: in a summary only the
places where a pattern is being read are visited, so nothing may be missed there.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.engine import properties

structag = pytest.importorskip("structag")

CHARACTERS = "ab<é｜"
TEXTS = st.text(CHARACTERS, min_size=1, max_size=4)
# Tokens are pieces of such texts, cut between any two bytes.
PIECES = st.tuples(
    st.text(CHARACTERS, min_size=1, max_size=5), st.integers(0, 3), st.integers(0, 3)
)


def cut(piece: tuple[str, int, int]) -> bytes:
    text, head, tail = piece
    data = text.encode()
    return data[head : len(data) - tail] or data


def format_of(triggers: list[str], excludes: list[str]) -> dict[str, object]:
    if not triggers:
        return {"type": "any_text", "excludes": excludes}
    tags = [
        {
            "type": "tag",
            "begin": trigger,
            "content": {"type": "const_string", "value": "b"},
            "end": "!",
        }
        for trigger in triggers
    ]
    return {"type": "triggered_tags", "triggers": triggers, "tags": tags, "excludes": excludes}


@properties(share=2)
@given(
    st.lists(TEXTS, max_size=2, unique=True),
    st.lists(TEXTS, max_size=2, unique=True),
    st.lists(PIECES, min_size=1, max_size=40),
    st.lists(st.integers(0, 255), max_size=6),
)
def test_masks_of_searches(
    triggers: list[str],
    excludes: list[str],
    pieces: list[tuple[str, int, int]],
    steps: list[int],
) -> None:
    tokens = sorted({*map(cut, pieces), *(bytes([value]) for value in range(256))})
    size = len(tokens) + 1
    vocabulary = structag.Vocabulary.from_token_bytes(
        tokens, special={size - 1: "<stop>"}, stop_token_ids=size - 1
    )
    try:
        grammar = structag.Compiler(vocabulary).compile_structural_tag(
            {"type": "structural_tag", "format": format_of(triggers, excludes)}
        )
    except structag.StructagError:  # a trigger that holds another, an exclude in a trigger
        return
    matcher = structag.Matcher(grammar)
    row = np.zeros(-(-size // 32), np.int32)
    for step in (*steps, 0):
        matcher.fill_next_token_bitmask(row)
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")[:size]
        allowed = np.flatnonzero(bits).tolist()

        assert allowed == [t for t in range(size) if matcher.fork().accept_token(t)]
        allowed = [token for token in allowed if token != size - 1]
        if not allowed:
            break
        assert matcher.accept_token(allowed[step % len(allowed)])
    assert grammar.stats["summaries"] > 0
