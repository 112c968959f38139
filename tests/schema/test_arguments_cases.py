"""The argument texts inside recorded outputs of model families, and reported tags with styles."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from support.arguments import COMPILER, accepts, compiled

DATA = os.environ.get("STRUCTAG_DATA")
pytestmark = pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA names no folder with the cases")

CALLS = {
    "qwen_xml": r"<function=(\w+)>\n?(.*?)</function>",
    "minimax_xml": r'<invoke name="(\w+)">\n(.*?)</invoke>',
    "minimax_m3_xml": r'<invoke name="(\w+)">(.*?)\]<\]minimax\[>\[</invoke>',
    "deepseek_xml": r'<｜DSML｜invoke name="(\w+)">\n(.*?)</｜DSML｜invoke>',
    "deepseek_v4_1_xml": r'<｜DSML｜ invoke name="(\w+)">\n(.*?)</｜DSML｜ invoke>',
    "glm_xml": r"<tool_call>(\w+)\n?(.*?)</tool_call>",
    "cohere_xml": r'<cofl:tool_call id="\d+" name="(\w+)">(.*?)</cofl:tool_call>',
    "kimi_k3_xml": r'<\|open\|>call tool="(\w+)" index="\d+"<\|sep\|>(.*?)<\|close\|>call<\|sep\|>',
    "step3_xml": r'<steptml:invoke name="(\w+)">(.*?)</steptml:invoke>',
    "pythonic": r"(\w+)\(([^()]*)\)",
    "gemma": r"<\|tool_call>call:(\w+)(.*?)<tool_call\|>",
    "functiongemma": r"<start_function_call>call:(\w+)(.*?)<end_function_call>",
}
FAMILIES = {
    "qwen3_coder": "qwen_xml",
    "qwen3_5": "qwen_xml",
    "nemotron3": "qwen_xml",
    "mimo": "qwen_xml",
    "seed_oss": "qwen_xml",
    "minimax_m2": "minimax_xml",
    "minimax_m3": "minimax_m3_xml",
    "deepseek_v3_2": "deepseek_xml",
    "deepseek_v4": "deepseek_xml",
    "deepseek_v4_1": "deepseek_v4_1_xml",
    "glm_4_5": "glm_xml",
    "glm_4_7": "glm_xml",
    "cohere_cmd5": "cohere_xml",
    "kimi_k3": "kimi_k3_xml",
    "step3": "step3_xml",
    "llama4_pythonic": "pythonic",
    "gemma3_pythonic": "pythonic",
    "lfm2": "pythonic",
    "olmo3": "pythonic",
    "gemma4": "gemma",
    "functiongemma": "functiongemma",
}
ABOUT_ARGUMENTS = re.compile(
    "schema|required (argument|parameter|key)|missing|word|array|Python boolean|JSON|colon|tags?$"
    "|marked|positional|enum"
)

WITHOUT_REJECTS = ("qwen3_5", "cohere_cmd5", "gemma3_pythonic")
"""Families whose recorded rejects are about the format around the arguments."""


def cases(name: str) -> list[dict[str, Any]]:
    assert DATA is not None
    lines = Path(DATA, "cases", name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def calls(case: dict[str, Any], text: str) -> list[tuple[Any, str]]:
    """The schema and the argument text of every call in `text`."""
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in case["tools"]}
    found = re.findall(CALLS[FAMILIES[case["family"]]], text, re.DOTALL)
    return [(tools[name], arguments) for name, arguments in found if name in tools]


@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_arguments(family: str) -> None:
    style = FAMILIES[family]
    good = bad = 0
    for case in cases("formats.jsonl"):
        if case["family"] != family:
            continue
        for text in case["accept"]:
            for schema, arguments in calls(case, text):
                assert accepts(compiled(schema, style), arguments), arguments
                good += 1
        for reject in case["reject"]:
            if not ABOUT_ARGUMENTS.search(reject["why"]):
                continue
            verdicts = [
                accepts(compiled(schema, style), arguments)
                for schema, arguments in calls(case, reject["text"])
            ]
            if verdicts and "block" not in reject["why"] and "after the" not in reject["why"]:
                assert not all(verdicts), reject
                bad += 1

    assert good
    assert bad or family in WITHOUT_REJECTS


def test_reported_tags_with_styles() -> None:
    tried = 0
    for case in cases("reports.jsonl"):
        if '"style"' not in json.dumps(case["input"]) or "lock_end_prefix" in json.dumps(case):
            continue
        grammar = COMPILER.compile_structural_tag(case["input"])
        for key, want in (("accept", True), ("reject", False)):
            for text in case[key]:
                assert accepts(grammar, text) == want, (case["id"], text)
                tried += 1

    assert tried >= 9
