"""`why`, `trace`, batches of `match`, and the lists of `mask`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("structag")

from structag.cli.main import main

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"a": {"type": "boolean"}, "b": {"$ref": "#/$defs/list"}},
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {"list": {"type": "array", "items": {"type": "integer"}}},
    }
)
TAG = json.dumps(
    {
        "type": "structural_tag",
        "format": {
            "type": "tag",
            "begin": "<a>",
            "content": {"type": "any_text", "max_tokens": 2},
            "end": "</a>",
        },
    }
)
TOKENIZER = {
    "model": {"type": "BPE", "vocab": {"t": 0, "r": 1, "u": 2, "e": 3, "tr": 4}, "merges": ["t r"]},
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
    "decoder": {"type": "ByteLevel"},
    "added_tokens": [{"id": 5, "content": "<end>", "special": True}],
}


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def vocabulary(tmp_path: Path) -> str:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(TOKENIZER), encoding="utf-8")
    return str(path)


# -- why


def test_why_shows_the_byte_that_dies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", SCHEMA, "--prefix", '{"a":', "--token", "trx"]) == 1

    assert lines(capsys) == [
        "token 256 `trx` is refused: a byte does not fit",
        "  `tr` fits  in #/properties/a",
        "  `x` does not fit, byte 3 of 3",
        "expected `ue`, the rest of `true`",
        "  in #/properties/a",
    ]


def test_why_shows_where_a_token_leads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", SCHEMA, "--prefix", '{"a":true,', "--token", '"b":[7']) == 0

    assert lines(capsys)[-5:] == [
        "  `7` fits  in #/properties/b › #/$defs/list/items",
        "after it:",
        "expected a digit, `,`, `]` or whitespace",
        "  `,`, `]` or whitespace  in #/properties/b › #/$defs/list",
        "  a digit  in #/properties/b › #/$defs/list/items",
    ]


@pytest.mark.parametrize(
    ("arguments", "reason", "code"),
    [
        (["--prefix", "true", "--token", "<eos>"], "end", 0),
        (["--token", "<eos>"], "too_early", 1),
        (["--prefix", "true", "--prefix-ids", "256", "--token", "t"], "ended", 1),
        (["--token-id", "116"], "bytes", 0),
        (["--token-id", "9999"], "no_token", 1),
        (["--token", "x"], "dies", 1),
    ],
)
def test_reasons(
    arguments: list[str], reason: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", '{"type":"boolean"}', *arguments, "--json"]) == code

    shown = document(capsys)
    assert shown["reason"] == reason
    assert shown["allowed"] == (code == 0)


def test_why_with_a_used_up_budget(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["why", TAG, "--prefix", "<a>", "--prefix-ids", "120,120", "--token"]
    assert main([*arguments, "x"]) == 1
    assert "no token is left in the budget of the region" in lines(capsys)[0]
    assert main([*arguments, "<"]) == 0


def test_why_with_a_vocabulary(vocabulary: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["why", '{"enum":[true]}', "--vocab", vocabulary, "--stop-token", "5"]
    assert main([*arguments, "--token", "tr"]) == 0
    assert lines(capsys)[0] == "token 4 `tr` is allowed: its bytes fit"
    assert main([*arguments, "--token", "zz"]) == 2
    assert capsys.readouterr().err == (
        "error: no token spells `zz`\n  hint name one by its id: `--token-id`\n"
    )


def test_why_after_a_rejected_prefix(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", SCHEMA, "--prefix", "[", "--token", "x"]) == 1

    assert lines(capsys) == ["the prefix is rejected at byte 0", "expected `{`", "  in #"]


# -- trace


def test_trace(vocabulary: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["trace", '{"enum":[true]}', "--vocab", vocabulary, "--stop-token", "5"]
    assert main([*arguments, "true", "--ids", "5"]) == 0

    assert lines(capsys) == [
        "         allowed          token             part",
        "    1          2          tr                #",
        "    2          1  forced  u                 #",
        "    3          1  forced  e                 #",
        "    4          1  forced  <end>",
        "accepted",
    ]


def test_no_token_goes_into_an_added_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vocab = {"x": 0, "<": 1, "x<": 2, "/": 3, ">": 4}
    added = [
        {"id": 5, "content": "</>", "special": False},
        {"id": 6, "content": "<end>", "special": True},
    ]
    model = TOKENIZER["model"] | {"vocab": vocab, "merges": ["x <"]}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(TOKENIZER | {"model": model, "added_tokens": added}))

    arguments = ["trace", "x</>", "x</>", "--kind", "regex", "--stop-token", "6", "--json"]
    assert main([*arguments, "--vocab", str(path)]) == 0
    assert [step["name"] for step in document(capsys)["tokens"]] == ["x", "</>"]


def test_trace_of_a_rejected_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", '{"enum":[true]}', "tx", "--json"]) == 1

    shown = document(capsys)
    assert [(step["name"], step["taken"]) for step in shown["tokens"]] == [
        ("t", True),
        ("x", False),
    ]
    assert not shown["accepted"]
    assert shown["after"]["forced"] == "rue"


def test_stepping_through(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n\nb\n4\n\n"))

    assert main(["trace", '{"enum":[true]}', "true", "--live"]) == 0
    heads = [line for line in lines(capsys) if line.startswith(("token ", "the end"))]
    assert heads == [
        "token 1 of 4",
        "token 2 of 4",
        "token 3 of 4",
        "token 2 of 4",
        "token 4 of 4",
        "the end",
    ]


def test_stepping_to_what_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n\n\n"))

    assert main(["trace", '{"enum":[true]}', "tx", "--live"]) == 1
    assert "refused: a byte does not fit" in lines(capsys)


# -- match in batches


def test_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "texts.jsonl"
    texts = ['{"a":true}', {"text": '{"a":true,"b":[x'}, '{"a":1}']
    path.write_text("\n\n".join(map(json.dumps, texts)), encoding="utf-8")

    assert main(["match", SCHEMA, "--batch", str(path)]) == 1
    assert lines(capsys) == [
        "1  accepted",
        "2  rejected at line 1, column 16 (byte 15): got `x`, "
        "expected a digit, `-`, `]` or whitespace  in #/properties/b › #/$defs/list",
        "3  rejected at line 1, column 6 (byte 5): got `1`, "
        "expected `false`, `true` or whitespace  in #",
        "1 of 3 accepted",
    ]
    assert main(["match", SCHEMA, "--batch", str(path), "--json"]) == 1
    shown = document(capsys)
    assert (shown["accepted"], shown["total"]) == (1, 3)
    assert [result["accepted"] for result in shown["results"]] == [True, False, False]


@pytest.mark.parametrize(
    ("content", "message"),
    [("[1]", "line 1 of"), ('"a"\n{', "json-syntax"), ('"a"\n{"t": 1}', "line 2 of")],
)
def test_batch_with_a_mistake(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text(content, encoding="utf-8")

    assert main(["match", SCHEMA, "--batch", str(path)]) == 2
    assert message in capsys.readouterr().err


# -- mask


def test_mask_groups_by_next_byte(vocabulary: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["mask", '{"type":"boolean"}', "--vocab", vocabulary, "--stop-token", "5"]
    assert main(arguments) == 0

    assert lines(capsys) == [
        "2 of 6 tokens allowed (33 %)",
        "stop allowed: no",
        "expected `false` or `true`",
        "  in #",
        "by next byte:",
        "        2  `t`  `t`  `tr`",
        "longest:",
        "        4  `tr`",
        "        0  `t`",
    ]


def test_masks_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "[ab]c", "--diff", "[bc]c", "--kind", "regex"]) == 1
    assert lines(capsys) == [
        "tokens allowed by both: 1",
        "by the first only: 1",
        "       97  `a`",
        "by the second only: 1",
        "       99  `c`",
    ]
    assert main(["mask", "[ab]c", "--diff", "(a|b)c+", "--kind", "regex", "--json"]) == 0
    assert document(capsys)["both"] == 2
