"""Random schemas and instances: what is accepted is what two validators find valid.

Valid instances are refused only where the report says that the schema is restricted.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from support.random_schemas import (
    near_miss,
    random_counted,
    random_instance,
    random_list,
    random_members,
    random_schema,
    random_value,
)

from structag import Compiler, Matcher, Vocabulary
from structag.errors import StructagError, UnsupportedError

SCHEMAS = 250


@pytest.mark.parametrize("seed", range(3))
def test_accepts_the_valid_instances(seed: int) -> None:
    rng = random.Random(seed)

    def instances(schema: Any) -> list[Any]:
        return [random_value(rng) for _ in range(25)]

    check((random_schema(rng) for _ in range(SCHEMAS)), instances)


@pytest.mark.parametrize("seed", range(3))
def test_tells_instances_made_for_the_schema_from_near_misses(seed: int) -> None:
    rng = random.Random(-1 - seed)

    def instances(schema: Any) -> list[Any]:
        made = [random_instance(rng, schema) for _ in range(15)]
        return [*made, *(near_miss(rng, instance) for instance in made)]

    check((random_schema(rng) for _ in range(SCHEMAS)), instances)


def test_counts_and_tells_items_apart() -> None:
    rng = random.Random(0)

    def instances(schema: Any) -> list[Any]:
        return [make(rng) for make in (random_list, random_members) for _ in range(15)]

    check((random_counted(rng) for _ in range(SCHEMAS)), instances)


def check(schemas: Iterable[Any], make_instances: Callable[[Any], list[Any]]) -> None:
    compiler = Compiler(Vocabulary.byte_level())
    refused = accepted = rejected = gaps = 0
    for schema in schemas:
        validator = jsonschema.Draft202012Validator(schema)
        instances = make_instances(schema)
        try:
            grammar = compiler.compile_json_schema(schema, property_order="any")
        except UnsupportedError:
            refused += 1
            continue
        except StructagError as error:
            assert error.code in ("schema-unsatisfiable", "grammar-empty"), (schema, error)
            assert not any(map(validator.is_valid, instances)), (schema, instances)
            continue
        second = jsonschema_rs.Draft202012Validator(schema)
        is_restricted = any(entry.keyword for entry in grammar.report.restricted)
        for instance in instances:
            text = json.dumps(instance, ensure_ascii=False)
            matcher = Matcher(grammar)
            got = matcher.accept_string(text) and matcher.is_completed()
            want = validator.is_valid(instance)
            accepted += got
            rejected += not got
            assert second.is_valid(instance) == want, (json.dumps(schema), text)
            if got != want:
                gaps += 1
                assert want, (json.dumps(schema), text)
                assert is_restricted, (json.dumps(schema), text)

    assert refused < SCHEMAS * 0.15
    assert gaps < SCHEMAS * 0.05
    assert accepted > 500
    assert rejected > 500
