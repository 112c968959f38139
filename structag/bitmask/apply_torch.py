"""Applying a bitmask to torch logits on the CPU: the native kernel writes into their memory.

Other devices are refused here rather than copied back and forth in silence.
"""

from __future__ import annotations

from typing import Any

import torch

from structag._core import apply_token_bitmask


def apply(logits: torch.Tensor, bitmask: Any, rows: list[int] | None) -> tuple[str, str] | None:
    """Applies `bitmask` to the named rows; returns why not as (given, expected)."""
    if not logits.is_cpu:
        return f"the logits are on device `{logits.device}`", "`cpu`"
    if logits.requires_grad:
        logits = logits.detach()
    return apply_token_bitmask(logits, bitmask, rows)
