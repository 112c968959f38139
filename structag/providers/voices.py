"""Whether more than one part of a JSON Schema speaks of the inside of the same value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structag.providers.subschemas import subschemas

_MEMBERS = ("properties", "required", "additionalProperties", "unevaluatedProperties")
_ELEMENTS = ("items", "prefixItems", "additionalItems", "unevaluatedItems")
_INSIDE = (*_MEMBERS, *_ELEMENTS, "patternProperties", "contains")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_UNIONS = ("anyOf", "oneOf")
_BRANCHES = ("not", "if", "then", "else")
_DEPENDENT = ("dependentSchemas", "dependencies")


def has_several_voices(schema: Mapping[str, Any]) -> bool:
    """Whether the inside of one value has to meet two parts of `schema`, each with its own say.

    Schemas of scalars have no say.  Where a reference leads is not looked at: it has one.
    """
    # Members, and elements, are shared out among keywords, but for patterns and `contains`.
    voices = int(any(key in schema for key in _INSIDE))
    patterns = len(_listed(schema.get("patternProperties")))
    voices += patterns > ("properties" not in schema)
    voices += "contains" in schema and any(key in schema for key in _ELEMENTS)
    voices += sum(key in schema for key in _REFERENCES)
    voices += any(_is_container(value) for value in _values(schema))
    voices += sum(speaks(schema[key]) for key in (*_UNIONS, *_BRANCHES) if key in schema)
    voices += sum(map(speaks, _listed(schema.get("allOf"))))
    voices += sum(speaks(_listed(schema.get(key))) for key in _DEPENDENT)
    return voices > 1


def speaks(schemas: Any) -> bool:
    """Whether a schema, or one of some, says anything about the inside of a value."""
    for one in schemas if isinstance(schemas, list) else [schemas]:
        for _, value in subschemas(one):
            if any(key in value for key in (*_INSIDE, *_REFERENCES, *_DEPENDENT)):
                return True
            if any(map(_is_container, _values(value))):
                return True
    return False


def _values(schema: Mapping[str, Any]) -> list[Any]:
    """What a schema lists as the values that it accepts."""
    return [*_listed(schema.get("enum")), schema.get("const")]


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.values()]
    return value if isinstance(value, list) else []
