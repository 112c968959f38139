"""How the command line says things: consoles, errors with a caret."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.text import Text

from structag.errors import StructagError
from structag.source import Source, read_json
from structag.words import describe_bytes as describe_bytes
from structag.words import visible as visible


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


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


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
        return
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if isinstance(cause, str):
        _print_message(console, None, cause)
        _print_note(console, "hint", getattr(error, "hint", None))
        return
    _print_message(console, cause.code, cause.message)
    if cause.pointer is not None:
        name = source.name if source else "the input"
        _print_note(console, "at", f"{cause.pointer or '(root)'} in {name}")
    place = _spanned(cause, source)
    if place is not None and cause.span is not None:
        for line in place.draw(cause.span).splitlines()[cause.pointer is not None :]:
            console.print(Text("  " + visible(line)))
    _print_note(console, "expected", cause.expected)
    _print_note(console, "hint", cause.hint)


def print_warning(kind: str, message: str, drawing: str) -> None:
    """One message on standard error about something that is allowed."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text.assemble((f"warning[{kind}]", "bold yellow"), ": ", visible(message)))
    for line in drawing.splitlines():
        console.print(Text("  " + visible(line)))


def _spanned(error: StructagError, source: Source | None) -> Source | None:
    """The text that the error's span counts in: the source, or the string at its pointer."""
    if error.pointer is None or source is None:
        return source
    try:
        value = read_json(source.text)
        for step in error.pointer.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (StructagError, LookupError, TypeError, ValueError):
        return None
    return Source(value) if isinstance(value, str) else None


def _print_message(console: Console, code: str | None, message: str) -> None:
    head = f"error[{code}]" if code else "error"
    console.print(Text.assemble((head, "bold red"), ": ", visible(message)))


def _print_note(console: Console, kind: str, note: str | None) -> None:
    if note:
        console.print(Text.assemble("  ", (kind, "bold"), " ", visible(note)))
