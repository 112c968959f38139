"""`structag explain`: what a format says, in plain English."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from structag import Vocabulary
from structag.cli.progress import busy
from structag.cli.reading import (
    Document,
    FileArgument,
    JsonOption,
    Kind,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import output, print_json
from structag.describe import Part, describe_grammar, describe_schema, describe_tag
from structag.source import read_json
from structag.terminal import visible


def explain(file: FileArgument, kind: KindOption = None, as_json: JsonOption = False) -> None:
    """Say in plain English what a format accepts, as a nested list."""
    document = read_document(file, kind)
    grammar = compile_document(document, Vocabulary.byte_level())
    with busy("describing"):
        part = _describe(document, grammar)
    if as_json:
        print_json(_as_json(part))
        return
    console = output()
    for depth, words in part.lines():
        console.print(Text(f"{'  ' * depth}- {visible(words)}"))


def _describe(document: Document, grammar: Any) -> Part:
    if document.kind is Kind.TAG:
        return describe_tag(read_json(document.data))
    if document.kind is Kind.SCHEMA:
        return describe_schema(read_json(document.data))
    return describe_grammar(grammar.grammar)


def _as_json(part: Part) -> dict[str, Any]:
    parts = [_as_json(each) for each in part.parts]
    return {"words": part.words, **({"parts": parts} if parts else {})}
