"""Lowering gives each format its meaning: the reference matcher agrees with the table."""

from __future__ import annotations

import itertools

import pytest
from support.reference_matcher import accepts
from support.tag_cases import (
    TAG_CASES,
    TagCase,
    const,
    separated,
    seq,
    tag,
    text,
    triggered,
    wrap,
)

from structag.compiler import Compiler
from structag.errors import FormatError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Literal, Mark
from structag.matcher import Matcher
from structag.tags.lower import lower_format
from structag.tags.parse import parse_format
from structag.vocabulary import Vocabulary

BYTES = Vocabulary.byte_level()


def document_of(format: object) -> dict[str, object]:
    return {"type": "structural_tag", "format": format}


def lowered(format: object) -> Grammar:
    builder = GrammarBuilder()
    document = parse_format({"type": "structural_tag", "format": format})
    return builder.build(lower_format(document, builder, BYTES))


@pytest.mark.parametrize("case", TAG_CASES, ids=lambda case: case.name)
def test_table(case: TagCase) -> None:
    grammar = lowered(case.format)

    assert [t for t in case.accept if not accepts(grammar, t.encode())] == []
    assert [t for t in case.reject if accepts(grammar, t.encode())] == []


@pytest.mark.parametrize(
    ("end", "excludes"),
    [("aa", ()), ("ab", ()), ("aba", ()), ("aab", ("b",)), ("ab", ("a",)), ("ba", ("aa", "bb"))],
)
def test_only_the_text_is_searched_for_ends_and_excludes(
    end: str, excludes: tuple[str, ...]
) -> None:
    grammar = lowered(tag("", text(*excludes), end))
    for length in range(7):
        for letters in itertools.product("ab", repeat=length):
            word = "".join(letters)
            body = word[: -len(end)]
            right = word.endswith(end) and not any(p in body for p in (end, *excludes))

            assert accepts(grammar, word.encode()) == right, word


def test_every_format_is_marked_with_its_pointer() -> None:
    grammar = lowered(seq(const("a"), triggered(["<"], [tag("<x", text(), ">")])))
    labels = {node.label for node in grammar.nodes if isinstance(node, Mark)}

    assert labels == {
        "/format",
        "/format/elements/0",
        "/format/elements/1",
        "/format/elements/1/tags/0",
        "/format/elements/1/tags/0/content",
    }


def test_markers_may_be_spelled_with_control_tokens() -> None:
    grammar = lowered(seq(const("a"), tag("<x>", const("b"), "</x>")))
    literals = [node for node in grammar.nodes if isinstance(node, Literal)]

    assert literals
    assert all(node.marker for node in literals)


def test_deep_nesting_needs_no_stack() -> None:
    format: object = const("x")
    for _ in range(500):
        format = {"type": "optional", "content": format}

    assert lowered(format).nodes


@pytest.mark.parametrize(
    ("format", "pointer"),
    [
        (wrap("star", text(max_tokens=3)), "/format/content"),
        (wrap("repeat", wrap("optional", text(max_tokens=3)), min=0, max=5), "/format/content"),
        (separated("", tag("", text(max_tokens=3), "")), "/format/tags/0"),
    ],
)
def test_a_budget_that_begins_anew_for_nothing_is_refused(format: object, pointer: str) -> None:
    with pytest.raises(FormatError) as caught:
        lowered(format)

    assert (caught.value.code, caught.value.pointer) == ("no-way-out", pointer)


def test_a_budget_may_begin_anew_with_something_else() -> None:
    assert lowered(wrap("star", tag("<", text(max_tokens=3), ">"))).nodes
    assert lowered(separated(",", tag("", text(max_tokens=3), ""))).nodes


def test_a_bounded_text_may_be_optional() -> None:
    compiler = Compiler(BYTES)
    for format in (
        wrap("optional", text(max_tokens=3)),
        separated("", tag("", text(max_tokens=3), ""), stop_after_first=True),
    ):
        matcher = Matcher(compiler.compile_structural_tag(document_of(format)))

        assert [matcher.accept_token(token) for token in b"abcd"] == [True, True, True, False]
