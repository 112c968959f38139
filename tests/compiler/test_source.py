"""`structag.source`: places in a text, and JSON read into exact values or typed errors."""

from __future__ import annotations

import json
import random
import re
import time
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from structag._core import json_depth
from structag.errors import FormatError, LimitError, StructagError
from structag.limits import Limits
from structag.source import Source, decode_json, find_pointer, read_json, read_json_around


def test_line_and_column_count_from_one() -> None:
    source = Source("ab\ncd\r\n\ne")

    assert [source.line_column(i) for i in (0, 2, 3, 7, 8, 99)] == [
        (1, 1),
        (1, 3),
        (2, 1),
        (3, 1),
        (4, 1),
        (4, 2),
    ]
    assert [source.line(n) for n in (1, 2, 3, 4, 5)] == ["ab", "cd", "", "e", ""]


def test_carets_stand_under_the_span() -> None:
    drawn = Source("x\nroot = ???\ny", name="g.lark").draw((9, 12), "expected a symbol")

    assert drawn == ("g.lark:2:8: expected a symbol\n  2 | root = ???\n    |        ^^^")


def test_long_lines_are_cut_around_the_span() -> None:
    drawn = Source("a" * 300 + "!" + "b" * 300).draw((300, 301))

    lines = drawn.splitlines()
    assert len(lines[1]) < 120
    assert lines[1][lines[2].index("^")] == "!"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Decimal("0.1")),
        ("1e400", Decimal("1e400")),
        ("12345678901234567890123", 12345678901234567890123),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\\\ud83d"', "\\ud83d"),
        ('"\\u0000"', "\0"),
        (b'\xef\xbb\xbf{"a": [true, null]}', {"a": [True, None]}),
    ],
)
def test_values_are_exact(text: str | bytes, value: Any) -> None:
    assert read_json(text) == value


def test_an_integer_of_any_length_is_exact() -> None:
    assert str(read_json("9" * 10_000)) == "9" * 10_000


@pytest.mark.parametrize(
    ("text", "code", "span"),
    [
        ("", "json-syntax", (0, 0)),
        ('{"a": tru}', "json-syntax", (6, 7)),
        ('{"a": 1 2}', "json-syntax", (8, 9)),
        ("[1] x", "json-syntax", (4, 5)),
        ('["NaN", NaN]', "json-syntax", (8, 11)),
        ("[-Infinity]", "json-syntax", (1, 10)),
        ('"a\0b"', "json-syntax", (2, 3)),
        ("\0", "json-syntax", (0, 1)),
        ('["\\ud83d"]', "text-encoding", (2, 8)),
        ('["\\ude00\\ud83d"]', "text-encoding", (2, 8)),
        ("[\ud800]", "text-encoding", (1, 2)),
        (b'["\xc3\xa9\xff"]', "text-encoding", (3, 4)),
    ],
)
def test_every_problem_is_a_typed_error_with_a_span(
    text: str | bytes, code: str, span: tuple[int, int]
) -> None:
    with pytest.raises(FormatError) as caught:
        read_json(text)

    assert caught.value.code == code
    assert caught.value.span is not None
    assert caught.value.span == span


def test_nesting_is_that_of_brackets_outside_strings() -> None:
    rng = random.Random(0)
    brackets = "[{" * 20

    def made(depth: int) -> Any:
        text = "".join(rng.choice('[]{}"\\é,') for _ in range(rng.randrange(9)))
        if depth == 0:
            return brackets + text
        return [made(depth - 1)] if rng.random() < 0.5 else {"x": text, "y" + text: made(depth - 1)}

    for depth in range(1, 30):
        text = json.dumps(made(depth), ensure_ascii=rng.random() < 0.5)
        read_json(text, Limits(max_nesting=depth))
        with pytest.raises(LimitError):
            read_json(text, Limits(max_nesting=depth - 1))


@pytest.mark.timing
@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "[" * 513 + "]" * 513, "[[]," * 200_000]
)
def test_deep_nesting_is_a_limit(text: str) -> None:
    start = time.process_time()
    with pytest.raises(LimitError) as caught:
        read_json(text)

    assert caught.value.code == "nesting-limit"
    assert caught.value.setting == "max_nesting"
    assert time.process_time() - start < 1


def test_brackets_in_strings_and_siblings_do_not_nest() -> None:
    assert len(read_json("[" + ",".join(['"[[["', "[]"] * 2000) + "]")) == 4000
    assert read_json("[" * 512 + "]" * 512)


def test_a_long_text_is_a_limit() -> None:
    with pytest.raises(LimitError) as caught:
        read_json("[" + " " * 100 + "]", Limits(max_source_bytes=100))

    assert caught.value.setting == "max_source_bytes"


@pytest.mark.timing
@pytest.mark.parametrize("text", ['"' + "\\" * 300_001, '"' * 300_001, "[" * 600 + '"' * 99_999])
def test_hostile_text_is_refused_quickly(text: str) -> None:
    start = time.process_time()
    with pytest.raises(StructagError):
        read_json(text)

    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("text", "pointer", "found"),
    [
        ('{"a": 1}', "", '{"a": 1}'),
        ('{"a": 1, "a": 2}', "/a", '"a"'),
        (' {"a~b/c" : [1, [22]]}', "/a~0b~1c/1/0", "22"),
        ('{"a": {"é": "}]"}, "b": true}', "/b", '"b"'),
        ('{"a": 1}', "/b", None),
        ('{"a": 1}', "/a/b", None),
        ("[1]", "/1", None),
        ('{"a": ', "/a", None),
        ("", "/a", None),
    ],
)
def test_what_a_pointer_names(text: str, pointer: str, found: str | None) -> None:
    span = find_pointer(text, pointer)

    assert (None if span is None else text[slice(*span)]) == found


ITEMS = [{"a": [{"tags": [{}]}]}, {}, {"\\": '"}', "é": "]"}]


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ({"tags": ITEMS}, ITEMS),
        ([{"tags": [ITEMS[0], 1, ITEMS[1]]}], ITEMS[:1]),
        ({"x": {"tags": ITEMS[:1], "y": "tags"}, "tags": ITEMS[1:]}, ITEMS),
        ({"tags": [[{}], {}]}, []),
        ({"tags": {"a": [{}]}, "tag": [{}], 'x"tags': [{}]}, []),
        (["tags", [{}]], []),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_items_are_read_by_their_texts(value: Any, items: list[Any], indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    seen: list[Any] = []

    def read_items(parts: list[str]) -> list[Any]:
        seen.extend(map(decode_json, parts))
        return seen

    read = read_json_around(text, b"tags", read_items, Limits())

    assert read == (value if items else None)
    assert seen == items


@pytest.mark.parametrize(
    "text",
    [
        '{"tags": [{"a": NaN}]}',
        '{"tags": [{}], "x": NaN}',
        '{"x": NaN, "tags": [{}]}',
        '{"tags": [{}, -Infinity]}',
        '{"tags": [{]}]}',
        '{"tags": [{"a": "}]}',
        '{"tags": [{}',
        '{"tags": [{}]} x',
        '{"tags": [{}], "x": "\\ud800"}',
        '{"tags": [{}], "x": "\ud800"}',
        '{"tags": [' + "{" * 600,
        '{"tags": [' + '{"a":' * 600 + "1" + "}" * 600 + "]}",
    ],
)
def test_what_is_wrong_with_a_text_is_said_by_reading_it_whole(text: str) -> None:
    assert read_json_around(text, b"tags", partial(map, decode_json), Limits()) is None
    with pytest.raises(StructagError):
        read_json(text)


def test_the_depth_of_a_text() -> None:
    choices = random.Random(5)
    for _ in range(300):
        text = "".join(choices.choices('[]{}"\\:a,', k=choices.randrange(30)))
        level = deepest = 0
        outside = re.sub(r'"(?:[^"\\]|\\.)*(?:"|\\?$)', "", text)
        for char in outside:
            level += (char in "[{") - (char in "]}")
            deepest = max(deepest, level)

        assert json_depth(text.encode()) == deepest, text
