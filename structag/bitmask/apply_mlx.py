"""Applying a bitmask to MLX logits; the array is assigned to, MLX computes it when it is needed."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from structag.bitmask.arguments import WORD_BITS, check_arrays, read_rows, refuse


def apply(logits: Any, bitmask: Any, indices: Any | None, token_map: Any | None) -> Any:
    """Masks the named rows in place, and returns the logits."""
    bitmask, token_map = _as_array(bitmask, "bitmask"), _as_array(token_map, "token map")
    rows = read_rows(indices)
    check_arrays(logits, bitmask, rows, token_map)
    if logits.size == 0 or rows == []:
        return logits
    masks, matrix = mx.atleast_2d(bitmask), mx.atleast_2d(logits)
    if masks.shape[1] == 0:  # nothing to gather from: no token has a bit
        masks = mx.zeros((masks.shape[0], 1), mx.int32)
    token = mx.arange(logits.shape[-1]) if token_map is None else token_map
    is_token = (token >= 0) & (token < masks.shape[1] * WORD_BITS)
    words = mx.take(masks, mx.clip(token // WORD_BITS, 0, masks.shape[1] - 1), axis=1)
    is_allowed = (((words >> (token % WORD_BITS)) & 1) != 0) & is_token
    infinity = mx.array(-float("inf"), logits.dtype)
    if rows is None:
        masked = mx.where(is_allowed, matrix, infinity)
    else:
        chosen = mx.array(sorted(set(rows)))
        masked = matrix
        masked[chosen] = mx.where(is_allowed[chosen], matrix[chosen], infinity)
    logits[...] = masked.reshape(logits.shape)
    return logits


def _as_array(array: Any | None, name: str) -> Any | None:
    if array is not None and not hasattr(array, "ndim"):
        refuse(f"the {name} is `{type(array).__name__}`", "an MLX or NumPy array")
    return None if array is None else mx.array(array)
