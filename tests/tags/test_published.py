"""The published JSON Schema takes what the reader takes, and refuses what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.tag_cases import TAG_CASES, TOKEN_CASES, TagCase, TokenCase, const, tag, text

from structag.errors import StructagError
from structag.tags.model import FORMATS
from structag.tags.parse import parse_format
from structag.tags.published import structural_tag_schema

SCHEMA = structural_tag_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def document(format: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format, **fields}


def test_it_is_a_schema_of_every_format() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    types = {
        definition["properties"]["type"]["const"]
        for definition in SCHEMA["$defs"].values()
        if "const" in definition["properties"].get("type", {})
    }

    assert set(FORMATS) <= types


@pytest.mark.parametrize("case", [*TAG_CASES, *TOKEN_CASES], ids=lambda case: case.name)
def test_it_takes_every_format_of_the_table(case: TagCase | TokenCase) -> None:
    VALIDATOR.validate(document(case.format))
    VALIDATOR.validate(parse_format(document(case.format)).model_dump(mode="json"))


@pytest.mark.parametrize(
    "source",
    [
        {"type": "structural_tag", "structures": [{"begin": "<", "end": ">"}], "triggers": ["<"]},
        {"type": "text"},
        {"type": "json_object"},
        {"type": "json_schema", "json_schema": {"name": "a", "schema": True, "strict": True}},
        document(const("a"), marker_tokens=["<a>"]),
    ],
)
def test_it_takes_every_shape(source: Any) -> None:
    parse_format(source)

    VALIDATOR.validate(source)


@pytest.mark.parametrize(
    "source",
    [
        document({"type": "tga"}),
        document({"type": "any_text", "exclude": ["a"]}),
        document({"type": "any_text", "max_chars": -1}),
        document({"value": "a"}),
        document({"type": "const_string"}),
        document({"type": "or", "elements": []}),
        document(tag("<", text(), [])),
        document(tag("<", text(), {"type": "const_string", "value": ">"})),
        document({"type": "token", "token": -1}),
        document({"type": "dispatch", "rules": [["a"]]}),
        document({"type": "json_schema", "json_schema": {}, "style": "yaml"}),
        document(const("a"), marker_tokens=[""]),
        {"type": "json_object", "schema": {}},
        {"type": "structural_tag", "structures": [], "triggers": ["<"]},
        {"format": const("a")},
    ],
)
def test_it_refuses_what_the_reader_refuses(source: Any) -> None:
    with pytest.raises(StructagError):
        parse_format(source)

    assert not VALIDATOR.is_valid(source)
