"""Macros and options of EBNF: what they accept, and what is said about wrong arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

structag = pytest.importorskip("structag")

from structag.errors import StructagError  # noqa: E402

A, B, C = 300, 301, 302
VOCABULARY = structag.Vocabulary.from_token_bytes(
    [bytes([value]) for value in range(256)],
    special={A: "<a>", B: "<b>", C: "<c>", 303: "<eos>"},
    stop_token_ids=303,
)
COMPILER = structag.Compiler(VOCABULARY)
Symbols = tuple[str | int, ...]


def accepts(grammar: Any, *symbols: str | int) -> bool:
    """Whether the whole of `symbols`, token ids and texts spelled in bytes, is accepted."""
    matcher = structag.Matcher(grammar)
    tokens = [t for s in symbols for t in ([s] if isinstance(s, int) else s.encode())]
    return all(matcher.accept_token(token) for token in tokens) and matcher.is_completed()


CALLS: list[tuple[str, list[Symbols], list[Symbols]]] = [
    (f"root ::= Token({A}, {B}) [x]", [(A, "x"), (B, "x")], [(C, "x"), ("x",), ("<a>x",)]),
    (f"root ::= ExcludeToken({A})", [(B,), ("z",)], [(A,), (303,), ("zz",)]),
    ('root ::= "ID-" Regex("[0-9]{3}")', [("ID-123",)], [("ID-12",), ("ID-1234",)]),
    (r'root ::= Regex("\\d+\\.\\d+")', [("3.14",)], [("3,14",), ("3.",)]),
    ('root ::= Regex("a.b", flags="is")', [("A\nb",), ("axB",)], [("ab",)]),
    ('root ::= Regex("a.b")', [("axb",)], [("a\nb",), ("Axb",)]),
    (r'root ::= Regex("\\S+", json_string=true)', [("ab",)], [('a"',), ("a\\",), ("",)]),
    (
        'root ::= Substring("abc", "de", "fg")',
        [("",), ("abc",), ("de",), ("abcde",), ("defg",), ("abcdefg",)],
        [("ab",), ("cde",), ("abcfg",)],
    ),
    ('root ::= "<" Substring("a", "", "a") ">"', [("<>",), ("<a>",), ("<aa>",)], [("<aaa>",)]),
    ("root ::= Substring()", [("",)], [("a",)]),
    (
        'root ::= TagDispatch(("<t>", t), ("<u>", u))\nt ::= "x</t>"\nu ::= [0-9]',
        [("",), ("hi <t>x</t> and <u>1",), ("<t",), ("<u>7<u>8",)],
        [("<t>y</t>",), ("<t>",), ("<u>",)],
    ),
    (
        'root ::= TagDispatch(("<t>", t), loop_after_dispatch=false)\nt ::= "x"',
        [("a<t>x",), ("a",)],
        [("<t>xa",), ("<t>x<t>x",)],
    ),
    (
        'root ::= TagDispatch(("<t>", t), excludes=("stop",)) "."\nt ::= "x"',
        [("a<t>xb.",), (".",)],
        [("stop.",), ("a",), ("<t>xstop.",)],
    ),
    ("root ::= TagDispatch()", [("",), ("anything",)], [(A,)]),
    (
        f'root ::= TokenTagDispatch(({A}, t), excludes=({C},))\nt ::= "x"',
        [("a", A, "xb", B), (), (A, "x", A, "x")],
        [(A, "y"), (C,), (A,)],
    ),
    (
        f'root ::= TokenTagDispatch(({A}, t), loop_after_dispatch=false)\nt ::= "x"',
        [("a", A, "x"), ("a",)],
        [(A, "xx")],
    ),
    ('root ::= "<" t ">"\nt[max_tokens=2] ::= [^>]*', [("<>",), ("<ab>",)], [("<abc>",)]),
    ("root ::= t\nt[max_chars=2] ::= [a-z]+ [0-9]*", [("ab",), ("a1",)], [("",), ("ab1",)]),
    ('root [max_chars=1] ::= [^]* | "ab"', [("é",), ("",)], [("ab",)]),
]


@pytest.mark.parametrize(("text", "good", "bad"), CALLS, ids=[text for text, _, _ in CALLS])
def test_call(text: str, good: list[Symbols], bad: list[Symbols]) -> None:
    grammar = COMPILER.compile_ebnf(text)

    assert [x for x in good if not accepts(grammar, *x)] == []
    assert [x for x in bad if accepts(grammar, *x)] == []


MISTAKES: list[tuple[str, str, str, str]] = [
    ("Token()", "grammar-syntax", "no token is given, expected one token id or more", "Token()"),
    ('Token("a")', "grammar-syntax", "this is no token id, expected an integer", '"a"'),
    ("Token(true)", "grammar-syntax", "this is no token id, expected an integer", "true"),
    (
        "Token(99999999999)",
        "grammar-syntax",
        "the number is too large, expected at most 2^31 - 1",
        "99999999999",
    ),
    (
        "Token(x=1)",
        "grammar-syntax",
        "`Token` has no argument `x`, expected no named argument",
        "1",
    ),
    ("Regex()", "grammar-syntax", '`Regex` takes one pattern, expected `Regex("…")`', "Regex()"),
    ('Regex("(")', "regex-syntax", "a group is not closed, expected `)`", '"("'),
    (
        r'Regex("(a)\\1")',
        "regex-feature",
        "the backreference `\\1` is not regular; spell the repeated part out",
        r'"(a)\\1"',
    ),
    (
        'Regex("a", flags="x")',
        "grammar-syntax",
        "`x` is no flag, expected i, m, s or u",
        '"x"',
    ),
    (
        'Regex("a", json_string="x")',
        "grammar-syntax",
        "this is neither true nor false, expected true or false",
        '"x"',
    ),
    ("Substring(1)", "grammar-syntax", "this is no chunk, expected a string", "1"),
    (
        'TagDispatch("a")',
        "grammar-syntax",
        "this is no tuple, expected a tuple such as `(1, 2)`",
        '"a"',
    ),
    (
        'TagDispatch(("a",))',
        "grammar-syntax",
        "this is no pair, expected (trigger, name of a rule)",
        '("a",)',
    ),
    (
        'TagDispatch(("", root))',
        "grammar-syntax",
        "the trigger is empty, expected a string of one character or more",
        '""',
    ),
    (
        'TagDispatch(("<a>", root), excludes=("a",))',
        "grammar-syntax",
        "the exclude `a` occurs in the trigger `<a>`, expected triggers that can be written",
        '"<a>"',
    ),
    (
        "TagDispatch(root)",
        "grammar-syntax",
        "this is no tuple, expected a tuple such as `(1, 2)`",
        "root",
    ),
    (
        'TagDispatch(("<a>", root), excludes=root)',
        "grammar-syntax",
        "this is no tuple, expected a tuple such as `(1, 2)`",
        "root",
    ),
    (
        "TokenTagDispatch((1, root), excludes=(1,))",
        "grammar-syntax",
        "token 1 is a trigger and excluded, expected one of both",
        "1",
    ),
    (
        'TagDispatch(("<a>", nowhere))',
        "grammar-undefined",
        "rule `nowhere` is used but not defined; add a definition of `nowhere`",
        "nowhere",
    ),
]


@pytest.mark.parametrize(
    ("call", "code", "message", "place"), MISTAKES, ids=[call for call, _, _, _ in MISTAKES]
)
def test_wrong_call(call: str, code: str, message: str, place: str) -> None:
    text = f"root ::= {call}"
    with pytest.raises(StructagError) as caught:
        COMPILER.compile_ebnf(text)
    start, end = caught.value.span

    assert str(caught.value).partition("\n")[0] == message
    assert (caught.value.code, text[start:end]) == (code, place)


def test_a_substring_of_thousands_of_chunks() -> None:
    chunks = [f"{number};" for number in range(3000)]
    grammar = COMPILER.compile_ebnf(f"root ::= Substring({json.dumps(chunks)[1:-1]})")

    assert accepts(grammar, "".join(chunks[17:2999]))
    assert not accepts(grammar, "17;19;")


OPTIONS: list[tuple[str, str, str]] = [
    (
        "root[max_tokens=1, max_tokens=2] ::= [^]*",
        "grammar-syntax",
        "the option `max_tokens` is given twice, expected each option once",
    ),
    ("root[max_chars] ::= [^]*", "grammar-syntax",
     "`max_chars` needs a count, expected `max_chars=512`"),
    (
        'root[max_tokens=3] ::= "abc"',
        "grammar-operand",
        "a token budget over an expression that cannot end after every character, "
        "expected free text, or a repeat from 0 of one character or token",
    ),
    (
        'root[max_chars=3] ::= "a" root?',
        "grammar-feature",
        "`max_chars` on a rule that is not regular is not supported; "
        "limit the characters of its parts with `{0,n}`",
    ),
    (
        'root[capture="x"] ::= "a"',
        "grammar-feature",
        "the rule option `capture` is not supported, expected `max_tokens` or `max_chars`",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "message"), OPTIONS, ids=[text for text, _, _ in OPTIONS])
def test_wrong_option(text: str, code: str, message: str) -> None:
    with pytest.raises(StructagError) as caught:
        COMPILER.compile_ebnf(text)

    assert str(caught.value).partition("\n")[0] == message
    assert caught.value.code == code
    assert "<text>:1:" in str(caught.value)
