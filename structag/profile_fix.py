"""Rewrites a JSON Schema to what a profile accepts.

Objects are closed and their properties required, where the profile wants that; what was optional
may then be null.  Constraints that it does not know go into the description, where a model can read
them: what is left of the schema allows more, and whoever relies on them has to check.  What cannot
be said otherwise stays, and ``lint_schema`` still finds it.
"""

from __future__ import annotations

import json
from typing import Any

from structag.profiles import Profile, is_object, optional_properties, subschemas

_STRUCTURE = frozenset(
    ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "items", "prefixItems", "contains",
     "patternProperties", "propertyNames", "dependentSchemas", "dependencies", "$dynamicRef",
     "$id", "$anchor", "unevaluatedProperties", "unevaluatedItems", "additionalItems")
)  # fmt: skip
"""Keywords that no sentence in a description can stand for."""


def fix_schema(schema: Any, profile: Profile) -> Any:
    """A copy of `schema` in the strict form of `profile`."""
    fixed = json.loads(json.dumps(schema, default=float))
    for _, value in list(subschemas(fixed)):
        _unite(value, profile)
        _drop(value, profile)
    for _, value in list(subschemas(fixed)):
        while _merge_single(value, profile):
            pass
    for _, value in list(subschemas(fixed)):
        if is_object(value):
            _close(value, profile)
    return fixed


def _accepts(profile: Profile, keyword: str) -> bool:
    return keyword not in profile.refused and keyword not in profile.ignored


def _unite(schema: dict[str, Any], profile: Profile) -> None:
    """Exactly one → at least one, one value → one of one value."""
    if "oneOf" in schema and not _accepts(profile, "oneOf") and "anyOf" not in schema:
        schema["anyOf"] = schema.pop("oneOf")
    if "const" in schema and not _accepts(profile, "const") and "enum" not in schema:
        schema["enum"] = [schema.pop("const")]


def _merge_single(schema: dict[str, Any], profile: Profile) -> bool:
    """Take the schema out of an `allOf` of one, as some generators write it around a reference."""
    parts = schema.get("allOf")
    if _accepts(profile, "allOf") or not isinstance(parts, list) or len(parts) != 1:
        return False
    part, others = parts[0], schema.keys() - {"allOf"}
    if not isinstance(part, dict) or (part.keys() & others) - {"description", "title"}:
        return False
    del schema["allOf"]
    said = schema.get("description"), part.get("description")
    schema.update({key: value for key, value in part.items() if key not in schema})
    if all(isinstance(text, str) and text for text in said) and said[0] != said[1]:
        schema["description"] = f"{said[0]} {said[1]}"
    return True


def _drop(schema: dict[str, Any], profile: Profile) -> None:
    notes = []
    for key in list(schema):
        value = schema[key]
        is_known = _accepts(profile, key)
        if key == "format" and profile.formats is not None:
            is_known = is_known and value in profile.formats
        elif key == "minItems" and not _accepts(profile, "maxItems"):
            is_known = value in (0, 1)
        if not is_known and key not in _STRUCTURE:
            notes.append(f"{key}: {json.dumps(schema.pop(key), ensure_ascii=False)}")
    if notes:
        said = schema.get("description")
        text = f"({', '.join(notes)})"
        schema["description"] = f"{said} {text}" if isinstance(said, str) and said else text


def _close(schema: dict[str, Any], profile: Profile) -> None:
    if profile.closed:
        schema["additionalProperties"] = False
    if profile.all_required and isinstance(schema.get("properties"), dict):
        for name in optional_properties(schema):
            schema["properties"][name] = _nullable(schema["properties"][name])
        schema["required"] = list(schema["properties"])


def _nullable(schema: Any) -> Any:
    """`schema`, or null."""
    if not isinstance(schema, dict) or not schema:
        return schema
    kind = schema.get("type")
    if isinstance(kind, str | list) and "const" not in schema and "$ref" not in schema:
        kinds = [kind] if isinstance(kind, str) else kind
        if "null" not in kinds:
            schema["type"] = [*kinds, "null"]
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return schema
    if isinstance(schema.get("anyOf"), list) and schema.keys() <= {"anyOf", "description", "title"}:
        if {"type": "null"} not in schema["anyOf"]:
            schema["anyOf"].append({"type": "null"})
        return schema
    return {"anyOf": [schema, {"type": "null"}]}
