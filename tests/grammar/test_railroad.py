"""Railroad diagrams are well-formed, have every name, and nothing lies outside of the image."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from support.tag_cases import TAG_CASES, TagCase

structag = pytest.importorskip("structag")

BYTES = structag.Compiler(structag.Vocabulary.byte_level())
SVG = "{http://www.w3.org/2000/svg}"


def draw(compiled: structag.CompiledGrammar) -> ElementTree.Element:
    image = ElementTree.fromstring(compiled.railroad())
    width, height = float(image.get("width", 0)), float(image.get("height", 0))
    for rect in image.iter(f"{SVG}rect"):
        x, y, wide, high = (float(rect.get(key, -1)) for key in ("x", "y", "width", "height"))

        assert 0 <= x <= x + wide <= width
        assert 0 <= y <= y + high <= height
    return image


def texts(image: ElementTree.Element, kind: str | None = None) -> list[str | None]:
    return [t.text for t in image.iter(f"{SVG}text") if kind is None or t.get("class") == kind]


@pytest.mark.parametrize("case", TAG_CASES, ids=lambda case: case.name)
def test_every_format(case: TagCase) -> None:
    compiled = BYTES.compile_structural_tag({"type": "structural_tag", "format": case.format})
    names = re.findall(r"^([\w-]+) ::=", compiled.ebnf(), re.MULTILINE)

    assert texts(draw(compiled), "title") == names


def test_large_grammars() -> None:
    draw(BYTES.compile_json_schema({"properties": {f"p{i}": {"type": "array"} for i in range(40)}}))
    ways = " | ".join(f'"{i}" [a-z]' for i in range(100))

    assert "… 60 more" in texts(draw(BYTES.compile_ebnf(f"root ::= {ways}")))


def test_boxes_and_loops() -> None:
    image = draw(BYTES.compile_ebnf('root ::= "<" root ">" | [0-9]{2,5} | "&"?'))

    assert {'"<"', "root", "[0-9]", '"&"', "2 to 5 times"} <= set(texts(image))


def test_free_text_leads_to_triggers() -> None:
    tag = {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"}
    format = {"type": "triggered_tags", "triggers": ["<a"], "tags": [tag], "excludes": ["!"]}
    image = draw(BYTES.compile_structural_tag({"type": "structural_tag", "format": format}))

    assert {'text without "!"', '"<a"'} <= set(texts(image))
