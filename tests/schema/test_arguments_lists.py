"""Styles that write the arguments as one list: Gemma and Python."""

from __future__ import annotations

import pytest
from support.arguments import accepted, accepts, compiled

from structag.errors import UnsupportedError

Q = '<|"|>'

FORECAST = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 9},
        "days": {"type": "integer", "minimum": 1},
        "Area": {"type": "object", "properties": {"y": {"type": "number"}, "x": True}},
        "all": {"type": ["boolean", "null"]},
        "tags": {"type": "array", "items": {"enum": ["sun", "wind", 1]}},
    },
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (f"{{city:{Q}Oslo{Q}}}", True),
        (f'{{city:{Q}a{{,}}:"b{Q},days:3}}', True),
        (f"{{all:null,city:{Q}{Q}}}", True),
        (f"{{all:true,Area:{{x:[],y:-0.5}},city:{Q}Oslo{Q}}}", True),
        (f"{{city:{Q}Oslo{Q},tags:[{Q}sun{Q},1,{Q}wind{Q}]}}", True),
        (f"{{city:{Q}Oslo{Q},tags:[]}}", True),
        (f"{{Area:{{y:1,x:1}},city:{Q}Oslo{Q}}}", False),  # not sorted
        (f"{{days:3,city:{Q}Oslo{Q}}}", False),
        (f"{{city:{Q}Oslo{Q}, days:3}}", False),
        (f"{{city: {Q}Oslo{Q}}}", False),
        (f"{{city:{Q}Oslo{Q},days:0}}", False),
        (f"{{city:{Q}Oslo{Q},tags:[{Q}rain{Q}]}}", False),
        (f"{{city:{Q}Oslo{Q},tags:[sun]}}", False),
        (f"{{city:{Q}a long name{Q}}}", False),
        (f"{{city:{Q}a{Q}b{Q}}}", False),
        ("{city:Oslo}", False),
        ('{city:"Oslo"}', False),
        ('{"city":"Oslo"}', False),
        (f"city:{Q}Oslo{Q}", False),
        ("{days:3}", False),
        ("{}", False),
        ("", False),
    ],
)
def test_gemma(text: str, want: bool) -> None:
    assert accepted(FORECAST, "gemma", text) == want
    assert accepted(FORECAST, "functiongemma", text.replace(Q, "<escape>")) == want


def test_gemma_without_arguments() -> None:
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}

    assert accepted(nothing, "gemma", "{}")
    assert not accepted(nothing, "gemma", "")
    assert not accepted(nothing, "gemma", "{a:1}")


def test_gemma_in_any_order() -> None:
    grammar = compiled(FORECAST, "gemma", property_order="any")

    assert accepts(grammar, f"{{days:3,city:{Q}Oslo{Q},Area:{{y:1,x:1}}}}")
    assert not accepts(grammar, f"{{days:3,city:{Q}Oslo{Q},days:3}}")
    assert not accepts(grammar, "{days:3}")


def test_gemma_free_names_are_plain() -> None:
    grammar = compiled({"additionalProperties": {"type": "integer"}}, "gemma")

    assert accepts(grammar, "{été:1,b-c:2}")
    assert not accepts(grammar, "{a b:x}")
    assert not accepts(grammar, "{:1}")
    assert not accepts(grammar, "{a:b:1}")


def test_gemma_refuses_what_it_cannot_write() -> None:
    with pytest.raises(UnsupportedError, match="holds ':'") as name:
        compiled({"properties": {"o": {"properties": {"a:b": {"type": "null"}}}}}, "gemma")
    assert name.value.pointer == "/properties/o/properties/a:b"
    with pytest.raises(UnsupportedError, match="which ends it") as constant:
        compiled({"properties": {"o": {"items": {"const": f"a{Q}"}}}}, "gemma")
    assert constant.value.pointer == "/properties/o/items/const"


# -- pythonic

TASK = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 5},
        "done": {"type": ["boolean", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "meta": {"type": "object", "properties": {"n": {"type": "integer"}, "s": True}},
    },
    "required": ["title"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('title="Lunch"', True),
        ("title='Lunch'", True),
        ("""title="it's\"""", True),
        (r"title='it\'s'", True),
        ("""title='"a"'""", True),
        (r'title="\"a\""', True),
        (r'title="a\n\x41\u00e9"', True),
        ('title="é😀"', True),
        ('title="a", done=True', True),
        ('title="a", done=None', True),
        ('title="a",done=False', True),
        ("""title="a", tags=["x", 'y']""", True),
        ("""title="a", meta={"n": 3, 's': [None, 1.5e3, {}]}""", True),
        ('title="a", meta={}', True),
        ('title="too long"', False),
        (r'title="a\nbcdef"', False),
        ("title=\"a'", False),
        ('title="a\nb"', False),
        (r'title="\ud83d\ude00"', False),
        (r'title="\/"', False),
        ('title="a", done=true', False),
        ('title="a", done=null', False),
        ('title="a", meta={n: 3}', False),
        ('title="a", meta={"n": "3"}', False),
        ('title: "a"', False),
        ('title = "a"', False),
        ('"a"', False),
        ("done=True", False),
        ('done=True, title="a"', False),
        ('title="a", title="a"', False),
        ('title="a", other=1', False),
        ('(title="a")', False),
        ("", False),
    ],
)
def test_pythonic(text: str, want: bool) -> None:
    assert accepted(TASK, "pythonic", text) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('title="a", done=true, tags=["x"], meta={"n": 3, "s": null}', True),
        (r'title="\/\ud83d\ude00"', True),
        ("title='a'", False),
        ('title="a", done=True', False),
    ],
)
def test_pythonic_with_json_values(text: str, want: bool) -> None:
    assert accepted(TASK, "pythonic_json", text) == want


@pytest.mark.parametrize("style", ["pythonic", "pythonic_json"])
def test_pythonic_without_arguments(style: str) -> None:
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}

    assert accepted(nothing, style, "")
    assert not accepted(nothing, style, "a=1")


def test_pythonic_constants_in_both_quotes() -> None:
    schema = {"properties": {"s": {"enum": ["it's", 'a"b', "c", "d\\", "\n"]}}}
    grammar = compiled(schema, "pythonic")

    for text in ('"it\'s"', r"'it\'s'", "'a\"b'", r'"a\"b"', "'c'", '"c"', r"'d\\'", r"'\n'"):
        assert accepts(grammar, f"s={text}"), text
    for text in ("'it's'", '"a"b"', "'d\\'", "'\\c'", r"'c\n'"):
        assert not accepts(grammar, f"s={text}"), text


@pytest.mark.parametrize("name", ["from", "a-b", "1a", "a b", "", "None", "ﬁ", "__debug__"])
def test_pythonic_refuses_what_is_no_keyword_argument(name: str) -> None:
    with pytest.raises(UnsupportedError, match="no name for a Python argument") as refusal:
        compiled({"properties": {name: {"type": "integer"}}}, "pythonic")
    assert refusal.value.pointer == f"/properties/{name}"


def test_pythonic_free_names() -> None:
    schema = {"properties": {"naïve": {"const": 1}}, "additionalProperties": {"type": "integer"}}
    grammar = compiled(schema, "pythonic")

    assert accepts(grammar, "naïve=1, a_1=2, B=3")
    assert not accepts(grammar, "naïve=2")
    assert not accepts(grammar, "class=1")
    assert not accepts(grammar, "a-b=1")
    assert not accepts(grammar, "1=1")
    assert not accepts(grammar, "classes=x")
    assert accepts(grammar, "classes=1")
