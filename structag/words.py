"""Bytes and places in words, as people read them: "`}`, `,` or whitespace"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from structag.terminal import visible

_NAMES = {0x20: "a space", 0x0A: "a newline", 0x09: "a tab", 0x0D: "a carriage return"}
_WHITESPACE = frozenset(_NAMES)
_PRINTABLE = frozenset(range(0x21, 0x7F))
_CONTROLS = frozenset({*range(0x20), 0x7F}) - _WHITESPACE
_DIGITS = frozenset(range(0x30, 0x3A))
_CAPITALS = frozenset(range(0x41, 0x5B))
_SMALL = frozenset(range(0x61, 0x7B))
_FEW = 12
_LONGEST = 40


def quoted(text: bytes | str) -> str:
    """A text in backquotes, shortened; bytes that are no characters show as such.

    >>> quoted(b"a\\n")
    '`a␊`'
    """
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    cut = shown[:_LONGEST] + ("…" if len(shown) > _LONGEST else "")
    return f"`{visible(cut)}`"


def joined(words: Sequence[str]) -> str:
    """A list in words.

    >>> joined(["`a`", "a digit", "the end"])
    '`a`, a digit or the end'
    """
    if not words:
        return "nothing"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def describe_bytes(allowed: Iterable[int], may_end: bool = False) -> str:
    """What may come next, in words.

    >>> describe_bytes(b"}, ")
    '`,`, `}` or a space'
    >>> describe_bytes(b"}, \\n\\t\\r")
    '`,`, `}` or whitespace'
    >>> describe_bytes(set(range(0x30, 0x3A)) | set(b"-"))
    'a digit or `-`'
    >>> describe_bytes(set(range(256)) - set(b"<"))
    'any character but `<`'
    >>> describe_bytes((), may_end=True)
    'the end'
    """
    return joined(name_bytes(allowed) + (["the end"] if may_end else []))


def name_bytes(allowed: Iterable[int]) -> list[str]:
    """The names of bytes, or of groups of them."""
    members = frozenset(allowed)
    return _name_all(members) or _name_each(members)


def _name_all(members: frozenset[int]) -> list[str] | None:
    missing = sorted((_PRINTABLE | {0x20}) - members)
    if len(missing) > _FEW or not any(byte >= 0xC2 for byte in members):
        return None
    but = ", ".join(_name(byte) for byte in missing)
    return [f"any character but {but}" if but else "any character"]


def _name_each(members: frozenset[int]) -> list[str]:
    words = []
    rest = set(members & _PRINTABLE)
    if rest >= _CAPITALS | _SMALL:
        words.append("a letter")
        rest -= _CAPITALS | _SMALL
    for group, name in ((_CAPITALS, "`A`–`Z`"), (_SMALL, "`a`–`z`"), (_DIGITS, "a digit")):
        if rest >= group:
            words.append(name)
            rest -= group
    words += _ranges(sorted(rest))
    if members >= _WHITESPACE:
        words.append("whitespace")
    else:
        words += [_NAMES[byte] for byte in _NAMES if byte in members]
    if members & _CONTROLS:
        words.append("a control character")
    if any(byte >= 0xC2 for byte in members):
        words.append("a character beyond ASCII")
    elif any(0x80 <= byte < 0xC0 for byte in members):
        words.append("the rest of the character")
    return words


def _ranges(values: list[int]) -> list[str]:
    words: list[str] = []
    start = 0
    for index in range(1, len(values) + 1):
        if index == len(values) or values[index] != values[index - 1] + 1:
            run = values[start:index]
            start = index
            if len(run) > 3:
                words.append(f"{_name(run[0])}–{_name(run[-1])}")
            else:
                words += [_name(value) for value in run]
    return words


def _name(byte: int) -> str:
    return _NAMES.get(byte) or f"`{chr(byte)}`"
