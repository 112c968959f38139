"""The asserted string formats, by examples from their standards."""

from __future__ import annotations

import random
import re

import pytest

from structag import Compiler, Matcher, Vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.schema.formats import FORMATS, patterns_of
from structag.text.membership import belongs
from structag.text.regex import lower_regex

COMPILER = Compiler(Vocabulary.byte_level())
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
    "email": (["a@b.co", "x.y+z@example.com", '"a b@"@c.d', "a@[1.2.3.4]", "a@[IPv6:::1]"],
              ["ab", "a@", "@b", ".a@b.c", "a..b@c.d", "a@b@c", "a@[x]", '"a@b.c', "é@b.c"]),
    "uri": (["http://a.com/b?c#d", "mailto:x@y", "urn:a:b", "http://[::1]:80/", "a:"],
            ["a b", "/a", "//a.com", "http://a.com/b c", "http://[x]/", "1a:b", "a:%zz"]),
    "uri-reference": (["/a/b", "", "#x", "a/b:c", "http://a", "?q"], ["a b", "\\a", "%", "a#b#c"]),
    "json-pointer": (["", "/", "/a/0", "/~0~1"], ["a", "/~2", "/a/~"]),
    "relative-json-pointer": (["1/a", "0#", "10"], ["/a", "01", "1#/a", "#"]),
    "idn-hostname": (["example.com", "münchen.de", "実例.jp", "xn", "пример.испытание", "a-é"],
                     ["-é.com", "é-", "É", "a..b", "ab--é", "é" * 40, "ß", "\u0301a", "שלום", "·a",
                      "é." * 30 + "a", ""]),
    "idn-email": (["é@b.co", "x.y@実例.jp", '"a b"@é.fr', "я@[127.0.0.1]"],
                  ["é", "é@", "a@É.fr", ".é@a.b", "é" * 33 + "@a.b", "a@@b"]),
    "iri": (["http://é.com/ü?ñ#ö", "http://a.com", "urn:a:b", "http://a/?\ue000"],
            ["/é", "http://a b", "http://a/\ue000", "é:a", "http://a/%zz"]),
    "iri-reference": (["/é", "", "#ü", "http://é"], ["a b", "\\é", "a#b#c", "\ue000"]),
    "uri-template": (["http://a/{id}", "{?q,lang*}", "{+a:12}/b", "a%20é", "{a.b}"],
                     ["{", "{}", "{a", "a b", "{a:0}", "{a.}", "{$a}", "%zz", "{a:12345}"]),
    "regex": (["^[a-z]+$", "a{2,10}?", "(a|b)*(?:c(d))", "[^\\w.-]", "\\d+\\.\\u00e9", "(?!a)b", "",
               "a{3,3}", "a{12,34}", "[a-f0-9]{40}", "^\\S+@\\S+$", "x|", "[-a]"],
              ["(", "[b-a]", "a**", "a{2,1}", "\\", "(?<n>a)\\k<n>", "a)", "(?=a)*", "[z-]a]",
               "a{20,13}", "a{5,03}", "\\1", "\\e", "[]", "a{,2}", "^*"]),
    "byte": (["", "aGk=", "aGVsbG8h", "YQ=="], ["a", "aGk", "YR==", "aGl=", "aG k=", "=", "a==="]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_format(name: str) -> None:
    builder = GrammarBuilder()
    ref = builder.both(*(lower_regex(pattern, builder) for pattern in patterns_of(name)))
    good, bad = EXAMPLES[name]

    assert [text for text in good if not belongs(builder, ref, text)] == []
    assert [text for text in bad if belongs(builder, ref, text)] == []


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("int32", ["0", "-2147483648", "2147483647"], ["2147483648", "1.5", "-2147483649"]),
        ("int64", ["-9223372036854775808"], ["9223372036854775808", "1e2", "0.5"]),
        ("float", ["1.5e10", "-0.25", "9e37"], ["1e38", "-1e39", "4" + "0" * 38]),
        ("double", ["1e307", "5"], ["1e308", "1" + "0" * 308]),
    ],
)
def test_formats_of_numbers(name: str, good: list[str], bad: list[str]) -> None:
    grammar = COMPILER.compile_json_schema({"format": name})
    for text in [*good, *bad, '"any string"']:
        matcher = Matcher(grammar)
        assert (matcher.accept_string(text) and matcher.is_completed()) == (text not in bad), text


def test_what_is_not_in_a_format_is_sound() -> None:
    grammar = COMPILER.compile_json_schema({"not": {"format": "int32"}, "type": "number"})
    for text, want in [("5", False), ("2147483648", True), ("0.5", True), ("-3e9", True)]:
        matcher = Matcher(grammar)
        assert (matcher.accept_string(text) and matcher.is_completed()) == want, text

    quoted = {"oneOf": [{"format": "hostname"}, {"const": "xn--bcher-kva.example"}]}
    matcher = Matcher(COMPILER.compile_json_schema({**quoted, "type": "string"}))
    assert not matcher.accept_string('"xn--bcher-kva.example"')  # both branches hold


def test_a_format_that_says_how_a_text_is_encoded_is_an_annotation() -> None:
    schema = {"type": "string", "format": "byte"}
    for options, want in (({}, True), ({"openapi": True}, False)):
        grammar = COMPILER.compile_json_schema(schema, **options)
        matcher = Matcher(grammar)
        assert matcher.accept_string('"in base64"') == want
        (found,) = (entry for entry in grammar.report if entry.keyword == "format")
        assert found.status == ("annotation" if want else "restricted")
        assert want == ("openapi=True asserts it" in found.reason)


def letters(count: int) -> list[str]:
    """Host names that the pattern takes, of random letters."""
    pattern = patterns_of("idn-hostname")[0]
    parts = re.findall(r"\\u\{(\w+)\}-\\u\{(\w+)\}", pattern)
    ranges = [(int(low, 16), int(high, 16)) for low, high in parts]
    rng = random.Random(0)

    def letter() -> str:
        return chr(rng.randint(*rng.choice(ranges))) if rng.random() < 0.5 else rng.choice("ab1-")

    return [".".join("".join(letter() for _ in range(rng.randint(1, 12)))
                     for _ in range(rng.randint(1, 4))) for _ in range(count)]  # fmt: skip


def test_every_internationalised_host_name_encodes() -> None:
    idna = pytest.importorskip("idna")
    builder = GrammarBuilder()
    parts = [lower_regex(pattern, builder) for pattern in patterns_of("idn-hostname")]
    taken = [name for name in letters(1500) if all(belongs(builder, part, name) for part in parts)]

    assert len(taken) > 100
    for name in taken:
        assert len(idna.encode(name)) <= 253
