"""Source texts: line and column look-up, a caret under a place, and JSON read without surprises.

`read_json` is the one door for JSON text.  Whatever is wrong with the text comes out as a typed
error with a span; numbers come out exact (`int`, or `decimal.Decimal` for everything with a
fraction, an exponent or thousands of digits); of equal keys the last one counts, as in Python's
and JavaScript's own readers.  It knows nothing of schemas or tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, NoReturn

from structag._core import json_depth, json_size, split_items
from structag.cache import content_key
from structag.errors import FormatError, LimitError, StructagError, nesting_error
from structag.limits import Limits
from structag.pointer import unescaped
from structag.terminal import columns, cut_to_columns, visible

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_INT_DIGITS = 4000  # Python itself refuses to convert longer ones
_LEAST_ROOM = 20  # columns for the text of a drawn line


class Source:
    """A text with a name, for messages that show the place.

    >>> source = Source('{"a": tru}', name="tag.json")
    >>> source.line_column(6)
    (1, 7)
    >>> print(source.draw((6, 9), "expected a value"))
    tag.json:1:7: expected a value
      1 | {"a": tru}
        |       ^^^
    """

    def __init__(self, text: str, name: str = "<text>") -> None:
        self.text = text
        self.name = name

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both from 1."""
        offset = max(0, min(offset, len(self.text)))
        start = self.text.rfind("\n", 0, offset) + 1
        return self.text.count("\n", 0, start) + 1, offset - start + 1

    def line(self, number: int) -> str:
        """The text of a line (from 1), without its line end."""
        start = 0
        for _ in range(number - 1):
            start = self.text.find("\n", start) + 1
            if start == 0:
                return ""
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")

    def place(self, error: StructagError) -> None:
        """Draw the place of `error`, if it has a span in this text and no drawing yet."""
        if error.span is not None and error.excerpt is None:
            error.excerpt = self.draw(error.span)

    def draw(self, span: tuple[int, int], message: str = "", *, width: int = 100) -> str:
        """The line of `span` with carets under it; plain text that a terminal shows as it is.

        A long line is cut around the place, so that none takes more than `width` columns.
        """
        number, column = self.line_column(span[0])
        line, at = self.line(number), column - 1
        gutter = f"  {number} | "
        room = max(_LEAST_ROOM, width - len(gutter) - 2)  # for the text between two ellipses
        before = visible(line[max(0, at - room) : at].expandtabs(1))
        after = visible(line[at : at + room].expandtabs(1))
        left = max(room // 2, room - columns(after))
        before = cut_to_columns(before[::-1], left)[::-1]
        after = cut_to_columns(after, room - columns(before))
        marked = columns(after[: max(1, span[1] - span[0])])
        prefix = "…" if len(before) < at else ""
        suffix = "…" if at + len(after) < len(line) else ""
        head = f"{self.name}:{number}:{column}" + (f": {message}" if message else "")
        below = " " * (len(gutter) - 2) + "| " + " " * columns(prefix + before)
        return f"{head}\n{gutter}{prefix}{before}{after}{suffix}\n{below}{'^' * max(1, marked)}"


def without_mark(text: str) -> str:
    """The text with a blank for the byte order mark that some editors put at its start."""
    return " " + text[1:] if text.startswith("\ufeff") else text


def read_json(text: str | bytes, limits: Limits | None = None) -> Any:
    """The value of a JSON text (RFC 8259), numbers exact.

    Raises:
        FormatError: `json-syntax`, or `text-encoding` for invalid UTF-8 and lone surrogates.
        LimitError: `nesting-limit`, or `limit` for a text over `Limits.max_source_bytes`.
    """
    limits = limits or Limits()
    size = len(text)
    if size > limits.max_source_bytes:
        raise _size_error(f"a JSON text of {size:,} bytes", limits)
    decoded = _decode(text)
    try:
        value = _DECODER.decode(decoded)
    except json.JSONDecodeError as error:
        if json_depth(decoded.encode()) > limits.max_nesting:
            raise _nesting_error(limits) from None
        raise _syntax_error(decoded, error.pos, error.msg) from None
    except _ConstantError as error:
        place = re.search(rf"(?<![\w\"])-?{error.name.lstrip('-')}\b", decoded)
        span = place.span() if place else (0, len(error.name))
        raise FormatError(
            f"`{error.name}` is not JSON",
            code="json-syntax",
            span=span,
            expected="a finite number",
        ) from None
    except RecursionError:
        raise _nesting_error(limits) from None
    if json_depth(decoded.encode()) > limits.max_nesting:
        raise _nesting_error(limits)
    _check_surrogates(decoded)
    return value


def read_json_around(
    text: str | bytes, name: bytes, read_items: Callable[[list[str]], Iterable[Any]], limits: Limits
) -> Any | None:
    """`read_json`, but for the objects that are items of an array called `name`.

    `read_items` is given their texts, outer ones only and in order, and its results stand in their
    places.  It reads them with `decode_json`, unless it read the same text before.

    None, if there are no such objects, or if something is wrong: `read_json` then says what.
    """
    if len(text) > limits.max_source_bytes:
        return None
    try:
        decoded = _decode(text)
        data = decoded.encode()
        items, between = split_items(data, name)
        if not items or json_depth(data) > limits.max_nesting:
            return None
        _check_surrogates(decoded)
        # What is no JSON stands for each item, so that all that the text has of its own is one too
        # many.
        waiting = iter(read_items(items))

        def read_next(constant: str) -> Any:
            for item in waiting:
                return item
            _refuse_constant(constant)

        return _decoder(read_next).decode("NaN".join(between))
    except (FormatError, _ConstantError, json.JSONDecodeError, RecursionError):
        return None


def source_key(
    kind: str, source: Any, options: dict[str, Any], limits: Limits
) -> tuple[str, str | bytes, str] | None:
    """What only equal sources of a kind have; None for what has no cheap, exact key.

    Raises:
        LimitError: `limit`, Python values that are longer than `Limits.max_source_bytes` as JSON
            text, unless they hold themselves.
    """
    extra = repr(sorted(options.items())) if options else ""
    if isinstance(source, str):
        return kind, source, extra
    if kind != "tag" and not isinstance(source, (dict, bool)):
        return None  # classes and adapters, of which schemas are made
    if json_size(source, limits.max_source_bytes) > limits.max_source_bytes:
        if _holds_itself(source):
            return None
        most = f"{limits.max_source_bytes:,}"
        raise _size_error(f"Python values with over {most} characters as JSON text", limits)
    content = content_key(source)
    return None if content is None else (kind, content, extra)


def _holds_itself(value: Any) -> bool:
    around: set[int] = set()
    seen: set[int] = set()
    pending = [(value, False)]
    while pending:
        at, is_left = pending.pop()
        if is_left:
            around.remove(id(at))
        elif id(at) in around:
            return True
        elif id(at) not in seen:
            parts = at if isinstance(at, (dict, list, tuple)) else getattr(at, "__dict__", ())
            parts = list(parts.values() if isinstance(parts, dict) else parts)
            seen.add(id(at))
            around.add(id(at))
            pending += [(at, True), *((part, False) for part in parts)]
    return False


def decode_json(text: str) -> Any:
    """The value of a part of a text, in `read_json_around`."""
    return _DECODER.decode(text)


def find_pointer(text: str, pointer: str) -> tuple[int, int] | None:
    """The span of what a JSON Pointer names in a JSON text: a member's name, or a whole value.

    None if it names nothing there.

    >>> text = '{"a": [1, {"b": true}]}'
    >>> start, end = find_pointer(text, "/a/1/b") or (0, 0)
    >>> text[start:end]
    '"b"'
    """
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    try:
        span = start, _DECODER.raw_decode(text, start)[1]
        for step in pointer.split("/")[1:]:
            found = _find_step(text, start, unescaped(step))
            if found is None:
                return None
            span, start = found
    except (json.JSONDecodeError, RecursionError, IndexError, _ConstantError):
        return None
    return span


def _find_step(text: str, start: int, step: str) -> tuple[tuple[int, int], int] | None:
    """Span and start of the value of a member or an item; of equal names the last one counts."""
    opening = text[start]
    if opening not in "{[":
        return None
    at, index, found = _skip_blanks(text, start + 1), 0, None
    while text[at] not in "}]":
        name, key_span = str(index), None
        if opening == "{":
            name, end = _DECODER.raw_decode(text, at)
            key_span = at, end
            at = _skip_blanks(text, _skip_blanks(text, end) + 1)
        value_at = at
        _, end = _DECODER.raw_decode(text, at)
        if name == step:
            found = key_span or (value_at, end), value_at
        at = _skip_blanks(text, end)
        at = _skip_blanks(text, at + 1) if text[at] == "," else at
        index += 1
    return found


def _skip_blanks(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


class _ConstantError(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


def _parse_int(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _INT_DIGITS else Decimal(digits)


def _decoder(read_constant: Callable[[str], Any]) -> json.JSONDecoder:
    return json.JSONDecoder(parse_float=Decimal, parse_int=_parse_int, parse_constant=read_constant)


_DECODER = _decoder(_refuse_constant)


def _decode(text: str | bytes) -> str:
    if isinstance(text, str):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise FormatError(
                "a lone surrogate in the text",
                code="text-encoding",
                span=(error.start, error.end),
                expected="Unicode text",
            ) from None
        return without_mark(text)
    try:
        return bytes(text).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = text[: error.start].decode("utf-8", "replace")
        raise FormatError(
            f"byte {text[error.start]:#04x} is not UTF-8 here",
            code="text-encoding",
            span=(len(before), len(before) + 1),
            expected="UTF-8",
        ) from None


def _size_error(message: str, limits: Limits) -> LimitError:
    most = limits.max_source_bytes
    return LimitError(message, limit="source bytes", value=most, setting="max_source_bytes")


def _nesting_error(limits: Limits) -> LimitError:
    return nesting_error(
        f"the JSON text is nested deeper than {limits.max_nesting} levels",
        limits.max_nesting,
        span=(0, 0),
    )


def _check_surrogates(text: str) -> None:
    if "\\u" not in text or not _SURROGATE_ESCAPE.search(text):
        return
    for match in _ESCAPE.finditer(text):
        if match.group("lone"):
            raise FormatError(
                f"`{match.group()}` is a lone surrogate",
                code="text-encoding",
                span=match.span(),
                expected="a pair of surrogates, or another character",
            )


def _syntax_error(text: str, offset: int, reason: str) -> FormatError:
    line, column = Source(text).line_column(offset)
    found = repr(text[offset : offset + 1]) if offset < len(text) else "the end of the text"
    return FormatError(
        f"{reason[0].lower()}{reason[1:]}: got {found} in line {line}, column {column}",
        code="json-syntax",
        span=(offset, min(offset + 1, len(text))),
    )
