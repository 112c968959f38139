"""Saved grammars: what comes back is what was saved, and what is damaged is refused."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from support.engine import compile_or_none, compiler_of, observe, properties
from support.strategies import GrammarSample, VocabularySample, grammars, vocabularies

from structag import (
    CompiledGrammar,
    Compiler,
    FormatError,
    GrammarBuilder,
    LimitError,
    Limits,
    Matcher,
    StructagError,
    Vocabulary,
    VocabularyError,
    load,
)

EXAMPLES = int(os.environ.get("STRUCTAG_EXAMPLES", "100"))
# Sanitizers see what a damaged file makes the core do, so more are tried there.
DAMAGED = 10_000 if os.environ.get("STRUCTAG_SANITIZED") else 5 * EXAMPLES
START = 12 + 16  # of what the checksum is about

SCHEMA = {
    "type": "object",
    "properties": {
        "k": {"enum": ["a", "é"]},
        "n": {"type": "integer", "minimum": 3},
        "s": {"type": "string", "pattern": "^(?!x)[a-f]+$", "maxLength": 9},
    },
    "required": ["k"],
    "patternProperties": {"^x": True},
    "title": "a title",
}
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<t>"],
        "tags": [
            {
                "type": "tag",
                "begin": "<t>",
                "content": {"type": "any_text", "max_tokens": 5},
                "end": "</t>",
            }
        ],
        "excludes": ["<no>"],
    },
}
LIST = 'root ::= "[" value "]"\nvalue ::= value "," value | "a" | root\nunused ::= "b"'


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(Vocabulary.byte_level())


@pytest.fixture(scope="module")
def saved(compiler: Compiler) -> list[CompiledGrammar]:
    builder = GrammarBuilder()
    a, b, comma = (builder.literal(text) for text in (b"a", b"b", b","))
    kinds = [(a, 1, 2), (builder.tokens([256], negated=True), 0, None)]
    members = [(builder.mark("/first", a), True), (b, False)]
    lists = builder.seq(builder.unordered(members, None, comma), builder.tally(kinds, 1, 9, comma))
    return [
        compiler.compile_json_schema(SCHEMA),
        compiler.compile_json_schema(SCHEMA, property_order="any"),
        compiler.compile_structural_tag(TAG),
        compiler.compile_ebnf(LIST),
        compiler.compile_regex(r"\bfoo\b.{2,300}(?<=x)"),
        compiler.compile_grammar(builder.build(lists)),
    ]


def test_what_is_loaded_is_what_was_saved(saved: list[CompiledGrammar], tmp_path: Path) -> None:
    for number, grammar in enumerate(saved):
        path = tmp_path / str(number)
        grammar.save(path)
        again = load(path, grammar.vocabulary)

        assert again.fingerprint == grammar.fingerprint
        assert again.report.entries == grammar.report.entries
        assert again.warnings == grammar.warnings
        assert again.ebnf() == grammar.ebnf()
        assert load(str(path), grammar.vocabulary).to_bytes() == again.to_bytes()
    assert any(grammar.warnings for grammar in saved)


@settings(properties(), max_examples=max(5, EXAMPLES // 8))
@given(grammars(), vocabularies(("a", "b")))
def test_any_grammar_comes_back(sample: GrammarSample, words: VocabularySample) -> None:
    compiled = compile_or_none(compiler_of(words), sample.grammar)
    if compiled is None:
        return
    again = load(compiled.to_bytes(), compiled.vocabulary)
    pair = Matcher(compiled), Matcher(again)

    assert again.fingerprint == compiled.fingerprint
    for token in range(len(words.contents)):
        assert pair[0].accept_token(token) == pair[1].accept_token(token)
    assert observe(pair[0], len(words.contents)) == observe(pair[1], len(words.contents))


def test_origins_come_back() -> None:
    compiler = Compiler(Vocabulary.byte_level(), origins=True)
    compiled = compiler.compile_json_schema(SCHEMA)
    again = load(compiled.to_bytes(), compiled.vocabulary)

    assert again.labels == compiled.labels and again.labels


def test_pickles_go_through_it_and_share_the_vocabulary(saved: list[CompiledGrammar]) -> None:
    again = pickle.loads(pickle.dumps(saved))

    assert [g.fingerprint for g in again] == [g.fingerprint for g in saved]
    assert len({id(grammar.vocabulary) for grammar in again}) == 1
    assert again[0].vocabulary == saved[0].vocabulary


def test_another_process_reads_it(saved: list[CompiledGrammar], tmp_path: Path) -> None:
    saved[0].save(tmp_path / "saved")
    program = (
        "import sys, structag\n"
        "g = structag.load(sys.argv[1], structag.Vocabulary.byte_level())\n"
        'print(g.fingerprint, structag.Matcher(g).accept_string(\'{"k": "a"}\'))'
    )
    run = [sys.executable, "-c", program, str(tmp_path / "saved")]

    printed = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert printed.split() == [saved[0].fingerprint, "True"]


def test_the_vocabulary_must_be_the_same(saved: list[CompiledGrammar]) -> None:
    with pytest.raises(VocabularyError) as caught:
        load(saved[0].to_bytes(), Vocabulary.byte_level().resized(300))

    assert caught.value.code == "artefact-vocabulary"
    assert load(saved[0].to_bytes(), Vocabulary.byte_level()).vocabulary == saved[0].vocabulary


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "this is no saved grammar"),
        (lambda data: data[:20], "the file ends early"),
        (lambda data: data[:-1], "the file is damaged"),
        (lambda data: data + b"x", "the file is damaged"),
        (lambda data: data[:8] + b"\2\0\0\0" + data[12:], "a saved grammar of version 2"),
        (lambda data: "no/such/file", "`no/such/file` cannot be read"),
    ],
)
def test_what_is_damaged_is_said(saved: list[CompiledGrammar], change: Any, message: str) -> None:
    with pytest.raises(FormatError, match=f"^{message}") as caught:
        load(change(saved[0].to_bytes()), saved[0].vocabulary)

    assert caught.value.code == "artefact-file"


def test_limits_are_for_artefacts_too(saved: list[CompiledGrammar]) -> None:
    data, vocabulary = saved[0].to_bytes(), saved[0].vocabulary
    for setting in ("max_source_bytes", "max_expressions"):
        with pytest.raises(LimitError) as caught:
            load(data, vocabulary, limits=Limits(**{setting: 20}))

        assert caught.value.setting == setting


def damage(data: bytes, draw: random.Random) -> bytes:
    """`data`, with some bits flipped, or cut off, or with a part that is there twice."""
    kind = draw.randrange(4)
    at = draw.randrange(len(data))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + data[draw.randrange(len(data)) :]
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5))):
        changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def sealed(rest: bytes) -> bytes:
    """An artefact whose checksum says that nothing is damaged."""
    digest = blake2b(rest, digest_size=16, person=b"structag-artefac").digest()
    return b"structag" + b"\1\0\0\0" + digest + rest


@pytest.mark.parametrize("is_sealed", [False, True], ids=["damaged", "forged"])
def test_damage_is_refused_or_harmless(saved: list[CompiledGrammar], is_sealed: bool) -> None:
    """With the checksum mended the parts that read the grammar are on their own."""
    draw = random.Random(20261130)
    limits = Limits(max_work=200_000, max_memory_bytes=32 * 1024 * 1024)
    originals = [grammar.to_bytes() for grammar in saved]
    assert sealed(originals[0][START:]) == originals[0]
    seen: Counter[str] = Counter()
    for number in range(DAMAGED):
        original = originals[number % len(originals)]
        if is_sealed:  # mostly the grammar, which comes last
            head = START if draw.random() < 0.1 else original.rindex(b"]}") + 2
            data = sealed(original[START:head] + damage(original[head:], draw))
        else:
            data = damage(original, draw)
        try:
            grammar = load(data, saved[0].vocabulary, limits=limits)
            Matcher(grammar).fill_next_token_bitmask(np.zeros((1, 9), np.int32))
            assert is_sealed or data == original
            seen["loaded"] += 1
        except StructagError as error:
            assert str(error)
            seen[error.code] += 1

    assert seen["artefact-file"] > DAMAGED / 5
    assert not is_sealed or seen["loaded"] > DAMAGED / 50
