"""Names of arguments: which of them a style can write, and how."""

from __future__ import annotations

from collections.abc import Mapping

from structag.errors import UnsupportedError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import MAX_CODE_POINT, Ref
from structag.schema.document import Document
from structag.schema.facts import Goal

_BLANKS = (
    (0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
"""Whitespace, which readers strip from the ends of a name."""
_CONTROLS = ((0x00, 0x1F), (0x7F, 0x7F))


class Names:
    """Names without certain characters, not empty, without whitespace at their ends."""

    def __init__(
        self,
        document: Document,
        builder: GrammarBuilder,
        without: str,
        entities: Mapping[str, str] | None = None,
    ) -> None:
        self._document = document
        self._builder = builder
        self._without = without
        self._entities = str.maketrans(dict(entities or {}))
        banned = [(ord(char), ord(char)) for char in without + "".join(entities or ())]
        inner = builder.chars(_others([*banned, *_CONTROLS]))
        edge = builder.chars(_others([*banned, *_CONTROLS, *_BLANKS]))
        self._free = builder.seq(
            edge, builder.optional(builder.seq(builder.repeat(inner, 0), edge))
        )

    def written(self, name: str, goal: Goal) -> str:
        """How a declared name is written.

        Raises:
            UnsupportedError: `schema-keyword`, it cannot be written in this style.
        """
        is_edged = name == "" or name != name.strip()
        wrong = next((c for c in name if c in self._without or _is_control(c)), None)
        if is_edged or wrong is not None:
            reason = "begins or ends with whitespace" if wrong is None else f"holds {wrong!r}"
            raise refused(self._document, name, goal, "is empty" if name == "" else reason)
        return name.translate(self._entities)

    def free(self, keys: Ref) -> Ref:
        """Those of `keys` that can be written as they are."""
        builder = self._builder
        return self._free if keys == builder.any_text else builder.both(keys, self._free)


def refused(document: Document, name: str, goal: Goal, reason: str) -> UnsupportedError:
    """The refusal of a name that a style cannot write, at the place that declares it."""
    root = document.root
    token = name.replace("~", "~0").replace("/", "~1")
    pointer = goal[0].pointer if goal else root.pointer
    if not goal and name in root.value.get("properties", ()):
        pointer += f"/properties/{token}"
    return UnsupportedError(
        f"the argument name `{name[:60]}` {reason}, which this argument style cannot write",
        code="schema-keyword",
        pointer=pointer,
        hint="rename the argument, or use another argument style",
    )


def _is_control(char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in _CONTROLS)


def _others(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The code points outside `ranges`."""
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in sorted(ranges):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    return [*found, (start, MAX_CODE_POINT)]
