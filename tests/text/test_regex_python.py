"""`structag.text.regex_python`: patterns of Lark texts mean what Python's `re` makes of them."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable

import pytest

structag = pytest.importorskip("structag")

from structag.errors import (  # noqa: E402
    GrammarError,
    GrammarSyntaxError,
    LimitError,
    StructagError,
    UnsupportedError,
)
from structag.grammar.builder import GrammarBuilder  # noqa: E402
from structag.limits import Limits  # noqa: E402
from structag.text.regex import lower_regex  # noqa: E402
from structag.text.regex_python import parse_python  # noqa: E402
from structag.text.regex_syntax import Chars  # noqa: E402

COMPILER = structag.Compiler(
    structag.Vocabulary.byte_level(), cache_bytes=0, limits=Limits(max_work=2_000_000)
)

ASSIGNED = [
    chr(code)
    for code in range(0x110000)
    if not 0xD800 <= code <= 0xDFFF and unicodedata.category(chr(code)) != "Cn"
]


def full_match(pattern: str) -> Callable[[str], bool]:
    """What the core makes of `pattern`."""
    builder = GrammarBuilder()
    ref = lower_regex(pattern, builder, parse=parse_python)
    try:
        matcher = structag.Matcher(COMPILER.compile_grammar(builder.build(ref)))
    except GrammarError:
        return lambda text: False

    def matches(text: str) -> bool:
        matcher.reset()
        return bool(matcher.accept_string(text) and matcher.is_completed())

    return matches


@pytest.mark.parametrize("pattern", ["\\d", "\\w", "\\s"])
def test_classes_are_those_of_python(pattern: str) -> None:
    tree, _ = parse_python(pattern, Limits())
    assert isinstance(tree, Chars)
    ours = {chr(code) for low, high in tree.members for code in range(low, high + 1)}
    theirs = set(re.findall(pattern, "".join(ASSIGNED)))

    assert ours.intersection(ASSIGNED) == theirs


def test_case_variants_are_those_of_python() -> None:
    cased = "".join(char for char in ASSIGNED if char.lower() != char or char.upper() != char)
    for char in random.Random(1).sample(cased, 300) + list("iIİıkKſß"):
        tree, _ = parse_python(f"(?i)[{re.escape(char)}]", Limits())
        assert isinstance(tree, Chars)
        ours = {chr(code) for low, high in tree.members for code in range(low, high + 1)}

        assert ours.intersection(cased) == set(re.findall(re.escape(char), cased, re.IGNORECASE))


PATTERNS: list[tuple[str, list[str], list[str]]] = [
    (r"\d+", ["12", "٣"], ["", "²"]),
    (r"\w\s\w", ["é ²", "a\x1cb"], ["a\ufeffb", "- -"]),
    (r"a\b.\b\d", ["a-٣"], ["aé1", "a--"]),
    (".", ["\r", "\u2028", "😀"], ["\n"]),
    ("(?s:.)", ["\n"], [""]),
    ("(?m)a$\n^b", ["a\nb"], ["a\rb"]),
    ("[]a]+", ["]a", "]"], ["", "b"]),
    ("[^]a]", ["b", "["], ["]", "a"]),
    ("[[a&&b~~]", ["[", "&", "~"], ["]"]),
    ("a{,2}", ["", "a", "aa"], ["aaa", "a{,2}"]),
    ("a{,}b{}", ["b{}", "aab{}"], ["b"]),
    (r"\07\012\101[\7\60]", ["\a\nA\a", "\a\nA0"], ["\a\nA7"]),
    (r"\a\v[\b]\U0001F600\x61", ["\a\v\b😀a"], [""]),
    (r"\"\@\ ", ['"@ '], ["\\"]),
    ("(?i)I", ["i", "İ", "ı", "I"], ["j"]),
    ("(?i)[^i]", ["j"], ["İ", "ı"]),
    ("(?P<n>a)(?:b)", ["ab"], ["a"]),
    (r"\p{Lu}\u{1F600}(?<n>b)", ["A😀b"], ["a😀b"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "good", "bad"), PATTERNS, ids=[pattern for pattern, _, _ in PATTERNS]
)
def test_pattern(pattern: str, good: list[str], bad: list[str]) -> None:
    matches = full_match(pattern)

    assert [text for text in good if not matches(text)] == []
    assert [text for text in bad if matches(text)] == []


@pytest.mark.parametrize(
    ("pattern", "error", "span"),
    [
        (r"a\q", GrammarSyntaxError, (1, 3)),
        (r"[\d-a]", GrammarSyntaxError, (1, 5)),
        ("[a", GrammarSyntaxError, (0, 2)),
        ("[]", GrammarSyntaxError, (0, 2)),
        ("a**", GrammarSyntaxError, (2, 3)),
        ("a*+b", GrammarSyntaxError, (2, 3)),
        ("a{3,2}", GrammarSyntaxError, (1, 6)),
        (r"\8", GrammarSyntaxError, (0, 2)),
        (r"[\8]", GrammarSyntaxError, (1, 3)),
        (r"\x4", GrammarSyntaxError, (0, 2)),
        (r"\U00110000", GrammarSyntaxError, (0, 10)),
        (r"(a)\1", UnsupportedError, (3, 5)),
        (r"\N{DIGIT ONE}", UnsupportedError, (0, 2)),
        (r"a\x2a", UnsupportedError, (1, 5)),
        (r"[a\x2dz]", UnsupportedError, (2, 6)),
        ("a$", UnsupportedError, (1, 2)),
    ],
)
def test_what_is_wrong_or_refused(
    pattern: str, error: type[StructagError], span: tuple[int, int]
) -> None:
    with pytest.raises(error) as caught:
        lower_regex(pattern, GrammarBuilder(), parse=parse_python)

    assert caught.value.span == span


LETTERS = "aiKéßſİı\u0345٣²1_-] \n\r\u2028\ufeff\x1c😀"
PIECES = [
    "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", ".", "\\b", "\\B", "[]a]", "[^]\\s]", "[a-é]",
    "[\\w-]", "[^\\d_]", "(?:a|\\u00e9)", "(?i:[^k])", "(?i:[\\W\u0345])", "(?=\\w)", "(?!\\d).",
    "{", "\\_", "\\-", "\\061", "[\\41-\\60]",
]  # fmt: skip


def test_random_patterns_agree_with_re() -> None:
    rng = random.Random(5)
    compared = 0
    for _ in range(400):
        parts = [
            rng.choice(PIECES) if rng.random() < 0.6 else re.escape(rng.choice(LETTERS))
            for _ in range(rng.randint(1, 4))
        ]
        counts = [rng.choice(("", "", "*", "?", "{,2}", "{2}", "+?")) for _ in parts]
        flags = rng.choice(("", "(?i)", "(?s)", "(?is)"))
        pattern = flags + "".join(
            part + ("" if part in ("\\b", "\\B") else count)
            for part, count in zip(parts, counts, strict=True)
        )
        theirs = re.compile(pattern)
        try:
            matches = full_match(pattern)
        except (UnsupportedError, LimitError):
            continue
        for _ in range(10):
            least = 1 if "\\B" in pattern else 0  # Python's versions differ about the empty text
            text = "".join(rng.choices(LETTERS, k=rng.randint(least, 4)))
            compared += 1

            assert matches(text) == bool(theirs.fullmatch(text)), (pattern, text)

    assert compared > 1000
