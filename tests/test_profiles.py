"""What providers and engines accept: each finding, and what fixing leaves."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.random_schemas import random_schema

pytest.importorskip("structag")

from structag.profile_fix import fix_schema
from structag.profiles import ERROR, PROFILES, WARNING, lint_schema, lint_slips

CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}
TEXT = {"type": "string"}


def closed(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    names = list(properties) if required is None else required
    return CLOSED | {"properties": properties, "required": names}


NODE = closed(next={"$ref": "#/$defs/node"}) | {"$defs": {"node": {"$ref": "#"}}}
DEEP: dict[str, Any] = closed()
for _ in range(10):
    DEEP = closed(a=DEEP)

FINDINGS = [
    ("openai", closed(a=TEXT), []),
    ("openai", NODE, []),
    ("openai", {"type": "array"}, [(ERROR, "")]),
    ("openai", CLOSED | {"anyOf": [{}]}, [(ERROR, "/anyOf")]),
    ("openai", {"type": "object"}, [(ERROR, "")]),
    ("openai", closed([], a=TEXT), [(ERROR, "/properties/a")]),
    ("openai", closed(a={"oneOf": [TEXT]}), [(ERROR, "/properties/a/oneOf")]),
    ("openai", closed(a={"minLength": 1}), [(WARNING, "/properties/a/minLength")]),
    ("openai", closed(a={"type": "string", "format": "uri"}), [(WARNING, "/properties/a/format")]),
    ("openai", closed(a={"enum": list(range(1001))}), [(ERROR, "")]),
    ("openai", closed(a={"$ref": "http://x.org/"}), [(ERROR, "/properties/a/$ref")]),
    ("openai", DEEP, [(ERROR, "")]),
    ("anthropic", closed([], a=TEXT), []),
    ("anthropic", closed(a={"type": "string", "format": "uri"}), []),
    ("anthropic", closed(a={"type": "array", "items": TEXT, "minItems": 1}), []),
    ("anthropic", closed(a={"type": "array", "minItems": 2}), [(ERROR, "/properties/a/minItems")]),
    ("anthropic", closed(a={"minimum": 1}), [(ERROR, "/properties/a/minimum")]),
    ("anthropic", closed(a={"enum": [[]]}), [(ERROR, "/properties/a/enum")]),
    ("anthropic", closed(a={"allOf": [{"$ref": "#/$defs/t"}]}) | {"$defs": {"t": TEXT}},
     [(ERROR, "/properties/a/allOf")]),
    ("anthropic", NODE, [(ERROR, "/properties/next/$ref"), (ERROR, "/$defs/node/$ref")]),
    ("anthropic", closed([], **{f"p{i}": TEXT for i in range(25)}), [(ERROR, "")]),
    ("gemini", {"type": "object", "properties": {"a": TEXT}}, []),
    ("gemini", {"const": 1}, [(WARNING, "/const")]),
    ("gemini", {"oneOf": [TEXT]}, [(WARNING, "/oneOf")]),
    ("xgrammar", {"not": TEXT, "minimum": 2}, [(WARNING, "/not")]),
    ("xgrammar", {"items": {"uniqueItems": True}}, [(WARNING, "/items/uniqueItems")]),
    ("llguidance", {"if": {}, "format": "regex"}, [(ERROR, "/if"), (WARNING, "/format")]),
    ("llguidance", {"patternProperties": {"a/b": {"not": {}}}},
     [(ERROR, "/patternProperties/a~1b/not")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "schema", "expected"),
    FINDINGS,
    ids=[f"{name}-{number}" for number, (name, _, _) in enumerate(FINDINGS)],
)
def test_findings(name: str, schema: Any, expected: list[tuple[str, str]]) -> None:
    findings = lint_schema(schema, PROFILES[name])

    assert [(finding.level, finding.pointer) for finding in findings] == expected


def test_slips() -> None:
    schema = {"properties": {"a": {"minLenght": 1, "x-order": 2, "color": 3}}, "requried": []}

    assert [(f.pointer, f.fix) for f in lint_slips(schema)] == [
        ("/requried", "did you mean `required`?"),
        ("/properties/a/minLenght", "did you mean `minLength`?"),
    ]


@pytest.mark.parametrize(
    ("name", "schema", "fixed"),
    [
        (
            "openai",
            {"type": "object", "properties": {"a": TEXT, "b": {"enum": [1]}}, "required": ["a"]},
            closed(a=TEXT, b={"anyOf": [{"enum": [1]}, {"type": "null"}]}),
        ),
        (
            "openai",
            closed([], a={"type": "string", "enum": ["x"], "maxLength": 9, "description": "d"}),
            closed(
                a={
                    "type": ["string", "null"],
                    "enum": ["x", None],
                    "description": "d (maxLength: 9)",
                }
            ),
        ),
        ("openai", closed(a={"oneOf": [TEXT]}), closed(a={"anyOf": [TEXT]})),
        (
            "openai",
            closed([], a={"anyOf": [TEXT]}),
            closed(a={"anyOf": [TEXT, {"type": "null"}]}),
        ),
        ("openai", closed(a={"allOf": [{"$ref": "#"}]}), closed(a={"$ref": "#"})),
        (
            "anthropic",
            closed(a={"type": "integer", "minimum": 1, "maximum": 5}),
            closed(a={"type": "integer", "description": "(minimum: 1, maximum: 5)"}),
        ),
        ("gemini", {"const": "a"}, {"enum": ["a"]}),
    ],
)
def test_fixes(name: str, schema: Any, fixed: Any) -> None:
    profile = PROFILES[name]

    assert fix_schema(schema, profile) == fixed
    assert lint_schema(fixed, profile) == []


@given(st.integers(0, 2**32), st.sampled_from(sorted(PROFILES)))
def test_fixing_is_done_once_and_changes_nothing_given(seed: int, name: str) -> None:
    profile, schema = PROFILES[name], random_schema(random.Random(seed))
    fixed = fix_schema(schema, profile)
    again = random_schema(random.Random(seed))

    assert schema == again
    assert fix_schema(fixed, profile) == fixed
    assert len(lint_schema(fixed, profile)) <= len(lint_schema(schema, profile))
