"""A grammar that keeps its marks for explanations has the masks of one that does not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.engine import LIMITS, compile_or_none, mask_of, properties, vocabulary_of
from support.strategies import ALPHABETS, GrammarSample, VocabularySample, grammars, vocabularies

from structag.compiler import Compiler
from structag.matcher import Matcher

STEPS = 6


@st.composite
def examples(draw: st.DrawFn) -> tuple[GrammarSample, VocabularySample]:
    alphabet = draw(st.sampled_from(ALPHABETS))
    vocabulary = draw(vocabularies(alphabet, control=True))
    named = vocabulary if draw(st.booleans()) else None
    return draw(grammars(alphabet=alphabet, vocabulary=named)), vocabulary


@properties()
@given(examples(), st.data())
def test_marks_change_nothing(
    example: tuple[GrammarSample, VocabularySample], data: st.DataObject
) -> None:
    sample, vocabulary = example
    both = [
        compile_or_none(
            Compiler(vocabulary_of(vocabulary), limits=LIMITS, origins=o), sample.grammar
        )
        for o in (False, True)
    ]
    assert (both[0] is None) == (both[1] is None)
    if both[0] is None:
        return
    plain, marked = map(Matcher, both)
    size = len(vocabulary.contents)
    for _ in range(STEPS):
        allowed = mask_of(plain, size)
        assert mask_of(marked, size) == allowed
        assert marked.allowed_bytes() == plain.allowed_bytes()
        expectations = marked.expectations()
        assert frozenset().union(*(e.bytes for e in expectations)) == plain.allowed_bytes()
        assert all(e.trails for e in expectations)
        assert marked.is_completed() == plain.is_completed()
        if not allowed:
            return
        token = data.draw(st.sampled_from(sorted(allowed)))
        assert plain.accept_token(token)
        assert marked.accept_token(token)
