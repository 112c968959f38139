"""Names of arguments: which of them a style can write, and how."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from structag.errors import UnsupportedError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import MAX_CODE_POINT, Ref
from structag.pointer import escaped
from structag.schema.document import Document
from structag.schema.facts import Goal

_BLANKS = (
    (0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
"""Whitespace: readers strip it from the ends of a name."""
_CONTROLS = ((0x00, 0x1F), (0x7F, 0x7F))


class Names:
    """Names without certain characters, not empty, without whitespace at their ends.

    Names that the schema does not declare have no whitespace at all: one kind of character over
    and over is what masks are made of fastest.
    """

    def __init__(
        self,
        document: Document,
        builder: GrammarBuilder,
        without: str,
        entities: Mapping[str, str] | None = None,
    ) -> None:
        self._document = document
        self._builder = builder
        self._wrong = _wrong_characters(without)
        self._entities = str.maketrans(dict(entities or {}))
        banned = without + "".join(entities or ())
        self._free = builder.repeat(builder.chars(_others(banned, _CONTROLS + _BLANKS)), 1)

    def written(self, name: str, goal: Goal) -> str:
        """How a declared name is written.

        Raises:
            UnsupportedError: `schema-keyword`, it cannot be written in this style.
        """
        wrong = self._wrong.search(name)
        if wrong is not None:
            raise refused(self._document, name, goal, f"holds {wrong[0]!r}")
        if name == "" or name != name.strip():
            reason = "begins or ends with whitespace" if name else "is empty"
            raise refused(self._document, name, goal, reason)
        return name.translate(self._entities)

    def free(self, keys: Ref) -> Ref:
        """Those of `keys` that can be written as they are, without whitespace."""
        builder = self._builder
        return self._free if keys == builder.any_text else builder.both(keys, self._free)


def refused(document: Document, name: str, goal: Goal, reason: str) -> UnsupportedError:
    """The refusal of a name that a style cannot write, at the place that declares it."""
    root = document.root
    pointer = goal[0].pointer if goal else root.pointer
    if not goal and name in root.value.get("properties", ()):
        pointer += f"/properties/{escaped(name)}"
    return UnsupportedError(
        f"the argument name `{name[:60]}` {reason}, which this argument style cannot write",
        code="schema-keyword",
        pointer=pointer,
        hint="rename the argument, or use another argument style",
    )


@lru_cache
def _wrong_characters(without: str) -> re.Pattern[str]:
    """Matches one character of `without`, or a control character."""
    return re.compile(f"[{re.escape(without)}\\x00-\\x1f\\x7f]")


@lru_cache
def _others(chars: str, ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """The code points that are neither in `chars` nor in `ranges`."""
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in sorted([*ranges, *((ord(char), ord(char)) for char in chars)]):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    return (*found, (start, MAX_CODE_POINT))
