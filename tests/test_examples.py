"""Every example runs to its end, and proves what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


# Those that run a real model take too long under sanitizers.
SLOW = {"generate.py"}
PATHS = [
    pytest.param(path, id=path.name, marks=[pytest.mark.slow] if path.name in SLOW else [])
    for path in sorted(EXAMPLES.glob("*.py"))
]


@pytest.mark.parametrize("path", PATHS)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    done = run(path.name, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_all_five_checks_of_the_verification_hold(tmp_path: Path) -> None:
    lines = run("verification.py", tmp_path).stdout.splitlines()

    assert [line.split(":")[0] for line in lines[:5]] == [f"{n}. holds" for n in range(1, 6)]
    assert lines[4].endswith("100 of 100 random generations are valid")
    assert lines[5].split() == ["valid", "with", "the", "mask:", "100", "of", "100"]
    assert int(lines[6].split()[-3]) < 10


def test_the_agent_format_holds(tmp_path: Path) -> None:
    lines = run("agent_format.py", tmp_path).stdout.splitlines()
    numbers = [int(word) for word in lines[-2].replace(",", "").split() if word.isdigit()]

    assert [line.split(":")[0] for line in lines[:13]] == ["accepted"] * 5 + ["rejected"] * 8
    assert numbers[0] == numbers[2] > 50


def test_the_annotations_of_a_video_hold(tmp_path: Path) -> None:
    lines = run("video_annotation.py", tmp_path).stdout.splitlines()

    assert [line.split(":")[0] for line in lines[:8]] == ["accepted"] * 2 + ["rejected"] * 6
    assert int(lines[8].split()[0]) > 50
