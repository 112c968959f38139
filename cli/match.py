"""`structag match`: does a text belong to a format, and if not, where does it stop and why?"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer
from rich.cells import cell_len
from rich.text import Text

import structag
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
    read_text,
)
from structag.cli.rendering import InputError, describe_bytes, output, print_json, visible
from structag.source import Source

TextArgument = Annotated[
    str, typer.Argument(metavar="TEXT", help="The text, or `-` for standard input.")
]
_BEFORE, _AFTER, _LINES = 70, 40, 4


class Outcome(NamedTuple):
    """How far a text goes, and what may come there.

    Attributes:
        matched: how many bytes of the text were taken.
        complete: whether what was taken is a whole output.
        allowed: the bytes that may come next.
        forced: the text that must come next, if there is no choice.
    """

    matched: int
    complete: bool
    allowed: frozenset[int]
    forced: str

    @property
    def expected(self) -> str:
        """What may come next, in words."""
        if len(self.forced) > 1:
            return f"`{visible(self.forced[:_AFTER])}{'…' if len(self.forced) > _AFTER else ''}`"
        return describe_bytes(self.allowed, self.complete)


def match(
    file: FileArgument,
    text: TextArgument,
    kind: KindOption = None,
    as_json: JsonOption = False,
) -> None:
    """Match TEXT against a structural tag, JSON Schema or regex.

    Exit code 0 if it is accepted, 1 if not; then the place and what was expected there are shown.
    """
    if file == text == "-":
        raise InputError("FILE and TEXT cannot both be standard input")
    grammar = compile_document(read_document(file, kind), structag.Vocabulary.byte_level())
    data = read_text(text)
    outcome = find_stop(grammar, data)
    accepted = outcome.complete and outcome.matched == len(data)
    if as_json:
        print_json(_as_json(data, outcome, accepted))
    else:
        _print(data, outcome, accepted)
    if not accepted:
        raise typer.Exit(1)


def find_stop(grammar: Any, data: bytes) -> Outcome:
    """Match `data` as far as it goes."""
    matcher = structag.Matcher(grammar)
    matched = len(data)
    if not matcher.accept_bytes(data):
        matched = next(i for i in range(len(data)) if not matcher.accept_bytes(data[i : i + 1]))
    allowed = frozenset(matcher.allowed_bytes())
    return Outcome(matched, matcher.is_completed(), allowed, matcher.find_jump_forward_string())


def _as_json(data: bytes, outcome: Outcome, accepted: bool) -> dict[str, Any]:
    before = data[: outcome.matched].decode("utf-8", "ignore")
    line, column = Source(before).line_column(len(before))
    return {
        "accepted": accepted,
        "matched_bytes": outcome.matched,
        "total_bytes": len(data),
        "line": line,
        "column": column,
        "expected": outcome.expected,
        "allowed_bytes": sorted(outcome.allowed),
        "may_end": outcome.complete,
    }


def _print(data: bytes, outcome: Outcome, accepted: bool) -> None:
    console = output()
    before = data[: outcome.matched].decode("utf-8", "ignore")
    after = data[len(before.encode()) :].decode("utf-8", "replace")
    lines = before.split("\n")
    if len(lines) > _LINES:
        console.print(Text(f"… {len(lines) - _LINES} lines before", "dim"))
    for line in lines[-_LINES:-1]:
        console.print(Text(visible(_tail(line)), "green"))
    here, rest = visible(_tail(lines[-1])), visible(after.split("\n")[0][:_AFTER])
    console.print(Text.assemble((here, "green"), (rest, "red")))
    if accepted:
        console.print("[green]accepted[/]")
        return
    console.print(Text(" " * cell_len(here) + "^", "bold red"))
    number, column = Source(before).line_column(len(before))
    got = f"`{visible(after[0])}`" if after else "the end of the text"
    console.print(
        Text.assemble(
            ("rejected", "bold red"),
            f" at line {number}, column {column} (byte {outcome.matched}): got {got}",
        )
    )
    console.print(Text.assemble(("expected", "bold"), f" {outcome.expected}"))


def _tail(line: str) -> str:
    return line if len(line) <= _BEFORE else "…" + line[-_BEFORE:]
