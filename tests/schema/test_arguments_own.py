"""Element styles that a caller makes: checked, so that what they accept reads in one way only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.arguments import COMPILER, accepts, compiled

from structag.errors import FormatError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar
from structag.schema.arguments import lower_arguments
from structag.schema.styles.check import check_style
from structag.schema.styles.element_style import KINDS, ElementStyle
from structag.schema.styles.known import ELEMENT_STYLES
from structag.tags.parse import parse_format

LINES = ElementStyle(
    before="@",
    after=(": ",),
    closer="\n",
    behind=("",),
    not_in_names=":",
)
"""``@name: value`` and the end of the line."""


@pytest.mark.parametrize("name", ELEMENT_STYLES)
def test_known_styles_read_in_one_way(name: str) -> None:
    check_style(ELEMENT_STYLES[name], "")


def test_a_style_of_lines() -> None:
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "pages": {"type": "integer", "minimum": 1}},
        "required": ["title"],
    }
    grammar = compiled(schema, LINES)

    assert accepts(grammar, "@title: A: B @c\n@pages: 12\n")
    assert accepts(grammar, "@title: \n@who: Ann\n")
    assert not accepts(grammar, "@title: A\nB\n")
    assert not accepts(grammar, "@title: A\n@pages: 0\n")
    assert not accepts(grammar, "@pages: 12\n")
    assert not accepts(grammar, "@title A\n")


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"before": ""}, "before", "is empty"),
        ({"after": ()}, "after", "is empty"),
        ({"after": (": ", "= ")}, "after", "begins with '=', which a name may hold"),
        ({"behind": ()}, "behind", "is empty"),
        ({"nothing": ()}, "nothing", "is empty"),
        ({"closer": ""}, "closer", "is empty"),
        ({"closer": "--"}, "closer", "ends as it begins"),
        ({"closer": "<a><"}, "closer", "ends as it begins"),
        ({"closer": "</{name}>"}, "stop", "holds `{name}`"),
        ({"closer": "\n", "stop": ";"}, "closer", "does not begin with `stop`"),
        ({"item": ""}, "item", "is empty"),
        ({"item": "*"}, "item_closer", "is empty"),
        ({"item": "*", "item_closer": ";"}, "item_closer", "does not begin with `stop`"),
        ({"entities": {"ab": "c"}}, "entities", "has the key 'ab'"),
        ({"types": {"string": "s"}}, "types", "does not name every type"),
        ({"types": dict.fromkeys(KINDS, "t ")}, "types", "marks strings and null alike"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(
    change: dict[str, Any], field: str, problem: str
) -> None:
    style = replace(LINES, **change)

    with pytest.raises(FormatError) as refusal:
        lower_arguments(True, style, GrammarBuilder(), pointer="/x")
    assert (refusal.value.code, refusal.value.pointer) == ("tag-value", f"/x/{field}")
    assert problem in str(refusal.value)
    assert refusal.value.expected


# -- in a structural tag

OWN = {"before": "@", "after": [": "], "closer": "\n", "behind": [""], "not_in_names": ":"}


def document(style: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    format = {"type": "json_schema", "json_schema": schema, "style": style}
    return {"type": "structural_tag", "format": format}


def test_a_tag_brings_its_own_style() -> None:
    tag = parse_format(document(OWN))
    grammar = COMPILER.compile_structural_tag(tag)
    again = COMPILER.compile_structural_tag(tag.model_dump_json())

    assert accepts(grammar, "@title: A: B\n@n: 1\n")
    assert not accepts(grammar, "@title: A")
    assert grammar.fingerprint == again.fingerprint
    assert grammar.fingerprint == COMPILER.compile_grammar(own_grammar()).fingerprint


def own_grammar() -> Grammar:
    builder = GrammarBuilder()
    schema = document(OWN)["format"]["json_schema"]
    return builder.build(lower_arguments(schema, LINES, builder))


@pytest.mark.parametrize(
    ("style", "code", "pointer"),
    [
        (OWN | {"afer": [": "]}, "tag-field", "/format/style/afer"),
        ({"before": "@"}, "tag-field", "/format/style"),
        (OWN | {"after": ": "}, "tag-value", "/format/style/after"),
        (OWN | {"after": [""]}, "tag-value", "/format/style/after/0"),
        (OWN | {"types": {"string": 1}}, "tag-value", "/format/style/types/string"),
        (OWN | {"closer": "--"}, "tag-value", "/format/style/closer"),
        ("qwen", "tag-value", "/format/style"),
        (None, "tag-value", "/format/style"),
    ],
)
def test_a_wrong_style_is_named(style: Any, code: str, pointer: str) -> None:
    with pytest.raises(FormatError) as refusal:
        COMPILER.compile_structural_tag(document(style))
    assert (refusal.value.code, refusal.value.pointer) == (code, pointer)
