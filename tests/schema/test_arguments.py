"""Argument styles: what a call's arguments may look like."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, get_args

import pytest

from structag import Compiler, Matcher, Vocabulary
from structag.errors import FormatError, SchemaError
from structag.grammar.builder import GrammarBuilder
from structag.schema.arguments import STYLES, lower_arguments
from structag.schema.options import SchemaOptions
from structag.tags.model import ArgumentStyle

COMPILER = Compiler(Vocabulary.byte_level())
CLOSER = "</｜DSML｜parameter>"
DATA = os.environ.get("STRUCTAG_DATA")


def raw(name: str, value: str) -> str:
    return f'<｜DSML｜parameter name="{name}" string="true">{value}{CLOSER}\n'


def made(name: str, value: str) -> str:
    return f'<｜DSML｜parameter name="{name}" string="false">{value}{CLOSER}\n'


def accepted(schema: Any, text: str, **options: Any) -> bool:
    builder = GrammarBuilder()
    ref = lower_arguments(schema, "deepseek_xml", builder, SchemaOptions(**options))
    matcher = Matcher(COMPILER.compile_grammar(builder.build(ref)))
    return matcher.accept_string(text) and matcher.is_completed()


FORECAST = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 8},
        "days": {"type": "integer", "minimum": 1},
        "units": {"enum": ["metric", "imperial", None]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (raw("city", "Oslo"), True),
        (raw("city", 'a"<b>&\n'), True),
        (raw("city", ""), True),
        (raw("city", "Oslo") + made("days", "3"), True),
        (raw("city", "Oslo") + raw("units", "metric"), True),
        (raw("city", "Oslo") + made("units", "null"), True),
        (raw("city", "Oslo") + made("tags", '["a", "b"]'), True),
        ("", False),
        (raw("city", "Oslo")[:-1], False),
        (made("city", '"Oslo"'), False),
        (raw("city", "too long a name"), False),
        (raw("city", "Oslo") + raw("days", "3"), False),
        (raw("city", "Oslo") + made("days", "0"), False),
        (raw("city", "Oslo") + raw("units", "null"), False),
        (made("days", "3") + raw("city", "Oslo"), False),
        (raw("city", "Oslo") + raw("city", "Rome"), False),
        (raw("city", "Oslo") + raw("other", "x"), False),
        (raw("city", "a") + "x", False),
    ],
)
def test_deepseek_xml(text: str, want: bool) -> None:
    assert accepted(FORECAST, text) == want


def test_a_raw_value_ends_at_its_first_closer() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "null"}}}

    assert accepted(schema, raw("a", "</｜DSML｜parameter") + made("b", "null"))
    assert not accepted(schema, raw("a", f"x{CLOSER}"))


def test_no_arguments_are_nothing_or_an_empty_line() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}

    assert [accepted(schema, text) for text in ("", "\n", "\n\n", " ")] == [
        True, True, False, False,
    ]  # fmt: skip


def test_free_arguments_and_any_order() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": {"type": "boolean"},
    }

    assert accepted(schema, raw("a", "x") + made("z", "true"))
    assert not accepted(schema, raw("a", "x") + made("b", "true"))
    assert not accepted(schema, made("b", "1") + raw("a", "x"))
    assert accepted(schema, made("z", "true") + made("b", "1") + raw("a", ""), property_order="any")


def test_a_value_of_any_type_is_raw_text_or_json() -> None:
    schema = {"type": "object", "properties": {"v": True}, "additionalProperties": False}

    assert accepted(schema, raw("v", "12"))
    assert accepted(schema, made("v", '{"a": ["x"]}'))
    assert not accepted(schema, made("v", '"x"'))


def test_patterns_hold_for_the_raw_text() -> None:
    schema = {"type": "object", "properties": {"z": {"type": "string", "pattern": "^[a-z]+/x$"}}}

    assert accepted(schema, raw("z", "ab/x"))
    assert not accepted(schema, raw("z", "ab"))


def test_json_is_the_json_text() -> None:
    builder = GrammarBuilder()
    ref = lower_arguments(FORECAST, "json", builder)
    matcher = Matcher(COMPILER.compile_grammar(builder.build(ref)))

    assert matcher.accept_string('{"city": "Oslo", "days": 3}')
    assert matcher.is_completed()


def test_refusals() -> None:
    with pytest.raises(FormatError) as unknown:
        lower_arguments(True, "yaml", GrammarBuilder(), pointer="/x")
    assert (unknown.value.code, unknown.value.pointer) == ("tag-value", "/x")

    with pytest.raises(SchemaError) as no_object:
        lower_arguments({"type": "string"}, "deepseek_xml", GrammarBuilder())
    assert no_object.value.code == "schema-unsatisfiable"


@pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA names no folder with the cases")
def test_the_example_tag() -> None:
    assert DATA is not None
    example = json.loads(Path(DATA, "cases", "deepseek_v4_example.json").read_text("utf-8"))
    grammar = COMPILER.compile_structural_tag(example["structural_tag"])
    for text, want in [(t, True) for t in example["accept"]] + [
        (case["text"], False) for case in example["reject"]
    ]:
        matcher = Matcher(grammar)
        assert (matcher.accept_string(text) and matcher.is_completed()) == want, text


def test_the_language_knows_every_style() -> None:
    assert get_args(ArgumentStyle) == STYLES


@pytest.mark.parametrize("style", [style for style in STYLES if style != "json"])
def test_the_report_says_what_a_style_leaves_out(style: str) -> None:
    format = {"type": "json_schema", "json_schema": FORECAST, "style": style}
    report = COMPILER.compile_structural_tag({"type": "structural_tag", "format": format}).report
    (entry,) = [entry for entry in report.restricted if entry.keyword == ""]

    assert entry.pointer == "/format/json_schema"
    assert "name" in entry.reason
    assert [e.status for e in report if e.pointer.endswith("/city/maxLength")] == ["enforced"]
