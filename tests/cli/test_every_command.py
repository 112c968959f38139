"""Every command, whatever goes wrong: one clear message, the right exit code, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

cli_main = pytest.importorskip("structag.cli.main")
main = cli_main.main

HERE = Path(__file__).parent
TAG = '{"type":"structural_tag","format":{"type":"tag","begin":"<","content":{"type":"any_text"},"end":">"}}'  # noqa: E501

READS_FILE: dict[str, list[str]] = {
    "check": [],
    "match": ["<a>"],
    "why": ["--token", "a"],
    "mask": [],
    "trace": ["<a>"],
    "show": [],
    "sample": ["-n", "1"],
    "diff": ["true"],
    "graph": [],
    "explain": [],
    "stats": ["--outputs", "1"],
    "bench": ["--runs", "1"],
    "compile": ["-o", os.devnull],
    "convert": ["--to", "gbnf", "--plain-markers"],
}
"""What each command needs besides FILE."""
OTHERS: dict[str, list[str]] = {
    "run": ["no/such/file", "x"],
    "tokens": [],
    "formats": ["qwen3"],
    "schema": [],
    "demo": ["--runs", "1"],
}
TAKES_VOCABULARY = (
    "check",
    "mask",
    "sample",
    "stats",
    "bench",
    "compile",
    "convert",
    "why",
    "trace",
)
UNUSABLE = {
    "missing": (None, "there is no file"),
    "empty": (b"", "is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "text-encoding"),
    "broken": (b'{"type": ', "json-syntax"),
    "no_document": (b"hello", "is no structural tag"),
}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_the_table_is_complete() -> None:
    assert {*READS_FILE, *OTHERS} == cli_main.COMMANDS.keys()


@pytest.mark.parametrize("case", UNUSABLE)
@pytest.mark.parametrize("command", READS_FILE)
def test_unusable_files(
    command: str, case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, message = UNUSABLE[case]
    path = tmp_path / "input.json"
    if content is not None:
        path.write_bytes(content)
    arguments = (command, str(path), *READS_FILE[command])
    code, out, err = run(capsys, *arguments)

    assert (code, out) == (2, "")
    assert err.startswith("error")
    assert message in err
    assert "Traceback" not in err
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (2, "")
    assert set(json.loads(out)) == {"error"}


@pytest.mark.parametrize("command", READS_FILE)
def test_wrong_kind(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, command, TAG, *READS_FILE[command], "--kind", "ebnf")

    assert (code, out) == (2, "")
    assert err.startswith("error[grammar-syntax]")


@pytest.mark.parametrize("command", [*TAKES_VOCABULARY, "run", "tokens"])
def test_unknown_vocabulary(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    first = [] if command in OTHERS else [TAG]
    rest = READS_FILE.get(command, OTHERS.get(command, []))
    code, out, err = run(capsys, command, *first, *rest, "--vocab", "no/such")

    assert (code, out) == (2, "")
    assert "`no/such` is neither" in err


@pytest.mark.parametrize("command", READS_FILE)
def test_interrupt(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Standard:
        class buffer:  # noqa: N801
            @staticmethod
            def read() -> bytes:
                raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Standard)

    assert run(capsys, command, "-", *READS_FILE[command]) == (130, "", "interrupted\n")


WIDE = [(command, "300") for command in READS_FILE]


@pytest.mark.parametrize(
    ("command", "columns"), [*WIDE, *((each, "10") for each in (*READS_FILE, *OTHERS))]
)
def test_any_width_without_colour(
    command: str,
    columns: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("NO_COLOR", "1")
    arguments = OTHERS[command] if command in OTHERS else [TAG, *READS_FILE[command]]
    code, out, err = run(capsys, command, *arguments)

    assert code in (0, 1) or command == "run"
    assert "\x1b" not in out + err
    assert "mistake" not in err


@pytest.mark.parametrize("command", [*READS_FILE, *OTHERS])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, command, "--help")

    assert code == 0
    assert f"Usage: structag {command}" in out
    assert command == "schema" or "--json" in out


CLOSED = """
import io, json, os, sys
from structag.cli.main import main
codes = {}
for line in json.loads(sys.argv[1]):
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, 1)
    sys.stdout = io.TextIOWrapper(os.fdopen(os.dup(1), "wb"), encoding="utf-8", write_through=True)
    codes[line[0]] = main(line)
print(json.dumps(codes), file=sys.stderr)
os._exit(0)
"""


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_closed_pipe() -> None:
    lines: list[Any] = [[name, TAG, *rest] for name, rest in READS_FILE.items()]
    lines += [[name, *rest] for name, rest in OTHERS.items() if name != "run"]
    done = subprocess.run(
        [sys.executable, "-c", CLOSED, json.dumps(lines)],
        cwd=HERE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert json.loads(done.stderr) == {line[0]: 141 for line in lines}
