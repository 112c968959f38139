"""`structag diff`."""

from __future__ import annotations

import json

import pytest

main = pytest.importorskip("structag.cli.main").main


def test_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "(a|b)*", "[ab]*", "--kind", "regex"]) == 0
    assert capsys.readouterr().out == "no difference\n"


def test_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "a|b", "b|c", "--kind", "regex"]) == 1
    assert capsys.readouterr().out == "only in a|b:\n- a\nonly in b|c:\n+ c\n"


def test_two_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    schema = '{"type": "boolean"}'
    arguments = ["diff", schema, "true|false|null", "--other-kind", "regex", "--json"]

    assert main(arguments) == 1
    assert json.loads(capsys.readouterr().out) == {
        "equal": False,
        "exact": True,
        "only_first": [],
        "only_second": ["null"],
        "limits": [],
    }


def test_what_was_not_looked_at_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = 'root ::= "a" root | "b"', 'root ::= "a" root | "a"* "b"'

    assert main(["diff", first, second]) == 0
    assert capsys.readouterr().out == (
        "no difference was found\nnot exact: recursion was followed 3 rules deep\n"
    )


def test_standard_input_twice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "-", "-"]) == 2
    assert "cannot both be standard input" in capsys.readouterr().err


def test_what_is_not_known_is_not_called_equal(capsys: pytest.CaptureFixture[str]) -> None:
    once = 'root ::= "[" root "]" | "x"'
    twice = 'root ::= "x" | "[" ("x" | "[" root "]") "]"'
    assert main(["diff", once, twice, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["equal"], found["exact"]) == (None, False)
