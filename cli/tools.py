"""The tools that stand in where a format of a model family is used without any of one's own."""

from __future__ import annotations

from typing import Any

SCHEMAS: dict[str, Any] = {
    "book_table": {
        "type": "object",
        "properties": {
            "restaurant": {"type": "string"},
            "guests": {"type": "integer", "minimum": 1, "maximum": 12},
            "seating": {"enum": ["inside", "outside"]},
        },
        "required": ["restaurant", "guests"],
        "additionalProperties": False,
    },
    "local_time": {
        "type": "object",
        "properties": {"zone": {"type": "string", "pattern": "^[A-Z][a-z]+/[A-Z][a-z]+$"}},
        "required": ["zone"],
        "additionalProperties": False,
    },
}
"""The arguments of each tool."""

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in SCHEMAS.items()
]
"""In the shape of Chat Completions."""
