"""Applying bitmasks on CUDA and ROCm with Triton.

One program handles one block of one row, and stores minus infinity at the disallowed logits only:
the logits are never read.  Which row of the masks applies comes from `slots` if it is given (the
masks of a `DeviceMaskPool`), else it is the row of the logits.  The grid depends on shapes alone,
nothing is read back, so that a launch can be captured in a CUDA graph.
"""

from __future__ import annotations

from functools import partial

import torch
import triton
import triton.language as tl

from structag.bitmask.arguments import WORD_BITS
from structag.bitmask.device_arguments import apply_with

_BLOCK = 4096


def launch(
    logits: torch.Tensor,
    masks: torch.Tensor,
    rows: torch.Tensor | None,
    token_map: torch.Tensor | None,
    slots: torch.Tensor | None,
) -> None:
    """See `Launch`."""
    row_count = logits.shape[0] if rows is None else rows.shape[0]
    width = logits.shape[1]
    if row_count == 0 or width == 0:
        return
    _mask_rows[(row_count, triton.cdiv(width, _BLOCK))](
        logits,
        masks,
        rows,
        slots,
        token_map,
        logits.shape[0],
        masks.shape[0],
        logits.stride(0),
        masks.stride(0),
        width,
        masks.shape[1] * WORD_BITS,
        block=_BLOCK,
    )


apply = partial(apply_with, launch)


# Sizes that change with the batch compile nothing again.
@triton.jit(do_not_specialize=["logit_rows", "mask_rows", "width", "bit_count"])
def _mask_rows(
    logits,
    masks,
    rows,
    slots,
    token_map,
    logit_rows,
    mask_rows,
    logit_stride,
    mask_stride,
    width,
    bit_count,
    block: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    if rows is not None:
        row = tl.load(rows + row).to(tl.int64)
    is_row = (row >= 0) & (row < logit_rows)
    slot = row
    if slots is not None:
        slot = tl.load(slots + row, mask=is_row, other=-1).to(tl.int64)
    if is_row & (slot >= 0) & (slot < mask_rows):
        place = tl.program_id(1) * block + tl.arange(0, block)
        is_logit = place < width
        token = place
        if token_map is not None:
            token = tl.load(token_map + place, mask=is_logit, other=-1)
        is_token = (token >= 0) & (token < bit_count)
        words = masks + slot * mask_stride + (token >> 5)
        word = tl.load(words, mask=is_logit & is_token, other=0)
        is_allowed = ((word >> (token & 31).to(tl.int32)) & 1) != 0
        tl.store(logits + row * logit_stride + place, -float("inf"), mask=is_logit & ~is_allowed)
