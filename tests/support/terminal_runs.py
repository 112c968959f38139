"""Runs commands of the command line in forks of this process, which imports everything once.

Reads from standard input a JSON list of ``[scenario, arguments]``; writes a JSON list of
``[exit code, output, errors]``.  Scenarios: ``pipe`` = nobody reads the output; ``interrupt`` =
Ctrl-C while standard input is read; ``terminal`` = the output is a terminal.
"""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import sys
from typing import NoReturn

from structag.cli.main import main


class Interrupted:
    """A standard input at which somebody presses Ctrl-C."""

    buffer: Interrupted

    def read(self) -> bytes:
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
        return b""

    def readline(self) -> str:
        self.read()
        return ""


def run(scenario: str, arguments: list[str]) -> tuple[int, str, str]:
    """The exit code, output and errors of one command."""
    reader, writer = pty.openpty() if scenario == "terminal" else os.pipe()
    errors, error_writer = os.pipe()
    if scenario == "pipe":
        os.close(reader)
    child = os.fork()
    if child == 0:
        become(scenario, arguments, writer, error_writer)
    os.close(writer)
    os.close(error_writer)
    texts = {errors: b""} if scenario == "pipe" else {errors: b"", reader: b""}
    open_ends = set(texts)
    while open_ends:
        for end in select.select(list(open_ends), [], [])[0]:
            try:
                data = os.read(end, 65536)
            except OSError:  # a terminal that nobody holds any more
                data = b""
            texts[end] += data
            if not data:
                open_ends.remove(end)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, texts.get(reader, b"").decode(), texts[errors].decode()


def become(scenario: str, arguments: list[str], writer: int, error_writer: int) -> NoReturn:
    """The child: its streams are the ends of the pipes; it never returns."""
    os.dup2(writer, 1)
    os.dup2(error_writer, 2)
    os.close(writer)
    os.close(error_writer)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    if scenario == "interrupt":
        Interrupted.buffer = Interrupted()
        sys.stdin = Interrupted()  # type: ignore[assignment]
    code = 99
    try:
        code = main(arguments)
        sys.stdout.flush()
    except BaseException as error:  # the test shall see it, not the parent's code
        sys.stderr.write(f"Traceback: {error!r}\n")
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(json.dumps([run(*case) for case in json.load(sys.stdin)]))
