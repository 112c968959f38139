"""Patterns of host names and of e-mail addresses, plain and internationalised."""

from __future__ import annotations

import unicodedata
from functools import cache

from structag.schema.format_uri import IPV4, IPV6

LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
HOST = rf"{LABEL}(?:\.{LABEL})*"
_PLAINLY = r"(?:[^.@]{1,3}|[^.@]{2}[^.@\-][^.@]+|[^.@]{3}[^.@\-][^.@]*)"
NO_PUNYCODE = rf"{_PLAINLY}(?:\.{_PLAINLY})*"
"""No label has ``--`` in third place: it would have to be decoded."""
_ATOM = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\-"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
_LITERAL = rf"\[(?:{IPV4}|IPv6:{IPV6})\]"
_NOT_ASCII = r"\u{A0}-\u{D7FF}\u{E000}-\u{10FFFF}"
_OUTSIDE_THE_RULES = frozenset("ßςـߺ·՛۽۾་〇〮〯〱〲〳〴〵〻゛゜・")
"""Code points that IDNA treats on their own, or that mean something only beside others."""


def email_patterns() -> tuple[str, ...]:
    """An address: dot-atoms or a quoted text, then a host or an address literal."""
    local = rf"(?:[{_ATOM}]+(?:\.[{_ATOM}]+)*|{_QUOTED})"
    return (rf"{local}@(?:{HOST}|{_LITERAL})", r"[^]{1,64}@[^@]{1,253}")


def idn_email_patterns() -> tuple[str, ...]:
    """The same with any other character in the atoms, and internationalised host names."""
    atom = _ATOM + _NOT_ASCII
    host, *limits = idn_hostname_patterns()
    local = rf"(?:[{atom}]+(?:\.[{atom}]+)*|{_QUOTED})"
    return (
        rf"{local}@(?:{host}|{_LITERAL})",
        r"(?:[\0-\x7F]{1,64}|[^]{1,16})@[^@]{1,253}",  # 64 bytes
        *(rf"[^]*@(?:{limit}|{_LITERAL})" for limit in limits),
    )


@cache
def idn_hostname_patterns() -> tuple[str, ...]:
    """Host names whose labels may hold letters that Punycode surely has room for.

    A letter takes at most six digits of Punycode in a label of up to nine characters, and at most
    seven in one of up to 36; ``xn--`` and a delimiter take five of the 63 in a label.  17 letters
    and 60 characters in all then have room in 253.
    """
    letter = _letters()
    end, inner = f"[a-z0-9{letter}]", rf"[a-z0-9{letter}\-]"
    label = f"(?:{LABEL}|{end}(?:{inner}*{end})?)"
    plain = r"[A-Za-z0-9\-]*"
    roomy = rf"(?:[A-Za-z0-9\-]{{1,63}}|[^.@]{{1,9}}|{plain}(?:[{letter}]{plain}){{0,3}})"
    short = r"(?:[A-Za-z0-9\-]{1,63}|[^.@]{1,36})"
    all_plain = r"[A-Za-z0-9\-.]*"
    return (
        rf"{label}(?:\.{label})*",
        rf"{roomy}(?:\.{roomy})*",
        rf"{short}(?:\.{short})*",
        r"(?:[A-Za-z0-9\-.]{1,253}|[^@]{1,60})",
        rf"{all_plain}(?:[{letter}]{all_plain}){{0,17}}",
        NO_PUNYCODE,
    )


def _letters() -> str:
    """Letters that stand anywhere in a label: left to right, caseless or small, never combined."""
    points: list[int] = []
    second = {
        ord(unicodedata.normalize("NFD", chr(point))[1])
        for point in range(0xC0, 0x10000)
        if not 0xAC00 <= point <= 0xD7A3 and len(unicodedata.normalize("NFD", chr(point))) > 1
    }
    for point in range(0xE0, 0xD7A4):
        char = chr(point)
        if (
            unicodedata.category(char) in ("Ll", "Lo")
            and unicodedata.bidirectional(char) == "L"
            and point not in second
            and not (0x1100 <= point <= 0x11FF or 0xA960 <= point <= 0xA97C)  # parts of syllables
            and char not in _OUTSIDE_THE_RULES
            and unicodedata.normalize("NFKC", char).casefold() == char
            and unicodedata.normalize("NFC", char) == char
        ):
            points.append(point)
    parts: list[str] = []
    start = previous = points[0]
    for point in [*points[1:], 0]:
        if point != previous + 1:
            parts.append(rf"\u{{{start:X}}}-\u{{{previous:X}}}")
            start = point
        previous = point
    return "".join(parts)
