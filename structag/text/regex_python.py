"""Parses a regular expression of a Lark text, which means what Python's `re` makes of it.

Python differs from ECMA-262 in what ``\\d \\w \\s``, ``.`` and the flags ``i`` and ``m`` stand for,
in classes that begin with ``]``, in ``{,n}`` and in escapes; for what it does not know at all
(``\\p{…}``, ``\\u{…}``, ``(?<n>…)``) ECMA-262 is the meaning.

Lark puts the characters of ``\\x``, ``\\u`` and ``\\U`` into the pattern before `re` reads it, so
that one that is an operator there would be one; such an escape is refused.
"""

from __future__ import annotations

import re
from functools import cache

from structag.errors import UnsupportedError
from structag.limits import Limits
from structag.text import charset
from structag.text.charset import CharSet
from structag.text.regex_syntax import Chars, Parser, Pattern

NEWLINE: CharSet = ((10, 10),)
_SPACE: CharSet = (
    (0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
_CONTROL = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_HEX = {
    letter: re.compile(f"[0-9a-fA-F]{{{count}}}")
    for letter, count in {"x": 2, "u": 4, "U": 8}.items()
}
_OCTAL = re.compile("0[0-7]{0,2}|[1-3][0-7]{2}")
_CLASS_OCTAL = re.compile("[0-3]?[0-7]{1,2}")
_OPERATORS = frozenset("\\^$.*+?()[]{}|")
_CLASS_OPERATORS = frozenset("\\^]-")
_BACKREFERENCE = re.compile("[1-9][0-9]?")


def parse_python(pattern: str, limits: Limits) -> tuple[Pattern, bool]:
    """The tree of `pattern`, and whether any assertion is in it; raises like `parse`."""
    return _PythonParser(pattern, "b", limits).parse()


class _PythonParser(Parser):
    line_ends = NEWLINE
    not_line_ends = charset.negate(NEWLINE)
    counts = re.compile(r"\{(?!\})([0-9]*)(,([0-9]*))?\}")

    @property
    def word(self) -> CharSet:
        return _class("w")

    def fold(self, members: CharSet) -> CharSet:
        return charset.fold_case_python(members) if self.ignore_case else members

    def _atom(self, char: str) -> tuple[Pattern, bool]:
        if char == "$" and not self.multiline:
            raise self._refusal("`$` before a last line break", self.at, self.at + 1)
        return super()._atom(char)

    def _escape(self, start: int) -> tuple[Pattern, bool]:
        char = self.text[self.at : self.at + 1]
        if char and char in "bBAZz":
            return super()._escape(start)
        if char and char in "123456789" and not _OCTAL.match(self.text, self.at):
            match = _BACKREFERENCE.match(self.text, self.at)
            assert match is not None
            if int(match.group()) <= self.group_count:
                raise self._backreference(start, match.end())
            raise self.error("there is no such group", start, match.end())
        read = self.read_escape(start)
        return (self._literal(chr(read)) if isinstance(read, int) else Chars(read)), True

    def read_escape(self, start: int, *, in_class: bool = False) -> int | CharSet:
        char = self.text[self.at : self.at + 1]
        if not char:
            raise self.error("a lone `\\` at the end", start, start + 1, "an escaped character")
        if char.isascii() and char.isdigit():
            octal = (_CLASS_OCTAL if in_class else _OCTAL).match(self.text, self.at)
            if octal is None:
                raise self.error(f"`\\{char}` is no escape", start, self.at + 1, "`\\xHH`")
            self.at = octal.end()
            return int(octal.group(), 8)
        self.at += 1
        if char in "dDsSwW":
            members = _class(char.lower())
            return members if char.islower() else charset.negate(members)
        if char in _CONTROL:
            return _CONTROL[char]
        if char == "b" and in_class:
            return 8
        if char == "u" and (braced := self.read_braced(start)) is not None:
            return braced
        if char in _HEX:
            return self._number(start, char, in_class)
        if char in "pP":
            return self.fold(self.read_property(start, char == "P"))
        if char == "N":
            raise self._refusal("a character by its name", start, self.at)
        if char.isascii() and char.isalpha():
            raise self.error(f"`\\{char}` is no escape", start, self.at, f"`{char}` unescaped")
        return ord(char)

    def _number(self, start: int, letter: str, in_class: bool) -> int:
        match = _HEX[letter].match(self.text, self.at)
        if match is None:
            raise self.error("a hexadecimal escape is not complete", start, self.at, "hex digits")
        self.at = match.end()
        code = int(match.group(), 16)
        if code > charset.TOP:
            raise self.error("a code point over 10FFFF", start, self.at)
        if chr(code) in (_CLASS_OPERATORS if in_class else _OPERATORS):
            raise UnsupportedError(
                f"`{match.string[start : self.at]}` stands for `{chr(code)}`, "
                "which Lark takes for an operator",
                code="regex-feature",
                span=(start, self.at),
                expected=f"`\\{chr(code)}`",
            )
        return code

    def read_class(self, start: int) -> CharSet:
        is_negated = self.text.startswith("^", self.at)
        self.at += is_negated
        first = self.at
        ranges: list[tuple[int, int]] = []
        while self.at == first or not self.text.startswith("]", self.at):
            place = self.at
            low = high = self._member(start)
            is_range = self.text.startswith("-", self.at) and not self.text.startswith(
                "-]", self.at
            )
            if is_range:
                self.at += 1
                high = self._member(start)
            if isinstance(low, int) and isinstance(high, int):
                if low > high:
                    raise self.error("the range is out of order", place, self.at)
                ranges += self.fold(((low, high),))
            elif is_range:
                raise self.error("a class cannot bound a range", place, self.at, "a character")
            elif not isinstance(low, int):
                ranges += low  # without case variants: `re` looks for them among letters only
        self.at += 1
        members = charset.union(ranges)
        return charset.negate(members) if is_negated else members

    def _member(self, start: int) -> int | CharSet:
        if self.at >= len(self.text):
            raise self.unclosed(start)
        return self.read_member()

    def _refusal(self, what: str, start: int, end: int) -> UnsupportedError:
        return UnsupportedError(f"{what} is not supported", code="regex-feature", span=(start, end))


@cache
def _class(letter: str) -> CharSet:
    """The set of ``\\d``, ``\\w`` or ``\\s``."""
    if letter == "s":
        return _SPACE
    if letter == "d":
        return charset.property_set("Nd") or ()
    names = ("L", "N")
    parts = (pair for name in names for pair in charset.property_set(name) or ())
    return charset.union([*parts, (0x5F, 0x5F)])
