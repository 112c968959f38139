"""FILE may be a document, its path, a pydantic model or a model family; progress shows late."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

pytest.importorskip("structag")

from structag.cli import progress
from structag.cli.main import main
from structag.cli.reading import read_document
from structag.cli.rendering import InputError

MODEL = """
from pydantic import BaseModel, TypeAdapter

class Point(BaseModel):
    x: int

class Outer:
    Inner = Point

Points = TypeAdapter(list[Point])
nothing = 3
"""
TOOLS = [{"type": "function", "function": {"name": "ping", "parameters": {"type": "object"}}}]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "points_of_test.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("points_of_test:Point", '{"x": 1}', 0),
        ("points_of_test:Point", "[]", 1),
        ("points_of_test:Outer.Inner", '{"x": 1}', 0),
        ("points_of_test:Points", '[{"x": 1}]', 0),
        ("granite_4:tools.json", '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>', 0),
        ("granite_4", '<tool_call>\n{"name": "ping', 1),
        ("granite_4", '<tool_call>\n{"name": "local_time", "arguments": {"zone": "A/', 1),
    ],
)
@pytest.mark.usefixtures("folder")
def test_named_documents(name: str, text: str, code: int) -> None:
    assert main(["match", name, text]) == code


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("points_of_test:Line", "has no `Line`"),
        ("points_of_test:nothing", "is no pydantic model"),
        ("no_such_module:Point", "cannot be imported"),
        ("deepsek_v4", "did you mean the model family `deepseek_v4`?"),
        ("granite_4:none.json", "there is no file `none.json`"),
        ("granite_4:points_of_test.py", "json-syntax"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_names_that_lead_nowhere(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", name]) == 2
    assert message in capsys.readouterr().err


def test_a_file_comes_before_a_family(folder: Path) -> None:
    (folder / "granite_4").write_text("true", encoding="utf-8")

    assert read_document("granite_4", None).kind.value == "schema"
    assert read_document("granite_4", None).source.name == "granite_4"


@pytest.mark.parametrize(
    ("text", "kind"), [('start: "a"+', "lark"), ("root ::= [a]", "ebnf"), ("{}", "schema")]
)
def test_kind_of_inline_text(text: str, kind: str) -> None:
    assert read_document(text, None).kind.value == kind


def test_a_regex_has_to_be_said() -> None:
    with pytest.raises(InputError):
        read_document("[a-z]+", None)


class Terminal:
    """A standard error that says it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_progress_shows_when_it_takes_long(
    patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.busy("compiling"):
        time.sleep(0.2)
    assert list(progress.track([1, 2, 3], "matching")) == [1, 2, 3]

    assert ("compiling" in terminal.text) == (patience == 0)


def test_no_progress_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.busy("compiling"):
        time.sleep(0.05)
    assert list(progress.track(iter("ab"), "matching")) == ["a", "b"]

    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_STRUCTAG_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "structag ma")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("COMP_WORDS", "structag ma")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit) as ending:
        main([])

    assert ending.value.code == 0
    out = capsys.readouterr().out
    assert "match" in out
    assert "mask" in out


def test_a_pattern_that_is_the_name_of_a_folder_is_a_pattern(folder: Path) -> None:
    (folder / "ab").mkdir()

    assert main(["match", ".", "x", "--kind", "regex"]) == 0
    assert main(["match", "ab", "ab", "--kind", "regex"]) == 0
    assert main(["match", "ab", "x", "--kind", "regex"]) == 1
    assert main(["match", ".", "x"]) == 2
