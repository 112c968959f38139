"""The element styles: what is written raw, what is JSON, and how types and names are marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from support.arguments import accepted, accepts, compiled

from structag.errors import SchemaError, UnsupportedError

Write: TypeAlias = Callable[[str, str, str], str]


def qwen(name: str, value: str, kind: str = "") -> str:
    return f"<parameter={name}>\n{value}\n</parameter>\n"


def minimax(name: str, value: str, kind: str = "") -> str:
    return f'<parameter name="{name}">{value}</parameter>\n'


def deepseek(name: str, value: str, kind: str = "string") -> str:
    mark = "true" if kind == "string" else "false"
    return f'<｜DSML｜parameter name="{name}" string="{mark}">{value}</｜DSML｜parameter>\n'


def deepseek_v4_1(name: str, value: str, kind: str = "string") -> str:
    return deepseek(name, value, kind).replace("｜parameter", "｜ parameter")


def glm(name: str, value: str, kind: str = "") -> str:
    return f"<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>\n"


def kimi(name: str, value: str, kind: str = "string") -> str:
    return f'<|open|>argument key="{name}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>'


def step3(name: str, value: str, kind: str = "") -> str:
    return f'<steptml:parameter name="{name}">{value}</steptml:parameter>\n'


STYLES: dict[str, tuple[Write, str]] = {
    "qwen_xml": (qwen, "</parameter>"),
    "minimax_xml": (minimax, "</parameter>"),
    "deepseek_xml": (deepseek, "</｜DSML｜parameter>"),
    "deepseek_v4_1_xml": (deepseek_v4_1, "</｜DSML｜ parameter>"),
    "glm_xml": (glm, "</arg_value>"),
    "kimi_k3_xml": (kimi, "<|close|>"),
    "step3_xml": (step3, "</steptml:parameter>"),
}
"""How each style is written by the templates, and what ends a value."""

EVENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 2, "maxLength": 8, "pattern": "^[^#]*$"},
        "unit": {"enum": ["celsius", "kelvin", None]},
        "day": {"type": "string", "format": "date"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "ratio": {"type": "number"},
        "all_day": {"type": "boolean"},
        "guests": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "meta": {
            "type": "object",
            "properties": {"note": {"type": ["string", "null"]}},
            "required": ["note"],
            "additionalProperties": False,
        },
    },
    "required": ["title"],
    "additionalProperties": False,
}

CASES: list[tuple[list[tuple[str, str, str]], bool]] = [
    ([("title", "Lunch", "string")], True),
    ([("title", "a <b>&\"'", "string")], True),
    ([("title", "a\n\nb", "string")], True),
    ([("title", "日本", "string"), ("days", "3", "number")], True),
    ([("title", "xy", "string"), ("unit", "celsius", "string")], True),
    ([("title", "xy", "string"), ("unit", "null", "null")], True),
    ([("title", "xy", "string"), ("day", "2026-02-28", "string")], True),
    ([("title", "xy", "string"), ("ratio", "-1.5e3", "number")], True),
    ([("title", "xy", "string"), ("all_day", "true", "boolean")], True),
    ([("title", "xy", "string"), ("guests", '["ann", "b\\n"]', "array")], True),
    ([("title", "xy", "string"), ("meta", '{"note": null}', "object")], True),
    ([("title", "xy", "string"), ("meta", '{"note":"<b>"}', "object")], True),
    ([], False),
    ([("days", "3", "number")], False),
    ([("title", "x", "string")], False),
    ([("title", "a long title", "string")], False),
    ([("title", "a#b", "string")], False),
    ([("title", "xy", "string"), ("unit", "rankine", "string")], False),
    ([("title", "xy", "string"), ("unit", '"celsius"', "string")], False),
    ([("title", "xy", "string"), ("day", "2026-02-30", "string")], False),
    ([("title", "xy", "string"), ("days", "15", "number")], False),
    ([("title", "xy", "string"), ("days", "three", "number")], False),
    ([("title", "xy", "string"), ("days", '"3"', "number")], False),
    ([("title", "xy", "string"), ("all_day", "True", "boolean")], False),
    ([("title", "xy", "string"), ("guests", "ann, bob", "array")], False),
    ([("title", "xy", "string"), ("guests", '["a", "b", "c"]', "array")], False),
    ([("title", "xy", "string"), ("meta", "{}", "object")], False),
    ([("title", "xy", "string"), ("title", "xy", "string")], False),
    ([("title", "xy", "string"), ("other", "xy", "string")], False),
    ([("days", "3", "number"), ("title", "xy", "string")], False),
]


@pytest.mark.parametrize("style", STYLES)
def test_arguments_obey_the_schema(style: str) -> None:
    write = STYLES[style][0]
    grammar = compiled(EVENT, style)
    for arguments, want in CASES:
        text = "".join(write(*argument) for argument in arguments)
        assert accepts(grammar, text) == want, text


@pytest.mark.parametrize("style", STYLES)
def test_a_value_ends_at_its_first_closer(style: str) -> None:
    write, stop = STYLES[style]
    properties = {"s": {"type": "string"}, "a": {"type": "array", "items": {"type": "string"}}}
    grammar = compiled({"properties": properties, "additionalProperties": False}, style)

    assert accepts(grammar, write("s", stop[:-1], "string"))
    assert not accepts(grammar, write("s", f"a{stop}b", "string"))
    assert accepts(grammar, write("a", f'["{stop[:-1]}"]', "array"))
    assert not accepts(grammar, write("a", f'["{stop}"]', "array"))
    escaped = stop.replace("<", "\\u003c")
    assert not accepts(grammar, write("a", f'["{escaped}"]', "array"))


@pytest.mark.parametrize("style", STYLES)
def test_names_in_the_values_cannot_hold_the_closer_either(style: str) -> None:
    write, stop = STYLES[style]
    schema = {"properties": {"o": {"type": "object"}}, "additionalProperties": False}

    assert accepted(schema, style, write("o", '{"a": {"b": 1}}', "object"))
    assert not accepted(schema, style, write("o", f'{{"{stop}": 1}}', "object"))


@pytest.mark.parametrize("style", STYLES)
def test_a_constant_with_the_closer_is_refused(style: str) -> None:
    schema = {"properties": {"s": {"enum": ["ok", f"a{STYLES[style][1]}"]}}}

    with pytest.raises(UnsupportedError) as refusal:
        compiled(schema, style)
    assert refusal.value.pointer == "/properties/s/enum"
    with pytest.raises(UnsupportedError) as inside:
        compiled({"properties": {"a": {"items": {"const": STYLES[style][1]}}}}, style)
    assert inside.value.pointer == "/properties/a/items/const"
    with pytest.raises(UnsupportedError) as name:
        compiled({"properties": {"o": {"properties": {STYLES[style][1]: {}}}}}, style)
    assert name.value.pointer is not None


@pytest.mark.parametrize("style", STYLES)
def test_no_arguments_at_all(style: str) -> None:
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    text = STYLES[style][0]("a", "x", "string")

    assert accepted(nothing, style, "")
    assert not accepted(nothing, style, text)
    assert accepted({"type": "object"}, style, text)
    assert not accepted({"type": "object", "minProperties": 1}, style, "")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["", " a", "a ", "a\tb", "a\x00"])
def test_names_that_no_style_can_write(style: str, name: str) -> None:
    for schema in (
        {"properties": {name: {"type": "string"}}},
        {"properties": {name: True}},
    ):
        with pytest.raises(UnsupportedError) as refusal:
            compiled(schema, style)
        assert refusal.value.pointer == f"/properties/{name}"
    # What may never come need not be written.
    assert accepted({"properties": {name: False}}, style, "")
    with pytest.raises(UnsupportedError, match="cannot write"):
        compiled({"required": [name]}, style)


@pytest.mark.parametrize(
    ("style", "name"),
    [("qwen_xml", "a>b"), ("minimax_xml", 'a"b'), ("deepseek_xml", 'a"b'), ("glm_xml", "a</b")],
)
def test_names_with_the_marks_of_a_style(style: str, name: str) -> None:
    with pytest.raises(UnsupportedError, match=f"holds '{name[1]}'"):
        compiled({"properties": {name: {"type": "string"}}}, style)
    free = STYLES[style][0](name, "x", "string")
    assert not accepted({"additionalProperties": {"type": "string"}}, style, free)


def test_kimi_writes_names_with_entities() -> None:
    schema = {"properties": {'a"<&b': {"type": "string"}}, "additionalProperties": False}

    assert accepted(schema, "kimi_k3_xml", kimi("a&quot;<&amp;b", "x"))
    assert not accepted(schema, "kimi_k3_xml", kimi('a"<&b', "x"))


@pytest.mark.parametrize("style", STYLES)
def test_free_arguments(style: str) -> None:
    write = STYLES[style][0]
    schema = {
        "properties": {"a": {"type": "string"}},
        "patternProperties": {"^n_": {"type": "integer"}},
        "additionalProperties": {"type": "boolean"},
        "maxProperties": 3,
    }
    grammar = compiled(schema, style)
    yes, number = write("flag", "true", "boolean"), write("n_1", "7", "number")

    assert accepts(grammar, write("a", "x", "string") + yes + number)
    assert accepts(grammar, number + yes)
    assert not accepts(grammar, write("n_1", "true", "boolean"))
    assert not accepts(grammar, write("flag", "7", "number"))
    assert not accepts(grammar, write("a", "true", "boolean") + write("a", "x", "string"))
    assert not accepts(grammar, yes + number + yes + number)
    assert not accepts(grammar, write("", "true", "boolean"))


@pytest.mark.parametrize("style", STYLES)
def test_arguments_in_any_order(style: str) -> None:
    write = STYLES[style][0]
    title, days = write("title", "xy", "string"), write("days", "3", "number")
    grammar = compiled(EVENT, style, property_order="any")

    assert accepts(grammar, days + title)
    assert accepts(grammar, title + days)
    assert not accepts(grammar, days)
    assert not accepts(grammar, title + days + title)


@pytest.mark.parametrize("style", STYLES)
def test_conditions_between_arguments(style: str) -> None:
    write = STYLES[style][0]
    schema = {
        "oneOf": [
            {"properties": {"mode": {"const": "all"}}, "required": ["mode"]},
            {
                "properties": {"mode": {"const": "some"}, "ids": {"$ref": "#/$defs/ids"}},
                "required": ["mode", "ids"],
            },
        ],
        "properties": {"mode": True, "ids": True, "why": {"type": "string"}},
        "dependentRequired": {"why": ["ids"]},
        "additionalProperties": False,
        "$defs": {"ids": {"type": "array", "items": {"type": "integer"}, "minItems": 1}},
    }
    grammar = compiled(schema, style)
    everything, some = write("mode", "all", "string"), write("mode", "some", "string")
    ids, why = write("ids", "[1, 2]", "array"), write("why", "so", "string")

    assert accepts(grammar, everything)
    assert accepts(grammar, some + ids)
    assert accepts(grammar, some + ids + why)
    assert not accepts(grammar, some)
    assert not accepts(grammar, some + write("ids", "[]", "array"))
    assert not accepts(grammar, everything + why)


def test_recursive_values() -> None:
    tree = {"type": "object", "properties": {"kids": {"items": {"$ref": "#/$defs/tree"}}}}
    schema = {"properties": {"root": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}}

    assert accepted(schema, "qwen_xml", qwen("root", '{"kids": [{"kids": []}, {}]}'))
    assert not accepted(schema, "qwen_xml", qwen("root", '{"kids": [[]]}'))


def test_arguments_must_be_able_to_be_an_object() -> None:
    with pytest.raises(SchemaError) as no_object:
        compiled({"type": "string"}, "qwen_xml")
    assert no_object.value.code == "schema-unsatisfiable"


# -- line breaks


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("<parameter=s>a</parameter>", True),
        ("<parameter=s>\na\n</parameter>", True),
        ("<parameter=s></parameter>", True),
        ("<parameter=s>\n\n</parameter>", True),  # the empty text between two line breaks
        ("<parameter=s>a\nb</parameter>", True),
        ("<parameter=s>\n\na\n</parameter>", True),  # "\na"
        ("<parameter=s>\n\n\n</parameter>", True),  # "\n"
        ("<parameter=s>\na</parameter>", False),
        ("<parameter=s>a\n</parameter>", False),
        ("<parameter=s>\n</parameter>", False),
        ("<parameter=s>\n\n\n\n</parameter>", False),  # two characters, "\n\n", are allowed …
        ("<parameter=s>\nabc\n</parameter>", False),  # … three are not
    ],
)
def test_line_breaks_of_qwen_are_no_part_of_the_value(text: str, want: bool) -> None:
    schema = {"properties": {"s": {"type": "string", "maxLength": 3, "pattern": "^[^c]*$"}}}
    schema["properties"]["s"]["maxLength"] = 1 if text.count("\n") == 4 else 3

    assert accepted(schema, "qwen_xml", text) == want


@pytest.mark.parametrize("value", ["3", "\n3\n"])
def test_line_breaks_of_qwen_around_json(value: str) -> None:
    schema = {"properties": {"n": {"type": "integer"}}, "additionalProperties": False}

    assert accepted(schema, "qwen_xml", f"<parameter=n>{value}</parameter>")
    assert not accepted(schema, "qwen_xml", f"<parameter=n>{value}\n</parameter>")
    assert not accepted(schema, "qwen_xml", f"<parameter=n>\n{value}</parameter>")


def test_line_breaks_of_other_styles_belong_to_the_value() -> None:
    for style in ("minimax_xml", "deepseek_xml", "glm_xml", "kimi_k3_xml"):
        schema = {"properties": {"s": {"type": "string", "maxLength": 2}}}
        write = STYLES[style][0]
        assert accepted(schema, style, write("s", "a\n", "string"))
        assert not accepted(schema, style, write("s", "\na\n", "string"))


@pytest.mark.parametrize(
    ("style", "text", "want"),
    [
        ("qwen_xml", "<parameter=a>1</parameter><parameter=b>2</parameter>", True),
        ("qwen_xml", "<parameter=a>1</parameter>\n<parameter=b>2</parameter>", True),
        ("qwen_xml", "<parameter=a>1</parameter>\n\n<parameter=b>2</parameter>", False),
        ("qwen_xml", "<parameter=a=1</parameter>", False),
        ("qwen_xml", '<parameter name="a">1</parameter>', False),
        ("minimax_xml", "<parameter=a>1</parameter>", False),
        ("minimax_xml", '<parameter name="a">1</parameter><parameter name="b">2</parameter>', True),
        ("glm_xml", "<arg_key>a</arg_key><arg_value>1</arg_value>", True),
        ("glm_xml", "<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n", True),
        ("glm_xml", "<arg_key>a</arg_key> <arg_value>1</arg_value>", False),
        ("glm_xml", "<arg_value>1</arg_value>", False),
        ("deepseek_xml", deepseek("a", "1", "number")[:-1], False),
        ("deepseek_xml", deepseek("a", "1", "number") + "\n", False),
        ("kimi_k3_xml", kimi("a", "1", "number") + "\n", False),
        ("kimi_k3_xml", kimi("a", "1", "number").replace("<|sep|>1", ">1"), False),
    ],
)
def test_what_stands_between_elements(style: str, text: str, want: bool) -> None:
    schema = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}

    assert accepted(schema, style, text) == want


# -- types


@pytest.mark.parametrize(("style", "kind"), [("deepseek_xml", "other"), ("kimi_k3_xml", "number")])
def test_a_marked_type_agrees_with_the_value(style: str, kind: str) -> None:
    write = STYLES[style][0]
    union = compiled({"properties": {"v": {"type": ["string", "integer"], "maximum": 5}}}, style)

    assert accepts(union, write("v", "42", "string"))
    assert accepts(union, write("v", "4", kind))
    assert not accepts(union, write("v", "42", kind))
    assert not accepts(union, write("v", "x", kind))
    assert not accepts(union, write("v", '"x"', kind))
    assert not accepts(union, write("v", "null", kind))


def test_kimi_names_every_type() -> None:
    grammar = compiled({"properties": {"v": True}, "additionalProperties": False}, "kimi_k3_xml")
    values = {
        "string": "x", "number": "3", "boolean": "true", "null": "null", "array": "[1]",
        "object": '{"a": 1}',
    }  # fmt: skip
    for kind, value in values.items():
        assert accepts(grammar, kimi("v", value, kind))
        for other in values:
            assert accepts(grammar, kimi("v", value, other)) == (other in (kind, "string"))
    assert not accepts(grammar, kimi("v", "3", "integer"))


@pytest.mark.parametrize("style", ["qwen_xml", "minimax_xml", "glm_xml"])
@pytest.mark.parametrize(
    ("schema", "value", "want"),
    [
        ({"type": ["string", "null"], "minLength": 5}, "null", True),
        ({"type": ["string", "integer"], "maximum": 5}, "4", True),
        ({"type": ["string", "integer"], "maximum": 5}, "42", False),
        ({"type": ["string", "integer"], "maximum": 5}, " 42", False),
        ({"type": ["string", "integer"], "maximum": 5}, "42 apples", True),
        ({"type": "string"}, "42", True),
        ({"enum": ["1", 2]}, "1", False),
        ({"enum": ["1", 2]}, "2", True),
        ({"enum": ["true", False]}, "true", False),
        ({"enum": ["true", False]}, "false", True),
        ({"type": ["string", "array"], "items": {"type": "integer"}}, '["a"]', False),
        ({"type": ["string", "array"], "items": {"type": "integer"}}, "[1]", True),
        ({"type": ["string", "array"], "items": {"type": "integer"}}, "[1] see below", True),
        ({"type": ["string", "object"], "required": ["a"]}, "{}", False),
        ({"type": ["string", "object"], "required": ["a"]}, '{"a": 1}', True),
        (True, "{not JSON}", True),
    ],
)
def test_an_unmarked_type_is_told_by_the_text(
    style: str, schema: Any, value: str, want: bool
) -> None:
    grammar = compiled({"properties": {"v": schema}, "additionalProperties": False}, style)

    assert accepts(grammar, STYLES[style][0]("v", value, "")) == want
