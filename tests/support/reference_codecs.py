"""The codecs of `Encoded` and UTF-8, decoded the slow way; part of the reference matcher.

Each decoder takes a spelling and returns the decoded text, or None if it is no spelling.  Written
from the docstring of `structag.grammar.expressions.Encoded`; shares nothing with the core.
"""

from __future__ import annotations

import re
from collections.abc import Callable

JSON_ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
PYTHON_ESCAPES = {
    '"': '"',
    "'": "'",
    "\\": "\\",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
XML_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}

_JSON_UNIT = re.compile(
    r"""(?P<plain>[^"\\\x00-\x1f])
    | \\(?P<simple>["\\/bfnrt])
    | \\u(?P<high>[dD][89abAB][0-9a-fA-F]{2}) \\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})
    | \\u(?P<code>[0-9a-fA-F]{4})""",
    re.VERBOSE,
)
_PYTHON_UNIT = r"""(?P<plain>[^QUOTE\\\x00-\x1f])
    | \\(?P<simple>["'\\abfnrtv])
    | \\x(?P<byte>[0-9a-fA-F]{2})
    | \\u(?P<code>[0-9a-fA-F]{4})"""
_XML_UNIT = re.compile(
    r"""(?P<plain>[^<&])
    | &(?P<name>lt|gt|amp|quot|apos);
    | &\#(?P<decimal>[0-9]+);
    | &\#x(?P<hexadecimal>[0-9a-fA-F]+);""",
    re.VERBOSE,
)


def decode_utf8(data: bytes) -> str | None:
    """`data` as text, or None if it is not valid UTF-8.

    >>> decode_utf8(b"\\xc3\\xa9"), decode_utf8(b"\\xc3"), decode_utf8(b"\\xed\\xa0\\x80")
    ('é', None, None)
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def decode_json(spelling: str) -> str | None:
    r"""The text that `spelling` stands for inside a JSON string.

    >>> decode_json(r"a\u0062\n"), decode_json(r"\ud83d\uDE00"), decode_json(r"\ud83d")
    ('ab\n', '😀', None)
    """
    return _decode(_JSON_UNIT, _json_char, spelling)


def decode_xml(spelling: str) -> str | None:
    """The text that `spelling` stands for as XML character data.

    >>> decode_xml("a&lt;&#066;&#x43;"), decode_xml("&#0;"), decode_xml("&nbsp;")
    ('a<BC', None, None)
    """
    return _decode(_XML_UNIT, _xml_char, spelling)


def decode_python(spelling: str, quote: str) -> str | None:
    r"""The text that `spelling` stands for inside a Python string between two `quote`s.

    >>> decode_python(r"a\x62\'", "'"), decode_python("'", "'"), decode_python(r"\ud83d", "'")
    ("ab'", None, None)
    """
    unit = re.compile(_PYTHON_UNIT.replace("QUOTE", quote), re.VERBOSE)
    return _decode(unit, _python_char, spelling)


CODECS: dict[str, Callable[[str], str | None]] = {
    "json": decode_json,
    "xml": decode_xml,
    "python_double": lambda spelling: decode_python(spelling, '"'),
    "python_single": lambda spelling: decode_python(spelling, "'"),
}


def _decode(
    unit: re.Pattern[str], char_of: Callable[[re.Match[str]], str | None], spelling: str
) -> str | None:
    pieces: list[str] = []
    at = 0
    while at < len(spelling):
        found = unit.match(spelling, at)
        char = char_of(found) if found else None
        if found is None or char is None:
            return None
        pieces.append(char)
        at = found.end()
    return "".join(pieces)


def _json_char(unit: re.Match[str]) -> str | None:
    if unit["plain"]:
        return unit["plain"]
    if unit["simple"]:
        return JSON_ESCAPES[unit["simple"]]
    if unit["high"]:
        high, low = int(unit["high"], 16), int(unit["low"], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    return _scalar(int(unit["code"], 16))


def _python_char(unit: re.Match[str]) -> str | None:
    if unit["plain"]:
        return unit["plain"]
    if unit["simple"]:
        return PYTHON_ESCAPES[unit["simple"]]
    return _scalar(int(unit["byte"] or unit["code"], 16))


def _xml_char(unit: re.Match[str]) -> str | None:
    if unit["plain"]:
        return unit["plain"]
    if unit["name"]:
        return XML_ENTITIES[unit["name"]]
    digits, base = (unit["decimal"], 10) if unit["decimal"] else (unit["hexadecimal"], 16)
    value = int(digits, base)
    return _scalar(value) if value else None


def _scalar(value: int) -> str | None:
    return None if 0xD800 <= value <= 0xDFFF or value > 0x10FFFF else chr(value)
