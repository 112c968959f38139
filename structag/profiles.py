"""What providers and engines accept of JSON Schema, and what in a schema they would not.

A `Profile` is data, with its source; ``lint_schema`` walks a schema with it.  Providers change what
they accept: a profile says what its source said, and structag itself enforces the whole standard.
`structag.profile_fix` rewrites a schema to what a profile accepts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from structag.schema.keywords import ANNOTATIONS, KEYWORDS

ERROR, WARNING = "error", "warning"
_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
_SCALARS = (str, int, float, bool, type(None))
_IN_SCHEMA = (
    "additionalProperties", "items", "contains", "propertyNames", "not", "if", "then", "else",
    "unevaluatedItems", "unevaluatedProperties", "additionalItems",
)  # fmt: skip
_IN_LIST = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_IN_MAP = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_OTHERS = ("nullable", "discriminator", "propertyOrdering", "example", "xml", "externalDocs")


class Finding(NamedTuple):
    """Something that a profile does not accept.

    Attributes:
        pointer: the JSON Pointer of the keyword, or of the schema where one is missing.
        level: ``error`` = it is refused; ``warning`` = it is not enforced as the standard has it.
        message: what is wrong.
        fix: one way to mend it.
    """

    pointer: str
    level: str
    message: str
    fix: str | None


class Profile(NamedTuple):
    """What one provider or engine accepts.

    Attributes:
        title: its name in messages.
        source: where that is said.
        refused: keyword -> why it is an error.
        ignored: keyword -> why it is a warning.
        formats: the values of ``format``; None: any.
        closed: every object has to say ``"additionalProperties": false``.
        all_required: every property has to be required.
        object_root: the root has to be an object, and no union.
        recursive: a schema may refer to itself.
        scalar_enums: an enum may hold neither objects nor arrays.
        most: names of counts -> limits; see `_counts`.
    """

    title: str
    source: str
    refused: Mapping[str, str]
    ignored: Mapping[str, str] = {}
    formats: tuple[str, ...] | None = None
    closed: bool = False
    all_required: bool = False
    object_root: bool = False
    recursive: bool = True
    scalar_enums: bool = False
    most: Mapping[str, int] = {}


def _all(names: str, reason: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


PROFILES = {
    "openai": Profile(
        "OpenAI's strict mode",
        # Structured model outputs, "Supported schemas": types, properties of each type, that all
        # fields are required and objects closed, limits of size, composition that is not there.
        "https://developers.openai.com/api/docs/guides/structured-outputs",
        _all(
            "allOf oneOf not if then else dependentRequired dependentSchemas dependencies",
            "composition other than `anyOf` is not supported",
        ),
        _all(
            "minLength maxLength patternProperties propertyNames minProperties maxProperties "
            "unevaluatedProperties unevaluatedItems prefixItems contains minContains maxContains "
            "uniqueItems additionalItems",
            "it is not among the supported keywords",
        ),
        _FORMATS,
        closed=True,
        all_required=True,
        object_root=True,
        most={"properties": 5000, "levels": 10, "characters": 120_000, "enum values": 1000},
    ),
    "anthropic": Profile(
        "Anthropic's structured outputs",
        # "JSON Schema limitations": constraints on numbers, texts and arrays are not there,
        # objects have to be closed, no recursion, enums of scalars; "Schema complexity limits".
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
        _all(
            "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
            "constraints on numbers are not supported",
        )
        | _all("minLength maxLength", "constraints on lengths are not supported")
        | _all(
            "maxItems uniqueItems contains minContains maxContains prefixItems",
            "constraints on arrays other than `minItems` of 0 or 1 are not supported",
        )
        | _all(
            "oneOf not if then else dependentRequired dependentSchemas dependencies "
            "patternProperties propertyNames minProperties maxProperties unevaluatedProperties "
            "unevaluatedItems additionalItems $dynamicRef",
            "it is not among the supported keywords",
        ),
        formats=(*_FORMATS, "uri"),
        closed=True,
        recursive=False,
        scalar_enums=True,
        most={"optional properties": 24, "unions": 16},
    ),
    "gemini": Profile(
        "Gemini's response schemas",
        # GenerationConfig.responseJsonSchema: the fields that are read; others are ignored,
        # `oneOf` is read as `anyOf`, formats of strings are date-time, date and time.
        "https://ai.google.dev/api/generate-content#generationconfig",
        {},
        _all(
            "const pattern minLength maxLength exclusiveMinimum exclusiveMaximum multipleOf "
            "uniqueItems contains minContains maxContains allOf not if then else "
            "patternProperties propertyNames minProperties maxProperties unevaluatedProperties "
            "unevaluatedItems additionalItems dependentRequired dependentSchemas dependencies "
            "$dynamicRef",
            "it is ignored",
        )
        | {"oneOf": "it is read as `anyOf`"},
        ("date-time", "date", "time"),
    ),
    "xgrammar": Profile(
        "xgrammar 0.2.9",
        # What it accepts without enforcing it, or refuses, as measured with its 0.2.9 and one
        # schema for each keyword; the first four also after vLLM's check before compiling.
        "https://github.com/mlc-ai/xgrammar",
        {"additionalItems": "a list in `items` is refused"},
        _all(
            "uniqueItems contains minContains maxContains not if then else dependentRequired "
            "dependentSchemas dependencies $anchor $id $dynamicRef",
            "it is accepted, but not enforced",
        )
        | {
            "multipleOf": "it is enforced for integers only",
            "oneOf": "it is read as `anyOf`",
            "allOf": "of several schemas not all are enforced",
            "pattern": "it has to match the whole text, and lengths beside it are dropped",
            "patternProperties": "some texts that match are refused",
            "unevaluatedProperties": "some texts that match are refused",
        },
        (*_FORMATS, "uri", "uri-reference", "uri-template", "json-pointer",
         "relative-json-pointer"),
    ),
    "llguidance": Profile(
        "llguidance 1.9.1",
        # docs/json_schema.md of its repository lists what it takes; everything else is refused.
        "https://github.com/guidance-ai/llguidance/blob/main/docs/json_schema.md",
        _all(
            "propertyNames dependentRequired dependentSchemas dependencies unevaluatedProperties "
            "unevaluatedItems uniqueItems contains minContains maxContains not if then else "
            "$dynamicRef",
            "it is refused",
        ),
        {
            "oneOf": "it is refused where branches may overlap",
            "allOf": "some intersections are refused",
            "minProperties": "it is refused beside optional properties",
        },
        (*_FORMATS, "uri"),
    ),
}  # fmt: skip
"""By the names that ``--profile`` takes."""


ASSERTING = frozenset(KEYWORDS)
"""The keywords that say something of values."""


def subschemas(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema that is an object, with its pointer; outer ones first."""
    pending = [(pointer, schema)]
    while pending:
        place, value = pending.pop()
        if not isinstance(value, dict):
            continue
        yield place, value
        inner: list[tuple[str, Any]] = []
        for key, part in value.items():
            here = f"{place}/{escaped(key)}"
            if key in _IN_LIST and isinstance(part, list):
                inner += [(f"{here}/{index}", item) for index, item in enumerate(part)]
            elif key in _IN_MAP and isinstance(part, dict):
                inner += [(f"{here}/{escaped(name)}", item) for name, item in part.items()]
            elif key in _IN_SCHEMA:
                inner.append((here, part))
        pending += reversed(inner)


def escaped(key: str) -> str:
    """A key as a step of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def lint_schema(schema: Any, profile: Profile, pointer: str = "") -> list[Finding]:
    """What `profile` does not accept of a schema; `pointer` is put before its pointers."""
    findings: list[Finding] = []
    if profile.object_root and not (isinstance(schema, dict) and schema.get("type") == "object"):
        message = "the root is not of type `object`"
        findings.append(Finding(pointer, ERROR, message, "put it into an object, as a property"))
    if profile.object_root and isinstance(schema, dict) and "anyOf" in schema:
        message = "the root is a union"
        findings.append(Finding(f"{pointer}/anyOf", ERROR, message, "put it into a property"))
    for place, value in subschemas(schema, pointer):
        findings += _lint(profile, place, value)
    if not profile.recursive:
        for place in recursive_references(schema):
            message = "the schema refers to itself"
            findings.append(Finding(pointer + place, ERROR, message, "unroll it to some depth"))
    for name, count in _counts(schema).items():
        most = profile.most.get(name)
        if most is not None and count > most:
            message = f"{count:,} {name}, and {most:,} at most are accepted"
            findings.append(Finding(pointer, ERROR, message, "split the schema"))
    return findings


def lint_slips(schema: Any, pointer: str = "") -> list[Finding]:
    """Keywords that are none, but nearly: probably a slip, since they say nothing."""
    findings = []
    names = [*KEYWORDS, *ANNOTATIONS]
    for place, value in subschemas(schema, pointer):
        for key in value:
            if key in KEYWORDS or key in ANNOTATIONS or key in _OTHERS or key.startswith("x-"):
                continue
            close = get_close_matches(key, names, 1, 0.8)
            if close:
                message = f"`{key}` is no keyword, and says nothing"
                fix = f"did you mean `{close[0]}`?"
                findings.append(Finding(f"{place}/{escaped(key)}", WARNING, message, fix))
    return findings


def _lint(profile: Profile, place: str, schema: dict[str, Any]) -> Iterator[Finding]:
    for key, value in schema.items():
        here = f"{place}/{escaped(key)}"
        if key in profile.refused:
            yield Finding(here, ERROR, f"`{key}`: {profile.refused[key]}", _instead_of(key))
        elif key in profile.ignored:
            yield Finding(here, WARNING, f"`{key}`: {profile.ignored[key]}", _instead_of(key))
        elif key == "format" and profile.formats is not None and value not in profile.formats:
            known = ", ".join(profile.formats)
            yield Finding(here, WARNING, f"the format `{value}` is not known", f"one of {known}")
        elif key == "enum" and profile.scalar_enums and isinstance(value, list):
            if not all(isinstance(item, _SCALARS) for item in value):
                yield Finding(here, ERROR, "an enum holds an object or an array", "use `anyOf`")
        elif key == "minItems" and "maxItems" in profile.refused and value not in (0, 1):
            yield Finding(here, ERROR, "`minItems` may only be 0 or 1", "leave it out")
        elif key == "$ref" and isinstance(value, str) and not value.startswith("#"):
            yield Finding(here, ERROR, "a reference out of the document", "copy it into `$defs`")
        elif key == "allOf" and "maxItems" in profile.refused and _has_reference(value):
            yield Finding(here, ERROR, "`allOf` with a `$ref`", "merge the schemas")
    if is_object(schema):
        yield from _lint_object(profile, place, schema)


def _instead_of(keyword: str) -> str:
    if keyword == "oneOf":
        return "write `anyOf`"
    if keyword == "const":
        return "write an `enum` of one value"
    return "say it in the description, and check it afterwards"


def _lint_object(profile: Profile, place: str, schema: dict[str, Any]) -> Iterator[Finding]:
    if profile.closed and schema.get("additionalProperties") is not False:
        message = "an object is not closed"
        yield Finding(place, ERROR, message, 'add `"additionalProperties": false`')
    if profile.all_required:
        for name in optional_properties(schema):
            here = f"{place}/properties/{escaped(name)}"
            fix = f"add `{name}` to `required`, and allow null"
            yield Finding(here, ERROR, f"the property `{name}` is not required", fix)


def is_object(schema: dict[str, Any]) -> bool:
    """Whether a schema says what an object looks like."""
    kind = schema.get("type")
    return (
        kind == "object"
        or (isinstance(kind, list) and "object" in kind)
        or (kind is None and "properties" in schema)
    )


def optional_properties(schema: dict[str, Any]) -> list[str]:
    """The properties that may be left out."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return []
    names = required if isinstance(required, list) else []
    return [name for name in properties if name not in names]


def recursive_references(schema: Any) -> list[str]:
    """Pointers of the `$ref`s into the document that lead back to a schema around them."""
    places = dict(subschemas(schema))
    inside: dict[str, list[str]] = {}  # place of a reference -> the schemas around it
    targets: dict[str, str] = {}
    for place, value in places.items():
        target = value.get("$ref")
        if isinstance(target, str) and target.startswith("#") and target[1:] in places:
            targets[place] = target[1:]
            steps = place.split("/")
            around = ("/".join(steps[: size + 1]) for size in range(len(steps)))
            inside[place] = [p for p in around if p in places]
    found = []
    for place, target in targets.items():
        seen, pending = {target}, [target]
        while pending:
            at = pending.pop()
            for other, following in targets.items():
                if at in inside[other] and following not in seen:
                    seen.add(following)
                    pending.append(following)
        if seen.intersection(inside[place]):
            found.append(f"{place}/$ref")
    return found


def _has_reference(value: Any) -> bool:
    return any("$ref" in part for _, part in subschemas({"allOf": value}))


def _counts(schema: Any) -> dict[str, int]:
    """How much of what is in a schema."""
    places = dict(subschemas(schema))
    objects = [value for value in places.values() if is_object(value)]
    enums = [value["enum"] for value in places.values() if isinstance(value.get("enum"), list)]
    names: list[str] = [name for value in objects for name in _keys(value.get("properties"))]
    definitions = [key for v in places.values() for key in _keys(v.get("$defs"))]
    values = [item for enum in enums for item in enum]
    values += [value["const"] for value in places.values() if "const" in value]
    unions = [v for v in places.values() if isinstance(v.get("type"), list) or "anyOf" in v]
    depths = [place.count("/properties/") for place, v in places.items() if is_object(v)]
    return {
        "properties": len(names),
        "optional properties": sum(len(optional_properties(value)) for value in objects),
        "unions": len(unions),
        "levels": 1 + max(depths, default=0),
        "enum values": sum(map(len, enums)),
        "characters": _length([*names, *definitions, *values]),
    }


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _length(values: Iterable[Any]) -> int:
    return sum(len(v if isinstance(v, str) else json.dumps(v, default=str)) for v in values)
