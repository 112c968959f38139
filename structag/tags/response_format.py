"""The other shapes that a request's output format comes in, as structural tags.

Besides ``{"type": "structural_tag", "format": …}`` there are

- the older structural tag, ``{"type": "structural_tag", "structures": […], "triggers": […]}``:
  free text, with JSON between a begin and an end where a trigger announces it;
- OpenAI's `response_format`: ``{"type": "text"}``, ``{"type": "json_object"}`` and
  ``{"type": "json_schema", "json_schema": {"name": …, "schema": …}}``.

Each becomes the plain shape, and a `Shape` says where its parts stood, for the pointers of errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, TypeVar

from structag.errors import FormatError, StructagError
from structag.pointer import escaped

_Error = TypeVar("_Error", bound=StructagError)


class Shape(NamedTuple):
    """Where the parts of the plain shape stood: patterns of pointers, and what they were."""

    moves: tuple[tuple[str, str], ...] = ()

    def place(self, pointer: str) -> str:
        """Where in the document as it was written that stood which is now at `pointer`."""
        for pattern, place in self.moves:
            if re.match(pattern, pointer):
                return re.sub(pattern, place, pointer, count=1)
        return pointer

    def relocate(self, error: _Error) -> _Error:
        """`error` with its pointer into the document as it was written."""
        if error.pointer is not None:
            error.pointer = self.place(error.pointer)
        return error


PLAIN = Shape()
OLDER = Shape(
    (
        (r"/format/tags/(\d+)/content/json_schema(?=/|$)", r"/structures/\1/schema"),
        (r"/format/tags(?=/|$)", "/structures"),
        (r"/format(?=/|$)", ""),
    )
)
RESPONSE_FORMAT = Shape(
    (
        (r"/format/json_schema(?=/|$)", "/json_schema/schema"),
        (r"/format(?=/|$)", ""),
    )
)


def to_plain_shape(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], Shape]:
    """`document` as ``{"type": "structural_tag", "format": …}``; what is in no known shape, as is.

    Raises:
        FormatError: `tag-field`, `tag-value`: a field of a shape is missing, unknown or wrong.
    """
    kind = document.get("type")
    if kind == "structural_tag" and "structures" in document and "format" not in document:
        return _document(_older(document)), OLDER
    if kind == "text":
        _check_fields(document, "", "type")
        return _document({"type": "any_text"}), RESPONSE_FORMAT
    if kind == "json_object":
        _check_fields(document, "", "type")
        return _document(
            {"type": "json_schema", "json_schema": {"type": "object"}}
        ), RESPONSE_FORMAT
    if kind == "json_schema" and _is_named_schema(document.get("json_schema")):
        _check_fields(document, "", "type", "json_schema")
        named = document["json_schema"]
        _check_fields(named, "/json_schema", "name", "description", "schema", "strict")
        schema = named.get("schema")
        if schema is None:
            _refuse("no `schema`", "tag-field", "/json_schema", "a JSON Schema")
        return _document({"type": "json_schema", "json_schema": schema}), RESPONSE_FORMAT
    return document, PLAIN


def _document(format: dict[str, Any]) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


def _is_named_schema(value: Any) -> bool:
    # A bare `json_schema` format has a schema here, which has neither of the two as a keyword.
    return isinstance(value, Mapping) and ("schema" in value or isinstance(value.get("name"), str))


def _older(document: Mapping[str, Any]) -> dict[str, Any]:
    _check_fields(document, "", "type", "structures", "triggers")
    for name in ("structures", "triggers"):
        if not isinstance(document.get(name), list | tuple) or not document[name]:
            _refuse(f"`{name}` is no list, or empty", "tag-value", f"/{name}", "a non-empty list")
    tags = []
    for index, structure in enumerate(document["structures"]):
        pointer = f"/structures/{index}"
        if not isinstance(structure, Mapping):
            _refuse("this is no object", "tag-value", pointer, "`begin`, `schema` and `end`")
        _check_fields(structure, pointer, "begin", "schema", "end")
        for name in ("begin", "end"):
            if name not in structure:
                _refuse(f"no `{name}`", "tag-field", pointer, "`begin`, `schema` and `end`")
        content = {"type": "json_schema", "json_schema": structure.get("schema", {})}
        tags.append(
            {
                "type": "tag",
                "begin": structure["begin"],
                "content": content,
                "end": structure["end"],
            }
        )
    return {"type": "triggered_tags", "triggers": document["triggers"], "tags": tags}


def _check_fields(value: Mapping[str, Any], pointer: str, *names: str) -> None:
    for key in value:
        if key not in names:
            shown = str(key)[:60]
            expected = "only " + ", ".join(f"`{name}`" for name in names)
            _refuse(
                f"unknown field `{shown}`", "tag-field", f"{pointer}/{escaped(str(key))}", expected
            )


def _refuse(message: str, code: str, pointer: str, expected: str) -> NoReturn:
    raise FormatError(message, code=code, pointer=pointer, expected=expected)
