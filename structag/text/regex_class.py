"""Reads the escapes and bracketed classes of a pattern; the part below `regex_syntax`.

Class contents follow the grammar of the mode: ``u`` and ``b`` (Annex B) have plain members and
ranges, ``v`` has nested classes, ``--`` and ``&&`` as well.
"""

from __future__ import annotations

import re

from structag.errors import GrammarSyntaxError, UnsupportedError
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
_GROUPS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|(?P<open>\((?!\?)|\(\?(?:P)?<(?![=!]))", re.DOTALL)
_V_SYNTAX = frozenset("()[]{}/-\\|")
_V_ESCAPES = frozenset("&-!#%,:;<=>@`~")
_V_DOUBLE = frozenset("&!#$%*+,.:;<=>?@^`~")


class ClassReader:
    """A cursor over a pattern."""

    def __init__(self, pattern: str, mode: str) -> None:
        self.text = pattern
        self.mode = mode
        self.at = 0
        self._groups: tuple[int, bool] | None = None

    @property
    def group_count(self) -> int:
        """The number of capture groups in the whole pattern."""
        return self._count_groups()[0]

    @property
    def has_group_names(self) -> bool:
        """Whether a capture group has a name."""
        return self._count_groups()[1]

    def _count_groups(self) -> tuple[int, bool]:
        if self._groups is None:
            opens = [m.group("open") for m in _GROUPS.finditer(self.text) if m.group("open")]
            self._groups = len(opens), any(opener.endswith("<") for opener in opens)
        return self._groups

    def error(
        self, message: str, start: int, end: int, expected: str | None = None
    ) -> GrammarSyntaxError:
        """A `regex-syntax` error at a span of the pattern."""
        end = min(end, len(self.text))
        return GrammarSyntaxError(
            message, code="regex-syntax", span=(min(start, end), end), expected=expected
        )

    def read_escape(self, start: int, *, in_class: bool = False) -> int | CharSet:
        """The escape whose backslash is at `start`, the cursor behind it: a code point or a set."""
        char = self.text[self.at : self.at + 1]
        if not char:
            raise self.error("a lone `\\` at the end", start, start + 1, "an escaped character")
        self.at += 1
        if char in _CLASSES:
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
            return self._property(start, char == "P")
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

    def _unicode(self, start: int) -> int:
        braced = _BRACED.match(self.text, self.at)
        if braced and self.mode != "b":
            digits = braced.group(1).lstrip("0") or "0"
            if len(digits) > 6 or int(digits, 16) > charset.TOP:
                raise self.error("a code point over 10FFFF", start, braced.end())
            self.at = braced.end()
            return int(digits, 16)
        code = self._hex(start, _HEX4)
        if 0xD800 <= code <= 0xDBFF and self.at == start + 6:
            low = _LOW_HALF.match(self.text, self.at)
            if low:
                self.at = low.end()
                return 0x10000 + ((code - 0xD800) << 10) + int(low.group(1), 16) - 0xDC00
        return code

    def _property(self, start: int, negated: bool) -> CharSet:
        match = _PROPERTY.match(self.text, self.at)
        if match is None:
            raise self.error("a property is not complete", start, self.at, "`\\p{Name}`")
        members = charset.property_set(match.group(1), match.group(2))
        if members is None:
            raise UnsupportedError(
                f"the Unicode property `{match.group()[1:-1]}` is not known here",
                code="regex-feature",
                span=(start, match.end()),
                expected="a general category, Any, ASCII or Assigned",
            )
        self.at = match.end()
        return charset.negate(members) if negated else members

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
        """The class whose `[` is at `start`, the cursor behind it."""
        negated = self.text.startswith("^", self.at)
        self.at += negated
        members = self._operands(start) if self.mode == "v" else self._members(start)
        return charset.negate(members) if negated else members

    def _unclosed(self, start: int) -> GrammarSyntaxError:
        return self.error("a class is not closed", start, len(self.text), "`]`")

    def _members(self, start: int) -> CharSet:
        ranges: list[tuple[int, int]] = []
        text = self.text
        while True:
            char = text[self.at : self.at + 1]
            if not char:
                raise self._unclosed(start)
            if char == "]":
                self.at += 1
                return charset.union(ranges)
            place = self.at
            low = self._member()
            if text.startswith("-", self.at) and not text.startswith("-]", self.at):
                self.at += 1
                if self.at >= len(text):
                    raise self._unclosed(start)
                high = self._member()
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

    def _member(self) -> int | CharSet:
        start = self.at
        self.at += 1
        if self.text[start] == "\\":
            return self.read_escape(start, in_class=True)
        return ord(self.text[start])

    # -- classes of the v flag

    def _operands(self, start: int, depth: int = 0) -> CharSet:
        """The contents of a class in v mode: a union, or one kind of set operation.

        A range may be an operand of a set operation, which ECMA-262 leaves out.
        """
        if depth > 50:
            raise self.error("classes are nested too deeply", start, self.at)
        members: CharSet = ()
        operator, count = "", 0
        while not self.text.startswith("]", self.at):
            if self.at >= len(self.text):
                raise self._unclosed(start)
            sign = self.text[self.at : self.at + 2]
            if sign in ("--", "&&"):
                if operator not in ("", sign) or (not operator and count != 1):
                    raise self.error("set operations are mixed", self.at, self.at + 2)
                operator = sign
                self.at += 2
            elif operator:
                raise self.error("set operations are mixed", self.at, self.at + 1, f"`{operator}`")
            if self.at >= len(self.text):
                raise self._unclosed(start)
            operand = self._operand(start, depth)
            if operator == "--":
                members = charset.intersect(members, charset.negate(operand))
            elif operator == "&&":
                members = charset.intersect(members, operand)
            else:
                members = charset.union((*members, *operand))
            count += 1
        self.at += 1
        return members

    def _operand(self, start: int, depth: int) -> CharSet:
        text, place = self.text, self.at
        if text.startswith("[", place):
            self.at += 1
            negated = text.startswith("^", self.at)
            self.at += negated
            members = self._operands(place, depth + 1)
            return charset.negate(members) if negated else members
        if text.startswith("\\q{", place):
            return self._strings(place)
        low = self._v_member()
        if not isinstance(low, int):
            return low
        if text.startswith("-", self.at) and not text.startswith("--", self.at):
            self.at += 1
            if self.at >= len(text):
                raise self._unclosed(start)
            high = self._v_member()
            if not isinstance(high, int) or low > high:
                raise self.error("the range is out of order", place, self.at)
            return ((low, high),)
        return ((low, low),)

    def _v_member(self) -> int | CharSet:
        char = self.text[self.at]
        if char in _V_SYNTAX and char != "\\":
            raise self.error(f"`{char}` must be escaped here", self.at, self.at + 1, f"`\\{char}`")
        if char in _V_DOUBLE and self.text.startswith(char * 2, self.at):
            raise self.error(f"`{char}{char}` is reserved", self.at, self.at + 2)
        return self._member()

    def _strings(self, start: int) -> CharSet:
        end = self.text.find("}", start)
        if end < 0:
            raise self._unclosed(start)
        words = self.text[start + 3 : end].split("|")
        if any(len(word) != 1 or word == "\\" for word in words):
            raise UnsupportedError(
                "strings in a class are not supported",
                code="regex-feature",
                span=(start, end + 1),
                hint="write them as branches of a group",
            )
        self.at = end + 1
        return charset.union((ord(word), ord(word)) for word in words)
