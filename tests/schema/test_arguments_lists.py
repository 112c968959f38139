"""Styles that write the arguments as one list: Gemma."""

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
