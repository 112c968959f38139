"""`structag formats`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

main = pytest.importorskip("structag.cli.main").main
model_formats = pytest.importorskip("structag").model_formats

FAMILY: dict[str, Any] = {
    "name": "mine",
    "models": "My models",
    "turn": "A:",
    "prompts": {"off": "A:"},
    "stop": ["<end>"],
    "tokens": ["<call>"],
    "calls": {"call": "<call>{name}{arguments}\n", "style": "json"},
    "sources": [{"fact": "all of it", "source": "this test", "confidence": "low"}],
    "samples": [{"accept": "Now\n<call>list_tables{}\n"}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("structag.openai._registered", {})
    (tmp_path / "mine.json").write_text(json.dumps(FAMILY), encoding="utf-8")
    return tmp_path


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "--json"]) == 0
    names = [family["name"] for family in json.loads(capsys.readouterr().out)]

    assert main(["formats"]) == 0
    shown = capsys.readouterr().out
    assert "harmony" in names
    assert all(name in shown for name in names)


def test_a_style_without_a_name(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    style = {"before": "@", "after": ["="], "closer": ";", "not_in_names": "="}
    data = FAMILY | {"calls": {"call": "<call>{name}{arguments}\n", "style": style}, "samples": []}
    (folder / "mine.json").write_text(json.dumps(data), encoding="utf-8")

    assert main(["formats", "--formats-dir", str(folder)]) == 0
    assert "@NAME=VALUE;" in capsys.readouterr().out
    assert main(["formats", "mine", "--formats-dir", str(folder)]) == 0
    assert "arguments       @NAME=VALUE;" in capsys.readouterr().out


def test_one_family(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["formats", "mine", "--formats-dir", str(folder)]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "mine: My models",
        "  prompt ends     A:",
        "  call            <call>{name}{arguments}⏎",
        "  arguments       json",
        "  tokens          <call>",
        "  stop tokens     <end>",
        "Sources",
        "  low     all of it: this test",
        "Sample",
        "  Now",
        "  <call>list_tables{}",
        "  ",
    ]


def test_one_family_as_json(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["formats", "mine", "--formats-dir", str(folder), "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["calls"] == {"call": FAMILY["calls"]["call"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "json-syntax"), ("{}", "family-value"), (None, "no *.json file")],
)
def test_a_folder_with_mistakes(
    text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        (tmp_path / "mine.json").write_text(text, encoding="utf-8")

    assert main(["formats", "--formats-dir", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "--formats-dir", "no/such"]) == 2
    assert "is no folder" in capsys.readouterr().err


def test_an_unknown_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "qwen4"]) == 2
    assert "did you mean `qwen3`?" in capsys.readouterr().err


@pytest.mark.parametrize("columns", ["1", "20", "45"])
def test_a_terminal_without_room_for_a_table_gets_lines(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    assert main(["formats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [*model_formats()]
    assert "apertus: models Apertus, arguments json" in lines
