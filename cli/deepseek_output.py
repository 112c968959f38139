"""Takes a finished DeepSeek V4 output apart for the demo: what to colour, which calls to check.

It reads what the demo's tag allows and nothing else; a general output parser is another matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

REASONING_END = "</think>"
CALLS_BEGIN = "<｜DSML｜tool_calls>\n"
CALLS_END = "</｜DSML｜tool_calls>"
PARAMETER_END = "</｜DSML｜parameter>"

_PARTS = re.compile(
    r'(?P<open><｜DSML｜invoke name=")(?P<tool>[^"]*)(?P<opened>">\n)'
    r'|(?P<name_before><｜DSML｜parameter name=")(?P<name>[^"]*)(?P<name_after>" string=")'
    r'(?P<is_string>true|false)(?P<value_before>">)'
    r"(?P<value>.*?)(?P<value_after></｜DSML｜parameter>\n)"
    r"|(?P<close></｜DSML｜invoke>\n)",
    re.DOTALL,
)


class Segment(NamedTuple):
    """A piece of the output and what it is: reasoning, text, marker, tool, name or value."""

    kind: str
    text: str


class Call(NamedTuple):
    """One call: the tool's name and its arguments as plain data."""

    tool: str
    arguments: dict[str, Any]


def read_segments(output: str) -> Iterator[Segment]:
    """The pieces of `output`; together they are `output` again."""
    reasoning, marker, answer = output.partition(REASONING_END)
    yield Segment("reasoning", reasoning)
    yield Segment("marker", marker)
    text, begin, calls = answer.partition(CALLS_BEGIN)
    yield Segment("text", text)
    yield Segment("marker", begin)
    position = 0
    for match in _PARTS.finditer(calls):
        for group, part in match.groupdict().items():
            if part:
                kind = group if group in ("tool", "name", "value") else "marker"
                yield Segment(kind, part)
        position = match.end()
    yield Segment("marker", calls[position:])


def read_calls(output: str) -> list[Call]:
    """The calls in `output`, arguments decoded."""
    calls: list[Call] = []
    body = output.partition(REASONING_END)[2].partition(CALLS_BEGIN)[2]
    for match in _PARTS.finditer(body):
        if match["tool"]:
            calls.append(Call(match["tool"], {}))
        elif match["name"]:
            raw = match["value"]
            value = raw if match["is_string"] == "true" else json.loads(raw)
            calls[-1].arguments[match["name"]] = value
    return calls
