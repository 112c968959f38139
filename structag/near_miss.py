"""Near misses: members with one thing changed, which the format then refuses.

Each says what was changed, and how far the matcher takes it.  What is changed is what a model gets
wrong: a piece left out, said twice, in the wrong order, misspelled; the end missing, or passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from structag.matcher import Matcher
from structag.sample import MAX_BYTES, Piece, Sampler, is_whole, take

_TRIES = 40
_SHOWN = 30
_OTHERS = 'x0 "}{,<:\n'


class NearMiss(NamedTuple):
    """A negative.

    Attributes:
        pieces: the output, as in `Sample`.
        change: what was changed, in words.
        accepted: how many bytes of the text are taken (a token read by its id counts as one).
        is_short: whether all of it is taken, but may not end there.
        allowed: the bytes that may come where it stops.
        may_end: whether the output may end where it stops.
    """

    pieces: tuple[Piece, ...]
    change: str
    accepted: int
    is_short: bool
    allowed: frozenset[int]
    may_end: bool


def near_misses(sampler: Sampler, count: int, max_bytes: int = MAX_BYTES) -> Iterator[NearMiss]:
    """Up to `count` different negatives; fewer where hardly any change is refused.

    They may get longer than `max_bytes` by what was said twice.
    """
    seen: set[tuple[Piece, ...]] = set()
    for _ in range(_TRIES * count):
        if len(seen) == count:
            return
        found = _change(sampler, sampler.draw(max_bytes).pieces)
        if found is None or found[0] in seen:
            continue
        pieces, change = found
        miss = _refuse(sampler, pieces, change)
        if miss is not None:
            seen.add(pieces)
            yield miss


def _refuse(sampler: Sampler, pieces: tuple[Piece, ...], change: str) -> NearMiss | None:
    """`pieces` as a near miss, unless it is a whole output."""
    matcher = Matcher(sampler.compiled)
    accepted = 0
    for piece in pieces:
        parts: list[Piece] = [piece]
        if isinstance(piece, bytes):
            parts = [piece[i : i + 1] for i in range(len(piece))]
        for part in parts:
            if not take(matcher, part):
                allowed = matcher.allowed_bytes()
                return NearMiss(pieces, change, accepted, False, allowed, is_whole(matcher))
            accepted += 1
    if is_whole(matcher):
        return None
    return NearMiss(pieces, change, accepted, True, matcher.allowed_bytes(), False)


def _change(sampler: Sampler, pieces: tuple[Piece, ...]) -> tuple[tuple[Piece, ...], str] | None:
    """`pieces` with a random change, and the change in words; None if it would be none."""
    chance = sampler.chance
    kind = chance.choice(("drop", "double", "swap", "alter", "alter", "lose", "cut", "append"))
    if kind == "append":
        extra = chance.choice(_OTHERS)
        return _joined((*pieces, extra.encode())), f"{_quoted(extra.encode())} added at the end"
    if not pieces:
        return None
    place = chance.randrange(len(pieces))
    piece = pieces[place]
    before, after = pieces[:place], pieces[place + 1 :]
    if kind == "drop":
        return _joined((*before, *after)), f"{_quoted(piece)} left out"
    if kind == "double":
        return _joined((*before, piece, piece, *after)), f"{_quoted(piece)} said twice"
    if kind == "swap":
        if not after or after[0] == piece:
            return None
        change = f"{_quoted(piece)} and {_quoted(after[0])} swapped"
        return _joined((*before, after[0], piece, *after[1:])), change
    if not isinstance(piece, bytes) or not piece:
        return None
    text = piece.decode("utf-8", "surrogateescape")
    at = chance.randrange(len(text))
    start, char, rest = (
        part.encode("utf-8", "surrogateescape") for part in (text[:at], text[at], text[at + 1 :])
    )
    if kind == "cut":
        return _joined((*before, start)), f"cut short before {_quoted(char + rest)}"
    if kind == "lose":
        return _joined((*before, start + rest, *after)), f"{_of(char, piece)} lost"
    other = chance.choice(_OTHERS).encode()
    if other == char:
        return None
    change = f"{_of(char, piece)} changed to {_quoted(other)}"
    return _joined((*before, start + other + rest, *after)), change


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """`pieces`, neighbouring texts as one, so that equal outputs are equal."""
    whole: list[Piece] = []
    for piece in pieces:
        last = whole[-1] if whole else None
        if isinstance(piece, bytes) and isinstance(last, bytes):
            whole[-1] = last + piece
        elif piece != b"":
            whole.append(piece)
    return tuple(whole)


def _of(char: bytes, piece: bytes) -> str:
    return _quoted(char) if char == piece else f"{_quoted(char)} of {_quoted(piece)}"


def _quoted(piece: Piece) -> str:
    if isinstance(piece, int):
        return f"token {piece}"
    text = piece.decode("utf-8", "replace")
    return f"`{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}`"
