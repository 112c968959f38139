"""The short way from a schema to a grammar, against the long one: equal grammars, equal errors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.maskbench import DATA, rows
from support.random_schemas import NAMES, TYPES, random_schema

import structag.schema.lower as lower
from structag import Compiler, Limits, Matcher, Vocabulary
from structag.errors import LimitError, SchemaError, StructagError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.fingerprint import fingerprint
from structag.schema.options import SchemaOptions

OPTIONS = [
    SchemaOptions(),
    SchemaOptions(property_order="any", max_whitespace=0),
    SchemaOptions(property_order="sorted", separators=(", ", ": "), integer_decimals=True),
]
DRAFTS = [
    None,
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-07/schema#",
]


@contextmanager
def long_way_only() -> Iterator[None]:
    known = lower.has_short_way
    lower.has_short_way = lambda options, limits: False
    try:
        yield
    finally:
        lower.has_short_way = known


def outcome(schema: Any, options: SchemaOptions = OPTIONS[0]) -> str:
    builder = GrammarBuilder()
    try:
        return fingerprint(builder.build(lower.lower_schema(schema, builder, options)))
    except StructagError as error:
        return f"{type(error).__name__}: {error}"


def check(schema: Any, options: SchemaOptions = OPTIONS[0]) -> str:
    found = outcome(schema, options)
    with long_way_only():
        assert found == outcome(schema, options)
    return found


def plain_schema(rng: random.Random, depth: int) -> Any:
    """A schema of the commonest keywords, now and then with another one, or a value of no sense."""
    kind = rng.random()
    if kind < 0.1:
        return rng.choice([True, False, {}, {"title": "t"}])
    if kind < 0.2:
        return {"$ref": rng.choice(["#", "#/$defs/x", "#/$defs/y", "#/properties/a", "#/items"])}
    if kind < 0.3:
        return random_schema(rng, min(depth, 1))
    if kind < 0.4 or not depth:
        return dict(rng.choice(LEAVES))
    schema: dict[str, Any] = {}
    if kind < 0.6:
        schema["items"] = plain_schema(rng, depth - 1)
        for key in ("minItems", "maxItems"):
            if rng.random() < 0.3:
                schema[key] = rng.choice([0, 1, 2, 3, 2.0, -1, 2**31])
    else:
        for key in ("properties", "required", "additionalProperties"):
            if rng.random() < 0.6:
                schema[key] = member_keyword(rng, key, depth)
    if rng.random() < 0.7:
        types = rng.sample(TYPES, rng.choice([1, 1, 2]))
        types.append("array" if "items" in schema else "object")
        schema["type"] = rng.choice([types[-1], types])
    if rng.random() < 0.1:
        schema |= rng.choice([{"$id": "urn:x"}, {"$ref": "#/$defs/x"}, {"type": "nothing"},
                              {"anyOf": [plain_schema(rng, 0), {"$ref": "#"}]}])  # fmt: skip
    return schema


LEAVES: list[Any] = [
    *({"type": name} for name in TYPES),
    {"type": ["string", "null"]}, {"type": "integer", "minimum": 1}, {"minimum": 1},
    {"minimum": True}, {"type": "string", "minLength": 1}, {"type": "string", "format": "date"},
    {"enum": ["a", "b"]}, {"type": "string", "enum": ["b", "é"]}, {"enum": [1, "a", None]},
    {"type": "integer", "enum": ["a"]}, {"enum": []}, {"enum": 1}, {"type": []}, {"type": 1},
    {"pattern": "("}, {"type": "string", "pattern": "^a"},
]  # fmt: skip


def member_keyword(rng: random.Random, key: str, depth: int) -> Any:
    if key == "properties":
        names = rng.sample([*NAMES, "é", 'q"'], rng.randrange(4))
        return {name: plain_schema(rng, depth - 1) for name in names} if names else {}
    if key == "required":
        return rng.choice([rng.sample(NAMES, rng.randrange(3)), ["a", "a"], True])
    return plain_schema(rng, depth - 1)


@pytest.mark.parametrize("seed", range(3))
def test_random_schemas_give_equal_grammars(seed: int) -> None:
    rng = random.Random(seed)
    lowered = refused = 0
    for _ in range(200):
        schema = plain_schema(rng, 4)
        if isinstance(schema, dict):
            schema["$defs"] = {"x": plain_schema(rng, 2), "y": plain_schema(rng, 3)}
            draft = rng.choice(DRAFTS)
            schema |= {} if draft is None else {"$schema": draft}
        is_refused = ":" in check(schema, rng.choice(OPTIONS))
        refused += is_refused
        lowered += not is_refused
    assert lowered > 40
    assert refused > 40


@pytest.mark.skipif(DATA is None, reason="needs STRUCTAG_DATA")
@pytest.mark.parametrize("options", OPTIONS)
def test_real_schemas_give_equal_grammars(options: SchemaOptions) -> None:
    for row in rows(100):
        check(row["schema"], options)


def test_deep_schemas_give_equal_grammars() -> None:
    schema: Any = {"type": "string"}
    for _ in range(60):
        schema = {"properties": {"a": schema, "b": {"items": schema}}, "required": ["b"]}

    assert ":" not in check(schema)


def test_what_leads_back_is_one_rule() -> None:
    schema = {
        "properties": {"p": {"type": "object", "properties": {"x": {"$ref": "#/properties/p"}}}}
    }
    builder = GrammarBuilder()
    grammar = builder.build(lower.lower_schema(schema, builder))

    assert [name for name, _ in grammar.rules if name != "json-value"] == ["/properties/p"]
    check(schema)


def test_subschemas_are_counted_on_both_ways() -> None:
    schema = {"properties": {str(i): {"type": "string"} for i in range(99)}}

    lower.lower_schema(schema, GrammarBuilder(), limits=Limits(max_schemas=100))
    with pytest.raises(LimitError, match=r"over 99 subschemas"):
        lower.lower_schema(schema, GrammarBuilder(), limits=Limits(max_schemas=99))


def test_the_report_is_that_of_the_schema_as_it_was() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"minimum": 1}}}
    compiled = Compiler(Vocabulary.byte_level()).compile_json_schema(schema)
    schema["properties"]["a"]["maximum"] = 2
    with long_way_only():
        other = Compiler(Vocabulary.byte_level()).compile_json_schema(
            {"properties": {"a": {"minimum": 1}}}
        )

    assert compiled.report.entries == other.report.entries
    assert any(entry.pointer == "/properties/a/minimum" for entry in compiled.report)


def test_a_reference_that_comes_back_in_place_is_refused() -> None:
    for schema in (
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$ref": "#/$defs/x"}}},
        {"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"allOf": [{"$ref": "#/$defs/x"}]}}},
    ):
        check(schema)
        with pytest.raises(SchemaError, match="refers to itself"):
            lower.lower_schema(schema, GrammarBuilder())


def test_recursion_is_matched() -> None:
    schema = {"type": "object", "properties": {"k": {"type": "array", "items": {"$ref": "#"}}},
              "additionalProperties": False}  # fmt: skip
    compiled = Compiler(Vocabulary.byte_level()).compile_json_schema(schema)

    matcher = Matcher(compiled)
    assert matcher.accept_string('{"k": [{"k": []}, {}]}')
    assert matcher.is_completed()
    assert not Matcher(compiled).accept_string('{"k": [{"k": [1')
