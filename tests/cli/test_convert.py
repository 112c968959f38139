"""`structag convert`, and grammar texts as documents of the other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("structag")

from structag.cli.main import main


def test_a_schema_becomes_ebnf(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", '{"const": "a"}', "--to", "ebnf"]) == 0
    assert capsys.readouterr().out == 'root ::= "\\"a\\""\n'


def test_json_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "root ::= [ab]", "--to", "regex", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"kind": "ebnf", "regex": "[ab]"}


def test_markers_need_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    tag = '{"type": "structural_tag", "format": {"type": "const_string", "value": "<a>"}}'

    assert main(["convert", tag, "--to", "gbnf"]) == 2
    assert capsys.readouterr().err == (
        "error[notation]: GBNF cannot say: a marker that control tokens may spell\n"
        "  hint write markers as plain text\n"
    )
    assert main(["convert", tag, "--to", "gbnf", "--plain-markers"]) == 0
    assert capsys.readouterr().out == 'root ::= "<a>"\n'


def test_gbnf_is_known_by_the_name_of_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "any.gbnf"
    path.write_text("root ::= .\n", encoding="utf-8")

    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out == f"ok: {path} is a usable grammar in GBNF\n"
    assert main(["match", str(path), "é"]) == 0


def test_lark_is_known_by_the_name_of_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "any.lark"
    path.write_text('start: "a"~2..3\n', encoding="utf-8")

    assert main(["convert", str(path), "--to", "ebnf"]) == 0
    assert capsys.readouterr().out == 'root ::= "a"{2,3}\n'
    assert main(["convert", 'start: "a"+', "--kind", "lark", "--to", "lark"]) == 0
    assert capsys.readouterr().out == 'start: "a"+\n'


def test_a_mistake_is_drawn_in_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "root ::= a\na ::= [z-a]"]) == 2
    assert capsys.readouterr().err == (
        "error[grammar-syntax]: the range is in the wrong order\n"
        "  <argument>:2:8\n"
        "    2 | a ::= [z-a]\n"
        "      |        ^^^\n"
        "  expected the smaller end first\n"
    )


def test_warnings_are_in_the_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", 'root ::= "a"\nb ::= "c"', "--json"]) == 0
    (notice,) = json.loads(capsys.readouterr().out)["notices"]

    assert notice["code"] == "unused-rule"
    assert notice["message"] == "rule `b` is never used"
    assert notice["span"] == [13, 14]
