"""Errors of schemas without values name the keywords that clash."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.random_schemas import random_schema

from structag import Compiler, Vocabulary
from structag.errors import SchemaError, StructagError
from structag.grammar.builder import GrammarBuilder
from structag.schema.lower import lower_schema

COMPILER = Compiler(Vocabulary.byte_level())


def refusal(schema: Any, **options: Any) -> SchemaError | None:
    try:
        COMPILER.compile_json_schema(schema, **options)
    except SchemaError as error:
        return error if error.code == "schema-unsatisfiable" else None
    except StructagError:
        pass
    return None


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        (False, ""),
        ({"title": "T", "type": "integer", "minimum": 5, "maximum": 4, "multipleOf": 1},
         ": `/type`, `/minimum` and `/maximum` clash"),
        ({"type": "string", "enum": [1], "minLength": 1}, ": `/type` and `/enum` clash"),
        ({"type": "object", "required": ["a", "b"],
          "properties": {"a": False, "b": {"minimum": 1}}},
         ": `/type`, `/required` and `/properties/a` clash"),
        ({"allOf": [{"type": "string"}, {"minLength": 2}, {"type": "number"}]},
         ": `/allOf/0/type` and `/allOf/2/type` clash"),
        ({"type": "object", "required": ["a", "c"], "properties": {"a": {"type": "string",
          "pattern": "^a"}}, "patternProperties": {"a": {"enum": ["b", "c"]}}},
         ": `/type`, `/required`, `/properties/a/pattern` and `/patternProperties/a/enum` clash"),
        ({"type": "array", "minItems": 2, "items": {"type": "string", "const": 3}},
         ": `/type`, `/minItems`, `/items/type` and `/items/const` clash"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null", "const": 1}}}, ": `/$ref`"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a",
          "const": 1, "definitions": {"a": {"type": "null", "const": 1}}}, ": `/$ref`"),
        ({"type": "object", "required": ["a"], "unevaluatedProperties": False,
          "anyOf": [{"required": ["b"]}], "not": {"required": ["c"]}},
         ": `/unevaluatedProperties`, `/anyOf` and `/not` clash"),
    ],
)  # fmt: skip
def test_the_keywords_that_clash_are_named(schema: Any, what: str) -> None:
    error = refusal(schema)

    assert error is not None
    assert error.message == f"no value satisfies the schema{what}"


def test_pointers_start_at_the_document() -> None:
    with pytest.raises(SchemaError) as caught:
        lower_schema({"type": "null", "const": 1}, GrammarBuilder(), pointer="/tools/0")

    assert caught.value.message.endswith(": `/tools/0/type` and `/tools/0/const` clash")


def test_a_large_schema_is_not_looked_into() -> None:
    properties = {f"p{i}": {"type": "string", "minLength": i % 9} for i in range(5000)}
    error = refusal({"type": "object", "properties": {**properties, "a": False}, "required": ["a"]})

    assert error is not None
    assert error.message == "no value satisfies the schema"


def at(schema: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        schema = schema[int(token) if isinstance(schema, list) else token]
    return schema


def test_a_schema_that_holds_itself_is_not_looked_into() -> None:
    schema: dict[str, Any] = {"type": "object", "allOf": [{"type": "string"}]}
    schema["properties"] = {"a": schema}
    error = refusal(schema)
    assert error is not None
    assert "clash" not in error.message


def test_what_is_named_stands_in_the_schema() -> None:
    rng = random.Random(5)
    named = 0
    for _ in range(1500):
        schema = random_schema(rng)
        error = refusal(schema, property_order="any")
        if error is not None and schema is not False:
            pointers = error.message.split("`")[1::2]
            assert pointers, schema
            for pointer in pointers:
                at(schema, pointer)
            named += 1

    assert named > 20
