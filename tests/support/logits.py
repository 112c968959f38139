"""Logits with chosen bit patterns, random masks, and what masking has to make of them."""

from __future__ import annotations

from typing import Any

import numpy as np

# Type of the logits -> the bits of minus infinity.
INFINITY_BITS = {"float32": 0xFF800000, "float16": 0xFC00, "bfloat16": 0xFF80}


def random_bits(
    type_name: str, shape: tuple[int, ...], random: np.random.Generator
) -> np.ndarray[Any, Any]:
    """Bit patterns of logits, NaNs of any payload among them."""
    unsigned = np.uint32 if type_name == "float32" else np.uint16
    return random.integers(0, np.iinfo(unsigned).max, shape, dtype=unsigned, endpoint=True)


def random_mask(shape: tuple[int, int], random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Words that are at random empty, full or mixed, in runs, so that every code path is met."""
    words = random.integers(-(2**31), 2**31, shape, dtype=np.int64).astype(np.int32)
    kinds = np.repeat(random.integers(0, 3, shape), 5, axis=1)[:, : shape[1]]
    return np.where(kinds == 0, 0, np.where(kinds == 1, -1, words)).astype(np.int32)


def expect(
    type_name: str,
    bits: np.ndarray[Any, Any],
    mask: np.ndarray[Any, Any],
    rows: list[int],
    token_map: list[int] | None = None,
) -> np.ndarray[Any, Any]:
    """The bits after masking, one logit at a time."""
    expected = bits.copy()
    tokens = range(bits.shape[1]) if token_map is None else token_map
    for row in rows:
        for place, token in enumerate(tokens):
            word, bit = divmod(token, 32)
            if not 0 <= word < mask.shape[1] or not (int(mask[row, word]) >> bit) & 1:
                expected[row, place] = INFINITY_BITS[type_name]
    return expected
