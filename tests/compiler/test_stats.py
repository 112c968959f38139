"""`CompiledGrammar.stats`: what is shared, and what was found out before."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from support import maskbench

from structag import Compiler, Matcher, StructagError, Vocabulary

STRING = {"type": "string"}
PLACE = {
    "type": "object",
    "properties": {"city": STRING, "zip": {"type": "integer"}},
    "additionalProperties": False,
}


def tag_of(schemas: list[Any]) -> dict[str, Any]:
    tags = [
        {"type": "tag", "begin": f"<tool_{i}>", "end": "</tool>",
         "content": {"type": "json_schema", "json_schema": schema}}
        for i, schema in enumerate(schemas)
    ]  # fmt: skip
    format = {"type": "triggered_tags", "triggers": ["<tool"], "tags": tags}
    return {"type": "structural_tag", "format": format}


def test_equal_parts_are_counted_once() -> None:
    compiler = Compiler(Vocabulary.byte_level())
    alone = compiler.compile_json_schema(PLACE).stats
    assert alone["structure_apart"] == alone["structure_distinct"]

    other = {**PLACE, "required": ["city"]}
    one, two = (
        compiler.compile_structural_tag(tag_of(schemas)).stats
        for schemas in ([PLACE], [PLACE, other])
    )
    apart, distinct = (
        two[f"structure_{kind}"] - one[f"structure_{kind}"] for kind in ("apart", "distinct")
    )
    assert apart > 20
    assert 0 < distinct < apart / 2


def test_parts_are_found_in_the_cache() -> None:
    compiler = Compiler(Vocabulary.byte_level())
    other = {**PLACE, "required": ["city"]}
    first, again, swapped = (
        compiler.compile_structural_tag(tag_of(schemas)).stats
        for schemas in ([PLACE, other], [other, PLACE], [PLACE, {"type": "boolean"}])
    )

    assert 0 <= first["structure_found"] < first["structure_met"]
    assert again["structure_found"] == again["structure_met"] == first["structure_met"]
    assert 0 < swapped["structure_found"] < swapped["structure_met"]
    without = Compiler(Vocabulary.byte_level(), cache_bytes=0)
    assert without.compile_structural_tag(tag_of([other])).stats["structure_found"] == 0


def test_summaries_of_one_grammar_serve_another() -> None:
    pieces = ["".join(p) for n in (2, 3) for p in itertools.product("abc ", repeat=n)]
    texts = [bytes([i]) for i in range(256)] + [piece.encode() for piece in pieces]
    vocabulary = Vocabulary.from_token_bytes(
        [*texts, b"</s>"], special=[len(texts)], stop_token_ids=[len(texts)]
    )
    compiler = Compiler(vocabulary)
    bitmask = np.zeros((1, (vocabulary.size + 31) // 32), dtype=np.int32)
    found = []
    for pattern in ("[abc]{2,5}x", "y[abc]{2,5}"):
        compiled = compiler.compile_regex(pattern)
        matcher = Matcher(compiled)
        assert compiled.stats["summaries"] == compiled.stats["nodes"] == 0
        for text in ("", "y", "ab"):
            if matcher.accept_string(text):
                matcher.fill_next_token_bitmask(bitmask)
        found.append(compiled.stats)

    assert found[0]["summaries_built"] > 0
    assert found[1]["summaries_reused"] > 0
    for stats in found:
        assert stats["summaries_built"] + stats["summaries_reused"] == stats["summaries"]
        assert stats["nodes"] > 0
        assert compiled.memory_bytes > stats["memory_bytes"]


@pytest.mark.skipif(maskbench.DATA is None, reason="needs STRUCTAG_DATA")
def test_fifty_tools_share_about_half() -> None:
    compiler = Compiler(Vocabulary.byte_level())
    tools: dict[str, Any] = {}
    for row in maskbench.rows(7):
        schema = row["schema"]
        text = json.dumps(schema)
        if isinstance(schema, dict) and schema.get("properties") and len(text) < 3000:
            try:
                compiler.compile_json_schema(text)
            except StructagError:
                continue
            tools[text] = schema
        if len(tools) == 50:
            break
    stats = (
        Compiler(Vocabulary.byte_level()).compile_structural_tag(tag_of(list(tools.values()))).stats
    )

    share = 1 - stats["structure_distinct"] / stats["structure_apart"]
    print(f"{share:.1%} of the structure of 50 tools is shared")
    assert 0.4 < share < 0.8
