"""What a structural tag accepts, straight from the language reference, by searching the text.

`tag_accepts` knows the formats without schemas and patterns.  It works on the text itself, not on
the grammar, so that it can contradict `structag.tags.lower`.
"""

from __future__ import annotations

from collections.abc import Iterator

from structag.tags.model import (
    AnyTextFormat,
    ConstStringFormat,
    Format,
    OptionalFormat,
    OrFormat,
    PlusFormat,
    RepeatFormat,
    SequenceFormat,
    StarFormat,
    StructuralTag,
    TagFormat,
    TriggeredTagsFormat,
)

Ends = tuple[str, ...]


def tag_accepts(tag: StructuralTag, text: str) -> bool:
    """Whether the whole of `text` is an output of `tag`."""
    return len(text) in stops(tag.format, text, 0, ())


def stops(format: Format, text: str, start: int, ends: Ends) -> set[int]:
    """Where `format` can stop if it starts at `start` and `ends` may follow it."""
    match format:
        case ConstStringFormat(value=value):
            return {start + len(value)} if text.startswith(value, start) else set()
        case AnyTextFormat(excludes=excludes):
            return set(_free(text, start, (*excludes, *ends)))
        case SequenceFormat(elements=elements):
            found = {start}
            for index, element in enumerate(elements):
                after = ends if index == len(elements) - 1 else ()
                found = {stop for here in found for stop in stops(element, text, here, after)}
            return found
        case OrFormat(elements=elements):
            return {stop for element in elements for stop in stops(element, text, start, ends)}
        case OptionalFormat(content=content):
            return {start} | stops(content, text, start, ends)
        case PlusFormat(content=content):
            return _repeated(content, text, start, ends, 1, len(text) + 1)
        case StarFormat(content=content):
            return _repeated(content, text, start, ends, 0, len(text) + 1)
        case RepeatFormat(content=content, min=low, max=high):
            return _repeated(content, text, start, ends, low, len(text) + low if high < 0 else high)
        case TagFormat() as tag:
            return _tag(tag, text, start, ends)
        case TriggeredTagsFormat() as triggered:
            return _triggered(triggered, text, start, ends)
    raise AssertionError(f"no reference for {format.type}")


def _free(text: str, start: int, banned: Ends) -> Iterator[int]:
    for stop in range(start, len(text) + 1):
        if any(word in text[start:stop] for word in banned):
            return
        yield stop


def _repeated(content: Format, text: str, start: int, ends: Ends, low: int, high: int) -> set[int]:
    if isinstance(content, AnyTextFormat):
        return stops(content, text, start, ends) if high else {start}
    found, reached = set(), {start}
    for count in range(min(high, len(text) + low) + 1):
        if count >= low:
            found |= reached
        reached = {stop for here in reached for stop in stops(content, text, here, ends)}
    return found


def _tag(tag: TagFormat, text: str, start: int, ends: Ends) -> set[int]:
    if not text.startswith(tag.begin, start):
        return set()
    own = tuple(end for end in tag.ends if end)
    inner = own + ends if "" in tag.ends else own
    found = set()
    for stop in stops(tag.content, text, start + len(tag.begin), inner):
        found |= {stop + len(end) for end in tag.ends if text.startswith(end, stop)}
    return found


def _triggered(
    format: TriggeredTagsFormat, text: str, start: int, ends: Ends, is_first: bool = True
) -> set[int]:
    found: set[int] = set()
    banned = (*format.excludes, *ends)
    must_begin = format.at_least_one and is_first
    if not must_begin:
        found |= set(_free(text, start, (*format.triggers, *banned)))
    for here in range(start, len(text) + 1):
        if must_begin and here > start:
            break
        for tag in format.tags:
            trigger = next(t for t in format.triggers if tag.begin.startswith(t))
            seen = text[start : here + len(trigger)]
            is_earliest = not any(t in seen[:-1] for t in format.triggers)
            if not must_begin and (not is_earliest or any(word in seen for word in banned)):
                continue
            for stop in _tag(tag, text, here, ends):
                if format.stop_after_first or _runs_on(tag):
                    found.add(stop)
                else:
                    found |= _triggered(format, text, stop, ends, is_first=False)
    return found


def _runs_on(tag: TagFormat) -> bool:
    """Whether the tag can end in free text that nothing stops."""
    return "" in tag.ends and _ends_free(tag.content)


def _ends_free(format: Format) -> bool:
    match format:
        case AnyTextFormat():
            return True
        case SequenceFormat(elements=elements):
            return _ends_free(elements[-1])
        case OrFormat(elements=elements):
            return any(map(_ends_free, elements))
        case TagFormat() as tag:
            return _runs_on(tag)
        case TriggeredTagsFormat(tags=tags) as triggered:
            only_tags = triggered.at_least_one and triggered.stop_after_first
            return not only_tags or any(map(_ends_free, tags))
        case ConstStringFormat():
            return False
        case _:
            return _ends_free(format.content)
