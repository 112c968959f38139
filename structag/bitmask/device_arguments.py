"""Arguments of the kernels that run on a device: torch tensors there, checked without waiting.

Row indices and token maps that lie on the device are taken as they are: reading them back would
make the CPU wait for the device, and cannot be captured in a CUDA graph.  Rows out of range that
come so are left out by the kernels; those of a list are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import torch

from structag.bitmask.arguments import (
    INDEX_TYPES,
    check_arrays,
    check_token_map,
    read_rows,
    refuse,
    type_name,
)


class DeviceArguments(NamedTuple):
    """What a kernel works on: matrices, and vectors or None."""

    logits: torch.Tensor
    masks: torch.Tensor
    rows: torch.Tensor | None
    token_map: torch.Tensor | None


Launch: TypeAlias = Callable[
    [
        torch.Tensor,
        torch.Tensor,
        torch.Tensor | None,
        torch.Tensor | None,
        torch.Tensor | None,
    ],
    None,
]
"""Masks rows of a matrix, by logits, masks, rows, token map and slots.  A slot says for each row of
the logits which row of the masks applies, negative: none; without slots it is the same row."""


def apply_with(
    launch: Launch,
    logits: torch.Tensor,
    bitmask: Any,
    indices: Any | None,
    token_map: Any | None,
) -> torch.Tensor:
    """Masks the named rows in place by what `launch` starts on the device; returns the logits."""
    launch(*read_arguments(logits, bitmask, indices, token_map), None)
    return logits


def read_arguments(
    logits: torch.Tensor, bitmask: Any, indices: Any | None, token_map: Any | None
) -> DeviceArguments:
    """The arguments as tensors on the device of the logits, one row made a matrix."""
    device = logits.device
    if not isinstance(bitmask, torch.Tensor):
        refuse(f"the bitmask is `{type(bitmask).__name__}`", f"a torch tensor on `{device}`")
    if bitmask.device != device:
        refuse(f"the bitmask is on device `{bitmask.device}`", f"`{device}`, as the logits")
    if isinstance(indices, torch.Tensor) and not indices.is_cpu:
        check_arrays(logits, bitmask, [], None)
        selected: torch.Tensor | None = _check_index(indices, device)
    else:
        rows = read_rows(indices)
        check_arrays(logits, bitmask, rows, None)
        selected = None if rows is None else torch.tensor(rows, device=device, dtype=torch.int64)
    matrix = as_matrix(logits)
    return DeviceArguments(matrix, as_matrix(bitmask), selected, read_token_map(token_map, matrix))


def read_token_map(token_map: Any | None, logits: torch.Tensor) -> torch.Tensor | None:
    """The token map on the device of the logits; one that lies elsewhere is copied."""
    if token_map is None:
        return None
    if not hasattr(token_map, "ndim"):
        refuse(f"the token map is `{type(token_map).__name__}`", "a NumPy array or a torch tensor")
    check_token_map(token_map, logits.shape[-1])
    return torch.as_tensor(token_map, device=logits.device).contiguous()


def as_matrix(array: torch.Tensor) -> torch.Tensor:
    """A view with two dimensions, of which the last is contiguous; refused if there is none."""
    if array.layout != torch.strided:
        refuse(f"a tensor of layout `{array.layout}`", "`torch.strided`")
    matrix = array.detach()
    if matrix.ndim == 1:
        matrix = matrix[None]
    if matrix.numel() > 0 and matrix.shape[-1] > 1 and matrix.stride(-1) != 1:
        refuse(f"the last dimension has stride {matrix.stride(-1)}", "1 (contiguous rows)")
    return matrix


def _check_index(index: torch.Tensor, device: torch.device) -> torch.Tensor:
    if type_name(index) not in INDEX_TYPES or index.ndim != 1:
        given = f"{type_name(index)}{list(index.shape)}"
        refuse(f"the row indices are `{given}`", "one dimension of `int64` or `int32`")
    if index.device != device:
        refuse(f"the row indices are on device `{index.device}`", f"`{device}`, as the logits")
    return index.contiguous()
