"""Applying a bitmask to torch logits: on the CPU the native kernel writes into their memory.

Tensors go to the core as DLPack capsules, which torch makes in a tenth of the time that its
``Tensor.__dlpack__`` takes (0.7 against 6 µs, more than the kernel needs for a short row).  Large
batches are split over as many threads as torch itself would use.

On CUDA and ROCm the logits are Triton's where it is installed; other devices, and these without
Triton, run what torch compiles.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from torch.utils.dlpack import to_dlpack  # type: ignore[attr-defined]  # public, not in __all__

from structag.bitmask.arguments import refuse
from structag.bitmask.native import apply_native


def apply(
    logits: torch.Tensor, bitmask: Any, indices: Any | None, token_map: Any | None
) -> torch.Tensor:
    """Masks the named rows in place by the kernel of their device, and returns the logits."""
    if logits.is_cpu:
        return apply_on_cpu(logits, bitmask, indices, token_map)
    device_module(logits.device.type).apply(logits, bitmask, indices, token_map)
    return logits


@cache
def device_module(device: str) -> Any:
    """The module with the kernel for a device of that type, which is not the CPU."""
    has_triton = device == "cuda" and find_spec("triton") is not None
    return import_module(f"structag.bitmask.apply_{'triton' if has_triton else 'compiled'}")


def apply_on_cpu(
    logits: torch.Tensor, bitmask: Any, indices: Any | None, token_map: Any | None
) -> torch.Tensor:
    """Masks the named rows with the native kernel."""
    for name, array in (
        ("logits are", logits),
        ("bitmask is", bitmask),
        ("token map is", token_map),
    ):
        if isinstance(array, torch.Tensor):
            if not array.is_cpu:
                refuse(f"the {name} on device `{array.device}`", "`cpu`")
            if array.layout != torch.strided:
                refuse(f"the {name} of layout `{array.layout}`", "`torch.strided`")
    try:
        capsules = _capsule(logits), _capsule(bitmask)
        tokens = _capsule(token_map)
    except (RuntimeError, BufferError) as error:
        refuse(f"torch cannot share the tensor's memory ({error})", "a dense tensor")
    apply_native(*capsules, indices, tokens, torch.get_num_threads())
    return logits


def _capsule(array: Any) -> Any:
    if not isinstance(array, torch.Tensor):
        return array
    return to_dlpack(array.detach() if array.requires_grad else array)
