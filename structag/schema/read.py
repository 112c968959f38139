"""Reads a schema from whatever a caller has: JSON text, a Python value, a pydantic model."""

from __future__ import annotations

from typing import Any

from structag.errors import FormatError, SchemaError
from structag.limits import Limits
from structag.source import read_json


def read_schema(schema: Any, limits: Limits | None = None) -> dict[str, Any] | bool:
    """The schema as parsed JSON.

    Taken: JSON text (`str` or UTF-8 `bytes`), a `dict` or `bool` as it is, and everything with the
    methods of a pydantic model (`model_json_schema`) or `TypeAdapter` (`json_schema`).

    Raises:
        FormatError: `json-syntax` or `text-encoding`; `source-kind` for any other type.
        SchemaError: `schema-value`, the JSON is neither an object nor a boolean.
        LimitError: `nesting-limit`.
    """
    value = schema
    if isinstance(schema, str | bytes | bytearray):
        value = read_json(bytes(schema) if isinstance(schema, bytearray) else schema, limits)
    elif not isinstance(schema, dict | bool):
        make = getattr(schema, "model_json_schema", None) or getattr(schema, "json_schema", None)
        if not callable(make):
            raise FormatError(
                f"a schema cannot be a `{type(schema).__name__}`",
                code="source-kind",
                expected="JSON text, a dict, a bool, a pydantic model or a TypeAdapter",
            )
        value = make()
    if not isinstance(value, dict | bool):
        raise SchemaError(
            "a schema is neither an object nor a boolean",
            code="schema-value",
            pointer="",
            expected="an object or a boolean",
        )
    return value
