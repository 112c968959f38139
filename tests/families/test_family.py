"""Files of families, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("structag")

from structag.errors import FormatError
from structag.families.family import read_family

SOURCE = {"fact": "all of it", "source": "this test", "confidence": "high"}
LEAST: dict[str, Any] = {
    "name": "mine",
    "models": "none",
    "turn": "A:",
    "prompts": {"off": "A:"},
    "stop": ["<end>"],
    "calls": {"call": "<call>{name}{arguments}</call>"},
    "sources": [SOURCE],
}


@pytest.mark.parametrize(
    ("calls", "tokens", "trigger"),
    [
        ({"call": "\n<call>{name}{arguments}"}, ["<call>"], "<call>"),
        ({"call": "<call>\n{name}{arguments}"}, [], "<call>"),
        ({"begin": "<calls>[", "call": "{name}{arguments}"}, ["<calls>"], "<calls>"),
        ({"begin": "<a>[", "call": "{name}{arguments}", "trigger": "<a>"}, [], "<a>"),
        ({"call": "{name}({arguments})", "bare": r"{names}\("}, [], None),
    ],
)
def test_triggers(calls: Any, tokens: list[str], trigger: str | None) -> None:
    assert read_family({**LEAST, "calls": calls, "tokens": tokens}).trigger == trigger


@pytest.mark.parametrize(
    ("change", "pointer", "message"),
    [
        ({"name": "a b"}, "/name", "a model family is wrong here"),
        ({"extra": 1}, "/extra", "a model family is wrong here"),
        ({"sources": []}, "/sources", "a model family is wrong here"),
        ({"sources": [{**SOURCE, "confidence": "some"}]}, "/sources/0/confidence",
         "a model family is wrong here"),
        ({"samples": [{}]}, "/samples/0", "either `accept` or `reject`"),
        ({"calls": {"call": "<call>{name}"}}, "/calls/call", "a call without `{arguments}`"),
        ({"calls": {"call": "<call>{json}"}}, "/calls/call", "there is no `json`"),
        ({"calls": {"call": "<c>{json}", "json": "{'{name}': {arguments}}"}}, "/calls/call",
         "is no JSON"),
        ({"calls": {"begin": "{name}", "call": "<c>{name}{arguments}"}}, "/calls/begin",
         "`{name}` cannot stand here"),
        ({"calls": {"call": "{name}{arguments}"}}, "/calls", "nothing tells calls from"),
        ({"calls": {"call": "<a>{name}{arguments}", "trigger": "<b>"}}, "/calls",
         "nothing tells calls from"),
        ({"calls": {"call": "<c>{name}{arguments}", "style": "yaml"}}, "/calls/style",
         "a model family is wrong here: Input should be 'json', 'qwen_xml'"),
        ({"calls": {"call": "<c>{name}{arguments}", "wrapper": ["<a>", "</a>"]}}, "/calls/wrapper",
         "a wrapper that may be missing"),
        ({"builtin_tools": {"web": [{"call": "<w>{name}"}]}}, "/builtin_tools/web/0/call",
         "`{name}` cannot stand here"),
        ({"builtin_tools": {"web": [{"call": "<w>{text}"}]}}, "/builtin_tools",
         "calls of built-in tools"),
        ({"reasoning": {"begin": "<t>", "end": "</t>", "after": "{text}"}}, "/reasoning/after",
         "`{text}` cannot stand here"),
    ],
)  # fmt: skip
def test_refusals(change: Any, pointer: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_family({**LEAST, **change})

    assert (caught.value.code, caught.value.pointer) == ("family-value", pointer)
    assert message in str(caught.value)


def test_the_least_is_enough() -> None:
    family = read_family(LEAST)

    assert read_family(family) is family
    assert read_family(family.model_dump(by_alias=True)) == family
