"""Applying token bitmasks to logits: one function for every framework.

The framework's own file does the work; see `structag.bitmask`.  Here the logits choose the file,
row indices become a list of integers, and what goes wrong becomes a `MatcherError`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from structag.errors import MatcherError

# Top-level module of the logits' type -> the file that handles them.
_FILES = {"numpy": "structag.bitmask.apply_numpy", "torch": "structag.bitmask.apply_torch"}

_LARGEST_ROW = 2**63 - 1

# What a framework's file offers: None when applied, else (what was given, what was expected).
Mismatch = tuple[str, str] | None
Applier = Callable[[Any, Any, list[int] | None], Mismatch]

_appliers: dict[type, Applier] = {}  # by the logits' type; only types met so far


def apply_token_bitmask_inplace(
    logits: object, bitmask: object, indices: Sequence[int] | Any | None = None
) -> None:
    """Sets the logit of every token that `bitmask` disallows to minus infinity.

    Args:
        logits: ``[vocab]`` or ``[batch, vocab]`` on the CPU, the last dimension contiguous; a NumPy
            array (float32, float16) or a torch tensor (float32, float16, bfloat16).
        bitmask: ``int32[ceil(vocab / 32)]`` or ``int32[batch, …]``, NumPy or torch, whatever the
            logits are.
        indices: the rows to work on (list, array or tensor of integers); all by default.  Row *r*
            of the bitmask applies to row *r* of the logits, as in xgrammar and vLLM.  With indices
            the two need not have the same number of rows.

    Allowed logits keep their exact bits.  Logits beyond the bitmask's last bit are disallowed; bits
    beyond the last logit are ignored.  The GIL is released.  No gradient flows through the change.

    Raises:
        MatcherError: `bitmask-shape` if an argument has the wrong kind, type, shape, device or
            layout, or an index is out of range; nothing has been written then.
    """
    rows = None if indices is None else _rows(indices)
    try:
        applier = _appliers.get(type(logits)) or _find_applier(type(logits))
        mismatch = applier(logits, bitmask, rows)
    except TypeError:
        mismatch = _explain(logits, bitmask)
    if mismatch is not None:
        given, expected = mismatch
        raise MatcherError(given, code="bitmask-shape", expected=expected)


def _find_applier(kind: type) -> Applier:
    for ancestor in kind.__mro__:
        file = _FILES.get(ancestor.__module__.partition(".")[0])
        if file is not None:
            applier: Applier = import_module(file).apply
            _appliers[kind] = applier
            return applier
    return _refuse


def _refuse(logits: Any, bitmask: Any, rows: list[int] | None) -> Mismatch:
    return f"the logits are `{type(logits).__name__}`", "a NumPy array or a torch tensor"


def _rows(indices: Any) -> list[int]:
    """Row indices as plain integers; booleans are refused, they would be read as rows 0 and 1."""
    try:
        values = list(indices.tolist() if hasattr(indices, "tolist") else indices)
        rows = None if bool in map(type, values) else [operator.index(row) for row in values]
    except TypeError:
        rows = None
    if rows is None:
        raise MatcherError(
            f"the row indices are `{indices!r:.60}`",
            code="bitmask-shape",
            expected="a one-dimensional list, array or tensor of integers",
        )
    for row in rows:
        if abs(row) > _LARGEST_ROW:  # anything smaller is the core's to refuse
            raise MatcherError(
                f"row index {row!s:.60} is out of range",
                code="bitmask-shape",
                expected="a row of the logits and bitmask",
            )
    return rows


def _explain(logits: Any, bitmask: Any) -> Mismatch:
    """Why the core could not even take the arguments as arrays."""
    if not hasattr(bitmask, "__dlpack__"):
        return f"the bitmask is `{type(bitmask).__name__}`", "a NumPy array or a torch tensor"
    flags = getattr(logits, "flags", None)
    if flags is not None and not flags.writeable:
        return "the logits are read-only", "logits that can be written"
    kinds = f"logits `{_kind(logits)}` and bitmask `{_kind(bitmask)}`"
    return kinds, "dense arrays in main memory, of the processor's byte order"


def _kind(array: Any) -> str:
    return f"{type(array).__name__}[{getattr(array, 'dtype', '?')}]"
