"""Indented JSON: exactly what `json.dumps` writes, up to a depth."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from support.random_schemas import random_schema, random_value

from structag import Compiler, Matcher, Vocabulary
from structag.errors import StructagError, UnsupportedError
from structag.schema.notation import MAX_LEVELS

COMPILER = Compiler(Vocabulary.byte_level())


def accepts(schema: Any, text: str, **options: Any) -> bool:
    matcher = Matcher(COMPILER.compile_json_schema(schema, **options))
    return matcher.accept_string(text) and matcher.is_completed()


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else [{}, [], None]


@pytest.mark.parametrize(
    "layout",
    [{"indent": 2}, {"indent": 0}, {"indent": "\t"}, {"indent": 3, "separators": (" , ", ":")}],
)
def test_is_what_json_dumps_writes(layout: dict[str, Any]) -> None:
    value = {"a": [1, [], {}, [{"b": None}, "x"]], "c": {"d": {"e": 0.5}}}
    text = json.dumps(value, **layout)

    for schema in (True, {"properties": {"a": True}}, {"const": value}, {"enum": [value, 1]}):
        assert accepts(schema, text, **layout)
        assert not accepts(schema, json.dumps(value), **layout)
        assert not accepts(schema, text.replace("[]", "[ ]"), **layout)
        lines = text.splitlines(keepends=True)
        assert not accepts(schema, "".join([lines[0], " ", *lines[1:]]), **layout)


def test_what_is_nested_too_deeply_stands_on_one_line() -> None:
    schema = {"properties": {"a": {"$ref": "#"}}}
    for depth in (1, MAX_LEVELS - 1, MAX_LEVELS, MAX_LEVELS + 1, MAX_LEVELS + 20):
        value: Any = nested(max(depth - MAX_LEVELS, 0))
        text = json.dumps(value) if depth >= MAX_LEVELS else json.dumps(value, indent=1)
        for _ in range(min(depth, MAX_LEVELS)):
            text = '{\n "a": ' + text.replace("\n", "\n ") + "\n}"
        assert accepts(schema, text, indent=1)


@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_schema_allows_the_same_values(order: str) -> None:
    rng = random.Random(order)
    accepted = rejected = 0
    for _ in range(120):
        schema = random_schema(rng)
        try:
            grammar = COMPILER.compile_json_schema(schema, property_order=order)
            indented = COMPILER.compile_json_schema(schema, property_order=order, indent=2)
        except StructagError:
            continue
        validator = jsonschema.Draft202012Validator(schema)
        for _ in range(10):
            value = random_value(rng)
            matchers = Matcher(grammar), Matcher(indented)
            texts = json.dumps(value), json.dumps(value, indent=2)
            plain, got = (
                matcher.accept_string(text) and matcher.is_completed()
                for matcher, text in zip(matchers, texts, strict=True)
            )
            assert got == plain, (json.dumps(schema), texts[1])
            assert validator.is_valid(value) or not got
            accepted += got
            rejected += not got

    assert accepted > 200
    assert rejected > 200


def test_the_report_says_how_lines_are_broken() -> None:
    report = COMPILER.compile_json_schema(True, indent=2).report
    (entry,) = (entry for entry in report if not entry.keyword)

    assert f"a line for each member and item, up to {MAX_LEVELS} levels deep" in entry.reason


def test_many_optional_names_are_refused_where_they_stand() -> None:
    names = {f"a{i}": {"type": "integer"} for i in range(1200)}
    inner = {"type": "object", "properties": names, "additionalProperties": False}
    compiler = Compiler(Vocabulary.byte_level())

    with pytest.raises(UnsupportedError) as caught:
        compiler.compile_json_schema({"properties": {"q": inner}}, indent=2)

    assert str(caught.value) == (
        "`properties`: laid out on lines, 1,200 names need a required one among them"
        " - at `/properties/q/properties`; require one, or leave out `indent`"
    )
    compiler.compile_json_schema({**inner, "required": ["a7"]}, indent=2)
