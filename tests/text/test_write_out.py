"""Operators written out as rules: the same language, by the reference matcher and by the engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.engine import properties
from support.strategies import GrammarSample, grammars

structag = pytest.importorskip("structag")

from structag.errors import GrammarError, LimitError, StructagError, UnsupportedError  # noqa: E402
from structag.grammar.builder import GrammarBuilder  # noqa: E402
from structag.grammar.expressions import And, Encoded, Erase, Grammar, Not, Ref  # noqa: E402
from structag.text.notation import cannot_write  # noqa: E402
from structag.text.write_out import write_out  # noqa: E402

COMPILER = structag.Compiler(structag.Vocabulary.byte_level())
QUICK = structag.Compiler(
    structag.Vocabulary.byte_level(), limits=structag.Limits(max_work=100_000)
)


def written(grammar: Grammar, recursive: bool = True) -> Grammar:
    return write_out(
        grammar, lambda node: cannot_write(node, "EBNF"), searches=True, recursive=recursive
    )


@properties()
@given(st.data())
def test_random_operators_keep_their_language(data: st.DataObject) -> None:
    sample: GrammarSample = data.draw(grammars())
    try:
        plain = written(sample.grammar, data.draw(st.booleans()))
    except (UnsupportedError, LimitError):
        assume(False)
    assume(plain is not sample.grammar)
    try:
        before, after = (QUICK.compile_grammar(g) for g in (sample.grammar, plain))
        pieces = [
            *(letter.encode() for letter in sample.alphabet),
            b'"',
            b"\\",
            b"&lt;",
            b"\\u0061",
        ]
        wrong = differences(before, after, pieces)
    except GrammarError as error:
        assume(error.code != "grammar-operand")  # a member of a list that need not consume
        assert error.code == "grammar-empty"  # then it has to be both
        for grammar in (sample.grammar, plain):
            with pytest.raises(GrammarError):
                QUICK.compile_grammar(grammar)
        return
    except LimitError:
        assume(False)

    assert wrong == []


def test_no_operator_is_left_and_nothing_else_changes() -> None:
    b = GrammarBuilder()
    text = b.both(b.any_text, b.complement(b.seq(b.any_text, b.literal(b"x"), b.any_text)))
    plain = written(b.build(b.seq(b.literal(b"<"), b.encoded("json", text), b.tokens([5]))))
    kinds = {type(node) for node in plain.nodes}

    assert not kinds & {And, Encoded, Erase, Not}
    untouched = GrammarBuilder()
    grammar = untouched.build(untouched.seq(untouched.literal(b"a"), untouched.any_text))
    assert written(grammar) is grammar


@pytest.mark.parametrize("recursive", [False, True])
def test_look_around_is_refused_whatever_it_holds(recursive: bool) -> None:
    b = GrammarBuilder()
    loop = b.repeat(b.seq(b.literal(b"a"), b.repeat(b.literal(b"b"), 0)), 0)
    text = b.both(loop, b.complement(b.literal(b"ab")))
    for grammar in (b.build(b.transparent(text)), b.build(b.erase(0, b.transparent(text)))):
        with pytest.raises(UnsupportedError, match="look-around"):
            written(grammar, recursive)


SPELLED: list[tuple[str, list[str], list[str]]] = [
    (
        "json",
        [
            "é",
            "\\u00e9",
            "\\u00E9",
            "😀",
            "\\ud83d\\ude00",
            "\\n",
            "\\u000a",
            "/",
            "\\/",
            "\\u002F",
        ],
        ["\n", '"', "\\", "\\ud83d", "\\x41", "\\u00g0", "\\ude00\\ud83d", ""],
    ),
    (
        "xml",
        ["é", "&#233;", "&#xe9;", "&#xE9;", "&#x00e9;", "😀", "&#128512;", "&lt;", "&#60;", "'"],
        ["<", "&", "&#0;", "&#55296;", "&#xD800;", "&#1114112;", "&gt", ""],
    ),
    (
        "python_double",
        ["é", "\\xe9", "\\u00e9", "'", "\\'", '\\"', "😀", "\\v", "\\\\"],
        ['"', "\\", "\n", "\\ud83d", "\\q", ""],
    ),
]


@pytest.mark.parametrize(("codec", "good", "bad"), SPELLED, ids=[codec for codec, _, _ in SPELLED])
def test_every_spelling_of_a_character(codec: str, good: list[str], bad: list[str]) -> None:
    b = GrammarBuilder()
    grammar = b.build(b.encoded(codec, b.any_char))
    before, after = (COMPILER.compile_grammar(g) for g in (grammar, written(grammar)))

    assert [text for text in good if not (accepts(before, text) and accepts(after, text))] == []
    assert [text for text in bad if accepts(before, text) or accepts(after, text)] == []


@given(st.lists(st.tuples(st.integers(0, 0x10FFFF), st.integers(0, 3000)), min_size=1, max_size=3))
def test_spellings_of_random_sets(pieces: list[tuple[int, int]]) -> None:
    """The edges of each range, and their neighbours, in every spelling."""
    b = GrammarBuilder()
    chars = b.chars([(low, min(low + size, 0x10FFFF)) for low, size in pieces])
    assume(chars != b.empty)
    grammar = b.build(b.encoded("json", chars))
    before, after = (COMPILER.compile_grammar(g) for g in (grammar, written(grammar)))
    edges = {edge for low, size in pieces for edge in (low - 1, low, low + size, low + size + 1)}
    for code in edges:
        if 0 <= code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
            for text in (chr(code), json.dumps(chr(code))[1:-1]):
                assert accepts(before, text) == accepts(after, text), (hex(code), text)


def differences(before: Any, after: Any, pieces: Sequence[bytes], most: int = 3) -> list[bytes]:
    """The words of so many pieces that only one grammar takes.

    What both refuse at some byte they refuse with anything behind it, so that is not tried.
    """
    found = []
    level: list[tuple[bytes, list[Any]]] = [(b"", [structag.Matcher(g) for g in (before, after)])]
    for count in range(most + 1):
        for word, pair in level:
            if len({matcher is not None and matcher.is_completed() for matcher in pair}) > 1:
                found.append(word)
        if count < most:
            longer = (
                (word + piece, [taking(matcher, piece) for matcher in pair])
                for word, pair in level
                for piece in pieces
            )
            level = [(word, pair) for word, pair in longer if any(pair)]
    return found


def taking(matcher: Any, data: bytes) -> Any:
    """The matcher behind `data`; None if it refuses that."""
    ahead = None if matcher is None else matcher.fork()
    return ahead if ahead is not None and ahead.accept_bytes(data) else None


def test_differences_are_found() -> None:
    one, other = (COMPILER.compile_regex(pattern) for pattern in ("a?b?", "a?b{0,2}"))

    assert differences(one, other, [b"a", b"b", b"c"]) == [b"bb", b"abb"]


def takes(grammar: Any, data: bytes) -> bool:
    matcher = structag.Matcher(grammar)
    return bool(matcher.accept_bytes(data) and matcher.is_completed())


def accepts(grammar: Any, text: str) -> bool:
    return takes(grammar, text.encode())


SCHEMAS: list[tuple[Any, list[str], list[str]]] = [
    ({"type": "string"}, ['"a\\n\\u00e9"', '""'], ['"', '"\n"']),
    ({"type": "string", "maxLength": 100_000}, ['"abc"'], ["abc"]),
    ({"type": "string", "pattern": "^[a-c]+$", "maxLength": 2}, ['"ab"'], ['"abc"', '"d"']),
    (
        {"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
        ['{"a":1,"b":"x"}', "{}", '{"aa": "y"}'],
        ['{"a":"x"}', '{"b":1}'],
    ),
    ({"type": "array", "items": {"$ref": "#"}}, ["[[],[[]]]"], ["[1]"]),
    ({"not": {"const": "no"}, "type": "string"}, ['"yes"', '"noo"'], ['"no"', '"\\u006eo"']),
]


@pytest.mark.parametrize("to", ["ebnf", "gbnf", "regex"])
@pytest.mark.parametrize(
    ("schema", "good", "bad"), SCHEMAS, ids=[str(s)[:40] for s, _, _ in SCHEMAS]
)
def test_schemas_become_grammar_texts(
    schema: Any, good: list[str], bad: list[str], to: str
) -> None:
    if to == "regex" and "$ref" in str(schema):
        pytest.skip("a recursive schema is no regular expression")
    text = COMPILER.compile_json_schema({**schema, "type": schema.get("type", "object")}).convert(
        to
    )
    grammar = getattr(COMPILER, f"compile_{to}")(text)

    assert len(text) < 20_000
    assert [x for x in good if not accepts(grammar, x)] == []
    assert [x for x in bad if accepts(grammar, x)] == []


def test_too_many_states_are_refused() -> None:
    def write(b: GrammarBuilder) -> Ref:
        return b.both(b.repeat(b.any_char, 0, 100_000), b.complement(b.literal(b"x")))

    b = GrammarBuilder()
    with pytest.raises(LimitError) as caught:
        written(b.build(write(b)))

    assert "5,000 states" in str(caught.value)


def test_bytes_that_are_no_characters_are_refused() -> None:
    b = GrammarBuilder()
    with pytest.raises(StructagError) as caught:
        written(b.build(b.both(b.any_text, b.bytes([0xC3]))))

    assert caught.value.code == "notation"
