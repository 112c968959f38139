"""`Compiler`: what it takes, what it keeps, and what its errors say."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from pydantic import BaseModel

from structag import (
    Compiler,
    FormatError,
    GrammarBuilder,
    GrammarError,
    LimitError,
    Limits,
    Matcher,
    Vocabulary,
    VocabularyError,
)

TAG = {"type": "structural_tag", "format": {"type": "const_string", "value": "yes"}}


class Point(BaseModel):
    x: int


def accepts(compiled: Any, text: str) -> bool:
    matcher = Matcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.byte_level()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (TAG, "yes"),
        ('{"type": "boolean"}', "true"),
        ({"type": "boolean"}, "false"),
        (True, "[1, null]"),
        (Point, '{"x": 1}'),
        ('root ::= a.b | "x"\na.b ::= "y"', "y"),
        ("# GBNF\nroot ::= . [0-9]\n", "é1"),
        ('root [max_chars=3] ::= "abc"', "abc"),
        ('// Lark\n?start.2: "a" B\nB: "::="', "a::="),
    ],
)
def test_compile_tells_the_kind_of_source(vocabulary: Vocabulary, source: Any, text: str) -> None:
    assert accepts(Compiler(vocabulary).compile(source), text)


def test_compile_refuses_what_shows_no_kind(vocabulary: Vocabulary) -> None:
    with pytest.raises(FormatError) as caught:
        Compiler(vocabulary).compile(12)

    assert caught.value.code == "source-kind"


@pytest.mark.parametrize("kind", ["ebnf", "gbnf", "lark", "regex"])
@pytest.mark.parametrize("source", [None, 5, b"root", ["root"]])
def test_a_text_has_to_be_a_str(vocabulary: Vocabulary, kind: str, source: Any) -> None:
    with pytest.raises(FormatError, match=f"of type {type(source).__name__}, expected a str"):
        getattr(Compiler(vocabulary), f"compile_{kind}")(source)


def test_the_name_of_a_root_has_to_be_a_str(vocabulary: Vocabulary) -> None:
    with pytest.raises(FormatError, match="the name of a rule of type int, expected a str"):
        Compiler(vocabulary).compile_ebnf('root ::= "a"', root=5)  # type: ignore[arg-type]


def test_compile_shows_the_mistake_of_the_first_reading(vocabulary: Vocabulary) -> None:
    with pytest.raises(GrammarError) as caught:
        Compiler(vocabulary).compile('root ::= item "a"')

    assert str(caught.value).startswith("rule `item` is used but not defined")


def test_a_grammar_text_may_start_at_another_rule(vocabulary: Vocabulary) -> None:
    compiler = Compiler(vocabulary)
    text = 'root ::= "a" item\nitem ::= "b"'

    assert accepts(compiler.compile_ebnf(text, root="item"), "b")
    assert accepts(compiler.compile_gbnf_async(text, root="item").result(), "b")
    assert accepts(compiler.compile_lark('start: "a" item\nitem: "b"', root="item"), "b")
    assert accepts(compiler.compile_ebnf(text), "ab")


def test_grammar_texts_have_twins_on_threads(vocabulary: Vocabulary) -> None:
    compiler = Compiler(vocabulary)
    ebnf = compiler.compile_ebnf_async('root ::= "a" | "a"').result()
    gbnf = compiler.compile_gbnf_async("root ::= .").result()

    assert accepts(ebnf, "a") and accepts(gbnf, "x")
    assert [warning.kind for warning in ebnf.warnings] == ["repeated-alternative"]
    assert compiler.compile_ebnf('root ::= "a" | "a"') is ebnf
    with pytest.raises(GrammarError):
        compiler.compile_ebnf_async("root ::= root").result()


def test_a_grammar_made_by_hand_compiles(vocabulary: Vocabulary) -> None:
    b = GrammarBuilder()
    grammar = b.build(b.repeat(b.literal(b"ab"), 2, 3))

    compiled = Compiler(vocabulary).compile(grammar)

    assert accepts(compiled, "ababab") and not accepts(compiled, "ab")


def test_equal_sources_are_compiled_once(vocabulary: Vocabulary) -> None:
    compiler = Compiler(vocabulary)

    assert compiler.compile_regex("a+") is compiler.compile_regex("a+")
    assert compiler.compile_json_schema(True) is compiler.compile_json_schema(True)
    assert compiler.compile_json_schema(True) is not compiler.compile_json_schema(
        True, max_whitespace=0
    )


def test_the_cache_forgets_by_bytes_and_can_be_off(vocabulary: Vocabulary) -> None:
    small, off = Compiler(vocabulary, cache_bytes=1), Compiler(vocabulary, cache_bytes=0)
    first = small.compile_regex("a")
    small.compile_regex("b")

    assert small.compile_regex("a") is not first
    assert off.compile_regex("a") is not off.compile_regex("a")


def test_the_async_twins_give_the_same(vocabulary: Vocabulary) -> None:
    compiler = Compiler(vocabulary, threads=2)
    b = GrammarBuilder()
    futures = [
        compiler.compile_structural_tag_async(TAG),
        compiler.compile_regex_async("yes"),
        compiler.compile_json_schema_async({"const": "yes"}),
        compiler.compile_grammar_async(b.build(b.literal(b"yes"))),
        compiler.compile_async(TAG),
    ]

    texts = ["yes", "yes", '"yes"', "yes", "yes"]
    assert all(
        accepts(future.result(30), text) for future, text in zip(futures, texts, strict=True)
    )
    with pytest.raises(FormatError):
        compiler.compile_structural_tag_async("{").result(30)


def test_no_thread_starts_before_first_use(vocabulary: Vocabulary) -> None:
    before = set(threading.enumerate())  # threads of other tests may end meanwhile
    Compiler(vocabulary).compile_regex("a")

    assert set(threading.enumerate()) <= before


def test_an_empty_language_is_refused(vocabulary: Vocabulary) -> None:
    b = GrammarBuilder()
    nothing = b.both(b.literal(b"a"), b.literal(b"b"))

    with pytest.raises(GrammarError) as caught:
        Compiler(vocabulary).compile_grammar(b.build(nothing))

    assert caught.value.code == "grammar-empty"


def test_a_vocabulary_that_cannot_spell_it_is_named() -> None:
    vocabulary = Vocabulary.from_token_bytes(
        [b"a", b"b", b"<end>"], special=[2], stop_token_ids=[2]
    )

    assert accepts(Compiler(vocabulary).compile_regex("[abc]"), "a")
    with pytest.raises(VocabularyError) as caught:
        Compiler(vocabulary).compile_regex("c+")
    assert caught.value.code == "vocabulary-spelling"
    assert "0x63" in str(caught.value)


@pytest.mark.parametrize("pattern", ["ac", "ac+", "a[cC]", "(a|b)c"])
def test_a_vocabulary_that_can_begin_no_output_is_named(pattern: str) -> None:
    vocabulary = Vocabulary.from_token_bytes(
        [b"a", b"b", b"<end>"], special=[2], stop_token_ids=[2]
    )

    with pytest.raises(VocabularyError) as caught:
        Compiler(vocabulary).compile_regex(pattern)
    assert caught.value.code == "vocabulary-spelling"


def test_limits_are_named_with_their_setting(vocabulary: Vocabulary) -> None:
    for setting in ("max_work", "max_memory_bytes", "max_expressions"):
        with pytest.raises(LimitError) as caught:
            Compiler(vocabulary, limits=Limits(**{setting: 3})).compile_json_schema(True)
        assert caught.value.setting == setting
        assert caught.value.value == 3


def test_a_compiled_grammar_tells_what_it_holds(vocabulary: Vocabulary) -> None:
    compiled = Compiler(vocabulary).compile_regex("a{3}")
    before = compiled.stats["states"]
    assert accepts(compiled, "aaa")

    assert compiled.stats["states"] > before
    assert compiled.memory_bytes > 0
    assert compiled.fingerprint == Compiler(vocabulary).compile_regex("a{3}").fingerprint
    assert "a" in compiled.ebnf()
