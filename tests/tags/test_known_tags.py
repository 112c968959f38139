"""Tags that a compiler knows from other documents: it answers as one that knows nothing."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.engine import properties

structag = pytest.importorskip("structag")

from structag.errors import StructagError  # noqa: E402

VOCABULARY = structag.Vocabulary.byte_level()


def tool(name: str, schema: Any, **fields: Any) -> dict[str, Any]:
    content = {"type": "json_schema", "json_schema": schema}
    return {"type": "tag", "begin": f"<f={name}>", "content": content, "end": "</f>", **fields}


PLACE = {"type": "object", "properties": {"city": {"type": "string"}}, "description": "é 😀"}
TAGS: list[Any] = [
    tool("a", PLACE),
    tool("b", PLACE),
    tool("b", {"type": "object", "properties": {"n": {"type": "integer"}}, "default": {"n": 1.5}}),
    tool("c", {"enum": ["]", "}", "{", '"', "\\"], "examples": [{"tags": [{"x": 1}]}]}),
    tool("d", True, end=["</f>", "</g>"]),
    tool("e", {"type": "object", "tags": [{"a": 1}]}),
    tool("x", {"type": "array", "items": {"type": "integer", "minimum": 7}}, begin="<x>"),
    {"type": "tag", "begin": "<f=r>", "content": {"type": "regex", "pattern": "[ab]+"}, "end": ""},
    {"type": "tag", "begin": "<f=any>", "content": {"type": "any_text"}, "end": "</f>"},
    {"type": "tag", "begin": "<f=n>", "content": {"type": "triggered_tags", "triggers": ["<f="],
     "tags": [tool("a", PLACE)]}, "end": "</n>"},
]  # fmt: skip
WRONG: list[Any] = [
    tool("w", {"type": "strin"}),
    tool("w", {"type": "object", "properties": {"a/b": {"pattern": "("}}}),
    tool("w", {"$ref": "#/$defs/none"}),
    tool("w", False),
    tool("w", {}, begin="no trigger"),
    tool("w", {}, begins="x"),
    tool("w", {}, begin=5),
    tool("w", {}, content={"type": "json_schem", "json_schema": {}}),
    tool("w", {}, content={"json_schema": {}}),
    tool("w", {}, type="tak"),
    7,
    [tool("a", PLACE)],
    {},
]
AROUND = [
    lambda f: f,
    lambda f: {"type": "sequence", "elements": [{"type": "const_string", "value": "x"}, f]},
    lambda f: {"type": "tag", "begin": "<", "content": f, "end": ">>"},
    lambda f: {"type": "or", "elements": [f, {"type": "json_schema", "json_schema": {
        "const": {"tags": [{"type": "tag"}, {"y": 2}]}}}]},
]  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Texts, many of which have the same tags; a few are wrong."""
    tags = draw(st.lists(st.sampled_from(TAGS), max_size=5))
    if draw(st.integers(0, 3)) == 0:
        tags.insert(draw(st.integers(0, len(tags))), draw(st.sampled_from(WRONG)))
    format: Any = {
        "type": "triggered_tags",
        "triggers": draw(st.sampled_from([["<f="], ["<f=", "<x"], ["<f"], ["<"], ["<f=", "<f=a"]])),
        "tags": tags,
    }
    if draw(st.booleans()):
        format["excludes"] = [draw(st.sampled_from(["!", "=a", "</f>"]))]
    if draw(st.booleans()):
        format["at_least_one"] = True
    kind = draw(st.integers(0, 5))
    if kind == 0:
        format = {"type": "tags_with_separator", "tags": tags, "separator": ","}
    document = {"type": "structural_tag", "format": draw(st.sampled_from(AROUND))(format)}
    text = json.dumps(
        document,
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, None, 1])),
    )
    change = draw(st.integers(0, 20))
    if change == 0:
        text = text.replace('"tags"', '"t\\u0061gs"', draw(st.integers(1, 3)))
    elif change == 1:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(["NaN", "{", '"', "]", ",", "\\"])) + text[at:]
    elif change == 2:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + text[at + draw(st.integers(1, 9)) :]
    elif change == 3:
        text = text.replace('"tags": [', '"tags": [{"type": "tag"}], "tags": [', 1)
    return text


def answer(compiler: Any, text: Any) -> Any:
    try:
        compiled = compiler.compile_structural_tag(text)
    except StructagError as error:
        return type(error), str(error), error.code, error.pointer, error.span, error.hint
    return compiled.fingerprint, compiled.ebnf(), compiled.report.to_json(), compiled.parts.met


@properties()
@given(st.lists(documents(), min_size=2, max_size=5))
def test_a_warm_compiler_answers_as_a_new_one(texts: list[str]) -> None:
    warm = structag.Compiler(VOCABULARY)

    for text in texts:
        # A document that was compiled already is not even looked at.
        assert answer(warm, text + " ") == answer(structag.Compiler(VOCABULARY), text + " ")


@properties()
@given(documents())
def test_a_compiler_without_a_cache_too(text: str) -> None:
    def language(result: Any) -> Any:
        """Without what equal parts that are not joined change: how it is printed, and counts."""
        return result if len(result) > 4 else (result[0], result[2])

    cold = structag.Compiler(VOCABULARY, cache_bytes=0)
    assert language(answer(cold, text)) == language(answer(structag.Compiler(VOCABULARY), text))


def test_known_tags_are_taken_from_their_texts() -> None:
    compiler = structag.Compiler(VOCABULARY)
    format = {"type": "triggered_tags", "triggers": ["<f="], "tags": TAGS[:3]}
    text = json.dumps({"type": "structural_tag", "format": format})
    turned = copy.deepcopy(format) | {"tags": [TAGS[2], TAGS[0]]}

    compiler.compile_structural_tag(text)
    other = compiler.compile_structural_tag(
        json.dumps({"type": "structural_tag", "format": turned})
    )

    assert other.parts.found == other.parts.met > 0
    assert next(entry.pointer for entry in other.report.restricted).startswith("/format/tags/0/")
