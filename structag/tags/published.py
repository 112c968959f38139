"""The JSON Schema of the Structural Tag language, for editors and for servers that check requests.

It says what each format looks like.  How formats fit together, and whether a schema, pattern or
grammar inside is one, only `structag.tags.check` and the compiler know.
"""

from __future__ import annotations

from typing import Any

from structag.tags.model import StructuralTag


def structural_tag_schema() -> dict[str, Any]:
    """The schema (2020-12) of all documents that are taken for a structural tag."""
    plain = StructuralTag.model_json_schema()
    definitions = plain.pop("$defs")
    plain["required"] = ["type", "format"]  # a document has to say what it is
    for definition in definitions.values():
        definition["required"] = ["type", *definition.get("required", ())]
    shapes = {"StructuralTag": plain, **_OTHER_SHAPES}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Structural tag",
        "description": "What an output of a language model may look like.",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in shapes],
        "$defs": {**shapes, **definitions},
    }


def _object(about: str, required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "description": about,
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


_JSON_SCHEMA = {"type": ["object", "boolean"]}
_TEXT = {"type": "string"}
_STRUCTURE = _object(
    "JSON between a begin and an end.", {"begin": _TEXT, "end": _TEXT}, schema=_JSON_SCHEMA
)
_OTHER_SHAPES: dict[str, Any] = {
    "OlderStructuralTag": _object(
        "The older shape of a structural tag.",
        {
            "type": {"const": "structural_tag"},
            "structures": {"type": "array", "minItems": 1, "items": _STRUCTURE},
            "triggers": {"type": "array", "minItems": 1, "items": {**_TEXT, "minLength": 1}},
        },
    ),
    "TextResponse": _object("OpenAI's response format for any text.", {"type": {"const": "text"}}),
    "JSONResponse": _object(
        "OpenAI's response format for any JSON object.", {"type": {"const": "json_object"}}
    ),
    "JSONSchemaResponse": _object(
        "OpenAI's response format for a JSON Schema.",
        {
            "type": {"const": "json_schema"},
            "json_schema": _object(
                "The schema and its name.",
                {"schema": _JSON_SCHEMA},
                name=_TEXT,
                description=_TEXT,
                strict={"type": ["boolean", "null"]},
            ),
        },
    ),
}
