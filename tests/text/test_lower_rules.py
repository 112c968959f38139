"""Random EBNF and GBNF against the reference matcher, and shapes that strain a parser."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.engine import properties
from support.random_rules import LETTERS, RuleSample, rule_texts
from support.reference_matcher import ReferenceMatcher, TooHardError

structag = pytest.importorskip("structag")

from structag.errors import GrammarError, LimitError, StructagError  # noqa: E402
from structag.grammar.fingerprint import fingerprint  # noqa: E402
from structag.limits import Limits  # noqa: E402
from structag.text.grammar_text import read_grammar_text, write_grammar_text  # noqa: E402

COMPILER = structag.Compiler(structag.Vocabulary.byte_level())
WORDS = ["".join(word) for n in range(5) for word in itertools.product(LETTERS, repeat=n)]
SYNTAXES = {"ebnf": "[^]", "gbnf": "."}


@pytest.mark.parametrize("syntax", SYNTAXES)
@properties()
@given(data=st.data())
def test_random_text_means_what_it_says(syntax: str, data: st.DataObject) -> None:
    sample: RuleSample = data.draw(rule_texts(SYNTAXES[syntax]))
    matcher = ReferenceMatcher(sample.grammar)
    try:
        expected = {word for word in WORDS if matcher.accepts(word.encode())}
    except TooHardError:
        assume(False)
    try:
        compiled = COMPILER.compile_grammar(read_grammar_text(sample.text, syntax).grammar)
    except GrammarError as error:
        assert error.code == "grammar-empty"
        assert not expected
        return
    accepted = {word for word in WORDS if accepts(compiled, word)}

    assert accepted == expected


@pytest.mark.parametrize("syntax", SYNTAXES)
@properties()
@given(data=st.data())
def test_what_is_written_reads_back_the_same(syntax: str, data: st.DataObject) -> None:
    sample: RuleSample = data.draw(rule_texts(SYNTAXES[syntax]))
    try:
        read = read_grammar_text(sample.text, syntax).grammar
    except GrammarError:
        assume(False)
    written = write_grammar_text(read, syntax)

    assert fingerprint(read) == fingerprint(sample.grammar)
    assert fingerprint(read_grammar_text(written, syntax).grammar) == fingerprint(read), written


def accepts(grammar: Any, text: str) -> bool:
    matcher = structag.Matcher(grammar)
    return bool(matcher.accept_string(text) and matcher.is_completed())


# -- left recursion and ambiguity

SHAPES: list[tuple[str, list[str], list[str]]] = [
    ('root ::= root "a" | "b"', ["b", "baa"], ["a", "ab"]),
    ('root ::= x "a" | "b"\nx ::= root "c"', ["b", "bca", "bcaca"], ["ba", "c"]),
    ('root ::= "a"? root "b" | "c"', ["c", "cb", "acbb", "aacbb"], ["ac", "b"]),
    ('root ::= e root "b" | "c"\ne ::= ""', ["c", "cbb"], ["b"]),
    ("root ::= root root | [ab]", ["a", "abab"], [""]),
    ('root ::= root root root | "a" | ""', ["", "aaaa"], ["b"]),
    ('root ::= (root "a")* "b"', ["b", "bab", "babab", "bbb"[:1]], ["a", ""]),
    ('root ::= root? "a"', ["a", "aaa"], [""]),
    ('root ::= (root | "a") "b"', ["ab", "abb"], ["b"]),
    ('root ::= x\nx ::= y "1" | "x"\ny ::= z "2"\nz ::= x "3" | "z"', ["x", "z21", "x321"], ["1"]),
    ('root ::= ("" | "a"*)* "b"', ["b", "aab"], ["a"]),
    ('root ::= (x*)+\nx ::= "a"? "b"?', ["", "abba"], ["c"]),
    ('root ::= root | "a"', ["a"], ["aa"]),
    ('root ::= x\nx ::= y\ny ::= x | "a"', ["a"], ["aa"]),
]


@pytest.mark.parametrize(("text", "good", "bad"), SHAPES, ids=[text for text, _, _ in SHAPES])
def test_left_recursion_and_nullable_loops(text: str, good: list[str], bad: list[str]) -> None:
    compiled = COMPILER.compile_ebnf(text)

    assert [word for word in good if not accepts(compiled, word)] == []
    assert [word for word in bad if accepts(compiled, word)] == []


AMBIGUOUS = 'root ::= e\ne ::= e "+" e | e "*" e | "(" e ")" | [0-9]+'


def test_an_ambiguous_grammar_needs_no_more_states_for_longer_texts() -> None:
    compiled = COMPILER.compile_ebnf(AMBIGUOUS)
    matcher = structag.Matcher(compiled)
    text = "1+2*(3+4)*5+" * 100
    assert matcher.accept_string(text)
    states = compiled.stats["states"]
    assert matcher.accept_string(text * 9)

    assert compiled.stats["states"] == states
    assert matcher.accept_string("1") and matcher.is_completed()


@pytest.mark.timing
def test_masks_cost_the_same_after_ten_thousand_tokens() -> None:
    matcher = structag.Matcher(COMPILER.compile_ebnf(AMBIGUOUS))
    bitmask = structag.allocate_token_bitmask(1, COMPILER.vocabulary.size)
    times: list[float] = []
    for byte in b"1+2*(3+4)*5+" * 900:
        start = time.process_time()
        matcher.fill_next_token_bitmask(bitmask)
        assert matcher.accept_token(byte)
        times.append(time.process_time() - start)
    early, late = sum(times[500:3000]), sum(times[-2500:])

    assert late < 3 * early + 0.01


# -- hostile texts

DEEP = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "root ::= " + "(" * DEEP + '"a"' + ")" * DEEP,
        "root ::= " + "(" * DEEP,
        "root ::= TagDispatch(" + "(" * DEEP,
    ],
    ids=["groups", "open groups", "tuples"],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(LimitError) as caught:
        COMPILER.compile_ebnf(text)

    assert caught.value.code == "nesting-limit"


def test_the_bracket_that_is_one_too_many_is_shown() -> None:
    text = 'root ::= "(("\n ' + "(" * 513
    with pytest.raises(LimitError) as caught:
        read_grammar_text(text, "ebnf")

    assert caught.value.span == (len(text) - 1, len(text))


@pytest.mark.parametrize("syntax", ["ebnf", "gbnf", "lark"])
def test_a_byte_order_mark_at_the_start_says_nothing(syntax: str) -> None:
    text = 'start: "a" (' if syntax == "lark" else 'root ::= "a" ('
    read_grammar_text("\ufeff" + text[:-1], syntax)
    with pytest.raises(StructagError) as caught:
        read_grammar_text("\ufeff" + text, syntax)

    assert caught.value.span == (len(text) + 1, len(text) + 1)


UNKNOWN_TOKENS = [
    ("ebnf", 'root ::= "a"\n  Token(1, 300)', (2, 3)),
    ("ebnf", "root ::= ExcludeToken(257)", (1, 10)),
    ("ebnf", "root ::= TokenTagDispatch((1, a), (300, a))\na ::= [a]", (1, 36)),
    ("ebnf", "root ::= TokenTagDispatch((1, a), excludes=(2, 300))\na ::= [a]", (1, 44)),
    ("gbnf", "root ::= <[256]> <[257]>", (1, 18)),
    ("gbnf", "root ::= !<nothing>", (1, 10)),
    ("lark", "start: <[9,250-300]>", (1, 8)),
    ("lark", "start: <nothing>", (1, 8)),
]


@pytest.mark.parametrize(("syntax", "text", "place"), UNKNOWN_TOKENS)
def test_a_token_that_there_is_not_is_refused(
    syntax: str, text: str, place: tuple[int, int]
) -> None:
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    with pytest.raises(structag.VocabularyError) as caught:
        getattr(compiler, f"compile_{syntax}")(text)

    assert caught.value.code == "vocabulary-value"
    assert f"\n<text>:{place[0]}:{place[1]}\n" in str(caught.value)


def test_an_unused_token_is_none() -> None:
    vocabulary = structag.Vocabulary.from_token_bytes([b"a", b"", b"b"], stop_token_ids=2)
    with pytest.raises(structag.VocabularyError):
        structag.Compiler(vocabulary).compile_gbnf("root ::= <[0]> <[1]>")


def test_brackets_in_strings_classes_and_comments_do_not_nest() -> None:
    text = 'root ::= "' + "(" * 2000 + '" [(' + "(" * 2000 + "] # " + "(" * 2000

    assert accepts(COMPILER.compile_ebnf(text), "(" * 2001)


@pytest.mark.parametrize(
    "text",
    [
        "root ::= " + " | ".join(f'"{n}"' for n in range(5_000)),
        "root ::= " + " ".join(["[a-z]"] * 5_000),
        "root ::= r0\n" + "".join(f"r{n} ::= r{n + 1}\n" for n in range(5_000)) + 'r5000 ::= "a"',
        "root ::= r0\n"
        + "".join(f"r{n} ::= r{n + 1} r{n + 1}\n" for n in range(60))
        + 'r60 ::= "a"',
        'root ::= "a"' + " # " + "x" * 1_000_000,
        "root ::= x" + " " * 1_000_000 + '\nx ::= "a"',
        "root ::= x" + "# c\n" * 100_000 + '\nx ::= "a"',
        'root ::= "' + "a" * 500_000 + '"',
    ],
    ids=["choice", "sequence", "chain", "doubling", "comment", "space", "comments", "string"],
)
def test_large_texts_are_read_in_linear_time(text: str) -> None:
    start = time.process_time()
    compiled = COMPILER.compile_ebnf(text)

    assert time.process_time() - start < 10
    assert compiled.memory_bytes > 0


def test_a_text_over_the_limit_is_refused() -> None:
    compiler = structag.Compiler(COMPILER.vocabulary, limits=Limits(max_grammar_bytes=10))
    with pytest.raises(LimitError) as caught:
        compiler.compile_ebnf('root ::= "é"')

    assert str(caught.value) == (
        "a grammar text of 13 bytes; raise `Limits.max_grammar_bytes` (now 10) "
        "if the input is trusted"
    )


@given(st.text(alphabet='root:=|()[]{}"\\*+?.,#<>!-^ \n019azé', max_size=40))
def test_no_text_is_more_than_refused(text: str) -> None:
    for syntax in SYNTAXES:
        for prefix in ("", "root ::= "):
            try:
                read_grammar_text(prefix + text, syntax)
            except StructagError as error:
                assert error.excerpt or error.span is None
                str(error)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(StructagError) as caught:
        COMPILER.compile_ebnf('root ::= "\ud800"')

    assert caught.value.code == "text-encoding"
