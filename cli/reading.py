"""What commands are given: the FILE argument, whatever it names, and its kind.

FILE is a path, `-`, the document itself, a pydantic model (``module:Model``) or a model family
(``deepseek_v4``, ``deepseek_v4:tools.json``).  A model becomes its JSON Schema and a family its
structural tag, so that commands see documents only.

A text with rules ``name ::= …`` is a grammar: GBNF if its file ends so, EBNF otherwise; one with
``start: …`` is Lark's, and so is a file that ends in ``.lark``.  Any other document that is no JSON
object or boolean is a regular expression only if it is said to be one: nearly every text is a valid
pattern, and a guess would hide mistakes.
"""

from __future__ import annotations

import codecs
import importlib
import json
import re
import sys
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import structag
from structag.cli.progress import busy
from structag.cli.rendering import InputError
from structag.cli.tools import TOOLS
from structag.errors import StructagError
from structag.source import Source, read_json

# Types that no JSON Schema has: somebody forgot the document around the format.
_FORMATS = ("tag", "triggered_tags", "sequence", "or", "const_string", "any_text")
_RULE = re.compile(rb"^[ \t]*[\w.-]+[ \t]*(?:\[[^\]\n]*\][ \t]*)?::=", re.MULTILINE)
_LARK_START = re.compile(rb"^[?!]{0,2}start[ \t]*(?:\.[ \t]*-?\d+[ \t]*)?:(?!:=)", re.MULTILINE)
_MODEL = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")


class Kind(str, Enum):
    """The kinds of documents, and what else FILE may name."""

    TAG = "tag"
    SCHEMA = "schema"
    REGEX = "regex"
    EBNF = "ebnf"
    GBNF = "gbnf"
    LARK = "lark"
    MODEL = "model"
    FAMILY = "family"


_TEXTS = (Kind.REGEX, Kind.EBNF, Kind.GBNF, Kind.LARK)  # may be given in place of a path
FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A path, `-` for standard input, the document itself, a pydantic model "
        "(module:Model), or a model family (NAME or NAME:TOOLS.json).",
    ),
]
KindOption = Annotated[
    Kind | None, typer.Option("--kind", help="What FILE holds; guessed if left out.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


class Document(NamedTuple):
    """A document as given: its bytes, the source for messages, and its kind.

    `tools` has the schemas of the arguments of each tool, where a model family was named.
    """

    data: bytes
    source: Source
    kind: Kind
    tools: tuple[Any, ...] = ()


def read_document(argument: str, kind: Kind | None) -> Document:
    """The document behind a FILE argument; its kind is never `MODEL` or `FAMILY`."""
    if kind is Kind.MODEL or (kind is None and _is_name(argument, _MODEL)):
        is_family = kind is None and argument.partition(":")[0] in structag.model_formats()
        return _family(argument) if is_family else _model(argument)
    if kind is Kind.FAMILY or (kind is None and _is_family(argument)):
        return _family(argument)
    data, name = _read(argument, kind)
    data = data.removeprefix(codecs.BOM_UTF8)
    source = Source(data.decode("utf-8", "replace"), name)
    if not data.strip():
        raise InputError(f"{name} is empty", hint="expected a schema, tag, grammar or regex")
    try:
        return Document(data, source, kind or _guess(data, source))
    except StructagError as error:
        raise InputError(error, source) from None


def compile_document(
    document: Document, vocabulary: structag.Vocabulary, *, origins: bool = False
) -> Any:
    """The compiled grammar of `document`; with `origins`, for `structag.explain`."""
    compiler = structag.Compiler(vocabulary, origins=origins)
    try:
        with busy("compiling"):
            return _compile(document, compiler)
    except StructagError as error:
        raise InputError(error, document.source) from None


def _compile(document: Document, compiler: structag.Compiler) -> Any:
    match document.kind:
        case Kind.REGEX:
            return compiler.compile_regex(_decoded(document).removesuffix("\n").removesuffix("\r"))
        case Kind.EBNF:
            return compiler.compile_ebnf(_decoded(document))
        case Kind.GBNF:
            return compiler.compile_gbnf(_decoded(document))
        case Kind.LARK:
            return compiler.compile_lark(_decoded(document))
        case Kind.SCHEMA:
            return compiler.compile_json_schema(read_json(document.data))
        case _:
            return compiler.compile_structural_tag(read_json(document.data))


def read_text(argument: str) -> bytes:
    """The text behind a TEXT argument: itself, or standard input for `-`."""
    if argument != "-":
        return argument.encode("utf-8", "surrogateescape")
    return sys.stdin.buffer.read()


def _read(argument: str, kind: Kind | None) -> tuple[bytes, str]:
    if argument == "-":
        return sys.stdin.buffer.read(), "<standard input>"
    inline = argument.encode("utf-8", "surrogateescape")
    is_json = argument.lstrip()[:1] in ("{", "[") or argument.strip() in ("true", "false")
    if is_json or not argument.strip() or _RULE.search(inline) or _LARK_START.search(inline):
        return inline, "<argument>"
    try:
        return Path(argument).read_bytes(), argument
    except FileNotFoundError:
        if kind in _TEXTS:
            return inline, "<argument>"
        raise InputError(
            f"there is no file `{argument[:200]}`", hint=_guess_name(argument)
        ) from None
    except IsADirectoryError:
        if kind in _TEXTS:
            return inline, "<argument>"
        raise InputError(f"`{argument}` is a folder", hint="name a file in it") from None
    except (OSError, ValueError) as error:
        if kind in _TEXTS:
            return inline, "<argument>"
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"`{argument[:60]}` cannot be read: {reason}") from None


def _guess(data: bytes, source: Source) -> Kind:
    if source.name.endswith(".lark"):
        return Kind.LARK
    if _RULE.search(data):
        return Kind.GBNF if source.name.endswith(".gbnf") else Kind.EBNF
    first = data.lstrip()[:1]
    if first not in (b"{", b"[") and data.strip() not in (b"true", b"false"):
        if _LARK_START.search(data):
            return Kind.LARK
        if b"\0" in data or "�" in source.text:
            read_json(data)  # not text at all: say so rather than ask for a kind
        raise InputError(
            f"{source.name} is no structural tag, JSON Schema, EBNF, GBNF or Lark",
            hint="if it is a regular expression, say `--kind regex`",
        )
    value = read_json(data)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        raise InputError(
            f"{source.name} is a list, and no schema or tag",
            hint="tools go with a model family: `qwen3:tools.json`",
        )
    if not isinstance(value, dict):
        return Kind.SCHEMA
    kind = value.get("type")
    is_tag = kind == "structural_tag" or kind in _FORMATS or isinstance(value.get("format"), dict)
    return Kind.TAG if is_tag else Kind.SCHEMA


def _decoded(document: Document) -> str:
    try:
        return document.data.decode("utf-8")
    except UnicodeDecodeError:
        read_json(document.data)  # names the place
        raise


# -- what is named, not given


def _is_name(argument: str, pattern: re.Pattern[str]) -> bool:
    return pattern.fullmatch(argument) is not None and not Path(argument).exists()


def _is_family(argument: str) -> bool:
    name = argument.partition(":")[0]
    return name.isidentifier() and name in structag.model_formats() and not Path(argument).exists()


def _guess_name(argument: str) -> str | None:
    """What somebody may have meant who named a file that is not there."""
    close = get_close_matches(argument, structag.model_formats(), n=1)
    return f"did you mean the model family `{close[0]}`?" if close else None


def _family(argument: str) -> Document:
    name, _, path = argument.partition(":")
    tools = TOOLS
    if path:
        data, source_name = _read(path, None)
        data = data.removeprefix(codecs.BOM_UTF8)
        source = Source(data.decode("utf-8", "replace"), source_name)
        try:
            tools = read_json(data)
        except StructagError as error:
            raise InputError(error, source) from None
    try:
        tag = structag.model_format(name, tools=tools)
    except StructagError as error:
        raise InputError(error, Source("", path or name)) from None
    value = tag.model_dump(mode="json", by_alias=True, exclude_defaults=False)
    functions = [tool.get("function", tool) for tool in tools]
    parameters = tuple(function.get("parameters", {}) for function in functions)
    return _made(value, argument, Kind.TAG)._replace(tools=parameters)


def _model(argument: str) -> Document:
    """The JSON Schema of a pydantic model; importing its module runs it."""
    module_name, _, attribute = argument.partition(":")
    sys.path.insert(0, "")
    try:
        model: Any = importlib.import_module(module_name)
    except Exception as error:  # whatever the module does
        reason = str(error) or type(error).__name__
        raise InputError(f"the module `{module_name}` cannot be imported: {reason}") from None
    finally:
        sys.path.remove("")
    for name in attribute.split("."):
        if not hasattr(model, name):
            raise InputError(f"the module `{module_name}` has no `{attribute}`")
        model = getattr(model, name)
    make = getattr(model, "model_json_schema", None) or getattr(model, "json_schema", None)
    if not callable(make):
        raise InputError(f"`{argument}` is no pydantic model, nor a TypeAdapter")
    try:
        return _made(make(), argument, Kind.SCHEMA)
    except Exception as error:  # pydantic's own
        raise InputError(f"`{argument}` has no JSON Schema: {error}") from None


def _made(value: Any, name: str, kind: Kind) -> Document:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return Document(text.encode(), Source(text, name), kind)
