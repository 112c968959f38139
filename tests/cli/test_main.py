"""Whatever goes wrong is one clear message, the right exit code, and never a traceback."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from rich.cells import cell_len

cli_main = pytest.importorskip("structag.cli.main")
main = cli_main.main

HERE = Path(__file__).parent
"""Where subprocesses start: not in the root, whose sources lack the compiled core."""

TAG = '{"type":"structural_tag","format":{"type":"tag","begin":"<","content":{"type":"any_text"},"end":">"}}'  # noqa: E501
RUN = [sys.executable, "-c", "import sys; from structag.cli.main import main; sys.exit(main())"]

SAYS_WHEN_IT_READS = """
import signal  # which a job in the background is started to ignore
signal.signal(signal.SIGINT, signal.default_int_handler)
class Standard:
    class buffer:
        def read():
            print("reading", flush=True)
            return sys.__stdin__.buffer.read()
sys.stdin = Standard
"""

UNUSABLE = [
    ("missing_file", ["check", "no/such/file.json"], "there is no file `no/such/file.json`"),
    ("folder", ["check", "."], "`.` is a folder"),
    ("empty_argument", ["check", ""], "<argument> is empty"),
    ("name_too_long", ["check", "x" * 5000], "cannot be read"),
    ("broken_json", ["check", "{"], "error[json-syntax]"),
    ("wrong_kind", ["check", "3"], "there is no file `3`"),
    ("not_a_schema", ["check", '{"type":"objekt"}'], "error[schema-value]"),
    ("bare_format", ["check", '{"type":"any_text"}'], "wrap it in"),
    ("unknown_type", ["check", '{"type":"structural_tag","format":{"type":"tga"}}'], "`tag`?"),
    ("broken_pattern", ["check", "(a", "--kind", "regex"], "error[regex-syntax]"),
    ("unknown_vocabulary", ["mask", TAG, "--vocab", "nope"], "`nope` is neither"),
    ("package_without_tokenizer", ["mask", TAG, "--vocab", "numpy"], "no tokenizer file"),
    ("unknown_option", ["match", TAG, "x", "--nope"], "--nope"),
    ("missing_argument", ["match", TAG], "TEXT"),
    ("unknown_command", ["nope"], "nope"),
    ("unknown_id_traced", ["trace", TAG, "", "--ids", "97,99999"], "there is no token 99999"),
    ("unknown_id_in_prefix", ["mask", TAG, "--prefix-ids", "9" * 30], "there is no token 99"),
    ("wrong_kind_name", ["check", TAG, "--kind", "nope"], "nope"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), [row[1:] for row in UNUSABLE], ids=[row[0] for row in UNUSABLE]
)
def test_unusable_input(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert message in err
    assert err.startswith("error")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "error[text-encoding]"),
        (b"\0\0\0\0", "error[json-syntax]"),
        (b'{"type": "\xff"}', "error[text-encoding]"),
        (b'{"a":"\\ud800"}', "error[text-encoding]"),
        (b"[" * 10_000, "error[nesting-limit]"),
        (b"hello", "no structural tag, JSON Schema, EBNF, GBNF or Lark"),
    ],
)
def test_unusable_file(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "input.json"
    path.write_bytes(content)

    assert main(["check", str(path)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("width", [40, 80, 300])
@pytest.mark.parametrize(
    "content",
    [
        bytes(range(256)) * 3,
        ("\x85\u2028\u2029\u202e日本" * 200).encode(),
        ('"' + "日本" * 100 + '" x').encode(),
    ],
    ids=["every_byte", "line_ends_and_wide", "end_of_a_wide_line"],
)
def test_the_drawn_line_fits_the_terminal(
    content: bytes,
    width: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    path = tmp_path / "input.json"
    path.write_bytes(content)

    assert main(["check", str(path), "--kind", "schema"]) == 2
    err = capsys.readouterr().err
    assert not set("\x85\u2028\u2029\u202e") & set(err)
    drawn = [line for line in err.split("\n") if " | " in line]
    assert len(drawn) == 2
    assert max(map(cell_len, drawn)) <= width


@pytest.mark.parametrize(
    ("content", "kind"), [(b'{"type": "null"}', "schema"), (b'root ::= "a"', "ebnf")]
)
def test_a_byte_order_mark_is_no_part_of_a_document(
    content: bytes, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"\xef\xbb\xbf" + content)

    assert main(["check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == kind


def test_tools_alone_are_no_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", '[{"type": "function"}]']) == 2
    assert "tools go with a model family" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("option", [[], ["--json"], ["--help"]])
def test_a_full_disk_is_one_line(option: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*RUN, "check", "true", *option],
            cwd=HERE,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert (done.returncode, done.stderr) == (2, b"error: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="streams of POSIX")
@pytest.mark.parametrize(
    ("redirection", "code", "error"),
    [
        ("<&-", 2, "error: <standard input> is empty"),
        (">&-", 0, ""),
        ("2>&-", 0, ""),
    ],
)
def test_streams_that_are_closed(redirection: str, code: int, error: str) -> None:
    file = "-" if redirection == "<&-" else "true"
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *RUN, "check", file],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code
    assert done.stderr.partition("\n")[0] == error


def test_the_place_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tag.json"
    path.write_text('{\n  "type": tag\n}', encoding="utf-8")

    assert main(["check", str(path)]) == 2
    assert capsys.readouterr().err.splitlines()[1:] == [
        f"  {path}:2:11",
        '    2 |   "type": tag',
        "      |           ^",
    ]


def test_a_pattern_inside_a_tag_gets_its_caret(capsys: pytest.CaptureFixture[str]) -> None:
    tag = '{"type":"structural_tag","format":{"type":"regex","pattern":"a(b"}}'

    assert main(["check", tag]) == 2
    err = capsys.readouterr().err
    assert "at /format/pattern in <argument>" in err
    assert "| a(b" in err
    assert "^" in err


def test_errors_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    source = '{"type":"structural_tag","format":{"type":"tga"}}'

    assert main(["check", source, "--json"]) == 2
    out, err = capsys.readouterr()
    error = json.loads(out)["error"]
    assert err == ""
    assert (error["code"], error["pointer"]) == ("tag-type", "/format/type")


def test_usage_errors_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "--json"]) == 2
    assert "FILE" in json.loads(capsys.readouterr().out)["error"]["message"]


@pytest.mark.parametrize("arguments", [[], ["--help"], ["match", "--help"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert "Usage: structag" in capsys.readouterr().out


@pytest.mark.parametrize("name", cli_main.COMMANDS)
def test_the_list_of_commands_says_what_they_say(name: str) -> None:
    function = getattr(import_module(f"structag.cli.{name}"), name)

    assert inspect.getdoc(function).partition("\n")[0] == cli_main.COMMANDS[name]


def test_only_the_whole_has_options_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == main(["schema", "--help"]) == 0

    assert capsys.readouterr().out.count("--install-completion") == 1


def test_help_imports_no_command() -> None:
    program = (
        "import sys; from structag.cli.main import COMMANDS, main; main(['--help'])\n"
        "assert not {f'structag.cli.{name}' for name in COMMANDS} & {*sys.modules}\n"
        "assert 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], cwd=HERE, capture_output=True, check=True)


def test_a_command_that_nearly_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mtach", "true", "1"]) == 2
    assert "Did you mean 'match'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (TAG, "tag"),
        ('{"type":"integer"}', "schema"),
        ('{"type":"string","format":"date"}', "schema"),
        ("true", "schema"),
    ],
)
def test_kind_is_guessed(source: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", source, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == kind


@pytest.mark.parametrize("width", ["20", "200"])
@pytest.mark.parametrize("no_color", ["", "1"])
def test_any_terminal(width: str, no_color: str) -> None:
    environment = {**os.environ, "COLUMNS": width, "NO_COLOR": no_color}
    done = subprocess.run(
        [*RUN, "match", TAG, "<a"],
        env=environment,
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert "rejected at line 1, column 3 (byte 2): got the end of the text" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
def test_closed_pipe_is_silent() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*RUN, "show", TAG], cwd=HERE, stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
def test_interrupt_is_one_line() -> None:
    program = RUN[-1].replace("; ", "\n").replace("sys.exit", SAYS_WHEN_IT_READS + "sys.exit")
    with subprocess.Popen(
        [*RUN[:-1], program, "match", TAG, "-"],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"reading\n"
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=60)[1]

    assert (process.returncode, error) == (130, b"interrupted\n")


def test_an_interrupt_that_a_library_wrapped_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise RuntimeError("while calling back") from error

    monkeypatch.setattr(cli_main.typer.main, "get_command", interrupted)

    assert main(["check", "x"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
