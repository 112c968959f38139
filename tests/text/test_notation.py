"""Grammars written as EBNF, GBNF and regular expressions, and read back."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import lark
import pytest
from hypothesis import assume, given
from support.engine import properties
from support.random_rules import LETTERS, rule_texts
from support.reference_matcher import ReferenceMatcher, TooHardError

from structag.errors import GrammarError, StructagError, UnsupportedError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Ref
from structag.grammar.fingerprint import fingerprint
from structag.grammars import load_grammar
from structag.text.grammar_text import read_grammar_text, write_grammar_text
from structag.text.regex import lower_regex

WORDS = ["".join(word).encode() for n in range(4) for word in itertools.product(LETTERS, repeat=n)]


def made(write: Callable[[GrammarBuilder], Ref]) -> Grammar:
    b = GrammarBuilder()
    return b.build(write(b))


def read_regex(pattern: str) -> Grammar:
    return made(lambda b: lower_regex(pattern, b))


TEXTS = [
    'root ::= "ab" | "c"\n',
    'root ::= "a"? [0-9]+ ("x" | "yz"){2,5} [^]*\n',
    'root ::= "\\"\\\\\\n\\t\\r\\u0000é😀/" [^\\-\\[-\\u005Ea-z]\n',
    'root ::= root "+" root | [0-9]+ | "(" root ")"\n',
    'root ::= ws item ws "," ws item\nitem ::= "a" ws\nws ::= [\\nx]*\n',
    'root ::= a "b"\na ::= "a"\n',
    'root ::= ("" | "a") a\na ::= ""\n',
    "root ::= ([a-z]{2}){3}\n",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("syntax", ["ebnf", "gbnf"])
def test_text_comes_back_as_it_was(text: str, syntax: str) -> None:
    text = text if syntax == "ebnf" else text.replace("[^]", ".")
    grammar = read_grammar_text(text, syntax).grammar

    written = write_grammar_text(grammar, syntax)
    again = read_grammar_text(written, syntax).grammar

    assert sorted(written.split()) == sorted(text.split())
    assert fingerprint(again) == fingerprint(grammar)


@pytest.mark.parametrize("text", TEXTS)
def test_ebnf_goes_through_lark(text: str) -> None:
    grammar = read_grammar_text(text, "ebnf").grammar
    written = write_grammar_text(grammar, "lark")

    assert written.startswith("start: ")
    assert fingerprint(read_grammar_text(written, "lark").grammar) == fingerprint(grammar), written


def test_lark_itself_reads_what_is_written() -> None:
    grammar = read_grammar_text(load_grammar("arithmetic.ebnf"), "ebnf").grammar
    parser = lark.Lark(
        write_grammar_text(grammar, "lark"), parser="earley", lexer="dynamic_complete"
    )
    parser.parse("-(1 + 2.5) ** 3*4")
    with pytest.raises(lark.UnexpectedInput):
        parser.parse("1 + + ")


def test_what_lark_writes_otherwise() -> None:
    grammar = made(
        lambda b: b.seq(
            b.repeat(b.chars([(97, 98)]), 2),
            b.repeat(b.literal(b"ab"), 2, 5),
            b.repeat(b.literal(b"c"), 3, 3),
            b.tokens([1, 5]),
            b.any_text,
            b.alt(b.epsilon, b.any_char),
        )
    )

    assert write_grammar_text(grammar, "lark") == (
        'start: (/[ab]/~2 /[ab]/*) "ab"~2..5 "c"~3 <[1,5]> (/./s*) (() | /./s)\n'
    )


MACROS = [
    "root ::= Token(1, 2) ExcludeToken(3)\n",
    'root ::= TagDispatch(("<a>", a), ("<b>", b), excludes=("x", "y",))\na ::= "1"\nb ::= [2]\n',
    'root ::= "." TagDispatch(("<a>", a)) "."\na ::= "1" | a a\n',
    'root ::= TagDispatch(("<a>", a), loop_after_dispatch=false) | "z"\na ::= ""\n',
    'root ::= TagDispatch(excludes=("stop",)) "stop" TagDispatch()\n',
    "root ::= part-1 [>]\npart-1[max_tokens=7] ::= [^>]*\n",
]


@pytest.mark.parametrize("text", MACROS)
def test_macros_come_back(text: str) -> None:
    grammar = read_grammar_text(text, "ebnf").grammar
    written = write_grammar_text(grammar, "ebnf")

    assert fingerprint(read_grammar_text(written, "ebnf").grammar) == fingerprint(grammar), written
    assert sorted(written.split()) == sorted(text.split())


def test_tokens_in_gbnf() -> None:
    grammar = made(lambda b: b.seq(b.tokens([7]), b.tokens([1, 2]), b.tokens([3], negated=True)))

    assert write_grammar_text(grammar, "gbnf") == "root ::= <[7]> (<[1]> | <[2]>) !<[3]>\n"


def test_long_alternatives_end_their_lines_with_a_bar_in_gbnf() -> None:
    words = " | ".join(f'"{word * 20}"' for word in "abcdefg")
    written = write_grammar_text(read_grammar_text(f"root ::= {words}", "gbnf").grammar, "gbnf")

    assert written.splitlines()[0] == f'root ::= "{"a" * 20}" |'
    assert len(written.splitlines()) == 7


def test_what_a_mark_keeps_apart_gets_a_name() -> None:
    grammar = made(
        lambda b: b.seq(b.mark("m", b.seq(b.literal(b"a"), b.chars([(97, 98)]))), b.literal(b"c"))
    )
    written = write_grammar_text(grammar, "ebnf")

    assert written == 'root ::= part-1 "c"\npart-1 ::= "a" [ab]\n'
    assert fingerprint(read_grammar_text(written, "ebnf").grammar) == fingerprint(grammar)


def test_names_become_names_of_the_notation() -> None:
    def write(b: GrammarBuilder) -> Ref:
        rules = [b.rule(name) for name in ("#/$defs/ü", "Token", "a_b", "1")]
        for rule in rules:
            b.define(rule, b.chars([(97, 98)]))
        return b.seq(*rules)

    grammar = made(write)

    assert write_grammar_text(grammar, "ebnf").splitlines()[0] == (
        "root ::= rule--defs- rule-Token a_b rule-1"
    )
    assert write_grammar_text(grammar, "gbnf").splitlines()[0] == "root ::= defs Token a-b 1"
    for syntax in ("ebnf", "gbnf"):
        written = write_grammar_text(grammar, syntax)
        assert fingerprint(read_grammar_text(written, syntax).grammar) == fingerprint(grammar)


REFUSED: list[tuple[str, str, Callable[[GrammarBuilder], Ref]]] = [
    ("ebnf", "EBNF cannot say: look-around",
     lambda b: b.erase(1, b.seq(b.literal(b"a"), b.assertion(0)))),
    ("ebnf", "EBNF cannot say: members in any order",
     lambda b: b.unordered([(b.literal(b"a"), True)], None, b.literal(b","))),
    ("gbnf", "GBNF cannot say: items counted by kind",
     lambda b: b.tally([(b.literal(b"a"), 1, 2)], 0, None, b.literal(b","))),
    ("ebnf", "EBNF cannot say: items that differ", lambda b: b.distinct("json", b.any_text)),
    ("ebnf", "EBNF cannot say: items that differ",
     lambda b: b.seq(b.distinct(None, b.any_text), b.complement(b.literal(b"a")))),
    ("ebnf", "EBNF cannot say: bytes that are no characters", lambda b: b.bytes([255])),
    ("ebnf", "EBNF cannot say: bytes that are no characters", lambda b: b.literal(b"\xff")),
    ("ebnf", "EBNF cannot say: free text up to a trigger",
     lambda b: b.scan([(b"<", b.epsilon)])),
    ("ebnf", "EBNF cannot say: a marker that control tokens may spell; "
     "write markers as plain text", lambda b: b.literal(b"<x>", marker=True)),
    ("gbnf", "GBNF cannot say: a token budget", lambda b: b.budget(b.any_text, 3)),
    ("gbnf", "GBNF cannot say: tokens by id", lambda b: b.tokens([1, 2], negated=True)),
    ("lark", "Lark cannot say: tokens by id", lambda b: b.tokens([1], negated=True)),
    ("lark", "Lark cannot say: a token budget", lambda b: b.budget(b.any_text, 3)),
    ("regex", "a regular expression cannot say: tokens by id", lambda b: b.tokens([1])),
]  # fmt: skip


@pytest.mark.parametrize(
    ("syntax", "message", "write"), REFUSED, ids=[f"{s}-{m[16:40]}" for s, m, _ in REFUSED]
)
def test_what_a_notation_cannot_say_is_refused(
    syntax: str, message: str, write: Callable[[GrammarBuilder], Ref]
) -> None:
    with pytest.raises(UnsupportedError) as caught:
        write_grammar_text(made(write), syntax)

    assert str(caught.value) == message
    assert caught.value.code == "notation"


def test_markers_can_be_written_as_text() -> None:
    grammar = made(lambda b: b.literal(b"<x>", marker=True))

    assert write_grammar_text(grammar, "ebnf", plain_markers=True) == 'root ::= "<x>"\n'
    assert write_grammar_text(grammar, "regex", plain_markers=True) == "<x>"


def test_an_unknown_notation_is_refused() -> None:
    with pytest.raises(StructagError) as caught:
        write_grammar_text(made(lambda b: b.epsilon), "bnf")

    assert caught.value.code == "source-kind"


# -- regular expressions

PATTERNS = [
    "a|b",
    "(?:ab|c)*d+e?",
    "(?:ab){2,5}c{3,}",
    r"[a-z\x2D\]\^]",
    r"[^a-z]",
    "[^]*",
    r"\.\*\\\/\(\)\[\]\{\}\|\?\+\^\$",
    r"é😀\n\t\u0000",
    "(?:a|b|)c",
    "(?:)",
    "(?:a{2}){3}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern_comes_back(pattern: str) -> None:
    grammar = read_regex(pattern)
    written = write_grammar_text(grammar, "regex")

    assert fingerprint(read_regex(written)) == fingerprint(grammar), written


def test_what_derives_nothing_is_left_out_of_a_pattern() -> None:
    grammar = read_grammar_text('root ::= "a" | x | x* "b"\nx ::= "c" x | x', "ebnf").grammar

    assert write_grammar_text(grammar, "regex") == "a|(?:)b"


def test_a_recursive_rule_is_no_regular_expression() -> None:
    grammar = read_grammar_text('root ::= "(" root ")" | "x"', "ebnf").grammar
    with pytest.raises(UnsupportedError) as caught:
        write_grammar_text(grammar, "regex")

    assert str(caught.value) == "a regular expression cannot say: the recursive rule `root`"


def test_a_pattern_that_doubles_with_each_rule_is_bounded() -> None:
    rules = "".join(f"r{n} ::= r{n + 1} r{n + 1}\n" for n in range(40))
    grammar = read_grammar_text(f'root ::= r0\n{rules}r40 ::= "a"', "ebnf").grammar
    with pytest.raises(StructagError) as caught:
        write_grammar_text(grammar, "regex")

    assert caught.value.code == "limit"


@properties()
@given(rule_texts("[^]"))
def test_random_grammars_as_patterns_and_in_gbnf(sample: tuple[str, Grammar]) -> None:
    """The same language in every notation that can say it, by the reference matcher."""
    text, _ = sample
    try:
        grammar = read_grammar_text(text, "ebnf").grammar
    except GrammarError:
        assume(False)
    gbnf = read_grammar_text(write_grammar_text(grammar, "gbnf"), "gbnf").grammar
    assert fingerprint(gbnf) == fingerprint(grammar)
    read_back = read_grammar_text(write_grammar_text(grammar, "lark"), "lark").grammar
    if "{2,}" not in text:
        assert fingerprint(read_back) == fingerprint(grammar)
    try:
        pattern = write_grammar_text(grammar, "regex")
    except UnsupportedError:
        return
    expected, found = ReferenceMatcher(grammar), ReferenceMatcher(read_regex(pattern))
    try:
        assert [w for w in WORDS if expected.accepts(w) != found.accepts(w)] == [], pattern
    except TooHardError:
        assume(False)
