"""Tells whether a pattern looks past the text it matches.

A pattern that is part of something larger must decide its anchors and look-around by itself: what
stands around it is not known where it is lowered.  The answer is cautious: an assertion stays
inside if what it looks at is never longer than the least that surely lies on its side.
"""

from __future__ import annotations

from structag.text.regex_syntax import LOOKS, Assertion, Choice, Loop, Pattern, Sequence, Text


def looks_out(tree: Pattern) -> bool:
    """Whether an assertion of `tree` may depend on text before or after its match."""
    least, most = lengths(tree)
    todo: list[tuple[Pattern, int, int]] = [(tree, 0, 0)]  # with what surely lies before and after
    while todo:
        node, before, after = todo.pop()
        if isinstance(node, Loop):
            todo.append((node.part, before, after))
        elif isinstance(node, Choice):
            todo += [(branch, before, after) for branch in node.branches]
        elif isinstance(node, Sequence):
            rest = after + least[id(node)]
            for part in node.parts:
                rest -= least[id(part)]
                todo.append((part, before, rest))
                before += least[id(part)]
        elif isinstance(node, Assertion) and not _stays_inside(node, most, before, after):
            return True
    return False


def looks_across(tree: Pattern, ahead: bool) -> bool:
    """Whether an assertion in the body of a look-around may see across the place where it starts.

    `ahead`: the body of a look-ahead, which starts at its left end.
    """
    least, _ = lengths(tree)
    todo = [(tree, False)]  # with whether a character surely lies between that place and it
    while todo:
        node, is_away = todo.pop()
        if isinstance(node, Assertion):
            kind, part = node
            if part is not None and kind in LOOKS:
                if kind.endswith("ahead") != ahead:
                    return True
                todo.append((part, is_away))
            elif not is_away and not kind.endswith("end" if ahead else "start"):
                return True
            continue
        parts = parts_of(node)
        for part in parts if ahead else reversed(parts):
            todo.append((part, is_away))
            if isinstance(node, Sequence):
                is_away = is_away or least[id(part)] > 0
    return False


def _stays_inside(node: Assertion, most: dict[int, int | None], before: int, after: int) -> bool:
    kind, part = node
    if kind in ("word", "not-word"):
        return before > 0 and after > 0
    if kind.startswith("line"):
        return (before if kind == "line-start" else after) > 0
    if part is None:
        return False
    longest = most[id(part)]
    room = after if kind.endswith("ahead") else before
    return longest is not None and longest <= room


def lengths(tree: Pattern) -> tuple[dict[int, int], dict[int, int | None]]:
    """The least and the greatest length of each node; None: without bound, or not known.

    What holds an assertion counts as unbounded: inside of look-around it might look further.
    """
    least: dict[int, int] = {}
    most: dict[int, int | None] = {}
    todo: list[tuple[Pattern, bool]] = [(tree, False)]
    while todo:
        node, is_open = todo.pop()
        parts = parts_of(node)
        if parts and not is_open:
            todo.append((node, True))
            todo += [(part, False) for part in parts]
            continue
        lows, highs = [least[id(part)] for part in parts], [most[id(part)] for part in parts]
        low, high = 0, None
        bounded = [value for value in highs if value is not None]
        is_bounded = len(bounded) == len(highs)
        if isinstance(node, Assertion):
            pass
        elif isinstance(node, Sequence):
            low, high = sum(lows), sum(bounded) if is_bounded else None
        elif isinstance(node, Choice):
            low, high = min(lows), max(bounded) if is_bounded else None
        elif isinstance(node, Loop):
            low = lows[0] * node.min
            high = bounded[0] * node.max if is_bounded and node.max is not None else None
        else:
            low = high = len(node.text) if isinstance(node, Text) else 1
        least[id(node)], most[id(node)] = low, high
    return least, most


def parts_of(node: Pattern) -> tuple[Pattern, ...]:
    if isinstance(node, Sequence):
        return node.parts
    if isinstance(node, Choice):
        return node.branches
    if isinstance(node, Loop):
        return (node.part,)
    if isinstance(node, Assertion) and node.part is not None:
        return (node.part,)
    return ()
