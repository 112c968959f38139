"""What the values of keywords have to be that nothing reads: by the standard's own meta-schemas.

Keywords that are read are checked by whoever reads them.  Annotations, identifiers, definitions and
what needs another keyword (`then` without `if`) are checked here, in every schema that takes part:
a slip in them is an error like any other, and never ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from structag.errors import SchemaError
from structag.schema.document import Node, wrong_value
from structag.schema.keywords import DRAFTS
from structag.schema.values import count_of, schema_map_of, schema_of, text_of


class Shape(NamedTuple):
    """What a value may be: a quick answer, and a reader that says what is wrong."""

    fits: Callable[[Any], bool]
    read: Callable[[Node, str], object]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return value is True or value is False


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_schema(value: Any) -> bool:
    return type(value) is dict or value is True or value is False


def _are_schemas(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


def _are_flags(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_flag, value.values()))


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_uri(value: Any) -> bool:
    return isinstance(value, str) and _SCHEME.match(value) is not None


def _has_to_be(expected: str, fits: Callable[[Any], bool]) -> Shape:
    def read(node: Node, keyword: str) -> None:
        if not fits(node.value[keyword]):
            raise wrong_value(node, keyword, expected)

    return Shape(fits, read)


_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_TEXT = Shape(_is_text, text_of)
_FLAG = _has_to_be("a boolean", _is_flag)
_LIST = _has_to_be("an array", _is_list)
_SCHEMA = Shape(_is_schema, schema_of)
_SCHEMAS = Shape(_are_schemas, schema_map_of)
_COUNT = Shape(_is_count, count_of)

_SHAPES: dict[str, tuple[Shape, int, int]] = {
    "$schema": (_has_to_be("the URI of a meta-schema", _is_uri), 4, 9),
    "id": (_TEXT, 4, 4),
    "$id": (_TEXT, 6, 9),
    "$anchor": (_TEXT, 8, 9),
    "$dynamicAnchor": (_TEXT, 9, 9),
    "$recursiveAnchor": (_FLAG, 8, 8),
    "$vocabulary": (_has_to_be("an object of booleans", _are_flags), 8, 9),
    "$defs": (_SCHEMAS, 8, 9),
    "definitions": (_SCHEMAS, 4, 9),
    "additionalItems": (_SCHEMA, 4, 9),
    "minContains": (_COUNT, 8, 9),
    "maxContains": (_COUNT, 8, 9),
    "then": (_SCHEMA, 7, 9),
    "else": (_SCHEMA, 7, 9),
    "contentSchema": (_SCHEMA, 8, 9),
    "contentEncoding": (_TEXT, 7, 9),
    "contentMediaType": (_TEXT, 7, 9),
    "title": (_TEXT, 4, 9),
    "description": (_TEXT, 4, 9),
    "$comment": (_TEXT, 7, 9),
    "examples": (_LIST, 6, 9),
    "readOnly": (_FLAG, 7, 9),
    "writeOnly": (_FLAG, 7, 9),
    "deprecated": (_FLAG, 8, 9),
}
"""Keyword -> its shape, and the first and the last draft that says so."""

_OF_DRAFT = {
    draft: {name: shape for name, (shape, first, last) in _SHAPES.items() if first <= draft <= last}
    for draft in DRAFTS
}


def quick_tests(draft: int) -> dict[str, type | Callable[[Any], bool]]:
    """What the values of keywords that assert nothing have to be: of a type, or what passes."""
    types = {_TEXT: str, _FLAG: bool, _LIST: list}
    return {name: types.get(shape, shape.fits) for name, shape in _OF_DRAFT[draft].items()}


def check_shapes(node: Node) -> None:
    """Refuses what is not what the standard says, and what is no JSON, in the object at `node`.

    Raises:
        SchemaError: `schema-value`.
    """
    schema, draft = node.value, node.resource.draft
    for keyword in schema:
        if not isinstance(keyword, str):
            raise SchemaError(
                f"a keyword is `{repr(keyword)[:60]}`",
                code="schema-value",
                pointer=node.pointer,
                expected="keywords that are strings",
            )
    if draft < 8 and isinstance(schema.get("$ref"), str):
        return  # beside it everything was ignored
    shapes = _OF_DRAFT[draft]
    for keyword, value in schema.items():
        shape = shapes.get(keyword)
        if shape is not None and not shape.fits(value):
            shape.read(node, keyword)
