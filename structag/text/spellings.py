"""How the codecs of `Encoded` spell a set of characters: in itself, escaped, as a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.text import charset
from structag.text.charset import CharSet

Spell: TypeAlias = Callable[[GrammarBuilder, CharSet], Ref]
"""The spellings of one character out of a set."""

_CONTROLS = (0, 0x1F)
_BMP: CharSet = ((0, 0xD7FF), (0xE000, 0xFFFF))
_ASTRAL: CharSet = ((0x10000, 0x10FFFF),)
_JSON = {0x22: '"', 0x5C: "\\", 0x2F: "/", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t"}
_PYTHON = {
    0x22: '"', 0x27: "'", 0x5C: "\\", 7: "a", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t", 11: "v",
}  # fmt: skip
_XML = {0x3C: "lt", 0x3E: "gt", 0x26: "amp", 0x22: "quot", 0x27: "apos"}


def plain(b: GrammarBuilder, chars: CharSet) -> Ref:
    """Each character as itself."""
    return b.chars(chars)


def _json(b: GrammarBuilder, chars: CharSet) -> Ref:
    return b.alt(
        _itself(b, chars, (_CONTROLS, (0x22, 0x22), (0x5C, 0x5C))),
        _short(b, chars, _JSON),
        *(b.seq(b.literal(b"\\u"), ref) for ref in _numbers(b, chars, _BMP, 4)),
        *_pairs(b, charset.intersect(chars, _ASTRAL)),
    )


def _python(quote: int) -> Spell:
    def spell(b: GrammarBuilder, chars: CharSet) -> Ref:
        barred = charset.union([_CONTROLS, (quote, quote), (0x5C, 0x5C)])
        return b.alt(
            _itself(b, chars, barred),
            _short(b, chars, _PYTHON),
            *(b.seq(b.literal(b"\\x"), ref) for ref in _numbers(b, chars, ((0, 0xFF),), 2)),
            *(b.seq(b.literal(b"\\u"), ref) for ref in _numbers(b, chars, _BMP, 4)),
        )

    return spell


def _xml(b: GrammarBuilder, chars: CharSet) -> Ref:
    numbered = charset.intersect(chars, ((1, 0xD7FF), (0xE000, 0x10FFFF)))
    names = [f"&{_XML[code]};" for code in _members(chars, _XML)]
    options = [_itself(b, chars, ((0x26, 0x26), (0x3C, 0x3C)))]
    options += [b.literal(name.encode()) for name in names]
    for prefix, base in (("&#", 10), ("&#x", 16)):
        values = [ref for low, high in numbered for ref in _any_width(b, low, high, base)]
        if values:
            zeros = b.repeat(b.literal(b"0"), 0)
            options.append(
                b.seq(b.literal(prefix.encode()), zeros, b.alt(*values), b.literal(b";"))
            )
    return b.alt(*options)


CODECS: Mapping[str, Spell] = {
    "json": _json,
    "xml": _xml,
    "python_double": _python(0x22),
    "python_single": _python(0x27),
}


def _itself(b: GrammarBuilder, chars: CharSet, barred: CharSet) -> Ref:
    return b.chars(charset.intersect(chars, charset.negate(barred)))


def _short(b: GrammarBuilder, chars: CharSet, escapes: Mapping[int, str]) -> Ref:
    letters = [ord(escapes[code]) for code in _members(chars, escapes)]
    return b.seq(b.literal(b"\\"), b.chars([(letter, letter) for letter in letters]))


def _members(chars: CharSet, codes: Mapping[int, str]) -> list[int]:
    return [code for code in codes if any(low <= code <= high for low, high in chars)]


def _numbers(b: GrammarBuilder, chars: CharSet, within: CharSet, width: int) -> list[Ref]:
    ranges = charset.intersect(chars, within)
    return [ref for low, high in ranges for ref in _digits(b, low, high, width, 16)]


def _pairs(b: GrammarBuilder, chars: CharSet) -> Iterator[Ref]:
    """Surrogate pairs in hexadecimal."""
    for low, high in chars:
        first, last = low - 0x10000, high - 0x10000
        while first <= last:
            top = first >> 10
            if first & 0x3FF or last >> 10 == top:  # part of one high surrogate
                end = min(last, top << 10 | 0x3FF)
                tops = top
            else:  # as many whole ones as there are
                tops = (last + 1 >> 10) - 1
                end = tops << 10 | 0x3FF
            yield b.seq(
                b.literal(b"\\u"),
                b.alt(*_digits(b, 0xD800 + top, 0xD800 + tops, 4, 16)),
                b.literal(b"\\u"),
                b.alt(*_digits(b, 0xDC00 + (first & 0x3FF), 0xDC00 + (end & 0x3FF), 4, 16)),
            )
            first = end + 1


def _any_width(b: GrammarBuilder, low: int, high: int, base: int) -> Iterator[Ref]:
    """The numbers from `low` (not 0) to `high` without leading zeros."""
    width, start = 1, 1
    while start <= high:
        end = start * base - 1
        if end >= low:
            yield from _digits(b, max(low, start), min(high, end), width, base)
        width, start = width + 1, start * base


def _digits(b: GrammarBuilder, low: int, high: int, width: int, base: int) -> list[Ref]:
    """The numbers from `low` to `high` in `width` digits, letters in either case."""
    if width == 1:
        return [_digit(b, low, high)]
    unit = base ** (width - 1)
    first, last = low // unit, high // unit
    if first == last:
        rest = _digits(b, low % unit, high % unit, width - 1, base)
        return [b.seq(_digit(b, first, first), b.alt(*rest))]
    found: list[Ref] = []
    if low % unit:
        rest = _digits(b, low % unit, unit - 1, width - 1, base)
        found.append(b.seq(_digit(b, first, first), b.alt(*rest)))
        first += 1
    tail: list[Ref] = []
    if high % unit != unit - 1:
        rest = _digits(b, 0, high % unit, width - 1, base)
        tail = [b.seq(_digit(b, last, last), b.alt(*rest))]
        last -= 1
    if first <= last:
        any_digit = _digit(b, 0, base - 1)
        found.append(b.seq(_digit(b, first, last), b.repeat(any_digit, width - 1, width - 1)))
    return found + tail


def _digit(b: GrammarBuilder, low: int, high: int) -> Ref:
    if low == high <= 9:
        return b.literal(b"%d" % low)
    ranges = [(0x30 + low, 0x30 + min(high, 9))] if low <= 9 else []
    if high > 9:
        letters = max(low, 10) - 10, high - 10
        ranges += [(letter + letters[0], letter + letters[1]) for letter in (0x41, 0x61)]
    return b.chars(ranges)
