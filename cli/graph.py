"""`structag graph`: a format as a tree in the terminal, or as railroad diagrams in an SVG file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from structag import Vocabulary
from structag.cli.progress import busy
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import InputError, output, print_json

RailroadOption = Annotated[
    bool, typer.Option("--railroad/--tree", help="Draw SVG, or a tree (the default).")
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the SVG there, not to the terminal.")
]


def graph(
    file: FileArgument,
    railroad: RailroadOption = False,
    to: OutputOption = None,
    kind: KindOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw the grammar of a document: --tree for the terminal, --railroad as an SVG image."""
    if to is not None and not railroad:
        raise InputError("only railroad diagrams are written to a file", hint="add --railroad")
    grammar = compile_document(read_document(file, kind), Vocabulary.byte_level())
    if railroad:
        with busy("drawing"):
            svg = grammar.railroad()
        if to is not None:
            _write(to, svg)
        if as_json:
            print_json({"svg": svg} if to is None else {"file": str(to)})
        elif to is None:
            print(svg, end="")
        return
    with busy("drawing"):
        tree = grammar.tree()
    if as_json:
        print_json(_as_json(tree))
    else:
        output().print(tree, soft_wrap=False)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"`{path}` cannot be written: {error.strerror or error}") from None


def _as_json(tree: Any) -> dict[str, Any]:
    """A tree of `rich`, whose depth is capped where it is made, as plain data."""
    parts = [_as_json(part) for part in tree.children]
    return {"label": str(tree.label), **({"parts": parts} if parts else {})}
