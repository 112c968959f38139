"""Merged schemas accept what both schemas accept: exactly, or not at all."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.random_schemas import random_schema, random_value

pytest.importorskip("structag")

from jsonschema import Draft202012Validator

from structag.providers.merge import MergeError, merge

OBJECT = {"type": "object"}


def nothing(value: dict[str, Any]) -> Any:
    raise MergeError("no references here")


@given(st.integers(0, 2**32))
def test_both_are_asked(seed: int) -> None:
    rng = random.Random(seed)
    first, second = (random_schema(rng, rng.randrange(3)) for _ in range(2))
    try:
        merged = merge(first, second, nothing)
    except MergeError:
        return
    judges = [Draft202012Validator(schema) for schema in (first, second, merged)]
    for _ in range(30):
        value = random_value(rng)
        one, other, both = (judge.is_valid(value) for judge in judges)

        assert both == (one and other), value


def test_many_can_be_merged() -> None:
    merged = 0
    for seed in range(300):
        rng = random.Random(seed)
        first, second = (random_schema(rng, rng.randrange(3)) for _ in range(2))
        try:
            merged += merge(first, second, nothing) not in (first, second, False)
        except MergeError:
            continue

    assert merged > 90


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ({"type": ["integer", "string"]}, {"type": "number"}, {"type": "integer"}),
        ({"enum": [1, "a", True]}, {"enum": ["a", 1.0]}, {"enum": [1, "a"]}),
        ({"enum": [True]}, {"enum": [1]}, False),
        ({"type": "null"}, {"type": "string"}, False),
        ({"minimum": 1, "maxLength": 5}, {"minimum": 2, "maxLength": 9},
         {"minimum": 2, "maxLength": 5}),
        ({"multipleOf": 4}, {"multipleOf": 6}, {"multipleOf": 12}),
        ({"description": "One.", "title": "x"}, {"description": "Two.", "default": 3},
         {"description": "One. Two.", "title": "x", "default": 3}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"properties": {"b": {}}},
         {"properties": {"a": {}}, "additionalProperties": False}),
        ({**OBJECT, "required": ["b"]} | {"additionalProperties": False}, {"properties": {"b": {}}},
         False),
    ],
    ids=str,
)  # fmt: skip
def test_mergers(first: Any, second: Any, merged: Any) -> None:
    assert merge(first, second, nothing) == merged


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"minimum": 3, "exclusiveMinimum": True}, {"minimum": 5}),
        ({"required": ["b"], "additionalProperties": False}, {"properties": {"b": {}}}),
        ({"format": "date"}, {"format": "time"}),
        ({"prefixItems": [{}]}, {"items": {}}),
        ({"patternProperties": {"[a-b]": {}}, "additionalProperties": {"type": "null"}},
         {"patternProperties": {"[a-b]": {}}, "properties": {"a": {"minLength": 1}}}),
    ],
    ids=str,
)  # fmt: skip
def test_what_has_no_merger(first: Any, second: Any) -> None:
    with pytest.raises(MergeError):
        merge(first, second, nothing)
