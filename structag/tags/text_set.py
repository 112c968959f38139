"""A set of texts that are looked for all at once: triggers, excludes and ends against each other.

Looking is by length, so thousands of triggers cost about as much as one; many long texts of many
lengths would not, therefore every look-up is charged before it runs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

_SLICE_WORK = 8


class TextSet:
    """Non-empty texts; `charge` is told the work of a look-up before it is done."""

    def __init__(self, texts: Iterable[str], charge: Callable[[int], None]) -> None:
        self._texts = frozenset(texts)
        self._lengths = sorted({len(text) for text in self._texts})
        works = (_SLICE_WORK + length // 8 for length in self._lengths)
        self._works = [0, *accumulate(works)]  # of looking at a place for the first lengths
        self._charge = charge

    def prefixes_of(self, text: str) -> list[str]:
        """Those of the texts that `text` starts with, shortest first."""
        count = bisect_right(self._lengths, len(text))
        self._charge(self._works[count])
        return [text[:length] for length in self._lengths[:count] if text[:length] in self._texts]

    def prefix_of_each(self, others: Sequence[str]) -> list[str | None]:
        """The one of the texts that each of `others` starts with; None for none or several."""
        if len(self._lengths) != 1:
            each = map(self.prefixes_of, others)
            return [found[0] if len(found) == 1 else None for found in each]
        self._charge(self._works[1] * len(others))
        (length,) = self._lengths
        prefixes = [text[:length] for text in others]
        return [prefix if prefix in self._texts else None for prefix in prefixes]

    def first_inside(self, text: str) -> str | None:
        """The one of the texts that occurs in `text` and is complete first."""
        count = bisect_right(self._lengths, len(text))
        self._charge(len(text) * self._works[count])
        lengths = self._lengths[:count]
        if not lengths:
            return None
        for end in range(1, len(text) + 1):
            for length in lengths:
                if length <= end and text[end - length : end] in self._texts:
                    return text[end - length : end]
        return None
