"""Reads the escapes of a pattern, and its classes under ``u`` and ``b`` (Annex B).

The classes of ``v`` are read by `regex_sets`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from structag.errors import GrammarSyntaxError, LimitError, UnsupportedError, nesting_error
from structag.limits import Limits
from structag.text import charset
from structag.text.charset import CharSet

_CONTROL = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_CLASSES = {
    "d": charset.DIGITS, "D": charset.NOT_DIGITS, "w": charset.WORD, "W": charset.NOT_WORD,
    "s": charset.SPACE, "S": charset.NOT_SPACE,
}  # fmt: skip
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_HEX2 = re.compile("[0-9a-fA-F]{2}")
_HEX4 = re.compile("[0-9a-fA-F]{4}")
_BRACED = re.compile(r"\{([0-9a-fA-F]+)\}")
_LOW_HALF = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_PROPERTY = re.compile(r"\{(\w+)(?:=(\w+))?\}")
_OCTAL = re.compile("[0-3][0-7]{0,2}|[4-7][0-7]?")
_GROUPS = re.compile(
    r"\\.|\[(?:\\.|[^\]\\])*\]|(?P<open>\((?!\?)|\(\?P?<(?![=!])(?P<name>[^>]*))", re.DOTALL
)
_CLASS = re.compile(r"\[(?:[^\]\\]|\\.)*\]", re.DOTALL)
_V_ESCAPES = frozenset("&-!#%,:;<=>@`~")


class ClassReader:
    """A cursor over a pattern."""

    def __init__(self, pattern: str, mode: str, limits: Limits) -> None:
        self.text = pattern
        self.mode = mode
        self.limits = limits
        self.at = 0
        self.ignore_case = False
        self._groups: tuple[int, frozenset[str]] | None = None

    @property
    def group_count(self) -> int:
        """The number of capture groups in the whole pattern."""
        return self._count_groups()[0]

    @property
    def group_names(self) -> frozenset[str]:
        """The names of the capture groups in the whole pattern, as they are spelled."""
        return self._count_groups()[1]

    def _count_groups(self) -> tuple[int, frozenset[str]]:
        if self._groups is None:
            opens = [match for match in _GROUPS.finditer(self.text) if match.group("open")]
            names = frozenset(match.group("name") for match in opens if match.group("name"))
            self._groups = len(opens), names
        return self._groups

    def error(
        self, message: str, start: int, end: int, expected: str | None = None
    ) -> GrammarSyntaxError:
        """A `regex-syntax` error at a span of the pattern."""
        end = min(end, len(self.text))
        return GrammarSyntaxError(
            message, code="regex-syntax", span=(min(start, end), end), expected=expected
        )

    def nesting_error(self, what: str, start: int) -> LimitError:
        """A `nesting-limit` error at what opens one level too many."""
        most = self.limits.max_nesting
        span = (start, start + 1)
        return nesting_error(f"{what} nested deeper than {most} levels", most, span=span)

    def fold(self, members: CharSet) -> CharSet:
        """The members, with their case variants under the `i` flag."""
        return charset.fold_case(members, self.mode == "b") if self.ignore_case else members

    @property
    def word(self) -> CharSet:
        """What ``\\w`` and ``\\b`` take for the characters of words."""
        return self.fold(charset.WORD) if self.ignore_case and self.mode != "b" else charset.WORD

    def read_escape(self, start: int, *, in_class: bool = False) -> int | CharSet:
        """The escape whose backslash is at `start`, the cursor behind it: a code point or a set."""
        char = self.text[self.at : self.at + 1]
        if not char:
            raise self.error("a lone `\\` at the end", start, start + 1, "an escaped character")
        self.at += 1
        if char in _CLASSES:
            if self.ignore_case and char in "wW":
                return self.word if char == "w" else charset.negate(self.word)
            return _CLASSES[char]
        if char in _CONTROL:
            return _CONTROL[char]
        if in_class and char == "b":
            return 8
        if char in _SYNTAX:
            return ord(char)
        strict = self.mode != "b"
        if char == "c":
            return self._control_letter(start, in_class)
        if char == "x":
            return self._hex(start, _HEX2)
        if char == "u":
            return self._unicode(start)
        if char in "pP" and strict:
            return self.read_property(start, char == "P")
        if char in "01234567":
            return self._octal(start, char)
        if in_class and strict and (char == "-" or (self.mode == "v" and char in _V_ESCAPES)):
            return ord(char)
        if strict:
            raise self.error(f"`\\{char}` is no escape", start, self.at, f"`{char}` unescaped")
        return ord(char)

    def _control_letter(self, start: int, in_class: bool) -> int:
        letter = self.text[self.at : self.at + 1]
        if letter.isascii() and letter.isalpha():
            self.at += 1
            return ord(letter) % 32
        if self.mode != "b":
            raise self.error("`\\c` without a letter", start, self.at, "a letter from A to Z")
        if in_class and letter and letter in "0123456789_":
            self.at += 1
            return ord(letter) % 32
        self.at = start + 1  # the backslash stands for itself
        return ord("\\")

    def _hex(self, start: int, digits: re.Pattern[str]) -> int:
        match = digits.match(self.text, self.at)
        if match:
            self.at = match.end()
            return int(match.group(), 16)
        if self.mode != "b":
            raise self.error("a hexadecimal escape is not complete", start, self.at, "hex digits")
        return ord(self.text[start + 1])

    def read_braced(self, start: int) -> int | None:
        """The code point in the braces at the cursor, if there are; else the cursor stays."""
        braced = _BRACED.match(self.text, self.at)
        if braced is None:
            return None
        digits = braced.group(1).lstrip("0") or "0"
        if len(digits) > 6 or int(digits, 16) > charset.TOP:
            raise self.error("a code point over 10FFFF", start, braced.end())
        self.at = braced.end()
        return int(digits, 16)

    def _unicode(self, start: int) -> int:
        if self.mode != "b" and (braced := self.read_braced(start)) is not None:
            return braced
        code = self._hex(start, _HEX4)
        if 0xD800 <= code <= 0xDBFF and self.at == start + 6:
            low = _LOW_HALF.match(self.text, self.at)
            if low:
                self.at = low.end()
                return 0x10000 + ((code - 0xD800) << 10) + int(low.group(1), 16) - 0xDC00
        return code

    def match_property(self, at: int) -> re.Match[str] | None:
        """The braces of a property at `at`: its name, and its value or None."""
        return _PROPERTY.match(self.text, at)

    def read_property(self, start: int, is_negated: bool) -> CharSet:
        """The property whose braces are at the cursor."""
        match = self.match_property(self.at)
        if match is None:
            raise self.error("a property is not complete", start, self.at, "`\\p{Name}`")
        name, value = match.groups()
        members = charset.property_set(name, value)
        if members is None:
            if value is None and charset.string_property(name):
                raise self.error(
                    f"`{name}` is a property of strings", start, match.end(), "one of characters"
                )
            raise UnsupportedError(
                f"the Unicode property `{match.group()[1:-1]}` is not known here",
                code="regex-feature",
                span=(start, match.end()),
                expected="a property of ECMA-262",
                hint="scripts are spelled `\\p{Script=Greek}`",
            )
        self.at = match.end()
        if self.mode == "v":
            members = self.fold(members)
        return charset.negate(members) if is_negated else members

    def _octal(self, start: int, char: str) -> int:
        following = self.text[self.at : self.at + 1]
        if char == "0" and not (following.isascii() and following.isdigit()):
            return 0
        match = _OCTAL.match(self.text, start + 1)
        if self.mode != "b" or match is None:
            raise self.error("a decimal escape", start, self.at, "`\\xHH`")
        self.at = match.end()
        return int(match.group(), 8)

    # -- classes

    def read_class(self, start: int) -> CharSet:
        """The class whose `[` is at `start`, the cursor behind it; not under the v flag."""
        match = _CLASS.match(self.text, start)
        known = match and _class_alone(match.group(), self.mode, self.ignore_case)
        if match and known is not None:
            self.at = match.end()
            return known
        return self._class(start)

    def _class(self, start: int) -> CharSet:
        is_negated = self.text.startswith("^", self.at)
        self.at += is_negated
        members = self.fold(self._members(start))
        return charset.negate(members) if is_negated else members

    def unclosed(self, start: int) -> GrammarSyntaxError:
        """A class without an end."""
        return self.error("a class is not closed", start, len(self.text), "`]`")

    def _members(self, start: int) -> CharSet:
        ranges: list[tuple[int, int]] = []
        text = self.text
        while True:
            char = text[self.at : self.at + 1]
            if not char:
                raise self.unclosed(start)
            if char == "]":
                self.at += 1
                return charset.union(ranges)
            place = self.at
            low = self.read_member()
            if text.startswith("-", self.at) and not text.startswith("-]", self.at):
                self.at += 1
                if self.at >= len(text):
                    raise self.unclosed(start)
                high = self.read_member()
                self._add_range(ranges, low, high, place)
            else:
                ranges.extend(((low, low),) if isinstance(low, int) else low)

    def _add_range(
        self, ranges: list[tuple[int, int]], low: int | CharSet, high: int | CharSet, place: int
    ) -> None:
        if isinstance(low, int) and isinstance(high, int):
            if low > high:
                raise self.error("the range is out of order", place, self.at)
            ranges.append((low, high))
            return
        if self.mode != "b":
            raise self.error("a class cannot bound a range", place, self.at, "a character")
        for item in (low, ord("-"), high):
            ranges.extend(((item, item),) if isinstance(item, int) else item)

    def read_member(self) -> int | CharSet:
        """One character or escape inside a class."""
        start = self.at
        self.at += 1
        if self.text[start] == "\\":
            return self.read_escape(start, in_class=True)
        return ord(self.text[start])


@lru_cache(maxsize=1024)
def _class_alone(text: str, mode: str, ignore_case: bool) -> CharSet | None:
    """The class `text` brackets included; None if it is wrong, which its own pattern reports."""
    reader = ClassReader(text, mode, Limits())
    reader.at = 1
    reader.ignore_case = ignore_case
    try:
        return reader._class(0)
    except (GrammarSyntaxError, UnsupportedError):
        return None
