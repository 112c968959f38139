"""Styles in which arrays and objects are elements inside elements: Cohere, MiniMax-M3."""

from __future__ import annotations

import pytest
from support.arguments import accepted, accepts, compiled

from structag.errors import UnsupportedError

M3 = "]<]minimax[>["


def value(name: str | None, kind: str, content: str) -> str:
    named = "" if name is None else f' name="{name}"'
    return f'<cofl:value{named} type="{kind}">{content}</cofl:value>'


def element(name: str, content: str) -> str:
    return f"{M3}<{name}>{content}{M3}</{name}>"


ORDER = {
    "type": "object",
    "properties": {
        "who": {"type": "string", "minLength": 1},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "maxItems": 2},
        "gift": {"type": ["boolean", "null"]},
    },
    "required": ["who"],
    "additionalProperties": False,
    "$defs": {
        "line": {
            "type": "object",
            "properties": {
                "part": {"type": "string", "pattern": "^[a-z]+$"},
                "count": {"type": "integer", "minimum": 1},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/line"}},
            },
            "required": ["part"],
            "additionalProperties": False,
        }
    },
}


def cohere_line(part: str, *more: str) -> str:
    return value(None, "dict", value("part", "raw", part) + "".join(more))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (value("who", "raw", "Ann <b>"), True),
        (value("who", "raw", "Ann") + value("gift", "json", "true"), True),
        (value("who", "raw", "Ann") + value("gift", "json", "null"), True),
        (value("who", "raw", "Ann") + value("lines", "list", ""), True),
        (value("who", "raw", "Ann") + value("lines", "list", cohere_line("nut")), True),
        (value("who", "raw", "Ann") + value("lines", "list", cohere_line("nut") * 2), True),
        (value("who", "raw", "Ann") + value("lines", "list", cohere_line("nut") * 3), False),
        (value("who", "raw", "Ann") + value("lines", "list", cohere_line("Nut")), False),
        (value("who", "raw", "Ann") + value("lines", "json", "[]"), False),
        (value("who", "raw", "Ann") + value("lines", "dict", ""), False),
        (value("who", "raw", "Ann") + value("lines", "list", value("a", "raw", "b")), False),
        (value("who", "json", '"Ann"'), False),
        (value("who", "raw", ""), False),
        (value("who", "raw", "a</cofl:value >"), False),
        (value("who", "raw", "Ann") + value("gift", "raw", "true"), False),
        (value("who", "raw", "Ann") + value("gift", "json", "1"), False),
        (value("gift", "json", "true"), False),
        ("", False),
    ],
)
def test_cohere(text: str, want: bool) -> None:
    assert accepted(ORDER, "cohere_xml", text) == want


def test_cohere_nests_without_end() -> None:
    grammar = compiled(ORDER, "cohere_xml")
    deep = cohere_line("nut", value("count", "json", "2"))
    for _ in range(30):
        deep = cohere_line("bolt", value("parts", "list", deep))
    who = value("who", "raw", "Ann")

    assert accepts(grammar, who + value("lines", "list", deep))
    assert not accepts(grammar, who + value("lines", "list", deep.replace(">2<", ">0<")))


def test_cohere_values_of_any_type() -> None:
    grammar = compiled({"properties": {"v": True}, "additionalProperties": False}, "cohere_xml")
    inner = value("x", "raw", "1") + value("y", "list", value(None, "json", "null"))

    assert accepts(grammar, value("v", "raw", "1"))
    assert accepts(grammar, value("v", "json", "1"))
    assert accepts(grammar, value("v", "dict", inner))
    assert not accepts(grammar, value("v", "json", '"1"'))
    assert not accepts(grammar, value("v", "json", "[1]"))
    assert not accepts(grammar, value("v", "list", inner))


def test_cohere_writes_names_with_entities() -> None:
    schema = {"properties": {'a<"&': {"type": "string"}}, "additionalProperties": False}

    assert accepted(schema, "cohere_xml", value("a&lt;&quot;&amp;", "raw", "x"))
    assert not accepted(schema, "cohere_xml", value('a<"&', "raw", "x"))


def m3_line(part: str, *more: str) -> str:
    return element("item", element("part", part) + "".join(more))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (element("who", "Ann <b>\n"), True),
        (element("who", "Ann") + element("gift", "true"), True),
        (element("who", "Ann") + element("gift", "null"), True),
        (element("who", "Ann") + element("lines", ""), True),
        (element("who", "Ann") + element("lines", m3_line("nut") * 2), True),
        (element("who", "Ann") + element("lines", m3_line("nut", element("count", "2"))), True),
        (element("who", "Ann") + element("lines", m3_line("nut", element("count", "0"))), False),
        (element("who", "Ann") + element("lines", m3_line("nut") * 3), False),
        (element("who", "Ann") + element("lines", "[]"), False),
        (element("who", "Ann") + element("lines", element("part", "nut")), False),
        (element("who", f"a{M3}b"), False),
        (f"{M3}<who>Ann{M3}</name>", False),
        (f"{M3}<who>Ann</who>", False),
        (element("who", ""), False),
        ("", False),
    ],
)
def test_minimax_m3(text: str, want: bool) -> None:
    assert accepted(ORDER, "minimax_m3_xml", text) == want


def test_minimax_m3_knows_declared_names_only() -> None:
    schema = {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}

    assert accepted(schema, "minimax_m3_xml", element("a", "x"))
    assert not accepted(schema, "minimax_m3_xml", element("b", "x"))
    with pytest.raises(UnsupportedError, match="holds '/'"):
        compiled({"properties": {"/a": {"type": "string"}}}, "minimax_m3_xml")


@pytest.mark.parametrize(
    ("schema", "content", "want"),
    [
        ({"type": ["string", "integer"], "maximum": 5}, "4", True),
        ({"type": ["string", "integer"], "maximum": 5}, "42", False),
        ({"type": ["string", "array"], "minItems": 1}, "", False),
        ({"type": ["string", "array"]}, "", True),
        ({"type": ["string", "array"]}, "[1]", True),
        ({"type": ["array", "object"], "minItems": 1}, "", False),
        ({"type": ["string", "object"]}, "", True),
        ({"type": ["string", "object"], "required": ["a"]}, "", False),
    ],
)
def test_minimax_m3_tells_types_by_the_content(schema: object, content: str, want: bool) -> None:
    whole = {"properties": {"v": schema}}

    assert accepted(whole, "minimax_m3_xml", element("v", content)) == want
