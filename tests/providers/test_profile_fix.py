"""Fixed schemas: what they accept, the original accepts too, but for the changes that are named."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.maskbench import DATA, part_of_500
from support.random_schemas import NAMES, random_schema

structag = pytest.importorskip("structag")

from jsonschema import Draft202012Validator  # noqa: E402

from structag.errors import StructagError  # noqa: E402
from structag.providers import fix as profile_fix  # noqa: E402
from structag.providers.fix import WRAPPED, Fixed, fix_once, fix_schema  # noqa: E402
from structag.providers.known import ERROR, PROFILES, Profile  # noqa: E402
from structag.providers.lint import lint_request  # noqa: E402
from structag.providers.subschemas import schema_at  # noqa: E402
from structag.sample import Sampler  # noqa: E402

BYTES = structag.Compiler(structag.Vocabulary.byte_level())
FLAT: list[dict[str, Any]] = [
    {"type": "string"}, {"type": "integer"}, {"type": ["string", "null"]}, {"enum": ["a", 1, None]},
    {"type": "integer", "minimum": 3}, {"type": "number", "maximum": 9}, {"type": "null"},
    {"type": "string", "maxLength": 2}, {"const": "a"}, {"type": "string", "pattern": "^(?!b)"},
    {"type": "string", "description": "d"}, {"type": "boolean"},
]  # fmt: skip


def random_wish(rng: random.Random, depth: int = 3) -> Any:
    """A schema as people write them for providers, with what those dislike."""
    kind = rng.randrange(9) if depth else 0
    if kind < 2:
        return dict(rng.choice(FLAT))
    if kind == 2:
        return {"$ref": rng.choice(("#/$defs/a", "#/$defs/b"))} | rng.choice(
            ({}, {}, {"description": "d"}, {"minLength": 1}, {"properties": {"a": {}}})
        )
    if kind == 3:
        return {"type": "array", "items": random_wish(rng, depth - 1)} | rng.choice(
            ({}, {"minItems": 1}, {"maxItems": 2})
        )
    if kind == 4:
        parts = [random_wish(rng, depth - 1) for _ in range(rng.randrange(1, 4))]
        return {rng.choice(("allOf", "allOf", "anyOf", "oneOf")): parts}
    schema: dict[str, Any] = {"type": "object"} if rng.random() < 0.8 else {}
    names = rng.sample(NAMES, rng.randrange(1, 4))
    schema["properties"] = {name: random_wish(rng, depth - 1) for name in names}
    schema["required"] = [name for name in NAMES if rng.random() < 0.3]
    if rng.random() < 0.4:
        schema["additionalProperties"] = rng.choice((False, True, {"type": "string"}))
    if rng.random() < 0.4:
        parts = [random_wish(rng, depth - 1) for _ in range(rng.randrange(1, 3))]
        schema[rng.choice(("allOf", "allOf", "anyOf"))] = parts
    return schema


def whole_wish(rng: random.Random) -> Any:
    schema = random_wish(rng)
    defs = {name: random_wish(rng, 2) for name in "ab"}
    return (
        schema | {"$defs": defs} if rng.random() < 0.9 else schema | {"$defs": {"a": {}, "b": {}}}
    )


def documented(schema: Any, fixed: Fixed) -> Any:
    """The schema without what is said to be dropped, and with what is said to be united."""
    schema = json.loads(json.dumps(schema))
    for kind in ("dropped", "united"):
        for change in fixed.changes:  # inner ones come first
            place, _, key = change.pointer.rpartition("/")
            if change.kind == kind:
                part = schema_at(schema, place)
                value = part.pop(key)
                if kind == "united":
                    part["anyOf"] = value
    return schema


def without_nulls(value: Any) -> Iterator[Any]:
    """The value, with any of its members that are null left out."""
    if isinstance(value, list):
        for items in itertools.product(*([*without_nulls(item)] for item in value)):
            yield list(items)
    elif isinstance(value, dict):
        options = [
            [*([None] if part is None else []), *((name, inner) for inner in without_nulls(part))]
            for name, part in value.items()
        ]
        for members in itertools.product(*options):
            yield dict(member for member in members if member is not None)
    else:
        yield value


def outputs(schema: Any, seed: int) -> list[Any]:
    try:
        sampler = Sampler(BYTES.compile_json_schema(schema), seed)
    except StructagError:
        return []
    found = []
    for room in (0, 10, 40, 80):
        text = b"".join(map(bytes, sampler.draw(sampler.least_bytes + room).pieces))
        if text.count(b"null") > 6:  # too many ways to leave some out
            continue
        with contextlib.suppress(OverflowError):  # the validator divides floats
            found.append(json.loads(text, parse_float=short, parse_int=short))
    return found


def short(text: str) -> float:
    if len(text) > 12:
        raise OverflowError
    return float(text) if {*text} & {*".eE"} else int(text)


def passes(schema: Any, profile: Profile) -> Iterator[tuple[Any, Fixed]]:
    """What each pass is given, and what it makes of that: there its pointers lead."""
    for _ in range(profile_fix._MOST_PASSES):
        fixed = fix_once(schema, profile)
        yield schema, fixed
        if fixed.schema == schema:
            break
        schema = fixed.schema


def check(schema: Any, name: str, seed: int) -> bool:
    """Whether the fixed schema accepts anything that could be judged."""
    profile = PROFILES[name]
    before = json.dumps(schema)
    fixed = fix_schema(schema, profile)

    assert json.dumps(schema) == before
    again = fix_schema(fixed.schema, profile)
    assert again.schema == fixed.schema
    assert {change.kind for change in again.changes} <= {"failed"}
    is_judged = False
    for source, made in passes(schema, profile):
        if source is not schema and made.schema == source:
            break
        judge = Draft202012Validator(documented(source, made))
        found = outputs(made.schema, seed)
        for output in found:
            value = output
            if any(change.kind == "wrapped" for change in made.changes):
                value = output[WRAPPED]

            assert any(map(judge.is_valid, without_nulls(value))), output
        is_judged = bool(found)
    return is_judged


@given(st.integers(0, 2**32), st.sampled_from(sorted(PROFILES)))
@example(1990660, "anthropic")  # what the first pass moves is united by the second
def test_any_schema(seed: int, name: str) -> None:
    check(random_schema(random.Random(seed)), name, seed)


@given(st.integers(0, 2**32), st.sampled_from(["openai", "anthropic", "gemini"]))
def test_schemas_for_providers(seed: int, name: str) -> None:
    check(whole_wish(random.Random(seed)), name, seed)


@pytest.mark.parametrize(("name", "least"), [("openai", 35), ("anthropic", 35), ("gemini", 60)])
def test_most_wishes_are_met(name: str, least: int) -> None:
    """The rest cannot be: no value is accepted, or a schema refers to itself."""
    profile, met, lively = PROFILES[name], 0, 0
    for seed in range(100):
        schema = whole_wish(random.Random(seed))
        fixed = fix_schema(schema, profile)
        findings = lint_request([("", fixed.schema)], profile)
        met += not any(finding.level == ERROR for finding in findings)
        lively += check(schema, name, seed)

    assert met >= least
    assert lively >= 60


@pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA names no folder with maskbench")
@pytest.mark.parametrize(("name", "least"), [("openai", 85), ("anthropic", 65), ("gemini", 95)])
def test_most_real_schemas_can_be_fixed(name: str, least: int) -> None:
    profile, met = PROFILES[name], 0
    for row in part_of_500(0):
        fixed = fix_schema(row["schema"], profile)
        findings = lint_request([("", fixed.schema)], profile)
        met += not any(finding.level == ERROR for finding in findings)

    assert met >= least


TEXT = {"type": "string"}


def closed(**properties: Any) -> dict[str, Any]:
    members = {"properties": properties, "required": list(properties)}
    return {"type": "object", "additionalProperties": False} | members


NODE = closed(next={"$ref": "#/$defs/N"})
DEFS = {"$defs": {"t": TEXT}}


@pytest.mark.parametrize(
    ("name", "schema", "fixed", "kinds"),
    [
        ("openai", TEXT, closed(value=TEXT), ["wrapped"]),
        ("openai", True, closed(value=True), ["wrapped"]),
        # References lead on to where they led; definitions stay at the root.
        (
            "openai",
            {"type": "array", "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/$defs/t"}]},
             "$defs": {"t": TEXT}},
            closed(
                value={
                    "type": "array",
                    "items": {"anyOf": [{"$ref": "#/properties/value"}, {"$ref": "#/$defs/t"}]},
                }
            )
            | {"$defs": {"t": TEXT}},
            ["wrapped"],
        ),
        # What pydantic makes of a model that refers to itself.
        (
            "openai",
            {"$ref": "#/$defs/N", "$defs": {"N": NODE}},
            NODE | {"$defs": {"N": NODE}},
            [],
        ),
        (
            "openai",
            {"allOf": [{"$ref": "#/$defs/base"}, {"type": "object", "properties": {"b": TEXT}}],
             "required": ["b"], "$defs": {"base": closed(a=TEXT) | {"additionalProperties": True}}},
            {"type": "object", "required": ["a", "b"], "properties": {"a": TEXT, "b": TEXT},
             "additionalProperties": False, "$defs": {"base": closed(a=TEXT)}},
            [],
        ),
        # Closed as they stand, each would refuse what the others name.
        (
            "anthropic",
            {"type": "object", "properties": {"a": TEXT}, "required": ["a"],
             "anyOf": [{"properties": {"b": TEXT}}, {"properties": {"c": TEXT}}]},
            {"anyOf": [{**closed(a=TEXT), "properties": {"a": TEXT, name: TEXT}} for name in "bc"]},
            [],
        ),
        # Null would otherwise do for what the alternatives require.
        (
            "openai",
            closed(
                r={"type": "object", "properties": {"a": TEXT, "b": TEXT},
                   "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
            ),
            closed(
                r={"anyOf": [
                    {"type": "object", "required": ["a", "b"], "additionalProperties": False,
                     "properties": {"a": TEXT, "b": {"type": ["string", "null"]}}},
                    {"type": "object", "required": ["a", "b"], "additionalProperties": False,
                     "properties": {"a": {"type": ["string", "null"]}, "b": TEXT}},
                ]}
            ),
            ["nullable", "nullable"],
        ),
        (
            "openai",
            closed(a={"$ref": "#/$defs/t", "description": "d"}) | DEFS,
            closed(a={"anyOf": [{"$ref": "#/$defs/t"}], "description": "d"}) | DEFS,
            [],
        ),
        (
            "gemini",
            {"items": {"$ref": "#/$defs/t", "enum": ["a"]}, "$defs": {"t": TEXT}},
            {"items": {"type": "string", "enum": ["a"]}, "$defs": {"t": TEXT}},
            [],
        ),
        (
            "anthropic",
            {"type": "string", "pattern": r"\bx"},
            {"type": "string", "description": r'(pattern: "\\bx")'},
            ["dropped"],
        ),
        # Nothing else may become null: somebody else refers to the place.
        (
            "openai",
            {"type": "object", "properties": {"a": TEXT, "b": {"$ref": "#/properties/a"}},
             "required": ["b"]},
            closed(
                a={"anyOf": [TEXT, {"type": "null"}]}, b={"$ref": "#/properties/a/anyOf/0"}
            ),
            ["nullable"],
        ),
    ],
    ids=str,
)  # fmt: skip
def test_fixes(name: str, schema: Any, fixed: Any, kinds: list[str]) -> None:
    profile = PROFILES[name]
    found = fix_schema(schema, profile)

    assert found.schema == fixed
    assert [change.kind for change in found.changes] == kinds
    assert not [f for f in lint_request([("", fixed)], profile) if f.level == ERROR]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"allOf": [{"format": "date"}, {"format": "time"}]}, "two formats"),
        ({"allOf": [{"type": "string"}, {"type": "null"}]},
         "no value is accepted by all its schemas"),
        ({"allOf": [{"anyOf": [TEXT, True]}, {"anyOf": [{}]}]}, "two unions"),
        ({"allOf": [{"$ref": "http://example.org/"}, TEXT]},
         "a reference leads out of the document"),
        ({"allOf": [{"$ref": "#"}, {"type": "array"}]}, "a schema refers to itself"),
        ({"allOf": [TEXT, {"minLength": 2}], "not": {"$ref": "#/allOf/0"}},
         "something refers into it"),
        ({"allOf": [{"unevaluatedProperties": False}, {"required": ["a"]}]},
         "`unevaluatedProperties` depends on what stands beside it"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_merged_says_why(schema: Any, why: str) -> None:
    _, changes = fix_schema(schema, PROFILES["gemini"])

    assert [c.message for c in changes if c.kind == "failed"] == [
        f"`allOf` cannot be merged: {why}"
    ]


NULL, NUMBER = {"type": "null"}, {"type": "number"}
TWICE = [  # Together: no number but null, which is there; `null` must not stand for nothing.
    {"type": "object", "properties": {"a": NULL}, "required": ["a"]},
    {"type": "object", "properties": {"a": NUMBER}},
]


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        (TWICE[0] | {"anyOf": [TWICE[1]]}, {"a": None}),
        # Nested, in elements, in members, by reference, and from other keywords.
        (TWICE[0] | {"anyOf": [{"anyOf": [TWICE[1], TWICE[1]]}]}, {"a": None}),
        ({"type": "array", "items": TWICE[0], "anyOf": [{"items": TWICE[1]}]}, [{"a": None}]),
        ({"type": "array", "items": TWICE[1], "contains": TWICE[0]}, [{"a": None}]),
        ({"patternProperties": {"^b$": TWICE[0]}, "properties": {"b": TWICE[1]}, "type": "object"},
         {"b": {"a": None}}),
        ({"$ref": "#/$defs/x", "anyOf": [{"$ref": "#/$defs/y"}], "minLength": 1}, {"a": None}),
        ({"anyOf": [TWICE[1]], "oneOf": [TWICE[0], TWICE[0] | {"minProperties": 9}]},
         {"a": None}),
        ({"allOf": [{"anyOf": [TWICE[1], TEXT]}, {"anyOf": [TWICE[0], TEXT]}]}, {"a": None}),
        ({"items": TWICE[1], "enum": [[{"a": None}], "a"]}, [{"a": None}]),
        ({"properties": {"b": TWICE[1]}, "type": "object", "required": ["b"],
          "dependentSchemas": {"b": {"properties": {"b": TWICE[0]}}}}, {"b": {"a": None}}),
        # Where the profile does not read.
        ({"type": "object",
          "patternProperties": {"": {"$ref": "#/$defs/y", "enum": [{"a": None}]}}},
         {"b": {"a": None}}),
    ],
    ids=str,
)  # fmt: skip
def test_null_stands_for_nothing_only_where_nobody_else_asks_for_it(
    schema: Any, output: Any
) -> None:
    defs = {"x": TWICE[0], "y": TWICE[1]}
    whole = closed(**{"in": schema}) | {"$defs": defs}
    assert not Draft202012Validator(whole).is_valid({"in": output})

    fixed = fix_schema(whole, PROFILES["openai"])

    assert not Draft202012Validator(fixed.schema).is_valid({"in": output})
    assert [change for change in fixed.changes if change.kind == "failed"]


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_what_is_negated_is_not_closed(name: str) -> None:
    """It would refuse less, and the negation accept more."""
    negated = {"$defs": {"x": {"type": "object", "properties": {"a": {}}}}}
    schema = closed(b={"not": {"$ref": "#/$defs/x"}}) | negated

    fixed = fix_schema(schema, PROFILES[name])

    assert fixed.schema == schema
    assert [(c.pointer, c.kind) for c in fixed.changes] == [("/$defs/x", "failed")]


def chain(links: int) -> dict[str, Any]:
    """Definitions that are each merged with the next: outer ones first, so round by round."""
    defs: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"required": [f"p{n}"]}]}
        for n in reversed(range(links))
    }
    return closed(r={"$ref": "#/$defs/d0"}) | {
        "$defs": {f"d{links}": {"type": "object", "properties": {"a": TEXT}}} | defs
    }


@pytest.mark.parametrize(("links", "is_fixed"), [(2, True), (5, True), (9, False), (60, False)])
def test_fixing_ends_or_leaves_all_as_it_is(
    links: int, is_fixed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At either bound fixing twice is fixing once."""
    monkeypatch.setattr(profile_fix, "_MOST_COPIES", 6)
    monkeypatch.setattr(profile_fix, "_MOST_PASSES", 5)
    schema = chain(links)
    for name in ("openai", "anthropic", "gemini"):
        fixed = fix_schema(schema, PROFILES[name])

        assert fix_schema(fixed.schema, PROFILES[name]).schema == fixed.schema
        assert (fixed.schema == schema) is not is_fixed
        if not is_fixed:
            assert [change.kind for change in fixed.changes] == ["failed"]
            assert "comes to no end" in fixed.changes[0].message
