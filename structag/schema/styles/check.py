"""Checks an element style that a caller made: that its texts can be told apart when read.

A reader looks for the first text that ends a name, then for the first that ends the value.  What
could end either one too early makes the grammar accept what a reader understands differently.
"""

from __future__ import annotations

from collections.abc import Iterator

from structag.errors import FormatError
from structag.schema.styles.element_style import KINDS, NAME, ElementStyle


def check_style(style: ElementStyle, pointer: str) -> None:
    """Refuses a style whose elements could be read in two ways.

    Raises:
        FormatError: `tag-value`, with the field under `pointer`.
    """
    for field, problem, expected in _problems(style):
        raise FormatError(
            f"`{field}` {problem}",
            code="tag-value",
            pointer=f"{pointer}/{field}",
            expected=expected,
        )


def _problems(style: ElementStyle) -> Iterator[tuple[str, str, str]]:
    if not style.before:
        yield "before", "is empty", "a text that begins an element"
    if not style.after:
        yield "after", "is empty", "one or more texts"
    for text in style.after:
        if not text or text[0] not in style.not_in_names + "".join(style.entities):
            yield (
                "after",
                f"begins with {text[:1]!r}, which a name may hold",
                "texts that begin with one of `not_in_names` or `entities`",
            )
    for char in style.entities:
        if len(char) != 1:
            yield "entities", f"has the key {char!r}", "single characters"
    if not style.behind or not style.nothing:
        yield "behind" if style.nothing else "nothing", "is empty", "one or more texts"
    if style.item == "" or (style.item is not None and not style.item_closer):
        field = "item" if style.item == "" else "item_closer"
        yield field, "is empty", "a text that begins, and one that ends, an item"
    closers = [("closer", style.closer)]
    if style.item is not None:
        closers.append(("item_closer", style.item_closer))
    for field, text in closers:
        if not text.partition(NAME)[0].startswith(style.stops.partition(NAME)[0]):
            yield field, "does not begin with `stop`", "what no value may hold, then the rest"
    yield from _stop_problems(style)
    yield from _type_problems(style)


def _stop_problems(style: ElementStyle) -> Iterator[tuple[str, str, str]]:
    field = "closer" if style.stop is None else "stop"
    stop = style.stops
    if NAME in stop:
        yield "stop", f"holds `{NAME}`", "the beginning of `closer` that all names share"
    elif not stop:
        yield field, "is empty", "a text that ends every value"
    elif any(stop.startswith(stop[at:]) for at in range(1, len(stop))):
        yield field, "ends as it begins, so it may begin in the value", "a text without that"


def _type_problems(style: ElementStyle) -> Iterator[tuple[str, str, str]]:
    types = style.types
    if types is None:
        return
    if set(types) != set(KINDS):
        yield "types", "does not name every type once", "the keys " + ", ".join(KINDS)
        return
    text = types["string"]
    for kind in KINDS:
        other = types[kind]
        if kind != "string" and (text.startswith(other) or other.startswith(text)):
            yield "types", f"marks strings and {kind} alike", "a mark for strings of their own"
