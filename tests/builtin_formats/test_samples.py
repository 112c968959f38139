"""The samples that each family's file brings along, by text and token by token."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

structag = pytest.importorskip("structag")

from support.family_cases import (  # noqa: E402
    Tokenizer,
    sample_tag,
    small_vocabulary,
    takes_text,
    takes_tokens,
)

from structag.openai import model_family  # noqa: E402

BYTES = structag.Compiler(structag.Vocabulary.byte_level())
NAMES = structag.model_formats()


@pytest.mark.parametrize("name", NAMES)
def test_samples_by_text(name: str) -> None:
    family = model_family(name)
    for sample in family.samples:
        grammar = BYTES.compile_structural_tag(sample_tag(family, sample))

        assert takes_text(grammar, sample.output) == (sample.accept is not None), sample


@pytest.mark.parametrize("is_special", [True, False], ids=["control", "user-defined"])
@pytest.mark.parametrize("name", NAMES)
def test_samples_by_tokens(name: str, is_special: bool) -> None:
    family = model_family(name)
    vocabulary = small_vocabulary(tuple(family.tokens), tuple(family.stop), is_special)
    compiler = structag.Compiler(vocabulary)
    tokenizer = Tokenizer(vocabulary, family.tokens)
    for sample in family.samples:
        grammar = compiler.compile_structural_tag(sample_tag(family, sample))
        tokens = tokenizer.encode(sample.output)

        assert takes_tokens(grammar, tokens) == (sample.accept is not None), sample


@pytest.mark.parametrize("name", [n for n in NAMES if model_family(n).tokens])
def test_a_marker_that_is_a_token_is_not_spelled(name: str) -> None:
    family = model_family(name)
    vocabulary = small_vocabulary(tuple(family.tokens), tuple(family.stop), False)
    compiler = structag.Compiler(vocabulary)
    tokenizer = Tokenizer(vocabulary, family.tokens)
    called = 0
    for sample in family.samples:
        if sample.accept is None or not any(token in sample.accept for token in family.tokens):
            continue
        required = sample.model_copy(update={"tool_choice": "required"})  # text is no way out
        grammar = compiler.compile_structural_tag(sample_tag(family, required))
        if takes_tokens(grammar, tokenizer.encode(sample.accept)):
            called += 1

            assert not takes_tokens(grammar, tokenizer.spell(sample.accept)), sample

    assert called or name in WITHOUT_TOKENS


WITHOUT_TOKENS = {"llama4_pythonic"}  # its tokens may not occur at all


def test_a_family_is_named_like_its_file() -> None:
    for name in NAMES:
        text = (files("structag.builtin_formats") / f"{name}.json").read_text(encoding="utf-8")

        assert json.loads(text)["name"] == name


@pytest.mark.parametrize("name", NAMES)
def test_every_family_has_samples_and_markers_in_them(name: str) -> None:
    family = model_family(name)
    accepted = [sample.output for sample in family.samples if sample.accept is not None]
    rejected = [sample for sample in family.samples if sample.reject is not None]

    assert len(accepted) >= 2
    assert len(rejected) >= 2
    assert all(sample.why for sample in rejected)
    assert any(family.trigger in text for text in accepted) if family.trigger else True
