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
from support.random_members import Members

structag = pytest.importorskip("structag")

from structag.grammars import load_grammar, ready_made_grammars  # noqa: E402

COMPILER = structag.Compiler(structag.Vocabulary.byte_level())
SEEDS = range(40)

EXAMPLES: dict[str, tuple[list[str], list[str]]] = {
    "json": (
        [
            "0", "-1.5e+10", ' {"a" : [1, true, null], "\\u00e9\\n" : {} } ', "[]", '"é😀"',
            "\t[1,\r\n2]\n", '"\u007f"',
        ],
        [
            "", "01", "+1", "1.", ".5", "[1,]", "{'a':1}", '"\t"', "NaN", "{1:2}", '"\\x"',
            "[1 2]", "\u00a01", "tru",
        ],
    ),
    "json5": (
        [
            "{a: 1, 'b': \"c\", $_é: 0xAf, d: .5, e: 5., f: +Infinity, g: -NaN,}", "[1,]",
            "// c\n1", "/* a * b **/ null // d\n", "'it\\'s \\\na line'", '"\\0a"', '"\\0"',
            "'\\x41\\u0041'", "\ufeff\u00a0{}", "{ünïcödé:1}", "'\u2028'", "'\\q'", "{null: 1}",
        ],
        [
            "", "01", "0x", "[,]", "{,}", "{a}", "'\\01'", '"\n"', "{a-b: 1}", "/* open",
            "'\\x4'", "undefined", "5.e", "'\\1'", "{1: 2}",
        ],
    ),
    "arithmetic": (
        ["1", "1+2*3", "-(1 + 2) ** -3", "0.5 / 2", "- -1".replace(" ", ""), "2**3**4"],
        ["", "1+", "01", "(1", "1  + 2", "1 2", ".5", "1//2"],
    ),
    "csv": (
        ["a,b\r\n1,2\r\n", "a\nb", '"a ""b"", c",d', "", ",,", '"line\nbreak",x', "ü,é"],
        ['"a', 'a"b', '"a"b', "a\rb", "a\tb"],
    ),
    "sql_select": (
        [
            "SELECT * FROM t", "select distinct a, t.b as c from t where a = 1 and b is not null;",
            "SELECT COUNT(*) FROM a LEFT JOIN b ON a.id = b.id GROUP BY a.x HAVING COUNT(*) > 1 "
            "ORDER BY a.x DESC LIMIT 10 OFFSET 5",
            "SELECT a FROM t WHERE a IN (1, 2) OR NOT (b LIKE 'x''y%' AND c BETWEEN 1 AND 2)",
            'SELECT "a b" + 2 * (3 - c) FROM selection',
        ],
        [
            "SELECT", "SELECT * FROM select", "SELECT * FROM t WHERE", "DELETE FROM t",
            "SELECT * FROM t;SELECT * FROM t", "SELECT a FROM t ORDER a", "ſelect * from t",
        ],
    ),
    "python_literal": (
        [
            "None", "[1, -2.5e3, 'a\\n', \"b'\", True]", "{'a': (1,), 2: {3, 4}}", "()", "(1,)",
            "{}", "0xFF", "1_000", "[\n1,\n2,\n]", "{(1, 'a'): []}",
        ],
        [
            "", "(1)", "{[1]: 2}", "{[1]}", "'a\nb'", "'\\q'", "1__0", "f'a'", "[1 2]", "none",
            "'\\x4'", "--1",
        ],
    ),
    "iso_date": (
        [
            "2024-02-29", "2000-02-29", "1999-12-31T23:59:59Z", "2024-01-01T00:00:00.123+05:30",
            "0001-01-01",
        ],
        ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-1-01", "2024-01-01T24:00:00",
         "2024-01-01T00:00"],
    ),
    "url": (
        [
            "https://example.org", "http://user:pw@host:8080/a/b;c?q=1&r=%20#frag", "ftp://[::1]/",
            "http://[2001:db8::8:800:200c:417a]:80", "http://192.168.0.1/?a/b", "x+y://",
            "http://[::ffff:1.2.3.4]",
        ],
        ["example.org", "http:/a", "http://a b", "http://[:::1]", "http://a/%2", "://x",
         "http://[1:2:3:4:5:6:7:8:9]", "http://a#b#c"],
    ),
    "markdown_code_fence": (
        ["```\n```", "```python\nprint(1)\n```\n", "```c++\n  ``\n`a`\n    ```\n```"],
        ["```python\nprint(1)", "```\n```\n```\n```", "```a b\n```", "``\n``", "```\n ```x\n```"],
    ),
    "chess_san": (
        [
            "1. e4 e5 2. Nf3 Nc6", "1. e4", "1. d4 d5 2. c4 dxc4 3. Nbd2 O-O-O", "1. exd8=Q# Kf7",
            "12. Qh4e1 R1xa3+",
        ],
        ["", "e4", "1. e9", "1. axc4", "1. e8", "1. O-O-O-O", "1.e4", "1. Kae1"],
    ),
}  # fmt: skip


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
