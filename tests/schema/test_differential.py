"""Random schemas and instances: what is accepted is what two validators find valid.

Valid instances are refused only where the report says that the schema is restricted.
"""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from support.random_schemas import random_schema, random_value

from structag import Compiler, Matcher, Vocabulary
from structag.errors import StructagError, UnsupportedError

SCHEMAS = 250


def canonical(value: Any) -> Any:
    """Integral floats as integers: `jsonschema` and the default options then agree."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


@pytest.mark.parametrize("seed", range(3))
def test_accepts_the_valid_instances(seed: int) -> None:
    rng = random.Random(seed)
    compiler = Compiler(Vocabulary.byte_level())
    refused = accepted = rejected = gaps = 0
    for _ in range(SCHEMAS):
        schema = random_schema(rng)
        validator = jsonschema.Draft202012Validator(schema)
        instances = [random_value(rng) for _ in range(25)]
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
