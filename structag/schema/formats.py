"""The formats that are asserted: strings by patterns, numbers by their range.

A string format is the intersection of its patterns (ECMA-262, matching the whole text).  Sources:
RFC 3339 (dates and times, appendix A for durations), RFC 9562 (uuid), RFC 2673 and RFC 4291
(addresses), RFC 1123 (hostname), RFC 5321 and 6531 (email), RFC 5890 to 5893 (idn-hostname), RFC
3986 and 3987 (uri, iri), RFC 6570 (uri-template), RFC 6901 (json-pointer), RFC 4648 (byte),
ECMA-262 (regex), the OpenAPI format registry (int32 and so on).  Formats that none of these defines
assert nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from structag.schema.facts import NumberFacts
from structag.schema.format_names import (
    HOST,
    NO_PUNYCODE,
    email_patterns,
    idn_email_patterns,
    idn_hostname_patterns,
)
from structag.schema.format_regex import MAX_GROUPS, regex_pattern
from structag.schema.format_uri import IPV4, IPV6, uri_pattern, uri_template_pattern


class Format(NamedTuple):
    """A format of strings; `left_out` says which valid texts are not generated, if any."""

    make: Callable[[], tuple[str, ...]]
    left_out: str = ""


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
_POINTER = r"(?:/(?:[^~/]|~[01])*)*"
_DURATION = (
    r"P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
    r"(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?"
    r"|T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))"
)
_BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
_LEAP = "leap seconds with an offset other than zero"
_LITERALS = "address literals that are neither IPv4 nor IPv6"
_ENCODED = "labels with `--` in third place, such as Punycode"
_INTERNATIONAL = (
    "labels with right-to-left scripts, combining marks or other code points above U+D7A3, and"
    " those that Punycode might have no room for"
)


def _fixed(*patterns: str) -> Callable[[], tuple[str, ...]]:
    return lambda: patterns


FORMATS: dict[str, Format] = {
    "date": Format(_fixed(_DATE)),
    "time": Format(_fixed(_TIME), _LEAP),
    "date-time": Format(_fixed(f"{_DATE}[Tt]{_TIME}"), _LEAP),
    "duration": Format(_fixed(_DURATION)),
    "uuid": Format(_fixed("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")),
    "ipv4": Format(_fixed(IPV4)),
    "ipv6": Format(_fixed(IPV6)),
    "hostname": Format(_fixed(HOST, "[^]{1,253}", NO_PUNYCODE), _ENCODED),
    "idn-hostname": Format(idn_hostname_patterns, f"{_ENCODED}, and {_INTERNATIONAL}"),
    "email": Format(email_patterns, _LITERALS),
    "idn-email": Format(idn_email_patterns, f"{_LITERALS}, and host names with {_INTERNATIONAL}"),
    "uri": Format(lambda: (uri_pattern(is_relative=False, is_international=False),)),
    "uri-reference": Format(lambda: (uri_pattern(is_relative=True, is_international=False),)),
    "iri": Format(lambda: (uri_pattern(is_relative=False, is_international=True),)),
    "iri-reference": Format(lambda: (uri_pattern(is_relative=True, is_international=True),)),
    "uri-template": Format(lambda: (uri_template_pattern(),)),
    "json-pointer": Format(_fixed(_POINTER)),
    "relative-json-pointer": Format(_fixed(rf"(?:0|[1-9]\d*)(?:#|{_POINTER})")),
    "regex": Format(
        lambda: (regex_pattern(),),
        f"groups nested over {MAX_GROUPS} deep, look-behind, references, named groups, properties",
    ),
    "byte": Format(_fixed(_BASE64), "padding with bits that are not zero"),
}
"""The formats of strings."""

OF_OPENAPI = frozenset(("byte",))
"""Formats that say how a text is encoded, as `contentEncoding` does: asserted with `openapi`."""


def _integers(bits: int) -> NumberFacts:
    high = Decimal(2 ** (bits - 1))
    return NumberFacts(low=-high, high=high, high_open=True, is_integer=True)


def _below(bound: Decimal) -> NumberFacts:
    return NumberFacts(-bound, True, bound, True)


NUMBER_FORMATS: dict[str, NumberFacts] = {
    "int32": _integers(32),
    "int64": _integers(64),
    "float": _below(Decimal(10) ** 38),
    "double": _below(Decimal(10) ** 308),
}
"""The formats of numbers, and the numbers that have them."""

LARGEST_LEFT_OUT = {"float": "numbers of 1e38 and more", "double": "numbers of 1e308 and more"}


@cache
def patterns_of(name: str) -> tuple[str, ...]:
    """The patterns of a format of strings."""
    return FORMATS[name].make()


def format_table() -> str:
    """Every format that is asserted, as a Markdown table."""
    rows = [
        f"| `{name}`{', with `openapi=True`' if name in OF_OPENAPI else ''} |"
        f" {format.left_out or 'none'} |"
        for name, format in FORMATS.items()
    ]
    rows += [f"| `{name}` | {LARGEST_LEFT_OUT.get(name, 'none')} |" for name in NUMBER_FORMATS]
    return "\n".join(["| format | valid texts left out |", "|:--|:--|", *rows]) + "\n"
