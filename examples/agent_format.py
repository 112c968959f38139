"""A tool-calling format of your own, written from scratch.

Nothing in structag knows this format.  It is put together here, for a model that was trained on

    <plan>first the forecast</plan>
    <call tool="forecast">
    <arg city>Oslo</arg>
    <arg days>3</arg>
    </call>
    <answer>Rain until Thursday.</answer>

A plan comes first, then up to three calls, then an answer, which only a turn without calls must
have.  `agent_format` is all there is to it: one structural tag, made from the tools.  `ARGUMENTS`
says how an argument is written, so each tool's JSON Schema is enforced inside these elements:
types, bounds, patterns, required arguments, and that a string cannot hold its own `</arg>`.

The rest of this file shows that it holds: outputs that are right and wrong, and two hundred random
generations, which are read back with regular expressions and checked with `jsonschema`.  Run it:

    python examples/agent_format.py
"""

from __future__ import annotations

import json
import random
import re
import sys
from typing import Any

import numpy as np
from jsonschema import Draft202012Validator

import structag

TOOLS: dict[str, dict[str, Any]] = {
    "forecast": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1, "maxLength": 12},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "units": {"enum": ["metric", "imperial"]},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
    "remember": {
        "type": "object",
        "properties": {
            "key": {"type": "string", "pattern": "^[a-z_]{1,8}$"},
            "values": {
                "type": "array",
                "items": {"type": "string", "maxLength": 4},
                "maxItems": 2,
            },
        },
        "required": ["key", "values"],
        "additionalProperties": False,
    },
    "look": {"type": "object", "properties": {}, "additionalProperties": False},
}
ARGUMENTS = {"before": "<arg ", "after": [">"], "closer": "</arg>", "behind": ["\n"]}
MOST_CALLS = 3
RUNS = 200


def agent_format(tools: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The structural tag of one turn of the agent."""
    text = {"type": "regex", "pattern": "[^<]{1,40}"}
    plan = {"type": "tag", "begin": "<plan>", "content": text, "end": "</plan>\n"}
    answer = {"type": "tag", "begin": "<answer>", "content": text, "end": "</answer>"}
    call = {"type": "or", "elements": [call_format(*tool) for tool in tools.items()]}
    calls = {"type": "repeat", "content": call, "min": 1, "max": MOST_CALLS}
    with_calls = {
        "type": "sequence",
        "elements": [calls, {"type": "optional", "content": answer}],
    }
    turn = [plan, {"type": "or", "elements": [with_calls, answer]}]
    return {"type": "structural_tag", "format": {"type": "sequence", "elements": turn}}


def call_format(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The tag of one call of the tool `name`."""
    arguments = {"type": "json_schema", "json_schema": parameters, "style": ARGUMENTS}
    return {
        "type": "tag",
        "begin": f'<call tool="{name}">\n',
        "content": arguments,
        "end": "</call>\n",
    }


PLAN = "<plan>look it up</plan>\n"
OSLO = '<call tool="forecast">\n<arg city>Oslo</arg>\n'
OUTPUTS = [
    ("a call", PLAN + OSLO + "</call>\n", True),
    ("an answer", PLAN + "<answer>It rains.</answer>", True),
    ("a call without arguments", PLAN + '<call tool="look">\n</call>\n', True),
    ("an answer after a call", PLAN + OSLO + "</call>\n<answer>Wait.</answer>", True),
    ("markup in a string", PLAN + OSLO.replace("Oslo", "<b>O</b>") + "</call>\n", True),
    ("no plan", OSLO + "</call>\n", False),
    ("neither a call nor an answer", PLAN, False),
    ("an unknown tool", PLAN + OSLO.replace("forecast", "weather") + "</call>\n", False),
    ("a missing argument", PLAN + '<call tool="forecast">\n</call>\n', False),
    ("a string that is too long", PLAN + OSLO.replace("Oslo", "O" * 13) + "</call>\n", False),
    (
        "a number out of bounds",
        PLAN + OSLO + "<arg days>15</arg>\n</call>\n",
        False,
    ),
    ("a fourth call", PLAN + (OSLO + "</call>\n") * 4, False),
    ("words after the answer", PLAN + "<answer>It rains.</answer> Bye!", False),
]


def main() -> int:
    """Show the outputs and the generations; 0 if all come out as they should."""
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    grammar = compiler.compile_structural_tag(agent_format(TOOLS))
    is_right = True
    for what, output, want in OUTPUTS:
        matcher = structag.Matcher(grammar)
        got = matcher.accept_string(output) and matcher.is_completed()
        is_right = is_right and got == want
        print(f"{'accepted' if got else 'rejected'}: {what}")
    outputs = [generate(grammar, seed) for seed in range(RUNS)]
    calls = [call for output in outputs for call in read_calls(output)]
    valid = [Draft202012Validator(TOOLS[name]).is_valid(value) for name, value in calls]
    print(f"{len(calls)} calls in {RUNS} random generations, {sum(valid)} of them valid, such as")
    print("   ", *max(calls, key=lambda call: len(str(call))))
    return 0 if is_right and calls and all(valid) else 1


def generate(grammar: structag.CompiledGrammar, seed: int) -> str:
    """A random output: at each step any token that the mask allows, with a liking for `<`."""
    choices = random.Random(seed)
    vocabulary = grammar.vocabulary
    matcher = structag.Matcher(grammar)
    bitmask = structag.allocate_token_bitmask(1, vocabulary.size)
    output = bytearray()
    while not matcher.is_terminated():
        matcher.fill_next_token_bitmask(bitmask)
        logits = np.zeros((1, vocabulary.size), dtype=np.float32)
        structag.apply_token_bitmask_inplace(logits, bitmask)
        allowed = [int(token) for token in np.flatnonzero(logits[0] == 0)]
        token = ord("<") if ord("<") in allowed and choices.random() < 0.2 else None
        token = choices.choice(allowed) if token is None else token
        assert matcher.accept_token(token), "the mask allowed what the matcher refuses"
        output += vocabulary.token_bytes(token)
    return output.decode("utf-8")


CALL = re.compile(r'<call tool="(\w+)">\n(.*?)</call>\n', re.DOTALL)
ARGUMENT = re.compile(r"<arg (\w+)>(.*?)</arg>\n", re.DOTALL)


def read_calls(output: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls of an output, read as an agent would."""
    found = []
    for name, body in CALL.findall(output.partition("</plan>")[2]):
        properties = TOOLS[name]["properties"]
        arguments = {}
        for key, text in ARGUMENT.findall(body):
            is_json = properties[key].get("type", "string") != "string"
            arguments[key] = json.loads(text) if is_json else text
        found.append((name, arguments))
    return found


if __name__ == "__main__":
    sys.exit(main())
