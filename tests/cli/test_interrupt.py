"""Ctrl-C at any moment of a process ends it with one line or none, and never with a traceback.

What Python does before it runs our first line (its own start, and the script that pip writes) is
nothing that we could change, so each test presses from then on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("structag")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

HERE = Path(__file__).parent
TAG = '{"type":"structural_tag","format":{"type":"any_text"}}'
COMMANDS = {
    "help": ["--help"],
    "schema": ["check", '{"type": "object", "properties": {"a": {"pattern": "^a"}}}'],
    "tag": ["check", TAG],
    "match": ["match", TAG, "text", "--json"],
    "error": ["check", "{"],
}

PRESSED_AT_ONCE = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the tests were started with
left = int(sys.argv.pop(1))

def press():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGINT)

from structag.__main__ import main
"""
AT_AN_IMPORT = """
sys.addaudithook(lambda event, _: press() if event == "import" else None)
sys.exit(main())
"""
AT_A_LINE = """
def follow(frame, event, argument):
    if event == "line":
        press()
    return follow

sys.settrace(lambda frame, *_: follow if frame.f_code.co_filename == main.__code__.co_filename
             else None)
sys.exit(main())
"""
AT_EXIT = """
import atexit

class Destroyed:
    def __del__(self):
        press()

atexit.register(press)
kept = Destroyed()
sys.exit(main())
"""


def pressed(program: str, nth: int, arguments: list[str]) -> tuple[int, str]:
    """The exit code and the errors of a process in which Ctrl-C is the `nth` event of its kind."""
    done = subprocess.run(
        [sys.executable, "-c", PRESSED_AT_ONCE + program, str(nth), *arguments],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(("name", "step"), [("help", 13), ("tag", 37)])
def test_at_any_import(name: str, step: int) -> None:
    ends = []
    for nth in range(1, 5000, step):
        ends.append(pressed(AT_AN_IMPORT, nth, COMMANDS[name]))
        if ends[-1] == (0, ""):
            break

    assert len(ends) > 10
    assert ends.pop() == (0, "")
    assert set(ends) == {(130, "interrupted\n")}


def test_at_any_line_of_the_entry() -> None:
    ends = []
    for nth in range(2, 100):  # from what the first line has done
        ends.append(pressed(AT_A_LINE, nth, COMMANDS["help"]))
        if ends[-1] == (0, ""):
            break

    assert len(ends) > 8
    assert ends.pop() == (0, "")
    assert set(ends) == {(130, "interrupted\n")}


@pytest.mark.parametrize("nth", [1, 2])
def test_when_everything_is_done(nth: int) -> None:
    assert pressed(AT_EXIT, nth, COMMANDS["help"]) == (-signal.SIGINT, "")


def test_in_a_destructor_while_a_command_runs() -> None:
    program = """
import structag.cli.main as cli

class Destroyed:
    def __del__(self):
        press()

def run():
    Destroyed()
    print("went on")
    return 0

cli.main = run
sys.exit(main())
"""
    assert pressed(program, 1, []) == (130, "interrupted\n")
    assert pressed(program, 2, []) == (0, "")


def test_a_job_in_the_background_is_left_alone() -> None:
    program = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + AT_AN_IMPORT

    assert pressed(program, 40, COMMANDS["help"]) == (0, "")


@pytest.mark.parametrize("start", ["script", "module"])
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("imports", [3, 40, 150, 400])
def test_from_outside(start: str, name: str, imports: int) -> None:
    """Pressed when so many modules more were imported: close to the same place on any machine."""
    script = Path(sys.executable).with_name("structag")
    if start == "script" and not script.exists():
        pytest.skip("the package is not installed with its script")
    command = [str(script)] if start == "script" else [sys.executable, "-m", "structag"]
    with subprocess.Popen(
        [*command, *COMMANDS[name]],
        cwd=HERE,
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stderr is not None
        lines = iter(process.stderr)
        next(line for line in lines if line.split()[-1].startswith("typer"))
        for _ in range(imports):
            next(lines, None)
        process.send_signal(signal.SIGINT)
        said = [line for line in lines if not line.startswith("import time:")]
        process.wait(60)

    if process.returncode not in (130, -signal.SIGINT):  # it was faster
        assert process.returncode == (2 if name == "error" else 0)
        return
    assert said in ([], ["interrupted\n"])
