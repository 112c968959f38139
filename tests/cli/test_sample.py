"""`structag sample`."""

from __future__ import annotations

import json

import pytest

main = pytest.importorskip("structag.cli.main").main

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[str]:
    assert main(["sample", *arguments]) == code
    return capsys.readouterr().out.splitlines()


def test_one_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, "[a-c]{3}", "--kind", "regex", "-n", "7")

    assert len(lines) == 7
    assert all(len(line) == 3 and set(line) <= set("abc") for line in lines)


def test_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    first = run(capsys, SCHEMA, "--seed", "3")

    assert first == run(capsys, SCHEMA, "--seed", "3")
    assert first != run(capsys, SCHEMA, "--seed", "4")


def test_line_ends_are_pictures_but_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "a\\nb", "--kind", "regex", "-n", "1") == ["a␊b"]
    assert main(["sample", "a\\nb", "--kind", "regex", "-n", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"pieces": ["a\nb"]}]


def test_near_misses_give_their_reason(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, SCHEMA, "--near-miss", "-n", "3", "--seed", "1")

    assert len(lines) == 6
    assert all("expected" in line for line in lines[1::2])


def test_near_misses_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", SCHEMA, "--near-miss", "-n", "2", "--json"]) == 0
    misses = json.loads(capsys.readouterr().out)
    for miss in misses:
        text = "".join(miss["pieces"])

        assert main(["match", SCHEMA, text]) == 1
        assert f"byte {miss['accepted_bytes']}" in capsys.readouterr().out


def test_where_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    tag = '{"type": "structural_tag", "format": {"type": "any_text"}}'

    assert run(capsys, tag, "--near-miss", code=1) == ["0 of 5 found: little is refused here"]


def test_tokens_read_by_their_ids_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    tag = '{"type": "structural_tag", "format": {"type": "token", "token": 65}}'

    assert run(capsys, tag, "-n", "1") == ["A"]
    assert main(["sample", tag, "-n", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"pieces": [65]}]
