"""`structag`: puts the commands together and turns everything that can go wrong into one message.

Exit codes: 0 accepted, 1 rejected, 2 unusable input; 130 after Ctrl-C, 141 when the reader of the
output went away, 70 for a mistake of ours.  Commands raise; only `main` prints errors.
"""

from __future__ import annotations

import io
import os
import sys

import typer

from structag.cli import (
    bench,
    check,
    compile,
    convert,
    demo,
    diff,
    explain,
    formats,
    graph,
    mask,
    match,
    run,
    sample,
    schema,
    show,
    stats,
    tokens,
    trace,
    why,
)
from structag.cli.rendering import InputError, print_error
from structag.errors import StructagError

UNUSABLE, MISTAKE, INTERRUPTED, CLOSED_PIPE = 2, 70, 130, 141

app = typer.Typer(
    name="structag",
    help="Structural tags, JSON Schemas, grammars and regexes: check, match, convert, see masks.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("check")(check.check)
app.command("match")(match.match)
app.command("why")(why.why)
app.command("mask")(mask.mask)
app.command("trace")(trace.trace)
app.command("show")(show.show)
app.command("sample")(sample.sample)
app.command("diff")(diff.diff)
app.command("graph")(graph.graph)
app.command("explain")(explain.explain)
app.command("stats")(stats.stats)
app.command("bench")(bench.bench)
app.command("tokens")(tokens.tokens)
app.command("compile")(compile.compile_file)
app.command("run")(run.run)
app.command("convert")(convert.convert)
app.command("formats")(formats.formats)
app.command("schema")(schema.schema)
app.command("demo")(demo.demo)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    arguments = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    as_json = "--json" in arguments
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
        print_error(InputError(f"{error.strerror or error}"), as_json)
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
