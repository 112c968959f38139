"""The keywords of JSON Schema that assert something, with the draft in which each first appears.

A keyword that is missing here, or younger than the schema's own draft, is an annotation.
"""

from __future__ import annotations

TYPES = frozenset(("null", "boolean", "number", "integer", "string", "array", "object"))
NUMBER_KEYWORDS = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
)
STRING_KEYWORDS = frozenset(("minLength", "maxLength", "pattern", "format"))
ARRAY_KEYWORDS = frozenset(
    ("items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems",
     "contains")
)  # fmt: skip
OBJECT_KEYWORDS = frozenset(
    ("properties", "required", "additionalProperties", "patternProperties", "propertyNames",
     "minProperties", "maxProperties")
)  # fmt: skip

FIRST_DRAFT: dict[str, int] = {
    **dict.fromkeys(("type", "enum", "$ref", "allOf", "anyOf", "oneOf", "not", "dependencies"), 4),
    **dict.fromkeys(NUMBER_KEYWORDS | STRING_KEYWORDS | ARRAY_KEYWORDS | OBJECT_KEYWORDS, 4),
    **dict.fromkeys(("const", "contains", "propertyNames"), 6),
    **dict.fromkeys(("if", "then", "else"), 7),
    **dict.fromkeys(
        ("dependentRequired", "dependentSchemas", "minContains", "maxContains",
         "unevaluatedItems", "unevaluatedProperties", "$recursiveRef"), 8
    ),
    **dict.fromkeys(("prefixItems", "$dynamicRef"), 9),
}  # fmt: skip
"""Drafts by number: 4, 6, 7, 8 = 2019-09, 9 = 2020-12."""
