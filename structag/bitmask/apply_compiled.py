"""Applying bitmasks with what torch compiles, for devices that have no kernel of their own.

Written as one expression over the whole matrix, which the compiler fuses into one pass.  Compiled
on first use; shapes are dynamic, so that another batch size compiles nothing again.
"""

from __future__ import annotations

from functools import partial

import torch

from structag.bitmask.arguments import WORD_BITS
from structag.bitmask.device_arguments import apply_with


def launch(
    logits: torch.Tensor,
    masks: torch.Tensor,
    rows: torch.Tensor | None,
    token_map: torch.Tensor | None,
    slots: torch.Tensor | None,
) -> None:
    """See `Launch`."""
    if logits.numel() == 0 or (rows is not None and rows.numel() == 0):
        return
    if masks.numel() == 0:  # nothing to gather from: no token has a bit
        masks = masks.new_zeros(max(masks.shape[0], 1), 1)
    _compiled(logits, masks, rows, token_map, slots)


apply = partial(apply_with, launch)


def mask_rows(
    logits: torch.Tensor,
    masks: torch.Tensor,
    rows: torch.Tensor | None,
    token_map: torch.Tensor | None,
    slots: torch.Tensor | None,
) -> None:
    """What is compiled; `masks` has at least one row of at least one word."""
    row = torch.arange(logits.shape[0], device=logits.device)
    slot = row if slots is None else slots
    is_masked = (slot >= 0) & (slot < masks.shape[0])
    if rows is not None:
        is_masked = is_masked & (row[:, None] == rows[None, :]).any(1)
    place = torch.arange(logits.shape[1], device=logits.device)
    token = place if token_map is None else token_map
    is_token = (token >= 0) & (token < masks.shape[1] * WORD_BITS)
    slot = slot.clamp(0, masks.shape[0] - 1)
    words = masks[slot[:, None], (token // WORD_BITS).clamp(0, masks.shape[1] - 1)[None, :]]
    is_allowed = ((words >> (token % WORD_BITS)) & 1).bool() & is_token
    logits.masked_fill_(is_masked[:, None] & ~is_allowed, float("-inf"))


_compiled = torch.compile(mask_rows, dynamic=True, fullgraph=True)
