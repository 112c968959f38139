"""The tools that the samples of families call."""

from __future__ import annotations

from typing import Any


def _function(name: str, description: str, properties: Any, required: list[str]) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": {**function, "strict": True}}


SAMPLE_TOOLS = [
    _function(
        "book_table",
        "Book a table in a restaurant.",
        {
            "restaurant": {"type": "string"},
            "guests": {"type": "integer", "minimum": 1, "maximum": 12},
            "seating": {"enum": ["inside", "outside"]},
        },
        ["restaurant", "guests"],
    ),
    _function("local_time", "The time in a zone.", {"zone": {"type": "string"}}, ["zone"]),
    _function("list_tables", "All tables that are free.", {}, []),
]
"""In the shape of Chat Completions: with constraints, with one argument, with none."""
