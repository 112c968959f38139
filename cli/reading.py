"""What commands are given: the FILE argument (path, `-` or the document itself), and its kind.

A text with rules ``name ::= …`` is a grammar: GBNF if its file ends so, EBNF otherwise; a file that
ends in ``.lark`` is one, too.  Any other document that is no JSON object or boolean is a regular
expression only if it is said to be one: nearly every text is a valid pattern, and a guess would
hide mistakes.
"""

from __future__ import annotations

import re
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import structag
from structag.cli.rendering import InputError
from structag.errors import StructagError
from structag.source import Source, read_json

# Types that no JSON Schema has: somebody forgot the document around the format.
_FORMATS = ("tag", "triggered_tags", "sequence", "or", "const_string", "any_text")
_RULE = re.compile(rb"^[ \t]*[\w.-]+[ \t]*(?:\[[^\]\n]*\][ \t]*)?::=", re.MULTILINE)


class Kind(str, Enum):
    """The kinds of documents."""

    TAG = "tag"
    SCHEMA = "schema"
    REGEX = "regex"
    EBNF = "ebnf"
    GBNF = "gbnf"
    LARK = "lark"


_TEXTS = (Kind.REGEX, Kind.EBNF, Kind.GBNF, Kind.LARK)  # may be given in place of a path
FileArgument = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A path, `-` for standard input, or the document itself."),
]
KindOption = Annotated[
    Kind | None, typer.Option("--kind", help="What FILE holds; guessed if left out.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


class Document(NamedTuple):
    """A document as given: its bytes, the source for messages, and its kind."""

    data: bytes
    source: Source
    kind: Kind


def read_document(argument: str, kind: Kind | None) -> Document:
    """The document behind a FILE argument."""
    data, name = _read(argument, kind)
    source = Source(data.decode("utf-8", "replace"), name)
    if not data.strip():
        raise InputError(f"{name} is empty", hint="expected a schema, tag, grammar or regex")
    try:
        return Document(data, source, kind or _guess(data, source))
    except StructagError as error:
        raise InputError(error, source) from None


def compile_document(document: Document, vocabulary: structag.Vocabulary) -> Any:
    """The compiled grammar of `document`."""
    compiler = structag.Compiler(vocabulary)
    try:
        if document.kind is Kind.REGEX:
            return compiler.compile_regex(_decoded(document).removesuffix("\n").removesuffix("\r"))
        if document.kind is Kind.EBNF:
            return compiler.compile_ebnf(_decoded(document))
        if document.kind is Kind.GBNF:
            return compiler.compile_gbnf(_decoded(document))
        if document.kind is Kind.LARK:
            return compiler.compile_lark(_decoded(document))
        if document.kind is Kind.SCHEMA:
            return compiler.compile_json_schema(read_json(document.data))
        return compiler.compile_structural_tag(read_json(document.data))
    except StructagError as error:
        raise InputError(error, document.source) from None


def read_text(argument: str) -> bytes:
    """The text behind a TEXT argument: itself, or standard input for `-`."""
    if argument != "-":
        return argument.encode("utf-8", "surrogateescape")
    return sys.stdin.buffer.read()


def _read(argument: str, kind: Kind | None) -> tuple[bytes, str]:
    if argument == "-":
        return sys.stdin.buffer.read(), "<standard input>"
    is_json = argument.lstrip()[:1] in ("{", "[") or argument.strip() in ("true", "false")
    if is_json or "::=" in argument:
        return argument.encode("utf-8", "surrogateescape"), "<argument>"
    try:
        return Path(argument).read_bytes(), argument
    except FileNotFoundError:
        if kind in _TEXTS:
            return argument.encode("utf-8", "surrogateescape"), "<argument>"
        raise InputError(f"there is no file `{argument}`") from None
    except IsADirectoryError:
        raise InputError(f"`{argument}` is a folder", hint="name a file in it") from None
    except (OSError, ValueError) as error:
        if kind in _TEXTS:
            return argument.encode("utf-8", "surrogateescape"), "<argument>"
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"`{argument[:60]}` cannot be read: {reason}") from None


def _guess(data: bytes, source: Source) -> Kind:
    if source.name.endswith(".lark"):
        return Kind.LARK
    if _RULE.search(data):
        return Kind.GBNF if source.name.endswith(".gbnf") else Kind.EBNF
    first = data.lstrip()[:1]
    if first not in (b"{", b"[") and data.strip() not in (b"true", b"false"):
        if b"\0" in data or "�" in source.text:
            read_json(data)  # not text at all: say so rather than ask for a kind
        raise InputError(
            f"{source.name} is no structural tag, JSON Schema, EBNF or GBNF",
            hint="if it is a regular expression, say `--kind regex`",
        )
    value = read_json(data)
    if not isinstance(value, dict):
        return Kind.SCHEMA
    kind = value.get("type")
    is_tag = kind == "structural_tag" or kind in _FORMATS or isinstance(value.get("format"), dict)
    return Kind.TAG if is_tag else Kind.SCHEMA


def _decoded(document: Document) -> str:
    try:
        return document.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        read_json(document.data)  # names the place
        raise
