"""`structag match` says where a text stops and what was expected there."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

main = pytest.importorskip("structag.cli.main").main

EXAMPLE = str(Path(__file__).resolve().parents[2] / "examples" / "deepseek_v4.json")
SCHEMA = '{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}'  # noqa: E501
CALL = (
    "Dinner.</think><｜DSML｜tool_calls>\n"
    '<｜DSML｜invoke name="book_table">\n'
    '<｜DSML｜parameter name="restaurant" string="true">Statholdergaarden</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="guests" string="false">4</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
)


def test_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", SCHEMA, '{"a":12}']) == 0
    out, err = capsys.readouterr()

    assert out == '{"a":12}\naccepted\n'
    assert err == ""


def test_rejected_with_place_and_expectation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", SCHEMA, '{"a":x}']) == 1

    assert capsys.readouterr().out.splitlines()[:3] == [
        '{"a":x}',
        "     ^",
        "rejected at line 1, column 6 (byte 5): got `x`",
    ]


def test_text_that_stops_too_early(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", SCHEMA, '{"a']) == 1
    lines = capsys.readouterr().out.splitlines()

    assert lines == [
        '{"a',
        "   ^",
        "rejected at line 1, column 4 (byte 3): got the end of the text",
        'expected `"`',
        "  in #",
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (CALL, 0),
        ("</think>No call is needed.", 0),
        (CALL.replace(">4<", ">0<"), 1),
        (CALL.replace("book_table", "book_tabel"), 1),
        (CALL + "!", 1),
        ("no end of the reasoning", 1),
    ],
)
def test_deepseek_example(text: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", EXAMPLE, text]) == code
    assert ("accepted" in capsys.readouterr().out) == (code == 0)


def test_json_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "[a-z]{2,3}", "ab1", "--kind", "regex", "--json"]) == 1

    assert json.loads(capsys.readouterr().out) == {
        "accepted": False,
        "matched_bytes": 2,
        "total_bytes": 3,
        "line": 1,
        "column": 3,
        "expected": "`a`–`z` or the end",
        "allowed_bytes": list(range(ord("a"), ord("z") + 1)),
        "may_end": True,
        "forced": "",
        "parts": [
            {
                "trail": [],
                "expected": "`a`–`z`",
                "bytes": list(range(ord("a"), ord("z") + 1)),
                "token_ids": [],
            }
        ],
    }


def test_text_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a":1}')))

    assert main(["match", SCHEMA, "-"]) == 0


def test_both_cannot_be_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "-", "-"]) == 2
    assert capsys.readouterr().err


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", '{"const":1}', "\x1b[31mred"]) == 1
    out = capsys.readouterr().out

    assert "\x1b" not in out
    assert "␛" in out


def test_wide_characters_keep_the_caret_in_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "漢字a", "漢字b", "--kind", "regex"]) == 1

    assert capsys.readouterr().out.splitlines()[1] == "    ^"


def test_byte_input_that_is_not_utf8(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a":\xff}')))

    assert main(["match", SCHEMA, "-"]) == 1
    assert "byte 5" in capsys.readouterr().out
