"""Applying token bitmasks to logits: one function for every framework.

The type of the logits chooses the file that does the work; see `structag.bitmask`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal, TypeAlias, TypeVar

from structag.bitmask.arguments import refuse

Logits = TypeVar("Logits")
Kernel: TypeAlias = Literal["auto", "native", "triton", "compiled"]

# Top-level module of the logits' type -> kernel -> where its function is.
_FILES: dict[str, dict[str, tuple[str, str]]] = {
    "numpy": {"auto": ("apply_numpy", "apply"), "native": ("apply_numpy", "apply")},
    "torch": {
        "auto": ("apply_torch", "apply"),
        "native": ("apply_torch", "apply_on_cpu"),
        "triton": ("apply_triton", "apply"),
        "compiled": ("apply_compiled", "apply"),
    },
    "jax": {"auto": ("apply_jax", "apply")},
    "jaxlib": {"auto": ("apply_jax", "apply")},
    "mlx": {"auto": ("apply_mlx", "apply")},
}

Applier: TypeAlias = Callable[[Any, Any, Any, Any], Any]

_appliers: dict[tuple[type, str], Applier] = {}  # only types met so far


def apply_token_bitmask_inplace(
    logits: Logits,
    bitmask: object,
    indices: Sequence[int] | Any | None = None,
    *,
    token_map: object | None = None,
    kernel: Kernel = "auto",
) -> Logits:
    """Sets the logit of every token that `bitmask` disallows to minus infinity.

    Args:
        logits: ``[vocab]`` or ``[batch, vocab]`` of float32, float16 or bfloat16, rows contiguous:
            a NumPy array, a torch tensor on any device, a JAX or an MLX array.
        bitmask: ``int32[ceil(vocab / 32)]`` or ``int32[batch, …]``.  On the CPU, NumPy or torch,
            whatever the logits are; for torch logits on another device, a tensor there.
        indices: the rows to work on (list, array or tensor of integers); all by default.  Row *r*
            of the bitmask applies to row *r* of the logits, as in xgrammar and vLLM.  With indices
            the two need not have the same number of rows.
        token_map: for logits of a draft model with a smaller vocabulary, ``int64[vocab]`` or int32:
            logit *i* is token ``token_map[i]`` of the bitmask.  (A checkpoint's ``d2t`` often holds
            differences: then it is ``arange(len(d2t)) + d2t``.)
        kernel: for torch: ``native`` (CPU), ``triton`` or ``compiled``.  By default the fastest for
            the device: Triton on CUDA and ROCm where it is installed, else compiled by torch.

    Returns the logits.  JAX arrays cannot be written: the result is a new array, and the given one
    is used up (reading it raises).

    Allowed logits keep their exact bits.  Logits beyond the bitmask's last bit are disallowed; bits
    beyond the last logit are ignored.  On the CPU the GIL is released, and large batches are split
    over threads: torch's number of them, for NumPy one for each processor.  On a device nothing
    waits for it; rows out of range are refused, in `indices` that lie on the device they are left
    out.  No gradient flows through the change.

    Raises:
        MatcherError: `bitmask-shape` if an argument has the wrong kind, type, shape, device or
            layout, or an index is out of range; nothing has been written then.
    """
    applier = _appliers.get((type(logits), kernel)) or _find_applier(logits, kernel)
    masked: Logits = applier(logits, bitmask, indices, token_map)
    return masked


def _find_applier(logits: Any, kernel: str) -> Applier:
    kind = type(logits)
    for ancestor in kind.__mro__:
        kernels = _FILES.get(ancestor.__module__.partition(".")[0])
        if kernels is not None:
            if kernel not in kernels:
                names = " or ".join(f"`{name}`" for name in kernels)
                refuse(f"the kernel is `{kernel!s:.60}`", f"{names} for these logits")
            file, function = kernels[kernel]
            applier: Applier = getattr(import_module(f"structag.bitmask.{file}"), function)
            _appliers[kind, kernel] = applier
            return applier
    refuse(f"the logits are `{kind.__name__}`", "an array of NumPy, torch, JAX or MLX")
