"""Random tags of tool calls: their outputs however they are tokenized, and what is nearly one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.engine import properties

structag = pytest.importorskip("structag")

from structag.sample import Piece, Sampler  # noqa: E402
from structag.tags.parse import parse_format  # noqa: E402

MARKERS = ("<think>", "</think>", "<call>", "</call>", "[TOOL]", "[END]")
MERGED = ['{"', '": ', "name", '"na', "wea", "ther", "}</", "}}", ", ", "tr", "ue", "11", " b"]
VOCABULARY = structag.Vocabulary.from_token_bytes(
    [*(bytes([value]) for value in range(256)), *(text.encode() for text in MERGED)],
    special={300 + index: marker for index, marker in enumerate((*MARKERS, "<eos>"))},
    stop_token_ids=300 + len(MARKERS),
)
COMPILER = structag.Compiler(VOCABULARY)
BYTES = structag.Compiler(structag.Vocabulary.byte_level())
NAMES = ("weather", "book_table", "lists")
LEAVES: list[Any] = [
    {"type": "integer", "minimum": 0, "maximum": 999},
    {"type": "boolean"},
    {"enum": ["true", "b", None]},
]


class Call(NamedTuple):
    """A document, and what its calls are made of."""

    document: dict[str, Any]
    markers: tuple[str, str]
    names: list[str]


@st.composite
def calls(draw: st.DrawFn, *, with_tokens: bool) -> Call:
    begin, end = markers = draw(st.sampled_from([MARKERS[2:4], MARKERS[4:6], ("<|c|>", "<|/c|>")]))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
    tags = []
    for name in names:
        keys = draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True))
        schema = {
            "type": "object",
            "properties": {key: draw(st.sampled_from(LEAVES)) for key in keys},
            "required": keys,
            "additionalProperties": False,
        }
        content = {"type": "json_schema", "json_schema": schema}
        opening = f'{begin}{{"name": "{name}", "arguments": '
        tags.append({"type": "tag", "begin": opening, "content": content, "end": "}" + end})
    several = {"type": "tags_with_separator", "tags": tags, "separator": "\n"}
    format = draw(
        st.sampled_from(
            [
                {"type": "or", "elements": tags},
                {**several, "at_least_one": True, "stop_after_first": True},
                {
                    "type": "triggered_tags",
                    "triggers": [begin],
                    "tags": tags,
                    "at_least_one": True,
                    "stop_after_first": True,
                },
            ]
        )
    )
    if draw(st.booleans()):
        thought = {"type": "any_text", "excludes": [begin]}
        thinking = {"type": "tag", "begin": MARKERS[0], "content": thought, "end": MARKERS[1]}
        format = {"type": "sequence", "elements": [thinking, format]}
    document = {"type": "structural_tag", "format": format}
    if with_tokens:
        document["marker_tokens"] = draw(st.lists(st.sampled_from(MARKERS), unique=True))
    return Call(document, markers, names)


def split(data: st.DataObject, pieces: Sequence[Piece]) -> Iterator[int]:
    """Tokens that spell `pieces`: those that are ids as they are, text in any way."""
    text = b""
    for piece in (*pieces, None):
        if isinstance(piece, bytes):
            text += piece
            continue
        while text:
            fitting = [at for at, word in enumerate(MERGED, 256) if text.startswith(word.encode())]
            token = data.draw(st.sampled_from([text[0], *fitting]))
            text = text[len(VOCABULARY.token_bytes(token)) :]
            yield token
        if piece is not None:
            yield piece


def takes(grammar: Any, text: str) -> bool:
    matcher = structag.Matcher(grammar)
    return bool(matcher.accept_string(text) and matcher.is_completed())


@properties(share=5)
@given(calls(with_tokens=True), st.integers(0, 2**32), st.data())
def test_every_tokenization_that_keeps_markers_whole(
    call: Call, seed: int, data: st.DataObject
) -> None:
    grammar = COMPILER.compile_structural_tag(call.document)
    pieces = Sampler(grammar, seed).draw(160).pieces
    matcher = structag.Matcher(grammar)

    assert [token for token in split(data, pieces) if not matcher.accept_token(token)] == []
    assert matcher.is_completed()


@properties(share=5)
@given(calls(with_tokens=False), st.integers(0, 2**32), st.data())
def test_what_is_nearly_an_output_is_rejected(call: Call, seed: int, data: st.DataObject) -> None:
    grammar = BYTES.compile_structural_tag(call.document)
    output = Sampler(grammar, seed).draw(160).data
    assert output is not None
    text = output.decode()
    start = text.index(call.markers[0])
    before, called = text[:start], text[start:]
    assert takes(grammar, text)

    marker = data.draw(st.sampled_from(call.markers))
    place = called.index(marker) + data.draw(st.integers(0, len(marker) - 1))
    brace = data.draw(st.sampled_from([at for at, char in enumerate(called) if char in "{}"]))
    name = json.loads(called[len(call.markers[0]) : -len(call.markers[1])])["name"]
    other = data.draw(st.sampled_from([name + "s", name[:-1], name.upper(), "x" + name]))

    assert not takes(grammar, before + called[:place] + "~" + called[place + 1 :])
    assert not takes(grammar, before + called[:brace] + called[brace + 1 :])
    assert not takes(grammar, before + called.replace(f'"{name}"', f'"{other}"', 1))


@properties(share=5)
@given(calls(with_tokens=True))
def test_json_text_keeps_the_structure(call: Call) -> None:
    parsed = parse_format(call.document)
    again = COMPILER.compile_structural_tag(parsed.model_dump_json())

    assert again.fingerprint == COMPILER.compile_structural_tag(call.document).fingerprint
