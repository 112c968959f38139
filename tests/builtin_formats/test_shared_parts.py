"""Tools are told apart only where they differ.

What stands before the name of a tool is in the tag once, however many tools there are: a state in
which the tool is open must not hold the same beginning again for each of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

structag = pytest.importorskip("structag")

NAMES = structag.model_formats()
TOOLS = [
    {
        "type": "function",
        "name": f"tool_{number}",
        "parameters": {"type": "object", "properties": {f"key_{number}": {"type": "integer"}}},
    }
    for number in range(4)
]


def choices(value: Any) -> Iterator[list[Any]]:
    """The options of every choice in a document, at any depth."""
    if isinstance(value, dict):
        if value.get("type") == "or":
            yield value["elements"]
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from choices(inner)


def beginnings(format: Any) -> list[str]:
    """What an output of `format` may begin with, each as often as there are ways to get there."""
    while format["type"] == "sequence":
        format = format["elements"][0]
    if format["type"] == "or":
        return [begin for option in format["elements"] for begin in beginnings(option)]
    return [json.dumps(format, sort_keys=True)]


@pytest.mark.parametrize("name", NAMES)
def test_no_beginning_is_there_twice(name: str) -> None:
    for parallel in (False, True):
        tag = structag.model_format(name, tools=TOOLS, parallel_tool_calls=parallel)
        document = json.loads(tag.model_dump_json())

        found = [
            [b for option in options for b in beginnings(option)] for options in choices(document)
        ]

        assert any(len(begins) >= len(TOOLS) for begins in found)
        for begins in found:
            assert len(set(begins)) == len(begins), begins
