"""Patterns of URIs, IRIs and URI templates (RFC 3986, 3987, 6570), and of the addresses in them."""

from __future__ import annotations

_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = f"(?:{_H16}:{_H16}|{IPV4})"
IPV6 = "(?:" + "|".join(
    [f"(?:{_H16}:){{6}}{_LS32}", f"::(?:{_H16}:){{5}}{_LS32}"]
    + [
        f"(?:{_H16}(?::{_H16}){{0,{before}}})?::(?:{_H16}:){{{after}}}{_LS32}"
        for before, after in ((0, 4), (1, 3), (2, 2), (3, 1), (4, 0))
    ]
    + [
        f"(?:{_H16}(?::{_H16}){{0,5}})?::{_H16}",
        f"(?:{_H16}(?::{_H16}){{0,6}})?::",
    ]
) + ")"  # fmt: skip
_ESCAPED = "%[0-9A-Fa-f]{2}"
_UNRESERVED = r"A-Za-z0-9\-._~"
_SUB = "!$&'()*+,;="
_SCHEME = r"[A-Za-z][A-Za-z0-9+.\-]*"
_OTHER = r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}" + "".join(
    rf"\u{{{plane:X}{'1000' if plane == 14 else '0000'}}}-\u{{{plane:X}FFFD}}"
    for plane in range(1, 15)
)
"""`ucschar`: the characters that IRIs add."""
_PRIVATE = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"


def uri_pattern(*, is_relative: bool, is_international: bool) -> str:
    """A URI, or an IRI; with `is_relative` also a relative reference."""
    unreserved = _UNRESERVED + (_OTHER if is_international else "")
    private = _PRIVATE if is_international else ""
    char = rf"(?:[{unreserved}{_SUB}:@]|{_ESCAPED})"
    user = rf"(?:[{unreserved}{_SUB}:]|{_ESCAPED})*"
    name = rf"(?:[{unreserved}{_SUB}]|{_ESCAPED})*"
    future = rf"[vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB}:]+"
    authority = rf"(?:{user}@)?(?:\[(?:{IPV6}|{future})\]|{name})(?::\d*)?"
    segments = rf"(?:/{char}*)*"
    absolute = rf"/(?:{char}+{segments})?"
    tail = rf"(?:\?(?:{char}|[/?{private}])*)?(?:#(?:{char}|[/?])*)?"
    first = rf"(?:[{unreserved}{_SUB}@]|{_ESCAPED})+"
    whole = rf"{_SCHEME}:(?://{authority}{segments}|{absolute}|{char}+{segments}|){tail}"
    if not is_relative:
        return whole
    return rf"(?:{whole}|(?://{authority}{segments}|{absolute}|{first}{segments}|){tail})"


def uri_template_pattern() -> str:
    """A URI template of any level."""
    name = rf"(?:[A-Za-z0-9_]|{_ESCAPED})"
    variable = rf"{name}(?:\.?{name})*(?::[1-9]\d{{0,3}}|\*)?"
    literal = rf"(?:[!#$&-;=?-\[\]_a-z~{_OTHER}{_PRIVATE}]|{_ESCAPED})"
    return rf"(?:{literal}|\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\}})*"
