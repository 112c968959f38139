"""Calls that are nearly right are rejected, in every family."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

structag = pytest.importorskip("structag")

from support.family_cases import sample_tag, takes_text  # noqa: E402

from structag.families.family import Family  # noqa: E402
from structag.openai import model_family  # noqa: E402

COMPILER = structag.Compiler(structag.Vocabulary.byte_level())
NAMES = structag.model_formats()
BRACKETS = frozenset("{}[]()<>|｜")
TOOLS = ("book_table", "local_time", "list_tables")


def calls(family: Family) -> Iterator[tuple[structag.CompiledGrammar, str, int]]:
    """The samples that are accepted where a call is required, and where their calls begin."""
    for sample in family.samples:
        required = sample.model_copy(update={"tool_choice": "required"})
        grammar = COMPILER.compile_structural_tag(sample_tag(family, required))
        text = sample.accept
        if text is not None and takes_text(grammar, text):
            end = family.reasoning.end if family.reasoning is not None else None
            yield grammar, text, text.rfind(end) + len(end) if end and end in text else 0


@pytest.mark.parametrize("name", NAMES)
def test_without_one_bracket(name: str) -> None:
    found = list(calls(model_family(name)))
    for grammar, text, start in found:
        for place in range(start, len(text)):
            if text[place] in BRACKETS:
                mutant = text[:place] + text[place + 1 :]

                assert not takes_text(grammar, mutant), mutant

    assert found


@pytest.mark.parametrize("name", NAMES)
def test_with_a_tool_that_is_not_there(name: str) -> None:
    for grammar, text, _ in calls(model_family(name)):
        for tool in TOOLS:
            if tool in text:
                assert not takes_text(grammar, text.replace(tool, f"{tool}s"))
                assert not takes_text(grammar, text.replace(tool, tool[:-1]))


@pytest.mark.parametrize("name", NAMES)
def test_cut_short(name: str) -> None:
    for grammar, text, start in calls(model_family(name)):
        for end in range(start, len(text)):
            whole = takes_text(grammar, text[:end])

            assert not whole or is_a_call_before_more(text, end), text[:end]


def is_a_call_before_more(text: str, end: int) -> bool:
    """Whether another call begins where the text was cut, so that what is there is whole."""
    return any(tool in text[:end] for tool in TOOLS) and any(tool in text[end:] for tool in TOOLS)
