"""Importing structag is quick, and loads none of the frameworks it can work with."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import pytest

FRAMEWORKS = ("torch", "transformers", "tokenizers", "triton", "jax", "mlx")

MEASURE = """
import sys, time
start = time.process_time()
import structag
seconds = time.process_time() - start
print(seconds, *sorted({name.partition(".")[0] for name in sys.modules}))
"""


def import_in_fresh_process(folder: Path) -> tuple[float, set[str]]:
    """Processor seconds of the import (others' load does not count), and the modules loaded."""
    run = subprocess.run(
        [sys.executable, "-c", MEASURE], cwd=folder, capture_output=True, text=True, check=True
    )
    seconds, *modules = run.stdout.split()
    return float(seconds), set(modules)


@pytest.mark.timing
def test_import_takes_less_than_a_fifth_of_a_second(tmp_path: Path) -> None:
    seconds = [import_in_fresh_process(tmp_path)[0] for _ in range(7)]

    assert statistics.median(seconds) < 0.2, seconds


def test_import_loads_no_framework(tmp_path: Path) -> None:
    _, modules = import_in_fresh_process(tmp_path)

    assert modules.isdisjoint(FRAMEWORKS)


def test_sources_that_are_not_built_say_so() -> None:
    root = Path(__file__).resolve().parents[1]
    program = f"import sys; sys.path.insert(0, {str(root)!r}); import structag"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "ImportError: these are structag's sources, without its compiled core" in done.stderr
