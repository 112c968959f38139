"""The asserted string formats, by examples from their standards."""

from __future__ import annotations

import pytest

from structag.grammar.builder import GrammarBuilder
from structag.schema.formats import NOT_SUPPORTED, PATTERNS
from structag.text.membership import belongs
from structag.text.regex import lower_regex

EXAMPLES: dict[str, tuple[list[str], list[str]]] = {
    "date": (["2024-02-29", "2000-02-29", "1999-12-31"],
             ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "24-01-01", "2024-1-1"]),
    "time": (["10:20:30Z", "23:59:60Z", "00:00:00.123+23:59"],
             ["24:00:00Z", "10:20:30", "10:60:00Z", "22:59:60Z", "10:20:30.Z"]),
    "date-time": (["2024-02-28T10:20:30Z", "1998-12-31t23:59:60.1z"],
                  ["2024-02-28", "2024-02-28 10:20:30Z", "2024-02-30T10:20:30Z"]),
    "duration": (["P1DT2H", "P4W", "PT0S", "P1Y2M3DT4H5M6S", "PT36H"],
                 ["P", "1D", "PT", "P1YT", "P2D1Y", "P1D2W", "P1Y3D"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000", "x"]),
    "ipv4": (["1.2.3.4", "255.0.10.199"], ["256.1.1.1", "1.2.3", "01.2.3.4", "1.2.3.4.5"]),
    "ipv6": (["::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::", "1:2::7:8"],
             [":::1", "1:2:3:4:5:6:7", "12345::", "1::2::3", "1:2:3:4:5:6:7:8:9", "::1.2.3"]),
    "hostname": (["a.example.com", "x", "a-b.c"], ["-a.com", "a-.com", "", "a..b", "a_b", "ab--c",
                 "XN--aa", "x.ab--c", "a" * 64, ".".join(["a" * 60] * 5)]),
    "email": (["a@b.co", "x.y+z@example.com"], ["ab", "a@", "@b", ".a@b.c", "a..b@c.d", "a@b@c"]),
    "uri": (["http://a.com/b?c#d", "mailto:x@y", "urn:a:b", "http://[::1]:80/", "a:"],
            ["a b", "/a", "//a.com", "http://a.com/b c", "http://[x]/", "1a:b", "a:%zz"]),
    "uri-reference": (["/a/b", "", "#x", "a/b:c", "http://a", "?q"], ["a b", "\\a", "%", "a#b#c"]),
    "json-pointer": (["", "/", "/a/0", "/~0~1"], ["a", "/~2", "/a/~"]),
    "relative-json-pointer": (["1/a", "0#", "10"], ["/a", "01", "1#/a", "#"]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_format(name: str) -> None:
    builder = GrammarBuilder()
    ref = builder.both(*(lower_regex(pattern, builder) for pattern in PATTERNS[name]))
    good, bad = EXAMPLES[name]

    assert [text for text in good if not belongs(builder, ref, text)] == []
    assert [text for text in bad if belongs(builder, ref, text)] == []


def test_no_format_is_both_supported_and_not() -> None:
    assert not NOT_SUPPORTED & set(PATTERNS)
