"""Sets of code points as sorted, disjoint ranges: the algebra and the named classes of ECMA-262.

A set is a tuple of inclusive ``(low, high)`` pairs.  Surrogates may be members here (a pattern may
name them); they drop out when the set becomes an expression.  The Unicode properties come from
`charset_tables`, which is loaded when a pattern first asks for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate
from typing import TypeAlias

CharSet: TypeAlias = tuple[tuple[int, int], ...]

TOP = 0x10FFFF
ALL: CharSet = ((0, TOP),)
DIGITS: CharSet = ((0x30, 0x39),)
WORD: CharSet = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: CharSet = (
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
LINE_ENDS: CharSet = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))


def union(parts: Iterable[tuple[int, int]]) -> CharSet:
    """The ranges sorted and merged.

    >>> union([(5, 9), (1, 2), (3, 4), (8, 12)])
    ((1, 12),)
    """
    merged: list[tuple[int, int]] = []
    for low, high in sorted(parts):
        if merged and low <= merged[-1][1] + 1:
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return tuple(merged)


def negate(members: CharSet) -> CharSet:
    """Every code point that is not a member.

    >>> negate(((0, 5), (9, 0x10FFFF)))
    ((6, 8),)
    """
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in members:
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= TOP:
        gaps.append((start, TOP))
    return tuple(gaps)


def intersect(left: CharSet, right: CharSet) -> CharSet:
    """What belongs to both.

    >>> intersect(((0, 5), (9, 12)), ((4, 10),))
    ((4, 5), (9, 10))
    """
    common: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            common.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(common)


def subtract(left: CharSet, right: CharSet) -> CharSet:
    """The members of `left` that are not in `right`.

    >>> subtract(((0, 9),), ((4, 5),))
    ((0, 3), (6, 9))
    """
    return intersect(left, negate(right))


NOT_DIGITS = negate(DIGITS)
NOT_WORD = negate(WORD)
NOT_SPACE = negate(SPACE)
NOT_LINE_ENDS = negate(LINE_ENDS)

_PREFIXES = {
    "General_Category": "gc=", "gc": "gc=", "Script": "sc=", "sc": "sc=",
    "Script_Extensions": "scx=", "scx": "scx=",
}  # fmt: skip


@lru_cache(maxsize=512)
def property_set(name: str, value: str | None = None) -> CharSet | None:
    """The set of ``\\p{name}`` or ``\\p{name=value}``; None if ECMA-262 knows no such property.

    >>> property_set("Script", "Thaana")
    ((1920, 1969),)
    """
    from structag.text.charset_tables import ALIASES, SETS, STRINGS

    if value is None:
        if name in STRINGS or name == "RGI_Emoji":
            return None
        keys = [ALIASES.get(name, name), "gc=" + ALIASES.get("gc=" + name, name)]
    elif name in _PREFIXES:
        prefix = _PREFIXES[name]
        kind = "sc=" if prefix == "scx=" else prefix
        keys = [prefix + ALIASES.get(kind + value, value)]
        if prefix == "scx=":  # the table leaves out what is equal
            keys.append("sc=" + keys[0][4:])
    else:
        return None
    return next((_ranges(SETS[key]) for key in keys if key in SETS), None)


@cache
def string_property(name: str) -> tuple[CharSet, frozenset[str]] | None:
    """The characters and the longer strings of a property of strings (`v` flag), or None."""
    from structag.text.charset_tables import SETS, STRINGS

    names = STRINGS if name == "RGI_Emoji" else (name,)
    if not all(name in STRINGS for name in names):
        return None
    words = (word for name in names for word in STRINGS[name].split())
    return union(pair for name in names for pair in _ranges(SETS[name])), frozenset(words)


def _numbers(text: str) -> list[int]:
    return [int(word, 36) for word in text.split()]


def _ranges(text: str) -> CharSet:
    edges = list(accumulate(_numbers(text)))
    return tuple((low, end - 1) for low, end in zip(edges[::2], edges[1::2], strict=True))


@cache
def _canonical(is_legacy: bool) -> dict[int, int]:
    """ECMA-262 `Canonicalize`: by simple case folding; `is_legacy`: by upper case, without u or v.

    Code points that are their own canonical form are left out.
    """
    from structag.text.charset_tables import CASE_FOLDING, UPPER_CASE

    numbers = _numbers(UPPER_CASE if is_legacy else CASE_FOLDING)
    steps = zip(accumulate(numbers[::2]), numbers[1::2], strict=True)
    return {code: code + distance for code, distance in steps}


@cache
def _case_classes(is_legacy: bool) -> list[tuple[int, CharSet]]:
    """For every code point that has case variants, in order: all of its class."""
    groups: dict[int, list[int]] = {}
    for code, canonical in _canonical(is_legacy).items():
        groups.setdefault(canonical, [canonical]).append(code)
    classes = [union((code, code) for code in codes) for codes in groups.values()]
    return sorted((code, pairs) for pairs in classes for code in _members(pairs))


def _members(pairs: CharSet) -> Iterator[int]:
    for low, high in pairs:
        yield from range(low, high + 1)


@lru_cache(maxsize=256)
def fold_case(members: CharSet, is_legacy: bool = False) -> CharSet:
    """The members with all their case variants, as the `i` flag has it.

    `is_legacy`: neither the u nor the v flag is set.

    >>> fold_case(((0x6B, 0x6B),))  # k, K and the Kelvin sign
    ((75, 75), (107, 107), (8490, 8490))
    """
    variants: list[tuple[int, int]] = list(members)
    ranges = iter(members)
    low, high = next(ranges, (TOP + 1, TOP + 1))
    for code, pairs in _case_classes(is_legacy):
        while high < code:
            low, high = next(ranges, (TOP + 1, TOP + 1))
        if low <= code:
            variants.extend(pairs)
    return union(variants)


_TURKIC_I: CharSet = ((0x49, 0x49), (0x69, 0x69), (0x130, 0x131))


def fold_case_python(members: CharSet) -> CharSet:
    """`fold_case` as the `i` flag of Python's `re` has it: with i go the Turkic İ and ı."""
    folded = fold_case(members)
    return union((*folded, *_TURKIC_I)) if intersect(folded, _TURKIC_I) else folded


def canonical_case(text: str) -> str:
    """The text with each character simply case-folded; for strings of the `v` flag."""
    mapping = _canonical(False)
    return "".join(chr(mapping.get(ord(char), ord(char))) for char in text)
