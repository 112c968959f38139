"""The ready-made grammars: what they accept and reject; random members before other readers."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import sqlite3
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest
from support.grammar_cases import EXAMPLES
from support.random_members import Members

structag = pytest.importorskip("structag")

from structag.grammars import load_grammar, ready_made_grammars  # noqa: E402

COMPILER = structag.Compiler(structag.Vocabulary.byte_level())
SEEDS = range(40)


def read(name: str) -> Any:
    return COMPILER.compile_ebnf(load_grammar(f"{name}.ebnf"))


def accepts(grammar: Any, text: str) -> bool:
    matcher = structag.Matcher(grammar)
    return bool(matcher.accept_string(text) and matcher.is_completed())


def test_every_grammar_has_examples() -> None:
    assert set(ready_made_grammars()) == {f"{name}.ebnf" for name in EXAMPLES}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    good, bad = EXAMPLES[name]
    grammar = read(name)

    assert [text for text in good if not accepts(grammar, text)] == []
    assert [text for text in bad if accepts(grammar, text)] == []
    assert grammar.warnings == ()


# -- other readers


def refuse_constant(name: str) -> Any:
    raise ValueError(name)


def read_json(text: str) -> None:
    json.loads(text, parse_constant=refuse_constant)


def read_csv(text: str) -> None:
    list(csv.reader(io.StringIO(text, newline=""), strict=True))


def read_arithmetic(text: str) -> None:
    assert isinstance(ast.parse(text, mode="eval"), ast.Expression)


def read_sql(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"EXPLAIN {text}")
    except sqlite3.OperationalError as error:
        # The tables do not exist; what counts is that the parser had nothing to say.
        if "syntax" in str(error) or "unrecognized" in str(error) or "incomplete" in str(error):
            raise
    finally:
        connection.close()


def read_date(text: str) -> None:
    if text.startswith("0000"):
        text = f"2000{text[4:]}"  # Python has no year 0; it is a leap year like 2000
    if "T" not in text:
        date.fromisoformat(text)
        return
    day, _, clock = text.partition("T")
    match = re.fullmatch(r"(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?", clock)
    assert match is not None
    datetime.fromisoformat(f"{day}T{clock[:8]}{(match[5] or '').replace('Z', '+00:00')}")


# RFC 3986, appendix B, with the sets of characters added; hosts in brackets are only looked over.
URL = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.-]*://"
    r"(?:(?:[\w.~!$&'()*+,;=:-]|%[0-9a-fA-F]{2})*@)?"
    r"(?:(?:[\w.~!$&'()*+,;=-]|%[0-9a-fA-F]{2})*|\[[0-9a-fA-F:.vV!$&'()*+,;=_~\w-]+\])(?::\d*)?"
    r"(?:/(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})*)*"
    r"(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-fA-F]{2})*)?"
    r"(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-fA-F]{2})*)?",
    re.ASCII,
)


def read_url(text: str) -> None:
    assert URL.fullmatch(text)


READERS: dict[str, Callable[[str], object]] = {
    "json": read_json,
    "arithmetic": read_arithmetic,
    "csv": read_csv,
    "sql_select": read_sql,
    "python_literal": ast.literal_eval,
    "iso_date": read_date,
    "url": read_url,
}


@pytest.mark.parametrize("name", READERS)
def test_random_members_are_read_by_others(name: str) -> None:
    grammar = read(name)
    for seed in SEEDS:
        text = Members(grammar.grammar, seed).draw(14 + seed % 20).decode()

        assert accepts(grammar, text)
        READERS[name](text)


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - READERS.keys()))
def test_random_members_are_accepted(name: str) -> None:
    grammar = read(name)
    for seed in SEEDS:
        assert accepts(grammar, Members(grammar.grammar, seed).draw(16).decode())


@pytest.mark.parametrize("name", ["json", "python_literal"])
def test_what_others_refuse_after_a_slip_is_refused(name: str) -> None:
    """One character changed: never accepted where the other reader refuses it."""
    grammar = read(name)
    for seed in SEEDS:
        members = Members(grammar.grammar, seed)
        text = members.draw(14).decode()
        for _ in range(10):
            at = members.chance.randrange(len(text) + 1)
            slip = text[:at] + members.chance.choice("[]{},:\"'\\01e.-tn \n\x01") + text[at + 1 :]
            try:
                READERS[name](slip)
            except (ValueError, SyntaxError, TypeError):
                assert not accepts(grammar, slip), slip
