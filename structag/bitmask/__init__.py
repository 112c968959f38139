"""Packed token masks: allocate them, reset them, apply them to logits.

A mask is ``int32[batch, ceil(vocab_size / 32)]``; bit *i* of word *w* is token ``32 * w + i``,
1 = allowed.  The layout is the one that serving engines already pass around.

Each kernel has one file, ``apply_<framework>.py``, with one function ``apply(logits, bitmask,
indices, token_map)`` that returns the logits; `apply` picks the file by the type of the logits and
imports it then, so that no framework is loaded that the caller does not use.  Filling masks is the
business of `structag.matcher`.
"""

from structag.bitmask.allocate import allocate_token_bitmask, reset_token_bitmask
from structag.bitmask.apply import apply_token_bitmask_inplace

__all__ = ["allocate_token_bitmask", "apply_token_bitmask_inplace", "reset_token_bitmask"]
