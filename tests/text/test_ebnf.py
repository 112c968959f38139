"""EBNF: every construct with strings it accepts and rejects, every mistake with its message."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.grammar_cases import CONSTRUCTS

structag = pytest.importorskip("structag")

from structag.errors import StructagError  # noqa: E402

BYTE_LEVEL = structag.Vocabulary.byte_level()
COMPILER = structag.Compiler(BYTE_LEVEL)


def accepts(grammar: Any, text: str) -> bool:
    matcher = structag.Matcher(grammar)
    return bool(matcher.accept_string(text) and matcher.is_completed())


@pytest.mark.parametrize(("text", "good", "bad"), CONSTRUCTS, ids=[t for t, _, _ in CONSTRUCTS])
def test_construct(text: str, good: list[str], bad: list[str]) -> None:
    grammar = COMPILER.compile_ebnf(text)

    assert [x for x in good if not accepts(grammar, x)] == []
    assert [x for x in bad if accepts(grammar, x)] == []


MISTAKES: list[tuple[str, str, str]] = [
    (
        'root ::= "a" (\n',
        "grammar-syntax",
        "the end of the text cannot stand here, expected `(`, `)`, `|`, a character class, "
        "a macro such as `Token(…)`, a string in double quotes or the name of a rule\n"
        "<text>:2:1\n  2 | \n    | ^",
    ),
    (
        "root ::= a b\na ::= [z-a]\nb ::= a",
        "grammar-syntax",
        "the range is in the wrong order, expected the smaller end first\n"
        "<text>:2:8\n  2 | a ::= [z-a]\n    |        ^^^",
    ),
    (
        'root ::= itme\nitem ::= "a"',
        "grammar-undefined",
        "rule `itme` is used but not defined; add a definition of `itme`; did you mean `item`?\n"
        "<text>:1:10\n  1 | root ::= itme\n    |          ^^^^",
    ),
    (
        'a ::= "a"',
        "grammar-undefined",
        "rule `root` is missing: the grammar starts there; add a definition of `root`\n"
        '<text>:1:1\n  1 | a ::= "a"\n    | ^',
    ),
    (
        'root ::= "a"\nroot ::= "b"',
        "grammar-syntax",
        "rule `root` is defined twice, first in line 1; join the two with `|`, or rename one\n"
        '<text>:2:1\n  2 | root ::= "b"\n    | ^^^^',
    ),
    (
        'root ::= a\na ::= "x" b\nb ::= a | a b',
        "grammar-empty",
        "the grammar derives no string: the rules `a`, `b` only refer to each other; "
        "give it an alternative that ends\n"
        '<text>:2:1\n  2 | a ::= "x" b\n    | ^',
    ),
    (
        'root ::= "a" root',
        "grammar-empty",
        "the grammar derives no string: every alternative of `root` needs `root` again; "
        'give it an alternative that ends\n<text>:1:1\n  1 | root ::= "a" root\n    | ^^^^',
    ),
    (
        "root ::= []",
        "grammar-syntax",
        "`[]` matches no character, expected at least one character, or `[^]` for any\n"
        "<text>:1:10\n  1 | root ::= []\n    |          ^^",
    ),
    (
        r'root ::= "\x1Fa"',
        "grammar-syntax",
        "`\\x1Fa` can be read as two digits and as three, "
        "expected `\\u001F` before another digit\n"
        '<text>:1:11\n  1 | root ::= "\\x1Fa"\n    |           ^^^^^',
    ),
    (
        r'root ::= "\ud800"',
        "grammar-syntax",
        "`\\ud800` is no character, expected a code point up to 10FFFF, no surrogate\n"
        '<text>:1:11\n  1 | root ::= "\\ud800"\n    |           ^^^^^^',
    ),
    (
        'root ::= "a"{5,2}',
        "grammar-syntax",
        "`{5,2}` asks for at most 2 and at least 5, expected the smaller count first\n"
        '<text>:1:13\n  1 | root ::= "a"{5,2}\n    |             ^^^^^',
    ),
    (
        'root[lazy] ::= "a"',
        "grammar-feature",
        "the rule option `lazy` is not supported, expected `max_tokens` or `max_chars`\n"
        '<text>:1:6\n  1 | root[lazy] ::= "a"\n    |      ^^^^',
    ),
    (
        "root ::= TagDispatch((1, a))\na ::= [a]",
        "grammar-syntax",
        "this is no trigger, expected a string\n"
        "<text>:1:23\n  1 | root ::= TagDispatch((1, a))\n    |                       ^",
    ),
    (
        "root ::= [abc",
        "grammar-syntax",
        "the character class is not closed\n<text>:1:10\n  1 | root ::= [abc\n    |          ^",
    ),
    (
        'root ::= "a" b ::= "c"',
        "grammar-syntax",
        "rule `b` begins in the middle of a line, expected a line for each rule\n"
        '<text>:1:14\n  1 | root ::= "a" b ::= "c"\n    |              ^',
    ),
]


@pytest.mark.parametrize(("text", "code", "message"), MISTAKES, ids=[t for t, _, _ in MISTAKES])
def test_mistake(text: str, code: str, message: str) -> None:
    with pytest.raises(StructagError) as caught:
        COMPILER.compile_ebnf(text)

    assert str(caught.value) == message
    assert caught.value.code == code
    assert caught.value.span is not None


WARNINGS: list[tuple[str, list[tuple[str, tuple[int, int]]]]] = [
    ('root ::= "a"\nb ::= "c"', [("unused-rule", (13, 14))]),
    ('root ::= "a" d | "b"\nd ::= d', [("dead-alternative", (9, 14)), ("empty-rule", (21, 22))]),
    ('root ::= "a" | "b" | "a"', [("repeated-alternative", (21, 24))]),
    ('root ::= "a" | "b"', []),
]


@pytest.mark.parametrize(("text", "expected"), WARNINGS, ids=[t for t, _ in WARNINGS])
def test_warning(text: str, expected: list[tuple[str, tuple[int, int]]]) -> None:
    grammar = COMPILER.compile_ebnf(text)

    assert [(warning.kind, warning.span) for warning in grammar.warnings] == expected


def reported_cases() -> list[dict[str, Any]]:
    folder = os.environ.get("STRUCTAG_DATA")
    path = Path(folder or "", "cases", "reports.jsonl")
    if not folder or not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["kind"] == "ebnf"]


@pytest.mark.skipif(not os.environ.get("STRUCTAG_DATA"), reason="STRUCTAG_DATA is not set")
@pytest.mark.parametrize("case", reported_cases(), ids=lambda case: case["id"])
def test_reported_case(case: dict[str, Any]) -> None:
    if case["expected_error"]:
        with pytest.raises(StructagError):
            COMPILER.compile_ebnf(case["input"])
        return
    grammar = COMPILER.compile_ebnf(case["input"])

    assert [x for x in case["accept"] if not accepts(grammar, x)] == []
    assert [x for x in case["reject"] if accepts(grammar, x)] == []
    for prefix in case.get("prefix_reject", []):
        assert not structag.Matcher(grammar).accept_string(prefix)
