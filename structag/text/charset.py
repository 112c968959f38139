"""Sets of code points as sorted, disjoint ranges: the algebra and the named classes of ECMA-262.

A set is a tuple of inclusive ``(low, high)`` pairs.  Surrogates may be members here (a pattern may
name them); they drop out when the set becomes an expression.  The general categories come from
`unicodedata`; the tables are made on first use, once per process.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
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


NOT_DIGITS = negate(DIGITS)
NOT_WORD = negate(WORD)
NOT_SPACE = negate(SPACE)
NOT_LINE_ENDS = negate(LINE_ENDS)

_CATEGORY_GROUPS = {
    "C": ("Cc", "Cf", "Cn", "Co", "Cs"),
    "L": ("Ll", "Lm", "Lo", "Lt", "Lu"),
    "LC": ("Ll", "Lt", "Lu"),
    "M": ("Mc", "Me", "Mn"),
    "N": ("Nd", "Nl", "No"),
    "P": ("Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps"),
    "S": ("Sc", "Sk", "Sm", "So"),
    "Z": ("Zl", "Zp", "Zs"),
}
_CATEGORY_NAMES = {
    "Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Unassigned": "Cn",
    "Private_Use": "Co", "Surrogate": "Cs", "Letter": "L", "Cased_Letter": "LC",
    "Lowercase_Letter": "Ll", "Modifier_Letter": "Lm", "Other_Letter": "Lo",
    "Titlecase_Letter": "Lt", "Uppercase_Letter": "Lu", "Mark": "M", "Combining_Mark": "M",
    "Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Nonspacing_Mark": "Mn", "Number": "N",
    "Decimal_Number": "Nd", "digit": "Nd", "Letter_Number": "Nl", "Other_Number": "No",
    "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd",
    "Close_Punctuation": "Pe", "Final_Punctuation": "Pf", "Initial_Punctuation": "Pi",
    "Other_Punctuation": "Po", "Open_Punctuation": "Ps", "Symbol": "S", "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk", "Math_Symbol": "Sm", "Other_Symbol": "So", "Separator": "Z",
    "Line_Separator": "Zl", "Paragraph_Separator": "Zp", "Space_Separator": "Zs",
}  # fmt: skip


@cache
def _categories() -> dict[str, CharSet]:
    """The ranges of every two-letter general category."""
    category = unicodedata.category
    found: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, category("\0")
    for code in range(1, TOP + 2):
        name = category(chr(code)) if code <= TOP else ""
        if name != current:
            found.setdefault(current, []).append((start, code - 1))
            start, current = code, name
    return {name: tuple(ranges) for name, ranges in found.items()}


def property_set(name: str, value: str | None) -> CharSet | None:
    """The set of ``\\p{name}`` or ``\\p{name=value}``; None if it is not one of those known here.

    Known: general categories under every name, `Any`, `Assigned`, `ASCII`, `ASCII_Hex_Digit`.
    """
    if value is None:
        if name == "Any":
            return ALL
        if name == "ASCII":
            return ((0, 0x7F),)
        if name in ("ASCII_Hex_Digit", "AHex"):
            return ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))
        if name == "Assigned":
            return negate(_categories()["Cn"])
    elif name in ("General_Category", "gc"):
        name = value
    else:
        return None
    short = _CATEGORY_NAMES.get(name, name)
    members = _CATEGORY_GROUPS.get(short, (short,))
    table = _categories()
    if not all(member in table for member in members):
        return None
    return union(pair for member in members for pair in table[member])


@cache
def _case_classes() -> dict[int, tuple[int, ...]]:
    """For every code point that has case variants (simple case folding): all of its class."""
    groups: dict[str, list[int]] = {}
    for code in range(0x1E944):
        char = chr(code)
        fold = char.casefold()
        if len(fold) > 1:
            fold = char.lower()
            if len(fold) > 1:
                fold = char
        if fold != char or char.upper() != char:
            groups.setdefault(fold, []).append(code)
    for fold, codes in groups.items():
        if ord(fold) not in codes:
            codes.append(ord(fold))
    return {code: tuple(codes) for codes in groups.values() if len(codes) > 1 for code in codes}


@lru_cache(maxsize=256)
def fold_case(members: CharSet) -> CharSet:
    """The members with all their case variants, by simple case folding as the `i` flag has it.

    >>> fold_case(((0x6B, 0x6B),))  # k, K and the Kelvin sign
    ((75, 75), (107, 107), (8490, 8490))
    """
    extra: list[tuple[int, int]] = list(members)
    for code, variants in _case_classes().items():
        if any(low <= code <= high for low, high in members):
            extra.extend((variant, variant) for variant in variants)
    return union(extra)
