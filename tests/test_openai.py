"""Tools, `tool_choice`, reasoning and the end of the prompt, in OpenAI's shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

structag = pytest.importorskip("structag")

from support.family_cases import takes_text  # noqa: E402

from structag.errors import FormatError  # noqa: E402
from structag.families.sample_tools import SAMPLE_TOOLS  # noqa: E402
from structag.openai import model_family  # noqa: E402

COMPILER = structag.Compiler(structag.Vocabulary.byte_level())


def takes(family: Any, text: str, **options: Any) -> bool:
    options.setdefault("tools", SAMPLE_TOOLS)
    return takes_text(
        COMPILER.compile_structural_tag(structag.model_format(family, **options)), text
    )


def call(name: str, arguments: Any) -> str:
    body = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{body}\n</tool_call>"


LIST = call("list_tables", {})
TIME = call("local_time", {"zone": "UTC"})


# -- tool_choice


@pytest.mark.parametrize(
    ("choice", "accepted"),
    [
        (None, ["", "text", LIST, f"text\n{LIST}\n{TIME}"]),
        ("auto", ["", "text", LIST, f"text\n{LIST}\n{TIME}"]),
        ("none", ["", "text"]),
        ("required", [LIST]),
        ({"type": "function", "function": {"name": "list_tables"}}, [LIST]),
        ({"type": "function", "name": "list_tables"}, [LIST]),
        ({"type": "function", "name": "local_time"}, []),
        (
            {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "list_tables"}],
            },
            ["", "text", LIST],
        ),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "list_tables"}}],
                },
            },
            [LIST],
        ),
    ],
)
def test_tool_choice(choice: Any, accepted: list[str]) -> None:
    outputs = ["", "text", LIST, f"text\n{LIST}\n{TIME}"]

    assert [o for o in outputs if takes("qwen3", o, tool_choice=choice)] == accepted


def test_parallel_calls() -> None:
    two = f"{LIST}\n{TIME}"

    assert takes("qwen3", two, tool_choice="required")
    assert not takes("qwen3", two, tool_choice="required", parallel_tool_calls=False)
    assert not takes("qwen3", f"text\n{two}", parallel_tool_calls=False)
    assert takes("qwen3", f"text\n{LIST}", parallel_tool_calls=False)
    assert not takes("qwen3", f"{LIST}\n{LIST}", tool_choice=named("list_tables"))


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def test_without_tools_there_is_only_text() -> None:
    assert takes("qwen3", "text", tools=None)
    assert not takes("qwen3", LIST, tools=[])
    with pytest.raises(FormatError, match="a call is required, and there is no tool"):
        structag.model_format("qwen3", tool_choice="required")


# -- tools


def function(**fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **fields}}


STRICT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("tool", "accepted"),
    [
        (function(parameters=STRICT), [{"a": 1}]),
        (function(parameters=STRICT, strict=True), [{"a": 1}]),
        (function(parameters=STRICT, strict=False), [{"a": 1}, {"a": "x"}, {}]),
        (function(parameters={}), [{"a": 1}, {"a": "x"}, {}]),
        (function(), [{}]),
        ({"type": "function", "name": "f", "parameters": STRICT}, [{"a": 1}]),
    ],
)
def test_strictness(tool: Any, accepted: list[Any]) -> None:
    outputs = [{"a": 1}, {"a": "x"}, {}, [], "{}"]

    assert [o for o in outputs if takes("qwen3", call("f", o), tools=[tool])] == accepted


def test_definitions_of_one_tool_are_its_own() -> None:
    parameters = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/small"}},
        "$defs": {"small": {"type": "integer", "maximum": 3}},
        "required": ["a"],
    }
    tools = [function(parameters=parameters), {"type": "function", "name": "g"}]

    assert takes("granite_3", '<|tool_call|>[{"name": "f", "arguments": {"a": 3}}]', tools=tools)
    assert not takes(
        "granite_3", '<|tool_call|>[{"name": "f", "arguments": {"a": 4}}]', tools=tools
    )


def test_one_name_may_begin_another() -> None:
    tools = [{"type": "function", "name": name} for name in ("get", "get_all")]
    for name in ("get", "get_all"):
        assert takes("mistral_v11", f"[TOOL_CALLS]{name}[ARGS]{{}}", tools=tools)
    assert not takes("mistral_v11", "[TOOL_CALLS]get_[ARGS]{}", tools=tools)


def test_builtin_tools() -> None:
    text = '<|python_tag|>brave_search.call(query="weather")'
    tools = [*SAMPLE_TOOLS, {"type": "brave_search"}]

    assert takes("llama3_json", text, tools=tools)
    assert takes("llama3_json", text, tools=tools, tool_choice={"type": "brave_search"})
    assert not takes("llama3_json", text)
    assert not takes("llama3_json", text, tools=tools, tool_choice=named("list_tables"))


# -- reasoning and the prompt


OPEN = "<|im_start|>assistant\n<think>\n"
CLOSED = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
TURN = "<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("prompt", "accepted"),
    [
        (OPEN, ["hm</think>\n\nhi"]),
        (OPEN.rstrip(), ["hm</think>\n\nhi"]),
        (OPEN + "So", ["hm</think>\n\nhi"]),
        (CLOSED, ["hi"]),
        (TURN, ["hi", "<think>hm</think>\n\nhi"]),
        ("", ["hi", "<think>hm</think>\n\nhi"]),
        (f"{OPEN}x</think>\n\nhello<|im_end|>\n<|im_start|>user\n<think><|im_end|>\n{TURN}",
         ["hi", "<think>hm</think>\n\nhi"]),
    ],
)  # fmt: skip
def test_the_prompt_tells_where_the_output_starts(prompt: str, accepted: list[str]) -> None:
    outputs = ["hi", "hm</think>\n\nhi", "<think>hm</think>\n\nhi"]

    assert [o for o in outputs if takes("qwen3", o, prompt_tail=prompt)] == accepted


@pytest.mark.parametrize(
    ("family", "reasoning", "accepted"),
    [
        ("qwen3_5", None, ["hm</think>\n\nhi"]),
        ("qwen3_5", True, ["hm</think>\n\nhi"]),
        ("qwen3_5", False, ["hi"]),
        ("qwen3", None, ["hi", "<think>hm</think>\n\nhi"]),
        ("qwen3", True, ["hi", "<think>hm</think>\n\nhi"]),
        ("qwen3", False, ["hi"]),
        ("qwen3_coder", None, ["hi", "hm</think>\n\nhi", "<think>hm</think>\n\nhi"]),
    ],
)
def test_the_usual_prompt(family: str, reasoning: bool | None, accepted: list[str]) -> None:
    outputs = ["hi", "hm</think>\n\nhi", "<think>hm</think>\n\nhi"]

    assert [o for o in outputs if takes(family, o, reasoning=reasoning)] == accepted


def test_an_answer_that_the_prompt_opened() -> None:
    prompt = "<|start|>assistant<|channel|>final<|message|>"

    assert takes("harmony", "hi<|return|>", prompt_tail=prompt)
    assert not takes("harmony", f"{prompt}hi<|return|>", prompt_tail=prompt)


@pytest.mark.parametrize(
    ("family", "reasoning", "prompt", "message"),
    [
        ("qwen3", False, OPEN, "the prompt ends inside the reasoning"),
        ("qwen3", True, CLOSED, "the prompt ends after the reasoning"),
        ("granite_4", True, None, "models of `granite_4` do not reason"),
    ],
)
def test_contradictions(family: str, reasoning: bool, prompt: str | None, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        structag.model_format(family, reasoning=reasoning, prompt_tail=prompt)

    assert (caught.value.code, caught.value.pointer) == ("reasoning-conflict", "/reasoning")


# -- refusals


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({"tools": {}}, "/tools"),
        ({"tools": ["f"]}, "/tools/0"),
        ({"tools": [{"type": "web"}]}, "/tools/0/type"),
        ({"tools": [{}]}, "/tools/0/type"),
        ({"tools": [{"type": "function", "function": 3}]}, "/tools/0/function"),
        ({"tools": [{"type": "function", "function": {}}]}, "/tools/0/function/name"),
        ({"tools": [function(name="a b")]}, "/tools/0/function/name"),
        ({"tools": [function(strict="yes")]}, "/tools/0/function/strict"),
        ({"tools": [function(parameters=True)]}, "/tools/0/function/parameters"),
        ({"tools": [function(parameters={"type": "dict"})]}, "/tools/0/function/parameters/type"),
        ({"tools": [function(), function()]}, "/tools"),
        ({"tool_choice": "any"}, "/tool_choice"),
        ({"tool_choice": 3}, "/tool_choice"),
        ({"tool_choice": {"type": "web"}}, "/tool_choice/type"),
        ({"tool_choice": named("no")}, "/tool_choice/function/name"),
        ({"tool_choice": {"type": "function", "name": "no"}}, "/tool_choice/name"),
        ({"tool_choice": {"type": "function", "function": 1}}, "/tool_choice/function"),
        ({"tool_choice": {"type": "allowed_tools", "mode": "some"}}, "/tool_choice/mode"),
        ({"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}},
         "/tool_choice/tools"),
        ({"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [3]}},
         "/tool_choice/tools/0"),
        ({"tool_choice": {"type": "allowed_tools", "allowed_tools": 3}},
         "/tool_choice/allowed_tools"),
    ],
)  # fmt: skip
def test_refusals_name_the_place(options: Any, pointer: str) -> None:
    options.setdefault("tools", [function()])
    with pytest.raises(FormatError) as caught:
        structag.model_format("qwen3", **options)

    assert (caught.value.code, caught.value.pointer) == ("tool-value", pointer)


def test_an_unknown_family() -> None:
    with pytest.raises(FormatError, match="there is no model format `qwen4`") as caught:
        structag.model_format("qwen4")

    assert caught.value.code == "family-unknown"
    assert caught.value.hint == "did you mean `qwen3`?"


# -- families


def test_the_names() -> None:
    names = structag.model_formats()

    assert names == sorted(names)
    assert {"qwen3", "harmony", "deepseek_v4"} <= set(names)


def test_a_family_is_registered_with_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structag.openai._registered", {})
    data = json.loads(model_family("granite_4").model_dump_json(by_alias=True))
    data |= {"name": "mine", "calls": {"call": "CALL {name} WITH {arguments}."}, "tokens": []}

    assert structag.register_model_format(json.dumps(data)) == "mine"
    assert "mine" in structag.model_formats()
    assert takes("mine", 'So: CALL local_time WITH {"zone": "UTC"}.')
    assert not takes("mine", "So: CALL local_time WITH {}.")


def test_a_family_brings_its_own_argument_style(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structag.openai._registered", {})
    style = {"before": "@", "after": ["="], "closer": ";", "not_in_names": "="}
    calls = {"call": "CALL {name} WITH {arguments}.", "style": style}
    data = json.loads(model_family("granite_4").model_dump_json(by_alias=True))
    data |= {"name": "mine", "calls": calls, "tokens": []}

    assert structag.register_model_format(json.dumps(data)) == "mine"
    assert takes("mine", "So: CALL local_time WITH @zone=UTC;.")
    assert not takes("mine", 'So: CALL local_time WITH {"zone": "UTC"}.')


def test_tags_survive_json() -> None:
    tag = structag.model_format("qwen3", tools=SAMPLE_TOOLS)
    again = COMPILER.compile_structural_tag(tag.model_dump_json())

    assert again.fingerprint == COMPILER.compile_structural_tag(tag).fingerprint


@pytest.mark.parametrize(
    ("family", "options"), [([], {}), (None, {}), ("qwen3", {"prompt_tail": 5})]
)
def test_arguments_of_a_wrong_type(family: Any, options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="expected"):
        structag.model_format(family, **options)


def test_keywords_of_parameters_are_strings() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {1: 2}}}
    with pytest.raises(structag.FormatError) as caught:
        structag.model_format("qwen3", tools=[tool])

    assert (caught.value.code, caught.value.pointer) == (
        "tool-value",
        "/tools/0/function/parameters",
    )
