"""How much of a text an ignored terminal takes, where it may take more or less.

Lark asks Python's `re` for one match at a place: the first that backtracking finds.  For most
terminals that is the longest one, or, with a lazy quantifier, the shortest; here it is proved from
the way the terminal is written, or left open.
"""

from __future__ import annotations

from collections.abc import Mapping

from structag.limits import Limits
from structag.text import charset, regex_syntax
from structag.text.charset import CharSet
from structag.text.lark_reader import RegularText
from structag.text.regex_python import parse_python
from structag.text.regex_reach import lengths, parts_of
from structag.text.regex_syntax import Assertion, Pattern
from structag.text.rules import (
    Chars,
    Choice,
    Expression,
    Loop,
    Operator,
    Reference,
    Sequence,
    Text,
    operands,
)

LONGEST, SHORTEST = "longest", "shortest"
_MOST_STEPS = 10_000
_MOST_POSITIONS = 500


def find_taken(terminal: Expression, bodies: Mapping[str, Expression]) -> str | None:
    """`LONGEST` or `SHORTEST`; None if it cannot be told.

    `bodies`: what the names in `terminal` stand for.  What `re` does not have (``&``, ``~``) takes
    the longest.
    """
    tree = _pattern(terminal, bodies)
    if not isinstance(tree, tuple):
        return tree
    loop = _only_choice(tree)
    if loop is not None:
        return SHORTEST if loop.is_lazy else LONGEST
    return LONGEST if _is_determined(tree) else None


def _pattern(top: Expression, bodies: Mapping[str, Expression]) -> Pattern | str | None:
    """The terminal as one regular expression; else the answer."""
    done: list[Pattern] = []
    pending: list[tuple[Expression, int]] = [(top, -1)]
    open_names: set[str] = set()
    for _ in range(_MOST_STEPS):
        if not pending:
            return done[0]
        expression, count = pending.pop()
        if isinstance(expression, Operator):
            if not isinstance(expression.combine, RegularText):
                return LONGEST
            done.append(parse_python(expression.combine.pattern, Limits())[0])
        elif isinstance(expression, Reference):
            name = expression.name
            if count < 0:
                if name in open_names or name not in bodies:
                    return None  # refused later
                open_names.add(name)
                pending += [(expression, 1), (bodies[name], -1)]
            else:
                open_names.remove(name)
        elif count < 0:
            parts = operands(expression)
            pending.append((expression, len(parts)))
            pending.extend((part, -1) for part in reversed(parts))
        else:
            patterns = tuple(done[len(done) - count :])
            del done[len(done) - count :]
            done.append(_joined(expression, patterns))
    return None


def _joined(expression: Expression, parts: tuple[Pattern, ...]) -> Pattern:
    match expression:
        case Text(text):
            return regex_syntax.Text(text) if text else regex_syntax.EMPTY
        case Chars(ranges):
            return regex_syntax.Chars(ranges)
        case Sequence():
            return regex_syntax.Sequence(parts)
        case Choice():
            return regex_syntax.Choice(parts)
        case Loop(_, low, high):
            return regex_syntax.Loop(parts[0], low, high)
        case _:
            raise AssertionError("terminals are made of nothing else")


def _only_choice(tree: Pattern) -> regex_syntax.Loop | None:
    """The one loop that decides how long a match is, if there is just one."""
    least, most = lengths(tree)
    node = tree
    while isinstance(node, regex_syntax.Sequence):
        varying = [part for part in node.parts if least[id(part)] != most[id(part)]]
        if len(varying) != 1:
            return None
        node = varying[0]
    if not isinstance(node, regex_syntax.Loop):
        return None
    return node if least[id(node.part)] == most[id(node.part)] else None


class _Ends:
    """Where the texts of a part begin and end, in positions of single characters."""

    __slots__ = ("first", "is_nullable", "last")

    def __init__(self, first: list[int], last: list[int], is_nullable: bool) -> None:
        self.first, self.last, self.is_nullable = first, last, is_nullable


def _is_determined(tree: Pattern) -> bool:
    """Whether the next character always says where in `tree` it belongs, and nothing is lazy.

    Then there is one path for each text, and a greedy search follows it as far as it goes.
    """
    sets: list[CharSet] = []
    following: list[set[int]] = []
    done: list[_Ends] = []

    def join(left: _Ends, right: _Ends) -> _Ends:
        for position in left.last:
            following[position].update(right.first)
        first = left.first + right.first if left.is_nullable else left.first
        last = left.last + right.last if right.is_nullable else right.last
        return _Ends(first, last, left.is_nullable and right.is_nullable)

    pending = [(tree, False)]
    while pending:
        node, is_open = pending.pop()
        parts = parts_of(node)
        if isinstance(node, Assertion) or len(sets) > _MOST_POSITIONS:
            return False
        if parts and not is_open:
            pending.append((node, True))
            pending.extend((part, False) for part in reversed(parts))
            continue
        ends = done[len(done) - len(parts) :]
        del done[len(done) - len(parts) :]
        if isinstance(node, regex_syntax.Choice):
            if any(end.is_nullable for end in ends):
                return False  # an empty branch is taken before those after it
            first = [position for end in ends for position in end.first]
            done.append(_Ends(first, [p for end in ends for p in end.last], False))
        elif isinstance(node, regex_syntax.Loop):
            if node.is_lazy:
                return False
            (end,) = ends
            if node.max != 1:
                join(end, end)
            done.append(_Ends(end.first, end.last, end.is_nullable or node.min == 0))
        else:
            whole = _Ends([], [], True)
            if isinstance(node, regex_syntax.Sequence):
                for end in ends:
                    whole = join(whole, end)
            else:
                for members in _characters(node):
                    here = [len(sets)]
                    sets.append(members)
                    following.append(set())
                    whole = join(whole, _Ends(here, here, False))
            done.append(whole)
    return all(
        _are_apart([sets[position] for position in group])
        for group in (set(done[0].first), *following)
    )


def _characters(leaf: Pattern) -> list[CharSet]:
    if isinstance(leaf, regex_syntax.Text):
        return [((ord(char), ord(char)),) for char in leaf.text]
    assert isinstance(leaf, regex_syntax.Chars)
    return [leaf.members]


def _are_apart(sets: list[CharSet]) -> bool:
    ranges = [pair for members in sets for pair in members]
    return _size(charset.union(ranges)) == _size(ranges)


def _size(ranges: list[tuple[int, int]] | CharSet) -> int:
    return sum(high - low + 1 for low, high in ranges)
