"""`structag`: puts the commands together and turns everything that can go wrong into one message.

Exit codes: 0 accepted, 1 rejected, 2 unusable input; 130 after Ctrl-C, 141 when the reader of the
output went away, 70 for a mistake of ours.  Commands raise; only `main` prints errors.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from structag.cli.rendering import InputError, print_error
from structag.errors import StructagError

UNUSABLE, MISTAKE, INTERRUPTED, CLOSED_PIPE = 2, 70, 130, 141

COMMANDS = {
    "check": "Check a structural tag, JSON Schema, grammar text or regex.",
    "match": "Match TEXT against a structural tag, JSON Schema, grammar or regex.",
    "why": "Say why a token is allowed after a prefix, or where and why it is refused.",
    "mask": "Show the token mask after a prefix: by next byte, longest tokens, what is forced.",
    "trace": "Follow TEXT token by token: how many were allowed, was one forced, in which part.",
    "show": "Print the grammar of a structural tag, JSON Schema, grammar or regex, to be read.",
    "sample": "Print random outputs of a format, one a line; or, with --near-miss, refused ones.",
    "diff": "Show texts that one of two formats accepts and the other refuses.",
    "graph": "Draw the grammar of a document: --tree for the terminal, --railroad as an SVG image.",
    "explain": "Say in plain English what a format accepts, as a nested list.",
    "stats": "Count what a format becomes: expressions and what is shared, states, masks, bytes.",
    "bench": "Measure compiling, the first masks, and the masks and steps of random outputs.",
    "tokens": "Inspect a vocabulary: its kinds of tokens, or those that are asked for.",
    "compile": "Compile a format for a vocabulary and write it to a file, for `structag run`.",
    "run": "Match TEXT, or --ids, with a compiled format; --vocab names its vocabulary.",
    "convert": "Write the grammar of a document as EBNF, GBNF, Lark or a regular expression.",
    "formats": "List the formats of model families, or show one: markers, sources and a sample.",
    "schema": "Print the JSON Schema of the Structural Tag language.",
    "demo": "Generate tool calls in DeepSeek V4's format under random logits, and check them.",
}
"""What `--help` says of each command, in this order; each is a function of a module of its name."""


class _Commands(TyperGroup):
    """A group whose commands are imported when they are called: most of the start-up time."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        names: dict[str, Any] = dict.fromkeys(COMMANDS)  # to suggest one of
        self.commands = names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def load_command(name: str) -> Any:
    """One of `COMMANDS`, as click's command; its module is imported."""
    alone = _application(add_completion=False)
    alone.command(name)(getattr(import_module(f"structag.cli.{name}"), name))
    return typer.main.get_command(alone)


def _application(**settings: Any) -> typer.Typer:
    return typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, **settings)


app = _application(name="structag", cls=_Commands)


@app.callback()
def structag() -> None:
    """Structural tags, JSON Schemas, grammars and regexes: check, match, convert, see masks."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    arguments = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    as_json = "--json" in arguments
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # whoever started us has closed it
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):  # a terminal may not know every character
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = typer.main.get_command(app).main(
            args=arguments, prog_name="structag", standalone_mode=False
        )
        sys.stdout.flush()
        if code == INTERRUPTED:  # typer's answer to Ctrl-C
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except (InputError, StructagError) as error:
        print_error(error, as_json)
        return UNUSABLE
    except BrokenPipeError:
        return _closed_pipe()
    except OSError as error:  # the disk that the output goes to is full, or the like
        print_error(InputError(f"{error.strerror or error}"), as_json=False)
        return UNUSABLE
    except SystemExit as ending:  # typer's answer to a closed pipe
        if not isinstance(ending.__context__, BrokenPipeError):
            raise
        return _closed_pipe()
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if _was_interrupted(error):
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
        # Typer's own usage errors; which library they come from depends on its version.
        describe = getattr(error, "format_message", None)
        if describe is not None:
            print_error(InputError(describe(), hint="see `structag --help`"), as_json)
            return UNUSABLE
        if os.environ.get("STRUCTAG_TRACEBACK"):
            raise
        message = f"a mistake in structag: {type(error).__name__}: {error}"
        print_error(InputError(message, hint="STRUCTAG_TRACEBACK=1 shows where"), as_json)
        return MISTAKE


def _was_interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C is behind `error`: libraries wrap what is raised while they call back."""
    while True:
        before = error.__cause__ or error.__context__
        if before is None:
            return isinstance(error, KeyboardInterrupt)
        error = before


def _closed_pipe() -> int:
    # What is still buffered has no reader; without this Python complains at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return CLOSED_PIPE


if __name__ == "__main__":
    sys.exit(main())
