"""Importing structag loads nothing, and its names are quick and load no framework."""

from __future__ import annotations

import ast
import pydoc
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import structag

FRAMEWORKS = ("torch", "transformers", "tokenizers", "triton", "jax", "mlx")

MEASURE = """
import sys, time
start = time.process_time()
from structag import Compiler, Matcher, Vocabulary, load
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


def test_the_package_alone_is_loaded(tmp_path: Path) -> None:
    program = "import sys, structag; print(*(name for name in sys.modules if 'structag.' in name))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout == "\n"


def test_the_lists_of_names_agree() -> None:
    (block,) = [
        node
        for node in ast.parse(Path(structag.__file__).read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    checked = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }

    assert checked == structag._HOMES
    assert {*structag.__all__} == {*checked} - {"DeviceMaskPool"}
    assert {*structag.__all__} <= {*dir(structag)}


@pytest.mark.parametrize("name", structag.__all__)
def test_names_are_what_their_modules_define(name: str) -> None:
    value = getattr(structag, name)

    assert getattr(sys.modules[structag._HOMES[name]], name) is value
    assert vars(structag)[name] is value


def test_other_names_are_unknown() -> None:
    with pytest.raises(AttributeError, match="module 'structag' has no attribute 'Compilre'"):
        _ = structag.Compilre


def test_any_name_may_come_first(tmp_path: Path) -> None:
    """Each in a process that has loaded nothing, as are all of them at once by many threads."""
    program = """
import os, sys, threading, structag
for name in [*structag.__all__, "*"]:
    child = os.fork()
    if child == 0:
        try:
            if name == "*":
                start, failed = threading.Barrier(16), []
                def use(first):
                    start.wait()
                    for i in range(len(structag.__all__)):
                        try:
                            getattr(structag, structag.__all__[first * 7 % 31 - i])
                        except BaseException as error:
                            failed.append(error)
                threads = [threading.Thread(target=use, args=(i,)) for i in range(16)]
                [thread.start() for thread in threads]
                [thread.join() for thread in threads]
                assert not failed, failed
            else:
                getattr(structag, name)
                exec(f"from structag import {name}")
        except BaseException as error:
            print(name, repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    os.waitpid(child, 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout == ""


def test_help_has_every_name() -> None:
    text = pydoc.plain(pydoc.render_doc(structag))

    assert [name for name in structag.__all__ if name not in text] == []


@pytest.mark.parametrize(
    "statement", ["from structag import Compiler", "from structag.__main__ import main; main()"]
)
def test_sources_that_are_not_built_say_so(statement: str) -> None:
    root = Path(__file__).resolve().parents[1]
    program = f"import sys; sys.path.insert(0, {str(root)!r}); {statement}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "ImportError: these are structag's sources, without its compiled core" in done.stderr
