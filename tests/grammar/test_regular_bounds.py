"""The inner bound lies in the language, the outer one around it; exact ones are it."""

from __future__ import annotations

import pytest
from support.small_languages import RandomGrammar, language
from support.tag_cases import TAG_CASES, TagCase

structag = pytest.importorskip("structag")

from structag.grammar.builder import GrammarBuilder  # noqa: E402
from structag.grammar.regular_bounds import regular_bounds  # noqa: E402

BYTES = structag.Compiler(structag.Vocabulary.byte_level())


@pytest.mark.parametrize("depth", [0, 2])
def test_random_grammars(depth: int) -> None:
    exact = 0
    for seed in range(120):
        grammar = RandomGrammar(seed).draw()
        builder = GrammarBuilder()
        bounds = regular_bounds(builder, grammar, depth)
        words = language(grammar, b"ab", 4)
        inner = language(builder.build(bounds.inner), b"ab", 4)
        outer = language(builder.build(bounds.outer), b"ab", 4)

        assert inner <= words <= outer, seed
        assert not bounds.is_exact or inner == outer, seed
        exact += bounds.is_exact
    assert 20 < exact < 120


@pytest.mark.parametrize("case", TAG_CASES, ids=lambda case: case.name)
def test_free_text_and_triggers_are_exact(case: TagCase) -> None:
    tag = {"type": "structural_tag", "format": case.format}
    builder = GrammarBuilder()
    bounds = regular_bounds(builder, BYTES.compile_structural_tag(tag).grammar, 3)
    if not bounds.is_exact:
        return
    inner = structag.Matcher(BYTES.compile_grammar(builder.build(bounds.inner)))
    for text, accepted in [(t, True) for t in case.accept] + [(t, False) for t in case.reject]:
        inner.reset()

        assert (inner.accept_string(text) and inner.is_completed()) == accepted, text


def test_many_members_in_any_order_are_bounded() -> None:
    builder = GrammarBuilder()
    members = [(builder.literal(bytes([97 + i])), i == 2) for i in range(8)]
    list_ref = builder.unordered(members, builder.literal(b"z"), builder.literal(b","))
    bounds = regular_bounds(builder, builder.build(list_ref), 0)

    def takes(ref: int, text: bytes) -> bool:
        matcher = structag.Matcher(BYTES.compile_grammar(builder.build(ref)))
        return matcher.accept_bytes(text) and matcher.is_completed()

    assert not bounds.is_exact
    assert [takes(bounds.inner, text) for text in (b"c", b"z,a,c,z,h", b"a", b"c,a")] == [
        True,
        True,
        False,
        False,
    ]
    assert all(takes(bounds.outer, text) for text in (b"c", b"h,c,a", b"a,z,z,c"))
