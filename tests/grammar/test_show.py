"""`structag.grammar.show`: golden texts, and that depth and size are no problem."""

from __future__ import annotations

import pytest
from rich.console import Console

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar
from structag.grammar.show import quote, show_ebnf, show_tree


def json_like() -> Grammar:
    b = GrammarBuilder()
    value = b.rule("value")
    string = b.mark(
        "/string", b.seq(b.literal(b'"'), b.encoded("json", b.any_text), b.literal(b'"'))
    )
    number = b.seq(b.optional(b.literal(b"-")), b.repeat(b.chars([(48, 57)]), 1))
    member = b.seq(string, b.literal(b": "), value)
    members = b.seq(member, b.repeat(b.seq(b.literal(b", "), member), 0, 9))
    b.define(
        value, b.alt(string, number, b.seq(b.literal(b"{"), b.optional(members), b.literal(b"}")))
    )
    return b.build(value)


JSON_LIKE = r"""
root ::= value
value ::= part-1
        | "-"? [0-9]+
        | "{" (part-1 ": " value (", " part-1 ": " value){0,9})? "}"
part-1 ::= "\"" json_string(any_text()) "\""
"""


def test_a_grammar_reads_like_ebnf() -> None:
    assert show_ebnf(json_like()) == JSON_LIKE.strip()


def test_every_expression_has_a_notation() -> None:
    b = GrammarBuilder()
    a, c = b.literal(b"a"), b.literal(b"c")
    shown = {
        b.empty: "nothing()",
        b.epsilon: '""',
        b.bytes([0x61, 0x62, 0x63, 0xFF]): r"[a-c\xFF]",
        b.bytes(set(range(256)) - {0x0A}): r"[^\n]",
        b.literal(b'q"\n\\\xff'): r'"q\"\n\\\xFF"',
        b.literal(b"<x>", marker=True): 'marker("<x>")',
        b.chars([(0x61, 0x62), (0x2D, 0x2D), (0x5D, 0x5D), (0x3B1, 0x3C9)]): r"[\-\]abα-ω]",
        b.any_char: "any_char()",
        b.chars([(0, 0x60), (0x62, 0x10FFFF)]): "[^a]",
        b.seq(a, b.alt(a, c), b.repeat(b.seq(a, b.any_char), 2, 2)): (
            '"a" ("a" | "c") ("a" any_char()){2}'
        ),
        b.repeat(b.optional(a), 3, None): '("a"?){3,}',
        b.both(a, b.complement(b.alt(a, c))): '"a" & ~("a" | "c")',
        b.encoded("xml", a): 'xml_text("a")',
        b.no_occurrence([b"x", b"y"]): 'text_without("x", "y")',
        b.any_text: "any_text()",
        b.scan([(b"<", a), (b"[", c)], [b"!"]): 'scan("<" => "a", "[" => "c", without "!")',
        b.erase(1, b.seq(b.assertion(0), b.transparent(a))): (
            'erase(1, assertion(0) transparent("a"))'
        ),
        b.tokens([5, 2]): "tokens(2, 5)",
        b.tokens([7], negated=True): "other_tokens(7)",
        b.budget(b.no_occurrence(), 9): "budget(any_text(), 9)",
        b.unordered([(a, True), (c, False)], b.literal(b"d"), b.literal(b",")): (
            'unordered("a", "c" optional, rest "d", separator ",")'
        ),
        b.tally([(a, 0, 2)], 1, None, b.literal(b",")): 'tally("a" {0,2}, all {1,}, separator ",")',
        b.distinct("json", a): 'distinct(json_string("a"))',
        b.distinct(None, a): 'distinct("a")',
        b.mark("/x", a): '"a"',
    }  # fmt: skip
    for root, text in shown.items():
        assert show_ebnf(b.build(root)) == f"root ::= {text}"


def test_long_alternatives_stand_one_to_a_line() -> None:
    b = GrammarBuilder()
    text = show_ebnf(b.build(b.alt(*(b.literal(b"alternative %d" % i) for i in range(6)))))

    assert text.splitlines()[:2] == ['root ::= "alternative 0"', '       | "alternative 1"']


@pytest.mark.parametrize("name", ["root", "my rule", "ünique"])
def test_rule_names_are_words_and_unique(name: str) -> None:
    b = GrammarBuilder()
    rules = [b.rule(name), b.rule(name)]
    b.define(rules[0], b.seq(b.literal(b"a"), rules[1]))
    b.define(rules[1], b.literal(b"b"))
    text = show_ebnf(b.build(b.seq(rules[0], rules[1])))
    names = [line.split(" ::= ")[0] for line in text.splitlines()]

    assert len(set(names)) == 3
    assert names[0] == "root"


def deep(depth: int) -> Grammar:
    b = GrammarBuilder()
    ref = b.literal(b"x")
    for i in range(depth):
        ref = b.alt(b.seq(b.literal(b"("), ref, b.literal(b")")), b.literal(b"%d" % i))
    return b.build(ref)


def test_depth_is_no_problem_and_the_text_stays_linear() -> None:
    text = show_ebnf(deep(20_000))

    assert len(text) < 20_000 * 80
    names = [line.split(" ::= ")[0] for line in text.splitlines() if " ::= " in line]
    assert len(names) == len(set(names))


def render(grammar: Grammar) -> str:
    console = Console(width=400, color_system=None)
    with console.capture() as captured:
        console.print(show_tree(grammar))
    return captured.get()


def test_a_tree_opens_each_rule_once() -> None:
    b = GrammarBuilder()
    rule = b.rule("list")
    b.define(rule, b.alt(b.literal(b"."), b.seq(b.mark("/item", b.literal(b"[x]")), rule)))

    assert [line.rstrip() for line in render(b.build(rule)).splitlines()] == [
        "rule list",
        "└── alt",
        '    ├── "."',
        "    └── seq",
        "        ├── mark /item",
        '        │   └── "[x]"',
        "        └── rule list",
    ]


def test_a_deep_tree_ends_in_an_ellipsis() -> None:
    assert "…" in render(deep(5_000))


def test_quote_keeps_text_readable() -> None:
    assert quote("é\t\u200b".encode()) == '"é\\t\\u200B"'
