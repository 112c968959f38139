"""Code-point ranges → the byte sequences that spell them in UTF-8.

A set of characters becomes a `Utf8Tree`: the minimal deterministic tree of byte sets, at most four
levels deep, in which lead bytes with the same continuations share one branch.  ``U+0080–U+07FF``
is one branch, ``[C2-DF][80-BF]``; all of Unicode is nine sequences.  `utf8_sequences` is the same
tree written out as byte ranges.

The ranges are those of `Chars`: sorted, disjoint, without surrogates (see
`structag.grammar.builder.normalize_ranges`).  Encoding: RFC 3629, §3.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

CodePointRanges: TypeAlias = tuple[tuple[int, int], ...]
ByteRange: TypeAlias = tuple[int, int]

Utf8Tree: TypeAlias = "tuple[tuple[int, Utf8Tree], ...]"
"""Branches ``(set of bytes, what follows them)``; sets are 256-bit, disjoint and in order.

A leaf is followed by the empty tree ``()``.
"""

# (first, last code point, number of continuation bytes, what the lead byte adds to its digit)
_LENGTHS = (
    (0x0, 0x7F, 0, 0x00),
    (0x80, 0x7FF, 1, 0xC0),
    (0x800, 0xFFFF, 2, 0xE0),
    (0x10000, 0x10FFFF, 3, 0xF0),
)


@lru_cache(maxsize=4096)
def utf8_tree(ranges: CodePointRanges) -> Utf8Tree:
    """The byte tree of a set of characters; cached.

    >>> [(hex(lead), len(rest)) for lead, rest in utf8_tree(((0x41, 0x42), (0xE9, 0xE9)))]
    [('0x60000000000000000', 0), ('0x8000000000000000000000000000000000000000000000000', 1)]
    """
    branches: list[tuple[int, Utf8Tree]] = []
    for first, last, depth, base in _LENGTHS:
        part = [(max(a, first), min(b, last)) for a, b in ranges if a <= last and b >= first]
        if part:
            branches.extend(_branches(part, depth, base))
    return tuple(branches)


@lru_cache(maxsize=1024)
def utf8_sequences(ranges: CodePointRanges) -> tuple[tuple[ByteRange, ...], ...]:
    """The byte-range sequences of a set of characters: sorted, disjoint, as few as there can be.

    No two sequences overlap in their first ranges unless these are equal.  Cached.

    >>> utf8_sequences(((0x61, 0x7A), (0x3B1, 0x3C9)))
    (((97, 122),), ((206, 206), (177, 191)), ((207, 207), (128, 137)))
    """
    return tuple(sorted(_sequences(utf8_tree(ranges))))


def byte_ranges(members: int) -> list[ByteRange]:
    """The runs of a 256-bit set, in order.

    >>> byte_ranges(0b1101)
    [(0, 0), (2, 3)]
    """
    runs: list[ByteRange] = []
    offset = 0
    while members:
        skip = (members & -members).bit_length() - 1
        members >>= skip
        length = (~members & (members + 1)).bit_length() - 1
        offset += skip
        runs.append((offset, offset + length - 1))
        members >>= length
        offset += length
    return runs


def _branches(ranges: list[tuple[int, int]], depth: int, base: int) -> Utf8Tree:
    """The tree of `ranges` written with one lead digit and `depth` continuation digits."""
    if depth == 0:
        members = 0
        for low, high in ranges:
            members |= ((1 << (high - low + 1)) - 1) << (base + low)
        return ((members, ()),)
    shift = 6 * depth
    mask = (1 << shift) - 1
    whole = 0  # leads under which everything is in the set
    partial: dict[int, list[tuple[int, int]]] = {}
    for low, high in ranges:
        first, last = low >> shift, high >> shift
        if low & mask and (first < last or high & mask != mask):
            partial.setdefault(first, []).append(
                (low & mask, mask if first < last else high & mask)
            )
            first += 1
        elif low & mask:
            partial.setdefault(first, []).append((low & mask, mask))
            first += 1
        if first <= last and high & mask != mask:
            partial.setdefault(last, []).append((0, high & mask))
            last -= 1
        if first <= last:
            whole |= ((1 << (last - first + 1)) - 1) << (base + first)
    by_rest: dict[Utf8Tree, int] = {}
    if whole:
        by_rest[_everything(depth - 1)] = whole
    for lead, inner in partial.items():
        rest = _branches(inner, depth - 1, 0x80)
        by_rest[rest] = by_rest.get(rest, 0) | 1 << (base + lead)
    return tuple(sorted(((m, r) for r, m in by_rest.items()), key=lambda item: item[0] & -item[0]))


@lru_cache(maxsize=4)
def _everything(depth: int) -> Utf8Tree:
    rest: Utf8Tree = ()
    for _ in range(depth + 1):
        rest = ((((1 << 64) - 1) << 0x80, rest),)
    return rest


def _sequences(tree: Utf8Tree) -> list[tuple[ByteRange, ...]]:
    found: list[tuple[ByteRange, ...]] = []
    for members, rest in tree:
        tails = _sequences(rest) if rest else [()]
        for run in byte_ranges(members):
            found.extend((run, *tail) for tail in tails)
    return found
