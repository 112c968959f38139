"""The string formats that are asserted, as ECMA-262 patterns that must match the whole text.

A format is the intersection of its patterns.  Sources: RFC 3339 (dates and times, appendix A for
durations), RFC 9562 (uuid), RFC 2673 and RFC 4291 (addresses), RFC 1123 (hostname), RFC 5321
(email, dot-atoms only), RFC 3986 (uri), RFC 6901 (json-pointer).  Formats that no standard defines
assert nothing.

Restricted, soundly: no internationalised labels, no quoted local parts and no address literals in
`email`, leap seconds only in UTC.
"""

from __future__ import annotations

_DATE = (
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    r"|02-(?:0[1-9]|1\d|2[0-8]))"
    r"|(?:\d{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
_OFFSET = r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
# The second 60 is a leap second: 23:59:60 in UTC.  Only the offset zero is taken here.
_TIME = (
    rf"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?{_OFFSET}"
    r"|23:59:60(?:\.\d+)?(?:[Zz]|[+-]00:00))"
)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NO_PUNYCODE = r"(?!(?:[^]*\.)?[^.]{2}--)[^]*"  # its labels would have to be decoded
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = f"(?:{_H16}:{_H16}|{_IPV4})"
_IPV6 = "(?:" + "|".join(
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
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_ESCAPED = "%[0-9A-Fa-f]{2}"
_UNRESERVED = r"A-Za-z0-9\-._~"
_SUB = "!$&'()*+,;="
_PCHAR = rf"(?:[{_UNRESERVED}{_SUB}:@]|{_ESCAPED})"
_USER = rf"(?:[{_UNRESERVED}{_SUB}:]|{_ESCAPED})*"
_NAME = rf"(?:[{_UNRESERVED}{_SUB}]|{_ESCAPED})*"
_FUTURE = rf"[vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB}:]+"
_AUTHORITY = rf"(?:{_USER}@)?(?:\[(?:{_IPV6}|{_FUTURE})\]|{_NAME})(?::\d*)?"
_SEGMENTS = rf"(?:/{_PCHAR}*)*"
_ABSOLUTE = rf"/(?:{_PCHAR}+{_SEGMENTS})?"
_TAIL = rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?"
_NO_COLON = rf"(?:[{_UNRESERVED}{_SUB}@]|{_ESCAPED})+"
_SCHEME = r"[A-Za-z][A-Za-z0-9+.\-]*"
_URI = rf"{_SCHEME}:(?://{_AUTHORITY}{_SEGMENTS}|{_ABSOLUTE}|{_PCHAR}+{_SEGMENTS}|){_TAIL}"
_RELATIVE = rf"(?://{_AUTHORITY}{_SEGMENTS}|{_ABSOLUTE}|{_NO_COLON}{_SEGMENTS}|){_TAIL}"
_POINTER = r"(?:/(?:[^~/]|~[01])*)*"
_DURATION = (
    r"P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
    r"(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?"
    r"|T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))"
)

PATTERNS: dict[str, tuple[str, ...]] = {
    "date": (_DATE,),
    "time": (_TIME,),
    "date-time": (f"{_DATE}[Tt]{_TIME}",),
    "duration": (_DURATION,),
    "uuid": ("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",),
    "ipv4": (_IPV4,),
    "ipv6": (_IPV6,),
    "hostname": (rf"{_LABEL}(?:\.{_LABEL})*", "[^]{1,253}", _NO_PUNYCODE),
    "email": (rf"{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*", "[^@]{1,64}@[^]{1,253}"),
    "uri": (_URI,),
    "uri-reference": (f"(?:{_URI}|{_RELATIVE})",),
    "json-pointer": (_POINTER,),
    "relative-json-pointer": (rf"(?:0|[1-9]\d*)(?:#|{_POINTER})",),
}
NOT_SUPPORTED = frozenset(
    ("idn-email", "idn-hostname", "iri", "iri-reference", "uri-template", "regex")
)
"""Formats of the standard that are refused."""
