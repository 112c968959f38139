"""The native kernel of the CPU: refusals of the core become errors."""

from __future__ import annotations

from typing import Any

from structag._core import apply_token_bitmask
from structag.bitmask.arguments import read_rows, refuse


def apply_native(
    logits: Any, bitmask: Any, indices: Any | None, token_map: Any | None, max_threads: int
) -> None:
    """Masks the named rows in their own memory, with up to `max_threads` threads."""
    rows = read_rows(indices)
    try:
        mismatch = apply_token_bitmask(logits, bitmask, rows, token_map, max_threads)
    except TypeError:  # not arrays, or not such as the core can take
        mismatch = _explain(logits, bitmask, token_map)
    if mismatch is not None:
        refuse(*mismatch)


def _explain(logits: Any, bitmask: Any, token_map: Any | None) -> tuple[str, str]:
    """Why the core could not even take the arguments as arrays."""
    for name, array in (("bitmask", bitmask), ("token map", token_map)):
        if array is not None and not _is_shareable(array):
            return f"the {name} is `{type(array).__name__}`", "a NumPy array or a torch tensor"
    flags = getattr(logits, "flags", None)
    if flags is not None and not flags.writeable:
        return "the logits are read-only", "logits that can be written"
    kinds = f"logits `{_kind(logits)}` and bitmask `{_kind(bitmask)}`"
    if token_map is not None:
        kinds = f"{kinds}, token map `{_kind(token_map)}`"
    return kinds, "dense arrays in main memory, of the processor's byte order"


def _is_shareable(array: Any) -> bool:
    return hasattr(array, "__dlpack__") or type(array).__name__ == "PyCapsule"


def _kind(array: Any) -> str:
    return f"{type(array).__name__}[{getattr(array, 'dtype', '?')}]"
