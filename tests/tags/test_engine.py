"""The engine agrees: whole texts, byte by byte, over the byte-level vocabulary."""

from __future__ import annotations

from typing import Any

import pytest
from support.tag_cases import TAG_CASES, TagCase, const, seq, tag, triggered

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


def schema(document: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": document, **fields}


def own_reference(kind: str) -> dict[str, Any]:
    return schema(
        {
            "type": "object",
            "properties": {"v": {"$ref": "#/$defs/V"}},
            "required": ["v"],
            "additionalProperties": False,
            "$defs": {"V": {"type": kind}},
        }
    )


def test_references_resolve_inside_their_own_schema() -> None:
    format = triggered(
        ["<c:"],
        [
            tag("<c:one>", own_reference("integer"), "</c>"),
            tag("<c:two>", own_reference("boolean"), "</c>"),
        ],
    )

    assert accepts(format, '<c:one>{"v":1}</c><c:two>{"v":true}</c>')
    assert not accepts(format, '<c:one>{"v":true}</c>')
    assert not accepts(format, '<c:two>{"v":1}</c>')


def test_regex_matches_as_a_whole_and_may_be_followed() -> None:
    format = seq({"type": "regex", "pattern": "f\\.[a-z]+:[0-9]+"}, const("!"))

    assert accepts(format, "f.look:12!")
    assert not accepts(format, "xf.look:12!")
    assert not accepts(format, "f_look:12!")


@pytest.mark.parametrize(
    ("part", "code", "pointer"),
    [
        ({"type": "regex", "pattern": "a(b"}, "regex-syntax", "/format/elements/1/pattern"),
        (
            schema({"properties": {"a/b": {"minLength": -1}}}),
            "schema-value",
            "/format/elements/1/json_schema/properties/a~1b/minLength",
        ),
        (
            schema({"type": "object", "properties": {"a": False}, "required": ["a"]}),
            "schema-unsatisfiable",
            "/format/elements/1/json_schema",
        ),
        (
            schema({"type": "string"}, style="deepseek_xml"),
            "schema-unsatisfiable",
            "/format/elements/1/json_schema",
        ),
        (
            schema({"$ref": "#/nowhere"}, style="deepseek_xml"),
            "schema-reference",
            "/format/elements/1/json_schema/$ref",
        ),
    ],
)
def test_errors_inside_point_into_the_whole_document(part: Any, code: str, pointer: str) -> None:
    with pytest.raises(structag.StructagError) as caught:
        matcher_of(seq(const("a"), part))

    assert (caught.value.code, caught.value.pointer) == (code, pointer)


def test_a_trigger_may_be_part_of_other_words() -> None:
    format = triggered(["<function"], [tag("<function=go>", schema({"type": "null"}), "</f>")])

    assert accepts(format, "a < b and <fun")
    assert accepts(format, "<<function=go>null</f>")
    assert not accepts(format, "the <functional> style")


@pytest.mark.parametrize(
    ("format", "pointer"),
    [
        (seq(const("a"), {"type": "regex", "pattern": "[]"}), "/format/elements/1"),
        (
            tag("<", {"type": "regex", "pattern": "ab+", "excludes": ["b"]}, ">"),
            "/format/content",
        ),
        (
            seq(
                {"type": "regex", "pattern": "a{3}", "excludes": ["b"]},
                {"type": "regex", "pattern": "a{3}", "excludes": ["aa"]},
            ),
            "/format/elements/1",
        ),
    ],
)
def test_what_nothing_matches_is_refused_at_its_place(format: Any, pointer: str) -> None:
    with pytest.raises(structag.GrammarError) as caught:
        matcher_of(format)

    assert (caught.value.code, caught.value.pointer) == ("grammar-empty", pointer)


def test_an_error_points_into_the_shape_as_it_was_written() -> None:
    structures = [
        {"begin": "<a>", "schema": {"type": "integer"}, "end": ">"},
        {"begin": "<b>", "schema": {"minLength": -1}, "end": ">"},
    ]
    older = {"type": "structural_tag", "structures": structures, "triggers": ["<"]}
    with pytest.raises(structag.SchemaError) as caught:
        COMPILER.compile_structural_tag(older)
    assert caught.value.pointer == "/structures/1/schema/minLength"

    with pytest.raises(structag.FormatError) as refused:
        COMPILER.compile_structural_tag({**older, "triggers": ["<a"]})
    assert refused.value.pointer == "/structures/1/begin"

    answer = {"name": "a", "schema": {"$ref": "#/nowhere"}}
    with pytest.raises(structag.SchemaError) as caught:
        COMPILER.compile_structural_tag({"type": "json_schema", "json_schema": answer})
    assert caught.value.pointer == "/json_schema/schema/$ref"
