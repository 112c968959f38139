"""Applying a bitmask to NumPy logits: the native kernel writes into the array's own memory.

Large batches are split over as many threads as the process has processors.
"""

from __future__ import annotations

import os
from typing import Any

from structag.bitmask.native import apply_native

_PROCESSORS = (
    len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)


def apply(logits: Any, bitmask: Any, indices: Any | None, token_map: Any | None) -> Any:
    """Masks the named rows in place, and returns the logits."""
    apply_native(logits, bitmask, indices, token_map, _PROCESSORS)
    return logits
