"""How the command line says things: consoles, errors with a caret, bytes in words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from structag.errors import StructagError
from structag.source import Source, read_json

_NAMES = {0x20: "a space", 0x0A: "a newline", 0x09: "a tab", 0x0D: "a carriage return"}
_PRINTABLE = frozenset(range(0x21, 0x7F))
_CONTROLS = frozenset({*range(0x20), 0x7F}) - _NAMES.keys()
_DIGITS = frozenset(range(0x30, 0x3A))
_CAPITALS = frozenset(range(0x41, 0x5B))
_SMALL = frozenset(range(0x61, 0x7B))
_FEW = 12


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


def visible(text: str) -> str:
    """`text` with control characters as their Unicode pictures, so that terminals stay sane.

    >>> visible("a\\tb\\x1b")
    'a␉b␛'
    """
    return "".join(_picture(char) for char in text)


def _picture(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return "�" if 0x80 <= code < 0xA0 or 0xD800 <= code < 0xE000 else char


def describe_bytes(allowed: Iterable[int], may_end: bool = False) -> str:
    """What may come next, in words.

    >>> describe_bytes(b"}, ")
    '`,`, `}` or a space'
    >>> describe_bytes(set(range(0x30, 0x3A)) | set(b"-"))
    'a digit or `-`'
    >>> describe_bytes(set(range(256)) - set(b"<"))
    'any character but `<`'
    >>> describe_bytes((), may_end=True)
    'the end'
    """
    members = frozenset(allowed)
    words = _describe_any(members) or _describe_each(members)
    if may_end:
        words.append("the end")
    if not words:
        return "nothing"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _describe_any(members: frozenset[int]) -> list[str] | None:
    missing = sorted((_PRINTABLE | {0x20}) - members)
    if len(missing) > _FEW or not any(byte >= 0xC2 for byte in members):
        return None
    but = ", ".join(_name(byte) for byte in missing)
    return [f"any character but {but}" if but else "any character"]


def _describe_each(members: frozenset[int]) -> list[str]:
    words = []
    rest = set(members & _PRINTABLE)
    if rest >= _CAPITALS | _SMALL:
        words.append("a letter")
        rest -= _CAPITALS | _SMALL
    for group, name in ((_CAPITALS, "`A`–`Z`"), (_SMALL, "`a`–`z`"), (_DIGITS, "a digit")):
        if rest >= group:
            words.append(name)
            rest -= group
    words += _ranges(sorted(rest))
    words += [_NAMES[byte] for byte in _NAMES if byte in members]
    if members & _CONTROLS:
        words.append("a control character")
    if any(byte >= 0xC2 for byte in members):
        words.append("a character beyond ASCII")
    elif any(0x80 <= byte < 0xC0 for byte in members):
        words.append("the rest of the character")
    return words


def _ranges(values: list[int]) -> list[str]:
    words: list[str] = []
    start = 0
    for index in range(1, len(values) + 1):
        if index == len(values) or values[index] != values[index - 1] + 1:
            run = values[start:index]
            start = index
            if len(run) > 3:
                words.append(f"{_name(run[0])}–{_name(run[-1])}")
            else:
                words += [_name(value) for value in run]
    return words


def _name(byte: int) -> str:
    return _NAMES.get(byte) or f"`{chr(byte)}`"
