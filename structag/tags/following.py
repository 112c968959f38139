"""What may come after each part of a format: where a region without an end of its own stops.

A *region* is free text or a run of any tokens.  At the very end of a tag's content it stops at that
tag's end (the nearest one that is not empty); at the end of the document nothing stops it; before
anything else it has to be bounded, or exclude whatever can come next.  `check` refuses the rest.
`check` and `lower` both walk a format along `parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from structag.tags.model import (
    AnyTextFormat,
    AnyTokensFormat,
    ConstStringFormat,
    DispatchFormat,
    ExcludeTokenFormat,
    Format,
    GrammarFormat,
    JSONSchemaFormat,
    Marker,
    OptionalFormat,
    OrFormat,
    PlusFormat,
    RegexFormat,
    RepeatFormat,
    SequenceFormat,
    StarFormat,
    TagFormat,
    TagsWithSeparatorFormat,
    TokenDispatchFormat,
    TokenFormat,
    TokenTriggeredTagsFormat,
    TriggeredTagsFormat,
)
from structag.tags.walk import join_pointer


class Following(NamedTuple):
    """What comes directly after a format.

    Attributes:
        ends: the end markers that may come next; regions stop at any of them.
        blocker: JSON pointer of something that may come next without being an end, so that a
            region cannot tell where to stop; ``None`` if there is no such thing.
        starts: the markers that `blocker` begins with; ``None`` if they are not known.
    """

    ends: tuple[Marker, ...] = ()
    blocker: str | None = None
    starts: tuple[Marker, ...] | None = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The ends that are texts."""
        return tuple(end for end in self.ends if isinstance(end, str))

    @property
    def tokens(self) -> tuple[TokenFormat, ...]:
        """The ends that are tokens."""
        return tuple(end for end in self.ends if not isinstance(end, str))

    def __or__(self, other: Following) -> Following:
        """What comes next if either may."""
        known = self.starts is not None and other.starts is not None
        return Following(
            tuple(dict.fromkeys(self.ends + other.ends)),
            self.blocker if self.blocker is not None else other.blocker,
            (self.starts or ()) + (other.starts or ()) if known else None,
        )


END_OF_OUTPUT = Following()
_LEAVES = frozenset(
    (
        ConstStringFormat,
        RegexFormat,
        GrammarFormat,
        JSONSchemaFormat,
        AnyTextFormat,
        TokenFormat,
        ExcludeTokenFormat,
        AnyTokensFormat,
    )
)


class Part(NamedTuple):
    """A format inside another: itself, its JSON pointer, what comes after it."""

    format: Format
    pointer: str
    following: Following


def parts(outer: Part, skips: Callable[[Format], bool] = lambda format: False) -> Iterator[Part]:
    """The formats directly inside `outer`, in the order of the document.

    Tags in a list of tags for which `skips` holds are left out.
    """
    format, pointer, following = outer
    if type(format) in _LEAVES:
        return
    match format:
        case SequenceFormat(elements=elements):
            last = len(elements) - 1
            for index, element in enumerate(elements):
                here = join_pointer(pointer, "elements", index)
                after = following if index == last else _before(elements[index + 1], pointer, index)
                yield Part(element, here, after)
        case OrFormat(elements=elements):
            for index, element in enumerate(elements):
                yield Part(element, join_pointer(pointer, "elements", index), following)
        case OptionalFormat(content=content):
            yield Part(content, join_pointer(pointer, "content"), following)
        case PlusFormat(content=content) | StarFormat(content=content):
            yield _repeated(content, pointer, following)
        case RepeatFormat(content=content, max=0 | 1):
            yield Part(content, join_pointer(pointer, "content"), following)
        case RepeatFormat(content=content):
            yield _repeated(content, pointer, following)
        case TagFormat(content=content):
            ends = format.ends
            own = Following(tuple(end for end in ends if end))
            after = own | following if "" in ends else own
            yield Part(content, join_pointer(pointer, "content"), after)
        case TagsWithSeparatorFormat(tags=tags):
            after = following if format.stop_after_first else _next_tag(format, pointer) | following
            here = join_pointer(pointer, "tags")
            for index, tag in enumerate(tags):
                if not skips(tag):
                    yield Part(tag, f"{here}/{index}", after)
        case TriggeredTagsFormat(tags=tags) | TokenTriggeredTagsFormat(tags=tags):
            here = join_pointer(pointer, "tags")
            for index, tag in enumerate(tags):
                if not skips(tag):
                    yield Part(tag, f"{here}/{index}", following)
        case DispatchFormat(rules=rules) | TokenDispatchFormat(rules=rules):
            for index, (_, content) in enumerate(rules):
                yield Part(content, join_pointer(pointer, "rules", index, 1), following)


def has_region(format: TriggeredTagsFormat | TokenTriggeredTagsFormat) -> bool:
    """Whether there may be anything outside the tags."""
    return not (format.at_least_one and format.stop_after_first)


def is_unbounded(format: Format) -> bool:
    """Whether `format` is nothing but a region without a bound; repeated, it is still just that."""
    match format:
        case AnyTextFormat(max_tokens=None, max_chars=None) | AnyTokensFormat(max_tokens=None):
            return True
        case _:
            return False


def is_open(format: Format) -> bool:
    """Whether `format` may end in an unbounded region that no end marker of its own stops."""
    pending = [format]
    while pending:
        match pending.pop():
            case AnyTextFormat() | AnyTokensFormat() as region:
                if is_unbounded(region):
                    return True
            case TriggeredTagsFormat() | TokenTriggeredTagsFormat() as triggered:
                if has_region(triggered):
                    return True
                pending.extend(triggered.tags)
            case DispatchFormat() | TokenDispatchFormat():
                return True
            case TagFormat(content=content) as tag:
                if "" in tag.ends:
                    pending.append(content)
            case SequenceFormat(elements=elements):
                pending.append(elements[-1])
            case OrFormat(elements=elements):
                pending.extend(elements)
            case TagsWithSeparatorFormat(tags=tags):
                pending.extend(tags)
            case (
                OptionalFormat(content=content)
                | PlusFormat(content=content)
                | StarFormat(content=content)
                | RepeatFormat(content=content)
            ):
                pending.append(content)
    return False


def is_self_contained(format: Format) -> bool:
    """Whether `format` is a tag between texts whose content nothing outside of it bears on."""
    return (
        type(format) is TagFormat
        and type(format.content) in _WITHOUT_REGIONS
        and type(format.begin) is str
        and type(format.end) is str
    )


_WITHOUT_REGIONS = frozenset((ConstStringFormat, GrammarFormat, JSONSchemaFormat, RegexFormat))
"""Leaves that are no region and name no token."""


def starts(format: Format) -> tuple[Marker, ...] | None:
    """The markers one of which `format` begins with; None if that is not sure."""
    found: list[Marker] = []
    pending = [format]
    while pending:
        match pending.pop():
            case ConstStringFormat(value=text) if text:
                found.append(text)
            case TokenFormat() as token:
                found.append(token)
            case TagFormat(begin=begin) if begin:
                found.append(begin)
            case TagFormat(content=content) | PlusFormat(content=content):
                pending.append(content)
            case RepeatFormat(content=content, min=low) if low > 0:
                pending.append(content)
            case SequenceFormat(elements=elements):
                pending.append(elements[0])
            case OrFormat(elements=elements):
                pending.extend(elements)
            case (
                TriggeredTagsFormat(tags=tags, at_least_one=True)
                | TokenTriggeredTagsFormat(tags=tags, at_least_one=True)
                | TagsWithSeparatorFormat(tags=tags, at_least_one=True)
            ):
                pending.extend(tags)
            case _:
                return None
    return tuple(dict.fromkeys(found))


def _before(element: Format, pointer: str, index: int) -> Following:
    return Following((), join_pointer(pointer, "elements", index + 1), starts(element))


def _repeated(content: Format, pointer: str, following: Following) -> Part:
    # An unbounded region repeated is that region; anything else is followed by itself.
    if not is_unbounded(content):
        following = Following((), pointer, starts(content)) | following
    return Part(content, join_pointer(pointer, "content"), following)


def _next_tag(format: TagsWithSeparatorFormat, pointer: str) -> Following:
    if format.separator:
        return Following((format.separator,))
    return Following((), pointer, starts(OrFormat(elements=format.tags)))
