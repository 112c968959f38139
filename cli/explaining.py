"""How explanations look: the text as far as it goes, what is expected there, and breadcrumbs."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from structag.cli.reading import Document, Kind
from structag.errors import StructagError
from structag.explain import Place, Trail
from structag.source import Source, read_json
from structag.terminal import columns, visible

_BEFORE, _AFTER, _LINES = 70, 40, 4
_PARTS, _ENDS = 6, 4


class Breadcrumbs:
    """Spells trails; formats of a structural tag with their types."""

    def __init__(self, document: Document) -> None:
        self._tag: Any = None
        if document.kind is Kind.TAG:
            try:
                self._tag = read_json(document.data)
            except StructagError:  # a shape that only the compiler knows how to read
                self._tag = None

    def spell(self, trail: Trail) -> str:
        """Pointers that only lead to the next one are left out, and the middle of long trails."""
        following = (*trail, "")[1:]
        kept = [a for a, b in zip(trail, following, strict=True) if not _leads_to(a, b)]
        if len(kept) > 2 * _ENDS:
            kept = [*kept[:_ENDS], f"… {len(kept) - 2 * _ENDS} more …", *kept[-_ENDS:]]
        return visible(" › ".join(map(self._label, kept)))

    def _label(self, label: str) -> str:
        value = self._tag
        if not label.startswith("/") or value is None:
            return label
        for step in label.split("/")[1:]:
            if isinstance(value, list) and step.isdigit() and int(step) < len(value):
                value = value[int(step)]
            elif isinstance(value, dict):
                value = value.get(step)
            else:
                return label
        kind = value.get("type") if isinstance(value, dict) else None
        return f"{label} ({kind})" if isinstance(kind, str) else label


def _leads_to(label: str, following: str) -> bool:
    return label[:1] in ("#", "/") and following.startswith(f"{label}/")


def print_text(console: Console, data: bytes, matched: int, *, marked: bool) -> None:
    """The lines around the place, what was taken in green; with a caret under it if `marked`."""
    before, after = split_at(data, matched)
    lines = before.split("\n")
    if len(lines) > _LINES:
        console.print(Text(f"… {len(lines) - _LINES} lines before", "dim"))
    for line in lines[-_LINES:-1]:
        console.print(Text(visible(_tail(line)), "green"))
    here, rest = visible(_tail(lines[-1])), visible(after.split("\n")[0][:_AFTER])
    console.print(Text.assemble((here, "green"), (rest, "red")))
    if marked:
        console.print(Text(" " * columns(here) + "^", "bold red"))


def split_at(data: bytes, matched: int) -> tuple[str, str]:
    """The text before and after a place; a character that is cut there counts as after it."""
    before = data[:matched].decode("utf-8", "ignore")
    return before, data[len(before.encode()) :].decode("utf-8", "replace")


def where(data: bytes, matched: int) -> str:
    """The place in words, and what stands there."""
    before, after = split_at(data, matched)
    line, column = Source(before).line_column(len(before))
    got = f"`{visible(after[0])}`" if after else "the end of the text"
    return f"line {line}, column {column} (byte {matched}): got {got}"


def print_place(console: Console, place: Place, breadcrumbs: Breadcrumbs) -> None:
    """What is expected, and by which parts of the source."""
    console.print(Text.assemble(("expected", "bold"), f" {place.words}"))
    named = [part for part in place.parts if part.trail]
    if len(named) == 1:
        console.print(Text(f"  in {breadcrumbs.spell(named[0].trail)}", "dim"))
        return
    for part in named[-_PARTS:]:
        trail = breadcrumbs.spell(part.trail)
        console.print(Text.assemble(f"  {part.words}", (f"  in {trail}", "dim")))
    if len(named) > _PARTS:
        console.print(Text(f"  … {len(named) - _PARTS} more", "dim"))


def _tail(line: str) -> str:
    return line if len(line) <= _BEFORE else "…" + line[-_BEFORE:]
