"""GBNF: what differs from EBNF, tokens above all, and what llama.cpp's own grammars use."""

from __future__ import annotations

from typing import Any

import pytest

structag = pytest.importorskip("structag")

from structag.errors import StructagError  # noqa: E402

THINK, END, CITY = 300, 301, 302
VOCABULARY = structag.Vocabulary.from_token_bytes(
    [bytes([value]) for value in range(256)],
    special={THINK: "<think>", END: "</think>", CITY: "<city>", 303: "<eos>"},
    stop_token_ids=303,
)
COMPILER = structag.Compiler(VOCABULARY)


def accepts(grammar: Any, *symbols: str | int) -> bool:
    """Whether the whole of `symbols`, token ids and texts spelled in bytes, is accepted."""
    matcher = structag.Matcher(grammar)
    tokens = [t for s in symbols for t in ([s] if isinstance(s, int) else s.encode())]
    return all(matcher.accept_token(token) for token in tokens) and matcher.is_completed()


# text, what it accepts, what it rejects
CONSTRUCTS: list[tuple[str, list[tuple[str | int, ...]], list[tuple[str | int, ...]]]] = [
    ("root ::= .", [("a",), ("\n",), ("é",)], [("",), ("ab",), (THINK,)]),
    ('root ::= "a" . "b"', [("axb",)], [("ab",)]),
    ("root ::= <think> [a-z]* </think>", [(THINK, "ab", END)], [("<think>ab</think>",)]),
    (f"root ::= <[{THINK}]> .* <[{END}]>", [(THINK, "a", END), (THINK, END)], [("a", END)]),
    ("root ::= <think> !</think>* </think> .*", [(THINK, "a", CITY, END, "b")], [(THINK, "a")]),
    (f"root ::= !<[{END}]>", [("a",), (THINK,)], [(END,), (303,)]),
    ('root ::= "ab"++', [("ab",), ("abab",)], [("",), ("aba",)]),
    ('root ::= ("a" | "b"\n  | "c")', [("a",), ("c",)], [("",)]),
    ('root ::= "a" |\n  "b"', [("b",)], [("ab",)]),
    ('root ::= | " " | "\\n" [ \\t]{0,20}', [("",), ("\n\t",)], [("  ",)]),
    (r'root ::= [^"\\\x7F\x00-\x1F] | [\\] (["\\bfnrt] | "u" [0-9a-fA-F]{4})',
     [("a",), ("\\n",), ("\\u00e9",)], [("\x01",), ('"',), ("\\x",)]),
    (r'root ::= "\x1Fa"', [("\x1fa",)], [("Ǻ",)]),
    ('1st ::= "a"\nroot ::= 1st 2_nd\n2_nd ::= "b"', [("ab",)], [("a",)]),
    ('root ::= "a\nb"', [("a\nb",)], [("ab",)]),
    ('root ::= "x"{2001}', [("x" * 2001,)], [("x" * 2000,)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "good", "bad"), CONSTRUCTS, ids=[t for t, _, _ in CONSTRUCTS])
def test_construct(
    text: str, good: list[tuple[str | int, ...]], bad: list[tuple[str | int, ...]]
) -> None:
    grammar = COMPILER.compile_gbnf(text)

    assert [x for x in good if not accepts(grammar, *x)] == []
    assert [x for x in bad if accepts(grammar, *x)] == []


MISTAKES: list[tuple[str, str, str]] = [
    (
        "root ::= <thinking>",
        "vocabulary-value",
        "there is no token `<thinking>`: the vocabulary has none; "
        "write the text as a string if it need not be one token\n"
        "<text>:1:10\n  1 | root ::= <thinking>\n    |          ^^^^^^^^^^",
    ),
    (
        "root ::= <>",
        "grammar-syntax",
        "`<>` is no token, expected `<text of a token>` or `<[id]>`, with `!` in front for any "
        "other\n<text>:1:10\n  1 | root ::= <>\n    |          ^^",
    ),
    (
        "root ::= <[99999999999]>",
        "grammar-syntax",
        "`<[99999999999]>` is no token, expected `<text of a token>` or `<[id]>`, with `!` in "
        "front for any other\n<text>:1:10\n  1 | root ::= <[99999999999]>\n"
        "    |          ^^^^^^^^^^^^^^^",
    ),
    (
        r'root ::= "\q"',
        "grammar-syntax",
        '`\\q` is no escape here, expected one of `\\t`, `\\r`, `\\n`, `\\\\`, `\\"`, `\\[`, '
        "`\\]`, `\\-`, `\\x`, `\\u`, `\\U`\n"
        '<text>:1:11\n  1 | root ::= "\\q"\n    |           ^^',
    ),
    (
        r'root ::= "\u12"',
        "grammar-syntax",
        '`\\u` needs 4 digits, expected `\\u0000`\n<text>:1:11\n  1 | root ::= "\\u12"\n'
        "    |           ^^^^",
    ),
    (
        'root = "a"',
        "grammar-syntax",
        "`root` cannot stand here, expected a rule `name ::= …` or the end of the text\n"
        '<text>:1:1\n  1 | root = "a"\n    | ^^^^',
    ),
    (
        'root ::= "a',
        "grammar-syntax",
        'the string is not closed\n<text>:1:10\n  1 | root ::= "a\n    |          ^',
    ),
    (
        "root ::= a*{99999999999}",
        "grammar-syntax",
        "a repeat count over 2,147,483,647, expected at most 2^31 - 1\n"
        "<text>:1:12\n  1 | root ::= a*{99999999999}\n    |            ^^^^^^^^^^^^^",
    ),
]


@pytest.mark.parametrize(("text", "code", "message"), MISTAKES, ids=[t for t, _, _ in MISTAKES])
def test_mistake(text: str, code: str, message: str) -> None:
    with pytest.raises(StructagError) as caught:
        COMPILER.compile_gbnf(text)

    assert str(caught.value) == message
    assert caught.value.code == code
