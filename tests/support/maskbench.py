"""The schemas of MaskBench, where `STRUCTAG_DATA` has them."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

DATA = os.environ.get("STRUCTAG_DATA")
PARTS = 5
"""Into how many parts `part_of_500` divides, so that they may be tested side by side."""


def part_of_500(part: int) -> list[dict[str, Any]]:
    """One part of 500 schemas that are always the same."""
    return _first()[part:500:PARTS]


@cache
def _first() -> list[dict[str, Any]]:
    return rows(1)[:500]


def rows(stride: int) -> list[dict[str, Any]]:
    """Every `stride`-th schema, in an order that is random and always the same."""
    assert DATA is not None
    found: list[dict[str, Any]] = []
    for packed in sorted(Path(DATA, "maskbench").glob("*.jsonl.gz")):
        with gzip.open(packed, "rt", encoding="utf-8") as lines:
            found += map(json.loads, lines)
    found.sort(key=lambda row: hashlib.sha256(f"0:{row['id']}".encode()).digest())
    return found[::stride]
