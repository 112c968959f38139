"""Templates, taken apart."""

from __future__ import annotations

import pytest

pytest.importorskip("structag")

from structag.families.template import (
    WHITESPACE,
    Choice,
    Hole,
    Pattern,
    TemplateError,
    Words,
    read_template,
)


def test_holes_and_other_braces() -> None:
    assert read_template('<f>{"{name}": {arguments}}</f>') == (
        Words('<f>{"'),
        Hole("name"),
        Words('": '),
        Hole("arguments"),
        Words("}</f>"),
    )


def test_patterns() -> None:
    assert read_template("a{/[0-9]{2}|{ws}/}b{ws}") == (
        Words("a"),
        Pattern(f"(?:[0-9]{{2}}|{WHITESPACE})"),
        Words("b"),
        Pattern(WHITESPACE),
    )


def test_lists_are_sequences_with_choices() -> None:
    assert read_template(["a", ["", "b{text}"], "c", "d"]) == (
        Words("a"),
        Choice(((), (Words("b"), Hole("text")))),
        Words("cd"),
    )


def test_json_is_spaced_freely_outside_strings() -> None:
    assert read_template("<{json}>", '{"a b": "{name}", "x": {arguments}}') == (
        Words("<"),
        Pattern(rf'\{{{WHITESPACE}"a b"{WHITESPACE}:{WHITESPACE}"'),
        Hole("name"),
        Pattern(rf'"{WHITESPACE},{WHITESPACE}"x"{WHITESPACE}:{WHITESPACE}'),
        Hole("arguments"),
        Pattern(rf"{WHITESPACE}\}}"),
        Words(">"),
    )


def test_a_pattern_in_json_brings_its_own_space_before_it() -> None:
    assert read_template("{json}", "[{/(,{ws}1)?/}]") == (
        Pattern(rf"\[(?:(,{WHITESPACE}1)?){WHITESPACE}\]"),
    )


def test_several_json_texts_are_a_choice() -> None:
    assert read_template("{json}", ["[]", "{}"]) == (
        Choice(((Pattern(rf"\[{WHITESPACE}\]"),), (Pattern(rf"\{{{WHITESPACE}\}}"),))),
    )


@pytest.mark.parametrize("json", [None, "{'a': 1}"])
def test_refusals(json: str | None) -> None:
    with pytest.raises(TemplateError):
        read_template("{json}", json)
