"""Schemas and the JSON texts they stand for, keyword by keyword; and every kind of refusal."""

from __future__ import annotations

import contextlib
import json
import re
import time
from typing import Any

import pytest
from support.reference_matcher import accepts

from structag import Compiler, Matcher, Vocabulary
from structag.errors import LimitError, StructagError
from structag.grammar.builder import GrammarBuilder
from structag.schema import SchemaOptions, lower_schema

COMPILER = Compiler(Vocabulary.byte_level())
ANY = {"property_order": "any"}
COMPACT = {"max_whitespace": 0}


def accepted(schema: Any, texts: list[str], **options: Any) -> list[str]:
    grammar = COMPILER.compile_json_schema(schema, **options)
    kept: list[str] = []
    for text in texts:
        matcher = Matcher(grammar)
        if matcher.accept_string(text) and matcher.is_completed():
            kept.append(text)
    return kept


SELF: list[Any] = []  # a value that holds itself
SELF.append(SELF)
CASES: list[tuple[Any, dict[str, Any], list[str], list[str]]] = [
    (True, {}, ["1", '{"a": [null, {}]}', '"\\u00e9"'], ["", "01", '"\\ud800"', "nul", "[1,]"]),
    ({"type": "string", "minLength": 2, "maxLength": 2}, {},
     ['"éé"', '"\\n\\u0041"', '"😀\\ud83d\\ude00"'], ['"é"', '"abc"', '"\n\n"']),
    ({"minLength": 2}, {}, ["1", '"ab"', "[]"], ['"a"']),
    ({"type": "object", "maxProperties": 10**12}, {}, ["{}", '{"a":1,"b":2}'], ["[]"]),
    ({"type": "string", "pattern": "^a\"b$"}, {}, ['"a\\"b"', '"\\u0061\\u0022b"'], ['"a"b"']),
    ({"enum": ["é", 1, None, [1, 2], {"a": 1, "b": []}]}, {},
     ['"\\u00e9"', "1", "1.0", "null", "[1,2]", '{"a": 1, "b": []}'],
     ["2", "[1]", '{"a":1}', '{"a":1,"b":[],"c":1}']),
    ({"type": "string", "enum": ["a", 1]}, {}, ['"a"'], ["1"]),
    ({"enum": ["aa", "b"], "maxLength": 1, "pattern": "b"}, {}, ['"b"'], ['"aa"']),
    ({"type": "integer"}, {}, ["0", "-0", "-12"], ["1.0", "1e2", "01", "+1", "-"]),
    ({"type": "integer"}, {"integer_decimals": True}, ["1.0", "1e2", "-3.00"], ["1.5", "1e-2"]),
    ({"type": "number"}, {}, ["1.5e10", "-0.5", "1E-3"], [".5", "1.", "01", "NaN"]),
    ({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {},
     ['{"a":1}', '{"a":1,"z":"x"}', "5"], ["{}", '{"a":"x"}', '{"a":1,"\\u0061":"x"}']),
    ({"type": "object", "properties": {"a": True, "b": True, "c": True}, "required": ["b"],
      "additionalProperties": False}, COMPACT,
     ['{"b":1}', '{"a":1,"b":1}', '{"b":1,"c":1}', '{"a":1,"b":1,"c":1}'],
     ["{}", '{"a":1}', '{"b":1,}', '{,"b":1}', '{"b":1,"a":1}', '{"b": 1}', '{"b":1,"d":1}']),
    ({"type": "object", "properties": {"a": True, "b": True, "c": True, "d": True},
      "additionalProperties": {"type": "null"}}, COMPACT,
     ["{}", '{"b":1}', '{"a":1,"d":1}', '{"z":null}', '{"c":1,"z":null,"y":null}'],
     ['{"d":1,"a":1}', '{"z":1}', '{"z":null,"a":1}', '{"a":1,"a":1}']),
    ({"type": "object", "properties": {"a": True, "b": True}, "required": ["b", "z"],
      "additionalProperties": False}, ANY, [], ['{"b":1,"a":2}']),
    ({"type": "object", "properties": {"a": True, "b": True}, "required": ["b", "z"]}, ANY,
     ['{"z":1,"b":2}', '{"y":0,"z":1,"a":1,"b":2}'], ['{"b":1,"a":2}', '{"z":1,"b":1,"b":1}']),
    ({"required": ["z"], "properties": {"a": True}, "type": "object"}, {},
     ['{"z":1}', '{"a":0,"z":1,"q":1}'], ['{"z":1,"a":0}', '{"a":1}']),
    ({"type": "object", "patternProperties": {"^x": {"type": "integer"}, "y$": {"minimum": 5}},
      "additionalProperties": False}, {},
     ['{"x1":1}', '{"xy":7}', '{"y":"s"}', '{"y":6,"x":0}'], ['{"xy":1}', '{"z":1}', '{"x":"s"}']),
    ({"type": "object", "properties": {"xa": {"maximum": 9}}, "patternProperties":
      {"^x": {"type": "integer"}}}, {}, ['{"xa":9}', '{"q":"s"}'], ['{"xa":10}', '{"xa":"s"}']),
    ({"type": "object", "propertyNames": {"pattern": "^a+$", "maxLength": 2}}, {},
     ['{"aa":1}', "{}"], ['{"aaa":1}', '{"b":1}']),
    ({"type": "object", "properties": {"a": True, "b": True, "c": True}, "minProperties": 2,
      "maxProperties": 2, "additionalProperties": False}, {},
     ['{"a":1,"c":1}', '{"b":1,"c":1}'], ["{}", '{"a":1}', '{"a":1,"b":1,"c":1}']),
    ({"type": "object", "minProperties": 1, "maxProperties": 2}, ANY,
     ['{"a":1}', '{"a":1,"b":2}'], ["{}", '{"a":1,"b":2,"c":3}']),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}, {},
     ["[1]", "[1, 2,3]"], ["[]", "[1,2,3,4]", '["a"]', "[1 2]"]),
    ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}],
      "items": {"type": "boolean"}, "minItems": 1}, {},
     ["[1]", '[1,"a"]', '[1,"a",true,false]'], ["[]", '["a"]', '[1,"a",3]']),
    ({"items": [{"type": "integer"}], "additionalItems": False, "type": "array"}, {},
     ["[]", "[1]"], ["[1,1]", "[null]"]),
    ({"type": "array", "contains": {"type": "integer"}, "minContains": 2, "maxContains": 2}, {},
     ["[1,2]", '["a",1,2]'], ["[1]", "[1,2,3]"]),
    ({"type": "array", "items": {"enum": [1, 2, "a"]}, "uniqueItems": True}, {},
     ["[]", '["a",1]'], ["[1,1]", "[1,1.0]"]),
    ({"type": "array", "uniqueItems": True, "maxItems": 1}, {}, ["[5]"], ["[5,5]"]),
    ({"type": "array", "uniqueItems": True, "items": {"type": "string"}}, {},
     ["[]", '["a","b","ab"]', '["","\\u0061"]'], ['["a","b","a"]', '["a","\\u0061"]', '["",""]']),
    ({"type": "array", "uniqueItems": True, "items": {"type": "number"}}, {},
     ["[1,11,1.5]", "[-1,1,0,0.1]"], ["[1,1]", "[1,1.0]", "[0,-0]", "[10,1e1]", "[1,11,1]"]),
    ({"type": "array", "uniqueItems": True, "items": {"type": ["string", "integer", "null"]}}, {},
     ['[1,"1",null,2]'], ['[1,"1",1]', "[null,null]", "[true]"]),
    ({"type": "array", "uniqueItems": True, "items": {"enum": [[1], [2], {"a": 1}, "a"]}}, {},
     ['[[2],{"a":1},[1],"a"]'], ["[[1],[1]]", '[{"a":1},{"a":1}]']),
    ({"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": "^[ab]$"},
      "minItems": 2}, {}, ['["a","b"]', '["b","a"]'], ['["a"]', '["a","a"]', '["a","b","a"]']),
    ({"type": "array", "uniqueItems": True, "items": {"type": "string"},
      "contains": {"pattern": "^x"}, "minContains": 2, "maxContains": 3}, {},
     ['["x","a","xx"]'], ['["x","x"]', '["x","a"]', '["x","x1","x2","x3"]', '["x","x1","a","a"]']),
    ({"type": "array", "uniqueItems": True, "items": {"type": "string"},
      "contains": {"const": "x"}}, {}, ['["a","x"]'], ['["a"]', '["x","x"]']),
    ({"type": "array", "uniqueItems": True, "items": {"type": "null"},
      "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 1}, {},
     ['["a"]', '["a",1,null]'], ["[]", '["a",1,null,null]', '["a","b"]']),
    ({"type": "array", "uniqueItems": True, "items": {"type": "boolean"},
      "prefixItems": [{"enum": [1, True]}, {"enum": [1, True, "a"]}]}, {},
     ["[]", "[1,true,false]", '[true,"a",false]', '[1,"a",false,true]'],
     ["[1,1]", "[1,true,true]", '[true,"a",true]', '[1,"a",false,false]']),
    ({"type": "object", "minProperties": 3, "maxProperties": 4}, ANY,
     ['{"a":1,"b":2,"c":3}'],
     ['{"a":1,"b":2}', '{"a":1,"b":2,"a":3}', '{"a":1,"b":2,"\\u0061":3}']),
    ({"type": "object", "minProperties": 3, "properties": {"x": True}}, {},
     ['{"x":1,"b":2,"c":3}', '{"a":1,"b":2,"c":3}'], ['{"x":1,"b":2}', '{"x":1,"b":2,"b":3}']),
    ({"allOf": [{"properties": {"base": True}}], "properties": {"own": True}, "type": "object"},
     {}, ['{"base":1,"own":2}'], ['{"own":2,"base":1}']),
    ({"properties": {"own": True}, "allOf": [{"properties": {"more": True}}], "type": "object"},
     {}, ['{"own":2,"more":1}'], ['{"more":1,"own":2}']),
    ({"oneOf": [{"properties": {"kind": {"const": 1}}, "required": ["kind"]},
                {"properties": {"kind": {"const": 2}}, "required": ["a"]}], "type": "object",
      "properties": {"a": True, "kind": True}}, {}, ['{"kind":2,"a":1}'], ['{"a":1,"kind":2}']),
    ({"type": "object", "not": {"properties": {"a": True}, "unevaluatedProperties": False}}, {},
     ['{"b":1}', '{"a":1,"b":1}'], ["{}", '{"a":1}']),
    ({"type": "object", "not": {"anyOf": [{"properties": {"a": {"type": "null"}}}, {"properties":
      {"b": {"type": "null"}}}], "unevaluatedProperties": {"type": "null"}}}, ANY,
     ['{"c":1}', '{"a":null,"c":1}'], ["{}", '{"a":null,"b":null}', '{"c":null}']),
    ({"type": "array", "not": {"prefixItems": [True], "unevaluatedItems": False}}, {},
     ["[1,2]"], ["[]", "[1]"]),
    ({"type": "array", "not": {"unevaluatedItems": {"type": "string"}}}, {},
     ["[1]", '["a",2]'], ["[]", '["a"]']),
    ({"type": "object", "minProperties": 3, "not": {"anyOf": [
        {"propertyNames": {"not": {"enum": ["1", "3"]}}},
        {"propertyNames": {"not": {"enum": ["2", "3"]}}}]}}, ANY,
     ['{"3":0,"a":0,"b":0}', '{"1":0,"2":0,"4":0}'], ['{"1":0,"a":0,"b":0}', '{"3":0,"a":0}']),
    ({"type": "object", "not": {"additionalProperties": {"type": "string"}}, "maxProperties": 2},
     {}, ['{"a":1}', '{"a":"","b":1}'], ["{}", '{"a":""}', '{"a":1,"b":2,"c":3}']),
    ({"type": "object", "not": {"additionalProperties": {"type": "string"}}, "minProperties": 3},
     ANY, ['{"a":"","b":"","c":1,"d":""}'], ['{"a":1,"b":1}', '{"a":"","b":"","c":"","d":""}']),
    ({"anyOf": [{"type": "string"}, {"minimum": 3}], "type": ["integer", "string"]}, {},
     ['"a"', "3"], ["2", "[]"]),
    ({"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 7}]}, {}, ["5"], ["2", "8"]),
    ({"allOf": [{"pattern": "^a"}, {"pattern": "b$"}], "type": "string"}, {}, ['"acb"'], ['"ac"']),
    ({"oneOf": [{"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 10}]}, {},
     ["-5", "20"], ["5", "0"]),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}, ANY,
     ['{"a":1}', '{"b":1,"c":2}'], ["{}", '{"a":1,"b":2}']),
    ({"not": {"type": ["string", "object"]}}, {}, ["1", "[]"], ['"a"', "{}"]),
    ({"type": "integer", "not": {"enum": [0, 5]}}, {}, ["1", "50"], ["0", "-0", "5"]),
    ({"type": "object", "not": {"required": ["a"]}}, {}, ['{"b":1}'], ['{"a":1}']),
    ({"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["v"]}, "type": "object",
      "else": {"required": ["w"]}, "required": ["k"]}, ANY,
     ['{"k":1,"v":0}', '{"k":2,"w":0}'], ['{"k":1}', '{"k":2}']),
    ({"dependentRequired": {"a": ["b"]}, "type": "object"}, ANY,
     ["{}", '{"b":1}', '{"b":1,"a":1}'], ['{"a":1}']),
    ({"dependencies": {"a": {"properties": {"b": {"type": "null"}}}}, "type": "object"}, ANY,
     ['{"b":1}', '{"a":1,"b":null}'], ['{"a":1,"b":1}']),
    ({"allOf": [{"properties": {"a": True}}], "properties": {"b": True}, "type": "object",
      "unevaluatedProperties": False}, {}, ['{"a":1}', '{"b":1}'], ['{"z":1}']),
    ({"$ref": "#/$defs/a~1b%25", "maximum": 5, "$defs": {"a/b%": {"type": "integer"}}}, {},
     ["5"], ["6", '"a"']),
    ({"$ref": "#/definitions/a", "minimum": 5, "$schema": "http://json-schema.org/draft-07/schema#",
      "definitions": {"a": {"type": "integer"}}}, {}, ["1"], ['"a"']),
    ({"type": "array", "items": {"$ref": "#"}}, {}, ["[]", "[[],[[]]]"], ["[1]", "[[1]]"]),
    ({"$defs": {"x": {"$anchor": "foo", "type": "null"}}, "$ref": "#foo"}, {}, ["null"], ["1"]),
    ({"$id": "http://e.com/a", "$defs": {"x": {"$id": "b", "type": "null"}}, "$ref": "b"}, {},
     ["null"], ["1"]),
    ({"type": "string", "format": "date"}, {}, ['"2024-02-29"'], ['"2023-02-29"', '"x"']),
    ({"type": "string", "format": "date"}, {"formats": "annotate"}, ['"x"'], ["1"]),
    ({"type": "string", "format": "made-up", "title": "5", "x-any": []}, {}, ['"x"'], ["1"]),
    ({"type": "object", "properties": {"a": True}}, {"closed_objects": True}, ['{"a":{"b":1}}'],
     ['{"b":1}']),
    ({"type": "object"}, {"max_whitespace": 1}, ['{ "a" : 1 , "b" : 2 }', "{}"],
     ['{  "a":1}', ' {"a":1}', '{"a":1} ']),
    ({"$ref": "#/$defs/e", "$defs": {"e": {"oneOf": [
      {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/w"}}},
      {"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#/$defs/w"}}},
      {"type": "null"}]}, "w": {"anyOf": [{"$ref": "#/$defs/e"}, {"type": "integer"}]}}}, ANY,
     ["null", '{"a": null}', '{"a": {"a": 1}}'], ['{"a": 1, "b": 2}', "1", '{"a": "x"}']),
    ({}, {"separators": (", ", ": ")}, ['{"a": 1, "b": [1, 2]}', "[]"],
     ['{"a":1}', '[1,2]', '[ 1]', '{"a" : 1}', "[1,  2]"]),
    ({"type": "string", "nullable": True}, {"openapi": True}, ["null", '"a"'], ["1"]),
    ({"type": "object", "not": {"additionalProperties": {"type": "null"}}}, {},
     ['{"a":null,"b":1}', '{"b":1,"c":2}'], ["{}", '{"a":null}']),
    ({"type": "object", "properties": {"a": True}, "allOf": [
      {"not": {"properties": {"a": True, "b": True}, "additionalProperties": False}},
      {"not": {"patternProperties": {"^x": False}}}]}, ANY,
     ['{"x":1}', '{"c":1,"x":2}', '{"x1":1,"a":0}'], ["{}", '{"a":1,"b":2}', '{"c":1}']),
    ({"type": "object"}, {"max_whitespace": None}, ['{' + " " * 99 + "}"], []),
    ({"type": "integer", "multipleOf": 0.123456789}, {},
     ["0", "123456789", "-246913578"], ["1", "1" + "0" * 308]),
    ({"multipleOf": 99991, "minimum": 10**30 + 1, "type": "number"}, {},
     [str((10**30 // 99991 + 1) * 99991)], [str(10**30 + 2), "99991"]),
    ({"type": "array", "prefixItems": [{"type": "integer"}], "maxContains": 1,
      "contains": {"minimum": 5, "type": "number"}, "maxItems": 3}, {},
     ["[9]", '[1, 7, "a"]', "[1, 2, 5]"], ["[]", "[1]", "[9, 9]", "[1, 7, 7]", "[1, 2, 3, 7]"]),
    ({"type": "array", "allOf": [{"contains": {"const": 1}}, {"contains": {"minimum": 1}},
      {"contains": {"type": "string"}, "minContains": 2}]}, {},
     ['[1, "a", "b"]', '["a", 1, "b", 7, "c"]'], ['[1, "a"]', '["a", "b"]', '[2, "a", "b"]']),
    ({"type": "array", "prefixItems": [{"type": "null"}, True], "contains": {"minimum": 5},
      "minContains": 1500, "maxContains": 10**12, "maxItems": 10**12}, {},
     ["[null, 0, " + "7," * 1498 + '"x"]', "[null, 5" + ",6" * 1498 + "]"],
     ["[null, 0, " + "7," * 1497 + "4]", "[null, 5]", "[7" + ",6" * 1500 + "]"]),
    ({"type": "array", "prefixItems": [{"maximum": 3}, True, True], "maxItems": 2,
      "contains": {"minimum": 2}, "maxContains": 1}, {},
     ["[2]", "[1,2]", "[0, 9]", "[3,0]"], ["[]", "[1]", "[2,2]", "[1,1]", "[0,1,2]"]),
    ({"type": "array", "items": {"enum": [1, 2, 3]}, "maxItems": 2000, "allOf": [
      {"contains": {"minimum": 1}, "minContains": 2}, {"contains": {"minimum": 3}},
      {"contains": {"type": "string"}, "minContains": 0, "maxContains": 5}]}, {},
     ["[1,3]", "[3,3,1]"], ["[3]", "[1,2]", "[]"]),
    ({"type": "array", "contains": {"type": "string"}, "prefixItems": [{"type": "null"}],
      "unevaluatedItems": {"minimum": 3}}, {}, ['[null, "a", 3]', '[null, 7, "b"]'],
     ["[null, 3]", '[null, "a", 2]', '["a"]']),
    ({"type": "number", "exclusiveMinimum": True, "minimum": 5}, {}, ["5.1", "6e0"], ["5", "5.0"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "options", "good", "bad"), CASES, ids=[json.dumps(c[0])[:60] for c in CASES]
)
def test_keyword(schema: Any, options: dict[str, Any], good: list[str], bad: list[str]) -> None:
    if not good:
        with pytest.raises(StructagError):
            accepted(schema, bad, **options)
        return
    assert accepted(schema, good, **options) == good
    assert accepted(schema, bad, **options) == []


@pytest.mark.parametrize(
    ("schema", "code", "pointer"),
    [
        ({"minLength": "3"}, "schema-value", "/minLength"),
        ({"properties": {"a": {"required": True}}}, "schema-value", "/properties/a/required"),
        ({"properties": {"a/b": 3}}, "schema-value", "/properties/a~1b"),
        ({"type": "text"}, "schema-value", "/type"),
        ({"enum": 3}, "schema-value", "/enum"),
        ({"multipleOf": 0}, "schema-value", "/multipleOf"),
        ({"anyOf": []}, "schema-value", "/anyOf"),
        ({"prefixItems": None}, "schema-value", "/prefixItems"),
        ({"items": {"pattern": "^(a"}}, "regex-syntax", "/items/pattern"),
        ({"pattern": "(a)\\1"}, "regex-feature", "/pattern"),
        ({"$ref": "#/$defs/no"}, "schema-reference", "/$ref"),
        ({"$ref": "/$defs/a", "$defs": {"a": True}}, "schema-reference", "/$ref"),
        ({"$ref": "https://schemas.example/a.json"}, "schema-reference", "/$ref"),
        ({"allOf": [{"$ref": "#"}]}, "schema-reference", ""),
        ({"uniqueItems": True, "items": {"type": "object"}}, "schema-keyword", "/uniqueItems"),
        ({"uniqueItems": True, "items": {"type": "string"}, "prefixItems": [{"minLength": 1}]},
         "schema-keyword", "/uniqueItems"),
        ({"uniqueItems": True, "items": {"type": "string"}, "allOf": [
            {"contains": {"minLength": 1}}, {"contains": {"pattern": "a"}}]},
         "schema-keyword", "/uniqueItems"),
        ({"not": {"format": "email"}}, "schema-keyword", "/not/format"),
        ({"format": "hostname", "const": "xn--x"}, "schema-keyword", "/format"),
        ({"properties": {1: True}}, "schema-value", "/properties"),
        ({"patternProperties": {None: True}}, "schema-value", "/patternProperties"),
        ({"dependentRequired": {None: []}}, "schema-value", "/dependentRequired"),
        ({"not": {"dependencies": {1: True}}}, "schema-value", "/not/dependencies"),
        ({"const": SELF}, "limit", "/const"),
        ({"not": {"enum": [1, SELF]}}, "limit", "/not/enum"),
        (False, "schema-unsatisfiable", ""),
        ({"type": "object", "minProperties": 10**12}, "schema-unsatisfiable", ""),
        ({"type": "integer", "minimum": 5, "maximum": 4}, "schema-unsatisfiable", ""),
        ({"type": "object", "required": ["a"], "properties": {"a": False}},
         "schema-unsatisfiable", ""),
    ],
)  # fmt: skip
def test_a_refusal_has_a_code_and_a_pointer(schema: Any, code: str, pointer: str) -> None:
    with pytest.raises(StructagError) as caught:
        lower_schema(schema, GrammarBuilder())

    assert (caught.value.code, caught.value.pointer) == (code, pointer)


def test_too_few_different_values_are_an_error() -> None:
    letters = {"type": "string", "pattern": "^[a-z]$"}
    compiler = Compiler(Vocabulary.byte_level())
    with pytest.raises(StructagError) as caught:
        compiler.compile_json_schema(
            {"uniqueItems": True, "items": letters, "minItems": 27} | {"type": "array"}
        )

    assert (caught.value.code, caught.value.pointer) == ("schema-unsatisfiable", "")


def test_a_pattern_of_few_texts_tells_branches_apart() -> None:
    branches = [
        {"properties": {"kind": {"type": "string", "pattern": f"^kind{i}$"}, "b": {"minimum": i}},
         "required": ["kind"], "type": "object"}
        for i in range(60)
    ]  # fmt: skip
    report = COMPILER.compile_json_schema({"oneOf": branches}, property_order="any").report

    assert [entry for entry in report.restricted if entry.keyword] == []
    good, bad = ['{"kind": "kind7", "b": 8}'], ['{"kind": "kind70"}', '{"kind": "kind7", "b": 6}']
    assert accepted({"oneOf": branches}, good) == good
    assert accepted({"oneOf": branches}, bad) == []


@pytest.mark.parametrize("is_part", [False, True])
def test_what_is_required_beside_one_of_tells_its_branches_apart(is_part: bool) -> None:
    branches = [
        {"properties": {"kind": {"const": i}, "more": {"type": "object", "required": [f"a{i}"]}}}
        for i in range(40)
    ]
    one_of: dict[str, Any] = {"oneOf": branches}
    schema: dict[str, Any] = {"type": "object", "required": ["kind", "more"]}
    schema |= {"allOf": [one_of]} if is_part else one_of
    report = COMPILER.compile_json_schema(schema, property_order="any").report

    assert [entry for entry in report.restricted if entry.keyword] == []
    good, bad = ['{"kind": 7, "more": {"a7": 0}}'], ['{"kind": 7, "more": {"a8": 0}}', "{}", "1"]
    assert accepted(schema, good) == good
    assert accepted(schema, bad) == []


def test_refusals_of_many_kinds_stay_few() -> None:
    """A branch without a kind overlaps with all others, and is refused by each of them."""
    branches = [
        {"properties": {"kind": {"const": i}, "a": {"minimum": i}, "b": {"maxLength": i}},
         "required": ["kind", "a", "b"]}
        for i in range(12)
    ]  # fmt: skip
    schema = {"type": "object", "oneOf": [*branches, {"required": ["a"]}]}
    report = COMPILER.compile_json_schema(schema, property_order="any").report

    assert [entry for entry in report.restricted if entry.keyword] == []
    good = ['{"kind": 7, "a": 6, "b": ""}', '{"kind": 7, "a": 8, "b": "12345678"}', '{"a": 0}']
    bad = ['{"kind": 7, "a": 8, "b": ""}', '{"kind": 7}']
    assert accepted(schema, good, property_order="any") == good
    assert accepted(schema, bad, property_order="any") == []


def test_pointers_start_behind_the_prefix() -> None:
    with pytest.raises(StructagError) as caught:
        lower_schema({"type": 3}, GrammarBuilder(), pointer="/format/json_schema")

    assert caught.value.pointer == "/format/json_schema/type"


def test_a_schema_without_a_finite_value_is_refused() -> None:
    schema = {"type": "object", "properties": {"n": {"$ref": "#"}}, "required": ["n"]}
    with pytest.raises(StructagError) as caught:
        COMPILER.compile_json_schema(schema)

    assert (caught.value.code, caught.value.pointer) == ("schema-unsatisfiable", "")


def test_agrees_with_the_reference_matcher() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": -3}, "b": {"enum": ["x", None]}},
        "required": ["b"],
        "additionalProperties": {"type": "boolean"},
    }
    builder = GrammarBuilder()
    grammar = builder.build(lower_schema(schema, builder, SchemaOptions(max_whitespace=1)))
    texts = ['{"b":null}', '{"a": -3, "b": "x"}', '{"b":"x","c":true}', '{"a":-4,"b":null}', "{}",
             '{"b":null,"\\u0062":true}', '{"b":null,}', '{"b" : "\\u0078"}']  # fmt: skip

    assert [accepts(grammar, text.encode()) for text in texts] == [
        bool(accepted(schema, [text], max_whitespace=1)) for text in texts
    ]


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def test_nesting_costs_no_frames_and_is_limited() -> None:
    deep = nested(200)
    text = '{"a":' * 200 + "null" + "}" * 200
    assert accepted(deep, [text]) == [text]
    for hostile in (nested(10_000), {"allOf": [nested(900)]}):
        with pytest.raises(LimitError) as caught:
            lower_schema(hostile, GrammarBuilder())
        assert (caught.value.code, caught.value.setting) == ("nesting-limit", "max_nesting")


def chain(keyword: str, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(depth):
        schema = {keyword: [schema, schema] if keyword != "not" else schema}
    return schema


@pytest.mark.timing
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {f"p{i}": {"type": "integer"} for i in range(2000)}},
        {"properties": {f"p{i}": True for i in range(2000)},
         "required": [f"p{i}" for i in range(0, 2000, 2)]},
        {"enum": [f"value {i}" for i in range(10_000)]},
        {"enum": list(range(10_000))},
        {"type": "array", "items": True, "minItems": 1_000_000_000},
        {"type": "string", "minLength": 5, "maxLength": 1_000_000},
        {"minimum": 10**2000, "type": "integer"},
        {"minimum": 10**5000, "type": "integer"},
        {"minItems": 10**30},
        chain("allOf", 400),
        chain("oneOf", 14),
        chain("anyOf", 60),
        chain("not", 400),
        {"allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]}
                   for i in range(40)]},
        {"$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(3000)}
         | {"d3000": {"$ref": "#/$defs/d0"}}, "$ref": "#/$defs/d0"},
    ],
    ids=lambda schema: "-".join(schema)[:40],
)  # fmt: skip
def test_large_and_hostile_schemas_are_quick(schema: Any) -> None:
    start = time.process_time()
    with contextlib.suppress(StructagError):
        lower_schema(schema, GrammarBuilder())

    assert time.process_time() - start < 2


REGISTRY = {
    "http://e.com/name.json": {"$defs": {"short": {"maxLength": 3}}, "type": "string"},
    "http://e.com/list.json": {"type": "array", "items": {"$ref": "name.json#/$defs/short"}},
}


def test_references_lead_into_the_registry() -> None:
    schema = {"$id": "http://e.com/root.json", "items": {"$ref": "list.json"}, "type": "array"}

    assert accepted(schema, ['[["abc"]]', '[["abcd"]]', "[5]"], registry=REGISTRY) == ['[["abc"]]']


def test_errors_in_the_registry_name_the_document() -> None:
    options = SchemaOptions(registry={"http://e.com/a": {"minLength": "x"}})
    with pytest.raises(StructagError) as caught:
        lower_schema({"$ref": "http://e.com/a"}, GrammarBuilder(), options)

    assert caught.value.pointer == "http://e.com/a#/minLength"


def test_a_dynamic_reference_means_the_anchor_of_the_root() -> None:
    tree = {
        "$id": "http://e.com/tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$dynamicRef": "#node"}}},
    }
    strict = {
        "$id": "http://e.com/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
    }
    good, bad = '{"kids": [{"kids": []}]}', '{"kids": [{"kid": 1}]}'

    assert accepted(strict, [good, bad], registry={"http://e.com/tree": tree}) == [good]
    assert accepted(tree, [good, bad]) == [good, bad]


def test_a_meta_schema_is_known() -> None:
    schema = {"$ref": "http://json-schema.org/draft-07/schema#/definitions/simpleTypes"}

    assert accepted(schema, ['"null"', '"text"']) == ['"null"']


def test_the_printed_form_is_the_same_in_every_process() -> None:
    values = [f"v{number}" for number in range(10, 40)]
    shown = COMPILER.compile_json_schema({"enum": values[::-1]}).ebnf()

    assert re.findall("v[0-9]+", shown) == values
