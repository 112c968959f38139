"""Handed cases: schemas from public bug reports, and one probe for every keyword."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from structag import CompiledGrammar, Compiler, Matcher, Vocabulary
from structag.errors import StructagError

DATA = os.environ.get("STRUCTAG_DATA")
OPTIONS: dict[str, dict[str, Any]] = {
    "js_any_order": {"property_order": "any"},
    "any property order": {"property_order": "any"},
    "type integer 1.0 / 1e2 (spec: valid)": {"integer_decimals": True},
    "nullable (OpenAPI)": {"openapi": True},
}
"""Cases about an option."""
DUPLICATES = "duplicate additional keys rejected"
"""Names that the schema does not declare may come twice: both members are valid."""

pytestmark = pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA names no folder with the cases")


def cases() -> list[tuple[str, dict[str, Any]]]:
    if DATA is None:
        return []
    found: list[tuple[str, dict[str, Any]]] = []
    for file in ("reports", "schema_probes"):
        for line in Path(DATA, "cases", f"{file}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            if case.get("kind", "json_schema") == "json_schema":
                found.append((case.get("id") or case["keyword"], case))
    return found


def accepts(grammar: CompiledGrammar, text: str | dict[str, str]) -> bool:
    matcher = Matcher(grammar)
    if isinstance(text, str):
        return matcher.accept_string(text) and matcher.is_completed()
    return matcher.accept_bytes(bytes.fromhex(text["hex"])) and matcher.is_completed()


@pytest.mark.parametrize(("name", "case"), cases(), ids=[name for name, _ in cases()])
def test_case(name: str, case: dict[str, Any]) -> None:
    schema = case["input"] if "input" in case else case["schema"]
    compiler = Compiler(Vocabulary.byte_level())
    try:
        grammar = compiler.compile_json_schema(schema, **OPTIONS.get(name, {}))
    except StructagError:
        assert case.get("expected_error") or case.get("error_ok") or not case["accept"]
        return

    assert not case.get("expected_error")
    assert [text for text in case["accept"] if not accepts(grammar, text)] == []
    wrong = [text for text in case["reject"] if accepts(grammar, text)]
    assert wrong == (case["reject"] if name == DUPLICATES else [])
