"""`structag graph`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

main = pytest.importorskip("structag.cli.main").main


def test_a_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "ab?", "--kind", "regex"]) == 0
    assert capsys.readouterr().out == 'seq\n├── "a"\n└── repeat ?\n    └── "b"\n'


def test_a_tree_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "ab?", "--kind", "regex", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "label": "seq",
        "parts": [{"label": '"a"'}, {"label": "repeat ?", "parts": [{"label": '"b"'}]}],
    }


def test_an_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "image.svg"

    assert main(["graph", "ab?", "--kind", "regex", "--railroad"]) == 0
    image = capsys.readouterr().out
    assert image.startswith("<svg ")
    assert main(["graph", "ab?", "--kind", "regex", "--railroad", "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == image


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--railroad", "-o", "no/such/folder/x.svg"], "cannot be written"),
        (["-o", "x.svg"], "only railroad diagrams"),
    ],
)
def test_unusable_output(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["graph", "a", "--kind", "regex", *arguments]) == 2
    assert message in capsys.readouterr().err
