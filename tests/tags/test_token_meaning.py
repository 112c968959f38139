"""Random structural tags of texts and tokens: the engine takes what the language reference says.

Two directions: every short sequence of tokens, and longer ones that the engine itself accepts.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.reference_tags import Tokens, tag_accepts_tokens

structag = pytest.importorskip("structag")

from structag.tags.parse import parse_format  # noqa: E402

CONTENTS = ("a", "b", "ab", "ba", "bb", "<c>", "<eos>")
STOP = len(CONTENTS) - 1
VOCABULARY = structag.Vocabulary.from_token_bytes(
    [b"a", b"b", b"ab"],
    user_defined={3: "ba"},
    special={4: "bb", 5: "<c>", STOP: "<eos>"},
    stop_token_ids=STOP,
)
COMPILER = structag.Compiler(VOCABULARY)
TOKENS = Tokens(
    CONTENTS,
    control=frozenset({4, 5, STOP}),
    stop=frozenset({STOP}),
    added=frozenset({3, 4, 5}),
)

TEXTS = st.text("ab", max_size=2)
WORDS = st.text("ab", min_size=1, max_size=2)
WORDS_LIST = st.lists(WORDS, max_size=1)
REFERENCES = st.one_of(st.integers(0, STOP - 1), st.sampled_from(CONTENTS[:STOP]))
REFERENCES_LIST = st.lists(REFERENCES, max_size=2)
BOUNDS = st.one_of(st.none(), st.integers(0, 2))
TOKEN = st.builds(lambda token: {"type": "token", "token": token}, REFERENCES)
MARKERS = st.one_of(TEXTS, TOKEN)
ENDS = st.one_of(MARKERS, st.lists(MARKERS, min_size=1, max_size=2))


def record(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


LEAVES = st.one_of(
    record("const_string", value=WORDS),
    TOKEN,
    record("exclude_token", exclude_tokens=REFERENCES_LIST),
    record("any_tokens", exclude_tokens=REFERENCES_LIST, max_tokens=BOUNDS),
    record("any_text", excludes=WORDS_LIST, max_tokens=BOUNDS, max_chars=BOUNDS),
)


@st.composite
def triggered(draw: st.DrawFn, content: st.SearchStrategy[Any]) -> dict[str, Any]:
    triggers = draw(st.lists(WORDS, min_size=1, max_size=2, unique=True))
    begins = st.sampled_from(triggers).flatmap(lambda t: TEXTS.map(lambda rest: t + rest[:1]))
    tags = record("tag", begin=begins, content=content, end=ENDS)
    return {
        "type": "triggered_tags",
        "triggers": triggers,
        "tags": draw(st.lists(tags, min_size=1, max_size=2)),
        "excludes": draw(WORDS_LIST),
        "at_least_one": draw(st.booleans()),
        "stop_after_first": draw(st.booleans()),
    }


@st.composite
def token_triggered(draw: st.DrawFn, content: st.SearchStrategy[Any]) -> dict[str, Any]:
    triggers = draw(st.lists(REFERENCES, min_size=1, max_size=2, unique=True))
    begins = st.sampled_from(triggers).map(lambda token: {"type": "token", "token": token})
    tags = record("tag", begin=begins, content=content, end=ENDS)
    return {
        "type": "token_triggered_tags",
        "trigger_tokens": triggers,
        "tags": draw(st.lists(tags, min_size=1, max_size=2)),
        "exclude_tokens": draw(REFERENCES_LIST),
        "at_least_one": draw(st.booleans()),
        "stop_after_first": draw(st.booleans()),
    }


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    elements = st.lists(inner, min_size=1, max_size=2)
    tags = record("tag", begin=MARKERS, content=inner, end=ENDS)
    rules = st.lists(st.tuples(WORDS, inner), min_size=1, max_size=2)
    token_rules = st.lists(st.tuples(REFERENCES, inner), min_size=1, max_size=2)
    return st.one_of(
        record("sequence", elements=elements),
        record("or", elements=elements),
        record("star", content=inner),
        record("repeat", content=inner, min=st.integers(0, 1), max=st.sampled_from([-1, 2])),
        tags,
        triggered(inner),
        token_triggered(inner),
        record(
            "tags_with_separator",
            tags=st.lists(tags, min_size=1, max_size=2),
            separator=TEXTS,
            at_least_one=st.booleans(),
            stop_after_first=st.booleans(),
        ),
        record("dispatch", rules=rules, loop=st.booleans(), excludes=WORDS_LIST),
        record("token_dispatch", rules=token_rules, loop=st.booleans()),
        record("tag", begin=MARKERS, content=triggered(inner), end=ENDS),
        record("tag", begin=MARKERS, content=token_triggered(inner), end=ENDS),
    )


DOCUMENTS = record(
    "structural_tag",
    format=st.recursive(LEAVES, composed, max_leaves=3),
    marker_tokens=st.lists(st.sampled_from(["ab", "ba", "bb", "<c>"]), max_size=2),
)


def compiled(document: dict[str, Any]) -> Any:
    try:
        return COMPILER.compile_structural_tag(document)
    except structag.FormatError:
        assume(False)
    except structag.GrammarError as error:
        assert error.code == "grammar-empty"
        return None


def takes(grammar: Any, token_ids: tuple[int, ...]) -> bool:
    matcher = structag.Matcher(grammar)
    return all(map(matcher.accept_token, token_ids)) and matcher.is_completed()


@given(DOCUMENTS)
def test_every_short_sequence(document: dict[str, Any]) -> None:
    grammar = compiled(document)
    tag = parse_format(document)
    for length in range(3):
        for token_ids in itertools.product(range(STOP), repeat=length):
            expected = tag_accepts_tokens(tag, TOKENS, token_ids)

            assert (grammar is not None and takes(grammar, token_ids)) == expected, token_ids


@given(DOCUMENTS, st.data())
def test_a_walk_through_the_masks(document: dict[str, Any], data: st.DataObject) -> None:
    grammar = compiled(document)
    assume(grammar is not None)
    tag = parse_format(document)
    matcher = structag.Matcher(grammar)
    bitmask = structag.allocate_token_bitmask(1, VOCABULARY.size)
    taken: tuple[int, ...] = ()
    for _ in range(7):
        matcher.fill_next_token_bitmask(bitmask)
        allowed = [token for token in range(STOP) if bitmask[0, 0] >> token & 1]

        assert matcher.is_completed() == tag_accepts_tokens(tag, TOKENS, taken), taken
        assert allowed or matcher.is_completed()
        if not allowed:
            return
        taken += (data.draw(st.sampled_from(allowed)),)
        assert matcher.accept_token(taken[-1])
