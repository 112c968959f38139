"""Values that the standard does not allow are refused, whether they say something or not.

The oracles are the standard's own meta-schemas.
"""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import validators

structag = pytest.importorskip("structag")

from structag.schema.keywords import ANNOTATIONS, KEYWORDS  # noqa: E402
from structag.schema.shapes import _SHAPES  # noqa: E402

DRAFTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    8: "https://json-schema.org/draft/2019-09/schema",
    9: "https://json-schema.org/draft/2020-12/schema",
}
VALUES: list[Any] = [
    None, True, 5, -1, 1.5, 2.0, "x", [], {}, [1], [None], ["a"], [{}], {"a": 1}, {"a": None},
    {"a": True}, {"a": {}}, {"a": ["b"]},
]  # fmt: skip
COMPILER = structag.Compiler(structag.Vocabulary.byte_level())

ALSO_REFUSED = {
    "prefixItems", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$ref",
    "dependencies", "definitions", "dependentSchemas",
    "additionalItems",  # in 2020-12 too, where it is read behind a list in `items`
    "writeOnly",  # of draft 7, whose meta-schema forgets it
}  # fmt: skip


def is_lenient(keyword: str, value: Any, draft: int) -> bool:
    """Whether a value is taken by its plain meaning although a draft does not allow it."""
    if keyword in ("exclusiveMinimum", "exclusiveMaximum"):
        return True  # a boolean as in draft 4, or a number as since then
    if draft == 4 and value in (True, 2.0, {"a": True}):
        return True  # schemas that are booleans, and integers spelled so
    if draft == 9 and (keyword == "$recursiveAnchor" or (keyword == "items" and value == [{}])):
        return True  # as in 2019-09
    return value == [] and keyword in ("items", "prefixItems", "required", "enum")


def outcome(schema: dict[str, Any]) -> tuple[str, str]:
    """The code of the error and its pointer; empty if there is none."""
    try:
        COMPILER.compile_json_schema(schema)
    except structag.StructagError as error:
        return error.code, error.pointer
    return "", ""


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("keyword", sorted({*KEYWORDS, *_SHAPES} - {"$schema"}))
def test_values_are_what_the_meta_schema_says(keyword: str, draft: int) -> None:
    head = {"$schema": DRAFTS[draft]}
    validator = validators.validator_for(head)
    meta = validator(validator.META_SCHEMA)
    for value in VALUES:
        if keyword == "$recursiveRef" and value == "x":
            continue
        for beside in ({}, {"type": "string"}, {"type": "object", "title": "t"}):
            schema = {**head, **beside, keyword: value}
            code, pointer = outcome(schema)
            is_right = meta.is_valid(schema)
            assert code != "schema-value" or not is_right or keyword in ALSO_REFUSED, schema
            if not is_right and not is_lenient(keyword, value, draft):
                assert code == "schema-value", schema
                assert pointer.startswith(f"/{keyword}")


def test_every_annotation_has_a_shape() -> None:
    assert {*_SHAPES} - {*KEYWORDS} == {*ANNOTATIONS} - {"default"}


@pytest.mark.parametrize("key", [b"type", 1, None, ("type",)])
@pytest.mark.parametrize(
    ("around", "pointer"),
    [
        (lambda schema: schema, ""),
        (lambda schema: {"properties": {"a": schema}}, "/properties/a"),
        (lambda schema: {"not": schema}, "/not"),
        (lambda schema: {"type": "array", "items": {"type": "string", **schema}}, "/items"),
    ],
    ids=["root", "property", "negated", "beside_others"],
)
def test_a_keyword_that_is_no_string_is_not_dropped(key: Any, around: Any, pointer: str) -> None:
    assert outcome(around({key: "string"})) == ("schema-value", pointer)
