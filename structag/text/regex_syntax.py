"""Parses an ECMA-262 pattern (ES2025) into a small tree; says nothing about automata.

Where the grammars of ECMA-262 disagree, a pattern is read by the first of these under which it is
valid: with the ``u`` flag, with the ``v`` flag, Annex B (no flag).  Everything is over code points.
To each of the three, five spellings of Python and Rust are added: ``(?P<n>…)``, ``(?flags)`` at the
very start, ``\\A``, ``\\Z`` and ``\\z``.  Of these Annex B alone has the last three, as letters.
Capture groups do not matter for which strings match, so groups leave no trace.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from structag.errors import GrammarSyntaxError, LimitError, UnsupportedError
from structag.limits import Limits
from structag.text import charset
from structag.text.charset import CharSet
from structag.text.regex_sets import SetReader, StringSet

MAX_COUNT = 2**31 - 1
LOOKS = frozenset(("ahead", "not-ahead", "behind", "not-behind"))
"""Kinds of assertions with a pattern of their own."""
MAX_LOOKS = 16
"""How deep look-around may be nested in look-around."""


class Text(NamedTuple):
    """A fixed string of one or more characters."""

    text: str


class Chars(NamedTuple):
    """One character of a set."""

    members: CharSet


class Sequence(NamedTuple):
    """The parts one after the other; no parts = the empty string."""

    parts: tuple[Pattern, ...]


class Choice(NamedTuple):
    """Any of two or more branches."""

    branches: tuple[Pattern, ...]


class Loop(NamedTuple):
    """A repeated part."""

    part: Pattern
    min: int
    max: int | None
    is_lazy: bool = False


class Assertion(NamedTuple):
    """A condition on what surrounds a place.

    `kind`: ``start end``; ``line-start line-end`` with the characters that end lines; ``word
    not-word`` with those of words; ``ahead not-ahead behind not-behind`` with any `part`.
    """

    kind: str
    part: Pattern | None


Pattern: TypeAlias = Text | Chars | Sequence | Choice | Loop | Assertion
EMPTY = Sequence(())

_RUN = re.compile(r"[^\\^$.*+?()\[\]{}|]+")
_GROUP_NAME = re.compile(r"([^>]*)>")
_JOINERS = re.compile("[\u200c\u200d]")
_NAME_ESCAPE = re.compile(r"\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
_ANCHORS = {"A": "start", "Z": "end", "z": "end"}
_OPENER = re.compile(r"\(\?(?:(?P<look><?[=!])|(?P<name>P?<)|)")
_LOOK = {"=": "ahead", "!": "not-ahead", "<=": "behind", "<!": "not-behind"}
_NAMED_BACKREFERENCE = re.compile(r"\\k<([^>]*)>")
_BACKREFERENCE = re.compile("[1-9][0-9]*")


def parse(pattern: str, limits: Limits) -> tuple[Pattern, bool]:
    """The tree of `pattern`, and whether any assertion is in it.

    Raises:
        GrammarSyntaxError: `regex-syntax`, with the span.
        UnsupportedError: `regex-feature`: backreferences, properties that are not known,
            look-around nested deeper than `MAX_LOOKS`.
        LimitError: `nesting-limit`, groups nested deeper than `Limits.max_nesting`.
    """
    for mode in "uv":
        try:
            return Parser(pattern, mode, limits).parse()
        except GrammarSyntaxError:
            continue
    return Parser(pattern, "b", limits).parse()


class _Names(NamedTuple):
    """Names of capture groups: in the open branch, and in the branches before it."""

    branch: frozenset[str]
    earlier: frozenset[str]


class _Group(NamedTuple):
    """What is set aside while a group is open."""

    branches: list[Pattern]
    parts: list[Pattern]
    opener: str  # "(", or a kind of assertion
    flags: tuple[bool, bool, bool]
    start: int
    names: _Names


_NO_NAMES = _Names(frozenset(), frozenset())


class Parser(SetReader):
    """Recursive descent with an explicit stack for groups, so that depth costs no Python frames."""

    line_ends = charset.LINE_ENDS
    not_line_ends = charset.NOT_LINE_ENDS
    counts = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")

    def __init__(self, pattern: str, mode: str, limits: Limits) -> None:
        super().__init__(pattern, mode, limits)
        self.has_assertion = False
        self.dot_all = self.multiline = False
        self.names = _NO_NAMES
        self.live_names: set[str] = set()
        self.look_depth = 0
        self.assertions: dict[tuple[object, ...], Assertion] = {}

    def parse(self) -> tuple[Pattern, bool]:
        self._leading_flags()
        stack: list[_Group] = []
        branches: list[Pattern] = []
        parts: list[Pattern] = []
        text, end = self.text, len(self.text)
        while self.at < end:
            run = _RUN.match(text, self.at)
            if run:
                self._take_run(parts, run)
                continue
            char = text[self.at]
            if char == "(":
                if len(stack) >= self.limits.max_nesting:
                    raise self.nesting_error("groups", self.at)
                flags = (self.ignore_case, self.dot_all, self.multiline)
                start, opener = self.at, self._open_group()
                stack.append(_Group(branches, parts, opener, flags, start, self.names))
                branches, parts, self.names = [], [], _NO_NAMES
            elif char == "|":
                branches.append(_sequence(parts))
                parts = []
                self.at += 1
                self._leave_branch()
            elif char == ")":
                if not stack:
                    raise self.error("unmatched `)`", self.at, self.at + 1)
                self.at += 1
                branches.append(_sequence(parts))
                inner = _choice(branches)
                group = stack.pop()
                branches, parts = group.branches, group.parts
                self.ignore_case, self.dot_all, self.multiline = group.flags
                self._leave_group(group.names)
                self._close_group(group, inner)
            else:
                atom, quantifiable = self._atom(char)
                parts.append(self._quantified(atom, quantifiable))
        if stack:
            raise self.error("a group is not closed", stack[-1].start, end, "`)`")
        branches.append(_sequence(parts))
        return _choice(branches), self.has_assertion

    def _take_run(self, parts: list[Pattern], run: re.Match[str]) -> None:
        """Plain characters; a quantifier after them belongs to the last one."""
        text, self.at = run.group(), run.end()
        following = self.text[self.at : self.at + 1]
        if following and following in "*+?{":
            atom = self._literal(text[-1])
            quantified = self._quantified(atom, True)
            if len(text) > 1:
                parts.extend(self._literals(text[:-1]))
            parts.append(quantified)
        else:
            parts.extend(self._literals(text))

    def _literals(self, text: str) -> list[Pattern]:
        if not self.ignore_case:
            return [Text(text)]
        return [self._literal(char) for char in text]

    def _literal(self, char: str) -> Pattern:
        if self.ignore_case:
            members = self.fold(((ord(char), ord(char)),))
            if members[0][0] != members[-1][1]:
                return Chars(members)
        if "\ud800" <= char <= "\udfff":
            return Chars(((ord(char), ord(char)),))
        return Text(char)

    def _string_branches(self, held: StringSet) -> Pattern:
        """A class of the v flag: its characters, and its strings as branches."""
        if not held.strings:
            return Chars(held.chars)
        words = sorted(held.strings)
        return Choice((Chars(held.chars), *(_sequence(self._literals(word)) for word in words)))

    def _atom(self, char: str) -> tuple[Pattern, bool]:
        start = self.at
        self.at += 1
        if char == ".":
            return Chars(charset.ALL if self.dot_all else self.not_line_ends), True
        if char == "[":
            if self.mode == "v":
                return self._string_branches(self.read_set(start)), True
            return Chars(self.read_class(start)), True
        if char == "\\":
            return self._escape(start)
        if char == "^":
            return self._edge("start"), False
        if char == "$":
            return self._edge("end"), False
        if char in "*+?":
            raise self.error(f"nothing to repeat before `{char}`", start, start + 1)
        if self.mode != "b":
            raise self.error(f"`{char}` must be escaped here", start, start + 1, f"`\\{char}`")
        if char == "{" and self.counts.match(self.text, start):
            raise self.error("nothing to repeat before `{`", start, start + 1)
        return self._literal(char), True

    def _escape(self, start: int) -> tuple[Pattern, bool]:
        following = self.text[self.at : self.at + 1]
        if following == "b" or following == "B":
            self.at += 1
            kind, word = ("word" if following == "b" else "not-word"), Chars(self.word)
            return self._assert(kind, word, word), False
        if following in _ANCHORS and following:
            self.at += 1
            return self._assert(_ANCHORS[following]), False
        if following and following in "123456789":
            self._check_backreference(start)
        if following == "k" and (self.mode != "b" or self.group_names):
            self._check_named_backreference(start)
        if following == "p" and self.mode == "v" and (held := self.read_string_property(start)):
            return self._string_branches(held), True
        read = self.read_escape(start)
        if isinstance(read, int):
            return self._literal(chr(read)), True
        return Chars(self.fold(read)), True

    def _check_backreference(self, start: int) -> None:
        match = _BACKREFERENCE.match(self.text, self.at)
        assert match is not None
        if len(match.group()) < 6 and int(match.group()) <= self.group_count:
            raise self._backreference(start, match.end())
        if self.mode != "b":
            raise self.error("there is no such group", start, match.end())

    def _check_named_backreference(self, start: int) -> None:
        match = _NAMED_BACKREFERENCE.match(self.text, start)
        if match and match.group(1) in self.group_names:
            raise self._backreference(start, match.end())
        raise self.error("there is no such group", start, match.end() if match else start + 2)

    def _backreference(self, start: int, end: int) -> UnsupportedError:
        return UnsupportedError(
            f"the backreference `{self.text[start:end]}` is not regular",
            code="regex-feature",
            span=(start, end),
            hint="spell the repeated part out",
        )

    def _assert(self, kind: str, part: Pattern | None = None, *origin: object) -> Pattern:
        """The assertion; the same object for the same `origin`, which says what `part` means."""
        self.has_assertion = True
        return self.assertions.setdefault((kind, *origin), Assertion(kind, part))

    def _edge(self, kind: str) -> Pattern:
        if not self.multiline:
            return self._assert(kind)
        return self._assert(f"line-{kind}", Chars(self.line_ends))

    def _quantified(self, atom: Pattern, quantifiable: bool) -> Pattern:
        char = self.text[self.at : self.at + 1]
        if not char or char not in "*+?{":
            return atom
        start = self.at
        low, high = 0, None
        if char == "{":
            match = self.counts.match(self.text, start)
            if match is None:
                if self.mode == "b":
                    return atom
                raise self.error("a count is not complete", start, start + 1, "`{n}` or `{n,m}`")
            low = self._count(match.group(1) or "0", start)
            if match.group(2) is None:
                high = low
            elif match.group(3):
                high = self._count(match.group(3), start)
            if high is not None and high < low:
                raise self.error("the counts are out of order", start, match.end())
            self.at = match.end()
        else:
            self.at += 1
            low, high = (1 if char == "+" else 0), (1 if char == "?" else None)
        if not quantifiable:
            raise self.error("nothing to repeat before the quantifier", start, self.at)
        is_lazy = self.text.startswith("?", self.at)
        self.at += is_lazy
        return Loop(atom, low, high, is_lazy)

    def _count(self, digits: str, start: int) -> int:
        if len(digits.lstrip("0")) > 10 or int(digits) > MAX_COUNT:
            raise LimitError(
                f"a repeat count over {MAX_COUNT:,}",
                limit="repeat count",
                value=MAX_COUNT,
                setting=None,
                span=(start, start + len(digits) + 2),
            )
        return int(digits)

    def _leading_flags(self) -> None:
        match = _FLAGS.match(self.text)
        if match and match.group(3) == ")":
            self._set_flags(match)
            self.at = match.end()

    def _set_flags(self, match: re.Match[str]) -> None:
        added, removed = match.group(1), match.group(2)
        every = added + (removed or "")
        empty = not every and (removed is not None or match.group(3) == ")")
        if set(every) - set("ims") or len(set(every)) != len(every) or empty:
            raise self.error("unknown or repeated flags", match.start(), match.end(), "i, m or s")
        for flag in every:
            value = flag in added
            if flag == "i":
                self.ignore_case = value
            elif flag == "s":
                self.dot_all = value
            else:
                self.multiline = value

    def _open_group(self) -> str:
        """Read past the opener of a group; what it is: ``(``, or a kind of assertion."""
        start, text = self.at, self.text
        match = _OPENER.match(text, start)
        if match is None:
            self.at += 1
            return "("
        look, name = match.group("look"), match.group("name")
        if look:
            self.at = match.end()
            self.look_depth += 1
            if self.look_depth > MAX_LOOKS:
                raise UnsupportedError(
                    f"look-around nested deeper than {MAX_LOOKS} levels is not supported",
                    code="regex-feature",
                    span=(start, self.at),
                )
            return _LOOK[look]
        if name:
            return self._open_named(start, match.end())
        flags = _FLAGS.match(text, start)
        if flags and flags.group(3) == ":":
            if flags.group(1) or flags.group(2) is not None:
                self._set_flags(flags)
            self.at = flags.end()
            return "("
        raise self.error(
            f"`{text[start : start + 3]}` opens no group", start, start + 3, "`(?:`, `(?=`, `(?<n>`"
        )

    def _open_named(self, start: int, name_at: int) -> str:
        match = _GROUP_NAME.match(self.text, name_at)
        name = _NAME_ESCAPE.sub(_unescape, match.group(1)) if match else ""
        if match is None or not _JOINERS.sub("", name.replace("$", "_")).isidentifier():
            raise self.error("a group name is not complete", start, name_at, "a name and `>`")
        self.at = match.end()
        if name in self.live_names:
            raise self.error(f"two groups are called `{name}`", start, self.at)
        self.live_names.add(name)
        self.names = _Names(self.names.branch | {name}, self.names.earlier)
        return "("

    def _leave_branch(self) -> None:
        """After a `|`, the names of the branch may be used once more."""
        branch, earlier = self.names
        if branch:
            self.live_names -= branch
            self.names = _Names(frozenset(), earlier | branch)

    def _leave_group(self, outer: _Names) -> None:
        inside = self.names.branch | self.names.earlier
        self.live_names |= inside
        self.names = _Names(outer.branch | inside, outer.earlier) if inside else outer

    def _close_group(self, group: _Group, inner: Pattern) -> None:
        kind = group.opener
        if kind == "(":
            group.parts.append(self._quantified(inner, True))
            return
        self.look_depth -= 1
        look = self._assert(kind, inner, self.text[group.start : self.at], group.flags)
        quantifiable = self.mode == "b" and "ahead" in kind
        group.parts.append(self._quantified(look, quantifiable))


def _unescape(match: re.Match[str]) -> str:
    code = int(match.group(1) or match.group(2), 16)
    return chr(code) if code <= charset.TOP else "-"


def _sequence(parts: list[Pattern]) -> Pattern:
    if len(parts) == 1:
        return parts[0]
    return Sequence(tuple(parts)) if parts else EMPTY


def _choice(branches: list[Pattern]) -> Pattern:
    return branches[0] if len(branches) == 1 else Choice(tuple(branches))
