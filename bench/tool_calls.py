"""Tasks of the Berkeley Function Calling Leaderboard, and what an answer to one is worth.

Tasks are in files ``bfcl/<category>.jsonl`` of the folder that STRUCTAG_DATA names.  Answers are
judged without structag: by the layout of Hermes, by jsonschema, and by the leaderboard's values.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema

import structag

FAMILY = "hermes"
SYSTEM = """You are a function calling AI model. Call one or more of these functions:
<tools>
{tools}
</tools>
For each function call write a JSON object with the function's name and arguments:
<tool_call>
{{"name": "add", "arguments": {{"left": 1, "right": 2}}}}
</tool_call>"""

# The leaderboard's names of types, where JSON Schema has others.
TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}


def read_tasks(category: str) -> list[Task]:
    path = Path(os.environ["STRUCTAG_DATA"]) / "bfcl" / f"{category}.jsonl"
    return [Task(line, category) for line in path.open(encoding="utf-8")]


class Task:
    """One question: its functions as tools, and the calls that count as right."""

    def __init__(self, line: str, category: str) -> None:
        data = json.loads(line)
        self.is_parallel = category == "parallel"
        self.messages = data["question"][0]
        self.answers: list[dict[str, dict[str, list[Any]]]] = data["ground_truth"]
        self.schemas = {f["name"]: schema_of(f["parameters"]) for f in data["function"]}
        self.tools = [
            {"name": f["name"], "description": f["description"], "parameters": schema}
            for f, schema in zip(data["function"], self.schemas.values(), strict=True)
        ]

    def prompt(self, tokenizer: Any) -> str:
        tools = "\n".join(map(json.dumps, self.tools))
        system = {"role": "system", "content": SYSTEM.format(tools=tools)}
        text = tokenizer.apply_chat_template(
            [system, *self.messages], tokenize=False, add_generation_prompt=True
        )
        return str(text)

    def compile(self, compiler: structag.Compiler) -> structag.CompiledGrammar:
        tools = [{"type": "function", **tool} for tool in self.tools]
        tag = structag.model_format(
            FAMILY,
            tools=tools,
            tool_choice="required",
            reasoning=False,
            parallel_tool_calls=self.is_parallel,
        )
        return compiler.compile_structural_tag(tag)


def schema_of(parameters: Any) -> Any:
    """The parameters of a function as JSON Schema: no member that is not named."""
    if isinstance(parameters, list):
        return [schema_of(item) for item in parameters]
    if not isinstance(parameters, dict):
        return parameters
    schema = {
        key: {name: schema_of(child) for name, child in value.items()}
        if key == "properties"
        else schema_of(value)
        for key, value in parameters.items()
        if key in ("type", "properties", "required", "items", "enum", "description")
    }
    kind = schema.get("type")
    if isinstance(kind, str) and kind in TYPES:
        schema["type"] = TYPES[kind]
        if TYPES[kind] is None:
            del schema["type"]
    if schema.get("type") == "object" and "properties" in schema:
        schema["additionalProperties"] = False
    return schema


# -- judging outputs


def judge(task: Task, text: str, has_ended: bool) -> dict[str, int]:
    """What counts of one output; `text` is without the stop token."""
    calls = calls_in_layout(text)
    readable = calls if calls is not None else calls_anywhere(text)
    return {
        "tasks": 1,
        "ended": has_ended,
        "parse": has_ended and calls is not None,
        "valid": has_ended and calls is not None and is_valid(calls, task),
        "functions": are_functions_right(readable, task),
        "arguments": are_arguments_right(readable, task),
    }


def calls_in_layout(text: str) -> list[dict[str, Any]] | None:
    """The calls of an output that is nothing but calls as Hermes writes them; else None."""
    blocks = re.findall(r"<tool_call>(.*?)</tool_call>", text, re.DOTALL)
    if not blocks or re.sub(r"<tool_call>.*?</tool_call>", "", text, flags=re.DOTALL).strip():
        return None
    try:
        calls = [json.loads(block) for block in blocks]
    except json.JSONDecodeError:
        return None
    return calls if all(map(is_call, calls)) else None


def calls_anywhere(text: str) -> list[dict[str, Any]]:
    """Whatever JSON objects in the text look like calls."""
    calls, place, decoder = [], text.find("{"), json.JSONDecoder()
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except json.JSONDecodeError:
            end = place + 1
        else:
            calls += [value] if is_call(value) else []
        place = text.find("{", end)
    return calls


def is_call(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"name", "arguments"}


def is_valid(calls: list[dict[str, Any]], task: Task) -> bool:
    for call in calls:
        schema = task.schemas.get(call["name"]) if isinstance(call["name"], str) else None
        if schema is None or not jsonschema.Draft202012Validator(schema).is_valid(
            call["arguments"]
        ):
            return False
    return True


def are_functions_right(calls: list[dict[str, Any]], task: Task) -> bool:
    wanted = sorted(name for answer in task.answers for name in answer)
    return sorted(str(call["name"]) for call in calls) == wanted


def are_arguments_right(calls: list[dict[str, Any]], task: Task) -> bool:
    """Whether each answer is met by a call of its own, in any order."""
    left = list(calls)
    for answer in task.answers:
        ((name, wanted),) = answer.items()
        met = next((c for c in left if c["name"] == name and meets(c["arguments"], wanted)), None)
        if met is None:
            return False
        left.remove(met)
    return not left


def meets(arguments: Any, wanted: dict[str, list[Any]]) -> bool:
    """An empty string among the values of an argument says that it may be left out."""
    if not isinstance(arguments, dict) or not arguments.keys() <= wanted.keys():
        return False
    return all(
        any(same(arguments[name], value) for value in values) if name in arguments else "" in values
        for name, values in wanted.items()
    )


def same(given: Any, wanted: Any) -> bool:
    if isinstance(given, str) and isinstance(wanted, str):
        return (
            re.sub(r"[ ,./\-_*^'\"]", "", given).lower()
            == re.sub(r"[ ,./\-_*^'\"]", "", wanted).lower()
        )
    if isinstance(wanted, dict) and isinstance(given, dict):
        return meets(given, wanted)
    if isinstance(wanted, list) and isinstance(given, list):
        return len(given) == len(wanted) and all(map(same, given, wanted))
    return bool(given == wanted)
