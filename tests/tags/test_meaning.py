"""Random structural tags: the lowered grammar accepts exactly what the language reference says."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from support.reference_matcher import accepts
from support.reference_tags import tag_accepts

from structag.errors import FormatError
from structag.grammar.builder import GrammarBuilder
from structag.tags.lower import lower_format
from structag.tags.parse import parse_format
from structag.vocabulary import Vocabulary

BYTES = Vocabulary.byte_level()

TEXTS = st.text("ab", max_size=3)
WORDS = st.text("ab", min_size=1, max_size=3)
WORDS_LIST = st.lists(WORDS, max_size=2)
ENDS = st.one_of(TEXTS, st.lists(TEXTS, min_size=1, max_size=2))
CHOICES = st.booleans()

LEAVES = st.one_of(
    st.builds(lambda value: {"type": "const_string", "value": value}, TEXTS),
    st.builds(lambda excludes: {"type": "any_text", "excludes": excludes}, WORDS_LIST),
)


def tags_of(content: st.SearchStrategy[Any], begin: st.SearchStrategy[str]) -> Any:
    return st.fixed_dictionaries(
        {"type": st.just("tag"), "begin": begin, "content": content, "end": ENDS}
    )


@st.composite
def triggered(draw: st.DrawFn, content: st.SearchStrategy[Any]) -> dict[str, Any]:
    triggers = draw(st.lists(WORDS, min_size=1, max_size=2, unique=True))
    begins = st.sampled_from(triggers).flatmap(lambda t: TEXTS.map(lambda rest: t + rest[:1]))
    return {
        "type": "triggered_tags",
        "triggers": triggers,
        "tags": draw(st.lists(tags_of(content, begins), min_size=1, max_size=2)),
        "excludes": draw(WORDS_LIST),
        "at_least_one": draw(CHOICES),
        "stop_after_first": draw(CHOICES),
    }


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    elements = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda e: {"type": "sequence", "elements": e}, elements),
        st.builds(lambda e: {"type": "or", "elements": e}, elements),
        st.builds(
            lambda kind, c: {"type": kind, "content": c},
            st.sampled_from(["optional", "plus", "star"]),
            inner,
        ),
        st.builds(
            lambda c, low, more: {"type": "repeat", "content": c, "min": low, "max": more},
            inner,
            st.integers(0, 2),
            st.sampled_from([-1, 2, 3]),
        ),
        tags_of(inner, TEXTS),
        triggered(inner),
        tags_of(triggered(inner), TEXTS),
    )


FORMATS = st.recursive(LEAVES, composed, max_leaves=5)


@given(FORMATS)
def test_lowering_agrees_with_the_language_reference(format: dict[str, Any]) -> None:
    tag = parse_format({"type": "structural_tag", "format": format})
    builder = GrammarBuilder()
    try:
        root = lower_format(tag, builder, BYTES)
    except FormatError:
        assume(False)
    grammar = builder.build(root)
    for length in range(6):
        for letters in itertools.product("ab", repeat=length):
            text = "".join(letters)

            assert accepts(grammar, text.encode()) == tag_accepts(tag, text), text
