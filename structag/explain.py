"""Why: what is expected at a place and by which part of the source, and what becomes of a token.

Everything is read off a matcher, so that an explanation cannot disagree with the mask.  Which part
of the source speaks is known if the compiler kept origins (``Compiler(vocabulary, origins=True)``).

    >>> from structag import Compiler, Vocabulary
    >>> grammar = Compiler(Vocabulary.byte_level(), origins=True).compile_json_schema(
    ...     {"type": "array", "items": {"type": "boolean"}})
    >>> stop = explain_text(grammar, b"[true, maybe]")
    >>> stop.matched, stop.place.words
    (7, '`false`, `true` or whitespace')
    >>> stop.place.parts[-1].trail
    ('#', '#/items')
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from structag.matcher import Expectation, Matcher
from structag.vocabulary import TokenKind
from structag.words import joined, name_bytes, quoted

if TYPE_CHECKING:
    from structag.compiled import CompiledGrammar

Trail = tuple[str, ...]
"""Where something stands in the source, from the outside in: see `GrammarBuilder.origin`."""

MOST_NAMED = 4
"""Fixed strings, and tokens that are read by their id, which are named one by one."""


class Part(NamedTuple):
    """What one part of the source expects.

    Attributes:
        trail: which part it is.
        bytes: the bytes that it may begin with.
        token_ids: the tokens that are read by their id.
        words: all that in words.
    """

    trail: Trail
    bytes: frozenset[int]
    token_ids: tuple[int, ...]
    words: str

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "trail": list(self.trail),
            "expected": self.words,
            "bytes": sorted(self.bytes),
            "token_ids": list(self.token_ids),
        }


class Place(NamedTuple):
    """What may come where a matcher is.

    Attributes:
        bytes: the bytes that may come next: those that the tokens of the mask begin with.
        may_end: whether the output may end here.
        forced: the text that must come next, if there is no choice.
        parts: the same by the part of the source that expects it, the innermost last.
        words: what is expected, in words.
    """

    bytes: frozenset[int]
    may_end: bool
    forced: str
    parts: tuple[Part, ...]
    words: str

    @property
    def trail(self) -> Trail:
        """The part of the source that everything here belongs to."""
        return _common([part.trail for part in self.parts])

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "expected": self.words,
            "allowed_bytes": sorted(self.bytes),
            "may_end": self.may_end,
            "forced": self.forced,
            "parts": [part.to_json() for part in self.parts],
        }


class Stop(NamedTuple):
    """How far a text goes.

    Attributes:
        matched: how many of its bytes were taken.
        accepted: whether all were, and the output may end there.
        place: what is expected after them.
    """

    matched: int
    accepted: bool
    place: Place


class Reason(Enum):
    """Why a token is allowed or not; the value says it in words."""

    BYTES = "its bytes fit"
    ID = "it is expected by its id"
    END = "the output may end here"
    DIES = "a byte does not fit"
    NO_TOKEN = "there is no such token"
    CONTROL = "a control token is no text, and none is expected by its id here"
    TOO_EARLY = "the output may not end here"
    ENDED = "the output has ended"
    NO_WAY_ON = "its bytes fit, but the vocabulary has no token to go on with"
    BUDGET = "its bytes fit as text, but no token is left in the budget of the region"


class Byte(NamedTuple):
    """One byte of a token: what was expected, and whether it was that."""

    value: int
    fits: bool
    place: Place


class Verdict(NamedTuple):
    """What becomes of a token.

    Attributes:
        token_id: which token.
        data: its bytes.
        allowed: whether the matcher takes it.
        reason: why, or why not.
        steps: its bytes, up to the one that does not fit.
        after: what is expected after it; None if it is not allowed, or ended the output.
    """

    token_id: int
    data: bytes
    allowed: bool
    reason: Reason
    steps: tuple[Byte, ...]
    after: Place | None


def explain_place(matcher: Matcher, before: bytes = b"") -> Place:
    """What may come where `matcher` is; `before`, the text so far, tells which fixed strings have
    begun."""
    allowed, may_end = matcher.allowed_bytes(), matcher.is_completed()
    forced = matcher.find_jump_forward_string()
    expectations = matcher.expectations()
    parts = _parts(matcher, expectations, before)
    if len(forced) > 1:
        words = quoted(forced) + _begun(matcher, expectations, before)
    else:
        named = _words(matcher, expectations, before)
        words = joined([*named, "the end"] if may_end else named)
    return Place(allowed, may_end, forced, parts, words)


def explain_text(grammar: CompiledGrammar, data: bytes) -> Stop:
    """Match `data` from the start, as far as it goes."""
    matcher = Matcher(grammar)
    matched = advance(matcher, data)
    place = explain_place(matcher, data[:matched])
    return Stop(matched, place.may_end and matched == len(data), place)


def advance(matcher: Matcher, data: bytes) -> int:
    """Let `matcher` take `data` as far as it goes; how many bytes that are."""
    if matcher.accept_bytes(data):
        return len(data)
    taken = 0
    size = len(data)
    while size:  # halves, so that long texts cost few calls
        size = min((size + 1) // 2, len(data) - taken)
        if matcher.accept_bytes(data[taken : taken + size]):
            taken += size
        elif size == 1:
            break
    return taken


def explain_token(matcher: Matcher, token_id: int, before: bytes = b"") -> Verdict:
    """What `matcher` does with a token, byte by byte; changes nothing."""
    vocabulary = matcher.grammar.vocabulary
    known = 0 <= token_id < vocabulary.size
    data = vocabulary.token_bytes(token_id) if known else b""
    after = matcher.fork()
    allowed = after.accept_token(token_id)
    steps = _steps(matcher, data, before)
    reason = _reason(matcher, token_id if known else None, allowed, steps)
    goes_on = allowed and not after.is_terminated()
    place = explain_place(after, before + data) if goes_on else None
    return Verdict(token_id, data, allowed, reason, steps, place)


def _steps(matcher: Matcher, data: bytes, before: bytes) -> tuple[Byte, ...]:
    if matcher.is_terminated():
        return ()
    walker = matcher.fork()
    steps = []
    for index, value in enumerate(data):
        place = explain_place(walker, before + data[:index])
        fits = walker.accept_bytes(bytes([value]))
        steps.append(Byte(value, fits, place))
        if not fits:
            break
    return tuple(steps)


def _reason(
    matcher: Matcher, token_id: int | None, allowed: bool, steps: tuple[Byte, ...]
) -> Reason:
    vocabulary = matcher.grammar.vocabulary
    if token_id is None or vocabulary.token_kind(token_id) is TokenKind.UNUSED:
        return Reason.NO_TOKEN
    by_id = any(token_id in e.token_ids for e in matcher.expectations())
    is_stop = token_id in matcher.stop_token_ids
    if allowed:
        if is_stop and not by_id:
            return Reason.END
        if steps and all(step.fits for step in steps) and not is_stop:
            return Reason.BYTES
        return Reason.ID
    if matcher.is_terminated():
        return Reason.ENDED
    if is_stop:
        return Reason.TOO_EARLY
    if steps and not steps[-1].fits:
        return Reason.DIES
    if not steps and not by_id:
        return Reason.CONTROL
    return Reason.NO_WAY_ON if matcher.grammar.native.looks_ahead else Reason.BUDGET


# -- the parts of a place


def _parts(
    matcher: Matcher, expectations: Iterable[Expectation], before: bytes
) -> tuple[Part, ...]:
    by_trail: dict[Trail, list[Expectation]] = {}
    for expectation in expectations:
        if expectation.bytes or expectation.token_ids:
            for trail in expectation.trails:
                by_trail.setdefault(trail, []).append(expectation)
    parts = []
    for trail in sorted(by_trail, key=lambda trail: (len(trail), trail)):
        some = by_trail[trail]
        allowed = frozenset().union(*(e.bytes for e in some))
        ids = tuple(sorted({token for e in some for token in e.token_ids}))
        parts.append(Part(trail, allowed, ids, joined(_words(matcher, some, before))))
    return tuple(parts)


def _words(matcher: Matcher, some: list[Expectation], before: bytes) -> list[str]:
    """A few fixed strings as they are; bytes, and tokens by their id, in groups."""
    fixed = {e.rest for e in some if len(e.rest) > 1}
    loose: frozenset[int] = frozenset().union(*(e.bytes for e in some if len(e.rest) <= 1))
    fixed = {rest for rest in fixed if rest[0] not in loose}
    if len(fixed) > MOST_NAMED:
        loose |= {rest[0] for rest in fixed}
        fixed = set()
    words = [quoted(rest) + _whole(matcher, rest, before) for rest in sorted(fixed)]
    ids = sorted({token for e in some for token in e.token_ids})
    return [*words, *name_bytes(loose), *_token_names(matcher, ids)]


def _token_names(matcher: Matcher, known: list[int]) -> list[str]:
    if len(known) > MOST_NAMED:
        return [f"one of {len(known):,} tokens"]
    return [f"the token {quoted(matcher.grammar.vocabulary.token_name(i))}" for i in known]


def _begun(matcher: Matcher, expectations: list[Expectation], before: bytes) -> str:
    return _whole(matcher, expectations[0].rest, before) if len(expectations) == 1 else ""


def _whole(matcher: Matcher, rest: bytes, before: bytes) -> str:
    """Of which fixed string `rest` is the rest: the longest that `before` can have begun."""
    if not rest:
        return ""
    best = b""
    strings, mirrored = matcher.grammar.mirrored_strings, rest[::-1]
    for string in islice(strings, bisect_left(strings, mirrored), None):
        if not string.startswith(mirrored):
            break
        whole = string[::-1]
        if len(whole) > max(len(rest), len(best)) and before.endswith(whole[: -len(rest)]):
            best = whole
    return f", the rest of {quoted(best)}" if best else ""


def _common(trails: list[Trail]) -> Trail:
    """What all of `trails` begin with."""
    if not trails:
        return ()
    first, last = min(trails), max(trails)
    size = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first[: min(len(first), len(last)) if size is None else size]
