"""Modules: grammars that are referred to mean what they mean when they are copied."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from support.engine import LIMITS, compile_or_none, mask_of
from support.strategies import GrammarSample, grammars

from structag import Compiler, Matcher, Vocabulary
from structag._core import Module
from structag.errors import GrammarError, LimitError, SchemaError
from structag.grammar.bind import bind_vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Imported
from structag.grammar.fingerprint import fingerprint, structural_hash
from structag.grammar.simplify import simplify_grammar
from structag.schema.report import Report
from structag.tags.lower import lower_document
from structag.tags.parse import parse_format

STEPS = 8
COMPILER = Compiler(Vocabulary.byte_level(), limits=LIMITS)


def twice(grammar: Grammar, module: Module | None) -> Grammar:
    """``x | [x,x]``, x being `grammar`: referred to if there is a module, or else copied."""
    b = GrammarBuilder()
    inner = b.extend(grammar.inlined) if module is None else b.refer(module)
    pair = b.seq(b.literal(b"["), inner, b.literal(b","), inner, b.literal(b"]"))
    return b.build(b.alt(inner, pair))


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), grammars())
def test_a_reference_means_the_same_as_a_copy(data: st.DataObject, sample: GrammarSample) -> None:
    try:
        simple = simplify_grammar(bind_vocabulary(sample.grammar, {}))
    except GrammarError:
        return
    module = simple.native.as_module()
    event("a module" if module else "none")
    if module is None:
        return
    copied, referred = twice(simple, None), twice(simple, module)
    assert fingerprint(copied) == fingerprint(referred)
    made = [compile_or_none(COMPILER, whole) for whole in (copied, referred)]
    if made[0] is None:
        assert made[1] is None
        return
    one, other = map(Matcher, made)
    for _ in range(STEPS):
        try:
            allowed = mask_of(one, 257)
        except LimitError:  # ambiguous beyond measure, copied as well
            return
        assert mask_of(other, 257) == allowed
        token = data.draw(st.sampled_from(sorted(allowed)))
        assert one.accept_token(token) and other.accept_token(token)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "at": {"type": "array", "items": {}}},
    "required": ["city"],
}


def tag_of(names: list[str], begin: str = "<f=") -> dict[str, Any]:
    tags = [
        {
            "type": "tag",
            "begin": f"{begin}{name}>",
            "content": {
                "type": "json_schema",
                "json_schema": {**copy.deepcopy(SCHEMA), "title": name},
            },
            "end": "</f>",
        }
        for name in names
    ]
    format = {"type": "triggered_tags", "triggers": [begin], "tags": tags}
    return {"type": "structural_tag", "format": format}


def test_tools_are_referred_to_and_read_when_they_are_called() -> None:
    compiler = Compiler(Vocabulary.byte_level())
    compiled = compiler.compile_structural_tag(tag_of([f"tool{i}" for i in range(40)]))
    before = compiled.stats["expressions"]
    matcher = Matcher(compiled)
    assert matcher.accept_string('Well. <f=tool7>{"city": "Rome", "at": [1, {"x": null}]}</f>')

    assert before < 40 * 12
    assert before < compiled.stats["expressions"] < 3 * before
    assert fingerprint(compiled.grammar) == compiled.fingerprint


def test_a_copy_and_a_reference_have_one_fingerprint() -> None:
    tag = tag_of(["a", "b"])
    shared = Compiler(Vocabulary.byte_level()).compile_structural_tag(tag)
    first = shared.grammar.native.nodes
    builder = GrammarBuilder()
    copied = builder.build(builder.extend(shared.grammar.inlined))

    assert any(isinstance(node, Imported) for node in first)
    assert not any(isinstance(node, Imported) for node in shared.grammar.nodes)
    assert fingerprint(copied) == shared.fingerprint


def test_markers_spelled_with_tokens_leave_modules_alone() -> None:
    contents = [bytes([i]) for i in range(256)] + [b"<call>", b""]
    vocabulary = Vocabulary.from_token_bytes(contents, special=[256, 257], stop_token_ids=[257])
    compiler = Compiler(vocabulary)
    compiled = compiler.compile_structural_tag(tag_of(["a", "b"], "<call>"))
    bound = bind_vocabulary(compiled.grammar, {"<call>": 256})

    assert bound is not compiled.grammar
    assert sum(isinstance(node, Imported) for node in bound.native.nodes) == 2


def test_what_holds_markers_is_no_module() -> None:
    b = GrammarBuilder()
    assert b.build(b.literal(b"<a>", marker=True)).native.as_module() is None
    assert b.build(b.repeat(b.literal(b"a"), 0)).native.as_module() is None
    assert b.build(b.literal(b"<a>")).native.as_module() is not None


def test_tags_made_before_are_marked_where_they_stand_now() -> None:
    vocabulary = Vocabulary.byte_level()
    compiler = Compiler(vocabulary)
    compiler.compile_structural_tag(json.dumps(tag_of(["a", "b", "c"])))
    again = compiler.compile_structural_tag(json.dumps(tag_of(["c", "d", "a"])))
    builder = GrammarBuilder()
    alone = builder.build(lower_document(tag_of(["c", "d", "a"]), builder, vocabulary))
    hashes = [structural_hash(g, marks=True)[g.root] for g in (again.grammar, alone)]

    assert hashes[0] == hashes[1]
    assert again.report.entries == Report.of(builder.notes).entries


def test_an_error_in_a_tag_names_its_place_each_time() -> None:
    compiler = Compiler(Vocabulary.byte_level())
    tag = tag_of(["a", "b"])
    tag["format"]["tags"][1]["content"]["json_schema"] = {"type": "strin"}
    for _ in range(2):
        with pytest.raises(SchemaError) as caught:
            compiler.compile_structural_tag(json.dumps(tag))
        assert caught.value.pointer == "/format/tags/1/content/json_schema/type"


def test_a_schema_that_its_owner_changes_is_read_again() -> None:
    compiler = Compiler(Vocabulary.byte_level())
    tag = tag_of(["a"])
    schema = tag["format"]["tags"][0]["content"]["json_schema"]
    before = [compiler.compile_structural_tag(s).fingerprint for s in (tag, parse_format(tag))]
    text = json.dumps(tag)
    model = parse_format(tag)
    schema["properties"]["city"]["type"] = "integer"
    after = [compiler.compile_structural_tag(s).fingerprint for s in (tag, model)]
    again = compiler.compile_structural_tag(text).fingerprint

    assert before[0] == before[1] == again
    assert after[0] != before[0]
    assert after[1] in (before[0], after[0])
