"""Applying a bitmask to JAX logits.

JAX arrays cannot be written.  In place means here that the given array is used up: its memory goes
to the result where the device can do so, and reading it afterwards raises, so that logits without
the mask cannot be sampled from by mistake.  Inside ``jax.jit`` only the result matters.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from structag.bitmask.arguments import WORD_BITS, check_arrays, read_rows, refuse


def apply(logits: Any, bitmask: Any, indices: Any | None, token_map: Any | None) -> Any:
    """The masked logits; `logits` themselves are deleted."""
    bitmask, token_map = _as_array(bitmask, "bitmask"), _as_array(token_map, "token map")
    rows = read_rows(indices)
    check_arrays(logits, bitmask, rows, token_map)
    selected = None if rows is None else jnp.asarray(rows, dtype=jnp.int32)
    if isinstance(logits, jax.core.Tracer):
        return _mask(logits, bitmask, selected, token_map)
    masked = _mask_in_place(logits, bitmask, selected, token_map)
    if not logits.is_deleted():
        logits.delete()
    return masked


def _mask(logits: Any, bitmask: Any, rows: Any | None, token_map: Any | None) -> Any:
    matrix, masks = jnp.atleast_2d(logits), jnp.atleast_2d(bitmask)
    if masks.shape[1] == 0:  # nothing to gather from: no token has a bit
        masks = jnp.zeros((masks.shape[0], 1), jnp.int32)
    token = jnp.arange(matrix.shape[1]) if token_map is None else token_map
    row = jnp.arange(matrix.shape[0])
    words = masks.at[row[:, None], (token // WORD_BITS)[None, :]].get(mode="fill", fill_value=0)
    is_allowed = ((words >> (token % WORD_BITS)) & 1).astype(bool) & (token >= 0)
    if rows is not None:
        is_allowed |= ~(row[:, None] == rows[None, :]).any(1)[:, None]
    infinity = jnp.array(-jnp.inf, matrix.dtype)
    masked = jnp.where(is_allowed, _bits(matrix), _bits(infinity))
    return jax.lax.bitcast_convert_type(masked, logits.dtype).reshape(logits.shape)


_mask_in_place = partial(jax.jit, donate_argnums=0)(_mask)


def _bits(logits: Any) -> Any:
    """The logits as integers: XLA may rewrite a NaN that it takes for a number."""
    unsigned = jnp.uint32 if logits.dtype.itemsize == 4 else jnp.uint16
    return jax.lax.bitcast_convert_type(logits, unsigned)


def _as_array(array: Any | None, name: str) -> Any | None:
    if array is not None and not hasattr(array, "ndim"):
        refuse(f"the {name} is `{type(array).__name__}`", "a JAX or NumPy array")
    return None if array is None else jnp.asarray(array)
