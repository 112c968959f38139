"""Texts as a terminal shows them: nothing that upsets it, and as wide as there is room."""

from __future__ import annotations

from unicodedata import category, east_asian_width

_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    """`text`, a character for a character, in a form that keeps a terminal sane.

    Control characters become their Unicode pictures; what ends a line, turns the direction of
    writing or cannot be seen becomes a replacement character, but for the joiners of emoji.

    >>> visible("a\\tb\\x1b")
    'a␉b␛'
    """
    return text if text.isprintable() else "".join(map(_picture, text))


def _picture(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    hidden = category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _JOINERS
    return "�" if hidden else char


def columns(text: str) -> int:
    """How many columns of a terminal `text` takes: wide characters take two.

    >>> columns("日本go")
    6
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if east_asian_width(char) in ("W", "F"):
        return 2
    return 0 if category(char) in ("Mn", "Me", "Cf") else 1


def cut_to_columns(text: str, most: int) -> str:
    """The longest prefix of `text` that takes at most so many columns."""
    taken = 0
    for at, char in enumerate(text):
        taken += _columns(char)
        if taken > most:
            return text[:at]
    return text
