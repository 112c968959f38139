"""What every kernel asks of its arguments: kinds, shapes, types, and row indices as integers.

The native kernel checks arrays itself; those of the other frameworks are checked here, with the
same words.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

from structag.errors import MatcherError

LOGIT_TYPES = ("float32", "float16", "bfloat16")
INDEX_TYPES = ("int64", "int32")
WORD_BITS = 32

_LARGEST_ROW = 2**63 - 1
_INTEGERS = "a one-dimensional list, array or tensor of integers"


def refuse(given: str, expected: str) -> NoReturn:
    """Raises the error of all kernels."""
    raise MatcherError(given, code="bitmask-shape", expected=expected)


def type_name(array: Any) -> str:
    """The type of the elements as all frameworks spell it: ``float32``."""
    return str(getattr(array, "dtype", type(array).__name__)).rpartition(".")[2]


def read_rows(indices: Any | None) -> list[int] | None:
    """Row indices as plain integers; booleans are refused, they would be read as rows 0 and 1."""
    if indices is None:
        return None
    try:
        values = list(indices.tolist() if hasattr(indices, "tolist") else indices)
        rows = None if bool in map(type, values) else [operator.index(row) for row in values]
    except TypeError:
        rows = None
    if rows is None:
        refuse(f"the row indices are `{indices!r:.60}`", _INTEGERS)
    for row in rows:
        if abs(row) > _LARGEST_ROW:
            refuse(f"row index {row!s:.60} is out of range", "a row of the logits and bitmask")
    return rows


def check_arrays(logits: Any, bitmask: Any, rows: list[int] | None, token_map: Any | None) -> None:
    """Refuses arrays that do not fit each other, and rows that they do not have."""
    if type_name(logits) not in LOGIT_TYPES:
        refuse(f"the logits are `{type_name(logits)}`", "`float32`, `float16` or `bfloat16`")
    if type_name(bitmask) != "int32":
        refuse(f"the bitmask is `{type_name(bitmask)}`", "`int32`")
    for name, array in (("logits", logits), ("bitmask", bitmask)):
        if array.ndim not in (1, 2):
            refuse(f"{array.ndim} dimensions in the {name}", "1 or 2")
    if token_map is not None:
        check_token_map(token_map, logits.shape[-1])
    check_row_counts(_row_count(logits), _row_count(bitmask), rows)


def check_token_map(token_map: Any, width: int) -> None:
    """Refuses a token map that is no vector of integers, one for each logit of a row."""
    if type_name(token_map) not in INDEX_TYPES:
        refuse(f"the token map is `{type_name(token_map)}`", "`int64` or `int32`")
    if token_map.ndim != 1:
        refuse(f"{token_map.ndim} dimensions in the token map", "1")
    if token_map.shape[0] != width:
        refuse(
            f"the token map has {token_map.shape[0]} tokens",
            f"{width}, one for each logit of a row",
        )


def check_row_counts(logits: int, bitmask: int, rows: list[int] | None) -> None:
    """Refuses a bitmask of another number of rows, or rows that one of the two does not have."""
    if rows is None:
        if logits != bitmask:
            plural = "" if bitmask == 1 else "s"
            refuse(
                f"the bitmask has {bitmask} row{plural}",
                f"{logits}, one for each row of the logits",
            )
        return
    for row in rows:
        for name, count in (("logits", logits), ("bitmask", bitmask)):
            if not 0 <= row < count:
                refuse(
                    f"row index {row} is out of range",
                    f"0 <= index < {count}, the rows of the {name}",
                )


def _row_count(array: Any) -> int:
    return int(array.shape[0]) if array.ndim == 2 else 1
