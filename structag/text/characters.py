"""Reads the inside of quoted strings and character classes, the same in EBNF and GBNF.

Everything is over code points: ``\\xFF`` is U+00FF, not a byte.  A range of a class is
``low-high``; a ``-`` at either end is itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from structag.errors import GrammarSyntaxError
from structag.text import charset
from structag.text.rules import Chars, Span, Text


class Escapes(NamedTuple):
    """What a dialect writes with a backslash.

    `single`: letter -> code point, in strings and classes; `in_class`: more of them in classes.
    `long_hex`: another dialect reads on after the two digits of ``\\xHH``, so that a third one
    would be ambiguous.
    """

    single: Mapping[str, int]
    in_class: Mapping[str, int]
    long_hex: bool


_HEX = {"x": 2, "u": 4, "U": 8}
_PIECE = re.compile(r"[^\\]|\\.?", re.DOTALL)
_DIGITS = re.compile("[0-9a-fA-F]*")
_TOP = 0x10FFFF


class _Char(NamedTuple):
    code: int
    span: Span
    is_plain: bool


def read_string(literal: str, start: int, escapes: Escapes) -> Text:
    """The string that `literal`, quotes included, stands for; `start` is its place in the text."""
    span = (start, start + len(literal))
    if "\\" not in literal:
        return Text(literal[1:-1], span)
    chars = _characters(literal[1:-1], start + 1, escapes, escapes.single)
    return Text("".join(chr(char.code) for char in chars), span)


def read_class(literal: str, start: int, escapes: Escapes) -> Chars:
    """The set that `literal`, brackets included, stands for."""
    span = (start, start + len(literal))
    negated = literal.startswith("[^")
    offset = 2 if negated else 1
    known = {**escapes.single, **escapes.in_class}
    chars = [*_characters(literal[offset:-1], start + offset, escapes, known)]
    if not chars and not negated:
        raise _error("`[]` matches no character", span, "at least one character, or `[^]` for any")
    ranges: list[tuple[int, int]] = []
    at = 0
    while at < len(chars):
        low = chars[at]
        is_range = at + 2 < len(chars) and chars[at + 1].is_plain and chars[at + 1].code == 0x2D
        high = chars[at + 2] if is_range else low
        if high.code < low.code:
            between = (low.span[0], high.span[1])
            raise _error("the range is in the wrong order", between, "the smaller end first")
        ranges.append((low.code, high.code))
        at += 3 if is_range else 1
    members = charset.union(ranges)
    return Chars(charset.negate(members) if negated else members, span)


def _characters(
    body: str, start: int, escapes: Escapes, known: Mapping[str, int]
) -> Iterator[_Char]:
    at = 0
    while at < len(body):
        match = _PIECE.match(body, at)
        assert match is not None
        piece, end = match.group(), match.end()
        if piece[0] != "\\":
            code = ord(piece)
        elif piece[1:] in _HEX:
            code, end = _hex(body, at, start, escapes)
        elif piece[1:] in known:
            code = known[piece[1:]]
        else:
            allowed = ", ".join(f"`\\{letter}`" for letter in [*known, *_HEX])
            raise _error(
                f"`{piece}` is no escape here", (start + at, start + end), f"one of {allowed}"
            )
        yield _Char(code, (start + at, start + end), piece[0] != "\\")
        at = end


def _hex(body: str, at: int, start: int, escapes: Escapes) -> tuple[int, int]:
    letter = body[at + 1]
    match = _DIGITS.match(body, at + 2)
    assert match is not None
    size = _HEX[letter]
    digits, end = match.group()[:size], at + 2 + size
    if len(digits) < size:
        raise _error(
            f"`\\{letter}` needs {size} digits",
            (start + at, start + match.end()),
            f"`\\{letter}{'0' * size}`",
        )
    if letter == "x" and escapes.long_hex and len(match.group()) > size:
        raise _error(
            f"`\\x{match.group()[:3]}` can be read as two digits and as three",
            (start + at, start + end + 1),
            f"`\\u00{digits}` before another digit",
        )
    code = int(digits, 16)
    if code > _TOP or 0xD800 <= code <= 0xDFFF:
        raise _error(
            f"`\\{letter}{digits}` is no character",
            (start + at, start + end),
            "a code point up to 10FFFF, no surrogate",
        )
    return code, end


def _error(message: str, span: Span, expected: str) -> GrammarSyntaxError:
    return GrammarSyntaxError(message, code="grammar-syntax", span=span, expected=expected)
