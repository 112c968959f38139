"""`structag match`: does a text belong to a format, and if not, where does it stop and why?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

import structag
from structag.cli.explaining import Breadcrumbs, print_place, print_text, split_at, where
from structag.cli.progress import busy, track
from structag.cli.reading import (
    Document,
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
    read_text,
)
from structag.cli.rendering import InputError, output, print_json
from structag.errors import StructagError
from structag.explain import Stop, explain_text
from structag.source import Source, read_json

TextArgument = Annotated[
    str | None, typer.Argument(metavar="TEXT", help="The text, or `-` for standard input.")
]
BatchOption = Annotated[
    str | None,
    typer.Option(
        "--batch",
        metavar="JSONL",
        help="Match many texts: a file, or `-`, with a JSON string in each line, or an object "
        "that has the text as `text`.",
    ),
]


class Explained:
    """A document that texts are matched with; compiled a second time once there is a question."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.breadcrumbs = Breadcrumbs(document)
        self._vocabulary = structag.Vocabulary.byte_level()
        self._grammar = compile_document(document, self._vocabulary)
        self._origins: Any = None

    def match(self, data: bytes) -> Stop:
        """Match `data`; a rejection says which part of the document speaks."""
        matcher = structag.Matcher(self._grammar)
        if matcher.accept_bytes(data) and matcher.is_completed():
            return explain_text(self._grammar, data)
        if self._origins is None:
            self._origins = compile_document(self.document, self._vocabulary, origins=True)
        return explain_text(self._origins, data)


def match(
    file: FileArgument,
    text: TextArgument = None,
    batch: BatchOption = None,
    kind: KindOption = None,
    as_json: JsonOption = False,
) -> None:
    """Match TEXT against a structural tag, JSON Schema, grammar or regex.

    Exit code 0 if it is accepted, 1 if not; then the place, what was expected there and which part
    of FILE expects it are shown.  With --batch, 1 if any text is rejected.
    """
    if (text is None) == (batch is None):
        raise InputError("give TEXT or --batch, one of the two")
    if file == "-" and "-" in (text, batch):
        raise InputError("FILE and the text cannot both be standard input")
    explained = Explained(read_document(file, kind))
    if batch is not None:
        accepted = _match_all(explained, batch, as_json)
    else:
        data = read_text(text or "")
        with busy("matching"):
            stop = explained.match(data)
        accepted = stop.accepted
        if as_json:
            print_json(_as_json(data, stop))
        else:
            _print(data, stop, explained.breadcrumbs)
    if not accepted:
        raise typer.Exit(1)


def _as_json(data: bytes, stop: Stop) -> dict[str, Any]:
    before, _ = split_at(data, stop.matched)
    line, column = Source(before).line_column(len(before))
    return {
        "accepted": stop.accepted,
        "matched_bytes": stop.matched,
        "total_bytes": len(data),
        "line": line,
        "column": column,
        **stop.place.to_json(),
    }


def _print(data: bytes, stop: Stop, breadcrumbs: Breadcrumbs) -> None:
    console = output()
    print_text(console, data, stop.matched, marked=not stop.accepted)
    if stop.accepted:
        console.print("[green]accepted[/]")
        return
    console.print(Text.assemble(("rejected", "bold red"), f" at {where(data, stop.matched)}"))
    print_place(console, stop.place, breadcrumbs)


# -- many texts


def _match_all(explained: Explained, name: str, as_json: bool) -> bool:
    texts = _read_lines(name)
    stops = [explained.match(data) for data in track(texts, "matching")]
    count = sum(stop.accepted for stop in stops)
    if as_json:
        results = [_as_json(data, stop) for data, stop in zip(texts, stops, strict=True)]
        print_json({"accepted": count, "total": len(stops), "results": results})
        return count == len(stops)
    console = output()
    width = len(str(len(stops)))
    for number, (data, stop) in enumerate(zip(texts, stops, strict=True), 1):
        line = Text(f"{number:>{width}}  ")
        if stop.accepted:
            line.append("accepted", "green")
        else:
            line.append("rejected", "bold red")
            line.append(f" at {where(data, stop.matched)}, expected {stop.place.words}")
            trail = explained.breadcrumbs.spell(stop.place.trail)
            line.append(f"  in {trail}" if trail else "", "dim")
        console.print(line)
    console.print(f"{count} of {len(stops)} accepted")
    return count == len(stops)


def _read_lines(name: str) -> list[bytes]:
    try:
        data = read_text("-") if name == "-" else Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"`{name[:60]}` cannot be read: {reason}") from None
    texts = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = read_json(line)
        except StructagError as error:
            source = Source(line.decode("utf-8", "replace"), f"line {number} of {name}")
            raise InputError(error, source) from None
        text = value.get("text") if isinstance(value, dict) else value
        if not isinstance(text, str):
            raise InputError(
                f"line {number} of {name} holds no text: {json.dumps(value, default=str)[:60]}",
                hint='write a JSON string, or an object with the text as `"text"`',
            )
        texts.append(text.encode())
    return texts
