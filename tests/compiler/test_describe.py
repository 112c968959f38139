"""Descriptions say all that a source says, in its order."""

from __future__ import annotations

from typing import Any

import pytest
from support.tag_cases import TAG_CASES, TOKEN_CASES

structag = pytest.importorskip("structag")

from structag.describe import describe_grammar, describe_schema, describe_tag  # noqa: E402


def lines(part: Any) -> list[str]:
    return [f"{'  ' * depth}{words}" for depth, words in part.lines()]


def of_schema(schema: Any) -> list[str]:
    return lines(describe_schema(schema))


def test_an_object() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "who"},
            "age": {"type": ["integer", "null"]},
        },
        "required": ["name", "id"],
        "additionalProperties": {"type": "boolean"},
    }

    assert of_schema(schema) == [
        "an object:",
        "  `name`: a string (who):",
        "    `minLength`: `1`",
        "  `age`, optional: an integer or null",
        "  also `id`: any JSON value",
        "  any other members: true or false",
    ]


def test_lists_and_unions() -> None:
    schema = {
        "type": "array",
        "prefixItems": [{"const": 1}],
        "items": {"oneOf": [{"enum": ["a", 2, None]}, {"not": {"type": "string"}}]},
        "uniqueItems": True,
    }

    assert of_schema(schema) == [
        "a list:",
        "  item 1: exactly `1`",
        "  every further item: a value:",
        "    exactly one of these holds:",
        "      `a`, `2` or `null`",
        "      a value:",
        "        this does not hold:",
        "          a string",
        "  `uniqueItems`: `true`",
    ]


def test_references_are_opened_once() -> None:
    schema = {
        "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/n"}, "y": {"$ref": "#/$defs/n"}, "z": {"$ref": "u"}},
    }

    assert of_schema(schema) == [
        "an object:",
        "  `x`, optional: `#/$defs/n`, a list:",
        "    every item: what `#/$defs/n` is, as above",
        "  `y`, optional: what `#/$defs/n` is, as above",
        "  `z`, optional: what `u` is",
    ]


@pytest.mark.parametrize("schema", [True, {}])
def test_anything(schema: Any) -> None:
    assert of_schema(schema) == ["any JSON value"]


def test_depth_is_cut() -> None:
    schema: Any = {"type": "null"}
    for _ in range(400):
        schema = {"type": "array", "items": schema}

    assert of_schema(schema)[-1].strip() == "every item: … and so on, deeper"


@pytest.mark.parametrize("case", [*TAG_CASES, *TOKEN_CASES], ids=lambda case: case.name)
def test_every_format_names_its_texts(case: Any) -> None:
    tag = {"type": "structural_tag", "format": case.format}
    shown = "\n".join(lines(describe_tag(tag)))
    for text in texts_in(case.format):
        assert f"`{text}`" in shown, shown


def texts_in(format: Any) -> set[str]:
    """The markers and texts of a format, whatever it is."""
    keys = ("begin", "end", "value", "triggers", "separator", "pattern", "token", "excludes")
    found: set[str] = set()
    pending = [format]
    while pending:
        value = pending.pop()
        for key, each in value.items() if isinstance(value, dict) else ():
            texts = each if isinstance(each, list) else [each]
            found |= {text for text in texts if key in keys and isinstance(text, str) and text}
            pending += [part for part in texts if isinstance(part, dict)]
            pending += [part for pair in texts if isinstance(pair, list) for part in pair]
    return {text for text in found if len(text) < 30 and text.isprintable()}


def test_grammars() -> None:
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    compiled = compiler.compile_ebnf('root ::= "(" root? ")" | [0-9]{2,} x\nx ::= "x"*')

    assert lines(describe_grammar(compiled.grammar)) == [
        "`root`, one of these:",
        "  one after the other:",
        '    the text "("',
        "    perhaps:",
        "      `root` again",
        '    the text ")"',
        "  one after the other:",
        "    2 times or more:",
        "      a character out of [0-9]",
        "    `x`, any number of times:",
        '      the text "x"',
    ]
