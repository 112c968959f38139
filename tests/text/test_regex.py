"""`structag.text.regex`: what patterns match, by cases and against another ECMA-262 engine."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import os
import random
import sys
import time
from pathlib import Path

import pytest
from support.reference_matcher import accepts

from structag.errors import GrammarSyntaxError, LimitError, StructagError, UnsupportedError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Repeat
from structag.limits import Limits
from structag.text.membership import UndecidedError, belongs
from structag.text.regex import lower_regex

DATA = os.environ.get("STRUCTAG_DATA")


def matches(pattern: str, text: str, *, search: bool = False) -> bool:
    builder = GrammarBuilder()
    ref = lower_regex(pattern, builder, search=search)
    try:
        return belongs(builder, ref, text)
    except UndecidedError:
        return accepts(builder.build(ref), text.encode())


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("", [""], ["a"]),
        ("a||b", ["a", "", "b"], ["ab"]),
        ("(?:ab|c)+?d", ["abd", "cabd"], ["d", "ab"]),
        ("(?<year>\\d{2})(?P<n>x)", ["19x"], ["1x"]),
        ("[^a-c\\d]", ["d", "é", "😀", "\n"], ["a", "5", ""]),
        (".", ["a", "😀", "\v"], ["\n", "\r", "\u2028", "\u2029"]),
        ("\\s\\S", ["\ufeffa", "\u00a0b"], ["a ", "  "]),
        ("\\w\\W", ["_-", "Zé"], ["é-"]),
        ("\\cJ\\0\\x41\\u0042\\u{1F600}\\uD83D\\uDE00", ["\n\0AB😀😀"], [""]),
        ("\\t\\n\\v\\f\\r", ["\t\n\v\f\r"], [""]),
        ("[\\b\\-\\]]", ["\b", "-", "]"], ["b"]),
        ("a{0}b{2}c{1,}d{0,1}", ["bbc", "bbccd"], ["abbc", "bc"]),
        ("[]", [], ["", "a"]),
        ("[^]", ["\n", "a"], [""]),
        ("a{,3}\\_x{b]", ["a{,3}_x{b]"], ["aa"]),  # Annex B
        ("[\\w-a]", ["-", "a", "_"], ["+"]),  # Annex B
        ("\\101\\8", ["A8"], ["8"]),  # Annex B
        ("[a-z&&[^b]]", ["a"], ["b"]),  # v
        ("[\\w--[a-y]]", ["z", "_"], ["a"]),  # v
        ("[[:alpha:]]", ["a", ":"], ["b"]),  # v: a nested class
        ("(?i)straSSe", ["STRASSE", "ſtraſse"], ["strabe"]),
        ("(?i:k)k", ["\u212ak", "Kk"], ["KK"]),
        ("(?s).(?-s:.)", ["\na"], ["\n\n"]),
        ("\\p{Lu}\\P{Lu}[\\p{Nd}]", ["Éa5"], ["aa5", "ÉÉ5"]),
        ("\\p{Script=Greek}\\p{scx=Deva}\\p{sc=Zyyy}", ["α\u0951!"], ["aα!"]),
        ("\\p{Emoji_Presentation}\\P{Alphabetic}", ["😀1"], ["11", "😀a"]),
        ("\\p{RGI_Emoji}", ["😀", "👨\u200d👩\u200d👧", "🇫🇷", "👍🏽"], ["a", "👨\u200d"]),
        ("[\\q{ab|c|}--c]", ["ab", ""], ["c", "a"]),  # v: strings
        ("[\\p{Emoji_Keycap_Sequence}&&\\q{1\ufe0f\u20e3|x}]", ["1\ufe0f\u20e3"], ["x"]),
        ("(?i)[^a]\\W", ["b-"], ["A-", "a-", "bs", "bſ"]),
        ("(?i)\\P{Lu}", ["A", "a"], []),  # u: what is not upper case, and its variants
        ("(?i)[\\P{Lu}--x]", ["1"], ["A", "a"]),  # v: what is no variant of upper case
        ("(?i)ſ\\q", ["ſq"], ["sq"]),  # Annex B: by upper case, never into ASCII
        ("(?i:(?-i:a)b)c", ["aBc"], ["ABc", "abC"]),
        ("(?<n>a)|(?<n>b)", ["a", "b"], ["ab"]),
        ("\\k<n>", ["k<n>"], [""]),  # Annex B, as there are no names
        ("[" * 300 + "a--b" + "]" * 300, ["a"], ["b"]),
    ],
)  # fmt: skip
def test_full_match(pattern: str, good: list[str], bad: list[str]) -> None:
    assert [text for text in good if not matches(pattern, text)] == []
    assert [text for text in bad if matches(pattern, text)] == []


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("b+", ["abbc", "b"], ["aa"]),
        ("^a|b$", ["ax", "xb"], ["xa", "bx"]),
        ("(^|-)a($|-)", ["a", "x-a", "a-x", "x-a-y"], ["xa", "ax"]),
        ("a^b|a$b", [], ["ab", "a", "b"]),
        ("^(?!foo)[a-z]+$", ["bar", "fo"], ["foo", "food"]),
        ("^(?=.*\\d)(?=.*[a-z]).{3,}$", ["a1b", "1a2"], ["aaa", "a1"]),
        ("a(?!b)", ["ac", "aba"], ["ab"]),
        ("(?<=a)b", ["ab"], ["b", "cb"]),
        ("(?<!a)b$", ["b", "cb"], ["ab"]),
        ("\\bcat\\b", ["cat", "a cat!"], ["cats", "concat"]),
        ("^((?!no).)*$", ["yes", ""], ["no", "a no b"]),
        ("(?m:^b$)", ["b", "a\nb\nc"], ["ab"]),
        ("\\Aab\\Z", ["ab"], ["xab", "abx"]),
    ],
)
def test_search(pattern: str, good: list[str], bad: list[str]) -> None:
    assert [text for text in good if not matches(pattern, text, search=True)] == []
    assert [text for text in bad if matches(pattern, text, search=True)] == []


@pytest.mark.parametrize(
    ("pattern", "span"),
    [
        ("a(b", (1, 3)),
        ("a)b", (1, 2)),
        ("[z-a]", (1, 4)),
        ("[ab", (0, 3)),
        ("*a", (0, 1)),
        ("a**", (2, 3)),
        ("a{3,2}", (1, 6)),
        ("(?<1>a)", (0, 3)),
        ("(?x)a", (0, 4)),
        ("a\\", (1, 2)),
        ("(?i", (0, 3)),
        ("^*", (1, 2)),
        ("(?<a>x)(?<a>y)", (7, 12)),
        ("(?:(?<a>x)|y)(?<a>z)", (13, 18)),
        ("(?<a>x)\\k<b>", (7, 12)),
        ("[^\\q{ab}]\\k(?<n>)", (9, 11)),
    ],
)
def test_a_pattern_that_does_not_parse_says_where(pattern: str, span: tuple[int, int]) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        lower_regex(pattern, GrammarBuilder())

    assert caught.value.code == "regex-syntax"
    assert caught.value.span == span


@pytest.mark.parametrize(
    "pattern",
    ["(a)\\1", "(?<n>a)\\k<n>", "\\p{Hiragana}", "(?=(?<=a)b)c", "(?:(?=a(?!b*\\b))x)*"],
)
def test_what_no_automaton_does_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        lower_regex(pattern, GrammarBuilder(), search=True)

    assert caught.value.code == "regex-feature"
    assert caught.value.span is not None


def test_a_count_is_one_expression() -> None:
    builder = GrammarBuilder()
    node = builder.node(lower_regex("[ab]{1,1000000}", builder))

    assert isinstance(node, Repeat)
    assert (node.min, node.max) == (1, 1_000_000)


def test_groups_nest_up_to_the_limit() -> None:
    assert matches("(a" * 500 + ")" * 500, "a" * 500)
    with pytest.raises(LimitError) as caught:
        lower_regex("(" * 100_000, GrammarBuilder())

    assert (caught.value.code, caught.value.setting) == ("nesting-limit", "max_nesting")
    with pytest.raises(LimitError):
        lower_regex("((a))", GrammarBuilder(), limits=Limits(max_nesting=1))


def test_nested_look_around_is_limited() -> None:
    assert matches("(?=a" * 16 + ")" * 16 + "a*", "a" * 16)
    with pytest.raises(UnsupportedError, match="look-around nested deeper than 16") as caught:
        lower_regex("a" + "(?=a" * 17 + ")" * 17, GrammarBuilder(), search=True)

    assert caught.value.span == (1 + 4 * 16, 1 + 4 * 16 + 3)


def test_deep_patterns_cost_no_python_frames() -> None:
    deep = "(?:b|a(?:" * 200 + "x$" + ")?)" * 200
    twice = f"{deep}(?=(?:{deep}))c(?=((?:{deep})))"  # two equal conditions, written differently
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 350)
    try:
        for pattern in (f"(?={deep})c", f"c(?<!{deep})c", twice):
            with contextlib.suppress(UnsupportedError):
                lower_regex(pattern, GrammarBuilder(), search=True)
    finally:
        sys.setrecursionlimit(limit)


def test_an_error_draws_the_place() -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        lower_regex("ab\n[b-a]", GrammarBuilder())

    assert str(caught.value).endswith("\n<pattern>:2:2\n  2 | [b-a]\n    |  ^^^")


@pytest.mark.timing
@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "(a|a)*",
        "(?:a{1,1000}){1,1000}",
        "(?:a?){500}a{500}",
        "|".join(f"word{i}" for i in range(10_000)),
        "[" + "".join(chr(0x4E00 + 2 * i) for i in range(5000)) + "]",
        "(^|a)" * 200,
    ],
    ids=["nested", "ambiguous", "counts", "optional", "alternatives", "class", "anchors"],
)
def test_regex_bombs_lower_quickly(pattern: str) -> None:
    start = time.process_time()
    with contextlib.suppress(UnsupportedError):
        lower_regex(pattern, GrammarBuilder(), search=True)

    assert time.process_time() - start < 1


@pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA names no folder with the cases")
def test_every_reported_pattern_is_right_or_refused() -> None:
    assert DATA is not None
    lines = Path(DATA, "cases", "reports.jsonl").read_text("utf-8").strip().split("\n")
    wrong: list[str] = []
    for case in (case for case in map(json.loads, lines) if case["kind"] == "regex"):
        try:
            found = {
                text: matches(case["input"], text) for text in (*case["accept"], *case["reject"])
            }
        except StructagError:
            wrong += [case["id"]] * (not case["expected_error"])
            continue
        want = dict.fromkeys(case["accept"], True) | dict.fromkeys(case["reject"], False)
        wrong += [case["id"]] * (found != want or case["expected_error"])

    assert wrong == []


@pytest.mark.parametrize(
    "pattern",
    [
        "a(?!b)",
        "^a",
        "a$",
        "\\ba",
        "a\\b",
        "(?<=b)a",
        "(?m:^)a",
        "(?=a*)ab",
        "a(?=(?=b)b)b",
        "a\\Z",
    ],
)
def test_a_part_may_not_look_out(pattern: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        lower_regex(pattern, GrammarBuilder(), is_part=True)

    assert "past the text that is matched" in caught.value.message


@pytest.mark.parametrize("pattern", ["(?!ab)..", "a\\b-", "a(?<=a)b", "(?=[ab]{2}).(?m:$)\\n"])
def test_a_part_may_look_inside(pattern: str) -> None:
    builder = GrammarBuilder()

    assert lower_regex(pattern, builder, is_part=True) == lower_regex(pattern, builder)


@pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA names no folder with the cases")
def test_every_feature_case_is_right_or_refused() -> None:
    assert DATA is not None
    lines = Path(DATA, "cases", "regex_features.jsonl").read_text("utf-8").strip().split("\n")
    refused: set[str] = set()
    wrong: list[tuple[str, str]] = []
    for case in map(json.loads, lines):
        try:
            lower_regex(case["pattern"], GrammarBuilder())
        except StructagError:
            refused.add(case["feature"])
            continue
        for text, want in itertools.chain(
            ((text, True) for text in case["accept"]), ((text, False) for text in case["reject"])
        ):
            if matches(case["pattern"], text) != want:
                wrong.append((case["feature"], text))

    assert wrong == []
    assert refused == {"backreference \\1", "possessive a++"}


ATOMS = ["a", "b", ".", "[ab]", "[^a]", "\\w", "\\W", "\\b", "\\B", "^", "$"]
OPENERS = ["(", "(?:", "(?=", "(?!", "(?<=", "(?<!"]


def random_pattern(rng: random.Random, depth: int = 2) -> str:
    branches = []
    for _ in range(rng.choice((1, 1, 2))):
        branch = ""
        for _ in range(rng.randint(0, 3)):
            if depth == 0 or rng.random() < 0.55:
                atom = rng.choice(ATOMS)
                branch += atom
                if atom[-1] in "ab.]wW" and rng.random() < 0.3 and atom != "\\b":
                    branch += rng.choice(("*", "+?", "?", "{2}", "{1,2}"))
            else:
                opener = rng.choice(OPENERS)
                branch += f"{opener}{random_pattern(rng, depth - 1)})"
                if opener in ("(", "(?:") and rng.random() < 0.4:
                    branch += rng.choice(("*", "+", "?", "{2}"))
        branches.append(branch)
    return "|".join(branches)


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_agree_with_another_engine(seed: int) -> None:
    regress = pytest.importorskip("regress")
    rng = random.Random(seed)
    texts = ["".join(t) for n in range(4) for t in itertools.product("ab-", repeat=n)]
    compared = 0
    for _ in range(120):
        pattern = random_pattern(rng)
        try:
            searched = regress.Regex(pattern, "u")
            whole = regress.Regex(f"^(?:{pattern})$", "u")
        except regress.RegressError:
            continue
        for oracle, search in ((searched, True), (whole, False)):
            try:
                lower_regex(pattern, GrammarBuilder(), search=search)
            except UnsupportedError:
                continue
            for text in rng.sample(texts, 6):
                want = oracle.find(text) is not None
                compared += 1
                assert matches(pattern, text, search=search) == want, (pattern, text, search)

    assert compared > 500
