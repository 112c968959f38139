"""What became of every keyword of a schema: enforced, an annotation, or restricted.

While a schema is lowered, a report only takes notes; entries and their pointers are made when
somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from structag.grammar.fragments import Note
from structag.pointer import escaped
from structag.schema.document import Node
from structag.schema.keywords import ANNOTATIONS, DRAFTS, FIRST_DRAFT

ENFORCED, ANNOTATION, RESTRICTED = "enforced", "annotation", "restricted"
_NEEDS = {
    "then": "if", "else": "if", "minContains": "contains", "maxContains": "contains",
    "additionalItems": "items",
}  # fmt: skip
_RANK = (ANNOTATION, ENFORCED, RESTRICTED)


class Entry(NamedTuple):
    """A keyword and what became of it.

    Attributes:
        pointer: the JSON Pointer of the keyword; of the schema itself if `keyword` is empty.
        keyword: its name; empty for what concerns the whole schema, such as whitespace.
        status: ``enforced``; ``annotation`` = it says nothing of values; ``restricted`` = enforced,
            and some valid texts are not generated either.
        reason: why it is not simply enforced, and what is left out; empty for ``enforced``.
    """

    pointer: str
    keyword: str
    status: str
    reason: str


class Report:
    """The keywords met in one source, in no particular order; iterate over it for the entries.

    Complete for what can be reached: a definition that nothing refers to is not met.  A Python
    value that a schema holds in several places is listed at the first.  Not safe to read while the
    source is still being compiled.
    """

    def __init__(self) -> None:
        self._visits: list[tuple[Node, tuple[str, ...]]] = []
        self._notes: list[tuple[Node, str, str, str]] = []
        self._parts: list[tuple[str, Report]] = []
        self._entries: tuple[Entry, ...] | None = None
        self._make: Callable[[], Report] | None = None

    @classmethod
    def later(cls, make: Callable[[], Report]) -> Report:
        """The report that `make` makes, once somebody reads it."""
        report = cls()
        report._make = make
        return report

    @classmethod
    def of(cls, parts: Iterable[Note]) -> Report:
        """One report of all those among `parts`, each with its place before its pointers."""
        whole = cls()
        for pointer, content in parts:
            if isinstance(content, Report):
                whole._parts.append((pointer, content))
        return whole

    @classmethod
    def of_entries(cls, entries: Iterable[Entry]) -> Report:
        """The report that has these entries, as one that was made before had them."""
        report = cls()
        report._entries = tuple(entries)
        return report

    def visit(self, node: Node, keywords: Iterable[str]) -> None:
        """Notes that `node`, a schema with these keywords, takes part."""
        self._visits.append((node, tuple(keywords)))

    def annotate(self, node: Node, keyword: str, reason: str) -> None:
        """Notes that a keyword says nothing of values here."""
        self._notes.append((node, keyword, ANNOTATION, reason))

    def restrict(self, node: Node, keyword: str, reason: str) -> None:
        """Notes what is not generated although the keyword allows it."""
        self._notes.append((node, keyword, RESTRICTED, reason))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, sorted by pointer; made at the first call."""
        if self._entries is None:
            parts = [("", self), *self._parts]
            self._entries = tuple(sorted(e for place, part in parts for e in part._made(place)))
            self._visits, self._notes, self._parts, self._make = [], [], [], None
        return self._entries

    @property
    def restricted(self) -> tuple[Entry, ...]:
        """The entries whose status is ``restricted``."""
        return tuple(entry for entry in self.entries if entry.status == RESTRICTED)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def to_json(self) -> list[dict[str, str]]:
        """The entries as plain data."""
        return [entry._asdict() for entry in self.entries]

    def __getstate__(self) -> dict[str, Any]:
        entries = self.entries  # nothing else is left once they are made
        return {**self.__dict__, "_entries": entries}

    def _made(self, place: str) -> Iterable[Entry]:
        if self._make is not None:
            return self._make()._made(place)
        found: dict[tuple[str, str], Entry] = {}

        def add(node: Node, keyword: str, status: str, reason: str) -> None:
            pointer = place + node.pointer + (f"/{escaped(keyword)}" if keyword else "")
            known = found.get((pointer, keyword))
            if known is None or _RANK.index(known.status) < _RANK.index(status):
                found[pointer, keyword] = Entry(pointer, keyword, status, reason)
            elif known.status == status and reason and reason not in known.reason:
                both = f"{known.reason}; {reason}" if known.reason else reason
                found[pointer, keyword] = known._replace(reason=both)

        noted = {(id(node), keyword) for node, keyword, _, _ in self._notes}
        for node, keywords in self._visits:
            if not node.is_made:
                for keyword in keywords:
                    if (id(node), keyword) not in noted:
                        add(node, keyword, *_judged(node.resource.draft, keyword, keywords))
        for note in self._notes:
            if not note[0].is_made:
                add(*note)
        return found.values()


def _judged(draft: int, keyword: str, keywords: tuple[str, ...]) -> tuple[str, str]:
    """Status and reason of a keyword beside others, where nothing particular was noted."""
    first = FIRST_DRAFT.get(keyword)
    if first is None:
        is_known = keyword in ANNOTATIONS
        return ANNOTATION, "" if is_known else "not a keyword of JSON Schema"
    if first > draft:
        return ANNOTATION, f"a keyword since draft {DRAFTS[first]} only"
    if draft < 8 and keyword != "$ref" and "$ref" in keywords:
        return ANNOTATION, f"beside `$ref` draft {DRAFTS[draft]} ignores it"
    needed = _NEEDS.get(keyword)
    if needed is not None and needed not in keywords:
        return ANNOTATION, f"without `{needed}` it says nothing"
    return ENFORCED, ""
