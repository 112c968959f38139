"""What may come after each part of a format: the end markers at which its free text stops.

Free text at the very end of a tag's content stops at that tag's end (the nearest one that is not
empty); at the end of the document it is not stopped at all; anywhere else nothing tells where it
stops, which `check` refuses.  `check` and `lower` both walk a format along `parts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from structag.tags.model import (
    AnyTextFormat,
    Format,
    OptionalFormat,
    OrFormat,
    PlusFormat,
    RepeatFormat,
    SequenceFormat,
    StarFormat,
    TagFormat,
    TriggeredTagsFormat,
)
from structag.tags.walk import join_pointer


class Following(NamedTuple):
    """What comes directly after a format.

    Attributes:
        ends: the end markers that may come next; free text stops at any of them.
        blocker: JSON pointer of something that may come next without a marker before it, so that
            free text cannot tell where to stop; ``None`` if there is no such thing.
    """

    ends: tuple[str, ...]
    blocker: str | None


END_OF_OUTPUT = Following((), None)


class Part(NamedTuple):
    """A format inside another: itself, its JSON pointer, what comes after it."""

    format: Format
    pointer: str
    following: Following


def parts(outer: Part) -> Iterator[Part]:
    """The formats directly inside `outer`, in the order of the document."""
    format, pointer, following = outer
    match format:
        case SequenceFormat(elements=elements):
            last = len(elements) - 1
            for index, element in enumerate(elements):
                here = join_pointer(pointer, "elements", index)
                after = Following((), join_pointer(pointer, "elements", index + 1))
                yield Part(element, here, following if index == last else after)
        case OrFormat(elements=elements):
            for index, element in enumerate(elements):
                yield Part(element, join_pointer(pointer, "elements", index), following)
        case OptionalFormat(content=content):
            yield Part(content, join_pointer(pointer, "content"), following)
        case PlusFormat(content=content) | StarFormat(content=content):
            yield _repeated(content, pointer, following)
        case RepeatFormat(content=content, max=1):
            yield Part(content, join_pointer(pointer, "content"), following)
        case RepeatFormat(content=content):
            yield _repeated(content, pointer, following)
        case TagFormat(content=content):
            ends = tuple(end for end in format.ends if end)
            if len(ends) < len(format.ends):
                after = Following(ends + following.ends, following.blocker)
            else:
                after = Following(ends, None)
            yield Part(content, join_pointer(pointer, "content"), after)
        case TriggeredTagsFormat(tags=tags):
            for index, tag in enumerate(tags):
                yield Part(tag, join_pointer(pointer, "tags", index), following)


def has_free_text(format: TriggeredTagsFormat) -> bool:
    """Whether there may be free text outside the tags."""
    return not (format.at_least_one and format.stop_after_first)


def is_open(format: Format) -> bool:
    """Whether `format` may end in free text that no end marker of its own stops."""
    pending = [format]
    while pending:
        match pending.pop():
            case AnyTextFormat():
                return True
            case TriggeredTagsFormat() as triggered:
                if has_free_text(triggered):
                    return True
                pending.extend(triggered.tags)
            case TagFormat(content=content) as tag:
                if "" in tag.ends:
                    pending.append(content)
            case SequenceFormat(elements=elements):
                pending.append(elements[-1])
            case OrFormat(elements=elements):
                pending.extend(elements)
            case (
                OptionalFormat(content=content)
                | PlusFormat(content=content)
                | StarFormat(content=content)
                | RepeatFormat(content=content)
            ):
                pending.append(content)
    return False


def _repeated(content: Format, pointer: str, following: Following) -> Part:
    # Free text repeated is free text; anything else that ends in free text is followed by itself.
    after = following if isinstance(content, AnyTextFormat) else Following((), pointer)
    return Part(content, join_pointer(pointer, "content"), after)
