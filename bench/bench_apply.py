"""Cost of applying token bitmasks to logits, next to a fill of the same tensor.

Prints one table, a row for each type, batch and mask; ``ratio`` is apply over ``fill_(-inf)``.
Masks: sparse (64 tokens allowed), half (random bits), ragged (each word at random empty, full or
mixed), dense (64 tokens disallowed), full (all allowed).  Process CPU time of one thread, median.

    python bench/bench_apply.py [--vocab N] [--batches 1,8,64] [--csv FILE]

With xgrammar installed its CPU kernel is timed too (it takes no float16).
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from results import Row, arguments, machine, report

from structag.bitmask import apply_token_bitmask_inplace

TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def masks(batch: int, vocab: int) -> dict[str, torch.Tensor]:
    random = np.random.default_rng(1)
    shape = (batch, -(-vocab // 32))
    half = random.integers(-(2**31), 2**31, shape, dtype=np.int64).astype(np.int32)
    sparse = np.zeros((batch, shape[1] * 32), dtype=np.uint8)
    for row in sparse:
        row[random.integers(0, vocab, 64)] = 1
    packed = np.packbits(sparse, axis=1, bitorder="little").view(np.int32)
    ragged = np.choose(
        random.integers(0, 3, shape), [np.zeros_like(half), ~np.zeros_like(half), half]
    )
    arrays = {
        "sparse": packed,
        "half": half,
        "ragged": ragged,
        "dense": ~packed,
        "full": np.full(shape, -1, dtype=np.int32),
    }
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def median_us(call: Callable[[], Any], seconds: float) -> tuple[float, int]:
    call()
    times: list[int] = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 5000):
        start = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - start)
    return statistics.median(times) / 1000, len(times)


def xgrammar_applier() -> Callable[[Any, Any], None] | None:
    try:
        import xgrammar
    except ImportError:
        return None
    return lambda logits, mask: xgrammar.apply_token_bitmask_inplace(logits, mask, backend="cpu")


def measure(vocab: int, batches: list[int], seconds: float) -> list[Row]:
    rows = []
    for type_name, dtype in TYPES.items():
        for batch in batches:
            source = torch.randn(batch, vocab).to(dtype)
            for mask_name, mask in masks(batch, vocab).items():
                row = {"type": type_name, "batch": batch, "mask": mask_name}
                rows.append({**row, **measure_mask(source, mask, seconds)})
    return rows


def measure_mask(source: torch.Tensor, mask: torch.Tensor, seconds: float) -> Row:
    """Times the fill right before the apply, so that noise hits both alike."""
    logits = source.clone()
    fill, _ = median_us(lambda: logits.fill_(float("-inf")), seconds)
    logits.copy_(source)
    apply, count = median_us(lambda: apply_token_bitmask_inplace(logits, mask), seconds)
    peer = xgrammar_applier()
    peer_us: float | str = ""
    if peer is not None and source.dtype != torch.float16:
        logits.copy_(source)
        peer_us = round(median_us(lambda: peer(logits, mask), seconds)[0], 2)
    return {
        "fill_us": round(fill, 2),
        "apply_us": round(apply, 2),
        "ratio": round(apply / fill, 2),
        "xgrammar_us": peer_us,
        "n": count,
    }


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--vocab", type=int, default=128 * 1024)
    parser.add_argument("--batches", default="1,8,64")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each figure")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = measure(options.vocab, [int(n) for n in options.batches.split(",")], options.seconds)
    about = {**machine("torch", "xgrammar"), "vocab": options.vocab}
    report(rows, about, options.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
