"""Lark's notation: each construct with what it accepts and rejects, each mistake."""

from __future__ import annotations

import contextlib
import random

import pytest
from support.random_lark import LarkMaker

structag = pytest.importorskip("structag")

from structag.errors import StructagError  # noqa: E402
from structag.grammars import load_grammar  # noqa: E402
from structag.source import Source  # noqa: E402
from structag.text.grammar_text import lower_grammar_text, read_grammar_text  # noqa: E402
from structag.text.lark import parse_lark  # noqa: E402

COMPILER = structag.Compiler(structag.Vocabulary.byte_level())


def accepts(grammar: structag.CompiledGrammar, text: str) -> bool:
    matcher = structag.Matcher(grammar)
    return bool(matcher.accept_string(text) and matcher.is_completed())


# text, what it accepts, what it rejects
CONSTRUCTS: list[tuple[str, list[str], list[str]]] = [
    ('start: "a" "b" | "c"', ["ab", "c"], ["", "a", "abc"]),
    ('start: ("a" | "b") ["c"]', ["a", "bc"], ["c", "ab"]),
    ('start: "a"* "b"+ "c"?', ["b", "aabbc"], ["", "ac"]),
    ('start: "ab"~2 | "c"~1..2 | "d" ~ 0', ["abab", "c", "cc", ""], ["ab", "ccc", "d"]),
    ("start:\n", [""], ["a"]),
    ('start: "a"\n     | "b" -> letter\n     |\n', ["a", "b", ""], ["c"]),
    ('?start: _one two\n_one: "1"\n!two: "2"', ["12"], ["1"]),
    ('start: start "a" | "b"', ["b", "baa"], ["", "a"]),
    ('start: "a".."c" "é".."ü"', ["aé", "cö"], ["dé", "a"]),
    ('start: "straSSe"i', ["STRASSE", "ſtraſſe"], ["stra"]),
    (r'start: "\n\t\"\\\x41\u00e9\U0001F600"', ['\n\t"\\Aé😀'], [""]),
    ("start: /a.c/s /b/i", ["a\ncB"], ["acb"]),
    ("start: /[^\\/]+/ // comment\n# and another\n", ["ab"], ["a/b"]),
    ("start: A B\nA.2: /a+/\nB.-1: A | \"b\"", ["ab", "aa", "aaa"], ["a", "b"]),
    ('start: NAME\nNAME: /[a-z]+/ & ~("if" | "else")', ["iff", "i"], ["if", "else", ""]),
    ('start: A\nA: /a*/ & /(..)*/ & ~""', ["aa", "aaaa"], ["", "a", "aaa"]),
    ('start: A\nA: "<" (~(ANY ">" ANY)) ">"\nANY: /(.|\\n)*/', ["<>", "<a\n>"], ["<a>b>", "<"]),
    ("start: _sep{item, \",\"}\n_sep{x, mark}: x (mark x)*\nitem: /[0-9]/", ["1", "1,2,3"], ["1,"]),
    (
        'start: pair{"a"} pair{pair{B}}\npair{x}: x x\nB: "b"',
        ["aabbbb"],
        ["aabb", "ab"],
    ),
    ('start: TWICE{"a"}\nTWICE{x}: x x', ["aa"], ["a"]),
    ("%import common.INT\nstart: INT", ["07"], ["", "a"]),
    (
        "%import common (WORD, INT)\n%import common.CNAME -> ID\nstart: WORD INT ID",
        ["a1_b2"],
        ["1a"],
    ),
    ('%import common.WORD\nstart: WORD\n%override WORD: "z"', ["z"], ["a"]),
    ('%import common.INT\nstart: INT\n%extend INT: "x"', ["5", "x"], ["a"]),
    ("start: <[97]> <[98,120-121]>", [], ["ab"]),
    ('start: "x" %json {"const": "}\\""} "y"', ['x"}\\""y'], ["xy"]),
    ("start: %json true", ['{"a": 1}', "1"], [""]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "good", "bad"), CONSTRUCTS, ids=[t for t, _, _ in CONSTRUCTS])
def test_construct(text: str, good: list[str], bad: list[str]) -> None:
    grammar = COMPILER.compile_lark(text)

    assert [x for x in good if not accepts(grammar, x)] == []
    assert [x for x in bad if accepts(grammar, x)] == []


def test_tokens_are_taken_by_id() -> None:
    matcher = structag.Matcher(COMPILER.compile_lark("start: <[97]> <[98,120-121]>"))

    assert matcher.accept_token(97)
    assert matcher.accept_token(121)
    assert matcher.is_completed()


def test_ignored_text_stands_before_terminals_and_at_the_end() -> None:
    grammar = COMPILER.compile_lark(
        'start: sum\nsum: NUMBER ("+" NUMBER)*\n'
        "%import common (NUMBER, WS, C_COMMENT)\n%ignore WS\n%ignore C_COMMENT\n"
    )

    for text in ("1+2", " 1 +\n2.5e3 ", "/* one */1/**/+ 2/* end */"):
        assert accepts(grammar, text), text
    for text in ("1 +", "1 2", "1. 5e3+", "/* open 1"):
        assert not accepts(grammar, text), text


STATEMENTS = 'start: (NAME ";")*\nNAME: /[a-z]+/\n'
IGNORED: list[tuple[str, list[str], list[str]]] = [
    ("/#[^\\n]*/", ["a;", "a;#b", "#a;"], ["a#b;", "a;#b\na;"]),
    ("/#[^\\n]*/\n%ignore /\\s+/", ["#x\n a; # b ;\n", " a#\n;"], ["a#;", "a;# \n b"]),
    ("/;+_/", ["a;_;", ";_;_a;;_;"], ["a;_", ";_;_a;_"]),
    (r"/\/\*(.|\n)*?\*\//", ["a/*;*/;", "/***/a;/*\n*/"], ["a/*;*/*/;", "/*a;"]),
    ("/_[a-z]*/", ["a_b;", "_bca", "_"], ["_a;", "_;a"]),
    ('("_" | /-+/)+', ["-_a--;"], ["a-b;"]),
    ("/(\\r?\\n)+/", ["\na\r\n\n;"], ["a\r;", "\ra;"]),
    ("/ab|a_/", ["abc;", "aba_c;"], ["ab_;", "a_a"]),
]  # fmt: skip


@pytest.mark.parametrize(("ignored", "good", "bad"), IGNORED, ids=[i for i, _, _ in IGNORED])
def test_ignored_text_is_taken_as_a_whole(ignored: str, good: list[str], bad: list[str]) -> None:
    lark = pytest.importorskip("lark")
    text = f"{STATEMENTS}%ignore {ignored}"
    grammar = COMPILER.compile_lark(text)
    other = lark.Lark(text, parser="earley", lexer="dynamic_complete")
    for output in [*good, *bad]:
        with contextlib.suppress(RuntimeError):  # Lark's, where it found several ends
            try:
                other.parse(output)
            except lark.exceptions.LarkError:
                assert output in bad, output
            else:
                assert output in good, output

        assert accepts(grammar, output) == (output in good), output


def test_what_follows_ignored_text_may_begin_like_it() -> None:
    grammar = COMPILER.compile_lark("start: A+\nA: /[a-z ]+/\n%ignore /[ ]+/")

    assert accepts(grammar, "  a b ")
    assert accepts(COMPILER.compile_lark('start: "a"\n%ignore /_*/'), "__a_")


REFUSED = [
    ("/a|ab/", "how much of a text it takes depends on the order of its parts"),
    ("/a*?b*/", "how much of a text it takes depends on the order of its parts"),
    (r"/\/\*(.|\n)*\*\//", "whether what follows makes it longer depends on more than that"),
    ("/[a-c]x?/", "what follows may make it longer"),
    ("/a\\b./", "look-around stands in it"),
]


@pytest.mark.parametrize(("ignored", "message"), REFUSED, ids=[ignored for ignored, _ in REFUSED])
def test_ignored_text_that_cannot_be_told_is_refused(ignored: str, message: str) -> None:
    text = f"start: /[a-x]/* /[\\/;*]/\n%ignore {ignored}"
    with pytest.raises(StructagError) as caught:
        COMPILER.compile_lark(text)

    assert (caught.value.code, caught.value.span) == (
        "grammar-feature",
        (text.index(ignored), len(text)),
    )
    assert message in caught.value.message


def test_an_empty_terminal_after_ignored_text_is_refused() -> None:
    with pytest.raises(StructagError, match="a terminal that may be empty is not supported"):
        COMPILER.compile_lark("start: A\nA: /a*/\n%ignore /_+/")

    assert accepts(COMPILER.compile_lark("start: A\nA: /a*/\n%ignore /_/"), "__aa_")


def test_tokens_and_schemas_may_follow_ignored_text() -> None:
    text = 'start: %json {"type": "array"} <[97]>\n%ignore /\\s+/'
    matcher = structag.Matcher(COMPILER.compile_lark(text))

    assert matcher.accept_string(" [1, 2] ") and matcher.accept_token(97)


def test_nothing_is_ignored_inside_a_terminal() -> None:
    grammar = COMPILER.compile_lark('start: A (B & ~"b")\nA: "a" "a"\nB: /b*/\n%ignore " "')

    assert accepts(grammar, " aa bb ")
    assert not accepts(grammar, "a a bb")
    assert not accepts(grammar, "aa b b")


def test_every_common_terminal_is_usable() -> None:
    good = {
        "ESCAPED_STRING": '"a\\"b"', "C_COMMENT": "/* a ** */", "SQL_COMMENT": "-- x",
        "SIGNED_FLOAT": "-1.5e-3", "NEWLINE": "\r\n\n", "CNAME": "_a1", "HEXDIGIT": "F",
    }  # fmt: skip
    bad = {"ESCAPED_STRING": '"a"b"', "C_COMMENT": "/* */ */", "SIGNED_FLOAT": "-1", "CNAME": "1a"}
    names = [
        line.split(":")[0] for line in load_grammar("common.lark").splitlines() if ": " in line
    ]
    for name in (name for name in names if name.isupper() and name[0] not in "_/"):
        grammar = COMPILER.compile_lark(f"%import common.{name}\nstart: {name}")
        if name in good:
            assert accepts(grammar, good[name]), name
        if name in bad:
            assert not accepts(grammar, bad[name]), name


MISTAKES: list[tuple[str, str, str]] = [
    ('start: "a" (', "grammar-syntax", "the end of the text cannot stand here"),
    ('start: "a', "grammar-syntax", "the string is not closed"),
    ("start: /a", "grammar-syntax", "the regular expression is not closed"),
    ('start: "\\d"', "grammar-syntax", "`\\d` is no escape here"),
    ('start: "b".."a"', "grammar-syntax", "a range needs two characters, in order"),
    ('start: "a"~3..2', "grammar-syntax", "asks for at most 2 and at least 3"),
    ('start: "a"~99999999999', "grammar-syntax", "a repeat count over"),
    ("start: <[a]>", "grammar-syntax", "`<[a]>` names no tokens"),
    ("start: <[0-999999999]>", "grammar-syntax", "names too many tokens"),
    ("start: /a[/", "regex-syntax", "a class is not closed"),
    ("start: /(a)\\1/", "regex-feature", "the backreference `\\1` is not regular"),
    ("start: /a/x", "grammar-feature", "the flag `x` of a regular expression"),
    ("start: /^a/", "regex-feature", "past the text that is matched"),
    ('start: /a(?!b)/ "b"', "regex-feature", "past the text that is matched"),
    ("start: %json", "grammar-syntax", "`%json` without a JSON Schema"),
    ("start: %json {", "grammar-syntax", "the JSON text is not closed"),
    ("start: %json {1}", "grammar-syntax", "the schema is not JSON"),
    ('start: %json {"type": "x"}', "schema-value", "`type` is `x`"),
    ("start: a", "grammar-undefined", "rule `a` is used but not defined"),
    ('one: "a"', "grammar-undefined", "rule `start` is missing"),
    ('start: "a"\nstart: "b"', "grammar-syntax", "rule `start` is defined twice, first in line 1"),
    ('start: A\nA: b\nb: "x"', "grammar-operand", "the rule `b` cannot be part of a terminal"),
    ("start: A\nA: <[1]>", "grammar-operand", "cannot be part of a terminal"),
    ('start: A\nA: "a" A?', "grammar-operand", "`A` refers to itself"),
    ("start: start", "grammar-empty", "the grammar derives no string"),
    ('start: (start | "a") & "a"', "grammar-operand", "an operand of And is not regular"),
    ("%declare A\nstart: A", "grammar-feature", "`%declare` names terminals"),
    ("%import python.NAME\nstart: NAME", "grammar-feature", "`python.NAME` cannot be imported"),
    ("%import common.NOPE\nstart: NOPE", "grammar-feature", "`common.NOPE` cannot be imported"),
    ("%import common.INT -> int\nstart: int", "grammar-syntax", "a terminal is imported as `int`"),
    ('start: "a"\n%override x: "b"', "grammar-undefined", "there is no `x` before this"),
    ('start: a{"x"}', "grammar-undefined", "there is no template `a`"),
    ("start: a\na{x}: x", "grammar-syntax", "the template `a` is used with 0 arguments"),
    ('start: a{"x"}\na{x}: "q" | a{a{x}}', "limit", "is used with ever new arguments"),
    ("start: " + "(" * 600 + '"a"' + ")" * 600, "nesting-limit", "nested deeper than 512 levels"),
]


@pytest.mark.parametrize(
    ("text", "code", "message"), MISTAKES, ids=[t[:40] for t, _, _ in MISTAKES]
)
def test_mistake(text: str, code: str, message: str) -> None:
    with pytest.raises(StructagError) as caught:
        COMPILER.compile_lark(text)

    assert caught.value.code == code
    assert message in caught.value.message
    assert caught.value.span is not None


def test_an_error_draws_the_place() -> None:
    with pytest.raises(StructagError) as caught:
        COMPILER.compile_lark('start: "a"\n  | /[b-a]/\n')

    assert str(caught.value).endswith("<text>:2:7\n  2 |   | /[b-a]/\n    |       ^^^")


def test_a_schema_needs_someone_who_reads_it() -> None:
    with pytest.raises(StructagError) as caught:
        read_grammar_text('start: %json {"type": "null"}', "lark")

    assert caught.value.code == "grammar-feature"


def test_warnings_beside_a_schema_of_open_objects() -> None:
    text = 'start: "call " NAME %json {"properties": {"n": true}}\nNAME: "a" | "a"\nB: "b"'

    assert [(w.kind, w.span) for w in COMPILER.compile_lark(text).warnings] == [
        ("repeated-alternative", (text.rindex('"a"'), text.rindex('"a"') + 3)),
        ("unused-rule", (text.index("B:"), text.index("B:") + 1)),
    ]


def test_a_schema_is_reported() -> None:
    grammar = COMPILER.compile_lark('start: %json {"type": "string", "title": "t"}')

    assert [entry.keyword for entry in grammar.report.entries] != []


def test_deep_and_wide_texts() -> None:
    deep = "start: " + "(" * 500 + '"a"' + ")?" * 500
    wide = "start: " + " | ".join(f'"w{i}"' for i in range(5000))
    chain = "start: r0\n" + "".join(f'r{i}: r{i + 1} | "x"\n' for i in range(2000)) + 'r2000: "y"'

    assert accepts(COMPILER.compile_lark(deep), "a")
    assert accepts(COMPILER.compile_lark(wide), "w4999")
    assert accepts(COMPILER.compile_lark(chain), "y")


def test_unused_terminals_are_warned_of_but_not_those_of_the_library() -> None:
    grammar = COMPILER.compile_lark('%import common.NUMBER\nstart: NUMBER\nA: "a"')

    assert [(w.kind, w.message) for w in grammar.warnings] == [
        ("unused-rule", "rule `A` is never used")
    ]


def test_lark_goes_where_other_texts_go() -> None:
    builder = structag.GrammarBuilder()
    ref = lower_grammar_text('start: "ab" | "c"', "lark", builder)

    assert accepts(COMPILER.compile_grammar(builder.build(ref)), "ab")
    assert accepts(COMPILER.compile_lark_async('start: "a"').result(), "a")
    assert parse_lark(Source('go: "a"'), structag.Limits(), root="go").root == "go"


@pytest.mark.parametrize("seed", [0, 3, 8, 13])  # on some grammars Lark itself never ends
def test_random_grammars_agree_with_lark(seed: int) -> None:
    lark = pytest.importorskip("lark")
    maker = LarkMaker(random.Random(seed))
    compared = 0
    for _ in range(30):
        text = maker.grammar()
        texts = [maker.text() for _ in range(8)]
        try:
            other = lark.Lark(text, parser="earley", lexer="dynamic_complete", ambiguity="forest")
        except lark.exceptions.LarkError:
            continue  # Lark refuses equal alternatives, for one
        try:
            grammar = COMPILER.compile_lark(text)
        except StructagError as error:
            assert error.code in ("grammar-empty", "grammar-feature"), text
            continue
        for output in texts:
            compared += 1
            try:
                other.parse(output)
                expected = True
            except lark.exceptions.LarkError:
                expected = False
            except RuntimeError:
                expected = True  # Lark's, where it found several ends

            assert accepts(grammar, output) == expected, (text, output)

    assert compared > 100
