"""Random schemas and arguments: what a style accepts is read back as arguments that are valid."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import numpy as np
import pytest
from support.argument_texts import read, write
from support.arguments import accepts, compiled
from support.random_schemas import NAMES, PATTERNS, random_schema, random_value

from structag import CompiledGrammar, Matcher, allocate_token_bitmask
from structag.errors import StructagError, UnsupportedError
from structag.schema.arguments import STYLES

SCHEMAS = 120
INSTANCES = 12
UNMARKED = ("qwen_xml", "minimax_xml", "glm_xml", "step3_xml", "minimax_m3_xml")
TRIED = [style for style in STYLES if style not in ("json", "functiongemma")]
PIECES = ["a", "1", "true", "null", "[1]", "{}", "[", "\n", " ", '"', "'", "<", ">", ",", "</", "b"]


def arguments_schema(rng: random.Random) -> dict[str, Any]:
    """A random schema that speaks of members."""
    schema: dict[str, Any] = {"properties": {}}
    extra = random_schema(rng)
    if isinstance(extra, dict):
        schema.update(extra)
    schema["type"] = "object"
    if rng.random() < 0.8:
        names = rng.sample(NAMES, rng.randrange(1, 4))
        schema["properties"] = {name: random_schema(rng, 1) for name in names}
    return schema


def random_arguments(rng: random.Random, style: str) -> dict[str, Any]:
    depth = 1 if style == "minimax_m3_xml" else 2  # it can be read in many ways
    names = rng.sample(NAMES, rng.randrange(4))
    return {name: random_value(rng, depth) for name in names}


def mutated(rng: random.Random, text: str) -> str:
    """`text` with a piece left out, put in or written twice."""
    at, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
    match rng.randrange(4):
        case 0:
            return text[:at] + text[min(end, at + 3) :]
        case 1:
            return text[:at] + rng.choice(PIECES) + text[at:]
        case 2:
            return text[:end] + text[at:]
        case _:
            return text[:at] + rng.choice(PIECES) + text[min(at + 1, len(text)) :]


def grammar_of(schema: Any, style: str) -> CompiledGrammar | None:
    """The compiled arguments; None if they are refused, which has to be with a typed error."""
    try:
        return compiled(schema, style, property_order="any")
    except UnsupportedError:
        return None
    except StructagError as error:
        assert error.code in ("schema-unsatisfiable", "grammar-empty"), (schema, error)
        return None


@pytest.mark.parametrize("style", TRIED)
def test_accepted_arguments_are_valid(style: str) -> None:
    rng = random.Random(style)
    good = bad = strange = 0
    for _ in range(SCHEMAS):
        schema = arguments_schema(rng)
        grammar = grammar_of(schema, style)
        if grammar is None:
            continue
        validator = jsonschema.Draft202012Validator(schema)
        for _ in range(INSTANCES):
            arguments = random_arguments(rng, style)
            text = write(style, arguments)
            got, valid = accepts(grammar, text), validator.is_valid(arguments)
            good += got
            bad += not got
            readings = read(style, text)
            assert arguments in readings, (text, readings)
            if got:
                assert any(map(validator.is_valid, readings)), (json.dumps(schema), text)
            elif style not in UNMARKED:
                assert not valid, (json.dumps(schema), text)
            other = mutated(rng, text)
            if accepts(grammar, other):
                strange += 1
                assert any(map(validator.is_valid, read(style, other))), (json.dumps(schema), other)

    assert good > 150
    assert bad > 150
    assert strange > 20


TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


def typed_schema(rng: random.Random) -> dict[str, Any]:
    """A schema whose members say their types, as those of tools do."""
    properties: dict[str, Any] = {}
    for name in rng.sample(NAMES, rng.randrange(1, 4)):
        types = rng.sample(TYPES, rng.choice((1, 1, 2)))
        limits: dict[str, Any] = {"type": types if len(types) > 1 else types[0]}
        for _ in range(rng.randrange(3)):
            limits |= rng.choice(
                [
                    {"minLength": rng.randrange(3)},
                    {"maxLength": rng.randrange(5)},
                    {"pattern": rng.choice(PATTERNS)},
                    {"minimum": rng.randrange(4)},
                    {"enum": [random_value(rng, 1) for _ in range(4)]},
                    {"items": {"type": "integer"}},
                    {"required": ["a"]},
                ]
            )
        properties[name] = limits
    return {
        "type": "object",
        "properties": properties,
        "required": rng.sample(list(properties), rng.randrange(len(properties) + 1)),
        "additionalProperties": False,
    }


def read_by_types(schema: dict[str, Any], readings: list[dict[str, Any]]) -> dict[str, Any]:
    """The reading in which each value is what its text is in JSON, if the schema has that type."""

    def is_admitted(name: str, value: Any) -> bool:
        types = schema["properties"].get(name, {"type": TYPES})["type"]
        types = [types] if isinstance(types, str) else types
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and "integer" in types:
            return True
        return jsonschema.Draft202012Validator({"type": types}).is_valid(value)

    for reading in readings:  # strings come last
        if all(isinstance(v, str) or is_admitted(n, v) for n, v in reading.items()):
            return reading
    raise AssertionError("there is always the reading in which all are strings")


@pytest.mark.parametrize("style", [style for style in UNMARKED if style != "minimax_m3_xml"])
def test_types_tell_how_to_read_an_unmarked_text(style: str) -> None:
    rng = random.Random(style)
    good = bad = 0
    for _ in range(SCHEMAS):
        schema = typed_schema(rng)
        grammar = grammar_of(schema, style)
        if grammar is None:
            continue
        validator = jsonschema.Draft202012Validator(schema)
        for _ in range(INSTANCES * 2):
            names = rng.sample(
                list(schema["properties"]), rng.randrange(len(schema["properties"]) + 1)
            )
            text = write(style, {name: random_value(rng) for name in names})
            got = accepts(grammar, text)
            read_as = read_by_types(schema, read(style, text))
            valid = validator.is_valid(read_as)
            good += got
            bad += not got
            assert got == valid, (json.dumps(schema), text, read_as)

    assert good > 150
    assert bad > 150


def bounded_schema(rng: random.Random, depth: int = 2) -> Any:
    """A schema of values that a random walk comes to the end of."""
    kind = rng.randrange(6 if depth else 4)
    if kind == 0:
        return {"enum": [random_value(rng, 0) for _ in range(3)]}
    if kind == 1:
        text = {"type": rng.choice(["string", ["string", "null"], ["boolean", "string"]])}
        return text | {"maxLength": rng.randrange(1, 4), "pattern": rng.choice(["", "a", "^[^b]"])}
    if kind == 2:
        return {"type": "integer", "minimum": rng.randrange(-20, 5), "maximum": 120}
    if kind == 3:
        return {"anyOf": [bounded_schema(rng, 0), bounded_schema(rng, 0)]}
    if kind == 4:
        return {"type": "array", "items": bounded_schema(rng, depth - 1), "maxItems": 2}
    names = rng.sample(NAMES, rng.randrange(1, 4))
    return {
        "type": "object",
        "properties": {name: bounded_schema(rng, depth - 1) for name in names},
        "required": rng.sample(names, rng.randrange(len(names) + 1)),
        "additionalProperties": False,
    }


def walk(rng: random.Random, grammar: CompiledGrammar) -> str | None:
    """A random text of the grammar, one byte after the other; None if it grows too long."""
    matcher = Matcher(grammar)
    bitmask = allocate_token_bitmask(1, grammar.vocabulary.size)
    output = bytearray()
    for _ in range(1500):
        if matcher.is_completed() and rng.random() < 0.3:
            return output.decode("utf-8")
        matcher.fill_next_token_bitmask(bitmask)
        bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:256]
        allowed = np.flatnonzero(bits)
        if allowed.size == 0:
            return output.decode("utf-8")
        closing = [byte for byte in b"<]\"'" if bits[byte]]
        byte = rng.choice(closing if closing and rng.random() < 0.4 else allowed.tolist())
        assert matcher.accept_token(byte)
        output.append(byte)
    return None


@pytest.mark.parametrize("style", TRIED)
def test_generated_arguments_are_valid(style: str) -> None:
    rng = random.Random(style)
    finished = 0
    for _ in range(40):
        schema = bounded_schema(rng)
        while schema.get("type") != "object":
            schema = bounded_schema(rng)
        grammar = grammar_of(schema, style)
        if grammar is None:
            continue
        validator = jsonschema.Draft202012Validator(schema)
        for _ in range(4):
            text = walk(rng, grammar)
            if text is not None:
                finished += 1
                readings = read(style, text)
                assert any(map(validator.is_valid, readings)), (json.dumps(schema), text)

    assert finished > 60
