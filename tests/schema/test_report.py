"""The report: every keyword that is met, once, with the right status."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from structag import Compiler, Vocabulary
from structag.schema.report import Report

COMPILER = Compiler(Vocabulary.byte_level())


def statuses(schema: Any, **options: Any) -> dict[str, str]:
    report = COMPILER.compile_json_schema(schema, **options).report
    found = {entry.pointer: entry.status for entry in report if entry.keyword}
    assert len(found) == len(report) - 1
    return found


@pytest.mark.parametrize(
    ("schema", "options", "want"),
    [
        ({"type": "string", "title": "T", "x-y": 1}, {},
         {"/type": "enforced", "/title": "annotation", "/x-y": "annotation"}),
        ({"format": "date"}, {}, {"/format": "enforced"}),
        ({"format": "date"}, {"formats": "annotate"}, {"/format": "annotation"}),
        ({"format": "email"}, {}, {"/format": "restricted"}),
        ({"anyOf": [{"not": {"format": "email"}}, {"maximum": 1}]}, {},
         {"/anyOf": "enforced", "/anyOf/0/not": "enforced", "/anyOf/0/not/format": "restricted",
          "/anyOf/1/maximum": "enforced"}),
        ({"format": "color"}, {}, {"/format": "annotation"}),
        ({"type": "object", "minProperties": 3, "not": {"additionalProperties": {"minimum": 3}}},
         {}, {"/type": "enforced", "/minProperties": "enforced", "/not": "enforced",
              "/not/additionalProperties": "restricted",
              "/not/additionalProperties/minimum": "enforced"}),
        ({"properties": {"a": True, "b": {"minimum": 1}}}, {},
         {"/properties": "restricted", "/properties/b/minimum": "enforced"}),
        ({"properties": {"a": True, "b": True}}, {"property_order": "any"},
         {"/properties": "enforced"}),
        ({"properties": {"a": True}, "additionalProperties": False}, {},
         {"/properties": "enforced", "/additionalProperties": "enforced"}),
        ({"required": ["a"]}, {}, {"/required": "restricted"}),
        ({"const": {"a": [{"b": 1, "c": 2}]}}, {}, {"/const": "restricted"}),
        ({"enum": [{"a": [1, 2]}]}, {}, {"/enum": "enforced"}),
        ({"then": False, "minContains": 3}, {},
         {"/then": "annotation", "/minContains": "annotation"}),
        ({"items": {"$ref": "#/$defs/a~1b"}, "$defs": {"a/b": {"minimum": 1}, "no": {"type": 5}}},
         {}, {"/items/$ref": "enforced", "/$defs": "annotation", "/$defs/a~1b/minimum": "enforced",
              "/items": "enforced"}),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "unevaluatedItems": False,
          "items": {"$ref": "#/definitions/x", "minimum": 5}, "definitions": {"x": True}}, {},
         {"/$schema": "annotation", "/unevaluatedItems": "annotation", "/items": "enforced",
          "/items/$ref": "enforced", "/items/minimum": "annotation",
          "/definitions": "annotation"}),
    ],
)  # fmt: skip
def test_statuses(schema: Any, options: dict[str, Any], want: dict[str, str]) -> None:
    assert statuses(schema, **options) == want


def test_spellings_are_reported_for_the_whole_schema() -> None:
    entry = COMPILER.compile_json_schema(True).report.restricted[0]

    assert (entry.pointer, entry.keyword) == ("", "")
    assert "20 whitespace" in entry.reason


def test_dropped_combinations_are_reported() -> None:
    many = [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(10)]
    report = COMPILER.compile_json_schema({"allOf": many}, property_order="any").report
    found = [entry for entry in report.restricted if entry.keyword == "allOf"]

    assert [entry.pointer for entry in found] == ["/allOf"]
    assert "too many" in found[0].reason


def test_schemas_in_a_tag_are_reported_with_their_place() -> None:
    schema = {"type": "json_schema", "json_schema": {"minimum": 1}}
    tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": [schema] * 2}}
    report = COMPILER.compile_structural_tag(tag).report

    assert {entry.pointer for entry in report if entry.keyword} == {
        f"/format/elements/{index}/json_schema/minimum" for index in range(2)
    }


def test_a_regex_has_an_empty_report() -> None:
    assert list(COMPILER.compile_regex("a+").report) == []


def test_a_report_survives_pickling() -> None:
    report = COMPILER.compile_json_schema({"minimum": 1}).report
    copy = pickle.loads(pickle.dumps(report))

    assert isinstance(copy, Report)
    assert copy.entries == report.entries
    assert report.to_json()[1] == {
        "pointer": "/minimum", "keyword": "minimum", "status": "enforced", "reason": ""
    }  # fmt: skip
