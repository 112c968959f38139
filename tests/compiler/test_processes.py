"""Compiled grammars in child processes: forked with threads alive, and started anew.

The parent is a process of its own, so that it has no threads but those the test is about.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PRELUDE = """
import os, sys, threading
import numpy as np
from structag import BatchMatcher, Compiler, Matcher, Vocabulary

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
compiler = Compiler(Vocabulary.byte_level())

def follow(matcher, text):
    rows = np.zeros((len(text) + 1, 9), dtype=np.int32)
    for index, char in enumerate(text):
        matcher.fill_next_token_bitmask(rows, index)
        assert matcher.accept_string(char), (text, index)
    matcher.fill_next_token_bitmask(rows, len(text))
    return rows.tobytes()
"""

FORK = """
grammar = compiler.compile_json_schema_async(SCHEMA).result()  # its thread stays
batch = BatchMatcher(4)
matchers = [Matcher(compiler.compile_regex(f"[a-z]{{{i},100}}x")) for i in range(1, 65)]
rows = np.zeros((len(matchers), 9), dtype=np.int32)
batch.fill_next_token_bitmask(matchers, rows)
expected = rows.copy()
begun = Matcher(grammar)
assert begun.accept_string('{"a"')
pid = os.fork()
if pid == 0:
    status = 1
    try:
        follow(begun, ': "text"}')                         # from where the parent was
        assert begun.is_completed()
        follow(Matcher(grammar), '{"a":"new","b":[1,2]}')  # states that nobody has seen
        batch.fill_next_token_bitmask(matchers, rows)      # threads that are not here
        assert (rows == expected).all()
        other = compiler.compile_json_schema_async({"type": "integer"}).result(20)
        assert Matcher(other).accept_string("12")
        status = 0
    finally:
        os._exit(status)
assert os.waitpid(pid, 0)[1] == 0
follow(begun, ': "text"}')                                 # and the parent goes on
assert begun.is_completed()
batch.fill_next_token_bitmask(matchers, rows)
"""

POOL = """
import multiprocessing

def rows_in_child(grammar):
    return follow(Matcher(grammar), '{"a": "text"}')

if __name__ == "__main__":
    grammar = compiler.compile_json_schema(SCHEMA)
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as pool:
        assert set(pool.map(rows_in_child, [grammar] * 4)) == {rows_in_child(grammar)}
"""


@pytest.mark.parametrize(
    ("script", "method"),
    [
        pytest.param(FORK, "", marks=pytest.mark.forks),
        (POOL, "fork"),
        (POOL, "spawn"),
        (POOL, "forkserver"),
    ],
    ids=["fork with threads", "pool fork", "pool spawn", "pool forkserver"],
)
def test_children_go_on(script: str, method: str, tmp_path: Path) -> None:
    file = tmp_path / "parent.py"
    file.write_text(textwrap.dedent(PRELUDE) + script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(file), method],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
