"""Recursion without Python's stack, so that a deeply nested document is no danger.

A walk is a generator that yields another walk where a function would call itself, and gets that
walk's result back: ``child = yield self.visit(part)``.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from structag.pointer import escaped

T = TypeVar("T")

Walk: TypeAlias = Generator[Any, Any, T]


def run_walk(walk: Walk[T]) -> T:
    """The result of `walk`.

    >>> def depth(items):
    ...     deepest = 0
    ...     for item in items:
    ...         deepest = max(deepest, (yield depth(item)))
    ...     return deepest + 1
    >>> run_walk(depth([[], [[]]]))
    3
    """
    stack: list[Walk[Any]] = [walk]
    result: Any = None
    while True:
        try:
            child = stack[-1].send(result)
        except StopIteration as finished:
            stack.pop()
            result = finished.value
            if not stack:
                return result  # type: ignore[no-any-return]
        else:
            stack.append(child)
            result = None


def join_pointer(pointer: str, *steps: str | int) -> str:
    """`pointer` extended by `steps`, escaped as RFC 6901 says.

    >>> join_pointer("/format", "tags", 0, "a/b")
    '/format/tags/0/a~1b'
    """
    for step in steps:
        pointer = f"{pointer}/{escaped(step) if isinstance(step, str) else step}"
    return pointer
