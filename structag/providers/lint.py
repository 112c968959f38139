"""What in a schema a profile does not accept, and keywords that are none, but nearly.

Counts that profiles limit: ``properties`` and ``optional properties`` of all objects, ``unions``
(`anyOf` and lists of types), ``levels`` of objects in objects as they are written (references are
not followed), ``enum values``, and ``characters`` of names, definitions, enums and constants.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from structag.pointer import escaped
from structag.providers.known import ERROR, WARNING, Profile
from structag.providers.patterns import pattern_features
from structag.providers.subschemas import (
    around,
    is_object,
    optional_properties,
    recursive_references,
    subschemas,
    target_place,
)
from structag.schema.keywords import ANNOTATIONS, KEYWORDS

ASSERTING = frozenset(KEYWORDS)
"""The keywords that say something of values."""
_OTHERS = ("nullable", "discriminator", "propertyOrdering", "example", "xml", "externalDocs")
_ROOMY = "split the schema"


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


def lint_schema(schema: Any, profile: Profile, pointer: str = "") -> list[Finding]:
    """What `profile` does not accept of a schema; `pointer` is put before its pointers."""
    findings: list[Finding] = []
    if profile.object_root and not (isinstance(schema, dict) and schema.get("type") == "object"):
        message = "the root is not of type `object`"
        findings.append(Finding(pointer, ERROR, message, "put it into an object, as a property"))
    if profile.object_root and isinstance(schema, dict) and "anyOf" in schema:
        message = "the root is a union"
        findings.append(Finding(f"{pointer}/anyOf", ERROR, message, "put it into a property"))
    for place, value in subschemas(schema):
        findings += _lint(profile, pointer + place, value)
        findings += _lint_reference(profile, pointer + place, value, schema)
    findings += _lint_recursion(profile, pointer, schema)
    return findings + _exceeded(_counts(schema), profile.most, pointer)


def lint_request(
    schemas: Sequence[tuple[str, Any]], profile: Profile, tools: int = 0
) -> list[Finding]:
    """What `profile` does not accept of all schemas of a request together.

    Args:
        schemas: with their pointers, which stand before those of the findings.
        tools: for how many tools they are.
    """
    findings = [found for at, schema in schemas for found in lint_schema(schema, profile, at)]
    counts: Counter[str] = Counter()
    for _, schema in schemas:
        counts.update(_counts(schema))
    place = schemas[0][0] if len(schemas) == 1 else ""
    findings += _exceeded(counts, profile.most_together, place)
    if profile.most_tools is not None:
        limits = {"tools with a schema": profile.most_tools}
        findings += _exceeded({"tools with a schema": tools}, limits, "", "leave some out")
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


def accepts(profile: Profile, keyword: str, value: Any) -> bool:
    """Whether a profile enforces `keyword`, with this value, as the standard has it."""
    return not list(_lint_keyword(profile, "", keyword, value))


def beside_reference(profile: Profile, schema: Mapping[str, Any]) -> list[str]:
    """The keywords that may not stand beside the `$ref` of a schema."""
    if "$ref" not in schema or not profile.references:
        return []
    if profile.references == "any":
        return [key for key in schema if not key.startswith("$")]
    return [key for key in schema if key in ASSERTING and key != "$ref"]


def _lint(profile: Profile, place: str, schema: dict[str, Any]) -> Iterator[Finding]:
    for key, value in schema.items():
        yield from _lint_keyword(profile, f"{place}/{escaped(key)}", key, value)
    if is_object(schema):
        yield from _lint_object(profile, place, schema)


def _lint_keyword(profile: Profile, here: str, key: str, value: Any) -> Iterator[Finding]:
    if key in profile.refused:
        yield Finding(here, ERROR, f"`{key}`: {profile.refused[key]}", _instead_of(key))
    elif key in profile.ignored:
        yield Finding(here, WARNING, f"`{key}`: {profile.ignored[key]}", _instead_of(key))
    elif key == "format" and profile.formats is not None and value not in profile.formats:
        known = ", ".join(profile.formats)
        yield Finding(here, WARNING, f"the format `{value}` is not known", f"one of {known}")
    elif key == "enum" and isinstance(value, list):
        yield from _lint_enum(profile, here, value)
    elif key == "minItems" and profile.least_items is not None and value not in profile.least_items:
        few = " or ".join(map(str, profile.least_items))
        yield Finding(here, ERROR, f"`minItems` may only be {few}", "leave it out")
    elif key == "allOf" and profile.merged and _has_reference(value):
        yield Finding(here, ERROR, "`allOf` with a `$ref`", "merge the schemas")
    if key == "pattern" and isinstance(value, str) and key not in profile.refused:
        for feature in pattern_features(value):
            if feature in profile.patterns:
                level, why = profile.patterns[feature]
                yield Finding(here, level, f"{feature} in a pattern: {why}", _instead_of(key))


def _instead_of(keyword: str) -> str:
    if keyword == "oneOf":
        return "write `anyOf`"
    if keyword == "const":
        return "write an `enum` of one value"
    return "say it in the description, and check it afterwards"


def _lint_enum(profile: Profile, here: str, values: list[Any]) -> Iterator[Finding]:
    if profile.enums is not None:
        known, level = profile.enums
        others = sorted({_type_name(value) for value in values} - {*known})
        if others:
            message = f"an enum with a value of type {' and '.join(others)}"
            yield Finding(here, level, message, "use `anyOf`")
    if profile.long_enum is not None:
        count, most = profile.long_enum
        texts = [value for value in values if isinstance(value, str)]
        length = sum(map(len, texts))
        if len(texts) > count and length > most:
            message = f"an enum of {len(texts):,} strings has {length:,} characters; from {count:,}"
            yield Finding(here, ERROR, f"{message} strings on it may have {most:,}", _ROOMY)


def _type_name(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"


def _lint_object(profile: Profile, place: str, schema: dict[str, Any]) -> Iterator[Finding]:
    if profile.closed and schema.get("additionalProperties") is not False:
        message = "an object is not closed"
        yield Finding(place, ERROR, message, 'add `"additionalProperties": false`')
    if profile.all_required:
        for name in optional_properties(schema):
            here = f"{place}/properties/{escaped(name)}"
            fix = f"add `{name}` to `required`, and allow null"
            yield Finding(here, ERROR, f"the property `{name}` is not required", fix)


def _lint_reference(
    profile: Profile, place: str, value: dict[str, Any], schema: Any
) -> Iterator[Finding]:
    if "$ref" not in value:
        return
    if isinstance(value["$ref"], str) and target_place(value["$ref"], schema) is None:
        message = "a reference out of the document"
        yield Finding(f"{place}/$ref", ERROR, message, "copy it into `$defs`")
    others = beside_reference(profile, value)
    if others:
        names = ", ".join(f"`{name}`" for name in others)
        level = ERROR if profile.references == "any" else WARNING
        what = "may not stand" if level == ERROR else "is not enforced"
        message = f"{names} {what} beside `$ref`"
        yield Finding(f"{place}/$ref", level, message, "put the `$ref` into an `anyOf` of one")


def _lint_recursion(profile: Profile, pointer: str, schema: Any) -> Iterator[Finding]:
    if profile.recursive == "anywhere":
        return
    but_optional = profile.recursive == "optional"
    message = "the schema refers to itself"
    fix = "unroll it to some depth"
    if but_optional:
        message += ", and not through a property that may be left out"
        fix = "let the property be left out"
    for place in recursive_references(schema, but_optional=but_optional):
        yield Finding(pointer + place, ERROR, message, fix)


def _has_reference(value: Any) -> bool:
    return any("$ref" in part for _, part in subschemas({"allOf": value}))


def _exceeded(
    counts: Mapping[str, int], limits: Mapping[str, int], pointer: str, fix: str = _ROOMY
) -> list[Finding]:
    return [
        Finding(pointer, ERROR, f"{counts[name]:,} {name}, and {most:,} at most are accepted", fix)
        for name, most in limits.items()
        if counts.get(name, 0) > most
    ]


def _counts(schema: Any) -> dict[str, int]:
    """How much of what is in a schema."""
    places = dict(subschemas(schema))
    objects = {place: value for place, value in places.items() if is_object(value)}
    enums = [value["enum"] for value in places.values() if isinstance(value.get("enum"), list)]
    names = [name for value in objects.values() for name in _keys(value.get("properties"))]
    values = [item for enum in enums for item in enum]
    values += [value["const"] for value in places.values() if "const" in value]
    unions = [v for v in places.values() if isinstance(v.get("type"), list) or "anyOf" in v]
    definitions = [
        key
        for v in places.values()
        for word in ("$defs", "definitions")
        for key in _keys(v.get(word))
    ]
    return {
        "properties": len(names),
        "optional properties": sum(len(optional_properties(value)) for value in objects.values()),
        "unions": len(unions),
        "levels": max((len(around(place, objects)) for place in objects), default=0),
        "enum values": sum(map(len, enums)),
        "characters": _length([*names, *definitions, *values]),
    }


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _length(values: Iterable[Any]) -> int:
    return sum(len(v if isinstance(v, str) else json.dumps(v, default=str)) for v in values)
