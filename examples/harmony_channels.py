"""Harmony, the format of gpt-oss: messages on channels, calls and answers.

The tag comes from `structag.model_format`; the same request is then narrowed in three ways.
"""

from __future__ import annotations

import structag

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "track_parcel",
            "parameters": {
                "type": "object",
                "properties": {"number": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{9}$"}},
                "required": ["number"],
                "additionalProperties": False,
            },
        },
    },
    {"type": "python"},
]

THOUGHT = "<|channel|>analysis<|message|>They want to know where it is.<|end|>"
PREAMBLE = "<|start|>assistant<|channel|>commentary<|message|>Let me look.<|end|>"
CALL = (
    "<|start|>assistant<|channel|>commentary to=functions.track_parcel <|constrain|>json"
    '<|message|>{"number": "RB123456789"}<|call|>'
)
PYTHON = "<|start|>assistant<|channel|>analysis to=python code<|message|>print(2**10)<|call|>"
ANSWER = "<|start|>assistant<|channel|>final<|message|>It is in Oslo.<|return|>"

OUTPUTS = {
    "a thought, then an answer": THOUGHT + ANSWER,
    "a thought, a preamble, a call": THOUGHT + PREAMBLE + CALL,
    "a program for the built-in Python": THOUGHT + PYTHON,
    "a call with a wrong number": THOUGHT + CALL.replace("RB", "R"),
    "a call of a tool that is not there": THOUGHT + CALL.replace("track", "send"),
    "an answer on no channel": "It is in Oslo.<|return|>",
}

REQUESTS = {
    "auto": {"tool_choice": "auto"},
    "required": {"tool_choice": "required"},
    "none": {"tool_choice": "none"},
}

EXPECTED = {
    "auto": [True, True, True, False, False, False],
    "required": [False, True, True, False, False, False],
    "none": [True, False, False, False, False, False],
}


def main() -> None:
    """Print which outputs each request accepts."""
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    columns = []
    for name, request in REQUESTS.items():
        tag = structag.model_format("harmony", tools=TOOLS, **request)
        grammar = compiler.compile_structural_tag(tag)
        column = []
        for output in OUTPUTS.values():
            matcher = structag.Matcher(grammar)
            column.append(matcher.accept_string(output) and matcher.is_completed())
        assert column == EXPECTED[name], name
        columns.append(column)
    print(f"{'':36}" + "".join(f"{name:>10}" for name in REQUESTS))
    for row, what in enumerate(OUTPUTS):
        words = ["accept" if column[row] else "reject" for column in columns]
        print(f"{what:36}" + "".join(f"{word:>10}" for word in words))


if __name__ == "__main__":
    main()
