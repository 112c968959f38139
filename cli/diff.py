"""`structag diff`: what one format accepts and another refuses."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from structag import Vocabulary
from structag.cli.progress import busy
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    Kind,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import InputError, output, print_json, visible
from structag.difference import DEPTH, Difference, find_difference

OtherArgument = Annotated[str, typer.Argument(metavar="OTHER", help="The format to compare with.")]
OtherKindOption = Annotated[
    Kind | None, typer.Option("--other-kind", help="What OTHER holds; --kind if left out.")
]
CountOption = Annotated[int, typer.Option("--count", "-n", min=1, help="Witnesses on each side.")]
DepthOption = Annotated[
    int, typer.Option("--depth", min=0, help="How deep recursive rules are followed.")
]


def diff(
    file: FileArgument,
    other: OtherArgument,
    count: CountOption = 3,
    depth: DepthOption = DEPTH,
    kind: KindOption = None,
    other_kind: OtherKindOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show texts that one of two formats accepts and the other refuses.

    Exit code 0 if none was found, 1 if there are.  Regular formats are compared exactly; otherwise
    it is said what was not looked at, and `equal` is null in --json.
    """
    if file == other == "-":
        raise InputError("FILE and OTHER cannot both be standard input")
    vocabulary = Vocabulary.byte_level()
    first = compile_document(read_document(file, kind), vocabulary)
    second = compile_document(read_document(other, other_kind or kind), vocabulary)
    with busy("looking for differences"):
        found = find_difference(first, second, count=count, depth=depth)
    differ = bool(found.only_first or found.only_second)
    if as_json:
        print_json(
            {
                "equal": False if differ else True if found.is_exact else None,
                "exact": found.is_exact,
                "only_first": [text.decode("utf-8", "replace") for text in found.only_first],
                "only_second": [text.decode("utf-8", "replace") for text in found.only_second],
                "limits": list(found.limits),
            }
        )
    else:
        _print(found, file, other)
    if differ:
        raise typer.Exit(1)


def _print(found: Difference, file: str, other: str) -> None:
    console = output()
    if not (found.only_first or found.only_second):
        console.print("[green]no difference[/]" + ("" if found.is_exact else " was found"))
    for texts, name, sign, style in (
        (found.only_first, file, "-", "red"),
        (found.only_second, other, "+", "green"),
    ):
        if texts:
            console.print(Text(f"only in {visible(_named(name))}:", "bold"))
            for text in texts:
                console.print(Text(f"{sign} {visible(text.decode('utf-8', 'replace'))}", style))
    for limit in found.limits:
        console.print(Text(f"not exact: {limit}", "dim"))


def _named(argument: str) -> str:
    return argument if len(argument) <= 60 else argument[:59] + "…"
