"""Another engine's reading of EBNF: what we accept and write, it reads to the same language."""

from __future__ import annotations

from typing import Any

import pytest
from support.grammar_cases import CONSTRUCTS, EXAMPLES

pytest.importorskip("structag")
peer = pytest.importorskip("xgrammar", reason="compares with xgrammar")

from structag.grammars import load_grammar  # noqa: E402
from structag.text.grammar_text import read_grammar_text, write_grammar_text  # noqa: E402

ONLY_OURS = {
    'root ::= | "a"',  # an empty alternative
    'root ::= true\ntrue ::= "t"',  # true and false as names of rules
}


def accepts(grammar: Any, text: str) -> bool:
    return bool(peer.testing._is_grammar_accept_string(grammar, text))


@pytest.mark.slow
@pytest.mark.parametrize(("text", "good", "bad"), CONSTRUCTS, ids=[t for t, _, _ in CONSTRUCTS])
def test_construct(text: str, good: list[str], bad: list[str]) -> None:
    if text in ONLY_OURS:
        with pytest.raises(RuntimeError):
            peer.Grammar.from_ebnf(text)
        return
    grammar = peer.Grammar.from_ebnf(text)

    assert [x for x in good if not accepts(grammar, x)] == []
    assert [x for x in bad if accepts(grammar, x)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_ready_made_grammar_as_written(name: str) -> None:
    good, bad = EXAMPLES[name]
    read = read_grammar_text(load_grammar(f"{name}.ebnf"), "ebnf").grammar
    grammar = peer.Grammar.from_ebnf(write_grammar_text(read, "ebnf"))

    assert [x for x in good if not accepts(grammar, x)] == []
    assert [x for x in bad if accepts(grammar, x)] == []
