"""What a structural tag accepts, straight from the language reference, by searching the output.

`tag_accepts` knows the formats without schemas, patterns and grammars.  It works on the output
itself, not on the grammar, so that it can contradict `structag.tags.lower`.

An output is read as *symbols*: a character, or the id of a token that is taken as a whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from structag.tags.model import (
    AnyTextFormat,
    AnyTokensFormat,
    ConstStringFormat,
    DispatchFormat,
    ExcludeTokenFormat,
    Format,
    Marker,
    OptionalFormat,
    OrFormat,
    PlusFormat,
    RepeatFormat,
    SequenceFormat,
    StarFormat,
    StructuralTag,
    TagFormat,
    TagsWithSeparatorFormat,
    TokenDispatchFormat,
    TokenFormat,
    TokenRef,
    TokenTriggeredTagsFormat,
    TriggeredTagsFormat,
)

Ends = tuple[Marker, ...]
Stops = set[int]


class Tokens(NamedTuple):
    """What there is to know of a vocabulary: the text of each token, and what is special.

    `texts` are by id; those of `control` tokens are never part of an output's text.
    """

    texts: Sequence[str] = ()
    control: frozenset[int] = frozenset()
    stop: frozenset[int] = frozenset()
    added: frozenset[int] = frozenset()

    def id_of(self, token: TokenRef) -> int:
        return token if isinstance(token, int) else list(self.texts).index(token)

    def readings(self, token_ids: Sequence[int]) -> Iterator[Output]:
        """Every way to read tokens: each as its characters or as its id."""
        choices = [
            [(token,)] if token in self.control else [tuple(self.texts[token]), (token,)]
            for token in token_ids
        ]
        for chosen in itertools.product(*choices):
            starts = [i == 0 for piece in chosen for i in range(len(piece))]
            yield Output(tuple(itertools.chain(*chosen)), tuple(starts), self)


class Output(NamedTuple):
    """Symbols, and whether each begins a token."""

    symbols: tuple[str | int, ...]
    begins: tuple[bool, ...]
    tokens: Tokens

    def text(self, start: int, stop: int) -> str | None:
        """The text of a stretch, None if there is a whole token in it."""
        piece = self.symbols[start:stop]
        return None if any(isinstance(s, int) for s in piece) else "".join(map(str, piece))


def tag_accepts(tag: StructuralTag, text: str) -> bool:
    """Whether the whole of `text` is an output of `tag`."""
    output = Output(tuple(text), (False,) * len(text), Tokens())
    return len(text) in _Reference(tag).stops(tag.format, output, 0, ())


def tag_accepts_tokens(tag: StructuralTag, tokens: Tokens, token_ids: Sequence[int]) -> bool:
    """Whether some reading of the tokens is an output of `tag`."""
    reference = _Reference(tag)
    return any(
        len(output.symbols) in reference.stops(tag.format, output, 0, ())
        for output in tokens.readings(token_ids)
    )


class _Reference:
    def __init__(self, tag: StructuralTag) -> None:
        self.required = tag.marker_tokens

    def stops(self, format: Format, output: Output, start: int, ends: Ends) -> Stops:
        """Where `format` can stop if it starts at `start` and `ends` may follow it."""
        match format:
            case ConstStringFormat(value=value):
                return self.marker(value, output, start)
            case TokenFormat():
                return self.marker(format, output, start)
            case ExcludeTokenFormat(exclude_tokens=excludes):
                end_tokens = tuple(end for end in ends if not isinstance(end, str))
                return {start + 1} & set(_run(output, start, excludes, end_tokens))
            case AnyTextFormat(excludes=excludes):
                found = set(_free(output, start, (*excludes, *ends)))
                return _bounded(output, start, found, format.max_tokens, format.max_chars)
            case AnyTokensFormat(exclude_tokens=excludes):
                found = set(_run(output, start, excludes, ends))
                return _bounded(output, start, found, format.max_tokens, None)
            case SequenceFormat(elements=elements):
                found = {start}
                for index, element in enumerate(elements):
                    after = ends if index == len(elements) - 1 else ()
                    found = {s for here in found for s in self.stops(element, output, here, after)}
                return found
            case OrFormat(elements=elements):
                return {s for part in elements for s in self.stops(part, output, start, ends)}
            case OptionalFormat(content=content):
                return {start} | self.stops(content, output, start, ends)
            case PlusFormat(content=content):
                return self.repeated(content, output, start, ends, 1, None)
            case StarFormat(content=content):
                return self.repeated(content, output, start, ends, 0, None)
            case RepeatFormat(content=content, min=low, max=high):
                return self.repeated(content, output, start, ends, low, high if high >= 0 else None)
            case TagFormat() as tag:
                return self.tag(tag, output, start, ends)
            case TagsWithSeparatorFormat() as separated:
                return self.separated(separated, output, start, ends)
            case TriggeredTagsFormat() | TokenTriggeredTagsFormat() as triggered:
                return self.dispatched(_Loop.of(triggered), output, start, ends)
            case DispatchFormat() | TokenDispatchFormat() as dispatch:
                return self.dispatched(_Loop.of(dispatch), output, start, ends)
        raise AssertionError(f"no reference for {format.type}")

    def marker(self, marker: Marker, output: Output, start: int) -> Stops:
        """Where a marker can stop, spelled with characters and tokens."""
        if isinstance(marker, TokenFormat):
            is_there = output.symbols[start : start + 1] == (output.tokens.id_of(marker.token),)
            return {start + 1} if is_there else set()
        tokens, required = output.tokens, self.places_of_tokens(marker, output.tokens)
        reached = {(start, 0)}
        found: Stops = set()
        while reached:
            here, done = reached.pop()
            if done == len(marker):
                found.add(here)
            if here == len(output.symbols) or done == len(marker):
                continue
            symbol = output.symbols[here]
            inside = any(low <= done < high for low, high in required)
            if isinstance(symbol, str):
                if symbol == marker[done] and not inside:
                    reached.add((here + 1, done + 1))
                continue
            text = tokens.texts[symbol]
            span = (done, done + len(text))
            is_free = all(span[1] <= low or high <= span[0] for low, high in required)
            is_special = is_free and symbol in tokens.control
            if marker.startswith(text, done) and text and (is_special or span in required):
                reached.add((here + 1, span[1]))
        return found

    def places_of_tokens(self, marker: str, tokens: Tokens) -> list[tuple[int, int]]:
        """Where tokens are required: from the left, the longest."""
        known = [tokens.texts[i] for i in tokens.added if tokens.texts[i] in self.required]
        found, place = [], 0
        while place < len(marker):
            here = [text for text in known if marker.startswith(text, place)]
            length = max(map(len, here), default=0)
            if length:
                found.append((place, place + length))
            place += length or 1
        return found

    def repeated(
        self, content: Format, output: Output, start: int, ends: Ends, low: int, high: int | None
    ) -> Stops:
        if _is_unbounded(content):
            return {start} if high == 0 else self.stops(content, output, start, ends)
        found, reached = set(), {start}
        most = len(output.symbols) + low + 1
        for count in range((most if high is None else min(high, most)) + 1):
            if count >= low:
                found |= reached
            reached = {s for here in reached for s in self.stops(content, output, here, ends)}
        return found

    def tag(
        self, tag: TagFormat, output: Output, start: int, ends: Ends, begin: bool = True
    ) -> Stops:
        own = tuple(end for end in tag.ends if end)
        inner = own + ends if "" in tag.ends else own
        found: Stops = set()
        for here in self.marker(tag.begin, output, start) if begin else {start}:
            for stop in self.stops(tag.content, output, here, inner):
                for end in tag.ends:
                    found |= self.marker(end, output, stop)
        return found

    def separated(
        self, format: TagsWithSeparatorFormat, output: Output, start: int, ends: Ends
    ) -> Stops:
        once = format.stop_after_first
        after = ends if once or not format.separator else (format.separator, *ends)
        found: Stops = set() if format.at_least_one else {start}
        seen: Stops = set()
        reached = {start}
        while reached - seen:
            seen |= reached
            one = {s for h in reached for t in format.tags for s in self.tag(t, output, h, after)}
            found |= one
            if once:
                break
            reached = {s for here in one for s in self.marker(format.separator, output, here)}
        return found

    def dispatched(
        self, loop: _Loop, output: Output, start: int, ends: Ends, is_first: bool = True
    ) -> Stops:
        found: Stops = set()
        must_begin = loop.at_least_one and is_first
        triggers = tuple(loop.triggers)
        if not must_begin:
            if loop.of_tokens:
                found |= set(_run(output, start, (*triggers, *loop.excludes), ends))
            else:
                found |= set(_free(output, start, (*triggers, *loop.excludes, *ends)))
        for here in range(start, len(output.symbols) + 1):
            if must_begin and here > start:
                break
            for trigger, case in loop.cases:
                if not must_begin and not self.may_trigger(
                    loop, trigger, output, start, here, ends
                ):
                    continue
                for stop in self.case(trigger, loop.of_tokens, case, output, here, ends):
                    if loop.once or _ends_open(case):
                        found.add(stop)
                    elif stop > start:
                        found |= self.dispatched(loop, output, stop, ends, is_first=False)
        return found

    def may_trigger(
        self, loop: _Loop, trigger: TokenRef, output: Output, start: int, here: int, ends: Ends
    ) -> bool:
        """Whether what stands between `start` and `here` may stand before `trigger`."""
        if loop.of_tokens:
            return here in _run(output, start, (*loop.triggers, *loop.excludes), ends)
        before = output.text(start, here)
        if before is None:
            return False
        seen = before + str(trigger)
        banned = (*loop.excludes, *_texts_of(ends, output.tokens))
        is_earliest = not any(str(other) in seen[:-1] for other in loop.triggers)
        return is_earliest and not any(str(word) in seen for word in banned)

    def case(
        self,
        trigger: TokenRef,
        of_tokens: bool,
        case: Format,
        output: Output,
        start: int,
        ends: Ends,
    ) -> Stops:
        """Where a trigger and what it leads to can stop."""
        if isinstance(case, TagFormat):  # its begin is the trigger, or starts with it
            return self.tag(case, output, start, ends)
        whole = TokenFormat(token=trigger) if of_tokens else str(trigger)
        found = self.marker(whole, output, start)
        return {stop for here in found for stop in self.stops(case, output, here, ends)}


class _Loop(NamedTuple):
    """The four formats in which triggers lead to cases, in one form."""

    triggers: Sequence[TokenRef]
    cases: Sequence[tuple[TokenRef, Format]]
    excludes: Sequence[TokenRef]
    of_tokens: bool
    at_least_one: bool
    once: bool

    @classmethod
    def of(cls, format: Format) -> _Loop:
        match format:
            case TriggeredTagsFormat(triggers=triggers, tags=tags):
                cases = [(next(t for t in triggers if tag.begin.startswith(t)), tag)
                         for tag in tags]  # fmt: skip
                return cls(triggers, cases, format.excludes, False,
                           format.at_least_one, format.stop_after_first)  # fmt: skip
            case TokenTriggeredTagsFormat(trigger_tokens=triggers, tags=tags):
                cases = [(tag.begin.token, tag) for tag in tags]
                return cls(triggers, cases, format.exclude_tokens, True,
                           format.at_least_one, format.stop_after_first)  # fmt: skip
            case DispatchFormat(rules=rules, excludes=excludes):
                wrapped = [(trigger, SequenceFormat(elements=[case])) for trigger, case in rules]
                return cls([t for t, _ in rules], wrapped, excludes, False, False, not format.loop)
            case TokenDispatchFormat(rules=rules, exclude_tokens=excludes):
                wrapped = [(trigger, SequenceFormat(elements=[case])) for trigger, case in rules]
                return cls([t for t, _ in rules], wrapped, excludes, True, False, not format.loop)
        raise AssertionError(format.type)


def _texts_of(markers: Ends, tokens: Tokens) -> list[str]:
    """The texts that must not occur where `markers` must not."""
    found = []
    for marker in markers:
        if isinstance(marker, str):
            found.append(marker)
        elif (token := tokens.id_of(marker.token)) not in tokens.control:
            found.append(tokens.texts[token])
    return found


def _free(output: Output, start: int, banned: Ends) -> Iterator[int]:
    words = _texts_of(banned, output.tokens)
    for stop in range(start, len(output.symbols) + 1):
        text = output.text(start, stop)
        if text is None or any(word in text for word in words):
            return
        yield stop


def _run(output: Output, start: int, excludes: Sequence[TokenRef], ends: Ends) -> Iterator[int]:
    """Where a run of tokens can stop; looked at as text too if it has to stop at a text."""
    tokens = output.tokens
    ids = {tokens.id_of(token) for token in excludes}
    ids |= {tokens.id_of(end.token) for end in ends if isinstance(end, TokenFormat)}
    texts = [end for end in ends if isinstance(end, str)]
    words = texts + [tokens.texts[i] for i in ids if i not in tokens.control] if texts else []
    piece = ""
    yield start
    for here in range(start, len(output.symbols)):
        symbol = output.symbols[here]
        if isinstance(symbol, str):
            piece += symbol
            if not texts or any(word in piece for word in words):
                return
        else:
            piece = ""
            if symbol in ids or symbol in tokens.stop:
                return
            if texts and symbol not in tokens.control:
                return
        yield here + 1


def _bounded(
    output: Output, start: int, found: Stops, max_tokens: int | None, max_chars: int | None
) -> Stops:
    return {
        stop
        for stop in found
        if (max_chars is None or stop - start <= max_chars)
        and (max_tokens is None or sum(output.begins[start:stop]) <= max_tokens)
    }


def _is_unbounded(format: Format) -> bool:
    if isinstance(format, AnyTextFormat):
        return format.max_tokens is None and format.max_chars is None
    return isinstance(format, AnyTokensFormat) and format.max_tokens is None


def _ends_open(format: Format) -> bool:
    """Whether a format can end in a region that nothing of its own stops."""
    match format:
        case AnyTextFormat() | AnyTokensFormat():
            return _is_unbounded(format)
        case SequenceFormat(elements=elements):
            return _ends_open(elements[-1])
        case OrFormat(elements=elements):
            return any(map(_ends_open, elements))
        case TagFormat() as tag:
            return "" in tag.ends and _ends_open(tag.content)
        case TagsWithSeparatorFormat(tags=tags):
            return any(map(_ends_open, tags))
        case TriggeredTagsFormat(tags=tags) | TokenTriggeredTagsFormat(tags=tags):
            only_tags = format.at_least_one and format.stop_after_first
            return not only_tags or any(map(_ends_open, tags))
        case DispatchFormat() | TokenDispatchFormat():
            return True
        case ConstStringFormat() | TokenFormat() | ExcludeTokenFormat():
            return False
        case _:
            return _ends_open(format.content)
