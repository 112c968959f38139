"""Reads the classes of the `v` flag: nested classes, strings, unions, ``--`` and ``&&``.

Set operations are taken on sets that are closed under case variants, which comes to the same as
ECMA-262's case-folded sets.  A range may be an operand of ``--`` and ``&&`` (``[a-z&&[^b]]``), for
which ECMA-262 wants brackets of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from structag.text import charset
from structag.text.charset import CharSet
from structag.text.regex_class import ClassReader

_SYNTAX = frozenset("()[]{}/-|")
_DOUBLE = frozenset("&!#$%*+,.:;<=>?@^`~")


class StringSet(NamedTuple):
    """Characters, and strings of any other length than one.

    `may_hold_strings`: what ECMA-262 calls so; it depends on how the set is written.
    """

    chars: CharSet
    strings: frozenset[str] = frozenset()
    may_hold_strings: bool = False


@dataclass(slots=True)
class _Open:
    """A class that is being read."""

    start: int
    is_negated: bool
    ranges: list[tuple[int, int]] = field(default_factory=list)
    strings: frozenset[str] = frozenset()
    may_hold_strings: bool = False
    operator: str = ""
    count: int = 0


class SetReader(ClassReader):
    """A cursor over a pattern that also reads classes of the `v` flag."""

    def read_set(self, start: int) -> StringSet:
        """The class whose `[` is at `start`, the cursor behind it."""
        stack = [self._open(start)]
        while True:
            opened = stack[-1]
            if self.text.startswith("]", self.at):
                self.at += 1
                closed = self._close(stack.pop())
                if not stack:
                    return closed
                self._take(stack[-1], closed)
                continue
            self._operator(opened)
            if self.text.startswith("[", self.at):
                if len(stack) >= self.limits.max_nesting:
                    raise self.nesting_error("classes", self.at)
                self.at += 1
                stack.append(self._open(self.at - 1))
            else:
                self._take(opened, self._operand(opened.start))

    def _open(self, start: int) -> _Open:
        is_negated = self.text.startswith("^", self.at)
        self.at += is_negated
        return _Open(start, is_negated)

    def _close(self, opened: _Open) -> StringSet:
        chars = charset.union(opened.ranges)
        if not opened.is_negated:
            return StringSet(chars, opened.strings, opened.may_hold_strings)
        if opened.may_hold_strings:
            raise self.error(
                "a negated class holds strings", opened.start, self.at, "single characters"
            )
        return StringSet(charset.negate(chars))

    def _operator(self, opened: _Open) -> None:
        """Read past the operator before the next operand."""
        sign = self.text[self.at : self.at + 2]
        if sign in ("--", "&&"):
            if opened.operator not in ("", sign) or (not opened.operator and opened.count != 1):
                raise self.error("set operations are mixed", self.at, self.at + 2)
            opened.operator = sign
            self.at += 2
            if sign == "&&" and self.text.startswith("&", self.at):
                raise self.error("`&` must be escaped here", self.at, self.at + 1, "`\\&`")
        elif opened.operator:
            raise self.error(
                "set operations are mixed", self.at, self.at + 1, f"`{opened.operator}`"
            )

    def _take(self, opened: _Open, operand: StringSet) -> None:
        chars, strings, may_hold_strings = operand
        opened.count += 1
        if opened.operator == "--":
            opened.ranges = list(charset.subtract(charset.union(opened.ranges), chars))
            opened.strings -= strings
        elif opened.operator == "&&":
            opened.ranges = list(charset.intersect(charset.union(opened.ranges), chars))
            opened.strings &= strings
            opened.may_hold_strings &= may_hold_strings
        else:
            opened.ranges += chars
            opened.strings |= strings
            opened.may_hold_strings |= may_hold_strings

    def _operand(self, start: int) -> StringSet:
        text, place = self.text, self.at
        if text.startswith("\\q{", place):
            return self._disjunction(place)
        if text.startswith("\\p{", place) and (named := self.read_string_property(place)):
            return named
        low = self._character(start)
        if not isinstance(low, int):
            return StringSet(self.fold(low))
        if text.startswith("-", self.at) and not text.startswith("--", self.at):
            self.at += 1
            high = self._character(start)
            if not isinstance(high, int) or low > high:
                raise self.error("the range is out of order", place, self.at)
            return StringSet(self.fold(((low, high),)))
        return StringSet(self.fold(((low, low),)))

    def _character(self, start: int) -> int | CharSet:
        char = self.text[self.at : self.at + 1]
        if not char:
            raise self.unclosed(start)
        if char in _SYNTAX:
            raise self.error(f"`{char}` must be escaped here", self.at, self.at + 1, f"`\\{char}`")
        if char in _DOUBLE and self.text.startswith(char * 2, self.at):
            raise self.error(f"`{char}{char}` is reserved", self.at, self.at + 2)
        return self.read_member()

    def _disjunction(self, start: int) -> StringSet:
        """``\\q{…|…}``, the cursor on its backslash."""
        self.at += 3
        words: list[str] = []
        word = ""
        while True:
            char = self.text[self.at : self.at + 1]
            if not char:
                raise self.error("strings are not closed", start, self.at, "`}`")
            if char in "|}":
                words.append(word)
                word = ""
                self.at += 1
                if char == "}":
                    return self._strings(words)
                continue
            code = self._character(start)
            if not isinstance(code, int):
                raise self.error("a class inside a string", start, self.at, "a character")
            word += chr(code)

    def _strings(self, words: list[str]) -> StringSet:
        singles = charset.union((ord(word), ord(word)) for word in words if len(word) == 1)
        strings = frozenset(word for word in words if len(word) != 1)
        return self._string_set(singles, strings, bool(strings))

    def _string_set(self, chars: CharSet, strings: frozenset[str], may_hold: bool) -> StringSet:
        if self.ignore_case:
            strings = frozenset(map(charset.canonical_case, strings))
        return StringSet(self.fold(chars), strings, may_hold)

    def read_string_property(self, start: int) -> StringSet | None:
        """The property of strings at the cursor, if it is one; else the cursor stays."""
        match = self.match_property(start + 2)
        found = string_property(match.group(1)) if match and match.group(2) is None else None
        if match is None or found is None:
            return None
        self.at = match.end()
        return self._string_set(*found, True)


def string_property(name: str) -> tuple[CharSet, frozenset[str]] | None:
    """`charset.string_property`, without loading the tables for an ordinary name."""
    return charset.string_property(name) if "Emoji" in name else None
