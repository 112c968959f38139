"""Every command on every bad input, and on every kind of terminal: one message, the right code.

The commands are those that the command line has: one that is new needs a row in `ARGUMENTS`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

structag = pytest.importorskip("structag")

from structag.cli.main import COMMANDS as NAMES  # noqa: E402
from structag.cli.main import load_command, main  # noqa: E402

HERE = Path(__file__).parent
TAG = '{"type":"structural_tag","format":{"type":"tag","begin":"<","content":{"type":"any_text"},"end":">"}}'  # noqa: E501
COMMANDS = {name: load_command(name) for name in NAMES}
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-9]|4[0-9]|9[0-7])m")

ARGUMENTS: dict[str, tuple[list[str], int]] = {
    "bench": (["--runs", "1"], 0),
    "check": ([], 0),
    "compile": (["--output", os.devnull], 0),
    "convert": (["--to", "ebnf", "--plain-markers"], 0),
    "diff": ([TAG], 0),
    "demo": (["--runs", "1"], 0),
    "explain": ([], 0),
    "formats": ([], 0),
    "graph": ([], 0),
    "mask": ([], 0),
    "match": (["<a>"], 0),
    "run": (["{artefact}", "<a>"], 0),
    "sample": (["-n", "2"], 0),
    "schema": ([], 0),
    "show": ([], 0),
    "stats": ([], 0),
    "tokens": ([], 0),
    "trace": (["<a>"], 0),
    "why": (["--token", "<a"], 0),
}
"""What a command needs after FILE, and its exit code on `TAG`."""

FILES = {
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "text-encoding"),
    "zeros": (b"\0" * 8, "json-syntax"),
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "broken": (b'{"type": ', "json-syntax"),
    "deep": (b"[" * 10_000, "nesting-limit"),
    "a_list": (b"[1]", "a schema cannot be a `list`"),
    "unknown_type": (b'{"type":"structural_tag","format":{"type":"tga"}}', "tag-type"),
    "prose": (b"hello there", "no structural tag, JSON Schema"),
}


def options(name: str) -> set[str]:
    return {parameter.name for parameter in COMMANDS[name].params}


READERS = sorted(name for name in COMMANDS if {"file", "kind"} <= options(name))
WITH_VOCABULARY = [name for name in READERS if "vocab" in options(name)]


def test_the_table_has_every_command() -> None:
    assert set(COMMANDS) <= set(ARGUMENTS)


def refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error")
    assert message in err.splitlines()[0]
    assert "Traceback" not in err


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", READERS)
def test_bad_files(
    name: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, message = FILES[kind]
    path = tmp_path / "input"
    path.write_bytes(content)

    refused([name, str(path), *ARGUMENTS[name][0]], message, capsys)


@pytest.mark.parametrize("name", READERS)
def test_no_file(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused([name, "no/such/file", *ARGUMENTS[name][0]], "there is no file", capsys)
    refused([name, str(HERE), *ARGUMENTS[name][0]], "is a folder", capsys)


@pytest.mark.parametrize("name", READERS)
def test_wrong_kind(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused([name, TAG, *ARGUMENTS[name][0], "--kind", "ebnf"], "", capsys)
    refused([name, TAG, *ARGUMENTS[name][0], "--kind", "nope"], "nope", capsys)


@pytest.mark.parametrize("name", WITH_VOCABULARY)
def test_unknown_vocabulary(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused([name, TAG, *ARGUMENTS[name][0], "--vocab", "nope"], "`nope` is neither", capsys)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_unknown_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused([name, "--nope"], "--nope", capsys)


# -- terminals


def arguments_of(name: str, file: str = TAG) -> list[str]:
    return [name, *([file] if name in READERS else []), *ARGUMENTS[name][0]]


@cache
def artefact() -> str:
    """What `structag compile` writes."""
    path = Path(tempfile.mkdtemp()) / "tag.structag"
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    compiler.compile_structural_tag(TAG).save(path)
    return str(path)


@cache
def runs(scenario: str, names: tuple[str, ...], file: str, settings: str) -> dict[str, list[str]]:
    """What became of the commands, all run by one process."""
    done = subprocess.run(
        [sys.executable, str(HERE.parent / "support" / "terminal_runs.py")],
        input=json.dumps([(scenario, arguments_of(name, file)) for name in names]).replace(
            "{artefact}", artefact()
        ),
        env={**os.environ, **json.loads(settings)},
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(names, json.loads(done.stdout), strict=True))


pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_closed_pipe(name: str) -> None:
    code, _, errors = runs("pipe", tuple(sorted(COMMANDS)), TAG, "{}")[name]

    assert (code, errors) == (141, "")


@pytest.mark.parametrize("name", READERS)
def test_interrupt(name: str) -> None:
    code, _, errors = runs("interrupt", tuple(READERS), "-", "{}")[name]

    assert (code, errors) == (130, "interrupted\n")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_narrow_terminal_without_colour(name: str) -> None:
    settings = '{"COLUMNS": "20", "NO_COLOR": "1", "TERM": "xterm"}'
    code, out, errors = runs("terminal", tuple(sorted(COMMANDS)), TAG, settings)[name]

    assert (code, errors) == (ARGUMENTS[name][1], "")
    assert out
    assert COLOUR.search(out) is None


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_terminal_that_knows_no_escapes(name: str) -> None:
    settings = '{"TERM": "dumb"}'
    code, out, errors = runs("terminal", tuple(sorted(COMMANDS)), TAG, settings)[name]

    assert (code, errors) == (ARGUMENTS[name][1], "")
    assert "\x1b[" not in out


def test_output_that_knows_ascii_only() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "structag", "match", '{"const": "\\n"}', "é"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("\\xe9\n^\n")
