"""Many matchers in one native call: the step of an engine that decodes a whole batch.

The GIL is released, and threads help where a call takes long.  What fails in one matcher is said
in the result; the others do not notice.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import index
from typing import Any, NamedTuple

from structag._core import BatchMatcher as NativeBatchMatcher
from structag.errors import MatcherError, StructagError
from structag.matcher import Matcher, bitmask_error

_MOST_THREADS = 8
_LARGEST = 2**63 - 1
_PLAIN = {int, bool}


class BatchResult(NamedTuple):
    """What came of a call, by position in the list of matchers.

    Attributes:
        values: what the method says; False or 0 for a matcher that failed.
        errors: why a matcher failed; empty if none did.
    """

    values: list[int]
    errors: dict[int, StructagError]


class BatchMatcher:
    """Fills masks, accepts tokens and rolls back for many matchers at once.

    The matchers may be of different grammars.  Any thread may call at any time; calls come one
    after the other.  All methods take arrays and tensors of integers where they take sequences,
    and raise `MatcherError`: ``batch`` if a matcher or a row is there twice or lists differ in
    length, ``bitmask-shape`` as `Matcher.fill_next_token_bitmask` does; nothing is done then.

    Args:
        threads: how many work on one call, the caller included; half of the processors, at most
            8, by default.  They start when a call first takes long.
    """

    __slots__ = ("_native",)

    def __init__(self, threads: int | None = None) -> None:
        if threads is None:
            threads = min(_MOST_THREADS, max(1, (os.cpu_count() or 1) // 2))
        threads = index(threads)
        if not 1 <= threads <= 1024:
            raise MatcherError(
                f"a batch on {threads} threads", code="batch", expected="1 to 1024 threads"
            )
        self._native = NativeBatchMatcher(threads)

    def fill_next_token_bitmask(
        self, matchers: Sequence[Matcher], bitmask: Any, indices: Sequence[int] | None = None
    ) -> BatchResult:
        """Fill a row of `bitmask` for each matcher; the values: whether it has to be applied.

        Matcher *i* gets row `indices[i]`, or row *i*; at -1 it takes no part.  Rows that are not
        named stay as they are.  A row that fails (`LimitError`) allows the stop tokens only, so
        that it can be sampled from until the request is ended.
        """
        natives = _natives(matchers)
        rows = list(range(len(natives))) if indices is None else _integers(indices)
        try:
            return BatchResult(*self._native.fill(natives, bitmask, rows))
        except TypeError:
            raise bitmask_error(bitmask) from None

    def accept_token(self, matchers: Sequence[Matcher], token_ids: Sequence[int]) -> BatchResult:
        """Advance each matcher by its token; the values: whether it was accepted.

        A negative id is padding: the matcher stays where it is, and nothing was refused.
        """
        return BatchResult(*self._native.accept(_natives(matchers), _integers(token_ids)))

    def rollback(self, matchers: Sequence[Matcher], counts: int | Sequence[int] = 1) -> BatchResult:
        """Undo the last `counts` entries of each matcher; the values: whether there were as many.

        Where there were fewer nothing is undone.
        """
        natives = _natives(matchers)
        numbers = [counts] * len(natives) if isinstance(counts, int) else counts
        return BatchResult(*self._native.rollback(natives, _integers(numbers)))

    def mask_ids(self, matchers: Sequence[Matcher]) -> BatchResult:
        """`Matcher.mask_id` of each; what `DeviceMaskPool` asks for in every step."""
        return BatchResult(*self._native.mask_ids(_natives(matchers)))

    def fill_draft_chains(
        self,
        matchers: Sequence[Matcher],
        drafts: Any,
        bitmask: Any,
        first_rows: Sequence[int] | None = None,
    ) -> BatchResult:
        """`Matcher.fill_draft_chain` for each; the values: how many draft tokens are accepted.

        `drafts` is [matchers, length], padded with -1 at the ends.  Matcher *i* gets the rows
        `first_rows[i]` to `first_rows[i] + length`, by default those that follow the rows of the
        matchers before; at -1 it takes no part.
        """
        natives = _natives(matchers)
        tokens = _drafts(drafts)
        rows_each = tokens.shape[1] + 1
        starts = range(0, rows_each * len(natives), rows_each)
        rows = list(starts) if first_rows is None else _integers(first_rows)
        try:
            return BatchResult(*self._native.fill_draft_chains(natives, tokens, bitmask, rows))
        except TypeError:
            raise bitmask_error(bitmask) from None


def _natives(matchers: Sequence[Matcher]) -> list[Any]:
    try:
        return [matcher._native for matcher in matchers]
    except AttributeError:
        for place, given in enumerate(matchers):
            if not isinstance(given, Matcher):
                kind = type(given).__name__
                raise TypeError(f"matchers[{place}] is a `{kind}`, expected a `Matcher`") from None
        raise


def _integers(numbers: Any) -> list[int]:
    values = numbers.tolist() if hasattr(numbers, "tolist") else list(numbers)
    if not {*map(type, values)} <= _PLAIN:
        values = [*map(index, values)]
    # What does not fit 64 bits is as far out of range as the largest that does.
    return [v if -_LARGEST <= v <= _LARGEST else max(-1, min(v, _LARGEST)) for v in values]


def _drafts(drafts: Any) -> Any:
    import numpy as np

    tokens = np.ascontiguousarray(drafts, dtype=np.int64)
    if tokens.ndim != 2:
        raise MatcherError(
            f"drafts of {tokens.ndim} dimensions",
            code="batch",
            expected="[matchers, length], padded with -1",
        )
    return tokens
