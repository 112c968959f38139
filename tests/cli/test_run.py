"""`structag compile` and `structag run`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

main = pytest.importorskip("structag.cli.main").main

TAG = '{"type": "structural_tag", "format": {"type": "token", "token": 65}}'


@pytest.fixture
def compiled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = tmp_path / "x.structag"
    assert main(["compile", "ab|c", "--kind", "regex", "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"wrote {path}: {path.stat().st_size:,} bytes\n"
    return str(path)


@pytest.mark.parametrize(("text", "code"), [("ab", 0), ("c", 0), ("a", 1), ("abc", 1), ("", 1)])
def test_texts(compiled: str, text: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", compiled, text]) == code
    assert main(["match", "ab|c", text, "--kind", "regex"]) == code
    capsys.readouterr()
    assert main(["run", compiled, text, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["accepted"] == (code == 0)


@pytest.mark.parametrize(
    ("ids", "code", "count"),
    [
        ("97,98", 0, 2),
        ("97,98,256", 0, 3),
        ("97", 1, 1),
        ("97 99", 1, 1),
        ("256", 1, 0),
        ("", 1, 0),
    ],
)
def test_ids(
    compiled: str, ids: str, code: int, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", compiled, "--ids", ids, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["matched_tokens"] == count
    assert main(["run", compiled, "--ids", ids]) == code
    assert ("accepted" if code == 0 else "rejected after") in capsys.readouterr().out


def test_a_token_read_by_its_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "t.structag")

    assert main(["compile", TAG, "-o", path, "--json"]) == 0
    assert main(["run", path, "--ids", "65"]) == 0
    assert main(["run", path, "A"]) == 1


def test_unusable_files(compiled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes(Path(compiled).read_bytes()[:-1])
    (tmp_path / "text").write_bytes(b"ab")
    (tmp_path / "empty").write_bytes(b"")
    arguments = [["run", str(tmp_path / name), "x"] for name in ("damaged", "text", "empty", "no")]
    arguments += [["run", compiled, "x", "--stop-token", "0"], ["run", compiled]]
    arguments += [["run", compiled, "--ids", "x"], ["run", compiled, "x", "--ids", "1"]]
    arguments += [["compile", "a", "--kind", "regex", "-o", str(tmp_path)]]
    for line in arguments:
        capsys.readouterr()

        assert main(line) == 2, line
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error")
