"""How the command line says things: consoles, errors with a caret."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from structag.errors import StructagError
from structag.pointer import unescaped
from structag.source import Source, find_pointer, read_json
from structag.terminal import visible as visible
from structag.words import describe_bytes as describe_bytes

_WIDEST = 10_000
_WIDEST_LINE = 100
_INDENT = "  "


class InputError(Exception):
    """What was given cannot be used; `source` is the text that `error` is about."""

    def __init__(
        self,
        error: StructagError | str,
        source: Source | None = None,
        *,
        hint: str | None = None,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.source = source
        self.hint = hint


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def output() -> Console:
    """The console on standard output; long lines are left to the terminal."""
    return _Console(highlight=False, soft_wrap=True)


def _errors() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(console: Console, table: Table) -> None:
    """A table; where the terminal has no room for one, a line for each row."""
    anywhere = console.options.update(max_width=_WIDEST)
    if Measurement.get(console, anywhere, table).minimum <= console.width:
        console.print(table, soft_wrap=False)
        return
    for name, *cells in zip(*(column.cells for column in table.columns), strict=True):
        named = zip(table.columns[1:], cells, strict=True)
        rest = ", ".join(f"{column.header} {cell}" for column, cell in named)
        console.print(Text(f"{name}: {rest}"))


def print_error(error: InputError | StructagError, as_json: bool) -> None:
    """One message on standard error; with `as_json` one document on standard output."""
    source = error.source if isinstance(error, InputError) else None
    cause = error.error if isinstance(error, InputError) else error
    if as_json:
        if isinstance(cause, StructagError):
            detail = cause.to_json()
        else:
            detail = {"code": None, "message": cause, "hint": getattr(error, "hint", None)}
        print_json({"error": detail})
    elif isinstance(cause, str):
        print_notice("error", None, cause, hint=getattr(error, "hint", None))
    else:
        print_notice(
            "error",
            cause.code,
            cause.message,
            pointer=cause.pointer,
            drawing=_draw(cause, source),
            source=source,
            expected=cause.expected,
            hint=cause.hint,
        )


def print_notice(
    level: str,
    code: str | None,
    message: str,
    *,
    pointer: str | None = None,
    drawing: str = "",
    source: Source | None = None,
    expected: str | None = None,
    hint: str | None = None,
) -> None:
    """One message on standard error: an error, a warning or a note, where, how to mend it."""
    console = _errors()
    style = {"error": "bold red", "warning": "bold yellow"}.get(level, "bold")
    head = f"{level}[{code}]" if code else level
    console.print(Text.assemble((head, style), ": ", visible(message)))
    if pointer is not None:
        name = source.name if source else "the input"
        _print_note(console, "at", f"{pointer or '(root)'} in {name}")
    for line in drawing.split("\n")[pointer is not None :] if drawing else ():
        console.print(Text(f"{_INDENT}{line}"))
    _print_note(console, "expected", expected)
    _print_note(console, "hint", hint)


def draw_span(source: Source, span: tuple[int, int]) -> str:
    """The line of a span with carets, as wide as standard error can show it."""
    return source.draw(span, width=min(_errors().width, _WIDEST_LINE) - len(_INDENT))


def draw_pointer(source: Source | None, pointer: str) -> str:
    """The line of what a JSON Pointer names, with carets; empty if that cannot be told."""
    span = find_pointer(source.text, pointer) if source and pointer else None
    return draw_span(source, span) if source and span else ""


def _draw(error: StructagError, source: Source | None) -> str:
    if error.span is None:
        return "" if error.pointer is None else draw_pointer(source, error.pointer)
    place = _spanned(error, source)
    return draw_span(place, error.span) if place is not None else ""


def _spanned(error: StructagError, source: Source | None) -> Source | None:
    """The text that the error's span counts in: the source, or the string at its pointer."""
    if error.pointer is None or source is None:
        return source
    try:
        value = read_json(source.text)
        for step in error.pointer.split("/")[1:]:
            key = unescaped(step)
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (StructagError, LookupError, TypeError, ValueError):
        return None
    return Source(value) if isinstance(value, str) else None


def _print_note(console: Console, kind: str, note: str | None) -> None:
    if note:
        console.print(Text.assemble("  ", (kind, "bold"), " ", visible(note)))
