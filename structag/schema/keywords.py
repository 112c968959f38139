"""The keywords of JSON Schema: the one table that says which are enforced, and how far.

`expand` and `negate` ask it what a keyword speaks of, `report` what became of it, and the tables of
``docs/json-schema.md`` are printed from it.  A keyword that is missing here, or younger than the
schema's own draft, is an annotation.
"""

from __future__ import annotations

from typing import NamedTuple

TYPES = frozenset(("null", "boolean", "number", "integer", "string", "array", "object"))
DRAFTS = {4: "4", 6: "6", 7: "7", 8: "2019-09", 9: "2020-12"}
"""Drafts by number."""


class Keyword(NamedTuple):
    """A keyword that asserts something.

    Attributes:
        speaks_of: ``number``, ``string``, ``array`` or ``object`` = it constrains values of that
            type only; ``any`` = every value; ``schema`` = it combines schemas in place.
        first_draft: the number of the draft in which it appears.
        enforced: what holds of every value that is generated.
        limits: where it is restricted or refused; empty if nowhere.
    """

    speaks_of: str
    first_draft: int
    enforced: str
    limits: str = ""


_ORDER = 'by default in this order; `property_order="any"` lifts that'
_SAME_COUNTS = (
    "over 3 members that have to be there, but may have many names, are left out; so are some"
    " objects with such members beside `minProperties`"
)
_ALTERNATIVES = "under `not`, beside alternatives that evaluate different parts, some are left out"
_DYNAMIC = "refused where the place depends on the way there"

KEYWORDS: dict[str, Keyword] = {
    "type": Keyword(
        "any", 4, "the value has one of the types",
        "integers are spelled without fraction and exponent; `integer_decimals=True` lifts that",
    ),
    "enum": Keyword("any", 4, "the value is one of these", f"members of objects {_ORDER}"),
    "const": Keyword("any", 6, "the value is this one", f"members of an object {_ORDER}"),
    "minimum": Keyword("number", 4, "exact, whatever the number of digits"),
    "maximum": Keyword("number", 4, "exact, whatever the number of digits"),
    "exclusiveMinimum": Keyword("number", 4, "exact; also the boolean of draft 4"),
    "exclusiveMaximum": Keyword("number", 4, "exact; also the boolean of draft 4"),
    "multipleOf": Keyword(
        "number", 4, "exact, as decimals",
        "where factors have too many remainders, the few thousand multiples nearest to zero only",
    ),
    "minLength": Keyword("string", 4, "counted in code points of the decoded text"),
    "maxLength": Keyword("string", 4, "counted in code points of the decoded text"),
    "pattern": Keyword(
        "string", 4, "ECMA-262 in Unicode mode, found somewhere in the decoded text",
        "backreferences are refused",
    ),
    "format": Keyword(
        "string", 4, "see the formats below", 'unknown formats say nothing; formats="annotate"'
        " makes all of them annotations",
    ),
    "prefixItems": Keyword("array", 9, "the first items, one schema each"),
    "items": Keyword("array", 4, "all other items; a list of schemas is read like `prefixItems`"),
    "additionalItems": Keyword("array", 4, "the items behind a list in `items`"),
    "minItems": Keyword("array", 4, "exact"),
    "maxItems": Keyword("array", 4, "exact"),
    "uniqueItems": Keyword(
        "array", 4, "no two items are equal",
        "numbers then have one spelling each, without exponent; refused where arrays or objects"
        " other than constants are possible",
    ),
    "contains": Keyword(
        "array", 6, "some item satisfies the schema",
        "refused beside a second one if counts are large, and beside a tuple or a second one if"
        " there is `uniqueItems`",
    ),
    "minContains": Keyword("array", 8, "counts the items that satisfy `contains`"),
    "maxContains": Keyword("array", 8, "counts the items that satisfy `contains`"),
    "unevaluatedItems": Keyword(
        "schema", 8, "the items that no other keyword evaluates",
        f"{_ALTERNATIVES}; refused there behind a tuple and beside `contains`",
    ),
    "properties": Keyword("object", 4, "the members with these names", f"members come {_ORDER}"),
    "required": Keyword(
        "object", 4, "the members are there, declared or not",
        f"names only required come after `properties`, {_ORDER}",
    ),
    "patternProperties": Keyword(
        "object", 4, "members whose name matches, by every pattern that matches it",
        "many patterns that may match the same names are refused",
    ),
    "additionalProperties": Keyword(
        "object", 4, "members that neither `properties` nor a pattern names",
        f"they come last {_ORDER}",
    ),
    "propertyNames": Keyword("object", 6, "every name"),
    "minProperties": Keyword("object", 4, "exact; equal names count once"),
    "maxProperties": Keyword("object", 4, "exact", "refused with very many names"),
    "dependentRequired": Keyword("schema", 8, "exact"),
    "dependentSchemas": Keyword("schema", 8, "exact"),
    "dependencies": Keyword("schema", 4, "as `dependentRequired` and `dependentSchemas`"),
    "unevaluatedProperties": Keyword(
        "schema", 8, "the members that no other keyword evaluates", _ALTERNATIVES
    ),
    "allOf": Keyword("schema", 4, "all hold at once"),
    "anyOf": Keyword("schema", 4, "at least one holds"),
    "oneOf": Keyword("schema", 4, "exactly one holds"),
    "not": Keyword("schema", 4, "it does not hold", _SAME_COUNTS),
    "if": Keyword("schema", 7, "decides between `then` and `else`"),
    "then": Keyword("schema", 7, "holds where `if` does"),
    "else": Keyword("schema", 7, "holds where `if` does not"),
    "$ref": Keyword("schema", 4, "into any place of the document or the registry, recursion too"),
    "$dynamicRef": Keyword("schema", 9, "as `$ref`", _DYNAMIC),
    "$recursiveRef": Keyword("schema", 8, "as `$ref`", _DYNAMIC),
}  # fmt: skip

ANNOTATIONS = frozenset(
    ("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary",
     "$defs", "definitions", "$comment", "title", "description", "default", "examples",
     "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType",
     "contentSchema")
)  # fmt: skip
"""Keywords of the standard that say nothing of values."""


def _speaking_of(kind: str) -> frozenset[str]:
    return frozenset(name for name, keyword in KEYWORDS.items() if keyword.speaks_of == kind)


NUMBER_KEYWORDS = _speaking_of("number")
STRING_KEYWORDS = _speaking_of("string")
ARRAY_KEYWORDS = _speaking_of("array")
OBJECT_KEYWORDS = _speaking_of("object")
SCHEMA_KEYWORDS = _speaking_of("schema")
FIRST_DRAFT: dict[str, int] = {name: keyword.first_draft for name, keyword in KEYWORDS.items()}


def keyword_table() -> str:
    """Every keyword that asserts something, as a Markdown table."""
    rows = [
        f"| `{name}` | {DRAFTS[keyword.first_draft]} | {keyword.enforced} | {keyword.limits} |"
        for name, keyword in KEYWORDS.items()
    ]
    head = ["| keyword | since draft | what is enforced | limits |", "|:--|:--|:--|:--|"]
    return "\n".join(head + rows) + "\n"


# Where subschemas stand: as the value, in a list of them, by name.
SINGLE_SCHEMAS = (
    "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties", "contentSchema",
)  # fmt: skip
SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
SCHEMA_MAPS = (
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties",
)  # fmt: skip
