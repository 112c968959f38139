"""Applying a bitmask to NumPy logits: the native kernel writes into the array's own memory."""

from __future__ import annotations

from typing import Any

from structag._core import apply_token_bitmask


def apply(logits: Any, bitmask: Any, rows: list[int] | None) -> tuple[str, str] | None:
    """Applies `bitmask` to the named rows; returns why not as (given, expected)."""
    return apply_token_bitmask(logits, bitmask, rows)
