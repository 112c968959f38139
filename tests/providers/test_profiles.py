"""What providers and engines accept: each finding, and what fixing leaves."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("structag")

from structag.providers.fix import fix_schema
from structag.providers.known import ERROR, PROFILES, WARNING
from structag.providers.lint import lint_request, lint_slips

CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}
TEXT = {"type": "string"}
UNION = {"type": ["string", "null"]}


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
    *(
        ("anthropic", {"pattern": pattern}, [(level, "/pattern")] if level else [])
        for pattern, level in (
            (r"^[a-z]+(\.\d{1,3})*$", None),
            (r"\\b[(?=]\[(?:x)", None),
            (r"^(?!x)", ERROR),
            (r"(?<=a)b", ERROR),
            (r"(a)\1", ERROR),
            (r"(?<n>a)\k<n>", ERROR),
            (r"\bword\B", ERROR),
            (r"[\b]", None),
            (r"a{2,100}", None),
            (r"a{2,101}", WARNING),
            (r"a{1000}", WARNING),
            (r"\p{L}+", WARNING),
            (r"[^\p{L}]", WARNING),
        )
    ),
    ("anthropic", closed(a={"anyOf": [TEXT]}, **dict.fromkeys("bcdefghijklmnop", UNION)), []),
    ("anthropic", closed(a={"anyOf": [TEXT]}, **dict.fromkeys("bcdefghijklmnopq", UNION)),
     [(ERROR, "")]),
    ("openai", closed(a={"pattern": "(?=a)"}), [(ERROR, "/properties/a/pattern")]),
    ("openai", closed(a={"pattern": r"\bx\p{L}"}), []),
    ("openai", closed(a={"$ref": "#/$defs/t", "description": "d"}) | {"$defs": {"t": TEXT}},
     [(ERROR, "/properties/a/$ref")]),
    ("openai", closed(a={"enum": [f"{i:060}" for i in range(250)]}), []),
    ("openai", closed(a={"enum": [f"{i:060}" for i in range(251)]}),
     [(ERROR, "/properties/a/enum")]),
    ("openai", closed(a={"enum": [f"{i:059}" for i in range(251)]}), []),
    ("openai", closed(**{f"p{i}": TEXT for i in range(5001)}), [(ERROR, "")]),
    ("openai", closed(a={"const": "x" * 120_000}), [(ERROR, "")]),
    ("openai", closed(properties=closed(properties=TEXT)), []),
    ("gemini", {"type": "object", "properties": {"a": TEXT}}, []),
    ("gemini", closed(a={"$ref": "#/$defs/t", "title": "t"}) | {"$defs": {"t": TEXT}},
     [(ERROR, "/properties/a/$ref")]),
    ("gemini", {"$ref": "#/$defs/t", "$defs": {"t": TEXT}}, []),
    ("gemini", closed(next={"$ref": "#"}), [(ERROR, "/properties/next/$ref")]),
    ("gemini", closed([], next={"$ref": "#"}), []),
    ("gemini", closed([], next={"items": {"$ref": "#"}}), []),
    ("gemini", {"items": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
     [(ERROR, "/items/anyOf/0/$ref")]),
    ("gemini", {"$ref": "#/$defs/y", "$defs": {"y": closed([], z={"$ref": "#/$defs/y"})}}, []),
    ("gemini", {"enum": ["a", 1, 2.5]}, []),
    ("gemini", {"enum": [True]}, [(WARNING, "/enum")]),
    ("xgrammar", {"pattern": r"\bx"}, [(WARNING, "/pattern"), (ERROR, "/pattern")]),
    ("xgrammar", {"items": {"$ref": "#/$defs/t", "minLength": 1}, "$defs": {"t": TEXT}},
     [(WARNING, "/items/$ref")]),
    ("llguidance", {"pattern": "(?!a)"}, [(ERROR, "/pattern")]),
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
    findings = lint_request([("", schema)], PROFILES[name])

    assert [(finding.level, finding.pointer) for finding in findings] == expected


def test_limits_of_a_request_count_all_its_schemas() -> None:
    profile = PROFILES["anthropic"]
    some = closed([], **{f"p{i}": TEXT for i in range(13)})

    assert lint_request([("/a", some)], profile, 20) == []
    found = lint_request([("/a", some), ("/b", some)], profile, 21)
    assert [(f.pointer, f.message) for f in found] == [
        ("", "26 optional properties, and 24 at most are accepted"),
        ("", "21 tools with a schema, and 20 at most are accepted"),
    ]


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

    assert fix_schema(schema, profile).schema == fixed
    assert lint_request([("", fixed)], profile) == []
