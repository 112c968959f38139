"""Whatever a document gets wrong is a typed error at its place, also when it is hostile."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pytest
from support.tag_cases import TAG_CASES, TagCase, const, seq, tag, text

from structag.errors import StructagError
from structag.limits import Limits
from structag.tags.model import AnyTextFormat, SequenceFormat, StructuralTag, TagFormat
from structag.tags.parse import parse_format


def document(format: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


def nested(depth: int) -> Any:
    format: Any = const("x")
    for _ in range(depth):
        format = {"type": "optional", "content": format}
    return format


REFUSED: list[tuple[str, Any, str, str | None, str | None]] = [
    # name, source, code, pointer, hint
    ("number", 3, "tag-value", "", None),
    ("no_json", "{", "json-syntax", None, None),
    ("empty_text", "", "json-syntax", None, None),
    ("nul_bytes", '{"type":\x00}', "json-syntax", None, None),
    ("broken_utf8", b'{"type":"\xff"}', "text-encoding", None, None),
    ("lone_surrogate_escape", '{"type":"\\ud800"}', "text-encoding", None, None),
    (
        "lone_surrogate_in_data",
        document(seq(const("\ud800"))),
        "text-encoding",
        "/format/elements/0/value",
        None,
    ),
    (
        "wrong_document_type",
        {"type": "structural", "format": text()},
        "tag-type",
        "/type",
        None,
    ),
    (
        "bare_format",
        tag("a", text(), "b"),
        "tag-type",
        "/type",
        'wrap it in {"type": "structural_tag", "format": …}',
    ),
    ("no_document_type", {"format": text()}, "tag-type", "", None),
    ("no_format", {"type": "structural_tag"}, "tag-field", "", "add `format`"),
    (
        "older_shape",
        {"type": "structural_tag", "structures": [], "triggers": []},
        "tag-value",
        "/structures",
        None,
    ),
    (
        "misspelled_type",
        document({"type": "trigered_tags", "triggers": ["<"], "tags": []}),
        "tag-type",
        "/format/type",
        "did you mean `triggered_tags`?",
    ),
    (
        "no_type",
        document({"begin": "a", "content": text(), "end": "b"}),
        "tag-type",
        "/format",
        'add "type": "tag"',
    ),
    ("type_is_no_string", document({"type": ["tag"]}), "tag-type", "/format/type", None),
    (
        "misspelled_field",
        document({"type": "tag", "begin": "a", "contnt": text(), "end": "b"}),
        "tag-field",
        "/format/contnt",
        "did you mean `content`?",
    ),
    (
        "field_that_does_not_belong",
        document(seq({"type": "any_text", "zzz": 1})),
        "tag-field",
        "/format/elements/0/zzz",
        "remove it",
    ),
    (
        "missing_field",
        document({"type": "tag", "begin": "a", "content": text()}),
        "tag-field",
        "/format",
        "add `end`",
    ),
    ("format_is_a_string", document("any_text"), "tag-value", "/format", None),
    (
        "content_is_null",
        document({"type": "star", "content": None}),
        "tag-value",
        "/format/content",
        None,
    ),
    ("no_elements", document(seq()), "tag-value", "/format/elements", None),
    (
        "elements_is_no_list",
        document({"type": "or", "elements": 3}),
        "tag-value",
        "/format/elements",
        None,
    ),
    (
        "tags_hold_something_else",
        document({"type": "triggered_tags", "triggers": ["<"], "tags": [text()]}),
        "tag-value",
        "/format/tags/0",
        None,
    ),
    (
        "no_tags",
        document({"type": "triggered_tags", "triggers": ["<"], "tags": []}),
        "tag-value",
        "/format/tags",
        None,
    ),
    (
        "no_triggers",
        document({"type": "triggered_tags", "triggers": [], "tags": [tag("<", text(), ">")]}),
        "tag-value",
        "/format/triggers",
        None,
    ),
    (
        "flag_is_a_string",
        document(
            {
                "type": "triggered_tags",
                "triggers": ["<"],
                "tags": [tag("<", text(), ">")],
                "at_least_one": "true",
            }
        ),
        "tag-value",
        "/format/at_least_one",
        None,
    ),
    ("empty_exclude", document(text("a", "")), "tag-value", "/format/excludes/1", None),
    (
        "excludes_is_a_string",
        document({"type": "any_text", "excludes": "ab"}),
        "tag-value",
        "/format/excludes",
        None,
    ),
    ("no_ends", document(tag("a", text(), [])), "tag-value", "/format/end", None),
    ("end_is_a_number", document(tag("a", text(), 3)), "tag-value", "/format/end", None),
    ("begin_is_a_number", document(tag(3, text(), "a")), "tag-value", "/format/begin", None),  # type: ignore[arg-type]
    (
        "min_is_a_fraction",
        '{"type":"structural_tag","format":{"type":"repeat","content":{"type":"const_string","value":"a"},"min":1.5,"max":2}}',
        "tag-value",
        "/format/min",
        None,
    ),
    (
        "max_below_min",
        document({"type": "repeat", "content": const("a"), "min": 3, "max": 2}),
        "tag-value",
        "/format/max",
        None,
    ),
    (
        "count_too_large",
        document({"type": "repeat", "content": const("a"), "min": 0, "max": 2**31}),
        "tag-value",
        "/format/max",
        None,
    ),
    (
        "unknown_style",
        document({"type": "json_schema", "json_schema": {}, "style": "deepseek"}),
        "tag-value",
        "/format/style",
        "did you mean `deepseek_xml`?",
    ),
    (
        "schema_is_a_string",
        document({"type": "json_schema", "json_schema": "{}"}),
        "tag-value",
        "/format/json_schema",
        None,
    ),
    ("deep_text", json.dumps(document(nested(300)))[:-301], "json-syntax", None, None),
    ("deep_data", document(nested(10_000)), "nesting-limit", "", None),
    ("deep_json", '{"type":"structural_tag","format":' + "[" * 10_000, "nesting-limit", None, None),
]


@pytest.mark.timing
@pytest.mark.parametrize(
    ("source", "code", "pointer", "hint"),
    [row[1:] for row in REFUSED],
    ids=[row[0] for row in REFUSED],
)
def test_refused(source: Any, code: str, pointer: str | None, hint: str | None) -> None:
    start = time.process_time()
    with pytest.raises(StructagError) as caught:
        parse_format(source)

    assert (caught.value.code, caught.value.pointer) == (code, pointer)
    if hint is not None:
        assert caught.value.hint == hint
    if "STRUCTAG_SANITIZED" not in os.environ:
        assert time.process_time() - start < 0.25  # 50 ms on an idle machine


def test_messages_say_what_was_found_and_what_was_expected() -> None:
    with pytest.raises(StructagError) as caught:
        parse_format(document(seq(text("a", ""))))

    assert str(caught.value) == (
        '`""` in `excludes`, expected a list of non-empty strings'
        " - at `/format/elements/0/excludes/1`"
    )


@pytest.mark.parametrize("case", TAG_CASES, ids=lambda case: case.name)
def test_json_round_trip(case: TagCase) -> None:
    parsed = parse_format(json.dumps(document(case.format)))

    assert parse_format(parsed.model_dump_json()) == parsed
    assert StructuralTag.model_validate(document(case.format)) == parsed


def test_numbers_of_a_schema_survive_the_round_trip() -> None:
    schema = '{"minimum":0.1,"multipleOf":1e2,"maximum":9007199254740993}'
    source = f'{{"type":"structural_tag","format":{{"type":"json_schema","json_schema":{schema}}}}}'
    parsed = parse_format(source)
    dumped = json.loads(parsed.model_dump_json())

    assert dumped["format"]["json_schema"] == {
        "minimum": 0.1,
        "multipleOf": 100,
        "maximum": 9007199254740993,
    }


def test_models_are_taken_as_they_are() -> None:
    model = StructuralTag(
        format=SequenceFormat(elements=[TagFormat(begin="<", content=AnyTextFormat(), end=">")])
    )

    assert parse_format(model) is model
    assert parse_format({"type": "structural_tag", "format": model.format}) == model


def test_deep_models_are_refused_without_recursion() -> None:
    format: Any = AnyTextFormat()
    for _ in range(600):
        format = TagFormat.model_construct(begin="", content=format, end="x")
    with pytest.raises(StructagError) as caught:
        parse_format(StructuralTag.model_construct(format=format))

    assert caught.value.code == "nesting-limit"


def test_five_hundred_levels_are_fine() -> None:
    assert parse_format(document(nested(500)))
    assert parse_format(document(nested(500)), Limits(max_nesting=502))


def test_python_data_that_contains_itself_is_refused() -> None:
    loop: dict[str, Any] = {"type": "optional"}
    loop["content"] = loop
    with pytest.raises(StructagError) as caught:
        parse_format(document(loop))

    assert caught.value.code == "nesting-limit"


def test_equal_parts_shared_in_python_data_are_read_once() -> None:
    format: Any = const("x")
    for _ in range(100):
        format = seq(format, format)

    assert parse_format(document(format))
