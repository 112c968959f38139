"""`structag check`: notices with places and carets, profiles, fixes, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("structag")

from structag.cli.main import main

OPEN = '{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}'
SLIP = '{"type": "string", "minLenght": 2}'


OPENAI = ["--profile", "openai"]


def test_a_slip_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", SLIP]) == 0

    out, err = capsys.readouterr()
    assert out == "ok: <argument> is a usable JSON Schema\n"
    assert err == (
        "warning[slip]: `minLenght` is no keyword, and says nothing\n"
        "  at /minLenght in <argument>\n"
        '    1 | {"type": "string", "minLenght": 2}\n'
        "      |                    ^^^^^^^^^^^\n"
        "  hint did you mean `minLength`?\n"
    )


def test_a_name_that_stands_twice_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    schema = '{"properties": {"a": {"type": "string", "type": "null"}}, "required": [], "x": 1}'
    assert main(["check", schema]) == 0

    assert capsys.readouterr().err == (
        "warning[repeated-name]: an object has `type` more than once, and the last one counts\n"
    )
    assert main(["check", schema, "--strict"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", OPEN, "--strict"], 0),
        (["check", SLIP, "--strict"], 1),
        (["check", 'root ::= "a"\nb ::= "c"', "--strict"], 1),
        (["check", '{"format": "no-such"}', "--strict"], 1),
        (["check", OPEN, "--profile", "openai"], 1),
        (["check", OPEN, "--profile", "gemini"], 0),
        (["check", OPEN, "--profile", "openai", "--fix"], 0),
        (["check", OPEN, "--profile", "openai", "--fix", "--strict"], 0),
        (["check", '{"type": "string"}', "--profile", "openai", "--fix", "--strict"], 0),
        (["check", '{"allOf": [{"pattern": "a"}, {"pattern": "b"}]}', *OPENAI, "--fix"], 1),
        (["check", OPEN, "--fix"], 2),
        (["check", "root ::= [a]", "--profile", "openai"], 2),
        (["check", OPEN, "--profile", "nope"], 2),
    ],
)
def test_exit_codes(arguments: list[str], code: int) -> None:
    assert main(arguments) == code


def test_what_a_profile_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", OPEN, "--profile", "openai"]) == 1

    out, err = capsys.readouterr()
    assert out == (
        "<argument> is a usable JSON Schema, but OpenAI's strict mode would refuse it: 1 error\n"
    )
    assert err == (
        "error[openai]: an object is not closed\n"
        "  at (root) in <argument>\n"
        '  hint add `"additionalProperties": false`\n'
    )


def test_schemas_inside_of_a_tag(capsys: pytest.CaptureFixture[str]) -> None:
    tag = {
        "type": "structural_tag",
        "format": {
            "type": "sequence",
            "elements": [{"type": "json_schema", "json_schema": json.loads(OPEN)}],
        },
    }
    arguments = ["check", json.dumps(tag), "--profile", "openai", "--json"]
    assert main(arguments) == 1
    (notice,) = json.loads(capsys.readouterr().out)["notices"]
    assert notice["pointer"] == "/format/elements/0/json_schema"

    assert main([*arguments, "--fix"]) == 0
    fixed: Any = json.loads(capsys.readouterr().out)["fixed"]
    assert fixed["format"]["elements"][0]["json_schema"]["additionalProperties"] is False


def test_fixing_says_what_it_changes(capsys: pytest.CaptureFixture[str]) -> None:
    schema = '{"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]}'
    assert main(["check", schema, "--profile", "openai", "--fix"]) == 1

    out, err = capsys.readouterr()
    assert json.loads(out)["properties"] == {"value": json.loads(schema)}
    assert err == (
        "note[wrapped]: the root is no object: it is now the property `value` of one\n"
        "  at (root) in <argument>\n"
        "note[failed]: `allOf` cannot be merged: two patterns\n"
        "  at /properties/value/allOf in <argument>\n"
        "error[openai]: `allOf`: composition other than `anyOf` is not supported\n"
        "  at /properties/value/allOf in <argument>\n"
        "  hint say it in the description, and check it afterwards\n"
    )


def test_the_tools_of_a_tag_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.loads(OPEN) | {"additionalProperties": False}
    tools = [
        {"type": "function", "function": {"name": f"f{number}", "parameters": schema}}
        for number in range(21)
    ]
    path = tmp_path / "tools.json"
    arguments = ["check", f"deepseek_v4:{path}", "--profile", "anthropic"]
    path.write_text(json.dumps(tools[:20]))
    assert main(arguments) == 0
    path.write_text(json.dumps(tools))
    assert main(arguments) == 1

    assert "21 tools with a schema, and 20 at most are accepted" in capsys.readouterr().err
    format = {
        "type": "tag", "content": {"type": "json_schema", "json_schema": schema}, "end": "</f>",
    }  # fmt: skip
    tags = [format | {"begin": f"<f{number}>"} for number in range(21)]
    whole = {"type": "triggered_tags", "triggers": ["<f"], "tags": tags}
    tag = json.dumps({"type": "structural_tag", "format": whole})
    assert main(["check", tag, "--profile", "anthropic"]) == 1
    assert main(["check", tag, "--profile", "gemini"]) == 0


def test_an_error_with_a_pointer_gets_its_caret(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", '{"properties": {"a": {"type": "strin"}}}']) == 2

    assert capsys.readouterr().err.splitlines()[1:4] == [
        "  at /properties/a/type in <argument>",
        '    1 | {"properties": {"a": {"type": "strin"}}}',
        "      |                       ^^^^^^",
    ]
