"""Differences have witnesses, and equal formats have none."""

from __future__ import annotations

from typing import Any

import pytest
from support.small_languages import RandomGrammar, language

structag = pytest.importorskip("structag")

from structag.difference import find_difference  # noqa: E402
from structag.errors import GrammarError  # noqa: E402

BYTES = structag.Compiler(structag.Vocabulary.byte_level())


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("first", "second", "only_first", "only_second"),
    [
        ("[ab]+c", "[ab]*c", None, b"c"),
        ("(a|b)*", "[ab]*", None, None),
        ("(ab|a)*", "(?!.*bb)[ab]*", None, b"b"),
        (".{3}", "[^a]{3}", b"a..", b"\n.."),
        ("a{2,5}", "a{3,6}", b"aa", b"aaaaaa"),
        ("(?=.*x)[a-z]{2}", "x[a-z]|[a-z]x", None, None),
    ],
)
def test_patterns(
    first: str, second: str, only_first: bytes | None, only_second: bytes | None
) -> None:
    found = find_difference(BYTES.compile_regex(first), BYTES.compile_regex(second))

    assert found.is_exact
    for texts, wanted in ((found.only_first, only_first), (found.only_second, only_second)):
        assert (texts == ()) == (wanted is None)
        if wanted is not None:
            assert len(texts[0]) == len(wanted)


def test_random_grammars() -> None:
    compared = 0
    for seed in range(40):
        grammars = [RandomGrammar(2 * seed + i).draw() for i in (0, 1)]
        words = [language(grammar, b"ab", 4) for grammar in grammars]
        try:
            first, second = map(BYTES.compile_grammar, grammars)
        except GrammarError:
            continue
        found = find_difference(first, second, count=2, depth=1)
        compared += 1

        if found.is_exact:
            for texts, more, less in (
                (found.only_first, *words),
                (found.only_second, *words[::-1]),
            ):
                short = min(map(len, more - less), default=None)
                assert texts or short is None, seed
                if short is not None:
                    assert len(texts[0]) <= short, seed
        for texts, more, less in ((found.only_first, *words), (found.only_second, *words[::-1])):
            for text in texts:
                is_known = len(text) <= 4 and set(text) <= set(b"ab")
                assert not is_known or text in more - less, seed
    assert compared > 15


def test_schemas_differ_in_their_strings() -> None:
    first = BYTES.compile_json_schema(closed(a={"type": "string"}))
    second = BYTES.compile_json_schema(closed(a={"type": "string", "maxLength": 2}))
    found = find_difference(first, second, count=2)

    assert len(found.only_first[0]) == len('{"a":"xyz"}')
    assert len(found.only_first) == 2
    assert found.only_second == ()
    assert found.limits == ("strings were compared in one spelling of each text",)


def test_recursion_is_followed_so_far() -> None:
    first = BYTES.compile_ebnf('root ::= "(" root ")" | "x"')
    second = BYTES.compile_ebnf('root ::= "(" root ")" | "x" | "((((y))))"')
    near, far = (find_difference(first, second, depth=depth) for depth in (1, 6))

    assert near.only_second == ()
    assert far.only_second == (b"((((y))))",)
    assert near.limits == ("recursion was followed 1 rules deep",)


def test_equal_formats_are_equal_at_once() -> None:
    first, second = (BYTES.compile_json_schema(True) for _ in range(2))

    assert find_difference(first, second) == ((), (), ())


def test_where_work_runs_out_outputs_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structag.difference._LITTLE_WORK", 500)
    monkeypatch.setattr("structag.difference._SOME_WORK", 500)
    first = BYTES.compile_regex("(?=.*a)(?=.*b)[a-d]{6}")
    second = BYTES.compile_regex("(?=.*b)(?=.*c)[a-d]{6}")
    found = find_difference(first, second)

    assert not found.is_exact
    assert "200 outputs were tried" in found.limits[0]
    assert all(b"c" not in text for text in found.only_first)
    assert found.only_first


def test_tokens_that_are_read_by_their_ids_do_not_count() -> None:
    def tag(token: int) -> structag.CompiledGrammar:
        format = {
            "type": "or",
            "elements": [{"type": "token", "token": token}, {"type": "const_string", "value": "x"}],
        }
        return BYTES.compile_structural_tag({"type": "structural_tag", "format": format})

    found = find_difference(tag(65), tag(66))

    assert (found.only_first, found.only_second) == ((), ())
    assert found.limits == ("only texts were compared, no tokens that are read by their ids",)
